//! Offers links to the frontier.
//!
//! A link that a rule excludes gets its outcome when the crawl ends: a seed or its redirect may still bring the URL
//! into scope.

use std::collections::HashSet;
use std::sync::Arc;

use tokio::runtime::Handle;

use crate::pipeline::NamedOriginal;
use ndcrawl_frontier::{EmbeddedFrontier, FrontierError, HeldBack};
use ndcrawl_model::{CanonicalUrl, Deferral, Discovery, Lease, Link, LinkKind, Offered, UrlId, UrlState};

use super::CrawlError;
use super::counterpart_links::CounterpartLinks;
use super::external_engine::ExternalEngine;
use super::messages::FetchedPage;
use super::options::{DuplicateLinks, Options};
use super::url_log::StoredUrls;

/// The links of a page after they were offered.
#[derive(Default)]
pub(super) struct OfferedLinks {
    /// The replies, in the order of the links.
    pub offered: Vec<Offered>,
    /// Links of a duplicate that are not followed and have no counterpart on the page that it repeats.
    pub unmatched: Vec<UrlId>,
}

/// Offers links to the frontier by the policy of the crawl.
pub(super) struct Enqueuer {
    frontier: Arc<EmbeddedFrontier<StoredUrls>>,
    /// The engine that decides what is fetched next, if that is not the frontier.
    external: Option<Arc<ExternalEngine>>,
    runtime: Handle,
    follow_links: bool,
    obey_nofollow: bool,
    duplicate_links: DuplicateLinks,
    random_seed: u64,
}

impl Enqueuer {
    pub fn new(
        frontier: Arc<EmbeddedFrontier<StoredUrls>>,
        external: Option<Arc<ExternalEngine>>,
        runtime: Handle,
        options: &Options,
    ) -> Self {
        let Options { follow_links, obey_nofollow, duplicate_links, random_seed, .. } = *options;
        Self { frontier, external, runtime, follow_links, obey_nofollow, duplicate_links, random_seed }
    }

    /// Offers links. `from` is the lease whose page or answer names them.
    pub fn offer(&self, links: Vec<Link>, from: Option<&Lease>) -> Result<Vec<Offered>, CrawlError> {
        if links.is_empty() {
            return Ok(Vec::new());
        }
        Ok(match &self.external {
            Some(engine) => self.runtime.block_on(engine.offer(&self.frontier, links, from))?,
            None => self.frontier.offer(links)?,
        })
    }

    /// Returns the links of duplicates that are still unfetched, although the policy follows them: earlier runs had
    /// another one. `unmatched` are the links without counterpart. Costs a look at every URL, unless all are skipped.
    pub fn skipped_links(&self, unmatched: &HashSet<UrlId>) -> Result<Vec<Link>, CrawlError> {
        if !self.duplicate_links.follows_any() {
            return Ok(Vec::new());
        }
        let skipped = HeldBack::Deferred(Deferral::DuplicateLink);
        let skipped: Vec<UrlId> =
            self.frontier.unfinished().filter(|(_, reason)| *reason == skipped).map(|(id, _)| id).collect();
        let rank = self.duplicate_links.rank();
        let mut links = Vec::new();
        for id in skipped {
            let row = self.frontier.url(id)?;
            if self.duplicate_links.follows(&row.url, unmatched.contains(&id), self.random_seed) {
                let url =
                    CanonicalUrl::from_canonical(&row.url).map_err(|source| FrontierError::Damaged { id, source })?;
                links.push(Link {
                    url,
                    discovery: Discovery { rank, ..row.discovery },
                    only_seen: None,
                    clue: row.clue,
                });
            }
        }
        Ok(links)
    }

    /// Takes the links out of a page and offers them by the policy for its verdict. `original` is the page that a
    /// duplicate repeats.
    pub fn offer_page_links(
        &self,
        lease: &Lease,
        found: &mut FetchedPage,
        original: Option<&NamedOriginal>,
    ) -> Result<OfferedLinks, CrawlError> {
        let is_duplicate = original.is_some();
        let counterparts = original
            .filter(|_| !self.duplicate_links.follows_all())
            .map(|original| CounterpartLinks::new(lease.url.as_str(), original));
        let page = &mut found.rendered;
        let clues = found.appraisal.as_mut().map(|appraisal| std::mem::take(&mut appraisal.clues)).unwrap_or_default();
        let clues = clues.into_iter().map(Some).chain(std::iter::repeat(None));
        let kind = if is_duplicate { LinkKind::Duplicate } else { LinkKind::Page };
        let rank = if is_duplicate { self.duplicate_links.rank() } else { 0 };
        let deeper = lease.discovery.depth.saturating_add(1);
        let is_unmatched = |url: &CanonicalUrl| {
            counterparts.as_ref().is_some_and(|known| !known.has(url.as_str(), |url| self.frontier.find(url)))
        };
        let unmatched: Vec<bool> = page.links.iter().map(|out| is_unmatched(&out.url)).collect();
        let links = std::mem::take(&mut page.links)
            .into_iter()
            .zip(clues)
            .zip(&unmatched)
            .map(|((out, clue), &is_unmatched)| {
                let nofollow = out.nofollow || page.robots.nofollow;
                let of_duplicate = is_duplicate.then_some(is_unmatched);
                Link {
                    only_seen: self.reason_not_to_follow(&out.url, nofollow, of_duplicate),
                    url: out.url,
                    discovery: Discovery { rank, ..Discovery::new(kind, Some(lease.id), deeper) },
                    clue,
                }
            })
            .collect();
        let offered = self.offer(links, Some(lease))?;
        let is_left = |offered: &Offered| offered.decision == Some(UrlState::Deferred(Deferral::DuplicateLink));
        let unmatched = offered.iter().zip(unmatched).filter(|(offered, unmatched)| *unmatched && is_left(offered));
        let unmatched = unmatched.map(|(offered, _)| offered.id).collect();
        if page.names_itself {
            // The URL is known. The frontier learns that its own page links to it.
            let itself = link(lease.url.clone(), Discovery::new(kind, Some(lease.id), lease.discovery.depth));
            self.frontier.offer(vec![itself])?;
        }
        Ok(OfferedLinks { offered, unmatched })
    }

    /// `of_duplicate`: whether a link of a duplicate is unmatched; `None` for a link of another page.
    fn reason_not_to_follow(&self, url: &CanonicalUrl, nofollow: bool, of_duplicate: Option<bool>) -> Option<Deferral> {
        if !self.follow_links {
            return Some(Deferral::NotInSitemap);
        }
        if nofollow && self.obey_nofollow {
            return Some(Deferral::NoFollow);
        }
        let is_unmatched = of_duplicate?;
        let follows = self.duplicate_links.follows(url.as_str(), is_unmatched, self.random_seed);
        (!follows).then_some(Deferral::DuplicateLink)
    }
}

/// Returns a link that may be followed.
pub(super) fn link(url: CanonicalUrl, discovery: Discovery) -> Link {
    Link { url, discovery, only_seen: None, clue: None }
}
