//! The one owner of the decision: it gives verdicts in the order of arrival, offers what a page
//! links to, and builds the batches that are committed.
//!
//! It runs on a thread of its own. A URL's outcome, the URLs it names and its record go into the
//! same batch, and batches are committed in order, so a committed page never names a URL that is
//! not.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::{Notify, mpsc};

use crate::detect::EmbeddedDecider;
use crate::frontier::EmbeddedFrontier;
use crate::record::{
    Ack, Candidate, CanonicalUrl, Decider, Deferral, Disposition, Exclusion, FailureClass, Fetched, Frontier, Judged,
    Lease, Link, LinkKind, Offered, Outcome, OutcomeKind, OutcomeRow, PageId, PageLine, PageRow, PutPage, Sequence,
    UrlId, Verdict,
};
use crate::store::StoreReader;

use super::CrawlError;
use super::arrival::{Found, FoundPage, Message};
use super::book::Book;
use super::commit::{Line, Sealed};
use super::lines;
use super::live::Live;
use super::log_access::{Records, Urls};
use super::options::{DuplicateLinks, Options};

/// Judged pages that are not yet committed, over all batches: what a kill can cost at most besides
/// the fetches in flight.
const PAGES_IN_BATCH: usize = 120;
/// Octets of bodies in one batch.
const BYTES_IN_BATCH: usize = 16 << 20;
/// New URLs in one batch.
const URLS_IN_BATCH: usize = 50_000;
/// A batch is committed at the latest this long after its first entry.
const BATCH_AGE: Duration = Duration::from_secs(1);
/// Messages that are judged together.
const MESSAGES_AT_ONCE: usize = 32;

/// What the judge works with.
pub(super) struct Judge {
    pub options: Options,
    pub crawl: String,
    pub frontier: Arc<EmbeddedFrontier<Urls>>,
    pub decider: EmbeddedDecider<Records>,
    pub reader: StoreReader,
    pub book: Book,
    /// The URL of each judged page, by sequence number.
    pub page_urls: Vec<UrlId>,
    /// Judged pages that are committed; the committer counts on.
    pub committed_pages: Arc<AtomicU32>,
    /// Seeds without a scheme: what to try if https fails.
    pub fallbacks: HashMap<CanonicalUrl, CanonicalUrl>,
    pub commits: SyncSender<Sealed>,
    pub changed: Arc<Notify>,
    pub live: Arc<Live>,
    pub runtime: Handle,
    /// When this run began, and the milliseconds of earlier runs.
    pub began: Instant,
    pub earlier_millis: u64,
}

/// Stored pages whose commit is under way: their URL and time of fetch.
type Fresh = HashMap<Sequence, (String, i64)>;

impl Judge {
    /// Offers the seeds, then judges what arrives until the channel closes, and seals the last
    /// batch. Gives the books back.
    pub fn run(
        mut self,
        seeds: Vec<CanonicalUrl>,
        mut messages: mpsc::Receiver<Message>,
        ready: &Notify,
    ) -> Result<Book, CrawlError> {
        let mut building = Sealed::default();
        let mut fresh = Fresh::new();
        let runtime = self.runtime.clone();
        let offered = self.offer_seeds(seeds, &mut building);
        ready.notify_one();
        offered?;
        let mut deadline = Instant::now() + BATCH_AGE;
        loop {
            let mut arrived = Vec::with_capacity(MESSAGES_AT_ONCE);
            let receive = async {
                tokio::time::timeout_at(deadline.into(), messages.recv_many(&mut arrived, MESSAGES_AT_ONCE)).await
            };
            let closed = matches!(runtime.block_on(receive), Ok(0));
            if !arrived.is_empty() {
                if building.is_empty() {
                    deadline = Instant::now() + BATCH_AGE;
                }
                self.judge(arrived, &mut building, &mut fresh)?;
            }
            if closed || Instant::now() >= deadline || is_full(&building) {
                self.seal(&mut building, &mut fresh)?;
                deadline = Instant::now() + BATCH_AGE;
            }
            if closed {
                return Ok(self.book);
            }
        }
    }

