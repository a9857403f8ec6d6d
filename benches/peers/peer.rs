//! The interface of a peer: a signature of a text, and a score of two signatures.

use ndcrawl::model::Threshold;
use xxhash_rust::xxh3::xxh3_64;

use crate::minhash::MinHash;
use crate::profile::Profile;
use crate::simhash::SimHash;

/// The score 1.
pub const ONE: u32 = Threshold::ONE;

/// The signature of a page: numbers that each peer interprets.
#[derive(Clone, Debug, Default)]
pub struct Signature {
    /// A list of fixed length.
    pub numbers: Vec<u64>,
    /// A set, ascending.
    pub set: Vec<u64>,
}

/// A detector of other software.
pub trait Peer: Sync {
    fn name(&self) -> &'static str;

    /// Returns the signature of a text, given as words.
    fn sign(&self, words: &[String]) -> Signature;

    /// Returns the score in millionths.
    fn score(&self, a: &Signature, b: &Signature) -> u32;

    /// Returns the settings to try, as minimum scores, ascending.
    fn thresholds(&self) -> Vec<Threshold>;

    /// Returns the default setting.
    fn usual(&self) -> Threshold;

    /// Describes the setting of a threshold.
    fn setting(&self, threshold: Threshold) -> String;

    fn again(&self) -> Box<dyn Peer>;
}

pub fn peers() -> Vec<Box<dyn Peer>> {
    vec![Box::new(Digest), Box::new(SimHash), Box::new(MinHash), Box::new(Profile)]
}

pub fn threshold(millionths: u32) -> Threshold {
    Threshold::from_millionths(millionths.min(ONE)).unwrap()
}

/// The peer that compares a digest of all words in order.
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
