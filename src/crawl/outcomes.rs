//! From what came of a lease to the URL's outcome: its line, its record, its page for the archive.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::runtime::Handle;

use crate::focus::{Appraisal, Focus};
use crate::frontier::EmbeddedFrontier;
use crate::model::{
    Ack, CanonicalUrl, Discovery, Exclusion, FailureClass, Fetched, Judged, Lease, Link, LinkKind, Offered, Outcome,
    OutcomeKind, PageId, PageLine, PutPage, Relevance, Sequence, UrlId, UrlState, Verdict,
};
use crate::pagetext::Renderer;
use crate::pipeline::{self, DecidedPage, DecisionStage, outcome_of};

use super::CrawlError;
use super::enqueue::{Enqueuer, link};
use super::external_engine::{Answer, Asked};
use super::messages::{Found, FoundPage};
use super::options::{DuplicateLinks, Options};
use super::url_log::Urls;

/// What a focused crawl compares pages with.
pub(super) struct FocusFilter {
    pub focus: Focus,
    /// Pages of less relevance are not kept.
    pub least: Option<Relevance>,
    pub renderer: Arc<Renderer>,
}

impl FocusFilter {
    pub fn appraise(&mut self, page: &mut FoundPage) {
        let appraisal = self.focus.read(&page.rendered, &self.renderer);
        page.is_off_topic = self.least.is_some_and(|least| appraisal.relevance < least);
        page.appraisal = Some(appraisal);
    }
}

/// Ends leases: gives each URL its outcome, its line, its row and its record of the archive.
pub(super) struct LeaseOutcomes {
    pub options: Options,
    pub crawl: String,
    pub frontier: Arc<EmbeddedFrontier<Urls>>,
    pub stage: DecisionStage,
    pub enqueuer: Enqueuer,
    /// In a focused crawl.
    pub focus: Option<FocusFilter>,
    /// Links that wait until another engine asks for them.
    pub asked: Option<Arc<Asked>>,
    /// Seeds without a scheme: what to try if https fails.
    pub fallbacks: HashMap<CanonicalUrl, CanonicalUrl>,
    pub runtime: Handle,
}

impl LeaseOutcomes {
    pub fn offer_seeds(&mut self, seeds: Vec<CanonicalUrl>) -> Result<(), CrawlError> {
        let links = seeds.into_iter().map(|url| link(url, Discovery::SEED)).collect();
        self.offer(links, None).map(drop)
    }

    /// Offers links to the frontier. `from` is the lease that brought what names them.
    pub fn offer(&mut self, links: Vec<Link>, from: Option<&Lease>) -> Result<Vec<Offered>, CrawlError> {
        let offered = self.enqueuer.offer(links, from)?;
        self.count_new(&offered);
        Ok(offered)
    }

    /// Takes the out-links of a page and offers them. Returns the numbers of the linked URLs.
    fn offer_links(
        &mut self,
        lease: &Lease,
        page: &mut FoundPage,
        of_duplicate: bool,
    ) -> Result<Vec<UrlId>, CrawlError> {
        self.stage.hosts.add_dropped_links(page.rendered.links_dropped, page.rendered.links_over_limit);
        let offered = self.enqueuer.offer_page_links(lease, page, of_duplicate)?;
        self.count_new(&offered);
        Ok(offered.into_iter().map(|offered| offered.id).collect())
    }

    fn count_new(&mut self, offered: &[Offered]) {
        self.stage.building.urls += offered.iter().filter(|offered| offered.decision.is_some()).count();
    }

    /// The page that was decided before, if the lease is there to decide it once more.
    pub fn renewed(&mut self, lease: &Lease) -> Option<Sequence> {
        (lease.discovery.kind == LinkKind::Revision).then(|| self.stage.renewed(lease.id)).flatten()
    }

    /// Gives one URL its outcome, which ends the lease, and tells who has asked for it.
    pub fn end_lease_and_answer(
        &mut self,
        lease: &Lease,
        found: Found,
        judged: Option<Judged>,
    ) -> Result<(), CrawlError> {
        let Some(asked) = self.asked.clone() else { return self.end_lease(lease, found, judged) };
        let is_awaited = self.runtime.block_on(asked.begin_answer(lease.id));
        let answer = if is_awaited { self.answer(&found, judged.as_ref()) } else { Answer::Nothing };
        self.end_lease(lease, found, judged)?;
        self.runtime.block_on(asked.answer(answer));
        Ok(())
    }

