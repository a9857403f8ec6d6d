//! The frontier of a crawl that runs in one process.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use url::Url;

use super::engine::Engine;
use super::page_links::NO_PATH;
use super::scope::SeedRelation;
use super::{FrontierError, HeldBack, Options, Prediction, QueuedOrigin, UrlLog};
use ndcrawl_dust::ListedRule;
use ndcrawl_model::{
    Ack, CanonicalUrl, Discovery, Exclusion, FrontierCounts, Lease, LeaseAnswer, Link, LinkKind, Mailed, Offered,
    OutcomeKind, PageLinksRow, Relevance, Requeue, Slot, UrlId, UrlRow, Wait,
};

/// URLs that [`EmbeddedFrontier::unfinished`] checks under one lock.
const LOOKED_AT: u32 = 4096;

/// The frontier's part of a commit: all changes since the last one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrontierChanges {
    /// URLs first seen, in the order of their numbers.
    pub urls: Vec<UrlRow>,
    /// URLs queued after their first sight: by a better path, or for a new verdict.
    pub requeued: Vec<Requeue>,
    /// Shorter paths to URLs that are queued, leased, done or too deep.
    pub shortened: Vec<Requeue>,
    /// Links of pages, along which a shorter path is handed on.
    pub links: Vec<PageLinksRow>,
    /// URLs on lease, also those that an earlier run left on lease, ascending, each with its number of leases.
    pub leased: Vec<(UrlId, u32)>,
    /// Links from pages to themselves or to other editions of themselves.
    pub counterparts: Vec<(UrlId, UrlId)>,
    /// Links to URLs of other slots. Empty in a crawl of one process.
    pub outbox: Vec<(Slot, Mailed)>,
    /// URLs that were rows of another slot and are of this frontier's by now. Empty in a crawl of one process.
    pub adopted: Vec<(UrlId, UrlRow)>,
}

/// The frontier of a crawl that runs in one process.
///
/// One lock guards plain state. It is held for microseconds, and while up to 32 rows are read back from the log.
///
///  - The order of a commit: [`take_changes`](Self::take_changes), write them, then [`committed`](Self::committed).
///  - The order for a page: [`offer`](Self::offer) its links, [`postpone`](Self::postpone) its origin, then
///    [`ack`](Self::ack) it. In another order the crawl may look finished, or the origin due, in between.
pub struct EmbeddedFrontier<L> {
    engine: Mutex<Engine<L>>,
}

impl<L: UrlLog> EmbeddedFrontier<L> {
    /// An empty frontier. `hash_seed` is chosen once for a crawl and stored with it.
    pub fn new(options: Options, log: L, hash_seed: u64) -> Self {
        Self { engine: Mutex::new(Engine::new(&options, log, hash_seed)) }
    }

    /// A panic elsewhere leaves the state whole enough to read counts and to save.
    fn engine(&self) -> MutexGuard<'_, Engine<L>> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the changes since the last call, for the next commit.
    pub fn take_changes(&self) -> FrontierChanges {
        let mut engine = self.engine();
        engine.state.end_page_links();
        FrontierChanges {
            urls: engine.state.rows.take(),
            requeued: std::mem::take(&mut engine.state.requeued),
            shortened: std::mem::take(&mut engine.state.shortened),
            links: engine.state.links.take(),
            leased: engine.leases.alive(),
            counterparts: engine.predictions.take_counterparts(),
            outbox: engine.state.outbox.take(),
            adopted: std::mem::take(&mut engine.state.adopted),
        }
    }

    /// Returns the bytes in use, which grow with the URLs seen. Costs a look at every origin under the lock.
    pub fn bytes(&self) -> u64 {
        self.engine().bytes() as u64
    }

    /// Returns a URL's row as of its first sight, committed or not.
    pub fn url(&self, id: UrlId) -> Result<UrlRow, FrontierError> {
        self.engine().state.rows.get(id)
    }

    /// Returns the present path to a URL without outcome, if it is not that of its row.
    pub fn better_path(&self, id: UrlId) -> Option<Discovery> {
        self.engine().state.better_paths.get(&id.0).copied()
    }

