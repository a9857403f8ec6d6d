//! *Which origin is next?*
//!
//! Every origin (scheme, host and port) has its own queue, like the back queues of Mercator (Heydon and Najork 1999,
//! section 3.2). The calendar holds the origins with something to lease, by the time at which it can be leased. Finding
//! the next one costs the logarithm of their number. Of several that are due, the one that has waited longest is next.
//! After its lease it goes to the end of the line. So all take turns, and none starves another.
//!
//! An origin is not in the calendar while its queue is empty, while it has all its leases, and while its host has its
//! pages. Memory: about 540 bytes for an origin with a URL.
//!
//! URLs that are fetched once more for a new verdict wait in queues of their own: their pages are counted already, so
//! they are leased even where a host or the crawl has all its pages. They take no turns: the first origin that is free is
//! next, since all of them are fetched anyway.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::best_first::ScoreRank;
use super::host_queue::{HostQueue, Priority};
use super::names::{Names, OriginParts};
use ndcrawl_model::UrlId;

/// An entry of the calendar: the time (`None` is before all others), the turn, the origin.
type Turn = (Option<Instant>, u64, u32);

/// Due origins whose first URLs a focused crawl compares.
const MAX_COMPARED: usize = 1024;
/// Pages without a conclusive relevance after which a focused crawl takes a host as known.
const MAX_TRIES: u8 = 3;

/// An origin with queued URLs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedOrigin {
    /// `scheme://host:port`.
    pub origin: String,
    /// Queued URLs, due or not.
    pub queued: u64,
    /// What keeps the next URL from being leased.
    pub hold: OriginHold,
}

/// What keeps an origin's next URL from being leased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OriginHold {
    /// Only the turns of other origins.
    Turn,
    /// It has all its leases.
    Leases,
    /// Its host has its pages.
    Pages,
    /// It is given up for this run.
    GivenUp,
    /// It is postponed to this moment.
    Postponed(Instant),
    /// All its URLs were given back, the first one until this moment.
    GivenBack(Instant),
}

/// How likely a host is a mirror of another, from 0 to certain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MirrorLikelihood(u8);

impl MirrorLikelihood {
    const NONE: Self = Self(0);
    const CERTAIN: Self = Self(u8::MAX);

    fn of(likelihood: f64) -> Self {
        // In [0, 255]. Rounds down, so that only certainty is certain.
        Self((likelihood.clamp(0.0, 1.0) * f64::from(u8::MAX)).floor() as u8)
    }

    /// Returns the remaining value of a try.
    pub(super) fn novelty(self) -> f64 {
        1.0 - f64::from(self.0) / f64::from(u8::MAX)
    }
}

/// The first URL of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QueuedUrl {
    pub(super) origin: u32,
    pub(super) priority: Priority,
    pub(super) id: UrlId,
}

#[derive(Default)]
struct Origin {
    host: u32,
    queue: HostQueue,
    /// URLs whose pages are counted. Never empty; in a box, since few origins have any.
    revisions: Option<Box<HostQueue>>,
    leases: usize,
    not_before: Option<Instant>,
    /// Its calendar entry, and the time from which that follows.
    place: Option<(Turn, Option<Instant>)>,
    is_busy: bool,
    /// Nothing of it is leased any more in this run.
    is_given_up: bool,
}

impl Origin {
    fn queues(&self) -> impl Iterator<Item = &HostQueue> {
        std::iter::once(&self.queue).chain(self.revisions.as_deref())
    }

    /// Whether it may have another lease.
    fn is_free(&self, max_leases: usize) -> bool {
        self.leases < max_leases && !self.is_given_up
    }

    /// Returns the number of queued URLs, due or not.
    fn queued(&self) -> usize {
        self.queues().map(HostQueue::len).sum()
    }
}

#[derive(Default)]
struct Host {
    pages: u64,
    /// Those that may bring a further page.
    leases: u64,
    /// How often a focused crawl has tried the host; [`MAX_TRIES`] if it is known.
    tries: u8,
    /// As of the last lookup.
    mirror: MirrorLikelihood,
    origins: Vec<u32>,
}

