//! What a peer is: a signature of a text, and a score of two signatures.

use ndcrawl::model::Threshold;
use xxhash_rust::xxh3::xxh3_64;

use crate::minhash::MinHash;
use crate::profile::Profile;
use crate::simhash::SimHash;

/// One, in the unit of scores.
pub const ONE: u32 = Threshold::ONE;

/// What is kept of a page: numbers, of which each peer makes its own sense.
#[derive(Clone, Debug, Default)]
pub struct Signature {
    /// Of fixed length.
    pub numbers: Vec<u64>,
    /// A set, ascending.
    pub set: Vec<u64>,
}

/// A detector of somebody else.
pub trait Peer: Sync {
    fn name(&self) -> &'static str;

    /// The signature of a text, given as words.
    fn sign(&self, words: &[String]) -> Signature;

    /// In millionths.
    fn score(&self, a: &Signature, b: &Signature) -> u32;

    /// The settings that are tried, as scores that must be reached, ascending.
    fn thresholds(&self) -> Vec<Threshold>;

    /// The setting with which it comes.
    fn usual(&self) -> Threshold;

    /// What a threshold means.
    fn setting(&self, threshold: Threshold) -> String;

    fn again(&self) -> Box<dyn Peer>;
}

pub fn peers() -> Vec<Box<dyn Peer>> {
    vec![Box::new(Digest), Box::new(SimHash), Box::new(MinHash), Box::new(Profile)]
}

pub fn threshold(millionths: u32) -> Threshold {
    Threshold::from_millionths(millionths.min(ONE)).unwrap()
}

/// The same words in the same order.
struct Digest;

impl Peer for Digest {
    fn name(&self) -> &'static str {
        "digest of the text"
    }

    fn sign(&self, words: &[String]) -> Signature {
        Signature { numbers: vec![xxh3_64(words.join(" ").as_bytes())], set: Vec::new() }
    }

    fn score(&self, a: &Signature, b: &Signature) -> u32 {
        if a.numbers == b.numbers { ONE } else { 0 }
    }

    fn thresholds(&self) -> Vec<Threshold> {
        vec![self.usual()]
    }

    fn usual(&self) -> Threshold {
        threshold(ONE)
    }

    fn setting(&self, _: Threshold) -> String {
        "equal".to_owned()
    }

    fn again(&self) -> Box<dyn Peer> {
        Box::new(Self)
    }
}
