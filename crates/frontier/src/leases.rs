//! Which URLs are on lease, and how often each was leased.

use hashbrown::HashMap;

use super::host_queue::Priority;
use ndcrawl_model::{Lease, UrlId};

/// The history of a URL from its first lease to its outcome.
#[derive(Clone, Copy, Default)]
struct Delivery {
    deliveries: u32,
    attempts: u32,
    /// The origin and the priority, while the URL is on lease.
    on_lease: Option<(u32, Priority)>,
    /// Whether an earlier run died while the URL was on lease. Commits must record that until its next lease.
    is_restored: bool,
}

/// URLs that were leased and have no outcome.
#[derive(Default)]
pub(super) struct Leases(HashMap<u32, Delivery>);

impl Leases {
    /// Returns the bytes in use.
    pub(super) fn bytes(&self) -> usize {
        self.0.allocation_size()
    }

    /// Returns the URLs on lease and how often each was leased, ascending.
    pub(super) fn alive(&self) -> Vec<(UrlId, u32)> {
        let alive = self.0.iter().filter(|(_, delivery)| delivery.on_lease.is_some() || delivery.is_restored);
        let mut alive: Vec<_> = alive.map(|(&id, delivery)| (UrlId(id), delivery.deliveries)).collect();
        alive.sort_unstable();
        alive
    }

    /// Restores a lease of an earlier run.
    pub(super) fn restore(&mut self, id: UrlId, deliveries: u32) {
        self.0.insert(id.0, Delivery { deliveries, is_restored: true, ..Delivery::default() });
    }

    /// Forgets a URL that is not on lease.
    pub(super) fn forget(&mut self, id: UrlId) {
        self.0.remove(&id.0);
    }

    /// Whether a URL was given back in this run and waits for another lease.
    pub(super) fn is_given_back(&self, id: UrlId) -> bool {
        self.0.get(&id.0).is_some_and(|delivery| delivery.on_lease.is_none() && !delivery.is_restored)
    }

    /// Begins a lease. Returns the number of leases and of requests so far.
    pub(super) fn begin(&mut self, id: UrlId, origin: u32, priority: Priority) -> (u32, u32) {
        let delivery = self.0.entry(id.0).or_default();
        delivery.deliveries = delivery.deliveries.saturating_add(1);
        delivery.on_lease = Some((origin, priority));
        delivery.is_restored = false;
        (delivery.deliveries, delivery.attempts)
    }

    /// Ends a lease for good. Returns the origin; `None` if there is no such lease.
    pub(super) fn end(&mut self, id: UrlId) -> Option<u32> {
        let (origin, _) = self.0.get(&id.0)?.on_lease?;
        self.0.remove(&id.0);
        Some(origin)
    }

    /// Takes a lease back for a later try. Returns the origin and the priority; `None` if it is not the living lease.
    pub(super) fn give_back(&mut self, lease: &Lease) -> Option<(u32, Priority)> {
        let delivery = self.0.get_mut(&lease.id.0).filter(|alive| alive.deliveries == lease.deliveries)?;
        let on_lease = delivery.on_lease.take()?;
        delivery.attempts = lease.attempts;
        Some(on_lease)
    }
}
