//! The exact filter: a full inverted index from which each probe reads what it needs.
//!
//! **What the paper says.** Section 3: prefix filtering (records that share no rare term cannot be
//! similar), then positional filtering (bound the overlap by what is left after a shared term), both
//! by *counting* terms, equations (1)-(3).
//!
//! **Where we differ.** MWO weighs terms, so we bound mass, not counts; see [`Paper`](super::Paper)
//! for what counting loses. All terms are indexed, so neither a common order of terms nor stable
//! document frequencies are needed, and one index serves every threshold:
//!
//! 1. *Plan* (the prefix, restated): choose lists, and how deep each is read, until what stays
//!    unread is below the threshold.
//! 2. *Accumulate*: a record met in a list gains `min(q_x, share) − θ_x`, the share rounded up to
//!    its class. Unseen mass plus gains bounds its overlap: records for which that reaches the goal
//!    are the candidates, C.
//! 3. *Sketch* (in place of the positional filter): those whose 64-byte sketch reaches the goal too
//!    are the suspects, M.
//!
//! All shares are rounded up, so nothing that matches is lost; nothing is decided here.
//!
//! **Cost.** A probe plans in about 0.1 µs a term, reads some hundredths to tenths of a posting per
//! stored record at t = 0.8, and more as t falls; it grows in proportion to the records. Memory: 8
//! or about 4 bytes a posting, 24 a term, 74 a record.

use std::mem::size_of;

use super::lists::{List, Posting};
use super::plan::Plan;
use super::sketch::Sketch;
use super::units::{at_most, goal, quantise};
use super::{Filter, ProbeCounters, Suspect};
use crate::record::{Sequence, TermId, Threshold};

/// Loses no match, at any threshold.
#[derive(Debug, Default)]
pub struct Exact {
    /// By term id.
    lists: Vec<List>,
    list_bytes: usize,
    /// Inside, records are numbered in order of arrival: what each is called outside.
    ids: Vec<Sequence>,
    sketches: Vec<Sketch>,
    /// What each record has gained in the current probe; all 0 between probes.
    gains: Vec<u32>,
    shares: Vec<(TermId, u16)>,
    plan: Plan,
    reached: Vec<u32>,
}

impl Filter for Exact {
    fn insert(&mut self, id: Sequence, terms: &[(TermId, u32)]) {
        quantise(terms, &mut self.shares);
        let record = self.ids.len() as u32;
        for &(term, share) in &self.shares {
            if self.lists.len() <= term.index() {
                self.lists.resize_with(term.index() + 1, List::default);
            }
            self.list_bytes += self.lists[term.index()].push(Posting { record, share });
        }
        self.ids.push(id);
        self.sketches.push(Sketch::new(&self.shares));
        self.gains.push(0);
    }

    fn probe(&mut self, terms: &[(TermId, u32)], threshold: Threshold, suspects: &mut Vec<Suspect>) -> ProbeCounters {
        let goal = goal(threshold);
        quantise(terms, &mut self.shares);
        self.plan.make(&self.shares, &self.lists, goal);
        let postings = self.accumulate(goal - self.plan.unseen());
        self.compare_sketches(goal, suspects);
        self.clear(postings);
        suspects.sort_unstable_by_key(|suspect| (std::cmp::Reverse(suspect.at_most), suspect.id));
        let candidates = self.reached.len() as u64;
        ProbeCounters {
            postings: postings as u64,
            sketches: candidates,
            candidates,
            mezzanine: suspects.len() as u64,
            verifications: 0,
        }
    }

    fn len(&self) -> usize {
        self.ids.len()
    }

    fn bytes(&self) -> usize {
        self.list_bytes
            + self.lists.capacity() * size_of::<List>()
            + self.ids.capacity() * size_of::<Sequence>()
            + self.sketches.capacity() * size_of::<Sketch>()
            + self.gains.capacity() * size_of::<u32>()
    }
}

impl Exact {
    /// Reads the planned lists; notes each record once, when its gains reach the mark. Returns the
    /// number of postings read.
    fn accumulate(&mut self, mark: u32) -> usize {
        self.reached.clear();
        let mut postings = 0;
        for opening in self.plan.openings() {
            let (gains, reached) = (&mut self.gains, &mut self.reached);
            self.lists[opening.term.index()].for_each(opening.from.into(), |record, bound| {
                let gain = &mut gains[record as usize];
                let before = *gain;
                *gain += u32::from(opening.share.min(bound) - opening.floor);
                if before < mark && *gain >= mark {
                    reached.push(record);
                }
                postings += 1;
            });
        }
        postings
    }

    fn compare_sketches(&self, goal: u32, suspects: &mut Vec<Suspect>) {
        suspects.clear();
        let probe = Sketch::new(&self.shares);
        for &record in &self.reached {
            let record = record as usize;
            let gained = self.plan.unseen() + self.gains[record];
            let bound = probe.bound(&self.sketches[record]).min(gained);
            if bound >= goal {
                suspects.push(Suspect { id: self.ids[record], at_most: at_most(bound) });
            }
        }
    }

    /// Sets all gains back to 0: one by one if few were touched, else all at a stroke.
    fn clear(&mut self, postings: usize) {
        if postings * 8 > self.gains.len() {
            return self.gains.fill(0);
        }
        for opening in self.plan.openings() {
            let gains = &mut self.gains;
            self.lists[opening.term.index()].for_each(opening.from.into(), |record, _| gains[record as usize] = 0);
        }
    }

    #[cfg(test)]
    pub(super) fn is_clear(&self) -> bool {
        self.gains.iter().all(|&gain| gain == 0)
    }
}