/// All origins, their queues, and the calendar.
pub(super) struct HostQueues {
    max_leases: usize,
    /// 0 for no bound.
    max_pages: u64,
    origin_names: Names,
    origins: Vec<Origin>,
    host_names: Names,
    hosts: Vec<Host>,
    calendar: BTreeSet<Turn>,
    /// Origins with revisions.
    revised: BTreeSet<u32>,
    /// Queued revisions.
    revisions: u64,
    turns: u64,
    /// Leases of unknown hosts.
    tries: u64,
    /// The latest time that a caller has passed.
    now: Option<Instant>,
    busy: u64,
    /// Origins that are given up.
    given_up: u64,
    /// A buffer for the name of an origin.
    name: String,
}

impl HostQueues {
    /// Bounds the leases of one origin at a time and the pages of one host (0 for no bound).
    pub(super) fn new(max_leases: usize, max_pages: u64, seed: u64) -> Self {
        Self {
            max_leases: max_leases.max(1),
            max_pages,
            origin_names: Names::new(seed),
            origins: Vec::new(),
            host_names: Names::new(seed),
            hosts: Vec::new(),
            calendar: BTreeSet::new(),
            revised: BTreeSet::new(),
            revisions: 0,
            turns: 0,
            tries: 0,
            now: None,
            busy: 0,
            given_up: 0,
            name: String::new(),
        }
    }

    /// Returns the number of a canonical URL's origin; `None` if the URL is not canonical.
    pub(super) fn number(&mut self, url: &str) -> Option<u32> {
        let parts = OriginParts::of(url)?;
        parts.write(&mut self.name);
        let number = self.origin_names.number(&self.name);
        if number as usize == self.origins.len() {
            let host = self.host_names.number(parts.host);
            if host as usize == self.hosts.len() {
                self.hosts.push(Host::default());
            }
            self.hosts[host as usize].origins.push(number);
            self.origins.push(Origin { host, ..Origin::default() });
        }
        Some(number)
    }

    /// Returns the number of origins with something queued or leased.
    pub(super) fn busy(&self) -> u64 {
        self.busy
    }

    /// Returns the bytes in use. Costs a look at every origin.
    pub(super) fn bytes(&self) -> usize {
        let queues = self.origins.iter().flat_map(Origin::queues).map(HostQueue::bytes).sum::<usize>();
        let revisions = self.revised.len() * (size_of::<HostQueue>() + size_of::<u32>());
        let hosts = self.hosts.iter().map(|host| host.origins.capacity() * size_of::<u32>()).sum::<usize>();
        let tables = self.origins.capacity() * size_of::<Origin>() + self.hosts.capacity() * size_of::<Host>();
        let names = self.origin_names.bytes() + self.host_names.bytes();
        queues + revisions + hosts + tables + names + self.calendar.len() * size_of::<Turn>()
    }

    /// Queues a URL.
    pub(super) fn push(&mut self, origin: u32, priority: Priority, id: UrlId) {
        self.origins[origin as usize].queue.push(priority, id);
        self.reschedule(origin);
    }

    /// Queues a URL whose page is counted.
    pub(super) fn push_revision(&mut self, origin: u32, id: UrlId) {
        self.revisions_for_one_more(origin).push(Priority::FIRST, id);
        self.count_busy(origin);
    }

    /// Returns the number of queued URLs whose pages are counted.
    pub(super) fn queued_revisions(&self) -> u64 {
        self.revisions
    }

    /// Returns the queue to add one to.
    fn revisions_for_one_more(&mut self, origin: u32) -> &mut HostQueue {
        self.revised.insert(origin);
        self.revisions += 1;
        self.origins[origin as usize].revisions.get_or_insert_default()
    }

    /// Moves a queued URL to a priority of a lesser depth.
    pub(super) fn shorten(&mut self, origin: u32, priority: Priority, id: UrlId, is_given_back: bool) {
        self.origins[origin as usize].queue.shorten(priority, id, is_given_back);
    }

