//! The frontier of a crawl that runs in one process.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::engine::Engine;
use super::scope::SeedRelation;
use super::{FrontierError, HeldBack, Options, Prediction, QueuedOrigin, UrlLog};
use crate::dust::ListedRule;
use crate::model::{
    Ack, CanonicalUrl, FrontierCounts, Lease, LeaseAnswer, Link, Offered, OutcomeKind, Relevance, Requeue, UrlId,
    UrlRow,
};

/// Numbers that [`EmbeddedFrontier::unfinished`] looks at under one lock.
const LOOKED_AT: u32 = 4096;

/// What has happened since the last look: the frontier's part of a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrontierChanges {
    /// URLs first seen, in the order of their numbers.
    pub urls: Vec<UrlRow>,
    /// Deferred or excluded URLs to which a better path was found, and URLs to be judged anew.
    pub requeued: Vec<Requeue>,
    /// URLs on lease at this moment and those whose lease an earlier run left behind, ascending,
    /// each with how often it was handed out.
    pub leased: Vec<(UrlId, u32)>,
    /// Pages that link to themselves, or to other editions of themselves, each with the URL of one.
    pub counterparts: Vec<(UrlId, UrlId)>,
}

/// The frontier of a crawl that runs in one process: one lock around plain state, held for
/// microseconds, and while up to 32 rows are read back from the log.
///
/// The order of a commit: [`take_changes`](Self::take_changes), write them, then
/// [`committed`](Self::committed). The order for a page: [`offer`](Self::offer) its links and
/// [`postpone`](Self::postpone) its origin, then [`ack`](Self::ack) it; otherwise the crawl
/// may look finished, or the origin due, in between.
pub struct EmbeddedFrontier<L> {
    engine: Mutex<Engine<L>>,
}

impl<L: UrlLog> EmbeddedFrontier<L> {
    /// An empty frontier. `hash_seed` is drawn once for a crawl and kept with it.
    pub fn new(options: Options, log: L, hash_seed: u64) -> Self {
        Self { engine: Mutex::new(Engine::new(&options, log, hash_seed)) }
    }

    /// A panic elsewhere leaves the state whole enough to read counts and to save.
    fn engine(&self) -> MutexGuard<'_, Engine<L>> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What has happened since the last call, for the next commit.
    pub fn take_changes(&self) -> FrontierChanges {
        let mut engine = self.engine();
        FrontierChanges {
            urls: engine.state.rows.take(),
            requeued: std::mem::take(&mut engine.state.requeued),
            leased: engine.leases.alive(),
            counterparts: engine.predictions.take_counterparts(),
        }
    }

    /// Bytes of memory that the tables take, which grow with the URLs that were seen. Costs a look at every origin
    /// under the lock.
    pub fn bytes(&self) -> u64 {
        self.engine().bytes() as u64
    }

    /// A URL as it was first seen, committed or not.
    pub fn url(&self, id: UrlId) -> Result<UrlRow, FrontierError> {
        self.engine().state.rows.get(id)
    }

    /// URLs below this number can be read through the log from now on.
    pub fn committed(&self, urls: u32) {
        self.engine().state.rows.forget_below(urls);
    }

    /// Takes the next row of an earlier run's log. First of all, for every row in order.
    pub fn restore_url(&self, row: &UrlRow) -> Result<(), FrontierError> {
        self.engine().restore_url(row)
    }

    /// Takes the next requeueing of an earlier run's log. After all rows, in order; reads the log.
    pub fn restore_requeue(&self, path: &Requeue) -> Result<(), FrontierError> {
        self.engine().restore_requeue(path)
    }

    /// Takes an outcome of an earlier run's log. After all requeueings, in order, for every URL that
    /// was leased.
    pub fn restore_done(&self, id: UrlId, is_page: bool) {
        self.engine().restore_done(id, is_page);
    }

    /// Takes what an earlier run's log says of a page that links to another edition of itself, or to itself. Before all
    /// outcomes.
    pub fn restore_counterpart(&self, page: UrlId, counterpart: UrlId) {
        self.engine().predictions.restore_counterpart(page, counterpart);
    }

    /// Takes note of an outcome of an earlier run's log: of what kind, and the page that it repeats or the
    /// target of the redirect. After all requeueings, for every outcome, in order; reads the log.
    pub fn restore_outcome(&self, id: UrlId, kind: OutcomeKind, repeats: Option<UrlId>) -> Result<(), FrontierError> {
        self.engine().note_outcome(id, kind, repeats)
    }

    /// Takes what was found at a URL of an earlier run's log, in a focused crawl. After all requeueings.
    pub fn restore_worth(&self, id: UrlId, worth: Option<Relevance>) {
        self.engine().restore_worth(id, worth);
    }

