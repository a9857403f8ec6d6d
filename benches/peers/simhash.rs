//! 64-bit simhash: each occurrence of a word votes on each bit.
//!
//! Pages are near-duplicates if at most k bits differ. Manku, Jain and Das Sarma chose k = 3 for eight billion pages.

use ndcrawl::model::Threshold;
use xxhash_rust::xxh3::xxh3_64;

use crate::peer::{ONE, Peer, Signature, threshold};

const BITS: u32 = 64;
const USUAL: u32 = 3;
/// Unrelated pages differ in about 32 bits.
const MOST: u32 = 31;

pub struct SimHash;

/// Returns the score of pages that differ in so many bits.
fn alike(differing: u32) -> u32 {
    ONE / BITS * (BITS - differing)
}

impl Peer for SimHash {
    fn name(&self) -> &'static str {
        "simhash"
    }

    fn sign(&self, words: &[String]) -> Signature {
        let mut votes = [0i64; BITS as usize];
        for word in words {
            let hash = xxh3_64(word.as_bytes());
            for (bit, vote) in votes.iter_mut().enumerate() {
                *vote += if hash >> bit & 1 == 1 { 1 } else { -1 };
            }
        }
        let bits = votes.iter().enumerate().fold(0, |bits, (bit, vote)| bits | u64::from(*vote > 0) << bit);
        Signature { numbers: vec![bits], set: Vec::new() }
    }

    fn score(&self, a: &Signature, b: &Signature) -> u32 {
        alike((a.numbers[0] ^ b.numbers[0]).count_ones())
    }

    fn thresholds(&self) -> Vec<Threshold> {
        (0..=MOST).rev().map(|differing| threshold(alike(differing))).collect()
    }

    fn usual(&self) -> Threshold {
        threshold(alike(USUAL))
    }

    fn setting(&self, threshold: Threshold) -> String {
        format!("k = {}", BITS - threshold.millionths() / (ONE / BITS))
    }

    fn again(&self) -> Box<dyn Peer> {
        Box::new(Self)
    }
}
