//! Terms by number, cached across pages, and the position of each on the current page.
//!
//! Many words share a term. A word knows its term's number, so repeated terms are not hashed again, and terms that
//! occur together are stored together.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::page_counts::PageCounts;
use crate::model::TermId;

/// The number and the position of a stop word.
pub(super) const STOP_WORD: u32 = u32::MAX;

#[derive(Debug, Default)]
pub(super) struct TermCache {
    text: String,
    terms: Vec<CachedTerm>,
    by_text: HashTable<u32>,
}

#[derive(Clone, Copy, Debug)]
struct CachedTerm {
    start: u32,
    length: u32,
    /// The last page with the term, and its position there.
    page: u32,
    position: u32,
    /// Its number in the vocabulary that the caller has, once known; [`NO_ID`] before.
    id: u32,
}

const NO_ID: u32 = u32::MAX;

impl CachedTerm {
    fn of<'t>(&self, text: &'t str) -> &'t str {
        let start = self.start as usize;
        &text[start..start + self.length as usize]
    }
}

impl TermCache {
    /// Creates an empty cache with room for this many terms.
    pub fn with_room(room: usize) -> Self {
        Self { by_text: HashTable::with_capacity(room), ..Self::default() }
    }

    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// Returns the term of a number.
    pub fn get(&self, number: u32) -> Option<&str> {
        self.terms.get(number as usize).map(|term| term.of(&self.text))
    }

    /// Returns the number of a term, which is added if it is new.
    pub fn number(&mut self, term: &str, hasher: &DefaultHashBuilder) -> u32 {
        let Self { text, terms, by_text } = self;
        let hash = hasher.hash_one(term);
        if let Some(&known) = by_text.find(hash, |&at| terms[at as usize].of(text) == term) {
            return known;
        }
        // Bodies are limited to far less than 2³² bytes, so there is always room.
        let (Ok(number), Ok(start), Ok(length)) =
            (u32::try_from(terms.len()), u32::try_from(text.len()), u32::try_from(term.len()))
        else {
            return STOP_WORD;
        };
        text.push_str(term);
        terms.push(CachedTerm { start, length, page: 0, position: 0, id: NO_ID });
        by_text.insert_unique(hash, number, |&at| hasher.hash_one(terms[at as usize].of(text)));
        number
    }

    /// Returns the id of a term in the caller's vocabulary, if it was [set](Self::set_id).
    #[inline]
    pub fn id(&self, number: u32) -> Option<TermId> {
        self.terms.get(number as usize).filter(|term| term.id != NO_ID).map(|term| TermId(term.id))
    }

    pub fn set_id(&mut self, number: u32, id: TermId) {
        if let Some(term) = self.terms.get_mut(number as usize) {
            term.id = id.0;
        }
    }

    /// Returns the position of a term on the current page, to which it is added if it is new.
    #[inline]
    pub fn place(&mut self, number: u32, page: u32, on_page: &mut impl PageCounts) -> u32 {
        let Some(term) = self.terms.get_mut(number as usize) else { return STOP_WORD };
        if term.page != page {
            term.page = page;
            term.position = on_page.push(number, term.of(&self.text));
        }
        term.position
    }
}
