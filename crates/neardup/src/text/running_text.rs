//! The running text of a page: its words in order, as short hashes.
//!
//! Words are represented by their terms, so inflection does not matter. A stop word keeps its place; which stop word it
//! is does not matter. What stands in `nav`, `footer` and `aside` is about the site and has no place.

use xxhash_rust::xxh3::xxh3_64;

use crate::model::{Field, RunningText, TermCounts};

/// The words of the visible text in order, each as the position of its term on the page.
#[derive(Debug, Default)]
pub(super) struct TermSequence {
    words: Vec<u32>,
    /// The terms of the page's name.
    name: Vec<u32>,
}

impl TermSequence {
    /// Adds the next word. An invalid position stands for a stop word. `is_aside`: it is about the site.
    #[inline]
    pub fn add(&mut self, term: u32, field: Field, is_aside: bool) {
        if !is_aside && !matches!(field, Field::Keywords | Field::Description) {
            self.words.push(term);
        }
    }

    /// Reports that the page's name has this word.
    pub fn name(&mut self, term: u32) {
        self.name.push(term);
    }

    /// Returns the text, given the terms of the page.
    pub fn finish(&self, terms: &[TermCounts]) -> RunningText {
        let hashes: Vec<u32> = terms.iter().map(|term| hash_of(&term.term)).collect();
        let word = |at: &u32| hashes.get(*at as usize).copied();
        let words = self.words.iter().map(|at| word(at).unwrap_or(RunningText::STOP_WORD)).collect();
        let mut name: Vec<u32> = self.name.iter().filter_map(word).collect();
        name.sort_unstable();
        name.dedup();
        RunningText { words, name }
    }
}

/// Returns the hash of a word. Its lowest bit tells whether the word has a digit.
fn hash_of(term: &str) -> u32 {
    let hash = (xxh3_64(term.as_bytes()) >> 32) as u32;
    hash & !1 | u32::from(term.contains(char::is_numeric))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FieldCounts;

    fn text(words: &[u32], name: &[u32]) -> RunningText {
        let mut sequence = TermSequence::default();
        words.iter().for_each(|&word| sequence.add(word, Field::Body, false));
        name.iter().for_each(|&word| sequence.name(word));
        let terms = ["red", "hammer", "9.99", "red hammer"];
        sequence.finish(&terms.map(|term| TermCounts { term: term.into(), counts: FieldCounts::default() }))
    }

    #[test]
    fn words_keep_their_order_and_stop_words_their_place() {
        let found = text(&[1, 0, u32::MAX, 1], &[]).words;
        assert_eq!((found.len(), found[0] == found[3], found[0] == found[1]), (4, true, false));
        assert_eq!(found[2], RunningText::STOP_WORD);
        assert_eq!(text(&[u32::MAX - 1], &[]).words, [RunningText::STOP_WORD], "whichever it is");
    }

    #[test]
    fn a_word_tells_whether_it_has_a_digit() {
        let odd: Vec<bool> = text(&[0, 1, 2, u32::MAX], &[]).words.iter().map(|word| word & 1 == 1).collect();
        assert_eq!(odd, [false, false, true, false]);
    }

    #[test]
    fn a_name_is_a_set_of_words() {
        assert_eq!(text(&[], &[1, 0, 1, u32::MAX]).name, text(&[], &[0, 1]).name);
        assert_ne!(text(&[], &[0]).name, text(&[], &[1]).name);
    }

    #[test]
    fn what_nobody_sees_and_what_is_about_the_site_has_no_place() {
        let mut sequence = TermSequence::default();
        sequence.add(0, Field::Keywords, false);
        sequence.add(0, Field::Description, false);
        sequence.add(0, Field::Body, true);
        assert_eq!(sequence.finish(&[]), RunningText::default());
    }
}