    /// Returns the number of a URL that was seen.
    pub fn find(&self, url: &str) -> Option<UrlId> {
        self.engine().state.find(url)
    }

    /// Returns the present depth of a URL to which a link leads that may be followed.
    pub fn depth(&self, id: UrlId) -> Option<u16> {
        Some(self.engine().state.depth_of(id)).filter(|&depth| depth != NO_PATH)
    }

    /// Whether a URL may have got nearer after its outcome, so that its line has another depth than it.
    pub fn has_outdated_depths(&self) -> bool {
        self.engine().state.has_outdated_depths
    }

    /// Tells that the log has all URLs below this number.
    pub fn committed(&self, urls: u32) {
        self.engine().state.rows.forget_below(urls);
    }

    /// Restores the next row of an earlier run's log. Call it first, for every row in order.
    pub fn restore_url(&self, row: &UrlRow) -> Result<(), FrontierError> {
        self.engine().restore_url(row)
    }

    /// Restores the next requeueing of an earlier run's log. Call it after all rows, in order; it reads the log.
    pub fn restore_requeue(&self, path: &Requeue) -> Result<(), FrontierError> {
        self.engine().restore_requeue(path)
    }

    /// Restores a shorter path of an earlier run's log. Call it in the order of the log, among the requeueings.
    pub fn restore_shorter_path(&self, path: &Requeue) -> Result<(), FrontierError> {
        self.engine().restore_shorter_path(path)
    }

    /// Restores links of a page from an earlier run's log.
    pub fn restore_links(&self, row: &PageLinksRow) {
        self.engine().state.links.restore(row);
    }

    /// Restores an outcome of an earlier run's log. Call it after all requeueings, in order, for every URL that was
    /// leased.
    pub fn restore_done(&self, id: UrlId, is_page: bool) {
        self.engine().restore_done(id, is_page);
    }

    /// Restores a link from a page to itself or to another edition of itself. Call it before all outcomes.
    pub fn restore_counterpart(&self, page: UrlId, counterpart: UrlId) {
        self.engine().predictions.restore_counterpart(page, counterpart);
    }

    /// Teaches the rules an outcome of an earlier run's log: its kind, and the original or the target of the redirect.
    /// Call it after all requeueings, for every outcome, in order; it reads the log.
    pub fn restore_outcome(&self, id: UrlId, kind: OutcomeKind, repeats: Option<UrlId>) -> Result<(), FrontierError> {
        self.engine().note_outcome(id, kind, repeats)
    }

    /// Restores the relevance of a page, in a focused crawl. Call it after all requeueings.
    pub fn restore_worth(&self, id: UrlId, worth: Option<Relevance>) {
        self.engine().restore_worth(id, worth);
    }

    /// Restores a lease that an earlier run left behind, with its number of leases. The URL is in its queue.
    pub fn restore_deliveries(&self, id: UrlId, deliveries: u32) {
        self.engine().leases.restore(id, deliveries);
    }

    /// Ends the restoring. After it, offer the seeds, old and new.
    pub fn restored(&self) {
        self.engine().restored();
    }

