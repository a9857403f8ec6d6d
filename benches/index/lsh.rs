//! MinHash with banding, by the crate `gaoya`, with exact comparison of its candidates. It loses matches that share no
//! band.
//!
//! Buckets are lists instead of sets, as its author advises for insert-only use. All candidates are compared exactly; a
//! threshold on signatures would only lose more.

use std::mem::size_of;

use gaoya::minhash::{MinHashIndex, MinHasher, MinHasher32, VecContainer};
use ndcrawl::model::{Sequence, Threshold};
use ndcrawl::similarity::{Record, reaches};

use crate::contender::{Contender, Cost};

/// Overhead of an allocation in bytes.
const PIECE: usize = 16;
/// Initial capacity of a list.
const FIRST: usize = 4;

pub struct Lsh<'a, H> {
    records: &'a [Record],
    hasher: H,
    index: MinHashIndex<u32, u32, VecContainer<u32>>,
    bands: usize,
    rows: usize,
}

/// Returns an empty index with so many bands of so many hashes.
pub fn lsh(records: &[Record], bands: usize, rows: usize) -> Lsh<'_, impl MinHasher<V = u32>> {
    let index = MinHashIndex::new_index(bands, rows, 0.0);
    Lsh { records, hasher: MinHasher32::new(bands * rows), index, bands, rows }
}

impl<H: MinHasher<V = u32>> Lsh<'_, H> {
    fn sign(&self, record: &Record) -> Vec<u32> {
        self.hasher.create_signature(record.terms().iter().map(|(term, _)| term.0))
    }

    fn cost(&self, candidates: usize, verifications: usize) -> Cost {
        Cost {
            postings: self.bands as u64,
            sketches: candidates as u64,
            candidates: candidates as u64,
            verifications: verifications as u64,
        }
    }
}

impl<H: MinHasher<V = u32>> Contender for Lsh<'_, H> {
    fn insert(&mut self, id: Sequence) {
        let signature = self.sign(&self.records[id.index()]);
        self.index.insert(id.0, signature);
    }

    fn probe(&mut self, probe: &Record, threshold: Threshold, found: &mut Vec<Sequence>) -> Cost {
        let candidates = self.index.query(&self.sign(probe));
        let matching = |id: &Sequence| reaches(probe, &self.records[id.index()], threshold);
        found.clear();
        found.extend(candidates.iter().map(|&&id| Sequence(id)).filter(matching));
        self.cost(candidates.len(), candidates.len())
    }

    fn admit(&mut self, id: Sequence, threshold: Threshold) -> (Option<Sequence>, Cost) {
        let record = &self.records[id.index()];
        // One signature serves lookup and insertion.
        let signature = self.sign(record);
        let candidates = self.index.query(&signature);
        let mut compared = 0;
        let mut ids = candidates.iter().map(|&&id| Sequence(id)).inspect(|_| compared += 1);
        let found = ids.find(|id| reaches(record, &self.records[id.index()], threshold));
        let cost = self.cost(candidates.len(), compared);
        if found.is_none() {
            self.index.insert(id.0, signature);
        }
        (found, cost)
    }

    /// Estimates the memory as if no two records shared a bucket.
    fn bytes(&self) -> usize {
        let records = self.index.size();
        let entries = (records * 8 / 7).next_power_of_two();
        let bucket = size_of::<u64>() + size_of::<Vec<u32>>() + 1;
        let list = FIRST * size_of::<u32>() + PIECE;
        let signature = self.bands * self.rows * size_of::<u32>() + PIECE;
        let named = size_of::<(u32, Vec<u32>)>() + 1;
        entries * (self.bands * bucket + named) + records * (self.bands * list + signature)
    }
}
