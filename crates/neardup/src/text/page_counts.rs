//! The counts of a page's terms while its words are read: by spelling and field, or by number.

use crate::model::{Field, FieldCounts, Term, TermCounts, TermId};

/// The distinct terms of a page, in order of first appearance.
pub trait PageCounts {
    /// Creates an empty page with room for this many terms.
    fn with_room(terms: usize) -> Self;
    /// Adds a term, given by its number in the cache and its spelling, and returns its position.
    fn push(&mut self, number: u32, term: &str) -> u32;
    /// Counts one more occurrence of the term at this position, if there is one.
    fn add(&mut self, position: u32, field: Field);
    /// Returns the number of distinct terms.
    fn distinct(&self) -> usize;
}

impl PageCounts for Vec<TermCounts> {
    fn with_room(terms: usize) -> Self {
        Self::with_capacity(terms)
    }

    #[inline]
    fn push(&mut self, _: u32, term: &str) -> u32 {
        let position = self.len() as u32;
        self.push(TermCounts { term: term.into(), counts: FieldCounts::default() });
        position
    }

    #[inline]
    fn add(&mut self, position: u32, field: Field) {
        if let Some(term) = self.get_mut(position as usize) {
            term.counts.add(field);
        }
    }

    fn distinct(&self) -> usize {
        self.len()
    }
}

/// Terms by their numbers in the cache, whatever their field.
#[derive(Debug)]
pub struct CountsByNumber(pub(super) Vec<(u32, u32)>);

impl PageCounts for CountsByNumber {
    fn with_room(terms: usize) -> Self {
        Self(Vec::with_capacity(terms))
    }

    #[inline]
    fn push(&mut self, number: u32, _: &str) -> u32 {
        let position = self.0.len() as u32;
        self.0.push((number, 0));
        position
    }

    #[inline]
    fn add(&mut self, position: u32, _: Field) {
        if let Some((_, count)) = self.0.get_mut(position as usize) {
            *count = count.saturating_add(1);
        }
    }

    fn distinct(&self) -> usize {
        self.0.len()
    }
}

/// The counted terms of a text, by number where the caller knows them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NumberedTerms {
    /// Known terms and their counts, in any order, each once.
    pub known: Vec<(TermId, u32)>,
    /// Terms without a number, in order of first appearance, each once.
    pub unknown: Vec<(Term, u32)>,
}
