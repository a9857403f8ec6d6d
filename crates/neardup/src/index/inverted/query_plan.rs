//! Chooses which lists a probe reads, and how deep.
//!
//! For each term `x` of the probe the plan chooses a *floor* `θ_x` in [0, `q_x`]: 0 if its whole list is read, the
//! probe's own share `q_x` if nothing is read, else the top of the heaviest unread class. The unread part of each
//! list is at most `θ_x`. So a record met nowhere overlaps the probe by at most `Σ θ_x`, the *unseen* weight. Floors
//! with `Σ θ_x < goal` lose no match.
//!
//! Floors are lowered where a unit of weight costs the fewest postings. The depths of one list form a curve of cost
//! over weight. Only its lower hull matters; its segments rise in price, so taking the cheapest segments of all lists
//! reads each list from the top down. Prices are sorted into logarithmic buckets. In a list that names most records,
//! a unit of weight costs more than its postings, since nearly all records gain it. Each probe makes its own plan
//! from the lists as they are: their lengths change the cost, never the result.
//!
//! How many candidates a plan leaves cannot be predicted. It reads twice what it must, which leaves fewer.

use super::cost_curve::{CostCurve, ReadDepth};
use super::cost_histogram::{CostHistogram, PRICES, price};
use super::impact_classes::{CLASSES, class_in, class_of, top_of};
use super::postings::{InvertedLists, List};
use super::tuning::Tuning;
use super::{postings_by_impact, postings_small};
use crate::model::TermId;

/// One list to read.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlannedList {
    pub(super) term: TermId,
    /// The probe's share.
    pub(super) share: u16,
    /// The floor `θ_x`.
    pub(super) floor: u16,
    /// Classes from here up are read; lists without classes are read whole.
    pub(super) from: u8,
}

/// A segment of a list's cost curve.
#[derive(Clone, Copy, Debug)]
struct CurveSegment {
    opening: u32,
    cost: u32,
    /// Price bucket; it does not fall along one list.
    price: u16,
    floor: u16,
    from: u8,
}

/// Lists are considered in rounds, by shape: the longest list of each round.
const ROUNDS: [usize; 3] = [postings_small::LONGEST, postings_by_impact::LONGEST, usize::MAX];

/// What a probe reads. Reused from probe to probe to save allocations.
#[derive(Debug, Default)]
pub(super) struct QueryPlan {
    openings: Vec<PlannedList>,
    segments: Vec<CurveSegment>,
    /// Numbers of the segments by rising price.
    order: Vec<u32>,
    /// Segments of `order` that are taken.
    taken: usize,
    unseen: u32,
    cost: u64,
    /// Records in the lists.
    records: f32,
    histogram: CostHistogram,
    /// Lengths of the lists of the probe's terms.
    lens: Vec<u32>,
    curve: CostCurve,
}

impl QueryPlan {
    /// Plans a probe. Afterwards `unseen() < goal`.
    ///
    /// Once the lists considered so far suffice, a list of a later round is considered only if its cheapest unit of
    /// weight could cost less than the dearest one needed. Most long lists are never considered.
    pub(super) fn make(&mut self, shares: &[(TermId, u16)], lists: &InvertedLists, records: usize, goal: u32) {
        self.openings.clear();
        self.segments.clear();
        self.histogram.clear();
        self.records = records as f32;
        let mut lens = std::mem::take(&mut self.lens);
        lists.look_up(shares, &mut lens);
        let with_lens = || lens.iter().map(|&len| len as usize).zip(shares);
        self.unseen = with_lens().filter(|(len, _)| *len > 0).map(|(_, &(_, share))| u32::from(share)).sum();
        let most = with_lens().map(|(len, _)| len).max().unwrap_or(0);
        let (mut least, mut max_price) = (1, PRICES as u16);
        for longest in ROUNDS {
            for (_, &(term, share)) in with_lens().filter(|(len, _)| (least..=longest).contains(len)) {
                match lists.get(term) {
                    List::Small(postings) => self.consider_short(term, share, postings),
                    List::ByImpact(list) => self.consider_long(term, share, max_price, |class| list.read_len(class)),
                    List::Windowed(list) => {
                        let reads = list.reads();
                        self.consider_long(term, share, max_price, |class| reads[class]);
                    }
                }
            }
            if most <= longest {
                break;
            }
            least = longest + 1;
            max_price = self.histogram.max_price(self.unseen, with_more, goal);
        }
        self.lens = lens;
        self.sort_segments();
        (self.taken, self.cost) = (0, 0);
        self.take_while(|plan, _| plan.unseen >= goal);
        let most = with_more(self.cost);
        self.take_while(|_, cost| cost <= most);
    }

