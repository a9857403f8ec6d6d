//! All known terms, numbered by first appearance.

use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};
use std::mem::size_of;

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::DetectError;
use crate::model::arrays::{invalid, read_array, write_array};
use crate::model::{PageTerms, Term, TermCounts, TermId, TermOrder};

/// A two-way table of terms and their numbers.
///
/// The terms are stored end to end in one buffer. Beside its own bytes a term costs 4 for its end and 6 to 12 in the
/// hash table; with the slack of growing buffers at most about 25. Each process seeds the hash on its own, so that no
/// page can cause collisions; the numbers do not depend on the seed.
#[derive(Debug)]
pub struct Vocabulary {
    text: String,
    /// End of each term in `text`.
    ends: Vec<u32>,
    numbers: HashTable<TermId>,
    seed: u64,
}

impl Default for Vocabulary {
    fn default() -> Self {
        let seed = RandomState::new().hash_one(0);
        Self { text: String::new(), ends: Vec::new(), numbers: HashTable::new(), seed }
    }
}

impl Vocabulary {
    /// Returns the number of a term, if it is known.
    pub fn get(&self, term: &str) -> Option<TermId> {
        self.find(self.hash(term), term)
    }

    /// Returns the term of a number.
    pub fn term(&self, id: TermId) -> Option<&str> {
        let end = *self.ends.get(id.index())?;
        self.text.get(self.start_of(id)..end as usize)
    }

    /// Returns where a known term starts in `text`.
    fn start_of(&self, id: TermId) -> usize {
        id.index().checked_sub(1).map_or(0, |before| self.ends[before] as usize)
    }

    /// Returns the number of a term, and whether it is new.
    ///
    /// # Errors
    /// [`DetectError::VocabularyFull`].
    pub fn intern(&mut self, term: &str) -> Result<(TermId, bool), DetectError> {
        let hash = self.hash(term);
        match self.find(hash, term) {
            Some(id) => Ok((id, false)),
            None => self.insert(hash, term).map(|id| (id, true)),
        }
    }

    /// Numbers a new term.
    fn insert(&mut self, hash: u64, term: &str) -> Result<TermId, DetectError> {
        let full = || DetectError::VocabularyFull { terms: self.ends.len() };
        let id = TermId(u32::try_from(self.ends.len()).ok().filter(|&id| id < u32::MAX).ok_or_else(full)?);
        let end = u32::try_from(self.text.len() + term.len()).map_err(|_| full())?;
        self.text.push_str(term);
        self.ends.push(end);
        let (text, ends, seed) = (&self.text, &self.ends, self.seed);
        let hash_of = |id: &TermId| {
            let start = id.index().checked_sub(1).map_or(0, |before| ends[before]);
            xxh3_64_with_seed(&text.as_bytes()[start as usize..ends[id.index()] as usize], seed)
        };
        self.numbers.insert_unique(hash, id, hash_of);
        Ok(id)
    }

    /// Numbers the terms of a page.
    ///
    /// Returns its counts, ascending by id; its new terms, in the order of their ids; and the order of its terms, by
    /// id. Counts of a term that occurs twice are added.
    ///
    /// # Errors
    /// If the terms are more than 32-bit numbers can name.
    pub fn intern_page(
        &mut self,
        page: Vec<TermCounts>,
        mut order: TermOrder,
    ) -> Result<(PageTerms, Vec<Term>, TermOrder), DetectError> {
        let mut terms = Vec::with_capacity(page.len());
        let mut new_terms = Vec::new();
        let guesses = self.guess(&page);
        for (TermCounts { term, counts }, (hash, guess)) in page.into_iter().zip(guesses) {
            let is_right = |id: &TermId| self.term(*id) == Some(&*term);
            if let Some(id) = guess.filter(is_right).or_else(|| self.find(hash, &term)) {
                terms.push((id, counts));
            } else {
                terms.push((self.insert(hash, &term)?, counts));
                new_terms.push(term);
            }
        }
        for sentence in &mut order.sentences {
            let id = |position: &u32| terms.get(*position as usize).map(|(id, _)| id.0);
            *sentence = sentence.iter().filter_map(id).collect();
        }
        Ok((PageTerms::new(terms), new_terms, order))
    }

    /// Returns the hash of each term of a page, and its most likely number.
    ///
    /// A term takes four dependent reads from anywhere in memory. Here each stage is done for all terms together, so
    /// that the reads overlap, and what the later comparison needs is in the cache.
    fn guess(&self, page: &[TermCounts]) -> Vec<(u64, Option<TermId>)> {
        let hashes = page.iter().map(|term| self.hash(&term.term)).collect::<Vec<_>>();
        let guesses = hashes.into_iter().map(|hash| (hash, self.numbers.find(hash, |_| true).copied()));
        let guesses = guesses.collect::<Vec<_>>();
        let starts = guesses.iter().map(|(_, guess)| guess.map_or(0, |id| self.start_of(id)));
        let starts = starts.collect::<Vec<_>>();
        let text = self.text.as_bytes();
        std::hint::black_box(starts.into_iter().fold(0, |read, start| read ^ text.get(start).copied().unwrap_or(0)));
        guesses
    }

