//! What becomes of links: they are offered to the frontier. Those that a rule keeps out get their
//! outcome when the crawl ends, since a seed or its redirect may still take them into scope.

use crate::model::{CanonicalUrl, Deferral, Discovery, Disposition, Lease, Link, LinkKind, Offered, UrlId};

use super::CrawlError;
use super::decision_stage::Judge;
use super::messages::FoundPage;
use super::options::DuplicateLinks;

impl Judge {
    pub(super) fn offer_seeds(&mut self, seeds: Vec<CanonicalUrl>) -> Result<(), CrawlError> {
        let links = seeds.into_iter().map(|url| link(url, Discovery::SEED)).collect();
        self.offer(links, None).map(drop)
    }

    /// Takes the out-links of a page and offers them by the policy that its verdict asks for. Gives
    /// the numbers of the linked URLs.
    pub(super) fn offer_links(
        &mut self,
        lease: &Lease,
        found: &mut FoundPage,
        of_duplicate: bool,
    ) -> Result<Vec<UrlId>, CrawlError> {
        let page = &mut found.rendered;
        self.book.links_dropped(page.links_dropped, page.links_over_limit);
        let clues = found.appraisal.as_mut().map(|appraisal| std::mem::take(&mut appraisal.clues)).unwrap_or_default();
        let clues = clues.into_iter().map(Some).chain(std::iter::repeat(None));
        let kind = if of_duplicate { LinkKind::Duplicate } else { LinkKind::Page };
        let last = of_duplicate && self.options.duplicate_links == DuplicateLinks::Defer;
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
        Ok(offered.into_iter().map(|offered| offered.id).collect())
    }

    fn reason_not_to_follow(&self, url: &CanonicalUrl, nofollow: bool, of_duplicate: bool) -> Option<Deferral> {
        if nofollow && self.options.obey_nofollow {
            return Some(Deferral::NoFollow);
        }
        let follows = || self.options.duplicate_links.follows(url.as_str(), self.options.random_seed);
        (of_duplicate && !follows()).then_some(Deferral::DuplicateLink)
    }

    /// Offers links to the frontier. `from` is the lease that brought what names them.
    pub(super) fn offer(&mut self, links: Vec<Link>, from: Option<&Lease>) -> Result<Vec<Offered>, CrawlError> {
        if links.is_empty() {
            return Ok(Vec::new());
        }
        let offered = match &self.asked {
            Some(asked) => self.runtime.block_on(asked.name(&self.frontier, links, from))?,
            None => self.frontier.offer(links)?,
        };
        self.building.urls += offered.iter().filter(|offered| offered.disposition != Disposition::Seen).count();
        Ok(offered)
    }
}

/// A link to follow like most.
pub(super) fn link(url: CanonicalUrl, discovery: Discovery) -> Link {
    Link { url, discovery, only_seen: None, clue: None }
}
