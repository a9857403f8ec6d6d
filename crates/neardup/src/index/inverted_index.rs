//! The exact index: an inverted index of terms, read by mass.
//!
//! **The paper.** Section 3: prefix filtering (records that share no rare term cannot be similar), then positional
//! filtering (bound the overlap by what is left after a shared term). Both *count* terms, equations (1) to (3).
//!
//! **The difference.** MWO weighs terms, so this index bounds weight, not counts;
//! [`PrefixFilter`](super::PrefixFilter) tells what counting loses. All terms are indexed, so no common order of
//! terms is needed, and one index serves every threshold:
//!
//! 1. *Prefix*: read the lists of the probe's terms, the shortest first, until what is unread weighs less than the
//!    threshold. A record in none of them shares less than that. A record met in a list gains `min(q_x, share)`; what it
//!    gained and what is unread bound its overlap. The records whose bound reaches the goal are the candidates, C.
//! 2. *Refine*: as long as the next list is shorter than the comparisons that it may spare, read it for the candidates
//!    alone, which lowers their bounds. Those that are left are the mezzanine, M.
//!
//! All shares are rounded up ([`quantize`](super::quantize)), so no match is lost. The index decides nothing.
//!
//! **Cost.** Time is that of the postings read, some nanoseconds each: lists grow with the store. Memory: 8 bytes a posting,
//! 24 a term, and 4 a record for each thread that probes. `docs/design/index.md` has measurements.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::io::{self, Read, Write};
use std::ops::ControlFlow;

use super::quantize::{WHOLE, at_most, goal, shares_of};
use super::{Candidate, CandidateIndex, ProbeCounters, Visit};
use crate::model::arrays::{invalid, read_array, read_number, write_array, write_number};
use crate::model::{Sequence, TermId, Threshold};

/// Postings that take as much time as one exact comparison, reading the record included.
const POSTINGS_PER_COMPARISON: usize = 64;

thread_local! {
    /// What each record has gained in the probe that runs: working memory, all 0 between probes.
    static GAINS: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

/// An inverted index that loses no match, at any threshold.
#[derive(Debug, Default)]
pub struct InvertedIndex {
    /// By term.
    lists: Vec<Vec<Posting>>,
    records: usize,
    /// One more than the greatest number of a record.
    places: usize,
}

/// A record that has the term, and the term's share of its weight.
#[derive(Clone, Copy, Debug)]
struct Posting {
    id: Sequence,
    share: u16,
}

impl CandidateIndex for InvertedIndex {
    fn insert(&mut self, id: Sequence, terms: &[(TermId, u32)]) {
        for (term, share) in shares_of(terms) {
            if self.lists.len() <= term.index() {
                self.lists.resize_with(term.index() + 1, Vec::new);
            }
            self.lists[term.index()].push(Posting { id, share });
        }
        self.records += 1;
        self.places = self.places.max(id.index() + 1);
    }

    fn probe(&self, terms: &[(TermId, u32)], threshold: Threshold, visit: &mut Visit<'_>) -> ProbeCounters {
        let (mut counters, mut least) = (ProbeCounters::default(), goal(threshold));
        let bounds = GAINS.with_borrow_mut(|gains| self.bounds(terms, least, gains, &mut counters));
        for (Reverse(bound), id) in bounds {
            if bound < least {
                break;
            }
            match visit(Candidate { id, at_most: at_most(bound) }) {
                ControlFlow::Continue(threshold) => least = goal(threshold),
                ControlFlow::Break(()) => break,
            }
        }
        counters
    }

    fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        let postings = || self.lists.iter().flatten();
        write_number(out, self.records as u64)?;
        write_array(out, &self.lists.iter().map(|list| list.len() as u64).collect::<Vec<_>>())?;
        write_array(out, &postings().map(|posting| posting.id.0).collect::<Vec<_>>())?;
        write_array(out, &postings().map(|posting| posting.share).collect::<Vec<_>>())
    }

    fn load(&mut self, input: &mut dyn Read) -> io::Result<()> {
        let records = read_number::<u64>(input)? as usize;
        let lengths: Vec<u64> = read_array(input)?;
        let (ids, shares): (Vec<u32>, Vec<u16>) = (read_array(input)?, read_array(input)?);
        let all = lengths.iter().try_fold(0u64, |sum, length| sum.checked_add(*length));
        if ids.len() != shares.len() || all != Some(ids.len() as u64) {
            return Err(invalid("the lists of the index do not agree"));
        }
        let places = ids.iter().max().map_or(0, |id| *id as usize + 1);
        let mut postings = ids.into_iter().map(Sequence).zip(shares).map(|(id, share)| Posting { id, share });
        let lists = lengths.into_iter().map(|length| postings.by_ref().take(length as usize).collect()).collect();
        *self = Self { lists, records, places };
        Ok(())
    }

    fn len(&self) -> usize {
        self.records
    }

    fn bytes(&self) -> usize {
        let postings: usize = self.lists.iter().map(Vec::capacity).sum();
        postings * size_of::<Posting>() + self.lists.capacity() * size_of::<Vec<Posting>>()
    }
}

