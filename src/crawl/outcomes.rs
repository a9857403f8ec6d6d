//! From what came of a lease to the URL's outcome: its line, its record, its page for the archive.

use crate::focus::Appraisal;
use crate::model::{
    Ack, CanonicalUrl, Discovery, Disposition, EarlierVerdict, Exclusion, FailureClass, Fetched, Judged, Lease, Link,
    LinkKind, Outcome, OutcomeKind, OutcomeRow, PageLine, PageRow, PutPage, Relevance, Sequence, UrlId, Verdict,
};

use super::CrawlError;
use super::batch::Line;
use super::decision_stage::{Judge, group, name, renewed};
use super::enqueue::link;
use super::external_engine::Answer;
use super::messages::{Found, FoundPage};
use super::options::DuplicateLinks;
use super::page_lines;
use super::reference_crawls::{AgainstError, EarlierPage};

/// The stored page that a duplicate repeats.
struct Original {
    /// `None` if an earlier crawl has stored it.
    id: Option<UrlId>,
    url: String,
    fetched_at: i64,
    /// The folder of that crawl.
    folder: Option<String>,
}

impl Judge {
    /// Gives one URL its outcome, which ends the lease, and tells who has asked for it.
    pub(super) fn arrived(&mut self, lease: &Lease, found: Found, judged: Option<Judged>) -> Result<(), CrawlError> {
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
        let original = judged.verdict.duplicate_of().map(|of| self.original(of)).transpose()?;
        let outcome = match outcome_of(judged.verdict, original.as_ref().and_then(|of| of.id)) {
            Outcome::Stored if page.unchanged.is_some() => Outcome::NotModified,
            outcome => outcome,
        };
        let mut line = self.page_line(lease, &outcome, &page)?;
        line.duplicate_of = original.as_ref().map(|original| original.url.clone());
        line.duplicate_in = original.as_ref().and_then(|original| original.folder.clone());
        if judged.redelivered {
            return self.end(lease, &outcome, line, None, worth);
        }

        let renews = renewed(&self.page_urls, lease);
        self.page_urls.push(lease.id);
        if judged.verdict.is_unique() {
            self.fresh.insert(judged.sequence, (lease.url.to_string(), page.fetched.started_at));
        }
        let id = name(&self.crawl, lease);
        self.building.batch.terms.extend(judged.new_terms);
        self.building.batch.pages.push(PageRow {
            url: lease.id,
            page: id,
            group: group(lease.url.host()),
            fetched_at: page.fetched.started_at,
            body_digest: page.body_digest,
            text_digest: page.rendered.text_digest,
            verdict: judged.verdict,
            terms: judged.terms,
            least_weight: judged.least_weight,
            order: judged.order,
            links,
            location: None,
            renews,
            relevance,
        });
        let archived = !(self.options.obey_noarchive && page.rendered.robots.noarchive);
        let (unchanged, answer) = page.unchanged.unzip();
        let put = archived.then(|| PutPage {
            page: id,
            fetched: answer.filter(|_| judged.verdict.is_unique()).unwrap_or(page.fetched),
            body_digest: page.body_digest,
            payload_digest: page.payload_digest,
            verdict: judged.verdict,
            original: original.map(|original| (original.url, original.fetched_at)),
            keep_body: self.options.keep_duplicates,
            unchanged,
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
            let clue = self.looking.as_ref().map(|looking| looking.focus.of_url(&url, &looking.renderer));
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
            if let Some(Disposition::Excluded(rule)) = offered.first().map(|offered| offered.disposition) {
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
            self.live.seed_failed(url, format!("{by_redirect}{why}"));
        }
        Ok(())
    }

    /// What is told of a stored page.
    fn original(&self, of: Sequence) -> Result<Original, CrawlError> {
        if let Some(number) = of.as_earlier() {
            let against = self.against.as_ref().ok_or(AgainstError::Changed)?;
            let EarlierPage { url, fetched_at, folder } = against.page(number)?;
            return Ok(Original { id: None, url, fetched_at, folder: Some(folder) });
        }
        let id = *self.page_urls.get(of.index()).ok_or(CrawlError::Lost { what: "page", id: of.0 })?;
        if let Some((url, fetched_at)) = self.fresh.get(&of) {
            return Ok(Original { id: Some(id), url: url.clone(), fetched_at: *fetched_at, folder: None });
        }
        let page = self.reader.page(of)?.ok_or(CrawlError::Lost { what: "page", id: of.0 })?;
        let row = self.reader.url(id)?.ok_or(CrawlError::Lost { what: "URL", id: id.0 })?;
        Ok(Original { id: Some(id), url: row.url, fetched_at: page.fetched_at, folder: None })
    }

    fn line(&self, lease: &Lease, outcome: &Outcome) -> Result<PageLine, CrawlError> {
        let referrer = match lease.discovery.referrer {
            Some(id) => Some(self.frontier.url(id)?.url),
            None => None,
        };
        let revised = renewed(&self.page_urls, lease).map(|earlier| self.earlier_verdict(earlier)).transpose()?;
        Ok(PageLine { revised, ..page_lines::leased_line(lease, referrer, outcome) })
    }

    /// What was said of a page before it was judged anew.
    fn earlier_verdict(&self, page: Sequence) -> Result<EarlierVerdict, CrawlError> {
        let Some(verdict @ Verdict::NearDuplicate { of, score, .. }) = self.decider.verdict(page) else {
            return Err(CrawlError::Lost { what: "page", id: page.0 });
        };
        let original = self.original(of)?;
        let outcome = outcome_of(verdict, original.id).kind().name().to_owned();
        Ok(EarlierVerdict { outcome, duplicate_of: original.url, score: score.as_f64() })
    }

    fn page_line(&self, lease: &Lease, outcome: &Outcome, page: &FoundPage) -> Result<PageLine, CrawlError> {
        let mut line = self.line(lease, outcome)?;
        page_lines::add_answer(&mut line, &page.fetched);
        page_lines::add_page(&mut line, &page.rendered);
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
            page_lines::add_answer(&mut line, fetched);
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
        if lease.discovery.kind == LinkKind::Revision {
            self.book.revised(&lease.url.origin(), OutcomeKind::NearDuplicate);
        }
        self.book.outcome(&lease.url.origin(), outcome);
        let building = &mut self.building;
        building.urls += 1;
        building.batch.outcomes.push(OutcomeRow { url: lease.id, kind: outcome.kind() });
        if let Some(line) = page_lines::error_line(lease.url.as_str(), lease.attempts, outcome) {
            building.batch.error_lines.push(serde_json::to_string(&line)?);
        }
        let put = put.map(|put| {
            building.bytes += put.fetched.body.len();
            building.puts.push((building.batch.pages.len() - 1, put));
            building.puts.len() - 1
        });
        building.lines.push(Line { line, put });
        building.batch.repeats.extend(outcome.repeats().map(|of| (lease.id, of)));
        let ack = Ack { id: lease.id, kind: outcome.kind(), repeats: outcome.repeats(), worth };
        Ok(self.frontier.ack(vec![ack])?)
    }
}

/// The outcome that a verdict gives a URL, with the number of the URL that it repeats, if that is one of this crawl.
pub(crate) fn outcome_of(verdict: Verdict, of: Option<UrlId>) -> Outcome {
    match verdict {
        Verdict::NearDuplicate { score, second, detector, decided_by, .. } => {
            Outcome::NearDuplicate { of, score, second, detector, decided_by }
        }
        Verdict::ExactDuplicate { decided_by, .. } => Outcome::ExactDuplicate { of, decided_by },
        Verdict::Unique => Outcome::Stored,
    }
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
