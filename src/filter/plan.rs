//! Which lists a probe reads, and how deep.
//!
//! For each term `x` of the probe a *floor* `θ_x` in [0, `q_x`] is chosen: 0 if its whole list is
//! read, the probe's own share `q_x` if nothing of it is, else the top of the heaviest class that
//! is not read. In every list, what is not read is at most `θ_x`: so a record met nowhere overlaps
//! the probe by at most `Σ θ_x`, the *unseen* mass, and floors with `Σ θ_x < goal` lose nothing.
//!
//! Floors are lowered where a unit of mass costs the fewest postings. A list's options (read one
//! class more) form a curve of cost over mass; only its lower hull matters, whose segments rise in
//! price, so that taking the cheapest segments of all lists takes each list's from the top down.
//! The choice is made anew for each probe from the lists as they are: how long lists are can
//! change the cost, never the answer.

use super::lists::{CLASSES, List, top_of};
use crate::record::TermId;

/// What opening a list costs, in postings.
const OPENING: u64 = 16;

/// Once the unseen mass is below the goal, as much again (in percent of the cost so far) is read to
/// lift the mark that accumulators have to reach: each posting more spares sketch comparisons.
/// Below [`DENSE_GOAL`], where there are far more survivors, more is worth it.
const EXTRA_PERCENT: u64 = 100;
const DENSE_EXTRA_PERCENT: u64 = 250;

/// 0.75 of the whole.
const DENSE_GOAL: u32 = 49_151;

/// One list to read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opening {
    pub(super) term: TermId,
    /// The probe's share.
    pub(super) share: u16,
    /// The floor.
    pub(super) floor: u16,
    /// Classes from here up are read; lists without classes whole.
    pub(super) from: u8,
}

/// A piece of a list's hull.
#[derive(Clone, Copy, Debug)]
struct Segment {
    /// Cost for 2¹⁶ units of mass, rounded down: in one list it does not fall.
    price: u64,
    opening: u32,
    /// Rises along one list, so that equal prices keep their order.
    step: u8,
    from: u8,
    floor: u16,
    cost: u64,
}

/// What a probe reads. Reused from probe to probe for its memory.
#[derive(Debug, Default)]
pub(super) struct Plan {
    openings: Vec<Opening>,
    segments: Vec<Segment>,
    unseen: u32,
}

impl Plan {
    /// Plans a probe. Afterwards `unseen() < goal`.
    pub(super) fn make(&mut self, shares: &[(TermId, u16)], lists: &[List], goal: u32) {
        self.openings.clear();
        self.segments.clear();
        self.unseen = 0;
        for &(term, share) in shares {
            if let Some(list) = lists.get(term.index()) {
                self.consider(term, share, list);
            }
        }
        self.segments.sort_unstable_by_key(|segment| (segment.price, segment.opening, segment.step));
        self.take_cheapest(goal);
        self.openings.retain(|opening| usize::from(opening.from) < CLASSES);
    }

    /// The lists to read.
    pub(super) fn openings(&self) -> &[Opening] {
        &self.openings
    }

    /// The most that a record can overlap the probe where nothing is read.
    pub(super) fn unseen(&self) -> u32 {
        self.unseen
    }

    /// Enters a list, closed, with the segments of its hull.
    fn consider(&mut self, term: TermId, share: u16, list: &List) {
        let mut hull = Hull::default();
        let closed = match list {
            List::Empty => 0,
            List::One(posting) => share.min(posting.share),
            List::Short(_) => share,
            List::Long(classes) => {
                let heaviest = classes.iter().rposition(|class| !class.is_empty()).unwrap_or(0);
                share.min(top_of(heaviest))
            }
        };
        if closed == 0 {
            return;
        }
        match list {
            List::Empty => {}
            List::One(_) => hull.add(closed, Point { cost: OPENING + 1, floor: 0, from: 0 }),
            List::Short(postings) => {
                hull.add(closed, Point { cost: OPENING + postings.len() as u64, floor: 0, from: 0 });
            }
            List::Long(classes) => {
                let mut cost = OPENING;
                for class in (0..CLASSES).rev().filter(|&class| !classes[class].is_empty()) {
                    cost += classes[class].len() as u64;
                    let below = classes[..class].iter().rposition(|class| !class.is_empty());
                    let floor = below.map_or(0, |below| share.min(top_of(below)));
                    hull.add(closed, Point { cost, floor, from: class as u8 });
                }
            }
        }
        self.enter(Opening { term, share, floor: closed, from: CLASSES as u8 }, &hull);
    }