    fn offer_seeds(&mut self, seeds: Vec<CanonicalUrl>, building: &mut Sealed) -> Result<(), CrawlError> {
        let links = seeds.into_iter().map(|url| link(url, 0, None, LinkKind::Seed)).collect();
        self.offer(links, None, building).map(drop)
    }

    fn judge(&mut self, messages: Vec<Message>, building: &mut Sealed, fresh: &mut Fresh) -> Result<(), CrawlError> {
        let mut judged = self.decide(&messages)?.into_iter();
        for message in messages {
            match message {
                Message::Attempts(attempts) => self.book.attempts(&attempts),
                Message::Robots { origin, row, sitemaps } => {
                    self.book.robots(&origin, row);
                    let links = sitemaps.into_iter().map(|url| link(url, 0, None, LinkKind::SitemapFile)).collect();
                    self.offer(links, None, building)?;
                }
                Message::Arrival { lease, found } => {
                    let verdict = if is_judged(&found) { judged.next() } else { None };
                    self.arrived(lease, *found, verdict, building, fresh)?;
                }
            }
        }
        self.live.publish(self.book.totals().clone(), self.decider.stats());
        self.changed.notify_one();
        Ok(())
    }

    fn decide(&mut self, messages: &[Message]) -> Result<Vec<Judged>, CrawlError> {
        let candidates: Vec<Candidate> = messages
            .iter()
            .filter_map(|message| match message {
                Message::Arrival { lease, found } if is_judged(found) => candidate(&self.crawl, lease, found),
                _ => None,
            })
            .collect();
        if candidates.is_empty() {
            return Ok(Vec::new());
        }
        self.decider.committed(Sequence(self.committed_pages.load(Ordering::Acquire)));
        Ok(self.runtime.block_on(self.decider.decide(candidates))?)
    }

    /// Gives one URL its outcome.
    fn arrived(
        &mut self,
        lease: Lease,
        found: Found,
        judged: Option<Judged>,
        building: &mut Sealed,
        fresh: &mut Fresh,
    ) -> Result<(), CrawlError> {
        match (found, judged) {
            (Found::Page(page), Some(judged)) => self.judged_page(lease, page, judged, building, fresh),
            (Found::Page(page), None) => self.unindexed_page(lease, page, building),
            (Found::Sitemap { fetched, urls, sitemaps }, _) => {
                let mut links: Vec<Link> =
                    urls.into_iter().map(|url| link(url, 1, Some(lease.id), LinkKind::Sitemap)).collect();
                links.extend(sitemaps.into_iter().map(|url| link(url, 0, Some(lease.id), LinkKind::SitemapFile)));
                self.offer(links, Some(lease.url.as_str()), building)?;
                let outcome = Outcome::Excluded(Exclusion::Sitemap);
                let mut line = self.line(&lease, &outcome)?;
                lines::add_answer(&mut line, &fetched);
                self.end(&lease, outcome, line, None, building)
            }
            (Found::Redirect { fetched, to }, _) => self.redirected(lease, &fetched, to, building),
            (Found::Excluded { rule, fetched }, _) => {
                if lease.kind == LinkKind::Seed && fetched.is_none() {
                    self.live.seed_failed(lease.url.to_string(), format!("excluded: {}", rule.name()));
                }
                let outcome = Outcome::Excluded(rule);
                let mut line = self.line(&lease, &outcome)?;
                if let Some(fetched) = fetched {
                    lines::add_answer(&mut line, &fetched);
                }
                self.end(&lease, outcome, line, None, building)
            }
            (Found::Failed { class, detail, fetched }, _) => {
                self.seed_failed(&lease, class, &detail, building)?;
                let outcome = Outcome::Failed { class, detail };
                let mut line = self.line(&lease, &outcome)?;
                if let Some(fetched) = fetched {
                    lines::add_answer(&mut line, &fetched);
                }
                self.end(&lease, outcome, line, None, building)
            }
        }
    }