    /// Takes a lease that an earlier run left behind, and how often its URL was handed out. The URL
    /// is in its queue.
    pub fn restore_deliveries(&self, id: UrlId, deliveries: u32) {
        self.engine().leases.restore(id, deliveries);
    }

    /// Ends the restoring. Then the seeds are to be offered, old and new.
    pub fn restored(&self) {
        self.engine().restored();
    }

    /// The URLs without outcome, ascending, each with the reason: for the last lines of a crawl.
    /// What is still queued or on lease is over budget. Sees the state as it is when it gets there.
    pub fn unfinished(&self) -> impl Iterator<Item = (UrlId, HeldBack)> + '_ {
        let blocks = (0..).step_by(LOOKED_AT as usize).map_while(|first| self.unfinished_from(first));
        blocks.flatten()
    }

    /// The pattern whose pages keep repeating each other, for which this URL is left out.
    pub fn closed_pattern(&self, url: &str) -> Option<String> {
        self.engine().traps.closed_pattern(url)
    }

    /// What was foretold of a URL that is left out for it.
    pub fn prediction(&self, id: UrlId) -> Option<Prediction> {
        self.engine().predictions.prediction(id)
    }

    /// The rules that were learned and tested, those that saved most first.
    pub fn rules(&self) -> Vec<ListedRule> {
        self.engine().predictions.rules()
    }

    /// Queues what was left out for a pattern that has been opened again since. Whether there is any.
    /// To be asked when nothing is queued or on lease.
    pub fn reopen(&self) -> Result<bool, FrontierError> {
        self.engine().reopen()
    }

    /// Whether a URL would be in scope if a page named it. It is not seen by that.
    pub fn admits(&self, url: &CanonicalUrl) -> bool {
        self.engine().state.scope.judge(url, SeedRelation::Other).is_none()
    }

    /// Whether a URL that was seen is a seed, or redirects alone lead to it from one.
    pub fn is_from_seed(&self, id: UrlId) -> bool {
        self.engine().state.phases.is_from_seed(id)
    }

    fn unfinished_from(&self, first: u32) -> Option<Vec<(UrlId, HeldBack)>> {
        let engine = self.engine();
        let end = first.saturating_add(LOOKED_AT).min(engine.state.seen.len() as u32);
        let held_back = |id| engine.held_back(UrlId(id)).map(|reason| (UrlId(id), reason));
        (first < end).then(|| (first..end).filter_map(held_back).collect())
    }

    /// The origins at which most URLs wait, most first. Costs a look at every origin.
    pub fn hosts_waiting(&self, most: usize) -> Vec<QueuedOrigin> {
        self.engine().state.queues.longest_queues(most)
    }

    /// Marks links as seen and queues them, in one step. Replies in the order of the links.
    pub fn offer(&self, links: Vec<Link>) -> Result<Vec<Offered>, FrontierError> {
        let mut engine = self.engine();
        links.into_iter().map(|link| engine.offer(link)).collect()
    }

    /// Leases at most `most` URLs that are due at `now`. A lease ends with an ack, a nak or the process.
    pub fn lease(&self, most: usize, now: Instant) -> Result<LeaseAnswer, FrontierError> {
        self.engine().lease(most, now)
    }

    /// Ends leases whose URLs have an outcome. An ack without a lease changes nothing.
    pub fn ack(&self, done: Vec<Ack>) -> Result<(), FrontierError> {
        let mut engine = self.engine();
        done.into_iter().try_for_each(|ack| engine.ack(ack))
    }

    /// Gives a lease back: its URL is due again at `not_before`. The frontier keeps `lease.attempts`.
    pub fn nak(&self, lease: &Lease, not_before: Instant) {
        self.engine().nak(lease, not_before);
    }

    /// Queues URLs with an outcome again, for a new verdict ([`LinkKind::Revision`](crate::model::LinkKind)). Their
    /// earlier pages no longer count against the budgets.
    pub fn revise(&self, urls: Vec<UrlId>) -> Result<(), FrontierError> {
        let mut engine = self.engine();
        urls.into_iter().try_for_each(|id| engine.state.revise(id))
    }

    /// Makes nothing of this origin (`scheme://host:port`) due before `not_before`.
    pub fn postpone(&self, origin: &str, not_before: Instant) {
        let mut engine = self.engine();
        if let Some(number) = engine.state.queues.number(origin) {
            engine.state.queues.postpone(number, not_before);
        }
    }

    /// Returns the sizes.
    pub fn counts(&self) -> FrontierCounts {
        self.engine().state.counts()
    }
}