    /// Returns what to lease next at `now`, if anything is due.
    pub(super) fn next(&mut self, now: Instant) -> Option<QueuedUrl> {
        let now = self.now.map_or(now, |latest| latest.max(now));
        self.now = Some(now);
        let &(_, _, origin) = self.calendar.first().filter(|(due, ..)| *due <= Some(now))?;
        let (priority, id) = self.origins[origin as usize].queue.front(now)?;
        Some(QueuedUrl { origin, priority, id })
    }

    /// Returns the next URL at `now` whose page is counted, if one is due. Costs a look at each origin with any.
    pub(super) fn next_revision(&mut self, now: Instant) -> Option<QueuedUrl> {
        let now = self.now.map_or(now, |latest| latest.max(now));
        self.now = Some(now);
        self.revised.iter().find_map(|&origin| {
            let entry = &mut self.origins[origin as usize];
            let is_free = entry.is_free(self.max_leases) && entry.not_before <= Some(now);
            let (priority, id) = entry.revisions.as_mut().filter(|_| is_free)?.front(now)?;
            Some(QueuedUrl { origin, priority, id })
        })
    }

    /// As [`next_due`](Self::next_due), of URLs whose pages are counted. Costs a look at each origin with any, up to the
    /// first that is due.
    pub(super) fn next_revision_due(&self) -> Option<Option<Instant>> {
        let mut next = None;
        for &origin in &self.revised {
            let entry = &self.origins[origin as usize];
            let queue = entry.revisions.as_ref().filter(|_| entry.is_free(self.max_leases));
            let Some(due) = queue.and_then(|queue| queue.due()).map(|due| due.max(entry.not_before)) else { continue };
            if due <= self.now {
                return Some(due);
            }
            next = Some(next.map_or(due, |next: Option<Instant>| next.min(due)));
        }
        next
    }

    /// Returns the best URL at `now` among all due origins.
    pub(super) fn next_best(&mut self, now: Instant) -> Option<QueuedUrl> {
        // The first of equals: that origin has waited longest.
        self.fronts(now, |_| true).map(|(next, ..)| next).min_by_key(|next| next.priority)
    }

    /// Returns what to lease at `now` to get to know a host. A host with an inconclusive page goes first, so that the
    /// crawl soon sees what lies one level behind a mere list; then the least likely mirror; then the best score. Never
    /// tries a certain mirror.
    pub(super) fn next_unknown_host(&mut self, now: Instant) -> Option<QueuedUrl> {
        let is_eligible =
            |host: &Host| host.tries < MAX_TRIES && host.leases == 0 && host.mirror < MirrorLikelihood::CERTAIN;
        let fronts = self.fronts(now, is_eligible);
        fronts.min_by_key(|(next, tries, mirror)| (Reverse(*tries), *mirror, next.priority)).map(|(next, ..)| next)
    }

    /// Returns the first URL of each due origin with an eligible host, how often the host was tried, and how likely it
    /// is a mirror. The origin that has waited longest comes first.
    fn fronts(
        &mut self,
        now: Instant,
        is_eligible: impl Fn(&Host) -> bool,
    ) -> impl Iterator<Item = (QueuedUrl, u8, MirrorLikelihood)> {
        let now = self.now.map_or(now, |latest| latest.max(now));
        self.now = Some(now);
        let due = self.calendar.iter().take_while(|(due, ..)| *due <= Some(now)).take(MAX_COMPARED);
        let tried = due.filter_map(|&(_, _, origin)| {
            let host = &self.hosts[self.origins[origin as usize].host as usize];
            is_eligible(host).then_some((origin, host.tries, host.mirror))
        });
        let tried: Vec<(u32, u8, MirrorLikelihood)> = tried.collect();
        tried.into_iter().filter_map(move |(origin, tries, mirror)| {
            let (priority, id) = self.origins[origin as usize].queue.front(now)?;
            Some((QueuedUrl { origin, priority, id }, tries, mirror))
        })
    }

