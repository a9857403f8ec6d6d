//! Duplicates among the results of one query: the paper's own setting (figure 2).

use super::{Fuzzy, FuzzyOptions};
use crate::detect::Page;
use crate::record::{Score, Threshold};

/// What was found among the results of a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// For each result that was looked at the first earlier one of which it is a duplicate, and the
    /// score.
    pub duplicate_of: Vec<Option<(usize, Score)>>,
    /// Comparisons made.
    pub comparisons: u64,
}

/// Compares results with each other; words go together as they do in the articles of `reference`. Of
/// the pages that do not hold a query's terms, the sentences have been dropped already.
///
/// Every pair is a candidate, as in the paper: the index plays no part. Cost: with
/// [`skip_known`](FuzzyOptions::skip_known) the results times the distinct ones among them, else their
/// square.
pub fn among_results(reference: &[Page], results: &[Page], threshold: Threshold, options: &FuzzyOptions) -> Results {
    let mut fuzzy = Fuzzy::new(threshold, options.clone());
    reference.iter().for_each(|page| fuzzy.collection.add(page.record.terms()));
    let first = if options.first_results == 0 { results.len() } else { options.first_results };
    let articles: Vec<_> = results.iter().take(first).map(|page| fuzzy.article(page)).collect();
    let mut found = Results { duplicate_of: vec![None; articles.len()], comparisons: 0 };
    for (later, article) in articles.iter().enumerate() {
        for (earlier, other) in articles[..later].iter().enumerate() {
            let is_known = |result: usize| found.duplicate_of[result].is_some();
            if options.skip_known && (is_known(later) || is_known(earlier)) {
                continue;
            }
            found.comparisons += 1;
            if let Some(product) = fuzzy.correlation(article, other, threshold) {
                found.duplicate_of[later].get_or_insert((earlier, product.score()));
            }
        }
    }
    found
}
