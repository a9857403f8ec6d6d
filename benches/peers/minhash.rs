//! MinHash by the crate `gaoya`. Pages that agree in one of 16 bands of 8 hashes are compared exactly, by the Jaccard
//! coefficient of their 5-word shingles.

use gaoya::minhash::{MinHasher, MinHasher64V1};
use ndcrawl::model::Threshold;
use xxhash_rust::xxh3::xxh3_64;

use crate::peer::{ONE, Peer, Signature, threshold};

const BANDS: usize = 16;
const ROWS: usize = 8;
const RUN: usize = 5;
const USUAL: u32 = ONE / 10 * 8;
const HUNDREDTH: u32 = ONE / 100;

pub struct MinHash;

impl Peer for MinHash {
    fn name(&self) -> &'static str {
        "MinHash 16x8"
    }

    fn sign(&self, words: &[String]) -> Signature {
        let mut set: Vec<u64> =
            words.windows(RUN.min(words.len()).max(1)).map(|run| xxh3_64(run.join(" ").as_bytes())).collect();
        set.sort_unstable();
        set.dedup();
        let hashes = MinHasher64V1::new(BANDS * ROWS).create_signature(set.iter());
        let band = |rows: &[u64]| xxh3_64(&rows.iter().flat_map(|row| row.to_le_bytes()).collect::<Vec<u8>>());
        let numbers = if set.is_empty() { Vec::new() } else { hashes.chunks(ROWS).map(band).collect() };
        Signature { numbers, set }
    }

    fn score(&self, a: &Signature, b: &Signature) -> u32 {
        let is_candidate = a.numbers.iter().zip(&b.numbers).any(|(a, b)| a == b);
        if is_candidate { jaccard(&a.set, &b.set) } else { 0 }
    }

    fn thresholds(&self) -> Vec<Threshold> {
        (5..100).map(|hundredths| threshold(hundredths * HUNDREDTH)).collect()
    }

    fn usual(&self) -> Threshold {
        threshold(USUAL)
    }

    fn setting(&self, threshold: Threshold) -> String {
        format!("J ≥ {threshold}")
    }

    fn again(&self) -> Box<dyn Peer> {
        Box::new(Self)
    }
}

/// Returns the Jaccard coefficient of two ascending sets, in millionths.
fn jaccard(a: &[u64], b: &[u64]) -> u32 {
    let mut rest = b.iter().peekable();
    let mut both = 0u64;
    for number in a {
        while rest.next_if(|other| *other < number).is_some() {}
        both += u64::from(rest.next_if(|other| *other == number).is_some());
    }
    let either = (a.len() + b.len()) as u64 - both;
    (both * u64::from(ONE)).checked_div(either).unwrap_or_default() as u32
}
