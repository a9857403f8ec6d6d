//! The oracle: evaluates the formulas directly, for every pair of words and sentences.

use std::collections::BTreeSet;

use crate::detect::Page;
use crate::model::Threshold;

use super::FuzzyOptions;

type Set = BTreeSet<u32>;

/// The detector without speed-ups.
pub(super) struct Plain<'a> {
    pub(super) articles: Vec<Set>,
    pub(super) options: &'a FuzzyOptions,
}

impl Plain<'_> {
    /// Evaluates equation (1), subtracted from 1: a fraction that is divided once.
    fn independence(&self, i: u32, j: u32) -> f64 {
        if i == j {
            return 0.0;
        }
        let count = |words: &[u32]| self.articles.iter().filter(|a| words.iter().all(|word| a.contains(word))).count();
        let (n_i, n_j, n_ij) = (count(&[i]), count(&[j]), count(&[i, j]));
        if n_ij == 0 || n_ij < self.options.least_together as usize {
            return 1.0;
        }
        (n_i + n_j - 2 * n_ij) as f64 / (n_i + n_j - n_ij) as f64
    }

    /// Evaluates equation (2), in millionths.
    pub(super) fn word_sentence(&self, i: u32, s: &Set) -> u64 {
        let product: f64 = s.iter().map(|&j| self.independence(i, j)).product();
        ((1.0 - product) * 1_000_000.0).round() as u64
    }

    /// Evaluates equation (3), as a sum not yet divided by the words.
    fn sentence_sentence(&self, s: &Set, t: &Set) -> u64 {
        s.iter().map(|&i| self.word_sentence(i, t)).sum()
    }

    fn is_related(&self, s: &Set, t: &Set) -> bool {
        self.sentence_sentence(s, t) > u64::from(self.options.sentence_threshold.millionths()) * s.len() as u64
    }

    /// Returns `AC'(e, f)` as a fraction.
    pub(super) fn one_way(&self, e: &[Set], f: &[Set]) -> (u64, u64) {
        let sum = e.iter().flat_map(|s| f.iter().map(move |t| (s, t))).filter(|(s, t)| self.is_related(s, t)).count();
        (sum.min(e.len()) as u64, e.len() as u64)
    }

    pub(super) fn sentences(&self, page: &Page) -> Vec<Set> {
        let sets = page.order.sentences.iter().map(|sentence| sentence.iter().copied().collect::<Set>());
        let FuzzyOptions { least_words, most_words, .. } = *self.options;
        sets.filter(|set| !set.is_empty() && set.len() >= least_words && (most_words == 0 || set.len() <= most_words))
            .collect()
    }

    /// Returns the score in millionths, if the pages are duplicates.
    pub(super) fn compare(&self, a: &Page, b: &Page, threshold: Threshold) -> Option<u32> {
        let (e, f) = (self.sentences(a), self.sentences(b));
        if e.is_empty() || f.is_empty() {
            return None;
        }
        let ((e_related, n_e), (f_related, n_f)) = (self.one_way(&e, &f), self.one_way(&f, &e));
        let (related, pairs) = (e_related * f_related, n_e * n_f);
        let is_duplicate = related == pairs || related * 1_000_000 > u64::from(threshold.millionths()) * pairs;
        is_duplicate.then(|| (related * 1_000_000 / pairs) as u32)
    }

    /// Returns whether two pages share enough words to be compared.
    pub(super) fn are_candidates(&self, a: &Page, b: &Page) -> bool {
        let words = |page| self.sentences(page).into_iter().flatten().collect::<Set>();
        let (a, b) = (words(a), words(b));
        let shared = a.intersection(&b).count();
        shared > 0 && shared * 1_000_000 >= self.options.candidates.millionths() as usize * a.len().max(b.len())
    }
}
