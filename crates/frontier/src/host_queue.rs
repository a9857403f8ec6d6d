//! The queue of one origin.
//!
//! Order: rank, then the score in a focused crawl, then depth, then arrival. A URL that was given back goes to the front
//! of its priority once it is due.
//!
//! A URL that gets nearer is added a second time, by its new depth; its first place is skipped when its turn comes.
//!
//! Memory for a URL: 4 bytes, in blocks that are freed when empty; about 40 bytes for one given back and not yet due, or
//! for one that has moved and whose first place is still there.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use hashbrown::HashMap;

use super::best_first::ScoreRank;
use ndcrawl_model::UrlId;

/// The order among the URLs of an origin before arrival; smaller ones first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Priority {
    pub(super) rank: i8,
    /// The score; the same for all unless the crawl is focused.
    pub(super) score: ScoreRank,
    pub(super) depth: u16,
}

impl Priority {
    /// Before all others.
    pub(super) const FIRST: Self = Self { rank: i8::MIN, score: ScoreRank::FIRST, depth: 0 };
}

/// Numbers in a block of [`IdQueue`].
const BLOCK: usize = 1024;

/// A queue of numbers that grows and shrinks by blocks.
#[derive(Default)]
struct IdQueue {
    blocks: VecDeque<Vec<u32>>,
    /// Numbers of the first block that were taken.
    head: usize,
}

impl IdQueue {
    fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    fn front(&self) -> Option<u32> {
        self.blocks.front()?.get(self.head).copied()
    }

    fn push_back(&mut self, id: u32) {
        match self.blocks.back_mut().filter(|block| block.len() < BLOCK) {
            Some(block) => block.push(id),
            None => {
                if self.blocks.is_empty() {
                    self.blocks.reserve_exact(1);
                }
                self.blocks.push_back(vec![id]);
            }
        }
    }

    fn push_front(&mut self, id: u32) {
        match self.blocks.front_mut().filter(|_| self.head > 0) {
            Some(block) => {
                self.head -= 1;
                block[self.head] = id;
            }
            None => self.blocks.push_front(vec![id]),
        }
    }

    fn pop_front(&mut self) -> Option<u32> {
        let id = self.front()?;
        self.head += 1;
        if self.blocks.front().is_some_and(|block| block.len() == self.head) {
            self.blocks.pop_front();
            self.head = 0;
        }
        Some(id)
    }

    fn bytes(&self) -> usize {
        let numbers = self.blocks.iter().map(Vec::capacity).sum::<usize>();
        numbers * size_of::<u32>() + self.blocks.capacity() * size_of::<Vec<u32>>()
    }

    fn into_ids(self) -> impl Iterator<Item = u32> {
        self.blocks.into_iter().flatten().skip(self.head)
    }
}

/// The queue of one origin.
#[derive(Default)]
pub(super) struct HostQueue {
    /// Descending, so that the first to serve is the last. There are few priorities, and for an origin with a single
    /// URL a vector costs a tenth of a tree.
    ready: Vec<(Priority, IdQueue)>,
    /// URLs given back and not yet due; the counter tells apart those due at one moment.
    waiting: BTreeMap<(Instant, u64), (Priority, u32)>,
    given_back: u64,
    /// URLs without their places that are skipped.
    len: usize,
    /// URLs that have moved. In a box: few origins have any.
    moved: Option<Box<HashMap<u32, MovedUrl>>>,
}

/// A URL that has got nearer while it was queued.
struct MovedUrl {
    /// Its depth. Its places at a greater depth are skipped.
    depth: u16,
    /// Their number.
    skipped: u32,
}

impl HostQueue {
    /// Returns the number of URLs, due or not.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns the bytes in use, without those of an empty queue.
    pub(super) fn bytes(&self) -> usize {
        let queues = self.ready.iter().map(|(_, queue)| queue.bytes()).sum::<usize>();
        let waiting = self.waiting.len() * size_of::<((Instant, u64), (Priority, u32))>();
        let moved = self.moved.as_ref().map_or(0, |moved| moved.allocation_size());
        queues + waiting + moved + self.ready.capacity() * size_of::<(Priority, IdQueue)>()
    }

    /// Returns when a URL is due: `Some(None)` is at once, `None` is never.
    pub(super) fn due(&self) -> Option<Option<Instant>> {
        if self.len > self.waiting.len() {
            return Some(None);
        }
        self.waiting.keys().next().map(|&(moment, _)| Some(moment))
    }

    /// Adds a URL behind all others of its priority.
    pub(super) fn push(&mut self, priority: Priority, id: UrlId) {
        self.of(priority).push_back(id.0);
        self.len += 1;
    }

