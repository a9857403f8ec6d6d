//! The exact index of this crate. All that is known of its interface stands here.

use ndcrawl::filter::{Exact, Filter, ProbeCounters, Suspect};
use ndcrawl::record::{Sequence, Threshold};
use ndcrawl::verify::{Record, reaches};

use crate::contender::{Contender, Cost};

pub struct Ours<'a> {
    records: &'a [Record],
    filter: Exact,
    suspects: Vec<Suspect>,
}

impl<'a> Ours<'a> {
    pub fn new(records: &'a [Record]) -> Self {
        Self { records, filter: Exact::default(), suspects: Vec::new() }
    }
}

impl Contender for Ours<'_> {
    fn insert(&mut self, id: Sequence) {
        self.filter.insert(id, self.records[id.index()].terms());
    }

    fn probe(&mut self, probe: &Record, threshold: Threshold, found: &mut Vec<Sequence>) -> Cost {
        let counters = self.filter.probe(probe.terms(), threshold, &mut self.suspects);
        let matching = |suspect: &&Suspect| reaches(probe, &self.records[suspect.id.index()], threshold);
        found.clear();
        found.extend(self.suspects.iter().filter(matching).map(|suspect| suspect.id));
        cost(counters, self.suspects.len())
    }

    fn admit(&mut self, id: Sequence, threshold: Threshold) -> (Option<Sequence>, Cost) {
        let record = &self.records[id.index()];
        let counters = self.filter.probe(record.terms(), threshold, &mut self.suspects);
        let mut compared = 0;
        let mut suspects = self.suspects.iter().inspect(|_| compared += 1);
        let found = suspects.find(|suspect| reaches(record, &self.records[suspect.id.index()], threshold));
        let found = found.map(|suspect| suspect.id);
        if found.is_none() {
            self.insert(id);
        }
        (found, cost(counters, compared))
    }

    fn bytes(&self) -> usize {
        self.filter.bytes()
    }
}

fn cost(counters: ProbeCounters, compared: usize) -> Cost {
    Cost {
        postings: counters.postings,
        sketches: counters.sketches,
        candidates: counters.candidates,
        verifications: compared as u64,
    }
}
