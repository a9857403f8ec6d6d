//! The running text of a page, as detectors compare and logs keep it.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use xxhash_rust::xxh3::xxh3_64;

/// Words in a run ("shingle" in Broder's "On the resemblance and containment of documents").
///
/// On the labeled pages runs of 4 separate siblings of a template best; in longer ones scattered edits (typing
/// errors, synonyms) weigh too much.
pub const RUN: usize = 4;

/// The words of the visible text in order, and those of the page's name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningText {
    /// A hash of each word, in order. The lowest bit tells whether the word has a digit.
    #[serde(serialize_with = "pack", deserialize_with = "unpack")]
    pub words: Vec<u32>,
    /// The hashes of the words of the page's name (its first heading, and the first part of its title): ascending, each
    /// once.
    #[serde(serialize_with = "pack", deserialize_with = "unpack")]
    pub name: Vec<u32>,
}

impl RunningText {
    /// Stands for any stop word.
    pub const STOP_WORD: u32 = 0x5D58_8B64;

    /// Returns the hash of each run of [`RUN`] words, in order. A text shorter than a run has one.
    ///
    /// Cost: some nanoseconds a word.
    pub fn runs(&self) -> impl ExactSizeIterator<Item = u64> {
        self.runs_of(RUN)
    }

    /// Returns the hash of each run of so many words, in order. A text shorter than a run has one.
    pub fn runs_of(&self, words: usize) -> impl ExactSizeIterator<Item = u64> {
        self.words.windows(words.min(self.words.len()).max(1)).map(hash_of)
    }

    /// Returns the number of words that stand in no run that `has` accepts.
    pub fn words_outside(&self, has: impl Fn(u64) -> bool) -> usize {
        let (mut runs, mut covered) = (self.runs(), 0);
        let is_outside = |word: &usize| {
            if runs.next().is_some_and(&has) {
                covered = word + RUN;
            }
            *word >= covered
        };
        (0..self.words.len()).filter(is_outside).count()
    }

    /// Returns a hash of the name.
    pub fn name_hash(&self) -> u64 {
        xxh3_64(&bytes_of(&self.name))
    }

    /// Returns whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

/// Returns the hash of a run. The order of its words matters.
fn hash_of(run: &[u32]) -> u64 {
    let mixed = run
        .iter()
        .fold(0, |hash: u64, word| (hash ^ u64::from(*word)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29));
    // The smallest hashes represent a page, so the high bits must be as random as the low ones.
    let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    mixed ^ (mixed >> 32)
}

/// Hashes do not compress as integers of variable length: they are kept as bytes, little-endian.
fn pack<S: Serializer>(words: &[u32], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(&bytes_of(words))
}

fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn unpack<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u32>, D::Error> {
    struct Packed;
    impl Visitor<'_> for Packed {
        type Value = Vec<u32>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("the words of a text")
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u32>, E> {
            let (words, rest) = bytes.as_chunks::<4>();
            let words = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
            if rest.is_empty() { Ok(words) } else { Err(E::custom("a word of a text is cut short")) }
        }
    }
    deserializer.deserialize_bytes(Packed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn runs(words: &[u32]) -> Vec<u64> {
        RunningText { words: words.to_vec(), ..RunningText::default() }.runs().collect()
    }

    #[test]
    fn the_same_words_in_another_order_have_other_runs() {
        let (one, other) = (runs(&[0, 2, 4, 6, 8]), runs(&[0, 2, 4, 8, 6]));
        assert_eq!((one.len(), other.len()), (2, 2));
        assert!(one.iter().all(|run| !other.contains(run)));
        assert_eq!((runs(&[]).len(), runs(&[1, 2]).len()), (0, 1));
        assert_eq!(runs(&[0, 2, 4, 6, 0, 2, 4, 6])[0], runs(&[0, 2, 4, 6])[0]);
    }

    #[test]
    fn a_word_is_covered_by_any_run_around_it() {
        let text = |words: &[u32]| RunningText { words: words.to_vec(), ..RunningText::default() };
        let outside = |page: &[u32], kept: &[u32]| {
            let kept = runs(kept);
            text(page).words_outside(|run| kept.contains(&run))
        };
        assert_eq!(outside(&[0, 2, 4, 6, 8], &[9, 0, 2, 4, 6]), 1);
        assert_eq!(outside(&[8, 0, 2, 4, 6, 8], &[0, 2, 4, 6]), 2);
        assert_eq!((outside(&[0, 2], &[0, 2]), outside(&[0, 2], &[0, 2, 4, 6]), outside(&[], &[0])), (0, 2, 0));
    }

    #[test]
    fn bytes_that_are_no_words_are_refused() {
        let bytes = postcard::to_stdvec(&RunningText { words: vec![1, 2], name: vec![3] }).unwrap();
        assert_eq!(bytes.len(), 1 + 8 + 1 + 4);
        assert!(postcard::from_bytes::<RunningText>(&[&[7], &bytes[1..8], &[0][..]].concat()).is_err());
    }

    proptest! {
        #[test]
        fn a_text_comes_back_as_it_was(words in prop::collection::vec(any::<u32>(), 0..30), name in prop::collection::vec(any::<u32>(), 0..4)) {
            let text = RunningText { words, name };
            let bytes = postcard::to_stdvec(&text).unwrap();
            prop_assert_eq!(postcard::from_bytes::<RunningText>(&bytes).unwrap(), text);
        }
    }
}
