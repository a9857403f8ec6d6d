//! A page's weighted terms, ready for comparison.

use crate::model::{FieldWeights, PageTerms, TermId};

/// The weighted terms of one page.
///
/// Invariants: terms ascend by id, each occurs once, all weights are positive, and the total is their sum. Eight
/// bytes a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    terms: Box<[(TermId, u32)]>,
    total: u64,
    /// The weight of dropped terms.
    dropped: u64,
}

impl Record {
    /// Creates a record of terms and their weights in hundredths, in any order.
    ///
    /// Weights of a term that occurs twice are added; terms of weight 0 are left out. Weights saturate at 2³² − 1
    /// hundredths, about 43 million occurrences in running text.
    pub fn new(mut terms: Vec<(TermId, u32)>) -> Self {
        terms.retain(|&(_, weight)| weight > 0);
        terms.sort_unstable_by_key(|&(term, _)| term);
        terms.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 = kept.1.saturating_add(later.1);
            }
            same
        });
        let total = terms.iter().map(|&(_, weight)| u64::from(weight)).sum();
        Self { terms: terms.into(), total, dropped: 0 }
    }

    /// Weighs field counts: a term's weight is the sum over the fields of count times weight (section 3, table 1 of
    /// the paper).
    pub fn from_counts(counts: &PageTerms, weights: &FieldWeights) -> Self {
        let capped = |(term, weight)| (term, u32::try_from(weight).unwrap_or(u32::MAX));
        Self::new(counts.weighed(*weights).map(capped).collect())
    }

    /// Drops the terms that weigh less than `least` hundredths.
    pub fn without_lighter(self, least: u32) -> Self {
        if self.terms.iter().all(|&(_, weight)| weight >= least) {
            return self;
        }
        let full_weight = self.full_weight();
        Self::new(self.terms.iter().copied().filter(|&(_, weight)| weight >= least).collect())
            .with_full_weight(full_weight)
    }

    /// Sets the weight before light terms were dropped, in hundredths.
    pub fn with_full_weight(self, full_weight: u64) -> Self {
        Self { dropped: full_weight.saturating_sub(self.total), ..self }
    }

    /// Returns the terms and their weights in hundredths, ascending by id.
    pub fn terms(&self) -> &[(TermId, u32)] {
        &self.terms
    }

    /// Returns the sum of all weights, in hundredths. Below 2⁶⁴, since ids and weights have 32 bits.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the sum of all weights before light terms were [dropped](Self::without_lighter), in hundredths.
    pub fn full_weight(&self) -> u64 {
        self.total.saturating_add(self.dropped)
    }

    /// Returns the number of distinct terms.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// Returns whether there is no term.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Field, FieldCounts};

    #[test]
    fn a_record_is_sorted_merged_and_summed() {
        let record = Record::new(vec![(TermId(7), 50), (TermId(2), 100), (TermId(7), 25), (TermId(3), 0)]);
        assert_eq!(record.terms(), [(TermId(2), 100), (TermId(7), 75)]);
        assert_eq!(record.total(), 175);
        assert_eq!(record.len(), 2);
    }

    #[test]
    fn a_term_weighs_by_its_fields() {
        let mut counts = FieldCounts::default();
        for field in [Field::Title, Field::Body, Field::Body, Field::AnchorOtherSite] {
            counts.add(field);
        }
        let record = Record::from_counts(&PageTerms::new(vec![(TermId(0), counts)]), &FieldWeights::default());
        assert_eq!(record.terms(), [(TermId(0), 450)]);
    }

    #[test]
    fn an_absurd_weight_ends_at_the_limit_instead_of_wrapping() {
        let counts = PageTerms::new(vec![(TermId(0), FieldCounts([u32::MAX; 8])), (TermId(1), FieldCounts([1; 8]))]);
        let record = Record::from_counts(&counts, &FieldWeights([u16::MAX; 8]));
        assert_eq!(record.terms()[0].1, u32::MAX);
        assert_eq!(record.total(), u64::from(u32::MAX) + 8 * 65_535);
    }
}
