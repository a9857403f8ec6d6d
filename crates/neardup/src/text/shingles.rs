//! Shingles: hashed runs of words, which distinguish pages with the same terms in another order.
//!
//! Words are represented by their terms, so inflection does not matter. A stop word keeps its place in a run; which
//! stop word it is does not matter.

use xxhash_rust::xxh3::xxh3_64;

use crate::model::{Field, TermCounts};

/// Words in a run ("shingle" in Broder's "On the resemblance and containment of documents").
///
/// On the labeled pages runs of 4 separate siblings of a template best; in longer ones scattered edits (typing
/// errors, synonyms) weigh too much.
const LENGTH: usize = 4;
/// The most shingles kept of a page. Of 12,000 documentation pages one in eight has more.
const MOST: usize = 2048;
/// Stands for any stop word.
const STOP_WORD: u64 = 0x5D58_8B65_6C07_8965;

/// The words of the visible text in order, each as the position of its term on the page.
#[derive(Debug, Default)]
pub(super) struct TermSequence(Vec<u32>);

impl TermSequence {
    /// Adds the next word. An invalid position stands for a stop word.
    #[inline]
    pub fn add(&mut self, term: u32, field: Field) {
        if !matches!(field, Field::Keywords | Field::Description) {
            self.0.push(term);
        }
    }
}

/// Returns the hashes of all runs, ascending, each once, and the level to which they were sampled.
///
/// A text shorter than a run has one hash.
pub(super) fn of(TermSequence(words): &TermSequence, terms: &[TermCounts]) -> (Vec<u32>, u8) {
    let hashes: Vec<u64> = terms.iter().map(|term| xxh3_64(term.term.as_bytes())).collect();
    let are_numbers: Vec<bool> = terms.iter().map(|term| term.term.contains(char::is_numeric)).collect();
    let hash = |word: &u32| hashes.get(*word as usize).copied().unwrap_or(STOP_WORD);
    let is_number = |word: &u32| are_numbers.get(*word as usize).copied().unwrap_or(false);
    let run = |run: &[u32]| marked((run.iter().map(hash).fold(0, mixed) >> 32) as u32, run.iter().any(is_number));
    let mut found: Vec<u32> = match words.len() {
        0 => Vec::new(),
        1..LENGTH => vec![run(words)],
        _ => words.windows(LENGTH).map(run).collect(),
    };
    found.sort_unstable();
    found.dedup();
    thinned(found)
}

/// Marks the hash of a run that has a word with a digit: its lowest bit is set.
fn marked(hash: u32, has_number: bool) -> u32 {
    hash & !1 | u32::from(has_number)
}

/// Returns whether a run with this hash has a word with a digit. Runs that differ in a number state other facts.
pub(crate) fn names_number(hash: u32) -> bool {
    hash & 1 == 1
}

/// Mixes a word into the hash of a run. The order of the words matters.
fn mixed(hash: u64, word: u64) -> u64 {
    (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
}

/// Samples hashes by leading zero bits: each level keeps half of them.
fn thinned(mut ascending: Vec<u32>) -> (Vec<u32>, u8) {
    let mut level = 0;
    while ascending.len() > MOST {
        level += 1;
        ascending.truncate(ascending.partition_point(|hash| hash.leading_zeros() >= level));
    }
    // The level is at most 32, and usually far less.
    (ascending, level as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FieldCounts;

    fn shingles(words: &[u32]) -> (Vec<u32>, u8) {
        let mut sequence = TermSequence::default();
        words.iter().for_each(|&word| sequence.add(word, Field::Body));
        let term = |number: u32| TermCounts { term: format!("w{number}").into(), counts: FieldCounts::default() };
        of(&sequence, &(0..200_000).map(term).collect::<Vec<_>>())
    }

    #[test]
    fn the_same_words_in_another_order_have_other_runs() {
        let (one, other) = (shingles(&[0, 1, 2, 3, 4]).0, shingles(&[0, 1, 2, 4, 3]).0);
        assert_eq!((one.len(), other.len()), (2, 2));
        assert!(one.iter().all(|hash| !other.contains(hash)));
        assert_eq!(shingles(&[]).0.len(), 0);
        assert_eq!(shingles(&[1, 2]).0.len(), 1);
        assert_eq!(shingles(&[0, 1, 2, 3, 0, 1, 2, 3]).0.len(), 4, "each run once");
    }

    #[test]
    fn runs_with_a_number_are_marked() {
        let mut sequence = TermSequence::default();
        (0..6).for_each(|word| sequence.add(word, Field::Body));
        let terms = ["a", "b", "c", "d", "10.5", "e"]
            .map(|term| TermCounts { term: term.into(), counts: FieldCounts::default() });
        let (hashes, _) = of(&sequence, &terms);
        assert_eq!(
            hashes.iter().filter(|hash| names_number(**hash)).count(),
            2,
            "c d 10.5 and b c d 10.5, but not a b c d"
        );
    }

    #[test]
    fn stop_words_have_a_place_but_no_name() {
        assert_eq!(shingles(&[0, u32::MAX, 2, 3]), shingles(&[0, u32::MAX - 1, 2, 3]));
        assert_ne!(shingles(&[0, u32::MAX, 2, 3]), shingles(&[0, 2, u32::MAX, 3]));
    }

    #[test]
    fn what_is_kept_of_a_long_page_is_kept_of_every_longer_one_of_its_level() {
        let words: Vec<u32> = (0..100_000).collect();
        let (long, level) = shingles(&words);
        let (longer, higher) = shingles(&(0..199_000).collect::<Vec<_>>());
        assert!((MOST / 3..=MOST).contains(&long.len()) && level == 6, "{} at {level}", long.len());
        assert!(higher > level);
        let of_that_level = long.iter().filter(|hash| hash.leading_zeros() >= higher.into());
        assert!(of_that_level.clone().count() > MOST / 8);
        assert!(of_that_level.into_iter().all(|hash| longer.binary_search(hash).is_ok()));
    }

    #[test]
    fn what_nobody_sees_has_no_place() {
        let mut sequence = TermSequence::default();
        sequence.add(0, Field::Keywords);
        sequence.add(0, Field::Description);
        assert_eq!(of(&sequence, &[]), (vec![], 0));
    }
}
