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
/// The most runs with a word of the name. A page with more of them has text about its name.
const MOST_NAMES: usize = 40;
/// Stands for any stop word.
const STOP_WORD: u64 = 0x5D58_8B65_6C07_8965;

/// The words of the visible text in order, each as the position of its term on the page.
#[derive(Debug, Default)]
pub(super) struct TermSequence {
    words: Vec<u32>,
    /// The terms of the page's name.
    name: Vec<u32>,
}

/// The runs of a page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Shingles {
    /// The hashes of all runs, ascending, each once.
    pub hashes: Vec<u32>,
    /// The level to which they were sampled.
    pub level: u8,
    /// Places of the runs with a word of the name.
    pub names: Vec<u16>,
}

impl TermSequence {
    /// Adds the next word. An invalid position stands for a stop word.
    #[inline]
    pub fn add(&mut self, term: u32, field: Field) {
        if !matches!(field, Field::Keywords | Field::Description) {
            self.words.push(term);
        }
    }

    /// Reports that the page's name has this word.
    pub fn name(&mut self, term: u32) {
        self.name.push(term);
    }

    /// Returns the runs. A text shorter than a run has one.
    pub fn shingles(&self, terms: &[TermCounts]) -> Shingles {
        let mut words: Vec<Word> = terms.iter().map(|term| Word::of(&term.term)).collect();
        for term in &self.name {
            if let Some(word) = words.get_mut(*term as usize) {
                word.is_name = true;
            }
        }
        let word = |at: &u32| words.get(*at as usize).copied().unwrap_or(Word::STOP);
        let run = |run: &[u32]| {
            let hash = run.iter().map(|at| word(at).hash).fold(0, mixed);
            marked((hash >> 32) as u32, run.iter().any(|at| word(at).is_number))
        };
        let runs = || self.words.windows(LENGTH.min(self.words.len()).max(1));
        let mut hashes: Vec<u32> = runs().map(run).collect();
        hashes.sort_unstable();
        hashes.dedup();
        let (hashes, level) = thinned(hashes);
        // A number that is not in the name is a fact.
        let is_named = |run: &&[u32]| {
            run.iter().any(|at| word(at).is_name) && run.iter().all(|at| word(at).is_name || !word(at).is_number)
        };
        let mut names = Vec::new();
        if level == 0 && !self.name.is_empty() {
            names.extend(
                runs().filter(is_named).filter_map(|named| hashes.binary_search(&run(named)).ok()).map(|at| at as u16),
            );
            names.sort_unstable();
            names.dedup();
        }
        if names.len() > MOST_NAMES {
            names.clear();
        }
        Shingles { hashes, level, names }
    }
}

/// A word of a run.
#[derive(Clone, Copy)]
struct Word {
    hash: u64,
    is_number: bool,
    is_name: bool,
}

impl Word {
    const STOP: Self = Self { hash: STOP_WORD, is_number: false, is_name: false };

    fn of(term: &str) -> Self {
        Self { hash: xxh3_64(term.as_bytes()), is_number: term.contains(char::is_numeric), is_name: false }
    }
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
        let found = sequence.shingles(&(0..200_000).map(term).collect::<Vec<_>>());
        (found.hashes, found.level)
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
        let Shingles { hashes, .. } = sequence.shingles(&terms);
        assert_eq!(
            hashes.iter().filter(|hash| names_number(**hash)).count(),
            2,
            "c d 10.5 and b c d 10.5, but not a b c d"
        );
    }

    #[test]
    fn runs_with_a_word_of_the_name_are_known_unless_they_state_another_number() {
        let terms = ["red", "hammer", "9.99", "add", "to", "cart", "now", "5"]
            .map(|term| TermCounts { term: term.into(), counts: FieldCounts::default() });
        let named = |words: &[u32], name: &[u32]| {
            let mut sequence = TermSequence::default();
            words.iter().for_each(|&word| sequence.add(word, Field::Body));
            name.iter().for_each(|&word| sequence.name(word));
            sequence.shingles(&terms).names.len()
        };
        // red hammer add to | hammer add to cart | add to cart now
        assert_eq!(named(&[0, 1, 3, 4, 5, 6], &[0, 1]), 2);
        assert_eq!(named(&[0, 1, 2, 3, 4, 5, 6], &[0, 1]), 0, "a price is no name");
        assert_eq!(named(&[0, 7, 3, 4, 5, 6], &[0, 7]), 2, "a number of the name is");
        assert_eq!(named(&[0, 1, 3, 4, 5, 6], &[]), 0);
        let text: Vec<u32> = (0..200).map(|at| if at % 2 == 0 { 0 } else { 3 + at % 4 }).collect();
        assert!(named(&text, &[0]) <= MOST_NAMES);
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
        assert_eq!(sequence.shingles(&[]), Shingles::default());
    }
}