    /// Returns the leases of unknown hosts so far.
    pub(super) fn tries(&self) -> u64 {
        self.tries
    }

    /// Whether the host is unknown and was not tried often enough.
    pub(super) fn is_unknown(&self, origin: u32) -> bool {
        self.hosts[self.origins[origin as usize].host as usize].tries < MAX_TRIES
    }

    /// Counts a lease of a page, in a focused crawl. Returns whether it is a try of an unknown host.
    pub(super) fn try_host(&mut self, origin: u32) -> bool {
        let host = self.origins[origin as usize].host;
        let host = &mut self.hosts[host as usize];
        let is_try = host.tries < MAX_TRIES;
        host.tries += u8::from(is_try);
        self.tries += u64::from(is_try);
        is_try
    }

    /// Returns how likely a host is a mirror of one of these origins. Only origins count that were tried or came
    /// earlier: the first of many mirrors is no mirror. A host that was tried counts as the original, since its links
    /// are known.
    pub(super) fn mirror_likelihood(&mut self, origin: u32, mirrored: &[(String, f64)]) -> MirrorLikelihood {
        let host = self.origins[origin as usize].host;
        if self.hosts[host as usize].tries > 0 {
            return MirrorLikelihood::NONE;
        }
        let likelihoods = mirrored.iter().filter_map(|(origin, likelihood)| {
            OriginParts::of(origin)?.write(&mut self.name);
            let found = &self.origins[self.origin_names.find(&self.name)? as usize];
            let other = &self.hosts[found.host as usize];
            let is_tried = other.tries > 0 || other.leases > 0;
            let is_met = is_tried || (found.queue.len() > 0 && found.host < host);
            (found.host != host && is_met).then(|| MirrorLikelihood::of(*likelihood))
        });
        likelihoods.max().unwrap_or(MirrorLikelihood::NONE)
    }

    /// Sets the likelihood that a host is a mirror. Returns whether it has grown.
    pub(super) fn set_mirror_likelihood(&mut self, origin: u32, mirror: MirrorLikelihood) -> bool {
        let host = &mut self.hosts[self.origins[origin as usize].host as usize];
        std::mem::replace(&mut host.mirror, mirror) < mirror
    }

    /// Takes no host for a mirror any more.
    pub(super) fn clear_mirror_likelihoods(&mut self) {
        self.hosts.iter_mut().for_each(|host| host.mirror = MirrorLikelihood::NONE);
    }

    /// Marks a host as known: one of its pages, in this run or an earlier one, had a conclusive relevance.
    pub(super) fn mark_host_known(&mut self, origin: u32) {
        let host = self.origins[origin as usize].host;
        let host = &mut self.hosts[host as usize];
        self.tries += u64::from(host.tries == 0);
        host.tries = MAX_TRIES;
    }

    /// Returns the best score among URLs that become due soon, and when.
    pub(super) fn best_soon(&self, now: Instant, within: Duration) -> Option<(ScoreRank, Instant)> {
        let later = self.calendar.range((Some(now), u64::MAX, u32::MAX)..).take(MAX_COMPARED);
        let places = later.filter_map(|(due, _, origin)| {
            let place = self.origins[*origin as usize].queue.best()?;
            due.filter(|due| *due <= now + within).map(|due| (place, due))
        });
        places.min()
    }

    /// Returns what to lease next at `now` out of turn, chosen by `dice`.
    pub(super) fn next_out_of_turn(&mut self, now: Instant, dice: u64) -> Option<QueuedUrl> {
        let QueuedUrl { origin, .. } = self.next(now)?;
        self.origins[origin as usize].queue.bring_forward(dice as usize, self.now.unwrap_or(now));
        self.next(now)
    }

    /// Gives each due URL its present priority.
    pub(super) fn reorder(&mut self, priority: impl Fn(Priority, UrlId) -> Priority) {
        self.origins.iter_mut().for_each(|origin| origin.queue.reorder(&priority));
    }