    /// A seed that was given without a scheme is tried as http if https does not work. A server
    /// that does not answer at all will not answer on the other port either.
    fn seed_failed(
        &mut self,
        lease: &Lease,
        class: FailureClass,
        detail: &str,
        building: &mut Sealed,
    ) -> Result<(), CrawlError> {
        if lease.kind != LinkKind::Seed {
            return Ok(());
        }
        let fallback = self.fallbacks.remove(&lease.url);
        if let (Some(url), FailureClass::Connect | FailureClass::Tls | FailureClass::Protocol) = (fallback, class) {
            return self.offer_seeds(vec![url], building);
        }
        self.live.seed_failed(lease.url.to_string(), format!("{}: {detail}", class.name()));
        Ok(())
    }

    fn redirected(
        &mut self,
        lease: Lease,
        fetched: &Fetched,
        to: CanonicalUrl,
        building: &mut Sealed,
    ) -> Result<(), CrawlError> {
        let hops = lease.hops.saturating_add(1);
        let outcome = if hops > self.options.max_redirects {
            let detail = format!("more than {} redirects in a row", self.options.max_redirects);
            Outcome::Failed { class: FailureClass::Redirect, detail }
        } else {
            let next = Link {
                hops,
                rank: lease.rank,
                only_seen: None,
                ..link(to.clone(), lease.depth, Some(lease.id), LinkKind::Redirect)
            };
            self.offer(vec![next], Some(lease.url.as_str()), building)?;
            Outcome::Redirected { to: to.to_string() }
        };
        let mut line = self.line(&lease, &outcome)?;
        lines::add_answer(&mut line, fetched);
        self.end(&lease, outcome, line, None, building)
    }

    /// A page that asks not to be indexed: its links are used, the decider never sees it.
    fn unindexed_page(&mut self, lease: Lease, page: FoundPage, building: &mut Sealed) -> Result<(), CrawlError> {
        self.offer_links(&lease, &page, None, building)?;
        let outcome = Outcome::Excluded(Exclusion::NoIndex);
        let mut line = self.line(&lease, &outcome)?;
        lines::add_answer(&mut line, &page.fetched);
        lines::add_page(&mut line, &page.rendered);
        self.end(&lease, outcome, line, None, building)
    }

    fn judged_page(
        &mut self,
        lease: Lease,
        page: FoundPage,
        judged: Judged,
        building: &mut Sealed,
        fresh: &mut Fresh,
    ) -> Result<(), CrawlError> {
        let links = self.offer_links(&lease, &page, Some(&judged.verdict), building)?;
        let original = match judged.verdict.duplicate_of() {
            Some(of) => Some(self.original(of, fresh)?),
            None => None,
        };
        let outcome = match (judged.verdict, &original) {
            (Verdict::NearDuplicate { score, detector, decided_by, .. }, Some((of, ..))) => {
                Outcome::NearDuplicate { of: *of, score, detector, decided_by }
            }
            (Verdict::ExactDuplicate { decided_by, .. }, Some((of, ..))) => {
                Outcome::ExactDuplicate { of: *of, decided_by }
            }
            _ => Outcome::Stored,
        };
        let mut line = self.line(&lease, &outcome)?;
        lines::add_answer(&mut line, &page.fetched);
        lines::add_page(&mut line, &page.rendered);
        line.duplicate_of = original.as_ref().map(|(_, url, _)| url.clone());

        let id = PageId::new(&self.crawl, lease.url.as_str(), 0);
        if judged.redelivered {
            return self.end(&lease, outcome, line, None, building);
        }
        self.page_urls.push(lease.id);
        if judged.verdict.is_unique() {
            fresh.insert(judged.sequence, (lease.url.to_string(), page.fetched.started_at));
        }
        building.batch.terms.extend(judged.new_terms);
        building.batch.pages.push(PageRow {
            url: lease.id,
            page: id,
            group: group(lease.url.host()),
            fetched_at: page.fetched.started_at,
            body_digest: page.body_digest,
            text_digest: page.rendered.text_digest,
            verdict: judged.verdict,
            terms: judged.terms,
            links,
            location: None,
        });
        let archived = !(self.options.obey_noarchive && page.rendered.robots.noarchive);
        let put = archived.then(|| PutPage {
            page: id,
            fetched: page.fetched,
            verdict: judged.verdict,
            original: original.map(|(_, url, fetched_at)| (url, fetched_at)),
            keep_body: self.options.keep_duplicates,
        });
        self.end(&lease, outcome, line, put, building)
    }