    /// Returns the URLs without outcome, ascending, each with the reason: for the last lines of a crawl. URLs still
    /// queued or on lease are over budget. Sees the state as it is when it gets there.
    pub fn unfinished(&self) -> impl Iterator<Item = (UrlId, HeldBack)> + '_ {
        let blocks = (0..).step_by(LOOKED_AT as usize).map_while(|first| self.unfinished_from(first));
        blocks.flatten()
    }

    /// Returns the closed pattern for which this URL is left out.
    pub fn closed_pattern(&self, url: &str) -> Option<String> {
        self.engine().traps.closed_pattern(url)
    }

    /// Returns the prediction for which a URL is left out.
    pub fn prediction(&self, id: UrlId) -> Option<Prediction> {
        self.engine().predictions.prediction(id)
    }

    /// Returns the tested rules, those with the most saved requests first.
    pub fn rules(&self) -> Vec<ListedRule> {
        self.engine().predictions.rules()
    }

    /// Queues the URLs whose pattern has been opened again. Returns whether there is any. Call it when nothing is
    /// queued or on lease.
    pub fn reopen(&self) -> Result<bool, FrontierError> {
        self.engine().reopen()
    }

    /// Whether a URL would be in scope if a page named it. Does not mark it as seen.
    pub fn admits(&self, url: &CanonicalUrl) -> bool {
        self.engine().state.scope.judge(url, SeedRelation::Other).is_none()
    }

    /// Returns the rule that keeps out another spelling of a seen URL, to which its server redirects. As for other
    /// redirects, a sitemap is never out of scope, and a seed brings the target along.
    pub fn judge_spelling(&self, id: UrlId, kind: LinkKind, spelling: &Url) -> Option<Exclusion> {
        let engine = self.engine();
        let relation = match kind {
            LinkKind::SitemapFile => SeedRelation::Sitemap,
            _ if engine.state.phases.is_from_seed(id) => SeedRelation::SeedRedirect,
            _ => SeedRelation::Other,
        };
        // The rules are about the text. What has no host is not requested anyway.
        let spelling = CanonicalUrl::from_canonical(spelling.as_str()).ok()?;
        engine.state.scope.judge(&spelling, relation)
    }

    /// Whether a seen URL is a seed, or redirects alone lead to it from one.
    pub fn is_from_seed(&self, id: UrlId) -> bool {
        self.engine().state.phases.is_from_seed(id)
    }

    fn unfinished_from(&self, first: u32) -> Option<Vec<(UrlId, HeldBack)>> {
        let mut engine = self.engine();
        let end = first.saturating_add(LOOKED_AT).min(engine.state.seen.len() as u32);
        let mut held_back = |id| engine.state.held_back(UrlId(id)).map(|reason| (UrlId(id), reason));
        (first < end).then(|| (first..end).filter_map(&mut held_back).collect())
    }

    /// Returns the origins with the longest queues, longest first. Costs a look at every origin.
    pub fn hosts_waiting(&self, most: usize) -> Vec<QueuedOrigin> {
        self.engine().state.queues.longest_queues(most)
    }

    /// Marks links as seen and queues them, in one step. Replies in the order of the links.
    pub fn offer(&self, links: Vec<Link>) -> Result<Vec<Offered>, FrontierError> {
        let mut engine = self.engine();
        links.into_iter().map(|link| engine.offer(link)).collect()
    }

    /// Takes links that other slots have mailed. A link that comes twice changes nothing.
    ///
    /// # Errors
    /// If a link is damaged: those before it are taken. Or as [`offer`](Self::offer).
    pub fn deliver(&self, mail: Vec<Mailed>) -> Result<(), FrontierError> {
        let mut engine = self.engine();
        mail.into_iter().try_for_each(|mail| engine.deliver(mail))
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

    /// Queues pages again, for a new verdict ([`LinkKind::Revision`](ndcrawl_model::LinkKind)). They keep their place in
    /// the budgets, so they are leased even if the crawl has all its pages.
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

    /// Leases nothing of this origin (`scheme://host:port`) any more in this run. Its URLs stay queued for the next.
    pub fn give_up(&self, origin: &str) {
        let mut engine = self.engine();
        if let Some(number) = engine.state.queues.number(origin) {
            engine.state.queues.give_up(number);
        }
    }

    /// Returns the origins that are given up. Costs a look at every origin, if there is one.
    pub fn given_up(&self) -> Vec<String> {
        self.engine().state.queues.names_given_up()
    }

    /// Changes the most pages in all.
    pub fn set_max_pages(&self, most: u64) {
        self.engine().state.set_max_pages(most);
    }

    /// Whether nothing is leased, and nothing can be: [`Wait::Done`].
    pub fn is_done(&self) -> bool {
        self.engine().wait(Instant::now()) == Wait::Done
    }

    /// Whether the crawl has its pages, if each lease brings one.
    pub fn has_all_pages(&self) -> bool {
        self.engine().state.has_all_pages()
    }

    /// Whether there are URLs for further pages, and fewer than `few` places for these.
    pub fn is_short_of_pages(&self, few: u64) -> bool {
        self.engine().state.is_short_of_pages(few)
    }

    /// Returns the sizes.
    pub fn counts(&self) -> FrontierCounts {
        self.engine().state.counts()
    }
}
