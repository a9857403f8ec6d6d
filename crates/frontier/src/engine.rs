//! The frontier behind its lock: it asks each part, and applies the effects.

use std::collections::VecDeque;
use std::time::Instant;

use super::chunks::Chunks;
use super::effect::Effect;
use super::host_queues::QueuedUrl;
use super::lease_choice::{LeaseChoice, choose};
use super::leases::Leases;
use super::mail;
use super::page_links::NO_PATH;
use super::predicted_duplicates::PredictedDuplicates;
use super::scope::SeedRelation;
use super::state::FrontierState;
use super::trap_patterns::TrapPatterns;
use super::url_state::UrlPhase;
use super::{FrontierError, Options, UrlLog};
use ndcrawl_model::{
    Ack, CanonicalUrl, Discovery, Lease, LeaseAnswer, Link, LinkKind, Mailed, Offered, OutcomeKind, Slot, UrlId,
    UrlState, Wait,
};

/// The frontier without its lock.
pub(super) struct Engine<L> {
    pub(super) state: FrontierState<L>,
    pub(super) leases: Leases,
    pub(super) traps: TrapPatterns,
    pub(super) predictions: PredictedDuplicates,
    /// The origin of each URL, while an earlier run is restored.
    pub(super) origins: Option<Chunks<u32>>,
}

impl<L: UrlLog> Engine<L> {
    pub(super) fn new(options: &Options, log: L, hash_seed: u64) -> Self {
        Self {
            state: FrontierState::new(options, log, hash_seed),
            leases: Leases::default(),
            traps: TrapPatterns::new(options.trap_guard, hash_seed),
            predictions: PredictedDuplicates::new(options),
            origins: None,
        }
    }

    /// Marks a link as seen and queues it, in one step.
    pub(super) fn offer(&mut self, mut link: Link) -> Result<Offered, FrontierError> {
        link.discovery = self.state.present_path(link.discovery);
        let (path, is_followed) = (link.discovery, link.only_seen.is_none());
        let relation = self.state.relation(link.discovery);
        let counterpart_of = self.predictions.counterpart_of(&mut self.state, &link)?;
        let offered = match self.state.outbox.other_slot(&link.url) {
            Some(slot) => self.send(slot, link, relation)?,
            None => self.offer_own(link, relation)?,
        };
        if let Some(page) = counterpart_of {
            self.predictions.note_counterpart(page, offered.id);
        }
        if is_followed {
            self.state.note_link(path, offered.id);
        }
        Ok(offered)
    }

    fn offer_own(&mut self, link: Link, relation: SeedRelation) -> Result<Offered, FrontierError> {
        self.state.scope.widen(&link.url, relation);
        let path = link.discovery;
        let hash = self.state.seen.hash(link.url.as_str());
        let Some(id) = self.state.seen.find(hash) else {
            let (id, state) = self.state.add(hash, link, relation)?;
            self.predictions.note_discovery(id, path);
            return Ok(Offered { id, decision: Some(state) });
        };
        if self.state.phases.get(id) == Some(UrlPhase::Elsewhere) {
            let state = self.state.adopt(id, &link, relation);
            self.predictions.note_discovery(id, path);
            return Ok(Offered { id, decision: Some(state) });
        }
        let decision = self.state.add_link(id, &link, relation);
        if decision == Some(UrlState::Queued) {
            self.predictions.forget(id);
        }
        if link.only_seen.is_none() {
            self.shorten(id, path)?;
        }
        Ok(Offered { id, decision })
    }

    fn send(&mut self, slot: Slot, link: Link, relation: SeedRelation) -> Result<Offered, FrontierError> {
        let discovery = link.discovery;
        let offered = mail::send(&mut self.state, slot, link, relation)?;
        if offered.decision.is_some() {
            self.predictions.note_discovery(offered.id, discovery);
        }
        Ok(offered)
    }

    /// Takes a link that another slot has mailed.
    pub(super) fn deliver(&mut self, mail: Mailed) -> Result<(), FrontierError> {
        let link = mail::receive(&mut self.state, mail)?;
        self.offer(link).map(drop)
    }