    /// Adds a URL before all others of its priority, once it is due.
    pub(super) fn give_back(&mut self, priority: Priority, id: UrlId, not_before: Instant) {
        self.waiting.insert((not_before, self.given_back), (priority, id.0));
        self.given_back += 1;
        self.len += 1;
    }

    /// Moves a queued URL to a priority of a lesser depth. One that was given back stays before the others.
    pub(super) fn shorten(&mut self, priority: Priority, id: UrlId, is_given_back: bool) {
        if let Some((before, _)) = self.waiting.values_mut().find(|(_, waiting)| *waiting == id.0) {
            before.depth = priority.depth;
            return;
        }
        let moved = self.moved.get_or_insert_default();
        let moved = moved.entry(id.0).or_insert(MovedUrl { depth: priority.depth, skipped: 0 });
        moved.depth = priority.depth;
        moved.skipped += 1;
        let queue = self.of(priority);
        if is_given_back { queue.push_front(id.0) } else { queue.push_back(id.0) }
    }

    /// Returns whether a place is skipped because its URL has moved.
    fn is_skipped(&self, priority: Priority, id: u32) -> bool {
        self.moved.as_ref().and_then(|moved| moved.get(&id)).is_some_and(|moved| priority.depth > moved.depth)
    }

    /// Removes the first places while they are to be skipped.
    fn skip(&mut self) {
        while let Some((priority, queue)) = self.ready.last() {
            let (priority, Some(id)) = (*priority, queue.front()) else { return };
            if !self.is_skipped(priority, id) {
                return;
            }
            self.remove_first(self.ready.len() - 1);
            if let Some(moved) = &mut self.moved
                && let Some(url) = moved.get_mut(&id)
            {
                url.skipped -= 1;
                if url.skipped == 0 {
                    moved.remove(&id);
                }
            }
        }
    }

    /// Removes the first URL of a priority, and the priority if that was its last.
    fn remove_first(&mut self, place: usize) -> Option<u32> {
        let (_, queue) = self.ready.get_mut(place)?;
        let id = queue.pop_front();
        if queue.is_empty() {
            self.ready.remove(place);
        }
        id
    }

    /// Returns the URL to fetch next at `now`.
    pub(super) fn front(&mut self, now: Instant) -> Option<(Priority, UrlId)> {
        self.promote(now);
        self.skip();
        let (priority, queue) = self.ready.last()?;
        queue.front().map(|id| (*priority, UrlId(id)))
    }

    /// Returns the best score among the URLs that were due at the last look.
    pub(super) fn best(&self) -> Option<ScoreRank> {
        self.ready.last().map(|(priority, _)| priority.score)
    }

    /// Removes the URL that [`HostQueue::front`] returns.
    pub(super) fn pop(&mut self) -> Option<UrlId> {
        self.skip();
        let id = self.remove_first(self.ready.len().checked_sub(1)?)?;
        self.len -= 1;
        Some(UrlId(id))
    }

    /// Returns the queue of this priority.
    fn of(&mut self, priority: Priority) -> &mut IdQueue {
        let place = match self.ready.binary_search_by(|(other, _)| priority.cmp(other)) {
            Ok(place) => place,
            Err(place) => {
                if self.ready.is_empty() {
                    self.ready.reserve_exact(1);
                }
                self.ready.insert(place, (priority, IdQueue::default()));
                place
            }
        };
        &mut self.ready[place].1
    }

    /// Moves URLs that have become due to the front; those due first go first.
    fn promote(&mut self, now: Instant) {
        if self.waiting.keys().next().is_none_or(|&(moment, _)| moment > now) {
            return;
        }
        let later = self.waiting.split_off(&(now, u64::MAX));
        for (priority, id) in std::mem::replace(&mut self.waiting, later).into_values().rev() {
            self.of(priority).push_front(id);
        }
    }

    /// Moves one due URL before all others: the first of some priority, chosen by `dice`.
    pub(super) fn bring_forward(&mut self, dice: usize, now: Instant) {
        self.promote(now);
        self.drop_skipped();
        let Some(chosen) = dice.checked_rem(self.ready.len()) else { return };
        let Some(id) = self.remove_first(chosen) else { return };
        self.of(Priority::FIRST).push_front(id);
    }

    /// Removes all places that are to be skipped, if there are any.
    fn drop_skipped(&mut self) {
        if self.moved.is_some() {
            self.reorder(|priority, _| priority);
        }
    }

    /// Gives each due URL its present priority.
    pub(super) fn reorder(&mut self, priority: impl Fn(Priority, UrlId) -> Priority) {
        for (before, queue) in std::mem::take(&mut self.ready).into_iter().rev() {
            for id in queue.into_ids() {
                if !self.is_skipped(before, id) {
                    self.of(priority(before, UrlId(id))).push_back(id);
                }
            }
        }
        self.moved = None;
    }

