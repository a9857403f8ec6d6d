//! *Which unique pages look like a trap?* Groups of them whose URLs have one pattern, and how alike they are.

use std::collections::HashMap;

use serde::Serialize;

use ndcrawl_frontier::url_pattern;
use ndcrawl_model::{FieldWeights, PageRow};
use neardup::similarity::{Record, score};

/// The fewest pages of a group that is told, and the least similarity.
const LEAST: (u64, f64) = (20, 0.8);
/// Pages of a group that are compared, each with the next one.
const SAMPLES: usize = 16;
/// The most patterns.
const MAX_PATTERNS: usize = 50_000;

/// Unique pages of one URL pattern that are much alike.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AlikePages {
    /// The path but for numbers, with the names of the parameters.
    pub pattern: String,
    /// Unique pages that have it.
    pub pages: u64,
    /// The mean similarity of the first of them by the weights of their words, in [0, 1]. Menus count, too.
    pub alike: f64,
    /// The first page.
    pub example: String,
}

/// Unique pages by pattern.
#[derive(Default)]
pub(super) struct PageGroups(HashMap<String, PageGroup>);

struct PageGroup {
    pages: u64,
    example: String,
    samples: Vec<Record>,
}

impl PageGroups {
    /// Adds a unique page.
    pub fn add(&mut self, url: &str, row: &PageRow) {
        let Some(pattern) = url_pattern(url) else { return };
        if self.0.len() >= MAX_PATTERNS && !self.0.contains_key(&pattern) {
            return;
        }
        let first = || PageGroup { pages: 0, example: url.to_owned(), samples: Vec::new() };
        let group = self.0.entry(pattern).or_insert_with(first);
        group.pages += 1;
        if group.samples.len() < SAMPLES {
            group.samples.push(Record::from_counts(&row.terms, &FieldWeights::default()));
        }
    }

    /// Returns the groups that are much alike, the largest first.
    pub fn alike(self) -> Vec<AlikePages> {
        let told = self.0.into_iter().filter(|(_, group)| group.pages >= LEAST.0).map(|(pattern, group)| {
            let scores = group.samples.windows(2).map(|pair| score(&pair[0], &pair[1]).as_f64());
            let alike = scores.sum::<f64>() / (group.samples.len() - 1) as f64;
            AlikePages { pattern, pages: group.pages, alike, example: group.example }
        });
        let mut groups: Vec<AlikePages> = told.filter(|group| group.alike >= LEAST.1).collect();
        groups.sort_by(|one, other| other.pages.cmp(&one.pages).then_with(|| one.pattern.cmp(&other.pattern)));
        groups
    }
}
