//! Handing URLs out and taking them back.

use std::time::Instant;

use hashbrown::HashMap;

use super::best_first::{PATIENCE, Place};
use super::engine::Engine;
use super::host_queue::Priority;
use super::host_queues::{Doubt, Next};
use super::url_state::Phase;
use super::{FrontierError, UrlLog};
use crate::model::{Ack, CanonicalUrl, Lease, LeaseAnswer, LinkKind, OutcomeKind, UrlId, Wait};

/// What to do next.
enum Choice {
    /// Lease this; whether that is out of turn.
    Take { next: Next, explored: bool },
    /// Wait until this moment, or for something to change: better is on its way.
    Hold(Instant),
}

/// What is remembered of a URL from its first lease to its outcome.
#[derive(Clone, Copy, Default)]
struct Delivery {
    deliveries: u32,
    attempts: u32,
    /// Set while it is on lease.
    on_lease: Option<(u32, Priority)>,
    /// Whether it was on lease when an earlier run died: that must not be forgotten before it is
    /// handed out again.
    is_restored: bool,
}

/// URLs that were handed out and have no outcome.
#[derive(Default)]
pub(super) struct Leases(HashMap<u32, Delivery>);

impl Leases {
    /// Bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        self.0.allocation_size()
    }

    /// The URLs on lease, and how often each was handed out, ascending.
    pub(super) fn alive(&self) -> Vec<(UrlId, u32)> {
        let alive = self.0.iter().filter(|(_, delivery)| delivery.on_lease.is_some() || delivery.is_restored);
        let mut alive: Vec<_> = alive.map(|(&id, delivery)| (UrlId(id), delivery.deliveries)).collect();
        alive.sort_unstable();
        alive
    }

    pub(super) fn restore(&mut self, id: UrlId, deliveries: u32) {
        self.0.insert(id.0, Delivery { deliveries, is_restored: true, ..Delivery::default() });
    }

    /// Forgets a URL that is not on lease.
    pub(super) fn forget(&mut self, id: UrlId) {
        self.0.remove(&id.0);
    }

    fn begin(&mut self, id: UrlId, origin: u32, priority: Priority) -> Delivery {
        let delivery = self.0.entry(id.0).or_default();
        delivery.deliveries = delivery.deliveries.saturating_add(1);
        delivery.on_lease = Some((origin, priority));
        delivery.is_restored = false;
        *delivery
    }
}

impl<L: UrlLog> Engine<L> {
    pub(super) fn lease(&mut self, most: usize, now: Instant) -> Result<LeaseAnswer, FrontierError> {
        self.reconsider();
        let mut leases = Vec::new();
        loop {
            let held = self.fill(&mut leases, most, now)?;
            if !leases.is_empty() || !self.release_stuck() {
                let wait = held.map_or_else(|| self.wait(now), Wait::Until);
                return Ok(LeaseAnswer { leases, wait });
            }
        }
    }

    /// Leases what there is. If more is held back because better is on its way: until when.
    fn fill(&mut self, leases: &mut Vec<Lease>, most: usize, now: Instant) -> Result<Option<Instant>, FrontierError> {
        while leases.len() < most && !self.has_its_pages() {
            let choice = self.next(now);
            let lease = match choice {
                Ok(Some(Choice::Take { next, explored })) => self.unless_left_out(next, explored, now),
                Ok(Some(Choice::Hold(until))) => return Ok(Some(until)),
                Ok(None) => break,
                Err(error) => Err(error),
            };
            match lease {
                Ok(lease) => leases.extend(lease),
                Err(error) if leases.is_empty() => return Err(error),
                // What was handed out must reach the caller. Its next call meets the error.
                Err(_) => break,
            }
        }
        Ok(None)
    }

    fn unless_left_out(&mut self, next: Next, explored: bool, now: Instant) -> Result<Option<Lease>, FrontierError> {
        let is_left_out = self.leave_closed(next)? || self.leave_foretold(next)?;
        if is_left_out { Ok(None) } else { self.begin_lease(next, explored, now).map(Some) }
    }

    /// Whether the crawl has its pages, if all leases bring one.
    pub(super) fn has_its_pages(&self) -> bool {
        self.most_pages > 0 && self.pages + self.phases.count(Phase::Leased) >= self.most_pages
    }