    /// Plans to read whole lists, the cheapest weight first, for at most `most` postings.
    ///
    /// Lists that nearly all `records` are in are left out: they tell none from another. `unseen()` may be above any
    /// goal.
    pub(super) fn plan_whole_lists(
        &mut self,
        shares: &[(TermId, u16)],
        lists: &InvertedLists,
        records: usize,
        most: u64,
    ) {
        self.openings.clear();
        self.unseen = 0;
        let mut priced: Vec<(u16, u64, PlannedList)> = Vec::with_capacity(shares.len());
        for &(term, share) in shares {
            let len = lists.len_of(term);
            self.unseen += if len > 0 { u32::from(share) } else { 0 };
            if len > 0 && len <= records / 8 * Tuning::REFINE_EIGHTHS {
                let cost = Tuning::OPENING_COST + len as u32;
                priced.push((price(cost, share.into()), cost.into(), PlannedList { term, share, floor: 0, from: 0 }));
            }
        }
        priced.sort_unstable_by_key(|&(price, cost, PlannedList { term, .. })| (price, cost, term));
        let mut left = most;
        for (_, cost, opening) in priced {
            let Some(after) = left.checked_sub(cost) else { break };
            left = after;
            self.unseen -= u32::from(opening.share);
            self.openings.push(opening);
        }
        self.cost = most - left;
    }

    /// Returns the lists to read.
    pub(super) fn openings(&self) -> impl DoubleEndedIterator<Item = &PlannedList> {
        self.openings.iter().filter(|opening| usize::from(opening.from) < CLASSES)
    }

    /// Returns the most by which a record can overlap the probe where nothing is read.
    pub(super) fn unseen(&self) -> u32 {
        self.unseen
    }

    /// Returns the cost of reading, in postings.
    pub(super) fn cost(&self) -> u64 {
        self.cost
    }

    /// Considers a list that is read whole or not at all.
    fn consider_short(&mut self, term: TermId, share: u16, postings: &[u32]) {
        let closed = match postings {
            [only] => share.min(top_of(class_in(*only))),
            _ => share,
        };
        let opening = self.open(term, share, closed);
        let cost = Tuning::OPENING_COST + postings.len() as u32;
        self.offer(opening, ReadDepth { cost: 0, floor: closed, from: 0 }, ReadDepth { cost, floor: 0, from: 0 }, 0);
    }

    /// Considers a list of classes. `read` returns the postings read from a class up.
    fn consider_long(&mut self, term: TermId, share: u16, max_price: u16, read: impl Fn(usize) -> u32) {
        let own = class_of(share);
        let heaviest = (0..=own).rev().find(|&class| read(class) > 0).unwrap_or(0);
        let closed = if heaviest == own { share } else { top_of(heaviest) };
        if price(Tuning::OPENING_COST + read(heaviest), f32::from(closed)) > max_price {
            self.unseen -= u32::from(share - closed);
            return;
        }
        let all = read(0);
        self.curve.begin(closed);
        // In a short list a finer choice costs more than it saves.
        let step = if all < Tuning::FINE_STEPS_FROM { Tuning::SHORT_LIST_STEP } else { Tuning::LONG_LIST_STEP };
        // Down to the share's own class everything has the same worth.
        for class in (0..=heaviest - heaviest % step).rev().step_by(step) {
            let cost = read(class);
            let is_all = cost == all;
            let (floor, from) = if is_all { (0, 0) } else { (share.min(top_of(class - 1)), class as u8) };
            self.curve.add(ReadDepth { cost: Tuning::OPENING_COST + cost, floor, from });
            if is_all {
                break;
            }
        }
        let opening = self.open(term, share, closed);
        let mut least = 0;
        for end in 1..self.curve.points().len() {
            let (before, after) = (self.curve.points()[end - 1], self.curve.points()[end]);
            least = self.offer(opening, before, after, least);
        }
    }

    /// Adds a list of which nothing is read yet. Its floor is at most the share, which counted as unseen so far.
    fn open(&mut self, term: TermId, share: u16, floor: u16) -> u32 {
        self.unseen -= u32::from(share - floor);
        self.openings.push(PlannedList { term, share, floor, from: CLASSES as u8 });
        self.openings.len() as u32 - 1
    }

    /// Adds a segment that costs no less than the one before it, and returns its price.
    fn offer(&mut self, opening: u32, before: ReadDepth, after: ReadDepth, least: u16) -> u16 {
        let (cost, mass) = (after.cost - before.cost, before.floor - after.floor);
        let price = price(cost, f32::from(mass) * self.discrimination(after.cost)).max(least);
        self.segments.push(CurveSegment { opening, cost, price, floor: after.floor, from: after.from });
        self.histogram.add(price, cost, mass);
        price
    }

