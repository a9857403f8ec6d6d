//! From the result of a lease to the URL's outcome: its line, its rows and its page for the archive.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tokio::runtime::Handle;

use crate::focus::{Appraisal, Focus};
use crate::pipeline::{self, DecidedPage, DecisionStage, NamedOriginal, group_of, outcome_of};
use ndcrawl_frontier::{EmbeddedFrontier, FrontierError};
use ndcrawl_model::{
    Ack, CanonicalUrl, Discovery, Exclusion, FailureClass, Fetched, Judged, LastmodClaim, Lease, Link, LinkKind,
    Offered, Outcome, OutcomeKind, PageId, PageLine, PutPage, Recrawled, Relevance, Sequence, UrlId, UrlState, Verdict,
};
use pagetext::PageReader;

use super::CrawlError;
use super::enqueue::{Enqueuer, OfferedLinks, link};
use super::external_engine::{EngineReply, ExternalEngine};
use super::messages::{FetchOutcome, FetchedPage, NamedSitemaps, SitemapDates};
use super::options::Options;
use super::recrawl::Recrawl;
use super::redirect_chains::RedirectChains;
use super::sitemap_claims::{SitemapClaims, SitemapPath};
use super::url_log::StoredUrls;
use super::worker::too_many_redirects;

/// The topic of a focused crawl, to compare pages with.
pub(super) struct FocusFilter {
    pub focus: Focus,
    /// The least relevance of a page to keep.
    pub least: Option<Relevance>,
    pub renderer: Arc<PageReader>,
}

impl FocusFilter {
    /// Sets the relevance of a page and of its links.
    pub fn appraise(&mut self, page: &mut FetchedPage) {
        let appraisal = self.focus.read(&page.rendered, &self.renderer);
        let is_off_topic = self.least.is_some_and(|least| appraisal.relevance < least);
        page.unwanted = is_off_topic.then_some(Exclusion::OffTopic);
        page.appraisal = Some(appraisal);
    }
}

/// Ends leases: gives each URL its outcome, its line, its row and its record of the archive.
pub(super) struct LeaseOutcomes {
    pub options: Options,
    pub crawl: String,
    pub frontier: Arc<EmbeddedFrontier<StoredUrls>>,
    pub stage: DecisionStage,
    pub enqueuer: Enqueuer,
    /// In a focused crawl.
    pub focus: Option<FocusFilter>,
    /// The redirects so far.
    pub redirects: RedirectChains,
    /// Which sitemaps are read for whom.
    pub sitemaps: SitemapClaims,
    /// If there is a generation before.
    pub recrawl: Option<Arc<Recrawl>>,
    /// The engine that decides what is fetched next, if that is not the frontier.
    pub external: Option<Arc<ExternalEngine>>,
    /// The http URL of each seed without a scheme, to try if https fails.
    pub fallbacks: HashMap<CanonicalUrl, CanonicalUrl>,
    pub runtime: Handle,
    /// Links of duplicates that the log knows to be unmatched.
    pub unmatched: HashSet<UrlId>,
}

impl LeaseOutcomes {
    /// Offers seeds.
    pub fn offer_seeds(&mut self, seeds: Vec<CanonicalUrl>) -> Result<(), CrawlError> {
        let links = seeds.into_iter().map(|url| link(url, Discovery::SEED)).collect();
        self.offer(links, None).map(drop)
    }

    /// Offers the links of duplicates that earlier runs have skipped and that the present policy follows.
    pub fn offer_skipped_links(&mut self) -> Result<(), CrawlError> {
        let links = self.enqueuer.skipped_links(&self.unmatched)?;
        self.offer(links, None).map(drop)
    }

    /// Offers links. `from` is the lease whose page or answer names them.
    pub fn offer(&mut self, links: Vec<Link>, from: Option<&Lease>) -> Result<Vec<Offered>, CrawlError> {
        let offered = self.enqueuer.offer(links, from)?;
        self.count_new(&offered);
        Ok(offered)
    }