    /// Returns when the next origin is due: `Some(None)` is at once, `None` is never.
    pub(super) fn next_due(&self) -> Option<Option<Instant>> {
        self.calendar.first().map(|&(due, ..)| due)
    }

    /// Removes the first URL of an origin for a lease. The origin goes to the end of the line.
    pub(super) fn begin_lease(&mut self, origin: u32) {
        self.unschedule(origin);
        let entry = &mut self.origins[origin as usize];
        entry.queue.pop();
        entry.leases += 1;
        let host = entry.host;
        self.change_host(host, |host| host.leases += 1);
        self.reschedule(origin);
    }

    /// Removes an origin's first URL whose page is counted, for a lease.
    pub(super) fn begin_revision(&mut self, origin: u32) {
        let entry = &mut self.origins[origin as usize];
        entry.leases += 1;
        self.revisions -= u64::from(entry.revisions.as_mut().and_then(|revisions| revisions.pop()).is_some());
        self.forget_no_revisions(origin);
        self.reschedule(origin);
    }

    fn forget_no_revisions(&mut self, origin: u32) {
        let revisions = &mut self.origins[origin as usize].revisions;
        if revisions.as_ref().is_some_and(|revisions| revisions.len() == 0) {
            *revisions = None;
            self.revised.remove(&origin);
        }
    }

    /// Removes the first URL of an origin.
    pub(super) fn drop_front(&mut self, origin: u32) {
        self.origins[origin as usize].queue.pop();
        self.reschedule(origin);
    }

    /// Ends a lease.
    pub(super) fn end_lease(&mut self, origin: u32, is_page: bool) {
        let entry = &mut self.origins[origin as usize];
        entry.leases = entry.leases.saturating_sub(1);
        let host = entry.host;
        self.change_host(host, |host| {
            host.leases = host.leases.saturating_sub(1);
            host.pages += u64::from(is_page);
        });
        self.reschedule(origin);
    }

    /// Ends a lease of a URL whose page was counted. It may be a page no longer.
    pub(super) fn end_revision(&mut self, origin: u32, is_page: bool) {
        let entry = &mut self.origins[origin as usize];
        entry.leases = entry.leases.saturating_sub(1);
        let host = entry.host;
        self.change_host(host, |host| host.pages = host.pages.saturating_sub(u64::from(!is_page)));
        self.reschedule(origin);
    }

    /// Ends a lease of a URL whose page is counted, and gives the URL back.
    pub(super) fn give_back_revision(&mut self, origin: u32, id: UrlId, not_before: Instant) {
        self.revisions_for_one_more(origin).give_back(Priority::FIRST, id, not_before);
        self.end_revision(origin, true);
    }

    /// Ends a lease and gives its URL back.
    pub(super) fn give_back(&mut self, origin: u32, priority: Priority, id: UrlId, not_before: Instant) {
        self.origins[origin as usize].queue.give_back(priority, id, not_before);
        self.end_lease(origin, false);
    }

    /// Makes nothing of this origin due before `not_before`. A later time set before stays.
    pub(super) fn postpone(&mut self, origin: u32, not_before: Instant) {
        let entry = &mut self.origins[origin as usize];
        entry.not_before = entry.not_before.max(Some(not_before));
        self.reschedule(origin);
    }

    /// Leases nothing of this origin any more.
    pub(super) fn give_up(&mut self, origin: u32) {
        self.given_up += u64::from(!self.origins[origin as usize].is_given_up);
        self.origins[origin as usize].is_given_up = true;
        self.reschedule(origin);
    }

    /// Returns the origins that are given up.
    pub(super) fn names_given_up(&self) -> Vec<String> {
        let all = if self.given_up == 0 { 0 } else { self.origins.len() as u32 };
        let given_up = (0..all).filter(|&origin| self.origins[origin as usize].is_given_up);
        given_up.map(|origin| self.origin_names.text(origin).to_owned()).collect()
    }