    /// What another engine may go on from.
    fn answer(&self, found: &Found, judged: Option<&Judged>) -> Answer {
        match found {
            Found::Page(page) => {
                let is_unique = judged.is_none_or(|judged| judged.verdict.is_unique());
                let follow = is_unique || self.options.duplicate_links != DuplicateLinks::Skip;
                Answer::Page { page: page.fetched.clone(), follow }
            }
            Found::Redirect { to, .. } => Answer::Redirect(to.clone()),
            _ => Answer::Nothing,
        }
    }

    fn end_lease(&mut self, lease: &Lease, found: Found, judged: Option<Judged>) -> Result<(), CrawlError> {
        match (found, judged) {
            (Found::Page(page), Some(judged)) => self.judged_page(lease, *page, judged),
            (Found::Page(page), None) => self.unindexed_page(lease, *page),
            (Found::NotThere { page, probe }, _) => self.page_not_there(lease, &page, &probe),
            (Found::Sitemap { fetched, urls, sitemaps }, _) => self.sitemap(lease, &fetched, urls, sitemaps),
            (Found::Redirect { fetched, to }, _) => self.redirected(lease, &fetched, to),
            (Found::Excluded { rule, fetched }, _) => {
                if fetched.is_none() {
                    self.seed_failed(lease, &format!("excluded: {}", rule.name()))?;
                }
                self.end_without_page(lease, &Outcome::Excluded(rule), fetched.as_deref())
            }
            (Found::Failed { class, detail, fetched }, _) => self.failed(lease, class, detail, fetched.as_deref()),
        }
    }

    fn judged_page(&mut self, lease: &Lease, mut page: FoundPage, judged: Judged) -> Result<(), CrawlError> {
        let links = self.offer_links(lease, &mut page, !judged.verdict.is_unique())?;
        let relevance = page.appraisal.as_ref().and_then(Appraisal::telling);
        let worth = relevance.map(|relevance| worth(relevance, judged.verdict));
        let original = judged.verdict.duplicate_of().map(|of| self.stage.original(of)).transpose()?;
        let outcome = match outcome_of(judged.verdict, original.as_ref().and_then(|of| of.id)) {
            Outcome::Stored if page.unchanged.is_some() => Outcome::NotModified,
            outcome => outcome,
        };
        let renews = self.renewed(lease);
        let mut line = self.page_line(lease, &outcome, &page)?;
        line.duplicate_of = original.as_ref().map(|original| original.url.clone());
        line.duplicate_in = original.as_ref().and_then(|original| original.folder.clone());
        if judged.redelivered {
            return self.end(lease, &outcome, line, None, worth);
        }

        let put = self.stage.enter_page(DecidedPage {
            url: lease.id,
            page: page_id(&self.crawl, lease),
            renews,
            text_digest: page.rendered.text_digest,
            is_noarchive: page.rendered.robots.noarchive,
            fetched: page.fetched,
            body_digest: page.body_digest,
            payload_digest: page.payload_digest,
            unchanged: page.unchanged,
            judged,
            original,
            links,
            relevance,
        });
        self.end(lease, &outcome, line, put, worth)
    }

    /// A page that asks not to be indexed, or has too little to do with what is looked for: its links are
    /// used, the decider never sees it.
    fn unindexed_page(&mut self, lease: &Lease, mut page: FoundPage) -> Result<(), CrawlError> {
        self.offer_links(lease, &mut page, false)?;
        let rule = if page.is_off_topic { Exclusion::OffTopic } else { Exclusion::NoIndex };
        let outcome = Outcome::Excluded(rule);
        let line = self.page_line(lease, &outcome, &page)?;
        let worth = page.appraisal.as_ref().and_then(Appraisal::telling);
        self.end(lease, &outcome, line, None, worth)
    }