    /// The URL and time of fetch of a stored page.
    fn original(&self, of: Sequence, fresh: &Fresh) -> Result<(UrlId, String, i64), CrawlError> {
        let id = *self.page_urls.get(of.index()).ok_or(CrawlError::Lost { what: "page", id: of.0 })?;
        if let Some((url, fetched_at)) = fresh.get(&of) {
            return Ok((id, url.clone(), *fetched_at));
        }
        let page = self.reader.page(of)?.ok_or(CrawlError::Lost { what: "page", id: of.0 })?;
        let url = self.reader.url(id)?.ok_or(CrawlError::Lost { what: "URL", id: id.0 })?;
        Ok((id, url.url, page.fetched_at))
    }

    /// Offers the out-links of a page by the policy that its verdict asks for. Gives the numbers of
    /// the linked URLs.
    fn offer_links(
        &mut self,
        lease: &Lease,
        page: &FoundPage,
        verdict: Option<&Verdict>,
        building: &mut Sealed,
    ) -> Result<Vec<UrlId>, CrawlError> {
        let rendered = &page.rendered;
        self.book.links_dropped(rendered.links_dropped, rendered.links_over_limit);
        let of_duplicate = verdict.is_some_and(|verdict| !verdict.is_unique());
        let kind = if of_duplicate { LinkKind::Duplicate } else { LinkKind::Page };
        let links = rendered
            .links
            .iter()
            .map(|out| {
                let nofollow = self.options.obey_nofollow && (out.nofollow || rendered.robots.nofollow);
                let skipped =
                    of_duplicate && !self.options.duplicate_links.follows(out.url.as_str(), self.options.random_seed);
                let only_seen = match (nofollow, skipped) {
                    (true, _) => Some(Deferral::NoFollow),
                    (_, true) => Some(Deferral::DuplicateLink),
                    _ => None,
                };
                let last = of_duplicate && self.options.duplicate_links == DuplicateLinks::Defer;
                Link {
                    rank: u8::from(last),
                    only_seen,
                    ..link(out.url.clone(), lease.depth.saturating_add(1), Some(lease.id), kind)
                }
            })
            .collect();
        let offered = self.offer(links, Some(lease.url.as_str()), building)?;
        Ok(offered.into_iter().map(|offered| offered.id).collect())
    }

    /// Offers links to the frontier; those that a rule keeps out get their outcome at once.
    fn offer(
        &mut self,
        links: Vec<Link>,
        referrer: Option<&str>,
        building: &mut Sealed,
    ) -> Result<Vec<Offered>, CrawlError> {
        if links.is_empty() {
            return Ok(Vec::new());
        }
        let offered = self.runtime.block_on(self.frontier.offer(links))?;
        for Offered { id, disposition } in &offered {
            let Disposition::Excluded(rule) = *disposition else { continue };
            let outcome = Outcome::Excluded(rule);
            let line = lines::unleased_line(&self.frontier.url(*id)?, referrer.map(str::to_owned), &outcome);
            building.batch.outcomes.push(OutcomeRow { url: *id, kind: outcome.kind() });
            building.lines.push(Line { line, page: None });
            self.book.excluded();
        }
        Ok(offered)
    }