    /// Whether the origin of a canonical URL is given up. Costs nothing while none is.
    pub(super) fn is_given_up(&self, url: impl FnOnce() -> Option<String>) -> bool {
        let origin = (self.given_up > 0).then(url).flatten().and_then(|url| {
            let mut name = String::new();
            OriginParts::of(&url)?.write(&mut name);
            self.origin_names.find(&name)
        });
        origin.is_some_and(|origin| self.origins[origin as usize].is_given_up)
    }

    /// Counts a page of an earlier run.
    pub(super) fn count_page(&mut self, origin: u32) {
        let host = self.origins[origin as usize].host;
        self.change_host(host, |host| host.pages += 1);
    }

    /// Keeps only some of the queued URLs.
    pub(super) fn retain(&mut self, keep: impl Fn(UrlId) -> bool) {
        for origin in 0..self.origins.len() {
            self.origins[origin].queue.retain(&keep);
            self.reschedule(origin as u32);
        }
    }

    /// Returns the origins with the longest queues, longest first. Costs a look at every origin.
    pub(super) fn longest_queues(&self, most: usize) -> Vec<QueuedOrigin> {
        let mut order: Vec<u32> = (0..self.origins.len() as u32).collect();
        order.retain(|&origin| self.origins[origin as usize].queued() > 0);
        order.sort_by_key(|&origin| std::cmp::Reverse(self.origins[origin as usize].queued()));
        order.truncate(most);
        let describe = |origin: u32| QueuedOrigin {
            origin: self.origin_names.text(origin).to_owned(),
            queued: self.origins[origin as usize].queued() as u64,
            hold: self.hold(origin),
        };
        order.into_iter().map(describe).collect()
    }

    fn hold(&self, origin: u32) -> OriginHold {
        let entry = &self.origins[origin as usize];
        if entry.is_given_up {
            return OriginHold::GivenUp;
        }
        if entry.revisions.is_none() && self.is_full(entry.host) {
            return OriginHold::Pages;
        }
        if entry.leases >= self.max_leases {
            return OriginHold::Leases;
        }
        let later = |moment: &Instant| Some(*moment) > self.now;
        let further = (!self.is_full(entry.host)).then_some(&entry.queue);
        let due = further.into_iter().chain(entry.revisions.as_deref()).filter_map(HostQueue::due).min();
        match (due.flatten().filter(later), entry.not_before.filter(later)) {
            (Some(due), not_before) if Some(due) > not_before => OriginHold::GivenBack(due),
            (_, Some(not_before)) => OriginHold::Postponed(not_before),
            _ => OriginHold::Turn,
        }
    }

    /// Changes a host. Looks at all its origins only if it became full or is full no longer.
    fn change_host(&mut self, host: u32, change: impl FnOnce(&mut Host)) {
        let was_full = self.is_full(host);
        change(&mut self.hosts[host as usize]);
        if self.is_full(host) != was_full {
            let origins = std::mem::take(&mut self.hosts[host as usize].origins);
            origins.iter().for_each(|&origin| self.reschedule(origin));
            self.hosts[host as usize].origins = origins;
        }
    }

    /// Whether the host has its pages, if each lease brings one.
    fn is_full(&self, host: u32) -> bool {
        let host = &self.hosts[host as usize];
        self.max_pages > 0 && host.pages + host.leases >= self.max_pages
    }

    /// Returns when something of this origin can be leased: `Some(None)` is at once, `None` is never as things stand.
    fn due(&self, origin: u32) -> Option<Option<Instant>> {
        let entry = &self.origins[origin as usize];
        if !entry.is_free(self.max_leases) || self.is_full(entry.host) {
            return None;
        }
        entry.queue.due().map(|due| due.max(entry.not_before))
    }

    /// Updates the calendar entry of an origin after a change. The origin keeps its turn while its due time stays.
    fn reschedule(&mut self, origin: u32) {
        let due = self.due(origin);
        let place = self.origins[origin as usize].place;
        if place.map(|(_, derived_from)| derived_from) != due {
            self.unschedule(origin);
            if let Some(due) = due {
                let turn = (due.max(self.now), self.turns, origin);
                self.turns += 1;
                self.calendar.insert(turn);
                self.origins[origin as usize].place = Some((turn, due));
            }
        }
        self.count_busy(origin);
    }

