//! The exact index of this crate. Only this file uses its interface.

use std::ops::ControlFlow;

use ndcrawl::index::{CandidateIndex, InvertedIndex, ProbeCounters, Scratch};
use ndcrawl::model::{Sequence, Threshold};
use ndcrawl::similarity::{Record, reaches};

use crate::contender::{Contender, Cost};

/// Maximum records that the decider files at a time.
const FILE_AFTER: usize = 16;

pub struct Ours<'a> {
    records: &'a [Record],
    pub filter: InvertedIndex,
    scratch: Scratch,
}

impl<'a> Ours<'a> {
    pub fn new(records: &'a [Record]) -> Self {
        Self { records, filter: InvertedIndex::default(), scratch: Scratch::default() }
    }
}

impl Contender for Ours<'_> {
    fn insert(&mut self, id: Sequence) {
        self.filter.insert(id, self.records[id.index()].terms());
        if self.filter.len().is_multiple_of(FILE_AFTER) {
            self.filter.file_records();
        }
    }

    fn probe(&mut self, probe: &Record, threshold: Threshold, found: &mut Vec<Sequence>) -> Cost {
        look_up(&self.filter, self.records, &mut self.scratch, probe, threshold, found)
    }

    fn admit(&mut self, id: Sequence, threshold: Threshold) -> (Option<Sequence>, Cost) {
        let record = &self.records[id.index()];
        let (mut found, mut compared) = (None, 0);
        let counters = self.filter.probe(&mut self.scratch, record.terms(), threshold, &mut |suspect| {
            compared += 1;
            if reaches(record, &self.records[suspect.id.index()], threshold) {
                found = Some(suspect.id);
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(threshold)
        });
        if found.is_none() {
            self.insert(id);
        }
        (found, cost(counters, compared))
    }

    fn bytes(&self) -> usize {
        self.filter.bytes()
    }
}

/// Returns all matches of a probe; usable from any thread.
pub fn look_up(
    filter: &InvertedIndex,
    records: &[Record],
    scratch: &mut Scratch,
    probe: &Record,
    threshold: Threshold,
    found: &mut Vec<Sequence>,
) -> Cost {
    let mut compared = 0;
    found.clear();
    let counters = filter.probe(scratch, probe.terms(), threshold, &mut |suspect| {
        compared += 1;
        if reaches(probe, &records[suspect.id.index()], threshold) {
            found.push(suspect.id);
        }
        ControlFlow::Continue(threshold)
    });
    cost(counters, compared)
}

fn cost(counters: ProbeCounters, compared: u64) -> Cost {
    Cost {
        postings: counters.postings,
        sketches: counters.sketches,
        candidates: counters.candidates,
        verifications: compared,
    }
}