    /// Takes the links out of a page and offers them. `original` is the page that a duplicate repeats. Returns the
    /// numbers of the linked URLs.
    fn offer_links(
        &mut self,
        lease: &Lease,
        page: &mut FetchedPage,
        original: Option<&NamedOriginal>,
    ) -> Result<Vec<UrlId>, CrawlError> {
        self.stage.hosts.add_dropped_links(page.rendered.links_dropped, page.rendered.links_over_limit);
        if self.frontier.is_from_seed(lease.id)
            && let Some(note) = seed_note(page)
        {
            self.stage.live.add_seed_note(lease.url.to_string(), note);
        }
        let OfferedLinks { offered, unmatched } = self.enqueuer.offer_page_links(lease, page, original)?;
        self.count_new(&offered);
        let new = unmatched.into_iter().filter(|id| self.unmatched.insert(*id));
        self.stage.building.batch.unmatched.extend(new);
        Ok(offered.into_iter().map(|offered| offered.id).collect())
    }

    fn count_new(&mut self, offered: &[Offered]) {
        self.stage.building.urls += offered.iter().filter(|offered| offered.decision.is_some()).count();
    }

    /// Returns the page that a lease revises, if the lease is there for a revision.
    pub fn renewed(&mut self, lease: &Lease) -> Option<Sequence> {
        (lease.discovery.kind == LinkKind::Revision).then(|| self.stage.renewed(lease.id)).flatten()
    }

    /// Gives one URL its outcome, ends its lease and replies to the engine that requested it, if one did.
    pub fn end_lease_and_reply(
        &mut self,
        lease: &Lease,
        found: FetchOutcome,
        judged: Option<Judged>,
    ) -> Result<(), CrawlError> {
        let Some(engine) = self.external.clone() else { return self.end_lease(lease, found, judged) };
        let is_awaited = self.runtime.block_on(engine.begin_reply(lease.id));
        let reply = if is_awaited { self.reply(&found, judged.as_ref()) } else { EngineReply::Nothing };
        self.end_lease(lease, found, judged)?;
        self.runtime.block_on(engine.reply(reply));
        Ok(())
    }

    fn reply(&self, found: &FetchOutcome, judged: Option<&Judged>) -> EngineReply {
        match found {
            FetchOutcome::Page(page) => {
                let is_unique = judged.is_none_or(|judged| judged.verdict.is_unique());
                let follow = is_unique || self.options.duplicate_links.follows_any();
                EngineReply::Page { page: page.fetched.clone(), follow }
            }
            FetchOutcome::Redirect { to, .. } => EngineReply::Redirect(to.clone()),
            _ => EngineReply::Nothing,
        }
    }

    fn end_lease(&mut self, lease: &Lease, found: FetchOutcome, judged: Option<Judged>) -> Result<(), CrawlError> {
        log_outcome(lease, &found, judged.as_ref());
        match (found, judged) {
            (FetchOutcome::Page(page), Some(judged)) => self.judged_page(lease, *page, judged),
            (FetchOutcome::Page(page), None) => self.unjudged_page(lease, *page),
            (FetchOutcome::Soft404 { page, probe }, _) => self.soft_404(lease, &page, &probe),
            (FetchOutcome::Sitemap { fetched, urls, sitemaps, dates }, _) => {
                self.sitemap(lease, &fetched, (urls, &dates), sitemaps)
            }
            (FetchOutcome::Redirect { fetched, to, hops }, _) => self.redirect(lease, &fetched, to, hops),
            (FetchOutcome::Excluded { rule, fetched }, _) => {
                match fetched.as_ref().map(|fetched| fetched.status) {
                    None => self.report_failed_seed(lease, &format!("excluded: {}", rule.name()))?,
                    Some(300..=399) => self.report_excluded_target(lease, rule)?,
                    Some(_) if rule == Exclusion::Empty => {
                        self.report_failed_seed(lease, &format!("excluded: {}", rule.name()))?;
                    }
                    Some(_) => {}
                }
                self.end_without_page(lease, &Outcome::Excluded(rule), fetched.as_deref())
            }
            (FetchOutcome::Failed { class, detail, fetched }, _) => {
                self.failure(lease, class, detail, fetched.as_deref())
            }
        }
    }