impl InvertedIndex {
    /// Returns the records whose bound reaches `least`, the highest bounds first. `gains` are all 0 before and after.
    fn bounds(
        &self,
        terms: &[(TermId, u32)],
        least: u32,
        gains: &mut Vec<u32>,
        counters: &mut ProbeCounters,
    ) -> Vec<(Reverse<u32>, Sequence)> {
        let mut lists: Vec<(&[Posting], u16, TermId)> =
            shares_of(terms).map(|(term, share)| (self.list(term), share, term)).collect();
        lists.sort_unstable_by_key(|&(list, share, term)| (list.len(), Reverse(share), term));
        gains.resize(gains.len().max(self.places), 0);
        let mut unread: u32 = lists.iter().map(|(_, share, _)| u32::from(*share)).sum();
        let (mut met, mut lists) = (Vec::<Sequence>::new(), lists.into_iter());
        while unread >= least {
            let Some((list, share, _)) = lists.next() else { break };
            unread -= u32::from(share);
            counters.postings += list.len() as u64;
            for posting in list {
                let gain = &mut gains[posting.id.index()];
                if *gain == 0 {
                    met.push(posting.id);
                }
                *gain += u32::from(share.min(posting.share));
            }
        }
        keep_those_that_reach(least, unread, &mut met, gains);
        counters.candidates = met.len() as u64;
        for (list, share, _) in lists {
            if list.len() > met.len() * POSTINGS_PER_COMPARISON {
                break;
            }
            unread -= u32::from(share);
            counters.postings += list.len() as u64;
            for posting in list {
                let gain = &mut gains[posting.id.index()];
                if *gain > 0 {
                    *gain += u32::from(share.min(posting.share));
                }
            }
            keep_those_that_reach(least, unread, &mut met, gains);
        }
        counters.mezzanine = met.len() as u64;
        let mut bound = |id: Sequence| WHOLE.min(std::mem::take(&mut gains[id.index()]) + unread);
        let mut bounds: Vec<_> = met.into_iter().map(|id| (Reverse(bound(id)), id)).collect();
        bounds.sort_unstable();
        bounds
    }

    fn list(&self, term: TermId) -> &[Posting] {
        self.lists.get(term.index()).map_or(&[], Vec::as_slice)
    }
}

/// Keeps the records whose gain and all that is unread reach `least`; the others have gained nothing.
fn keep_those_that_reach(least: u32, unread: u32, met: &mut Vec<Sequence>, gains: &mut [u32]) {
    met.retain(|id| {
        let gain = &mut gains[id.index()];
        let reaches = *gain + unread >= least;
        if !reaches {
            *gain = 0;
        }
        reaches
    });
}
