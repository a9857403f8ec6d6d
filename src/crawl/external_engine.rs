//! URLs of which another engine decides when they are fetched: it asks for them.
//!
//! ```text
//! judge ──name──► known, not queued ──ask──► frontier ─► worker ─► judge ──answer──► engine
//!           └────► entries ──take──► engine
//! ```
//!
//! A link that may be followed is on record and waits for the engine to ask for it; then it is queued and leased
//! like any other. So scope, depth, budgets, robots.txt and gaps hold, and each URL has one outcome. What no page
//! names by our own reading, and what is not to be followed, is not fetched though the engine may ask for it.
//!
//! Where the engine cannot come to by itself, it is told to begin: entries are seeds, what sitemaps name, links to
//! other origins, and links of pages that were fetched without being asked for.
//!
//! Memory: about 50 bytes for a URL that waits to be asked for, 16 for one that was asked for in vain.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{Mutex, Notify, oneshot};
use xxhash_rust::xxh3::xxh3_128;

use crate::frontier::{EmbeddedFrontier, FrontierError};
use crate::model::{CanonicalUrl, Deferral, Discovery, Fetched, Lease, Link, LinkKind, Offered, UrlId, UrlState};

use super::url_log::StoredUrls;

/// Entries that are taken at once: what spider would forget of more, it does not tell.
const ENTRIES_AT_ONCE: usize = 10_000;

/// What the engine is told of a URL that it asked for.
#[derive(Clone, Debug)]
pub(super) enum EngineReply {
    /// The page, and whether its links are to be followed.
    Page { page: Arc<Fetched>, follow: bool },
    /// The server names another URL, which may be asked for.
    Redirect(CanonicalUrl),
    /// There is nothing to go on from.
    Nothing,
}

/// What was named, what is asked for, and where the engine is to begin.
pub(super) struct ExternalEngine {
    state: Mutex<State>,
    /// URLs that were asked for and offered to the frontier.
    count: AtomicU64,
    /// Tells the engine of entries.
    entered: Notify,
    /// Wakes the scheduler.
    changed: Arc<Notify>,
}

#[derive(Default)]
struct State {
    /// URLs that may be asked for and were not, by the hash of the URL.
    named: HashMap<u128, NamedUrl>,
    /// URLs that were asked for in vain: if a page names them in a way that counts, they need no second question.
    in_vain: HashSet<u128>,
    waiting: HashMap<UrlId, PendingRequest>,
    /// The URL whose outcome is being given, and who waits for it.
    answering: Option<(UrlId, oneshot::Sender<EngineReply>)>,
    /// Where the engine is to begin, by origin.
    entries: HashMap<String, Vec<CanonicalUrl>>,
    /// Origins at which the engine is at work.
    at_work: HashSet<String>,
}

/// How a URL was named.
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

    /// Offers links to the frontier, those that may be followed as such that wait to be asked for. `from` is the
    /// lease that brought the page that names them.
    pub async fn offer(
        &self,
        frontier: &EmbeddedFrontier<StoredUrls>,
        mut links: Vec<Link>,
        from: Option<&Lease>,
    ) -> Result<Vec<Offered>, FrontierError> {
        let mut state = self.state.lock().await;
        // Somebody reads the page, and sees the links that stay where it is.
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

    /// Asks for a URL, and waits until it has its outcome.
    pub async fn ask(
        &self,
        frontier: &EmbeddedFrontier<StoredUrls>,
        url: CanonicalUrl,
    ) -> Result<EngineReply, FrontierError> {
        let answer = {
            let mut state = self.state.lock().await;
            let key = xxh3_128(url.as_str().as_bytes());
            let Some(NamedUrl { discovery, .. }) = state.named.remove(&key) else {
                tracing::debug!(%url, "asked for, and not to be had");
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
                Some(UrlState::Deferred(_) | UrlState::Excluded(_)) => {
                    state.in_vain.insert(key);
                    return Ok(EngineReply::Nothing);
                }
            }
            let (asker, answer) = oneshot::channel();
            // After the offer: who sees the number knows that the URL is queued.
            let number = self.count.fetch_add(1, Ordering::AcqRel);
            state.waiting.insert(id, PendingRequest { number, asker });
            answer
        };
        self.changed.notify_one();
        // Who waits for what is given up is told nothing.
        Ok(answer.await.unwrap_or(EngineReply::Nothing))
    }

    /// The outcome of a URL is about to be given. Whether somebody waits for it.
    pub async fn begin_reply(&self, id: UrlId) -> bool {
        let mut state = self.state.lock().await;
        state.answering = state.waiting.remove(&id).map(|waiting| (id, waiting.asker));
        state.answering.is_some()
    }

    /// The URL has its outcome.
    pub async fn reply(&self, reply: EngineReply) {
        if let Some((_, asker)) = self.state.lock().await.answering.take() {
            // An engine that was stopped does not wait.
            let _ = asker.send(reply);
        }
    }

    /// How many URLs were asked for and queued so far.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// The frontier has nothing more to lease. Whether the engine goes on all the same: those of the first `count`
    /// URLs asked for that were not fetched by then won't be, a budget being used up, and it is told so.
    pub async fn goes_on(&self, count: u64) -> bool {
        let mut state = self.state.lock().await;
        state.waiting.retain(|_, waiting| waiting.number >= count);
        !(state.at_work.is_empty() && state.entries.is_empty())
    }

    /// Takes an origin at which the engine is not at work, and URLs of it to begin with.
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

    /// The engine is done at this origin, until there are new entries.
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

    /// Marks a link as one that waits to be asked for, unless it must not be fetched or was asked for already. The
    /// third value is the URL if the engine must be told to begin there.
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

    /// Remembers the shortest way by which a URL was named. Whether there is a new entry.
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

/// What was seen is queued, leased or done, unless it is out of scope and now named in a way that takes it in.
fn may_be_asked_for(named: &NamedUrl, offered: &Offered) -> bool {
    offered.decision.is_some() || is_way_into_scope(named.discovery.kind)
}
