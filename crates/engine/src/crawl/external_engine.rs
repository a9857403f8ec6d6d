//! Fetches URLs when an external engine requests them, instead of in the order of the frontier.
//!
//! ```text
//! dispatcher ──offer──► known, not queued ──ask──► frontier ─► worker ─► dispatcher ──reply──► engine
//!                └────► entries ──take──► engine
//! ```
//!
//! The frontier knows each link that may be followed, but does not queue it before the engine requests it. Then the
//! URL is queued and leased like any other. So scope, depth, budgets, robots.txt and politeness hold, and each URL has
//! one outcome. A URL that our own parser finds on no page, or that must not be followed, is never fetched, even if
//! the engine requests it.
//!
//! The engine cannot find every URL by itself. The others are its *entries*: seeds, URLs in sitemaps, links to other
//! origins, and links of pages that the engine did not request.
//!
//! Memory: about 50 bytes for a URL that waits for a request, 16 for a URL that was requested in vain.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{Mutex, Notify, oneshot};
use xxhash_rust::xxh3::xxh3_128;

use ndcrawl_frontier::{EmbeddedFrontier, FrontierError};
use ndcrawl_model::{CanonicalUrl, Deferral, Discovery, Fetched, Lease, Link, LinkKind, Offered, UrlId, UrlState};

use super::url_log::StoredUrls;

/// Entries that are taken at once. Spider silently forgets some of a larger set.
const ENTRIES_AT_ONCE: usize = 10_000;

/// The reply to a request of the engine.
#[derive(Clone, Debug)]
pub(super) enum EngineReply {
    /// The page, and whether its links are to be followed.
    Page { page: Arc<Fetched>, follow: bool },
    /// A redirect to another URL, which the engine may request.
    Redirect(CanonicalUrl),
    /// There is no page.
    Nothing,
}

/// URLs that an external engine may request, its requests, and its entries.
pub(super) struct ExternalEngine {
    state: Mutex<State>,
    /// Requests that were queued in the frontier.
    count: AtomicU64,
    /// Signals new entries to the engine.
    entered: Notify,
    /// Wakes the scheduler.
    changed: Arc<Notify>,
}

#[derive(Default)]
struct State {
    /// URLs that the engine may request and has not, by hash.
    named: HashMap<u128, NamedUrl>,
    /// URLs that were requested in vain. If a page links to one of them later, it is queued without a second request.
    in_vain: HashSet<u128>,
    waiting: HashMap<UrlId, PendingRequest>,
    /// The URL whose lease is ending, and the channel for the reply.
    answering: Option<(UrlId, oneshot::Sender<EngineReply>)>,
    /// Entries, by origin.
    entries: HashMap<String, Vec<CanonicalUrl>>,
    /// Origins that the engine crawls now.
    at_work: HashSet<String>,
}

/// The shortest way by which a URL was discovered.
struct NamedUrl {
    discovery: Discovery,
    is_entry: bool,
}

struct PendingRequest {
    number: u64,
    asker: oneshot::Sender<EngineReply>,
}

impl ExternalEngine {
    pub fn new(changed: Arc<Notify>) -> Self {
        Self { state: Mutex::default(), count: AtomicU64::new(0), entered: Notify::new(), changed }
    }

    /// Offers links to the frontier. Links that may be followed wait for a request of the engine. `from` is the lease
    /// of the page with the links.
    pub async fn offer(
        &self,
        frontier: &EmbeddedFrontier<StoredUrls>,
        mut links: Vec<Link>,
        from: Option<&Lease>,
    ) -> Result<Vec<Offered>, FrontierError> {
        let mut state = self.state.lock().await;
        // The engine requested the page, so it finds the links to the same origin by itself.
        let read_at = from.filter(|lease| state.is_answering(lease.id)).map(|lease| lease.url.origin());
        let mut asked_for = Vec::with_capacity(links.len());
        for link in &mut links {
            asked_for.push(state.leave_to_engine(link, read_at.as_deref()));
        }
        let offered = frontier.offer(links)?;
        let mut is_any_entry = false;
        for (left, offered) in asked_for.into_iter().zip(&offered) {
            if let Some((key, named, entry)) = left.filter(|(_, named, _)| may_be_asked_for(named, offered)) {
                is_any_entry |= state.note(key, named, entry);
            }
        }
        if is_any_entry {
            self.entered.notify_one();
        }
        Ok(offered)
    }