    /// Keeps only some of the due URLs, in their order.
    pub(super) fn retain(&mut self, keep: impl Fn(UrlId) -> bool) {
        self.drop_skipped();
        for (priority, queue) in std::mem::take(&mut self.ready) {
            for id in queue.into_ids() {
                self.len -= 1;
                if keep(UrlId(id)) {
                    self.push(priority, UrlId(id));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn drain(queue: &mut HostQueue, now: Instant) -> Vec<u32> {
        std::iter::from_fn(|| {
            queue.front(now)?;
            queue.pop().map(|id| id.0)
        })
        .collect()
    }

    fn priority(rank: i8, depth: u16) -> Priority {
        Priority { rank, depth, ..Priority::FIRST }
    }

    #[test]
    fn rank_goes_before_depth_and_depth_before_arrival() {
        let mut queue = HostQueue::default();
        for (id, rank, depth) in [(0, 1, 0), (1, 0, 2), (2, 0, 1), (3, 0, 2), (4, 0, 1), (5, -1, 3)] {
            queue.push(priority(rank, depth), UrlId(id));
        }
        assert_eq!(drain(&mut queue, Instant::now()), [5, 2, 4, 1, 3, 0]);
        assert_eq!((queue.len(), queue.due()), (0, None));
    }

    #[test]
    fn what_was_given_back_waits_and_then_goes_first() {
        let (now, second) = (Instant::now(), Duration::from_secs(1));
        let mut queue = HostQueue::default();
        queue.push(priority(0, 1), UrlId(0));
        queue.push(priority(0, 1), UrlId(1));
        queue.give_back(priority(0, 1), UrlId(7), now + 2 * second);
        queue.give_back(priority(0, 1), UrlId(8), now + second);
        assert_eq!(queue.front(now), Some((priority(0, 1), UrlId(0))));
        assert_eq!(drain(&mut queue, now + 2 * second), [8, 7, 0, 1]);

        queue.give_back(priority(0, 0), UrlId(9), now + second);
        assert_eq!(queue.due(), Some(Some(now + second)));
        assert_eq!((queue.front(now), queue.len()), (None, 1));
    }

    #[test]
    fn a_url_that_gets_nearer_is_served_once_and_by_its_new_depth() {
        let (now, second) = (Instant::now(), Duration::from_secs(1));
        let queue_of_five = || {
            let mut queue = HostQueue::default();
            (0..5).for_each(|id| queue.push(priority(0, 4), UrlId(id)));
            queue.shorten(priority(0, 3), UrlId(3), false);
            queue.shorten(priority(0, 2), UrlId(4), false);
            queue.shorten(priority(0, 2), UrlId(3), false);
            queue
        };
        let mut queue = queue_of_five();
        assert_eq!((queue.len(), drain(&mut queue, now)), (5, vec![4, 3, 0, 1, 2]));
        assert_eq!((queue.len(), queue.due()), (0, None), "only places that are skipped are left");

        let mut queue = queue_of_five();
        assert_eq!(queue.front(now), Some((priority(0, 2), UrlId(4))));
        queue.pop();
        queue.give_back(priority(0, 2), UrlId(4), now + second);
        queue.shorten(priority(0, 1), UrlId(4), true);
        assert_eq!(drain(&mut queue, now), [3, 0, 1, 2], "what was given back is not due");
        assert_eq!(
            (queue.due(), queue.front(now + second)),
            (Some(Some(now + second)), Some((priority(0, 1), UrlId(4))))
        );

        let mut queue = queue_of_five();
        queue.retain(|id| id.0 != 0);
        queue.reorder(|before, _| before);
        assert_eq!((queue.len(), drain(&mut queue, now)), (4, vec![4, 3, 1, 2]));

        for dice in 0..9 {
            let mut queue = queue_of_five();
            queue.bring_forward(dice, now);
            let mut served = drain(&mut queue, now);
            served.sort_unstable();
            assert_eq!(served, [0, 1, 2, 3, 4], "{dice}");
        }
    }

    #[test]
    fn blocks_come_and_go_without_a_trace() {
        let mut queue = HostQueue::default();
        let count = 3 * BLOCK as u32;
        for id in 0..count {
            queue.push(priority(0, 0), UrlId(id));
        }
        queue.pop();
        queue.retain(|id| id.0 % 2 == 1);
        queue.give_back(priority(0, 0), UrlId(0), Instant::now());
        let left: Vec<u32> = std::iter::once(0).chain((1..count).step_by(2)).collect();
        assert_eq!(drain(&mut queue, Instant::now()), left);
    }
}