    /// A page that says no more than what the site answers to this wrong address. It is no page: the
    /// decider never sees it, and its links are not used.
    fn page_not_there(&mut self, lease: &Lease, page: &FoundPage, probe: &CanonicalUrl) -> Result<(), CrawlError> {
        let outcome = Outcome::Excluded(Exclusion::Soft404);
        let line = PageLine { probe: Some(probe.to_string()), ..self.page_line(lease, &outcome, page)? };
        self.end(lease, &outcome, line, None, Some(Relevance::NONE))
    }

    /// A sitemap that a sitemap names counts as a link deeper: the limit on depth ends the chain.
    fn sitemap(
        &mut self,
        lease: &Lease,
        fetched: &Fetched,
        urls: Vec<CanonicalUrl>,
        sitemaps: Vec<CanonicalUrl>,
    ) -> Result<(), CrawlError> {
        let deeper = lease.discovery.depth.saturating_add(1);
        let pages = urls.into_iter().map(|url| {
            let clue = self.focus.as_ref().map(|filter| filter.focus.of_url(&url, &filter.renderer));
            Link { clue, ..link(url, Discovery::new(LinkKind::Sitemap, Some(lease.id), 1)) }
        });
        let named = Discovery::new(LinkKind::SitemapFile, Some(lease.id), deeper);
        let sitemaps = sitemaps.into_iter().map(|url| link(url, named));
        let links = pages.chain(sitemaps).collect();
        self.offer(links, None)?;
        self.end_without_page(lease, &Outcome::Excluded(Exclusion::Sitemap), Some(fetched))
    }

    fn redirected(&mut self, lease: &Lease, fetched: &Fetched, to: CanonicalUrl) -> Result<(), CrawlError> {
        let hops = lease.discovery.hops.saturating_add(1);
        if hops > self.options.max_redirects {
            let detail = format!("more than {} redirects in a row", self.options.max_redirects);
            return self.failed(lease, FailureClass::Redirect, detail, Some(fetched));
        }
        let mut outcome = Outcome::Redirected { to: to.to_string(), id: None };
        if let Some(kind) = kind_behind_redirect(lease, &to) {
            let text = to.to_string();
            let discovery = Discovery { kind, referrer: Some(lease.id), hops, ..lease.discovery };
            let next = Link { clue: lease.clue, ..link(to, discovery) };
            let offered = self.offer(vec![next], Some(lease))?;
            let id = offered.first().map(|offered| offered.id);
            outcome = Outcome::Redirected { to: text, id };
            if let Some(UrlState::Excluded(rule)) = offered.first().and_then(|offered| offered.decision) {
                self.seed_failed(lease, &format!("redirects to an excluded URL: {}", rule.name()))?;
            }
        }
        self.end_without_page(lease, &outcome, Some(fetched))
    }

    fn failed(
        &mut self,
        lease: &Lease,
        class: FailureClass,
        detail: String,
        fetched: Option<&Fetched>,
    ) -> Result<(), CrawlError> {
        if !self.fall_back(lease, class)? {
            self.seed_failed(lease, &format!("{}: {detail}", class.name()))?;
        }
        self.end_without_page(lease, &Outcome::Failed { class, detail }, fetched)
    }

    /// A seed that was given without a scheme is tried as http if no connection by https could be
    /// made: that port may be shut, or swallow what comes.
    fn fall_back(&mut self, lease: &Lease, class: FailureClass) -> Result<bool, CrawlError> {
        use FailureClass::{Connect, Protocol, Timeout, Tls};
        let Some(fallback) = self.fallbacks.remove(&lease.url) else { return Ok(false) };
        let may_help = matches!(class, Connect | Timeout | Tls | Protocol);
        if may_help {
            self.offer_seeds(vec![fallback])?;
        }
        Ok(may_help)
    }

    /// Reports that a seed, or what it redirects to, could not be had.
    fn seed_failed(&self, lease: &Lease, why: &str) -> Result<(), CrawlError> {
        let (mut kind, mut referrer, mut url) = (lease.discovery.kind, lease.discovery.referrer, lease.url.to_string());
        // Back through the redirects. It ends: a URL's row names one that was seen before it.
        while let (LinkKind::Redirect, Some(id)) = (kind, referrer) {
            let row = self.frontier.url(id)?;
            (kind, referrer, url) = (row.discovery.kind, row.discovery.referrer, row.url);
        }
        if kind == LinkKind::Seed {
            let by_redirect =
                if url == lease.url.as_str() { String::new() } else { format!("by way of {}: ", lease.url) };
            self.stage.live.add_failed_seed(url, format!("{by_redirect}{why}"));
        }
        Ok(())
    }

