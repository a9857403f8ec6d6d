//! Why two documents are similar, term by term.

use std::cmp::Reverse;

use crate::detect::Vocabulary;
use crate::model::{Score, TermId};
use crate::similarity::{self, Record};

/// How two documents compare, term by term.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Explanation {
    /// The similarity, rounded down to millionths: the sum of [`TermShare::shared`] over all terms.
    pub score: Score,
    /// Whether the two have the same text, white space folded, or the same weighted terms.
    pub is_exact: bool,
    /// All terms of both documents: first those that add most to the score, then those that differ most.
    pub terms: Vec<TermShare>,
}

/// The share that one term has of each document's weight.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TermShare {
    /// The term: stemmed, if it comes from a text.
    pub term: String,
    /// Its share of the first document's weight, in [0, 1].
    pub first: f64,
    /// Its share of the second document's weight, in [0, 1].
    pub second: f64,
}

impl TermShare {
    /// Returns what the term adds to the score: the smaller share.
    pub fn shared(&self) -> f64 {
        self.first.min(self.second)
    }
}

impl Explanation {
    pub(super) fn new(first: &Record, second: &Record, is_exact: bool, vocabulary: &Vocabulary) -> Self {
        let mut terms = Vec::new();
        for (term, first_weight, second_weight) in merged(first.terms(), second.terms()) {
            terms.push(TermShare {
                term: vocabulary.term(term).unwrap_or_default().to_owned(),
                first: share(first_weight, first.total()),
                second: share(second_weight, second.total()),
            });
        }
        let rank = |term: &TermShare| (millionths(term.shared()), millionths((term.first - term.second).abs()));
        terms.sort_by_cached_key(|term| (Reverse(rank(term)), term.term.clone()));
        Self { score: similarity::score(first, second), is_exact, terms }
    }
}

fn share(weight: u32, total: u64) -> f64 {
    if total == 0 { 0.0 } else { f64::from(weight) / total as f64 }
}

fn millionths(share: f64) -> u64 {
    (share * 1e6) as u64
}

/// Walks two ascending lists of terms at once.
fn merged<'a>(
    mut first: &'a [(TermId, u32)],
    mut second: &'a [(TermId, u32)],
) -> impl Iterator<Item = (TermId, u32, u32)> + 'a {
    std::iter::from_fn(move || {
        let term = match (first.first(), second.first()) {
            (Some(&(a, _)), Some(&(b, _))) => a.min(b),
            (Some(&(term, _)), None) | (None, Some(&(term, _))) => term,
            (None, None) => return None,
        };
        let take = |list: &mut &'a [(TermId, u32)]| match list.split_first() {
            Some((&(found, weight), rest)) if found == term => {
                *list = rest;
                weight
            }
            _ => 0,
        };
        Some((term, take(&mut first), take(&mut second)))
    })
}
