//! The terms of some pages in columns: they are half of an arrival, and pack a quarter smaller than page by page.

use serde::{Deserialize, Serialize};

use super::encoding::packed;
use super::error::ClusterError;
use ndcrawl_model::{FieldCounts, TermCounts};

/// The terms of some pages, those of each in the order of their texts.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct TermColumns {
    /// How many terms each page has.
    pages: Vec<u32>,
    /// How many bytes each term has in common with the beginning of the one before.
    #[serde(with = "packed")]
    shared: Vec<u8>,
    /// How many bytes it has behind them.
    #[serde(with = "packed")]
    own: Vec<u32>,
    /// These bytes.
    #[serde(with = "packed")]
    text: Vec<u8>,
    /// Its occurrences, field by field.
    #[serde(with = "packed")]
    counts: [Vec<u32>; 8],
}

impl TermColumns {
    /// Adds the terms of the next page. Returns the new place of each.
    pub fn push(&mut self, terms: &[TermCounts]) -> Vec<u32> {
        let mut order: Vec<usize> = (0..terms.len()).collect();
        order.sort_unstable_by_key(|at| terms[*at].term.as_str());
        self.pages.push(terms.len() as u32);
        let (mut places, mut last) = (vec![0; terms.len()], &[][..]);
        for (place, at) in (0..).zip(order) {
            let text = terms[at].term.as_bytes();
            let shared =
                text.iter().zip(last).take(usize::from(u8::MAX)).take_while(|(one, other)| one == other).count();
            self.shared.push(shared as u8);
            self.own.push((text.len() - shared) as u32);
            self.text.extend_from_slice(&text[shared..]);
            for (column, count) in self.counts.iter_mut().zip(terms[at].counts.0) {
                column.push(count);
            }
            (places[at], last) = (place, text);
        }
        places
    }

    /// Returns the terms of each page.
    ///
    /// # Errors
    /// [`ClusterError::Damaged`] if the columns do not fit each other.
    pub fn pages(&self) -> Result<Vec<Vec<TermCounts>>, ClusterError> {
        let damaged = || ClusterError::Damaged("the terms of an arrival do not fit each other".to_owned());
        let (mut row, mut rest, mut pages) = (0, &self.text[..], Vec::new());
        for count in &self.pages {
            let (mut terms, mut text) = (Vec::new(), Vec::new());
            for _ in 0..*count {
                let term = self.next(row, &mut text, &mut rest).ok_or_else(damaged)?;
                terms.push(term);
                row += 1;
            }
            pages.push(terms);
        }
        if rest.is_empty() && row == self.shared.len() { Ok(pages) } else { Err(damaged()) }
    }

    /// Returns the term of this row. `text` is that of the row before, `rest` what follows it in the column.
    fn next(&self, row: usize, text: &mut Vec<u8>, rest: &mut &[u8]) -> Option<TermCounts> {
        let (shared, own) = (usize::from(*self.shared.get(row)?), *self.own.get(row)? as usize);
        if shared > text.len() {
            return None;
        }
        let (new, after) = rest.split_at_checked(own)?;
        text.truncate(shared);
        text.extend_from_slice(new);
        *rest = after;
        let mut counts = FieldCounts::default();
        for (count, column) in counts.0.iter_mut().zip(&self.counts) {
            *count = *column.get(row)?;
        }
        Some(TermCounts { term: std::str::from_utf8(text).ok()?.into(), counts })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pages_have_their_terms_again_in_the_order_of_their_texts(
            pages in prop::collection::vec(prop::collection::btree_map("[a-cé]{0,5}", any::<[u32; 8]>(), 0..9), 0..5),
            turned in any::<bool>(),
        ) {
            let mut columns = TermColumns::default();
            let mut expected = Vec::new();
            for page in pages {
                let sorted: Vec<TermCounts> =
                    page.into_iter().map(|(term, counts)| TermCounts { term: term.into(), counts: FieldCounts(counts) }).collect();
                let mut given = sorted.clone();
                if turned {
                    given.reverse();
                }
                let places = columns.push(&given);
                for (term, place) in given.iter().zip(places) {
                    prop_assert_eq!(&sorted[place as usize], term);
                }
                expected.push(sorted);
            }
            prop_assert_eq!(columns.pages().unwrap(), expected);
        }
    }

    #[test]
    fn columns_that_do_not_fit_are_damaged() {
        let term = |term: &str| TermCounts { term: term.into(), counts: FieldCounts([1; 8]) };
        let whole = || {
            let mut columns = TermColumns::default();
            columns.push(&[term("one"), term("once")]);
            columns
        };
        assert!(whole().pages().is_ok());
        let faults: [fn(&mut TermColumns); 5] = [
            |columns| columns.pages[0] = 3,
            |columns| columns.pages[0] = 1,
            |columns| columns.shared[1] = 9,
            |columns| columns.text.truncate(3),
            |columns| columns.counts[7].truncate(1),
        ];
        for fault in faults {
            let mut columns = whole();
            fault(&mut columns);
            assert!(matches!(columns.pages(), Err(ClusterError::Damaged(_))), "{columns:?}");
        }
    }
}
