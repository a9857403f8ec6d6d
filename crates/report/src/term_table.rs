//! Compares two judged pages term by term, as table 3 of "Web Document Duplicate Detection Using Minimum Weight
//! Overlapping" does.
//!
//! A term of weight `c` on a page of total weight `W` has the share `c / W`. The similarity is the sum of the smaller
//! shares over all shared terms. Sums are integers, truncated to millionths, so the last line of the table is exactly
//! the score of the decision.

use serde::Serialize;

use ndcrawl_model::{Field, FieldCounts, PageTerms, TermId, Threshold};
use neardup::similarity::Record;

/// The shared and the differing terms of two pages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TermTable {
    /// Shared terms by descending contribution.
    pub shared: Vec<SharedTerm>,
    /// Terms with different shares, by descending difference.
    pub different: Vec<DifferentTerm>,
}

/// A term of both pages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SharedTerm {
    /// The stemmed term.
    pub term: String,
    /// Its counts by field on each page: `title 1, body 12`.
    pub counts: [Vec<(&'static str, u32)>; 2],
    /// Its share of each page's weight.
    pub weights: [f64; 2],
    /// The smaller share.
    pub minimum: f64,
    /// The running sum of the smaller shares.
    pub sum: f64,
}

/// A term with different shares on the two pages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DifferentTerm {
    /// The stemmed term.
    pub term: String,
    /// Its share of each page's weight.
    pub weights: [f64; 2],
    /// The difference of the shares.
    pub difference: f64,
}

/// A page to compare.
#[derive(Clone, Copy, Debug)]
pub struct TablePage<'a> {
    /// Counts of the log, ascending by term.
    pub counts: &'a PageTerms,
    /// The record that the detector compares.
    pub record: &'a Record,
}

/// A term with its weight on each page, in hundredths.
struct TermWeights {
    term: TermId,
    weights: [u32; 2],
}