    /// Requests a URL and waits for its outcome.
    pub async fn ask(
        &self,
        frontier: &EmbeddedFrontier<StoredUrls>,
        url: CanonicalUrl,
    ) -> Result<EngineReply, FrontierError> {
        let answer = {
            let mut state = self.state.lock().await;
            let key = xxh3_128(url.as_str().as_bytes());
            let Some(NamedUrl { discovery, .. }) = state.named.remove(&key) else {
                tracing::debug!(%url, "engine requested a URL that no page links to; not fetched");
                state.in_vain.insert(key);
                return Ok(EngineReply::Nothing);
            };
            let link = Link { url, discovery, only_seen: None, clue: None };
            let Some(Offered { id, decision }) = frontier.offer(vec![link])?.pop() else {
                return Ok(EngineReply::Nothing);
            };
            match decision {
                Some(UrlState::Queued) => {}
                None => return Ok(EngineReply::Nothing),
                Some(UrlState::Deferred(_) | UrlState::Excluded(_) | UrlState::Elsewhere(_)) => {
                    state.in_vain.insert(key);
                    return Ok(EngineReply::Nothing);
                }
            }
            let (asker, answer) = oneshot::channel();
            // After the offer: whoever sees the number may rely on the URL being queued.
            let number = self.count.fetch_add(1, Ordering::AcqRel);
            state.waiting.insert(id, PendingRequest { number, asker });
            answer
        };
        self.changed.notify_one();
        // A request that was given up gets no page.
        Ok(answer.await.unwrap_or(EngineReply::Nothing))
    }

    /// Marks a URL whose lease is about to end. Returns whether the engine waits for it.
    pub async fn begin_reply(&self, id: UrlId) -> bool {
        let mut state = self.state.lock().await;
        state.answering = state.waiting.remove(&id).map(|waiting| (id, waiting.asker));
        state.answering.is_some()
    }

    /// Replies to the engine: the URL has its outcome.
    pub async fn reply(&self, reply: EngineReply) {
        if let Some((_, asker)) = self.state.lock().await.answering.take() {
            // A stopped engine does not wait for replies.
            let _ = asker.send(reply);
        }
    }

    /// Returns the number of requests that were queued so far.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// Returns whether the engine still works although the frontier has nothing to lease. Drops the first `count`
    /// requests that are not fetched: a budget is used up, so they never will be.
    pub async fn goes_on(&self, count: u64) -> bool {
        let mut state = self.state.lock().await;
        state.waiting.retain(|_, waiting| waiting.number >= count);
        !(state.at_work.is_empty() && state.entries.is_empty())
    }

    /// Takes an origin that the engine does not crawl now, with its entries.
    pub async fn take_entries(&self) -> Option<(String, Vec<CanonicalUrl>)> {
        let mut state = self.state.lock().await;
        let State { entries, at_work, .. } = &mut *state;
        let origin = entries.keys().find(|origin| !at_work.contains(*origin))?.clone();
        let urls = entries.get_mut(&origin)?;
        let taken = urls.split_off(urls.len().saturating_sub(ENTRIES_AT_ONCE));
        if urls.is_empty() {
            entries.remove(&origin);
        }
        at_work.insert(origin.clone());
        Some((origin, taken))
    }

    /// Marks an origin as done until it has new entries.
    pub async fn is_done(&self, origin: &str) {
        self.state.lock().await.at_work.remove(origin);
        self.changed.notify_one();
    }

    /// Waits for entries.
    pub async fn entered(&self) {
        self.entered.notified().await;
    }
}

impl State {
    fn is_answering(&self, id: UrlId) -> bool {
        self.answering.as_ref().is_some_and(|(answering, _)| *answering == id)
    }

    /// Makes a link wait for a request, unless it must not be fetched or was requested already. The third value is the
    /// URL if it is an entry.
    fn leave_to_engine(
        &self,
        link: &mut Link,
        read_at: Option<&str>,
    ) -> Option<(u128, NamedUrl, Option<CanonicalUrl>)> {
        let key = xxh3_128(link.url.as_str().as_bytes());
        if link.only_seen.is_some() || link.discovery.kind == LinkKind::SitemapFile || self.in_vain.contains(&key) {
            return None;
        }
        link.only_seen = Some(Deferral::NotAsked);
        let is_entry = read_at != Some(&link.url.origin());
        let named = NamedUrl { discovery: link.discovery, is_entry };
        Some((key, named, is_entry.then(|| link.url.clone())))
    }

    /// Keeps the shortest way by which a URL was discovered. Returns whether there is a new entry.
    fn note(&mut self, key: u128, named: NamedUrl, entry: Option<CanonicalUrl>) -> bool {
        let was_entry = match self.named.get_mut(&key) {
            Some(earlier) => {
                let was_entry = earlier.is_entry;
                let is_better =
                    named.discovery.depth < earlier.discovery.depth || is_way_into_scope(named.discovery.kind);
                if is_better {
                    *earlier = named;
                }
                earlier.is_entry = was_entry || entry.is_some();
                was_entry
            }
            None => {
                self.named.insert(key, named);
                false
            }
        };
        let Some(url) = entry.filter(|_| !was_entry) else { return false };
        self.entries.entry(url.origin()).or_default().push(url);
        true
    }
}

fn is_way_into_scope(kind: LinkKind) -> bool {
    matches!(kind, LinkKind::Seed | LinkKind::Redirect)
}

/// Returns whether the engine may request an offered URL. A known URL is queued, leased or done, unless a seed or
/// redirect has just brought it into scope.
fn may_be_asked_for(named: &NamedUrl, offered: &Offered) -> bool {
    offered.decision.is_some() || is_way_into_scope(named.discovery.kind)
}
