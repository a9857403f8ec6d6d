//! The one owner of the decision: it gives verdicts in the order of arrival, and builds the batches
//! that are committed.
//!
//! It runs on a thread of its own. A URL's outcome, the URLs it names and its record go into the
//! same batch, and batches are committed in order, so a committed page never names a URL that is
//! not. What an outcome entails is in `outcomes`, what becomes of links in `offering`.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::{Notify, mpsc, oneshot};

use crate::detect::Decider;
use crate::focus::Focus;
use crate::frontier::EmbeddedFrontier;
use crate::model::{CanonicalUrl, Discovery, Judged, Lease, LinkKind, PageId, PageInput, Relevance, Sequence, UrlId};
use crate::pagetext::Renderer;
use crate::store::StoreReader;

use super::CrawlError;
use super::batch::Sealed;
use super::enqueue::link;
use super::external_engine::Asked;
use super::host_stats::Book;
use super::index_snapshot::Snapshots;
use super::live_stats::Live;
use super::messages::{Found, FoundPage, Message};
use super::options::Options;
use super::reference_crawls::Against;
use super::store_sources::{Records, Urls};

/// A batch is committed at the latest this long after its first entry.
const BATCH_AGE: Duration = Duration::from_secs(1);
/// Messages that are judged together.
const MESSAGES_AT_ONCE: usize = 32;

/// What is looked for.
pub(super) struct Looking {
    pub focus: Focus,
    /// Pages that have less to do with it are not kept.
    pub least: Option<Relevance>,
    pub renderer: Arc<Renderer>,
}

impl Looking {
    fn appraise(&mut self, page: &mut FoundPage) {
        let appraisal = self.focus.read(&page.rendered, &self.renderer);
        page.is_off_topic = self.least.is_some_and(|least| appraisal.relevance < least);
        page.appraisal = Some(appraisal);
    }
}

/// What the judge works with.
pub(super) struct Judge {
    pub options: Options,
    pub crawl: String,
    pub frontier: Arc<EmbeddedFrontier<Urls>>,
    pub decider: Decider<Records>,
    pub reader: StoreReader,
    pub book: Book,
    /// The URL of each judged page, by sequence number.
    pub page_urls: Vec<UrlId>,
    /// Pages of earlier crawls.
    pub against: Option<Arc<Against>>,
    /// In a focused crawl.
    pub looking: Option<Looking>,
    /// Judged pages that are committed; the committer counts on.
    pub committed_pages: Arc<AtomicU32>,
    /// Links that wait until another engine asks for them.
    pub asked: Option<Arc<Asked>>,
    /// Seeds without a scheme: what to try if https fails.
    pub fallbacks: HashMap<CanonicalUrl, CanonicalUrl>,
    pub commits: SyncSender<Sealed>,
    pub changed: Arc<Notify>,
    pub live: Arc<Live>,
    pub runtime: Handle,
    /// When this run began, and the milliseconds of earlier runs.
    pub began: Instant,
    pub earlier_millis: u64,
    /// The batch that is being built.
    pub building: Sealed,
    pub snapshots: Snapshots,
    /// Whether it was said that the index has outgrown its memory.
    pub told_of_budget: bool,
    /// Verdicts on pages below this number have been looked at again.
    pub looked_at: Sequence,
    /// Stored pages whose commit is under way: their URL and time of fetch.
    pub fresh: HashMap<Sequence, (String, i64)>,
}

impl Judge {
    /// Offers the seeds and says so, then judges what arrives until the channel closes, and seals
    /// the last batch. Gives the books back, and the snapshots, of which one may wait for a commit.
    pub fn run(
        mut self,
        seeds: Vec<CanonicalUrl>,
        mut messages: mpsc::Receiver<Message>,
        ready: oneshot::Sender<()>,
    ) -> Result<(Book, Snapshots), CrawlError> {
        self.offer_seeds(seeds)?;
        // Nobody waits for it only if the crawl was dropped.
        let _ = ready.send(());
        let runtime = self.runtime.clone();
        let mut deadline = Instant::now() + BATCH_AGE;
        loop {
            let mut arrived = Vec::with_capacity(MESSAGES_AT_ONCE);
            let receive = async {
                tokio::time::timeout_at(deadline.into(), messages.recv_many(&mut arrived, MESSAGES_AT_ONCE)).await
            };
            let closed = matches!(runtime.block_on(receive), Ok(0));
            if !arrived.is_empty() {
                self.judge(arrived)?;
                let committed = self.committed_pages.load(Ordering::Acquire);
                self.snapshots.consider(&self.decider, &self.page_urls, committed);
            }
            if closed || Instant::now() >= deadline {
                self.seal()?;
                deadline = Instant::now() + BATCH_AGE;
            }
            if closed {
                self.snapshots.finish(&self.decider, &self.page_urls);
                return Ok((self.book, self.snapshots));
            }
        }
    }

