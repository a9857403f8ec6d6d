//! Groups generated pairs by edit and by its level.

use super::labels::{Label, PairLabels};
use super::pairs::PairScores;
use ndcrawl_model::Threshold;

/// All pairs of one edit, level and label.
///
/// The same edit changes less of a long page than of a short one, so one level may have several labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditLevel {
    /// The edit.
    pub kind: String,
    /// The amount of the edit.
    pub level: String,
    /// The label.
    pub label: Label,
    /// Indices of the pairs.
    pub pairs: Vec<usize>,
}

/// Number of pairs of a level that a detector calls duplicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CalledPairs {
    /// Pairs called duplicates.
    pub called: usize,
    /// Pairs compared.
    pub of: usize,
}

/// Returns the levels of the pairs: edits in order of appearance, levels ascending.
///
/// Empty if the pairs were not generated.
pub fn levels(labels: &PairLabels) -> Vec<EditLevel> {
    let mut levels = Vec::<EditLevel>::new();
    for (place, pair) in labels.pairs.iter().enumerate() {
        let Some(level) = &pair.level else { continue };
        let is_same =
            |known: &&mut EditLevel| (&known.kind, &known.level, known.label) == (&pair.kind, level, pair.label);
        match levels.iter_mut().find(is_same) {
            Some(known) => known.pairs.push(place),
            None => {
                let (kind, level) = (pair.kind.clone(), level.clone());
                levels.push(EditLevel { kind, level, label: pair.label, pairs: vec![place] });
            }
        }
    }
    let kinds: Vec<String> = levels.iter().map(|level| level.kind.clone()).collect();
    let place_of_kind = |level: &EditLevel| kinds.iter().position(|kind| *kind == level.kind);
    levels.sort_by(|a, b| {
        let numbers = |level: &EditLevel| level.level.parse::<f64>().unwrap_or(0.0);
        place_of_kind(a)
            .cmp(&place_of_kind(b))
            .then(numbers(a).total_cmp(&numbers(b)))
            .then_with(|| (&a.level, a.label).cmp(&(&b.level, b.label)))
    });
    levels
}

impl PairScores {
    /// Counts the pairs of a level called duplicates at a threshold.
    pub fn called(&self, level: &EditLevel, threshold: Threshold) -> CalledPairs {
        let found = level.pairs.iter().filter_map(|&pair| self.comparisons[pair]);
        let called = found.clone().filter(|comparison| comparison.is_match_at(threshold)).count();
        CalledPairs { called, of: found.count() }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use super::*;
    use crate::LabeledPair;
    use ndcrawl_model::Score;
    use neardup::detect::Comparison;

    #[test]
    fn levels_ascend_and_say_what_was_called() {
        let made = [
            ("cut", "30", Label::Grey, 900_000),
            ("cut", "5", Label::Near, 950_000),
            ("cut", "30", Label::Distinct, 100),
            ("cut", "30", Label::Grey, 800_000),
        ];
        let pair = |(kind, level, label, _): (&str, &str, Label, u32)| LabeledPair {
            a: 0,
            b: 0,
            label,
            kind: kind.to_owned(),
            level: Some(level.to_owned()),
        };
        let labels = PairLabels { file: PathBuf::new(), pages: Vec::new(), pairs: made.map(pair).to_vec() };
        let threshold = Threshold::from_millionths(800_000).unwrap();
        let comparisons = made.map(|(_, _, _, score)| Some(Comparison::by_score(Score(score), threshold))).to_vec();
        let scores = PairScores { detector: String::new(), comparisons, comparing: Duration::ZERO };
        let levels = levels(&labels);
        let named: Vec<_> = levels.iter().map(|level| (level.level.as_str(), level.label)).collect();
        assert_eq!(named, [("5", Label::Near), ("30", Label::Distinct), ("30", Label::Grey)]);
        let called: Vec<_> = levels.iter().map(|level| scores.called(level, threshold)).collect();
        assert_eq!(called, [(1, 1), (0, 1), (2, 2)].map(|(called, of)| CalledPairs { called, of }));
    }
}