    fn unschedule(&mut self, origin: u32) {
        if let Some((turn, _)) = self.origins[origin as usize].place.take() {
            self.calendar.remove(&turn);
        }
    }

    fn count_busy(&mut self, origin: u32) {
        let entry = &mut self.origins[origin as usize];
        let is_busy = entry.queued() > 0 || entry.leases > 0;
        if is_busy != entry.is_busy {
            entry.is_busy = is_busy;
            if is_busy { self.busy += 1 } else { self.busy -= 1 }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRIORITY: Priority = Priority::FIRST;

    /// HostQueues with `each` URLs waiting at every one of them.
    fn origins(names: &[&str], each: u32, max_leases: usize, max_pages: u64) -> HostQueues {
        let mut origins = HostQueues::new(max_leases, max_pages, 0);
        for name in names {
            let origin = origins.number(name).unwrap();
            (0..each).for_each(|n| origins.push(origin, PRIORITY, UrlId(origin * each + n)));
        }
        origins
    }

    fn lease(origins: &mut HostQueues, now: Instant) -> Option<u32> {
        let origin = origins.next(now)?.origin;
        origins.begin_lease(origin);
        Some(origin)
    }

    #[test]
    fn origins_take_turns_and_none_has_more_leases_than_it_may() {
        let mut origins = origins(&["http://a.test/", "https://a.test/", "http://b.test/"], 9, 2, 0);
        let now = Instant::now();
        let served: Vec<u32> = std::iter::from_fn(|| lease(&mut origins, now)).collect();
        assert_eq!(served, [0, 1, 2, 0, 1, 2]);
        origins.end_lease(1, true);
        assert_eq!(lease(&mut origins, now), Some(1));
        assert_eq!((lease(&mut origins, now), origins.next_due()), (None, None));
    }

    #[test]
    fn a_stream_of_new_origins_does_not_starve_an_old_one() {
        let mut origins = origins(&["http://old.test/"], 9, 1, 0);
        let start = Instant::now();
        let mut turns_of_old = 0;
        for step in 0..30 {
            let now = start + Duration::from_millis(step);
            for n in 0..3 {
                let new = origins.number(&format!("http://new-{step}-{n}.test/")).unwrap();
                origins.push(new, PRIORITY, UrlId(0));
            }
            let origin = lease(&mut origins, now).unwrap();
            origins.end_lease(origin, true);
            turns_of_old += u32::from(origin == 0);
        }
        assert!(turns_of_old >= 3, "{turns_of_old}");
    }

    #[test]
    fn a_postponed_origin_is_due_when_it_was_said_and_not_before() {
        let mut origins = origins(&["http://a.test/", "http://b.test/"], 2, 1, 0);
        let (now, second) = (Instant::now(), Duration::from_secs(1));
        origins.postpone(0, now + 2 * second);
        origins.postpone(0, now + second);
        origins.postpone(1, now + 3 * second);
        assert_eq!(origins.next(now + second), None);
        assert_eq!(origins.next_due(), Some(Some(now + 2 * second)));
        assert_eq!(lease(&mut origins, now + 2 * second), Some(0));
        assert_eq!(origins.next_due(), Some(Some(now + 3 * second)));
    }

    #[test]
    fn a_host_that_has_its_pages_is_left_alone_on_all_its_ports() {
        let mut origins = origins(&["http://a.test/", "http://a.test:81/"], 9, 9, 3);
        let now = Instant::now();
        assert_eq!(std::iter::from_fn(|| lease(&mut origins, now)).count(), 3);
        origins.end_lease(0, true);
        origins.end_lease(1, false);
        assert!(lease(&mut origins, now).is_some(), "a lease that brought no page makes room for another");
        assert_eq!(lease(&mut origins, now), None);
    }
}