    /// Judges what arrived together, in order.
    fn judge(&mut self, mut messages: Vec<Message>) -> Result<(), CrawlError> {
        self.appraise(&mut messages);
        let mut judged = self.decide(&mut messages)?.into_iter();
        for message in messages {
            match message {
                Message::Attempts(attempts) => self.book.attempts(&attempts),
                Message::Robots { origin, row, sitemaps } => {
                    self.book.robots(&origin, row);
                    let links = sitemaps
                        .into_iter()
                        .map(|url| link(url, Discovery::new(LinkKind::SitemapFile, None, 0)))
                        .collect();
                    self.offer(links, None)?;
                }
                Message::Idle(answer) => {
                    let has_work = self.look_again()?;
                    // Nobody waits for it only if the crawl was dropped.
                    let _ = answer.send(has_work);
                }
                Message::Arrival { lease, found, attempts } => {
                    attempts.iter().for_each(|attempts| self.book.attempts(attempts));
                    let verdict = if is_judged(&found) { judged.next() } else { None };
                    self.arrived(&lease, *found, verdict)?;
                }
            }
            self.changed.notify_one();
            if self.building.is_full() {
                self.seal()?;
            }
        }
        let stats = self.decider.stats();
        if stats.unlisted > 0 && !self.told_of_budget {
            self.told_of_budget = true;
            tracing::warn!(
                "the index has reached its memory: its oldest records are compared one by one from now on, slower and as exact; --memory gives it more"
            );
        }
        self.live.publish(self.book.totals().clone(), stats);
        Ok(())
    }

    /// Looks again at the near-duplicates that were judged since the last time, and queues those that
    /// would be none by now, and what patterns of URLs that were opened again had left out. Whether there
    /// are any.
    fn look_again(&mut self) -> Result<bool, CrawlError> {
        let from = std::mem::replace(&mut self.looked_at, Sequence(self.page_urls.len() as u32));
        let outgrown = self.decider.outgrown(from)?;
        let urls: Vec<UrlId> = outgrown.iter().filter_map(|page| self.page_urls.get(page.index()).copied()).collect();
        let is_any = !urls.is_empty();
        self.frontier.revise(urls)?;
        Ok(self.frontier.reopen()? || is_any)
    }

    /// Compares the pages among the messages with what is looked for.
    fn appraise(&mut self, messages: &mut [Message]) {
        let Some(looking) = &mut self.looking else { return };
        for message in messages {
            if let Message::Arrival { found, .. } = message
                && let Found::Page(page) = &mut **found
            {
                looking.appraise(page);
            }
        }
    }

    /// Gives the verdicts on the pages among the messages. Takes the pages' terms.
    fn decide(&mut self, messages: &mut [Message]) -> Result<Vec<Judged>, CrawlError> {
        let candidates: Vec<PageInput> = messages
            .iter_mut()
            .filter_map(|message| match message {
                Message::Arrival { lease, found, .. } if is_judged(found) => {
                    candidate(&self.crawl, lease, found, renewed(&self.page_urls, lease))
                }
                _ => None,
            })
            .collect();
        if candidates.is_empty() {
            return Ok(Vec::new());
        }
        self.decider.committed(Sequence(self.committed_pages.load(Ordering::Acquire)));
        Ok(self.decider.decide(candidates)?)
    }

    /// Hands the batch to the committer. Waits until the one before is committed.
    fn seal(&mut self) -> Result<(), CrawlError> {
        let changes = self.frontier.take_changes();
        let mut sealed = std::mem::take(&mut self.building);
        sealed.batch.urls = changes.urls;
        sealed.batch.requeued = changes.requeued;
        sealed.batch.leased = changes.leased;
        sealed.batch.counterparts = changes.counterparts;
        sealed.batch.hosts = self.book.take_changed();
        if sealed.is_empty() {
            return Ok(());
        }
        let millis = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.book.set_millis(self.earlier_millis.saturating_add(millis));
        sealed.batch.totals = self.book.totals().clone();
        let committed = self.committed_pages.load(Ordering::Acquire);
        self.fresh.retain(|sequence, _| sequence.0 >= committed);
        // A closed channel means that the committer has failed: it says why when it is joined.
        self.commits.send(sealed).map_err(|_| CrawlError::Stopped)
    }
}

/// Pages that ask not to be indexed are not judged, nor are those that are not looked for.
fn is_judged(found: &Found) -> bool {
    matches!(found, Found::Page(page) if !page.rendered.robots.noindex && !page.is_off_topic)
}

fn candidate(crawl: &str, lease: &Lease, found: &mut Found, renews: Option<Sequence>) -> Option<PageInput> {
    let Found::Page(page) = found else { return None };
    Some(PageInput {
        page: name(crawl, lease),
        group: group(lease.url.host()),
        body_digest: page.body_digest,
        text_digest: page.rendered.text_digest,
        terms: std::mem::take(&mut page.rendered.terms),
        order: std::mem::take(&mut page.rendered.order),
        renews,
    })
}

/// The name of the page that a lease brings. A page is judged anew once at most.
pub(super) fn name(crawl: &str, lease: &Lease) -> PageId {
    PageId::new(crawl, lease.url.as_str(), u32::from(lease.discovery.kind == LinkKind::Revision))
}

/// The page that was judged before, if the lease is there to judge it anew.
pub(super) fn renewed(page_urls: &[UrlId], lease: &Lease) -> Option<Sequence> {
    let earlier = || page_urls.iter().position(|url| *url == lease.id);
    let number = (lease.discovery.kind == LinkKind::Revision).then(earlier).flatten()?;
    u32::try_from(number).ok().map(Sequence)
}

/// The page's group is its host, as a number that is the same in every run.
pub(crate) fn group(host: &str) -> u32 {
    // The low half of a hash: two hosts that meet are one group, which costs nothing but detail.
    xxhash_rust::xxh3::xxh3_64(host.as_bytes()) as u32
}