    fn line(&mut self, lease: &Lease, outcome: &Outcome) -> Result<PageLine, CrawlError> {
        let referrer = match lease.discovery.referrer {
            Some(id) => Some(self.frontier.url(id)?.url),
            None => None,
        };
        let revised = self.renewed(lease).map(|earlier| self.stage.earlier_verdict(earlier)).transpose()?;
        Ok(PageLine { revised, ..pipeline::leased_line(lease, referrer, outcome) })
    }

    fn page_line(&mut self, lease: &Lease, outcome: &Outcome, page: &FoundPage) -> Result<PageLine, CrawlError> {
        let mut line = self.line(lease, outcome)?;
        pipeline::add_answer(&mut line, &page.fetched);
        pipeline::add_page(&mut line, &page.rendered);
        line.page_source = page.is_drawn.then(|| "browser".to_owned());
        line.digest = Some(page.payload_digest.clone());
        line.focus = page.appraisal.as_ref().map(|appraisal| appraisal.relevance.as_f64());
        Ok(line)
    }

    fn end_without_page(
        &mut self,
        lease: &Lease,
        outcome: &Outcome,
        fetched: Option<&Fetched>,
    ) -> Result<(), CrawlError> {
        let mut line = self.line(lease, outcome)?;
        if let Some(fetched) = fetched {
            pipeline::add_answer(&mut line, fetched);
        }
        self.end(lease, outcome, line, None, worth_without_page(outcome))
    }

    /// Enters an outcome into the batch and the books, and ends the lease. `put` belongs to the
    /// last row of the batch's pages; `worth` is what was found, in a focused crawl.
    fn end(
        &mut self,
        lease: &Lease,
        outcome: &Outcome,
        line: PageLine,
        put: Option<PutPage>,
        worth: Option<Relevance>,
    ) -> Result<(), CrawlError> {
        let origin = lease.url.origin();
        if lease.discovery.kind == LinkKind::Revision {
            self.stage.hosts.take_back(&origin, OutcomeKind::NearDuplicate);
        }
        self.stage.enter_outcome((lease.id, &origin), lease.attempts, outcome, line, put)?;
        self.stage.building.batch.repeats.extend(outcome.repeats().map(|of| (lease.id, of)));
        let ack = Ack { id: lease.id, kind: outcome.kind(), repeats: outcome.repeats(), worth };
        Ok(self.frontier.ack(vec![ack])?)
    }
}

/// The name of the page that a lease brings. A page is decided once more at most.
pub(super) fn page_id(crawl: &str, lease: &Lease) -> PageId {
    PageId::new(crawl, lease.url.as_str(), u32::from(lease.discovery.kind == LinkKind::Revision))
}

/// What a page is worth to whom looks for its topic. Half, if it was there already.
pub(super) fn worth(relevance: Relevance, verdict: Verdict) -> Relevance {
    if verdict.is_unique() { relevance } else { relevance.half() }
}

/// What else there is to learn from: URLs that cannot be had are worth nothing. Where a redirect leads to is
/// another URL, and a sitemap is no page.
pub(super) fn worth_without_page(outcome: &Outcome) -> Option<Relevance> {
    match outcome.kind() {
        OutcomeKind::Failed => Some(Relevance::NONE),
        OutcomeKind::Excluded if *outcome != Outcome::Excluded(Exclusion::Sitemap) => Some(Relevance::NONE),
        _ => None,
    }
}

/// As what the target of a redirect is asked for. That of a sitemap is a sitemap; on another host
/// it is left alone, as are sitemaps there that a robots.txt names.
fn kind_behind_redirect(lease: &Lease, to: &CanonicalUrl) -> Option<LinkKind> {
    match lease.discovery.kind {
        LinkKind::SitemapFile => (to.host() == lease.url.host()).then_some(LinkKind::SitemapFile),
        _ => Some(LinkKind::Redirect),
    }
}