    /// Returns the worth of a unit of weight in a list of which this many postings are read.
    ///
    /// A term that every record contains, as in a template, tells none from another.
    fn discrimination(&self, postings: u32) -> f32 {
        (1.0 - postings as f32 / self.records).max(Tuning::DISCRIMINATION_LEAST)
    }

    /// Sorts segments by price (counting sort). Equal prices keep their order, so each list's segments do.
    fn sort_segments(&mut self) {
        let mut next = [0u32; PRICES + 1];
        for segment in &self.segments {
            next[usize::from(segment.price) + 1] += 1;
        }
        for price in 0..PRICES {
            next[price + 1] += next[price];
        }
        self.order.clear();
        self.order.resize(self.segments.len(), 0);
        for (number, segment) in (0..).zip(&self.segments) {
            let place = &mut next[usize::from(segment.price)];
            self.order[*place as usize] = number;
            *place += 1;
        }
    }

    /// Takes the cheapest segments while `wanted` agrees, given the plan so far and its cost with the next segment.
    fn take_while(&mut self, wanted: impl Fn(&Self, u64) -> bool) {
        while let Some(&number) = self.order.get(self.taken) {
            let segment = self.segments[number as usize];
            let cost = self.cost + u64::from(segment.cost);
            if !wanted(self, cost) {
                break;
            }
            let opening = &mut self.openings[segment.opening as usize];
            self.unseen -= u32::from(opening.floor - segment.floor);
            (opening.floor, opening.from) = (segment.floor, segment.from);
            self.cost = cost;
            self.taken += 1;
        }
    }
}

/// Returns the postings that may be read by a plan that must read `needed` of them.
fn with_more(needed: u64) -> u64 {
    needed + needed * Tuning::MORE_PERCENT / 100
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lists(postings: &[(u32, u16)]) -> InvertedLists {
        let mut lists = InvertedLists::default();
        for (record, &(term, share)) in (0..).zip(postings) {
            lists.push(TermId(term), record, share);
        }
        lists
    }

    #[test]
    fn nothing_is_read_where_the_lists_cannot_reach_the_goal() {
        let mut plan = QueryPlan::default();
        plan.make(&[(TermId(0), 60_000), (TermId(1), 5_000), (TermId(9), 535)], &lists(&[(1, 9), (1, 8)]), 2, 50_000);
        assert!(plan.openings().next().is_none());
        assert_eq!(plan.unseen(), 5_000);
    }

    #[test]
    fn the_cheap_list_is_read_and_the_dear_one_left() {
        let mut postings = vec![(0, 100); 500];
        postings.push((1, 40_000));
        let mut plan = QueryPlan::default();
        plan.make(&[(TermId(0), 30_000), (TermId(1), 35_535)], &lists(&postings), 501, 33_000);
        assert_eq!(plan.openings().map(|opening| opening.term).collect::<Vec<_>>(), [TermId(1)]);
        assert_eq!(plan.unseen(), 112, "the frequent term's records have at most the class's top");
    }

    proptest! {
        #[test]
        fn what_is_not_read_is_below_its_floor_and_floors_stay_below_the_goal(
            postings in prop::collection::vec((0u32..8, 1u16..4_000), 0..400),
            query in prop::collection::btree_map(0u32..10, 1u16..9_000, 0..10),
            goal in 1u32..65_536,
            records in prop_oneof![Just(400), Just(40_000)],
        ) {
            let lists = lists(&postings);
            let query: Vec<_> = query.into_iter().map(|(term, share)| (TermId(term), share)).collect();
            let mut plan = QueryPlan::default();
            plan.make(&query, &lists, records, goal);
            prop_assert!(plan.unseen() < goal);

            let mut unseen = 0;
            for &(term, share) in &query {
                let opening = plan.openings().find(|opening| opening.term == term);
                let mut read = Vec::new();
                if let Some(opening) = opening {
                    lists.get(term).for_each(opening.from.into(), |record, bound| {
                        assert!(bound.min(share) >= opening.floor);
                        read.push(record);
                    });
                }
                let left = |(record, posting): (u32, &(u32, u16))| {
                    (posting.0 == term.0 && !read.contains(&record)).then_some(posting.1.min(share))
                };
                let most_left = (0..).zip(&postings).filter_map(left).max().unwrap_or(0);
                if let Some(opening) = opening {
                    prop_assert!(most_left <= opening.floor && opening.floor <= share);
                }
                unseen += u32::from(most_left);
            }
            prop_assert!(unseen <= plan.unseen());
        }
    }
}
