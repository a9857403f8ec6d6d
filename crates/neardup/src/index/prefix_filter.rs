//! The filters as published, for comparison and reproduction.
//!
//! "Web Document Duplicate Detection Using Minimum Weight Overlapping", section 3, with `|r|` the number of distinct
//! terms, positions counted from one, and terms in canonical order:
//!
//! ```text
//! (1)  prefix length = |r| − ⌊t·|r|⌋ + 1
//! (2)  O = t / (1 + t) · (|r| + |r_i|)
//! (3)  ubound = 1 + min(|r| − p, |r_i| − q)
//! ```
//!
//! `C` is the set of records that share a term with the probe inside both prefixes. `M` is the subset with `ubound ≥
//! O` at some shared prefix term. The first shared term has the largest `ubound`, since both positions only grow. So
//! one check a record is enough.
//!
//! | paper | here |
//! |---|---|
//! | canonical order | rising document frequency over the stored records at the moment of the probe (the paper's first choice), ties by term id |
//! | `⌊t·\|r\|⌋`, `ubound ≥ O` | in integers, with `t` in millionths |
//! | a prefix longer than the record | the whole record |
//!
//! **What it loses.** (1) to (3) bound the Jaccard similarity of the term *sets*. MWO weighs: two pages that agree in
//! their heavy terms reach `MWO ≥ t` with a Jaccard similarity well below `t`, and are never compared. On 12,288
//! pages of nineteen documentation sites it lost 58 of 3,654 near-duplicates at t = 0.8. Where they are fewer and
//! looser it loses more: 35 of 212 on nine of these sites.
//!
//! **Cost.** Every posting of the probe's prefix terms costs a pass over that record's terms, since the order moves
//! with the document frequencies. Memory: 8 bytes a posting, 24 a term and record.

use std::collections::HashSet;
use std::io::{self, Read, Write};

use super::{Candidate, CandidateIndex, ProbeCounters, Visit};
use crate::model::arrays::{read_array, write_array};
use crate::model::{Score, Sequence, TermId, Threshold};

/// Prefix and positional filter by term count. It loses matches but invents none.
#[derive(Debug, Default)]
pub struct PrefixFilter {
    /// Records by term id, numbered in order of insertion. Their number is the term's document frequency.
    lists: Vec<Vec<u32>>,
    ids: Vec<Sequence>,
    /// The terms of each record.
    records: Vec<Box<[TermId]>>,
}

impl CandidateIndex for PrefixFilter {
    fn insert(&mut self, id: Sequence, terms: &[(TermId, u32)]) {
        let record = self.ids.len() as u32;
        for &(term, _) in terms {
            if self.lists.len() <= term.index() {
                self.lists.resize_with(term.index() + 1, Vec::new);
            }
            self.lists[term.index()].push(record);
        }
        self.ids.push(id);
        self.records.push(terms.iter().map(|&(term, _)| term).collect());
    }

    fn probe(&self, terms: &[(TermId, u32)], threshold: Threshold, visit: &mut Visit<'_>) -> ProbeCounters {
        let mut counters = ProbeCounters::default();
        let mut canonical: Vec<TermId> = terms.iter().map(|&(term, _)| term).collect();
        canonical.sort_unstable_by_key(|&term| self.place(term));
        let mut seen = HashSet::new();
        let mut candidates = Vec::new();
        for (p, &term) in (1..).zip(&canonical[..prefix_length(canonical.len(), threshold)]) {
            for &record in self.lists.get(term.index()).into_iter().flatten() {
                counters.postings += 1;
                if !seen.insert(record) {
                    continue;
                }
                let other = &self.records[record as usize];
                let q = self.position(term, other);
                if q > prefix_length(other.len(), threshold) {
                    continue;
                }
                counters.candidates += 1;
                let bound = 1 + (canonical.len() - p).min(other.len() - q);
                if reaches_overlap(bound, canonical.len() + other.len(), threshold) {
                    candidates.push(self.ids[record as usize]);
                }
            }
        }
        candidates.sort_unstable();
        counters.mezzanine = candidates.len() as u64;
        for id in candidates {
            if visit(Candidate { id, at_most: Score(Threshold::ONE) }).is_break() {
                break;
            }
        }
        counters
    }

    fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        write_array(out, &self.ids.iter().map(|id| id.0).collect::<Vec<_>>())?;
        self.records
            .iter()
            .try_for_each(|record| write_array(out, &record.iter().map(|term| term.0).collect::<Vec<_>>()))
    }

    fn load(&mut self, input: &mut dyn Read) -> io::Result<()> {
        *self = Self::default();
        for id in read_array(input)? {
            let terms: Vec<u32> = read_array(input)?;
            let terms: Vec<_> = terms.into_iter().map(|term| (TermId(term), 1)).collect();
            self.insert(Sequence(id), &terms);
        }
        Ok(())
    }

    fn len(&self) -> usize {
        self.ids.len()
    }

    fn bytes(&self) -> usize {
        let postings: usize = self.lists.iter().map(Vec::capacity).sum();
        let terms: usize = self.records.iter().map(|record| record.len()).sum();
        postings * size_of::<u32>()
            + self.lists.capacity() * size_of::<Vec<u32>>()
            + terms * size_of::<TermId>()
            + self.records.capacity() * size_of::<Box<[TermId]>>()
            + self.ids.capacity() * size_of::<Sequence>()
    }
}

impl PrefixFilter {
    /// Returns the sort key of the canonical order.
    fn place(&self, term: TermId) -> (usize, TermId) {
        (self.lists.get(term.index()).map_or(0, Vec::len), term)
    }

    /// Returns the position of a term in a record brought into canonical order, counted from one.
    fn position(&self, term: TermId, record: &[TermId]) -> usize {
        let place = self.place(term);
        1 + record.iter().filter(|&&other| self.place(other) < place).count()
    }
}

/// Evaluates equation (1); at most the whole record.
fn prefix_length(terms: usize, threshold: Threshold) -> usize {
    let t = u64::from(threshold.millionths());
    let kept = terms as u64 * t / u64::from(Threshold::ONE);
    terms.min(terms - kept as usize + 1)
}

/// Returns whether `bound ≥ t / (1 + t) · both`: equation (2).
fn reaches_overlap(bound: usize, both: usize, threshold: Threshold) -> bool {
    let t = u64::from(threshold.millionths());
    bound as u64 * (u64::from(Threshold::ONE) + t) >= t * both as u64
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;

    fn threshold(millionths: u32) -> Threshold {
        Threshold::from_millionths(millionths).unwrap()
    }

    fn terms(ids: impl IntoIterator<Item = u32>) -> Vec<(TermId, u32)> {
        ids.into_iter().map(|id| (TermId(id), 100)).collect()
    }

    fn probe(filter: &PrefixFilter, terms: &[(TermId, u32)]) -> (ProbeCounters, Vec<Sequence>) {
        let mut candidates = Vec::new();
        let counters = filter.probe(terms, threshold(800_000), &mut |candidate| {
            candidates.push(candidate.id);
            ControlFlow::Continue(threshold(800_000))
        });
        (counters, candidates)
    }

    #[test]
    fn the_prefix_length_is_equation_1() {
        let lengths = |t| [0, 1, 4, 10].map(|terms| prefix_length(terms, threshold(t)));
        assert_eq!(lengths(0), [0, 1, 4, 10]);
        assert_eq!(lengths(500_000), [0, 1, 3, 6]);
        assert_eq!(lengths(800_000), [0, 1, 2, 3]);
        assert_eq!(lengths(1_000_000), [0, 1, 1, 1]);
    }

    #[test]
    fn the_overlap_bound_is_equation_2_ties_included() {
        assert!(reaches_overlap(8, 18, threshold(800_000)));
        assert!(!reaches_overlap(7, 18, threshold(800_000)));
    }

    #[test]
    fn a_record_that_shares_only_frequent_terms_is_no_candidate() {
        let mut filter = PrefixFilter::default();
        for record in 0..20 {
            filter.insert(Sequence(record), &terms((0..8).chain(100 + 4 * record..104 + 4 * record)));
        }
        let (counters, _) = probe(&filter, &terms((0..8).chain(900..904)));
        assert_eq!((counters.candidates, counters.mezzanine), (0, 0));
        let (counters, candidates) = probe(&filter, &terms((0..8).chain(100..104)));
        assert_eq!((counters.candidates, counters.mezzanine), (1, 1));
        assert_eq!(candidates, [Sequence(0)]);
    }

    #[test]
    fn a_much_longer_record_is_a_candidate_that_the_positional_filter_drops() {
        let mut filter = PrefixFilter::default();
        filter.insert(Sequence(0), &terms(0..40));
        let (counters, _) = probe(&filter, &terms(0..4));
        assert_eq!((counters.candidates, counters.mezzanine), (1, 0));
    }

    #[test]
    fn it_loses_a_match_that_rests_on_weight() {
        let heavy = |rare: u32| [vec![(TermId(0), 9_000)], terms(rare..rare + 9)].concat();
        let mut filter = PrefixFilter::default();
        filter.insert(Sequence(0), &heavy(100));
        filter.insert(Sequence(1), &heavy(200));
        let (_, candidates) = probe(&filter, &heavy(300));
        assert!(candidates.is_empty(), "MWO is 0.909, and no prefix term is shared");
    }
}
