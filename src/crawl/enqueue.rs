//! What becomes of links: they are offered to the frontier. Those that a rule keeps out get their
//! outcome when the crawl ends, since a seed or its redirect may still take them into scope.

use std::sync::Arc;

use tokio::runtime::Handle;

use crate::frontier::EmbeddedFrontier;
use crate::model::{CanonicalUrl, Deferral, Discovery, Lease, Link, LinkKind, Offered};

use super::CrawlError;
use super::external_engine::Asked;
use super::messages::FoundPage;
use super::options::{DuplicateLinks, Options};
use super::url_log::Urls;

/// Offers links to the frontier by the policy of the crawl.
pub(super) struct Enqueuer {
    frontier: Arc<EmbeddedFrontier<Urls>>,
    /// Links that wait until another engine asks for them.
    asked: Option<Arc<Asked>>,
    runtime: Handle,
    obey_nofollow: bool,
    duplicate_links: DuplicateLinks,
    random_seed: u64,
}

impl Enqueuer {
    pub fn new(
        frontier: Arc<EmbeddedFrontier<Urls>>,
        asked: Option<Arc<Asked>>,
        runtime: Handle,
        options: &Options,
    ) -> Self {
        let Options { obey_nofollow, duplicate_links, random_seed, .. } = *options;
        Self { frontier, asked, runtime, obey_nofollow, duplicate_links, random_seed }
    }

    /// Offers links to the frontier. `from` is the lease that brought what names them.
    pub fn offer(&self, links: Vec<Link>, from: Option<&Lease>) -> Result<Vec<Offered>, CrawlError> {
        if links.is_empty() {
            return Ok(Vec::new());
        }
        Ok(match &self.asked {
            Some(asked) => self.runtime.block_on(asked.name(&self.frontier, links, from))?,
            None => self.frontier.offer(links)?,
        })
    }

    /// Takes the out-links of a page and offers them by the policy that its verdict asks for.
    pub fn offer_page_links(
        &self,
        lease: &Lease,
        found: &mut FoundPage,
        of_duplicate: bool,
    ) -> Result<Vec<Offered>, CrawlError> {
        let page = &mut found.rendered;
        let clues = found.appraisal.as_mut().map(|appraisal| std::mem::take(&mut appraisal.clues)).unwrap_or_default();
        let clues = clues.into_iter().map(Some).chain(std::iter::repeat(None));
        let kind = if of_duplicate { LinkKind::Duplicate } else { LinkKind::Page };
        let last = of_duplicate && self.duplicate_links == DuplicateLinks::Defer;
        let deeper = lease.discovery.depth.saturating_add(1);
        let links = std::mem::take(&mut page.links)
            .into_iter()
            .zip(clues)
            .map(|(out, clue)| Link {
                only_seen: self.reason_not_to_follow(&out.url, out.nofollow || page.robots.nofollow, of_duplicate),
                url: out.url,
                discovery: Discovery { rank: u8::from(last), ..Discovery::new(kind, Some(lease.id), deeper) },
                clue,
            })
            .collect();
        let offered = self.offer(links, Some(lease))?;
        if page.names_itself {
            // The URL was seen; that it is named there is for the frontier to know.
            let itself = link(lease.url.clone(), Discovery::new(kind, Some(lease.id), lease.discovery.depth));
            self.frontier.offer(vec![itself])?;
        }
        Ok(offered)
    }

    fn reason_not_to_follow(&self, url: &CanonicalUrl, nofollow: bool, of_duplicate: bool) -> Option<Deferral> {
        if nofollow && self.obey_nofollow {
            return Some(Deferral::NoFollow);
        }
        let follows = || self.duplicate_links.follows(url.as_str(), self.random_seed);
        (of_duplicate && !follows()).then_some(Deferral::DuplicateLink)
    }
}

/// A link to follow like most.
pub(super) fn link(url: CanonicalUrl, discovery: Discovery) -> Link {
    Link { url, discovery, only_seen: None, clue: None }
}