    fn enter(&mut self, opening: Opening, hull: &Hull) {
        let number = self.openings.len() as u32;
        let mut before = Point { cost: 0, floor: opening.floor, from: opening.from };
        for (step, point) in hull.points().iter().enumerate() {
            let cost = point.cost - before.cost;
            let price = (cost << 16) / u64::from(before.floor - point.floor);
            self.segments.push(Segment {
                price,
                opening: number,
                step: step as u8,
                from: point.from,
                floor: point.floor,
                cost,
            });
            before = *point;
        }
        self.unseen += u32::from(opening.floor);
        self.openings.push(opening);
    }

    fn take_cheapest(&mut self, goal: u32) {
        let extra_percent = if goal < DENSE_GOAL { DENSE_EXTRA_PERCENT } else { EXTRA_PERCENT };
        let (mut spent, mut limit) = (0, None);
        for segment in &self.segments {
            if self.unseen < goal {
                let limit = *limit.get_or_insert(spent + spent * extra_percent / 100);
                if spent + segment.cost > limit {
                    break;
                }
            }
            let opening = &mut self.openings[segment.opening as usize];
            self.unseen -= u32::from(opening.floor - segment.floor);
            opening.floor = segment.floor;
            opening.from = segment.from;
            spent += segment.cost;
        }
    }
}

/// Reading a list down to class `from` costs `cost` in all and leaves the floor at `floor`.
#[derive(Clone, Copy, Debug, Default)]
struct Point {
    cost: u64,
    floor: u16,
    from: u8,
}

/// The lower hull of cost over mass, points added by rising cost.
#[derive(Debug, Default)]
struct Hull {
    points: [Point; CLASSES],
    len: usize,
}

impl Hull {
    /// Adds an option of a list whose floor is `closed` while nothing is read, and drops those that
    /// it makes useless.
    fn add(&mut self, closed: u16, new: Point) {
        let start = Point { cost: 0, floor: closed, from: CLASSES as u8 };
        if self.points().last().unwrap_or(&start).floor <= new.floor {
            return;
        }
        while let Some(last) = self.points().last() {
            let before = self.len.checked_sub(2).map_or(start, |index| self.points[index]);
            if is_steeper(before, *last, new) {
                break;
            }
            self.len -= 1;
        }
        self.points[self.len] = new;
        self.len += 1;
    }

    fn points(&self) -> &[Point] {
        &self.points[..self.len]
    }
}

/// Whether a unit of mass costs more from `b` to `c` than from `a` to `b`.
fn is_steeper(a: Point, b: Point, c: Point) -> bool {
    let mass = |from: Point, to: Point| u64::from(from.floor - to.floor);
    (b.cost - a.cost) * mass(b, c) < (c.cost - b.cost) * mass(a, b)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::lists::Posting;
    use super::*;

    fn lists(postings: &[(u32, u16)]) -> Vec<List> {
        let mut lists: Vec<List> = (0..8).map(|_| List::default()).collect();
        for (record, &(term, share)) in (0..).zip(postings) {
            lists[term as usize].push(Posting { record, share });
        }
        lists
    }

    #[test]
    fn nothing_is_read_where_the_lists_cannot_reach_the_goal() {
        let mut plan = Plan::default();
        plan.make(&[(TermId(0), 60_000), (TermId(1), 5_000), (TermId(9), 535)], &lists(&[(1, 9), (1, 8)]), 50_000);
        assert!(plan.openings().is_empty());
        assert_eq!(plan.unseen(), 5_000);
    }

    #[test]
    fn the_cheap_list_is_read_and_the_dear_one_left() {
        let mut postings = vec![(0, 100); 500];
        postings.push((1, 40_000));
        let mut plan = Plan::default();
        plan.make(&[(TermId(0), 30_000), (TermId(1), 35_535)], &lists(&postings), 33_000);
        assert_eq!(plan.openings().iter().map(|opening| opening.term).collect::<Vec<_>>(), [TermId(1)]);
        assert_eq!(plan.unseen(), 128, "the frequent term's records have at most the class's top");
    }

    proptest! {
        #[test]
        fn what_is_not_read_is_below_its_floor_and_floors_stay_below_the_goal(
            postings in prop::collection::vec((0u32..8, 1u16..4_000), 0..400),
            query in prop::collection::btree_map(0u32..10, 1u16..9_000, 0..10),
            goal in 1u32..65_536,
        ) {
            let lists = lists(&postings);
            let query: Vec<_> = query.into_iter().map(|(term, share)| (TermId(term), share)).collect();
            let mut plan = Plan::default();
            plan.make(&query, &lists, goal);
            prop_assert!(plan.unseen() < goal);

            let mut unseen = 0;
            for &(term, share) in &query {
                let opening = plan.openings().iter().find(|opening| opening.term == term);
                let mut read = Vec::new();
                if let Some(opening) = opening {
                    lists[term.index()].for_each(opening.from.into(), |record, bound| {
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