    /// Numbers the terms of a page without adding any: unknown terms get unused numbers.
    pub(super) fn look_up_page(&self, page: &[TermCounts]) -> PageTerms {
        let mut unknown: Vec<&str> =
            page.iter().map(|term| &*term.term).filter(|term| self.get(term).is_none()).collect();
        unknown.sort_unstable();
        unknown.dedup();
        let number = |term: &str| {
            let beyond = || unknown.binary_search(&term).unwrap_or_else(|place| place) + self.len();
            self.get(term).unwrap_or_else(|| TermId(u32::try_from(beyond()).unwrap_or(u32::MAX)))
        };
        page.iter().map(|term| (number(&term.term), term.counts)).collect()
    }

    /// Returns the number of terms.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there is no term.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the memory held, in bytes, estimated from capacities.
    pub fn bytes(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * size_of::<u32>() + self.numbers.allocation_size()
    }

    /// Writes the terms to a snapshot.
    pub(crate) fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        write_array(out, self.text.as_bytes())?;
        write_array(out, &self.ends)
    }

    /// Reads what [`save`](Self::save) wrote.
    pub(crate) fn load(input: &mut dyn Read) -> io::Result<Self> {
        let text = String::from_utf8(read_array(input)?).map_err(|_| invalid("terms that are not UTF-8"))?;
        let ends: Vec<u32> = read_array(input)?;
        let is_sound = ends.is_sorted() && ends.iter().all(|&end| text.is_char_boundary(end as usize));
        if !is_sound {
            return Err(invalid("terms with invalid ends"));
        }
        let numbers = HashTable::with_capacity(ends.len());
        let mut vocabulary = Self { text, ends, numbers, ..Self::default() };
        for number in 0..vocabulary.ends.len() {
            let id = TermId(number as u32);
            let hash = vocabulary.hash(vocabulary.term(id).unwrap_or_default());
            // The table has room for all, so no hash is computed twice.
            vocabulary.numbers.insert_unique(hash, id, |_| hash);
        }
        Ok(vocabulary)
    }

    fn find(&self, hash: u64, term: &str) -> Option<TermId> {
        self.numbers.find(hash, |&id| self.term(id) == Some(term)).copied()
    }

    fn hash(&self, term: &str) -> u64 {
        xxh3_64_with_seed(term.as_bytes(), self.seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Field, FieldCounts};

    fn counted(term: &str) -> TermCounts {
        let mut counts = FieldCounts::default();
        counts.add(Field::Body);
        TermCounts { term: term.into(), counts }
    }

    #[test]
    fn terms_are_numbered_by_first_appearance_and_found_both_ways() {
        let mut vocabulary = Vocabulary::default();
        let words: Vec<_> = (0..5_000).map(|n| format!("word{n}")).chain([String::new()]).collect();
        for round in 0..2 {
            for (number, word) in (0..).zip(&words) {
                assert_eq!(vocabulary.intern(word).unwrap(), (TermId(number), round == 0));
            }
        }
        assert_eq!(vocabulary.get("word4999"), Some(TermId(4_999)));
        assert_eq!(vocabulary.term(TermId(4_999)), Some("word4999"));
        assert_eq!(vocabulary.term(TermId(5_000)), Some(""));
        assert_eq!(vocabulary.term(TermId(5_001)), None);
        assert_eq!(vocabulary.get("word5000"), None);
    }

    #[test]
    fn a_page_gets_ascending_ids_and_names_its_new_terms_once() {
        let mut vocabulary = Vocabulary::default();
        vocabulary.intern("b").unwrap();
        let page = ["c", "b", "a", "c"].map(counted).to_vec();
        let order = TermOrder { sentences: vec![vec![2, 0, 3]], ..TermOrder::default() };
        let (terms, new_terms, order) = vocabulary.intern_page(page, order).unwrap();
        assert_eq!(terms.iter().map(|(id, _)| id.0).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(terms.iter().map(|(_, counts)| counts.0[Field::Body as usize]).collect::<Vec<_>>(), [1, 2, 1]);
        assert_eq!(new_terms, ["c", "a"]);
        assert_eq!(order.sentences, [[2, 1, 1]]);
    }

    #[test]
    fn looking_up_a_page_takes_nothing_in_and_keeps_unknown_terms_apart() {
        let mut vocabulary = Vocabulary::default();
        vocabulary.intern("b").unwrap();
        let page = ["x", "b", "y", "x"].map(counted).to_vec();
        let terms = vocabulary.look_up_page(&page);
        assert_eq!(terms.iter().map(|(id, counts)| (id.0, counts.0[7])).collect::<Vec<_>>(), [(0, 1), (1, 2), (2, 1)]);
        assert_eq!(vocabulary.len(), 1);
    }

    #[test]
    fn a_term_costs_at_most_25_bytes_beside_its_own() {
        let mut vocabulary = Vocabulary::default();
        let mut own = 0;
        for number in 0..100_000 {
            let word = format!("{number:08}");
            own += word.len();
            vocabulary.intern(&word).unwrap();
        }
        assert!(vocabulary.bytes() - own <= 25 * vocabulary.len(), "{}", vocabulary.bytes());
    }
}
