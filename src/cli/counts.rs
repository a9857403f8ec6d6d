//! URLs by outcome, as progress, limits and summaries count them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::model::OutcomeKind;

/// URLs by outcome. Pages that a recrawl found unchanged count as stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OutcomeCounts {
    /// Unique pages.
    pub stored: u64,
    /// Near-duplicates.
    pub near_duplicates: u64,
    /// Exact duplicates.
    pub exact_duplicates: u64,
    /// URLs that failed.
    pub failed: u64,
    /// URLs excluded by a rule.
    pub excluded: u64,
}

impl From<&BTreeMap<OutcomeKind, u64>> for OutcomeCounts {
    fn from(outcomes: &BTreeMap<OutcomeKind, u64>) -> Self {
        let of = |kind| outcomes.get(&kind).copied().unwrap_or(0);
        Self {
            stored: of(OutcomeKind::Stored) + of(OutcomeKind::NotModified),
            near_duplicates: of(OutcomeKind::NearDuplicate),
            exact_duplicates: of(OutcomeKind::ExactDuplicate),
            failed: of(OutcomeKind::Failed),
            excluded: of(OutcomeKind::Excluded),
        }
    }
}

impl OutcomeCounts {
    /// Returns the number of near-duplicates and exact duplicates.
    pub fn duplicates(&self) -> u64 {
        self.near_duplicates + self.exact_duplicates
    }

    /// Returns the number of pages that were compared.
    pub fn compared(&self) -> u64 {
        self.stored + self.duplicates()
    }

    /// Returns the share of duplicates among the pages compared; `None` without pages.
    pub fn duplicate_rate(&self) -> Option<f64> {
        (self.compared() > 0).then(|| self.duplicates() as f64 / self.compared() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_of_the_pages_compared() {
        let counts = OutcomeCounts::from(&BTreeMap::from([
            (OutcomeKind::Stored, 2),
            (OutcomeKind::NotModified, 1),
            (OutcomeKind::NearDuplicate, 1),
            (OutcomeKind::Failed, 9),
        ]));
        assert_eq!((counts.compared(), counts.duplicate_rate()), (4, Some(0.25)));
        assert_eq!(OutcomeCounts::default().duplicate_rate(), None);
    }
}