impl TermTable {
    /// Compares two pages; `name` returns the text of a term.
    ///
    /// # Errors
    /// Those of `name`.
    pub fn new<E>(pages: [TablePage<'_>; 2], name: impl Fn(TermId) -> Result<String, E>) -> Result<Self, E> {
        let totals = pages.map(|page| u128::from(page.record.total()).max(1));
        let whole = totals[0] * totals[1];
        // In units of 1 / `whole`.
        let scaled =
            |row: &TermWeights| [u128::from(row.weights[0]) * totals[1], u128::from(row.weights[1]) * totals[0]];
        let mut rows = merged(pages[0].record.terms(), pages[1].record.terms());
        rows.sort_by_key(|row| (std::cmp::Reverse(scaled(row).into_iter().min()), row.term));
        let counts = pages.map(|page| page.counts.iter().collect::<Vec<_>>());
        let mut table = Self::default();
        let mut sum = 0;
        for row in &rows {
            let [one, other] = scaled(row);
            let weights = [in_millionths(one, whole), in_millionths(other, whole)];
            let term = name(row.term)?;
            if one != other {
                let difference = in_millionths(one.abs_diff(other), whole);
                table.different.push(DifferentTerm { term: term.clone(), weights, difference });
            }
            if one > 0 && other > 0 {
                sum += one.min(other);
                let counts = [0, 1].map(|side| fields(&counts[side], row.term));
                let (minimum, sum) = (in_millionths(one.min(other), whole), in_millionths(sum, whole));
                table.shared.push(SharedTerm { term, counts, weights, minimum, sum });
            }
        }
        let by_weight = |one: &DifferentTerm, other: &DifferentTerm| other.difference.total_cmp(&one.difference);
        table.different.sort_by(|one, other| by_weight(one, other).then_with(|| one.term.cmp(&other.term)));
        Ok(table)
    }

    /// Returns the minimum weight overlapping of the two pages, in [0, 1].
    pub fn score(&self) -> f64 {
        self.shared.last().map_or(0.0, |last| last.sum)
    }

    /// Returns the terms that weigh more on the first page (0) or on the second (1).
    pub fn more_on(&self, page: usize) -> impl Iterator<Item = &DifferentTerm> {
        self.different.iter().filter(move |term| term.weights[page] > term.weights[1 - page])
    }
}

fn merged(one: &[(TermId, u32)], other: &[(TermId, u32)]) -> Vec<TermWeights> {
    let mut rows: Vec<TermWeights> =
        one.iter().map(|&(term, weight)| TermWeights { term, weights: [weight, 0] }).collect();
    let known = rows.len();
    for &(term, weight) in other {
        match rows[..known].binary_search_by_key(&term, |row| row.term) {
            Ok(place) => rows[place].weights[1] = weight,
            Err(_) => rows.push(TermWeights { term, weights: [0, weight] }),
        }
    }
    rows
}

/// Truncates a fraction to millionths, as scores are. Exact while the product of the two weights is below 2¹⁰⁸.
fn in_millionths(part: u128, whole: u128) -> f64 {
    let one = u128::from(Threshold::ONE);
    let millionths = part.checked_mul(one).map_or_else(|| part / (whole / one).max(1), |part| part / whole);
    millionths as f64 / f64::from(Threshold::ONE)
}

fn fields(counts: &[(TermId, FieldCounts)], term: TermId) -> Vec<(&'static str, u32)> {
    let Ok(place) = counts.binary_search_by_key(&term, |(term, _)| *term) else { return Vec::new() };
    let counts = Field::ALL.into_iter().zip(counts[place].1.0).filter(|(_, count)| *count > 0);
    counts.map(|(field, count)| (field.name(), count)).collect()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;
    use ndcrawl_model::FieldWeights;
    use neardup::similarity::score;

    fn counts(terms: &[(u32, u32, u32)]) -> PageTerms {
        let mut counts = std::collections::BTreeMap::<u32, FieldCounts>::new();
        for &(term, title, body) in terms {
            let own = counts.entry(term).or_default();
            own.0[Field::Title as usize] += title;
            own.0[Field::Body as usize] += body;
        }
        counts.into_iter().map(|(term, counts)| (TermId(term), counts)).collect()
    }

    fn table(pages: [&PageTerms; 2]) -> (TermTable, [Record; 2]) {
        let records = pages.map(|counts| Record::from_counts(counts, &FieldWeights::default()));
        let sides = [0, 1].map(|side| TablePage { counts: pages[side], record: &records[side] });
        let table = TermTable::new(sides, |term| Ok::<_, Infallible>(format!("t{term}"))).unwrap();
        (table, records)
    }

    #[test]
    fn shares_minima_and_sums_are_those_worked_by_hand() {
        let (one, other) = (counts(&[(0, 1, 2), (1, 0, 4)]), counts(&[(0, 0, 2), (2, 0, 2)]));
        let (table, _) = table([&one, &other]);
        let shared = SharedTerm {
            term: "t0".into(),
            counts: [vec![("title", 1), ("body", 2)], vec![("body", 2)]],
            weights: [0.5, 0.5],
            minimum: 0.5,
            sum: 0.5,
        };
        assert_eq!(table.shared, [shared]);
        let told: Vec<_> = table.different.iter().map(|term| (&*term.term, term.weights, term.difference)).collect();
        assert_eq!(told, [("t1", [0.5, 0.0], 0.5), ("t2", [0.0, 0.5], 0.5)]);
        assert_eq!(table.more_on(1).map(|term| &*term.term).collect::<Vec<_>>(), ["t2"]);
    }

    proptest! {
        #[test]
        fn the_last_line_of_the_table_is_the_score_that_is_decided_by(
            one in prop::collection::vec((0u32..30, 0u32..3, 0u32..50), 0..40),
            other in prop::collection::vec((0u32..30, 0u32..3, 0u32..50), 0..40),
        ) {
            let (one, other) = (counts(&one), counts(&other));
            let (table, records) = table([&one, &other]);
            prop_assert_eq!(table.score(), score(&records[0], &records[1]).as_f64());
            prop_assert!(table.shared.is_sorted_by(|one, next| one.minimum >= next.minimum && one.sum <= next.sum));
        }
    }
}