    fn next(&mut self, now: Instant) -> Result<Option<Choice>, FrontierError> {
        let take = |next: Option<Next>, explored| next.map(|next| Choice::Take { next, explored });
        let Some(prospects) = &self.prospects else {
            return Ok(take(self.origins.next(now), false));
        };
        if let Some(dice) = prospects.explores() {
            return Ok(take(self.origins.next_out_of_turn(now, dice), true));
        }
        let Some(best) = self.origins.next_best(now) else { return Ok(None) };
        let tries = self.origins.tries();
        let better = [prospects.best_on_lease(now), self.origins.best_soon(now, PATIENCE)];
        let awaited = prospects.awaited_try(tries, now);
        let unknown = match prospects.least_novelty(best.priority.place, tries) {
            Some(least) => {
                self.next_of_unknown(now)?.filter(|(_, doubt)| doubt.novelty() > least).map(|(next, _)| next)
            }
            None => None,
        };
        let next = unknown.unwrap_or(best);
        // A seed is wanted whatever its host is like.
        let is_try = next.priority.place != Place::FIRST && self.origins.is_unknown(next.origin);
        if let Some(until) = awaited.filter(|_| is_try) {
            return Ok(Some(Choice::Hold(until)));
        }
        if unknown.is_some() {
            return Ok(take(unknown, true));
        }
        let better = better.into_iter().flatten().filter(|(place, _)| place.is_worth_waiting_for(next.priority.place));
        Ok(match better.map(|(_, until)| until).min() {
            Some(until) => Some(Choice::Hold(until)),
            None => take(Some(next), false),
        })
    }

    /// What to lease next to learn of what kind a host is, and how likely it is that it is a copy of another one. What
    /// is known of that is looked up for the one that comes next only: if it is more than it was, another may.
    fn next_of_unknown(&mut self, now: Instant) -> Result<Option<(Next, Doubt)>, FrontierError> {
        while let Some(next) = self.origins.next_of_unknown(now) {
            let doubt = self.doubt(next)?;
            if !self.origins.note_doubt(next.origin, doubt) {
                return Ok(Some((next, doubt)));
            }
        }
        Ok(None)
    }

    fn begin_lease(&mut self, next: Next, explored: bool, now: Instant) -> Result<Lease, FrontierError> {
        let Next { origin, priority, id } = next;
        let row = self.rows.get(id)?;
        let url = CanonicalUrl::from_canonical(&row.url).map_err(|source| FrontierError::Damaged { id, source })?;
        self.origins.begin_lease(origin);
        self.phases.set(id, Phase::Leased);
        let place = self.priority(id, row.discovery).place;
        if let Some(prospects) = &mut self.prospects {
            let is_try = row.discovery.kind != LinkKind::SitemapFile && self.origins.try_host(origin);
            prospects.begin(id, place, is_try, now);
        }
        let delivery = self.leases.begin(id, origin, priority);
        let mut lease = Lease {
            id,
            url,
            discovery: self.better_paths.get(&id.0).copied().unwrap_or(row.discovery),
            deliveries: delivery.deliveries,
            attempts: delivery.attempts,
            clue: self.prospects.as_ref().and_then(|prospects| prospects.clue(id)),
            expectation: self.prospects.as_ref().and_then(|prospects| prospects.expectation(id)),
            sampled_prediction: self.drawn(id).map(Box::new),
        };
        if let Some(expectation) = &mut lease.expectation {
            expectation.explored = explored;
        }
        Ok(lease)
    }

    /// Exact, so that nobody need ask again before it says so. What waits at a host that has its
    /// pages, or after the crawl has its pages, can be leased only if a living lease brings none.
    fn wait(&self, now: Instant) -> Wait {
        match self.origins.next_due() {
            Some(due) if !self.has_its_pages() => Wait::Until(due.map_or(now, |due| due.max(now))),
            _ if self.phases.count(Phase::Leased) == 0 => Wait::Done,
            _ => Wait::Event,
        }
    }

    /// An ack without a living lease is the echo of another one.
    pub(super) fn ack(&mut self, ack: Ack) -> Result<(), FrontierError> {
        let Some((origin, _)) = self.leases.0.get(&ack.id.0).and_then(|delivery| delivery.on_lease) else {
            return Ok(());
        };
        self.leases.0.remove(&ack.id.0);
        if ack.kind != OutcomeKind::NearDuplicate {
            // That may be judged anew, and is then what it was drawn for.
            self.foretelling.drawn.forget(ack.id);
        }
        self.better_paths.remove(&ack.id.0);
        self.phases.set(ack.id, Phase::Done);
        self.learn(ack.id, ack.worth);
        if ack.worth.is_some() {
            self.origins.know_host(origin);
        }
        let is_page = ack.kind.is_page();
        self.pages += u64::from(is_page);
        self.origins.end_lease(origin, is_page);
        self.release(ack.id);
        self.note(ack.id, ack.kind, ack.repeats)
    }

    /// A lease that is not the living one is an echo.
    pub(super) fn nak(&mut self, lease: &Lease, not_before: Instant) {
        let delivery = self.leases.0.get_mut(&lease.id.0).filter(|alive| alive.deliveries == lease.deliveries);
        let Some(delivery) = delivery else { return };
        let Some((origin, priority)) = delivery.on_lease.take() else { return };
        delivery.attempts = lease.attempts;
        self.phases.set(lease.id, Phase::Queued);
        if let Some(prospects) = &mut self.prospects {
            prospects.end(lease.id);
        }
        self.origins.give_back(origin, priority, lease.id, not_before);
    }
}
