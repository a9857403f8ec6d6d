//! Brute force: compares every stored record.

use std::cmp::Ordering;

use ndcrawl::model::{Sequence, Threshold};
use ndcrawl::similarity::{Record, reaches};

use crate::contender::{Contender, Cost};

/// Merges both records completely. Shares no code with the code under test.
pub struct Plain<'a>(Store<'a>);

/// Ends a comparison early when a match is impossible: the crate's own verification.
pub struct Early<'a>(Store<'a>);

struct Store<'a> {
    records: &'a [Record],
    stored: Vec<Sequence>,
}

impl<'a> Plain<'a> {
    pub fn new(records: &'a [Record]) -> Self {
        Self(Store { records, stored: Vec::new() })
    }
}

impl<'a> Early<'a> {
    pub fn new(records: &'a [Record]) -> Self {
        Self(Store { records, stored: Vec::new() })
    }
}

impl Contender for Plain<'_> {
    fn insert(&mut self, id: Sequence) {
        self.0.stored.push(id);
    }

    fn probe(&mut self, probe: &Record, threshold: Threshold, found: &mut Vec<Sequence>) -> Cost {
        self.0.probe(found, |stored| matches(probe, stored, threshold))
    }

    fn admit(&mut self, id: Sequence, threshold: Threshold) -> (Option<Sequence>, Cost) {
        self.0.admit(id, |record, stored| matches(record, stored, threshold))
    }

    fn bytes(&self) -> usize {
        0
    }
}

impl Contender for Early<'_> {
    fn insert(&mut self, id: Sequence) {
        self.0.stored.push(id);
    }

    fn probe(&mut self, probe: &Record, threshold: Threshold, found: &mut Vec<Sequence>) -> Cost {
        self.0.probe(found, |stored| reaches(probe, stored, threshold))
    }

    fn admit(&mut self, id: Sequence, threshold: Threshold) -> (Option<Sequence>, Cost) {
        self.0.admit(id, |record, stored| reaches(record, stored, threshold))
    }

    fn bytes(&self) -> usize {
        0
    }
}

impl Store<'_> {
    fn probe(&self, found: &mut Vec<Sequence>, matches: impl Fn(&Record) -> bool) -> Cost {
        found.clear();
        found.extend(self.stored.iter().filter(|id| matches(&self.records[id.index()])));
        Cost { verifications: self.stored.len() as u64, ..Cost::default() }
    }

    fn admit(&mut self, id: Sequence, matches: impl Fn(&Record, &Record) -> bool) -> (Option<Sequence>, Cost) {
        let record = &self.records[id.index()];
        let place = self.stored.iter().position(|stored| matches(record, &self.records[stored.index()]));
        let verifications = place.map_or(self.stored.len(), |place| place + 1) as u64;
        let found = place.map(|place| self.stored[place]);
        if found.is_none() {
            self.stored.push(id);
        }
        (found, Cost { verifications, ..Cost::default() })
    }
}

/// Returns whether `MWO(a, b) ≥ threshold`, by definition.
pub fn matches(a: &Record, b: &Record, threshold: Threshold) -> bool {
    let product = u128::from(a.total()) * u128::from(b.total());
    let sum = overlap(a, b);
    sum > 0 && u128::from(Threshold::ONE) * sum >= u128::from(threshold.millionths()) * product
}

/// Returns `Σ min(c_a·W_b, c_b·W_a)`.
fn overlap(a: &Record, b: &Record) -> u128 {
    let (mut rest_a, mut rest_b) = (a.terms(), b.terms());
    // 128-bit numbers would make it needlessly slow.
    if u64::try_from(u128::from(a.total()) * u128::from(b.total())).is_ok() {
        let mut sum = 0;
        while let ([(term_a, count_a), after_a @ ..], [(term_b, count_b), after_b @ ..]) = (rest_a, rest_b) {
            match term_a.cmp(term_b) {
                Ordering::Less => rest_a = after_a,
                Ordering::Greater => rest_b = after_b,
                Ordering::Equal => {
                    sum += (u64::from(*count_a) * b.total()).min(u64::from(*count_b) * a.total());
                    (rest_a, rest_b) = (after_a, after_b);
                }
            }
        }
        return sum.into();
    }
    let common = |(term, count): &(_, u32)| {
        let place = b.terms().binary_search_by_key(term, |(term, _)| *term);
        let other = place.map_or(0, |place| b.terms()[place].1);
        (u128::from(*count) * u128::from(b.total())).min(u128::from(other) * u128::from(a.total()))
    };
    a.terms().iter().map(common).sum()
}