    /// Takes a path to a URL, if it is shorter than those known, and hands it on along the links of its page. Costs a
    /// look at each link of each fetched page that gets nearer.
    fn shorten(&mut self, id: UrlId, path: Discovery) -> Result<(), FrontierError> {
        let known = self.state.depth_of(id);
        if path.depth >= known || known == NO_PATH {
            return Ok(());
        }
        self.state.end_page_links();
        let mut paths = VecDeque::from([(id, path)]);
        while let Some((id, path)) = paths.pop_front() {
            if let Some(path) = self.state.shorten(id, path, self.leases.is_given_back(id))? {
                mail::hand_on(&mut self.state, id, path)?;
                let links = self.state.links.of(id);
                paths.extend(links.into_iter().map(|link| (link.url, link.behind(id, path))));
            }
        }
        Ok(())
    }

    /// Leases at most `most` URLs that are due.
    pub(super) fn lease(&mut self, most: usize, now: Instant) -> Result<LeaseAnswer, FrontierError> {
        self.reconsider();
        let mut leases = Vec::new();
        loop {
            let held = self.fill(&mut leases, most, now)?;
            if !leases.is_empty() || !self.release_stuck() {
                let wait = held.map_or_else(|| self.wait(now), |until| Wait::Until(self.held_until(until, now)));
                return Ok(LeaseAnswer { leases, wait });
            }
        }
    }

    /// Returns when to look again if better URLs are on their way: a page that is fetched once more waits for none.
    fn held_until(&self, until: Instant, now: Instant) -> Instant {
        self.state.queues.next_revision_due().map_or(until, |due| due.map_or(now, |due| due.max(now)).min(until))
    }

    /// Adds leases. If the rest is held because better URLs are on their way, returns until when.
    fn fill(&mut self, leases: &mut Vec<Lease>, most: usize, now: Instant) -> Result<Option<Instant>, FrontierError> {
        while leases.len() < most {
            let lease = match choose(&mut self.state, &self.predictions, now) {
                Ok(Some(LeaseChoice::Revise(next))) => self.begin_lease(next, false, now).map(Some),
                Ok(Some(LeaseChoice::Take { next, explored })) => self.lease_unless_left_out(next, explored, now),
                Ok(Some(LeaseChoice::Hold(until))) => return Ok(Some(until)),
                Ok(None) => break,
                Err(error) => Err(error),
            };
            match lease {
                Ok(lease) => leases.extend(lease),
                Err(error) if leases.is_empty() => return Err(error),
                // The caller must get the leases begun so far. Its next call meets the error.
                Err(_) => break,
            }
        }
        Ok(None)
    }

    fn lease_unless_left_out(
        &mut self,
        next: QueuedUrl,
        explored: bool,
        now: Instant,
    ) -> Result<Option<Lease>, FrontierError> {
        if self.state.phases.get(next.id) != Some(UrlPhase::Queued) || self.state.is_revision(next.id) {
            // It was brought forward out of turn and got nearer in between: its second place in the queue is left over.
            self.state.queues.drop_front(next.origin);
            return Ok(None);
        }
        let effect = match self.traps.check(&mut self.state, next)? {
            Some(effect) => Some(effect),
            None => self.predictions.check(&mut self.state, next)?,
        };
        match effect {
            Some(effect) => {
                self.apply(effect);
                Ok(None)
            }
            None => self.begin_lease(next, explored, now).map(Some),
        }
    }

    fn begin_lease(&mut self, next: QueuedUrl, explored: bool, now: Instant) -> Result<Lease, FrontierError> {
        let QueuedUrl { origin, priority, id } = next;
        let state = &mut self.state;
        let row = state.rows.get(id)?;
        let url = CanonicalUrl::from_canonical(&row.url).map_err(|source| FrontierError::Damaged { id, source })?;
        state.begin_lease(next);
        let score = state.priority(id, row.discovery).score;
        if let Some(best_first) = &mut state.best_first {
            let is_try = row.discovery.kind != LinkKind::SitemapFile && state.queues.try_host(origin);
            best_first.begin(id, score, is_try, now);
        }
        let (deliveries, attempts) = self.leases.begin(id, origin, priority);
        let mut expectation = state.best_first.as_ref().and_then(|best_first| best_first.expectation(id));
        if let Some(expectation) = &mut expectation {
            expectation.explored = explored;
        }
        Ok(Lease {
            id,
            url,
            discovery: state.best_path(id, &row),
            deliveries,
            attempts,
            clue: state.best_first.as_ref().and_then(|best_first| best_first.clue(id)),
            expectation,
            sampled_prediction: self.predictions.sampled(id).map(Box::new),
            recrawled: None,
        })
    }

