//! The textbook two-sided prefix filter, adapted to weights: an exact rival.
//!
//! Terms are ordered from newest to oldest, as new terms tend to be rare. A record's prefix is the shortest with more
//! than `1 − t` of its mass. Two records whose prefixes share no term lose one whole prefix, so they do not reach `t`.
//! So only prefixes are indexed.
//!
//! While reading the probe's prefix, the filter accumulates the shared mass of each stored record. The mass of both
//! after the last shared term bounds the rest. The variant with a sketch applies a second bound before comparing.
//!
//! An index built for a threshold also serves higher ones.

use std::mem::size_of;

use ndcrawl::model::{Sequence, TermId, Threshold};
use ndcrawl::similarity::{Record, reaches};

use crate::contender::{Contender, Cost};
use crate::sketch::Sketch;

/// The total mass of a record. Shares are rounded up.
const WHOLE: u64 = 65_535;

pub struct Prefix<'a> {
    records: &'a [Record],
    threshold: Threshold,
    /// Postings by term ID.
    lists: Vec<Vec<Posting>>,
    /// Records by order of arrival, as in postings.
    ids: Vec<Sequence>,
    /// Sketches; empty in the variant without.
    sketches: Vec<Sketch>,
    with_sketches: bool,
    gains: Vec<Gain>,
    touched: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Posting {
    record: u32,
    share: u16,
    /// Mass of the record's terms after this one.
    rest: u16,
}

#[derive(Clone, Copy, Default)]
struct Gain {
    shared: u32,
    /// Bound on the mass shared after the last shared term.
    rest: u32,
}

/// A term of a prefix.
struct Step {
    term: TermId,
    share: u16,
    rest: u16,
}

impl<'a> Prefix<'a> {
    pub fn new(records: &'a [Record], threshold: Threshold, with_sketches: bool) -> Self {
        Self {
            records,
            threshold,
            lists: Vec::new(),
            ids: Vec::new(),
            sketches: Vec::new(),
            with_sketches,
            gains: Vec::new(),
            touched: Vec::new(),
        }
    }

    /// Accumulates, and leaves in `touched` the records that the bound does not rule out.
    fn filter(&mut self, probe: &Record, threshold: Threshold) -> Cost {
        let goal = (WHOLE * u64::from(threshold.millionths())).div_ceil(Threshold::ONE.into());
        let mut postings = 0;
        for step in prefix(probe, self.threshold) {
            let Some(list) = self.lists.get(step.term.index()) else { continue };
            postings += list.len() as u64;
            for posting in list {
                let gain = &mut self.gains[posting.record as usize];
                if gain.shared == 0 {
                    self.touched.push(posting.record);
                }
                gain.shared += u32::from(posting.share.min(step.share));
                gain.rest = posting.rest.min(step.rest).into();
            }
        }
        let gains = &mut self.gains;
        self.touched.retain(|&record| {
            let gain = std::mem::take(&mut gains[record as usize]);
            u64::from(gain.shared + gain.rest) >= goal
        });
        let candidates = self.touched.len() as u64;
        let mut sketches = 0;
        if self.with_sketches {
            let sketch = Sketch::new(probe);
            sketches = candidates;
            self.touched.retain(|&record| sketch.may_reach(&self.sketches[record as usize], threshold));
        }
        Cost { postings, sketches, candidates, verifications: 0 }
    }

    fn matches(&self, probe: &Record, record: u32, threshold: Threshold) -> bool {
        reaches(probe, &self.records[self.ids[record as usize].index()], threshold)
    }
}

impl Contender for Prefix<'_> {
    fn insert(&mut self, id: Sequence) {
        let number = self.ids.len() as u32;
        let record = &self.records[id.index()];
        for step in prefix(record, self.threshold) {
            if self.lists.len() <= step.term.index() {
                self.lists.resize_with(step.term.index() + 1, Vec::new);
            }
            self.lists[step.term.index()].push(Posting { record: number, share: step.share, rest: step.rest });
        }
        self.ids.push(id);
        self.gains.push(Gain::default());
        if self.with_sketches {
            self.sketches.push(Sketch::new(record));
        }
    }

    fn probe(&mut self, probe: &Record, threshold: Threshold, found: &mut Vec<Sequence>) -> Cost {
        let cost = self.filter(probe, threshold);
        let verifications = self.touched.len() as u64;
        let matching = self.touched.iter().filter(|&&record| self.matches(probe, record, threshold));
        found.clear();
        found.extend(matching.map(|&record| self.ids[record as usize]));
        self.touched.clear();
        Cost { verifications, ..cost }
    }

    fn admit(&mut self, id: Sequence, threshold: Threshold) -> (Option<Sequence>, Cost) {
        let record = &self.records[id.index()];
        let cost = self.filter(record, threshold);
        let place = self.touched.iter().position(|&stored| self.matches(record, stored, threshold));
        let verifications = place.map_or(self.touched.len(), |place| place + 1) as u64;
        let found = place.map(|place| self.ids[self.touched[place] as usize]);
        self.touched.clear();
        if found.is_none() {
            self.insert(id);
        }
        (found, Cost { verifications, ..cost })
    }

    fn bytes(&self) -> usize {
        let postings: usize = self.lists.iter().map(Vec::capacity).sum();
        postings * size_of::<Posting>()
            + self.lists.capacity() * size_of::<Vec<Posting>>()
            + self.ids.capacity() * size_of::<Sequence>()
            + self.sketches.capacity() * size_of::<Sketch>()
            + self.gains.capacity() * size_of::<Gain>()
    }
}

/// Returns the record's newest terms that hold more than `1 − t` of its mass.
fn prefix(record: &Record, threshold: Threshold) -> impl Iterator<Item = Step> + '_ {
    let total = record.total();
    let may_be_lost = u128::from(Threshold::ONE - threshold.millionths()) * u128::from(total);
    let mut passed = 0;
    let mut terms = record.terms().iter().rev();
    std::iter::from_fn(move || {
        if u128::from(passed) * u128::from(Threshold::ONE) > may_be_lost {
            return None;
        }
        let &(term, weight) = terms.next()?;
        passed += u64::from(weight);
        Some(Step { term, share: share(weight.into(), total), rest: share(total - passed, total) })
    })
}

/// Returns a share of the total mass, rounded up.
fn share(part: u64, total: u64) -> u16 {
    (u128::from(part) * u128::from(WHOLE)).div_ceil(total.max(1).into()) as u16
}