    fn line(&self, lease: &Lease, outcome: &Outcome) -> Result<PageLine, CrawlError> {
        let referrer = match lease.referrer {
            Some(id) => Some(self.frontier.url(id)?.url),
            None => None,
        };
        Ok(lines::leased_line(lease, referrer, outcome))
    }

    /// Enters an outcome into the batch and the books, and ends the lease.
    fn end(
        &mut self,
        lease: &Lease,
        outcome: Outcome,
        line: PageLine,
        put: Option<PutPage>,
        building: &mut Sealed,
    ) -> Result<(), CrawlError> {
        self.book.outcome(&lease.url.origin(), &outcome);
        building.batch.outcomes.push(OutcomeRow { url: lease.id, kind: outcome.kind() });
        building
            .batch
            .error_lines
            .extend(lines::error_line(lease, &outcome).and_then(|line| serde_json::to_string(&line).ok()));
        let page = put.map(|put| {
            building.bytes += put.fetched.body.len();
            building.puts.push((building.batch.pages.len().saturating_sub(1), put));
            building.puts.len() - 1
        });
        building.lines.push(Line { line, page });
        let ack = Ack { id: lease.id, is_page: is_page(outcome.kind()) };
        Ok(self.runtime.block_on(self.frontier.ack(vec![ack]))?)
    }

    /// Hands the batch to the committer. Waits if the one before is not yet under way.
    fn seal(&mut self, building: &mut Sealed, fresh: &mut Fresh) -> Result<(), CrawlError> {
        let changes = self.frontier.take_changes();
        let mut sealed = std::mem::take(building);
        sealed.batch.urls = changes.urls;
        sealed.batch.requeued = changes.requeued;
        sealed.batch.leased = changes.leased;
        sealed.batch.hosts = self.book.take_changed();
        if sealed.is_empty() {
            return Ok(());
        }
        let millis = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.book.set_millis(self.earlier_millis.saturating_add(millis));
        sealed.batch.totals = self.book.totals().clone();
        let committed = self.committed_pages.load(Ordering::Acquire);
        fresh.retain(|sequence, _| sequence.0 >= committed);
        // A closed channel means that the committer has failed: it says why when it is joined.
        self.commits.send(sealed).map_err(|_| CrawlError::Stopped)
    }
}

fn is_full(building: &Sealed) -> bool {
    building.batch.pages.len() >= PAGES_IN_BATCH
        || building.bytes >= BYTES_IN_BATCH
        || building.lines.len() >= URLS_IN_BATCH
}

/// Pages that ask not to be indexed are not judged.
fn is_judged(found: &Found) -> bool {
    matches!(found, Found::Page(page) if !page.rendered.robots.noindex)
}

/// Whether a URL of this outcome counts as a page against the budgets.
pub(super) fn is_page(kind: OutcomeKind) -> bool {
    matches!(
        kind,
        OutcomeKind::Stored | OutcomeKind::NearDuplicate | OutcomeKind::ExactDuplicate | OutcomeKind::NotModified
    )
}

fn candidate(crawl: &str, lease: &Lease, found: &Found) -> Option<Candidate> {
    let Found::Page(page) = found else { return None };
    Some(Candidate {
        page: PageId::new(crawl, lease.url.as_str(), 0),
        group: group(lease.url.host()),
        body_digest: page.body_digest,
        text_digest: page.rendered.text_digest,
        terms: page.rendered.terms.clone(),
    })
}

/// The page's group is its host, as a number that is the same in every run.
fn group(host: &str) -> u32 {
    // The low half of a hash: two hosts that meet are one group, which costs nothing but detail.
    xxhash_rust::xxh3::xxh3_64(host.as_bytes()) as u32
}

fn link(url: CanonicalUrl, depth: u16, referrer: Option<UrlId>, kind: LinkKind) -> Link {
    Link { url, depth, referrer, kind, hops: 0, rank: 0, only_seen: None }
}