    fn judged_page(&mut self, lease: &Lease, mut page: FetchedPage, judged: Judged) -> Result<(), CrawlError> {
        let original = judged.verdict.duplicate_of().map(|of| self.stage.original(of)).transpose()?;
        let links = self.offer_links(lease, &mut page, original.as_ref())?;
        let relevance = page.appraisal.as_ref().and_then(Appraisal::telling);
        let worth = relevance.map(|relevance| page_worth(relevance, judged.verdict));
        let outcome = match outcome_of(judged.verdict, original.as_ref().and_then(|of| of.id)) {
            Outcome::Stored if page.unchanged.is_some() => Outcome::NotModified,
            outcome => outcome,
        };
        let renews = self.renewed(lease);
        let mut line = self.page_line(lease, &outcome, &page, Some(&judged))?;
        pipeline::add_original(&mut line, original.as_ref());
        if judged.redelivered {
            return self.end(lease, &outcome, line, None, worth);
        }

        let put = self.stage.enter_page(DecidedPage {
            url: lease.id,
            capture: 1,
            page: page_id(&self.crawl, lease),
            renews,
            kind: page.rendered.kind,
            text_digest: page.rendered.text_digest,
            document_text: page.document_text,
            is_noarchive: page.rendered.robots.noarchive,
            group: group_of(page.fetched.url.host()),
            fetched: page.fetched,
            row: None,
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

    /// Ends a page that the decider never sees. Its links are offered.
    fn unjudged_page(&mut self, lease: &Lease, mut page: FetchedPage) -> Result<(), CrawlError> {
        self.offer_links(lease, &mut page, None)?;
        let outcome = Outcome::Excluded(page.exclusion().expect("only excluded pages are not judged"));
        let line = self.page_line(lease, &outcome, &page, None)?;
        let worth = page.appraisal.as_ref().and_then(Appraisal::telling);
        self.end(lease, &outcome, line, None, worth)
    }

    /// Ends a soft 404. The decider never sees it, and its links are not offered.
    fn soft_404(&mut self, lease: &Lease, page: &FetchedPage, probe: &CanonicalUrl) -> Result<(), CrawlError> {
        let outcome = Outcome::Excluded(Exclusion::Soft404);
        let line = PageLine { probe: Some(probe.to_string()), ..self.page_line(lease, &outcome, page, None)? };
        self.end(lease, &outcome, line, None, Some(Relevance::NONE))
    }

    /// Offers the sitemaps that a robots.txt names, and the URLs that waited for that.
    pub fn offer_sitemaps(&mut self, NamedSitemaps { host, sitemaps }: NamedSitemaps) -> Result<(), CrawlError> {
        let named = self.sitemap_file(None, 0);
        let offered = self.offer(sitemaps.into_iter().map(|url| link(url, named)).collect(), None)?;
        for Offered { id, .. } in offered {
            let claimed = self.sitemaps.claim(id, &host);
            let links = claimed.into_iter().map(|entry| self.sitemap_link(entry.sitemap, entry.url, 1, None)).collect();
            self.offer(links, None)?;
        }
        Ok(())
    }

    /// Returns how a sitemap is named. A recrawl reads sitemaps first: they tell what has changed.
    fn sitemap_file(&self, referrer: Option<UrlId>, depth: u16) -> Discovery {
        Discovery { rank: self.first(true), ..Discovery::new(LinkKind::SitemapFile, referrer, depth) }
    }

    /// Returns the rank of a link. Only a recrawl has links to fetch first, and a topic goes before changes.
    fn first(&self, is_first: bool) -> i8 {
        -i8::from(is_first && self.recrawl.is_some() && self.focus.is_none())
    }

    /// Returns the link from a sitemap to a page, and what the sitemap says of the page.
    fn sitemap_link(&self, sitemap: UrlId, url: CanonicalUrl, depth: u16, lastmod: Option<LastmodClaim>) -> Link {
        let clue = self.focus.as_ref().map(|filter| filter.focus.of_url(&url, &filter.renderer));
        let kind = match lastmod {
            Some(LastmodClaim::Unchanged) => LinkKind::SitemapUnchanged,
            _ => LinkKind::Sitemap,
        };
        let rank = self.first(lastmod == Some(LastmodClaim::Changed));
        Link { clue, ..link(url, Discovery { rank, ..Discovery::new(kind, Some(sitemap), depth) }) }
    }

    /// Offers the pages of a sitemap.
    fn offer_listed(
        &mut self,
        lease: &Lease,
        urls: Vec<CanonicalUrl>,
        dates: &SitemapDates,
        depth: u16,
    ) -> Result<(), CrawlError> {
        let recrawl = self.recrawl.clone();
        let claim = |url: &CanonicalUrl| recrawl.as_ref()?.claim(url, dates.get(url));
        let claims: Vec<Option<LastmodClaim>> = urls.iter().map(claim).collect();
        let links = urls.into_iter().zip(&claims).map(|(url, claim)| self.sitemap_link(lease.id, url, depth, *claim));
        let offered = self.offer(links.collect(), None)?;
        let Some(recrawl) = recrawl else { return Ok(()) };
        for (offered, claim) in offered.iter().zip(claims).filter(|(offered, _)| offered.decision.is_none()) {
            claim.into_iter().for_each(|claim| recrawl.note(offered.id, claim));
        }
        Ok(())
    }

    /// Offers the URLs in a sitemap. A sitemap inside a sitemap is one link deeper, so the depth limit ends the chain.
    fn sitemap(
        &mut self,
        lease: &Lease,
        fetched: &Fetched,
        (urls, dates): (Vec<CanonicalUrl>, &SitemapDates),
        mut sitemaps: Vec<CanonicalUrl>,
    ) -> Result<(), CrawlError> {
        let path = self.sitemap_path(lease)?;
        let deeper = lease.discovery.depth.saturating_add(1);
        // A sitemap that robots.txt names is no link: its pages are one link deep, however deep it lies.
        let depth = if lease.discovery.kind == LinkKind::SitemapFile { 1 } else { deeper };
        let urls = self.sitemaps.read(&path, urls);
        sitemaps.retain(|url| self.sitemaps.may_name(&path, url.host()));
        if urls.is_empty() && sitemaps.is_empty() {
            self.report_failed_seed(lease, "a sitemap that names no URL to crawl")?;
        }
        self.offer_listed(lease, urls, dates, depth)?;
        let named = self.sitemap_file(Some(lease.id), deeper);
        self.offer(sitemaps.into_iter().map(|url| link(url, named)).collect(), None)?;
        self.end_without_page(lease, &Outcome::Excluded(Exclusion::Sitemap), Some(fetched))
    }

    /// Follows a sitemap back to where it was first named. This ends: a URL's row names one that was seen before it.
    fn sitemap_path(&self, lease: &Lease) -> Result<SitemapPath, CrawlError> {
        let (mut id, mut url, mut discovery) = (lease.id, lease.url.clone(), lease.discovery);
        let mut path = SitemapPath { sitemaps: Vec::new(), hosts: Vec::new(), is_from_seed: false };
        loop {
            path.sitemaps.push(id);
            path.hosts.push(url.host().to_owned());
            path.is_from_seed |= self.frontier.is_from_seed(id);
            let (LinkKind::SitemapFile, Some(referrer)) = (discovery.kind, discovery.referrer) else { return Ok(path) };
            let row = self.frontier.url(referrer)?;
            url = CanonicalUrl::from_canonical(&row.url)
                .map_err(|source| FrontierError::Damaged { id: referrer, source })?;
            (id, discovery) = (referrer, row.discovery);
        }
    }

    fn redirect(&mut self, lease: &Lease, fetched: &Fetched, to: CanonicalUrl, before: u8) -> Result<(), CrawlError> {
        let hops = lease.discovery.hops.saturating_add(before).saturating_add(1);
        if hops > self.options.max_redirects {
            let detail = too_many_redirects(self.options.max_redirects);
            return self.failure(lease, FailureClass::Redirect, detail, Some(fetched));
        }
        let text = to.to_string();
        let discovery =
            Discovery { kind: kind_behind_redirect(lease), referrer: Some(lease.id), hops, ..lease.discovery };
        let next = Link { clue: lease.clue, ..link(to, discovery) };
        let offered = self.offer(vec![next], Some(lease))?;
        let id = offered.first().map(|offered| offered.id);
        if id.is_some_and(|of| !self.redirects.add(lease.id, of)) {
            let detail =
                format!("redirects in a circle: '{text}' leads back to it; a site may do so if it wants a cookie back");
            return self.end_circle(lease, detail, text, fetched);
        }
        if let Some(UrlState::Excluded(rule)) = offered.first().and_then(|offered| offered.decision) {
            self.report_excluded_target(lease, rule)?;
        }
        let outcome = Outcome::Redirected { to: text, id };
        self.end_without_page(lease, &outcome, Some(fetched))
    }

    /// Ends a redirect that leads back to itself. Its line names the target all the same.
    fn end_circle(&mut self, lease: &Lease, detail: String, to: String, fetched: &Fetched) -> Result<(), CrawlError> {
        self.report_failed_seed(lease, &format!("{}: {detail}", FailureClass::Redirect.name()))?;
        let outcome = Outcome::Failed { class: FailureClass::Redirect, detail };
        let mut line = PageLine { final_url: Some(to), ..self.line(lease, &outcome, None)? };
        pipeline::add_answer(&mut line, fetched);
        self.end(lease, &outcome, line, None, worth_without_page(&outcome))
    }

    fn failure(
        &mut self,
        lease: &Lease,
        class: FailureClass,
        detail: String,
        fetched: Option<&Fetched>,
    ) -> Result<(), CrawlError> {
        if !self.fall_back(lease, class, &detail)? {
            self.report_failed_seed(lease, &format!("{}: {detail}", class.name()))?;
        }
        self.end_without_page(lease, &Outcome::Failed { class, detail }, fetched)
    }

    /// Offers the http URL of a seed without a scheme if no https connection could be made. Port 443 may be closed or
    /// filtered.
    fn fall_back(&mut self, lease: &Lease, class: FailureClass, detail: &str) -> Result<bool, CrawlError> {
        use FailureClass::{Connect, Protocol, Timeout, Tls};
        let Some(fallback) = self.fallbacks.remove(&lease.url) else { return Ok(false) };
        let may_help = matches!(class, Connect | Timeout | Tls | Protocol);
        if may_help {
            tracing::warn!(seed = %lease.url, "https does not work ({}: {detail}); trying http", class.name());
            self.offer_seeds(vec![fallback])?;
        }
        Ok(may_help)
    }

    fn report_excluded_target(&self, lease: &Lease, rule: Exclusion) -> Result<(), CrawlError> {
        self.report_failed_seed(lease, &format!("redirects to an excluded URL: {}", rule.name()))
    }

    /// Reports that a seed, or the target of its redirects, could not be fetched.
    fn report_failed_seed(&self, lease: &Lease, why: &str) -> Result<(), CrawlError> {
        let (mut kind, mut referrer, mut url) = (lease.discovery.kind, lease.discovery.referrer, lease.url.to_string());
        // Follows the redirects back. This ends: a URL's row names one that was seen before it.
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

    fn line(&mut self, lease: &Lease, outcome: &Outcome, judged: Option<&Judged>) -> Result<PageLine, CrawlError> {
        let referrer = match lease.discovery.referrer {
            Some(id) => Some(self.frontier.url(id)?.url),
            None => None,
        };
        let revised = self.renewed(lease).map(|earlier| self.stage.earlier_verdict(earlier, judged)).transpose()?;
        Ok(PageLine { revised, ..pipeline::leased_line(lease, referrer, outcome) })
    }

    fn page_line(
        &mut self,
        lease: &Lease,
        outcome: &Outcome,
        page: &FetchedPage,
        judged: Option<&Judged>,
    ) -> Result<PageLine, CrawlError> {
        let mut line = self.line(lease, outcome, judged)?;
        pipeline::add_answer(&mut line, &page.fetched);
        line.status = line.status.filter(|_| !matches!(lease.recrawled, Some(Recrawled::Reused(_))));
        pipeline::add_page(&mut line, &page.rendered);
        pipeline::add_document(&mut line, page.document_text.is_some(), page.text_error);
        line.page_source = page.is_headless.then(|| "browser".to_owned());
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
        let mut line = self.line(lease, outcome, None)?;
        if let Some(fetched) = fetched {
            pipeline::add_answer(&mut line, fetched);
        }
        self.end(lease, outcome, line, None, worth_without_page(outcome))
    }

    /// Enters an outcome into the batch and the counters, and ends the lease. `put` belongs to the last page row of the
    /// batch; `worth` is the value of the outcome to a focused crawl.
    fn end(
        &mut self,
        lease: &Lease,
        outcome: &Outcome,
        line: PageLine,
        put: Option<PutPage>,
        worth: Option<Relevance>,
    ) -> Result<(), CrawlError> {
        let origin = lease.url.origin();
        if let Some(earlier) = self.renewed(lease) {
            self.stage.take_back(&origin, earlier)?;
        }
        self.stage.enter_outcome((lease.id, &origin), lease.attempts, outcome, line, put)?;
        self.stage.building.batch.repeats.extend(outcome.repeats().map(|of| (lease.id, of)));
        let ack = Ack { id: lease.id, kind: outcome.kind(), repeats: outcome.repeats(), worth };
        Ok(self.frontier.ack(vec![ack])?)
    }
}

/// Says why the page of a seed may lead to few others; `None` if nothing about it is special.
fn seed_note(page: &FetchedPage) -> Option<String> {
    let (fetched, links) = (&page.fetched, page.rendered.links.len());
    if fetched.truncated {
        let why = match &fetched.broken_off {
            Some(why) => format!("broke off ({why})"),
            None => "was cut (--max-body)".to_owned(),
        };
        return Some(format!("{why}; what stands behind was not seen"));
    }
    let has = |sign: &str| memchr::memmem::find(&fetched.body, sign.as_bytes()).is_some();
    if has("type=\"password\"") || has("type=password") || has("type='password'") {
        return Some("asks for a login: --cookie-file or --header takes one along".to_owned());
    }
    let title = page.rendered.title.as_deref().unwrap_or_default().to_lowercase();
    if title.contains("consent") || title.contains("before you continue") {
        return Some("asks for consent first: --cookie-file takes the answer along".to_owned());
    }
    if links > 0 {
        return None;
    }
    if has("<script") && !page.is_headless {
        return Some("has no links without its scripts, it needs a browser: --page-source auto runs them".to_owned());
    }
    let media_type = fetched.media_type();
    let is_html = media_type.is_empty() || media_type.contains("html");
    Some(if is_html { "has no links".to_owned() } else { format!("is {media_type}, which has no links") })
}

/// Returns the name of a lease's page. A page is revised at most once, and its revision has a name of its own.
pub(super) fn page_id(crawl: &str, lease: &Lease) -> PageId {
    PageId::new(crawl, lease.url.as_str(), u32::from(lease.discovery.kind == LinkKind::Revision))
}

/// Returns the value of a page to a focused crawl: its relevance, or half of it for a duplicate.
pub(super) fn page_worth(relevance: Relevance, verdict: Verdict) -> Relevance {
    if verdict.is_unique() { relevance } else { relevance.half() }
}

/// Returns the value of an outcome without a page: none for a URL that cannot be fetched.
///
/// A redirect leads to another URL, which has a value of its own, and a sitemap is no page.
pub(super) fn worth_without_page(outcome: &Outcome) -> Option<Relevance> {
    match outcome.kind() {
        OutcomeKind::Failed => Some(Relevance::NONE),
        OutcomeKind::Excluded if *outcome != Outcome::Excluded(Exclusion::Sitemap) => Some(Relevance::NONE),
        _ => None,
    }
}

/// Returns the kind of a redirect's target. The target of a sitemap's redirect is a sitemap.
fn kind_behind_redirect(lease: &Lease) -> LinkKind {
    match lease.discovery.kind {
        LinkKind::SitemapFile => LinkKind::SitemapFile,
        _ => LinkKind::Redirect,
    }
}

/// Tells what became of a URL: failures by `-v`, all others by `-vv`.
fn log_outcome(lease: &Lease, found: &FetchOutcome, judged: Option<&Judged>) {
    let (url, depth) = (&lease.url, lease.discovery.depth);
    let what = match (found, judged) {
        (FetchOutcome::Page(_), Some(judged)) => match judged.verdict {
            Verdict::Unique => "stored",
            Verdict::NearDuplicate { .. } => "near-duplicate",
            Verdict::ExactDuplicate { .. } => "exact-duplicate",
        },
        (FetchOutcome::Page(_), None) => "not compared",
        (FetchOutcome::Soft404 { .. }, _) => "soft 404",
        (FetchOutcome::Sitemap { .. }, _) => "sitemap",
        (FetchOutcome::Redirect { .. }, _) => "redirected",
        (FetchOutcome::Excluded { rule, .. }, _) => rule.name(),
        (FetchOutcome::Failed { class, detail, .. }, _) => {
            return tracing::debug!(%url, depth, "failed: {}: {detail}", class.name());
        }
    };
    tracing::trace!(%url, depth, "{what}");
}
