//! Duplicates among the results of one query: the paper's own setting (figure 2).

use super::Fuzzy;
use super::article::Article;
use super::options::FuzzyOptions;
use crate::detect::Page;
use crate::model::{Score, Threshold};

/// The detector without an index: every pair is a candidate, as in the paper.
#[derive(Debug)]
pub struct FuzzySets(Fuzzy);

/// The duplicates among the results of a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// For each compared result the first earlier one that it duplicates, and the score.
    pub duplicate_of: Vec<Option<(usize, Score)>>,
    /// Number of comparisons.
    pub comparisons: u64,
}

impl FuzzySets {
    /// Creates a detector whose related words are those of `reference`, of which the first 2,048 pages count.
    pub fn new(reference: &[Page], threshold: Threshold, options: &FuzzyOptions) -> Self {
        let mut fuzzy = Fuzzy::new(threshold, options.clone());
        reference.iter().for_each(|page| fuzzy.collection.add(page.record.terms()));
        Self(fuzzy)
    }

    /// Returns the score of two pages, if they are duplicates.
    pub fn compare(&self, a: &Page, b: &Page) -> Option<Score> {
        self.score(&self.0.article(a), &self.0.article(b))
    }

    /// Compares results with each other. With a query, drop their other sentences before.
    ///
    /// Cost: with [`skip_known`](FuzzyOptions::skip_known) the results times the distinct ones among them, else their
    /// square.
    pub fn among(&self, results: &[Page]) -> Results {
        let FuzzyOptions { first_results, skip_known, .. } = self.0.options;
        let first = if first_results == 0 { results.len() } else { first_results };
        let articles: Vec<Article> = results.iter().take(first).map(|page| self.0.article(page)).collect();
        let mut found = Results { duplicate_of: vec![None; articles.len()], comparisons: 0 };
        for (later, article) in articles.iter().enumerate() {
            for (earlier, other) in articles[..later].iter().enumerate() {
                let is_known = |result: usize| found.duplicate_of[result].is_some();
                if skip_known && (is_known(later) || is_known(earlier)) {
                    continue;
                }
                found.comparisons += 1;
                if let Some(score) = self.score(article, other) {
                    found.duplicate_of[later].get_or_insert((earlier, score));
                }
            }
        }
        found
    }

    fn score(&self, a: &Article, b: &Article) -> Option<Score> {
        self.0.correlation(a, b, self.0.threshold).map(super::Product::score)
    }
}