    /// Returns exactly what to wait for, so that nobody need poll. While hosts or the crawl have their pages, only a
    /// lease that brings none can free a URL.
    pub(super) fn wait(&self, now: Instant) -> Wait {
        match self.state.next_due() {
            Some(due) => Wait::Until(due.map_or(now, |due| due.max(now))),
            None if self.state.phases.count(UrlPhase::Leased) == 0 => Wait::Done,
            None => Wait::Event,
        }
    }

    /// Ends a lease. An ack without a lease is the echo of another one.
    pub(super) fn ack(&mut self, ack: Ack) -> Result<(), FrontierError> {
        let Some(origin) = self.leases.end(ack.id) else { return Ok(()) };
        self.state.end_page_links();
        if ack.kind != OutcomeKind::NearDuplicate {
            // A near-duplicate may be revised, and is then still the sample that it was.
            self.predictions.forget_sample(ack.id);
        }
        self.state.end_lease(ack.id, origin, ack.kind.is_page());
        self.state.learn_relevance(ack.id, ack.worth);
        if ack.worth.is_some() {
            self.state.queues.mark_host_known(origin);
        }
        self.release(ack.id);
        self.note_outcome(ack.id, ack.kind, ack.repeats)
    }

    /// Gives a lease back. Another lease than the living one is an echo.
    pub(super) fn nak(&mut self, lease: &Lease, not_before: Instant) {
        let Some((origin, priority)) = self.leases.give_back(lease) else { return };
        if let Some(best_first) = &mut self.state.best_first {
            best_first.end(lease.id);
        }
        self.state.give_back(QueuedUrl { origin, priority, id: lease.id }, not_before);
    }

    /// Teaches the trap guard and the rules an outcome: its kind, and the original or the target of the redirect.
    pub(super) fn note_outcome(
        &mut self,
        id: UrlId,
        kind: OutcomeKind,
        repeats: Option<UrlId>,
    ) -> Result<(), FrontierError> {
        if kind.is_page() {
            self.traps.note_page(&mut self.state, id, repeats)?;
        }
        let effects = self.predictions.learn(&mut self.state, id, kind, repeats)?;
        self.apply_all(effects);
        Ok(())
    }

    /// Queues the URLs whose pattern has been opened again. Returns whether there is any. Costs a look at every URL if
    /// a pattern was opened.
    pub(super) fn reopen(&mut self) -> Result<bool, FrontierError> {
        let effects = self.traps.reopened(&mut self.state)?;
        let is_any = !effects.is_empty();
        self.apply_all(effects);
        Ok(is_any)
    }

    /// Queues predicted duplicates whose prediction is disputed or withdrawn.
    fn reconsider(&mut self) {
        let effects = self.predictions.reconsider(&self.state.phases);
        if self.predictions.take_lost_trust() {
            self.state.queues.clear_mirror_likelihoods();
        }
        self.apply_all(effects);
    }

    /// Queues all waiting URLs if nothing else can bring the crawl on. Returns whether it did.
    fn release_stuck(&mut self) -> bool {
        let phases = &self.state.phases;
        let is_stuck = phases.count(UrlPhase::Waiting) > 0
            && phases.count(UrlPhase::Leased) == 0
            && self.state.next_due().is_none()
            && !self.state.has_all_pages();
        if is_stuck {
            let effects = self.predictions.release_all();
            self.apply_all(effects);
        }
        is_stuck
    }

    /// Queues the URLs that waited for this one.
    fn release(&mut self, target: UrlId) {
        let effects = self.predictions.release(target);
        self.apply_all(effects);
    }

    fn apply_all(&mut self, effects: Vec<Effect>) {
        effects.into_iter().for_each(|effect| self.apply(effect));
    }

    fn apply(&mut self, effect: Effect) {
        let state = &mut self.state;
        match effect {
            Effect::Requeue(url, from) => state.put_back(url, from),
            Effect::Hold(url) => {
                state.queues.drop_front(url.origin);
                state.phases.set(url.id, UrlPhase::Waiting);
            }
            Effect::LeaveOut(url, reason) => {
                state.queues.drop_front(url.origin);
                state.phases.set(url.id, UrlPhase::HeldBack(reason));
                self.leases.forget(url.id);
                self.release(url.id);
            }
        }
    }

    /// Returns the bytes in use. Costs a look at every origin.
    pub(super) fn bytes(&self) -> usize {
        self.state.bytes() + self.leases.bytes() + self.traps.bytes() + self.predictions.bytes()
    }
}
