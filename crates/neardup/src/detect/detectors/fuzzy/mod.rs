//! Fuzzy sets of words (`fuzzy`, "Improved Fuzzy Set Information Retrieval Approach on Duplicate Webpage Detection",
//! sections 3 and 4). Two sentences are related if their words often occur together. Two pages are duplicates if
//! enough of their sentences are related.
//!
//! | paper | here |
//! |---|---|
//! | words; of Chinese text overlapping pairs of characters | the terms of [`TermOrder::sentences`] |
//! | `n_i`, `n_ij`, `W(i, j)` (1) | `collection`: the first 2,048 pages that are compared with later ones |
//! | `θ(i, s)` (2), `φ(s, t)` (3), `ρ(s, t)` | `direction`: `θ` to the nearest millionth |
//! | Threshold 1, in [0, 1] | [`FuzzyOptions::sentence_threshold`], 0.99 by default |
//! | `AC'(e, f) = min(1, Σ ρ / n_e)` | `direction`: related pairs of sentences, at most `n_e` |
//! | `AC'(e, f) · AC'(f, e)` | the score, in [0, 1], in millionths, rounded down |
//! | `AC = score / (1 − score)`, from 0 to infinity | [`article_correlation`] |
//! | Threshold 2; the paper sets it to 1 | `T₂ / (1 + T₂)` is [`Options::threshold`]; 0.5 by default |
//! | speed-ups 1 to 5 (section 4) | `query`, `copies_first`, `least_words` and `most_words`, `skip_known`, `first_results` |
//!
//! **Thresholds.** `x / (1 − x)` grows with `x`, so `AC > T₂` is `score > T₂ / (1 + T₂)`: the paper's 1 is a score of
//! 0.5. As in the paper a score must be *over* the threshold; a threshold of 1 requires a score of 1. The paper gives
//! no first threshold. It must be high, since by (2) most words of one subject go with a long sentence.
//!
//! **Departures.** A sentence is the *set* of its words; `W(i, i) = 1` also for words outside of the collection. Two
//! words are related only if [`FuzzyOptions::least_together`] articles hold both, 2 by default; with 1, the paper,
//! all words of a single article would be synonyms. Counts are those of a bounded collection, not of the whole index:
//! memory stays bounded, and later pages change no verdict. `θ` is rounded to the nearest millionth once; all else is
//! integers. At most 1,000 sentences of a page, and 8,192 words in them, are compared. English text is not dropped.
//!
//! **Candidates.** Related sentences need not share a word, so no index of words finds every pair. The detector
//! compares only pages that share a part of their words: [`FuzzyOptions::candidates`], 0.6 by default. It is a
//! condition of the verdict, tested again in each comparison, so verdicts do not depend on the index.
//! `docs/design/detect.md` tells what it loses and how the defaults were chosen.

mod article;
mod collection;
mod direction;
mod options;
mod results;

use std::borrow::Cow;
use std::io::{self, Read, Write};

use self::article::Article;
use self::collection::Collection;
use self::direction::Direction;
use super::Measure;
use crate::detect::page_match::{Page, Similarity};
use crate::model::{PageInput, Score, Sequence, TermId, Threshold};

pub use options::{DEFAULT_THRESHOLD, FuzzyOptions};
pub use results::{FuzzySets, Results};

#[cfg(doc)]
use crate::{detect::Options, model::TermOrder};

const ONE: u64 = Threshold::ONE as u64;

/// Returns the paper's `AC` of a score: infinite if all sentences are related.
pub fn article_correlation(score: Score) -> f64 {
    score.as_f64() / (1.0 - score.as_f64())
}

/// Compares sentences by related words.
#[derive(Debug)]
pub(super) struct Fuzzy {
    threshold: Threshold,
    options: FuzzyOptions,
    collection: Collection,
}

impl Fuzzy {
    pub(super) fn new(threshold: Threshold, options: FuzzyOptions) -> Self {
        Self { threshold, options, collection: Collection::default() }
    }

    /// Returns `AC'(e, f) · AC'(f, e)`, if it reaches a score and is over the threshold.
    fn correlation(&self, a: &Article, b: &Article, bar: Threshold) -> Option<Product> {
        if a.sentences.is_empty() || b.sentences.is_empty() {
            return None;
        }
        let product = if self.are_copies(a, b) { Product { related: 1, pairs: 1 } } else { self.product(a, b, bar)? };
        product.is_over(self.threshold).then_some(product)
    }

    /// Returns whether the two articles are equal. The formulas agree, unless no `φ` is over the threshold.
    fn are_copies(&self, a: &Article, b: &Article) -> bool {
        let can_be_related = self.options.sentence_threshold.millionths() < Threshold::ONE;
        self.options.copies_first && can_be_related && a == b
    }

    fn product(&self, a: &Article, b: &Article, bar: Threshold) -> Option<Product> {
        // The longer article is less likely to be contained in the other.
        let (e, f) = if a.sentences.len() >= b.sentences.len() { (a, b) } else { (b, a) };
        let (n_e, n_f) = (e.sentences.len() as u64, f.sentences.len() as u64);
        let bar = u64::from(bar.millionths());
        let e_in_f = self.related(e, f, (bar * n_e).div_ceil(ONE))?;
        let f_in_e = self.related(f, e, (bar * n_e * n_f).div_ceil(ONE * e_in_f))?;
        Some(Product { related: e_in_f * f_in_e, pairs: n_e * n_f })
    }

    /// Returns `AC'(e, f) · n_e`, if it is at least `needed` and positive.
    fn related(&self, e: &Article, f: &Article, needed: u64) -> Option<u64> {
        let FuzzyOptions { least_together, sentence_threshold, .. } = self.options;
        let mut direction = Direction::new(&self.collection, least_together, sentence_threshold, e, f);
        direction.related(needed.max(1))
    }

    /// Returns whether two pages share enough words to be compared.
    fn are_candidates(&self, a: &Article, b: &Article) -> bool {
        let shared = a.places_in(b).iter().flatten().count() as u64;
        let longer = a.words.len().max(b.words.len()) as u64;
        shared > 0 && shared * ONE >= u64::from(self.options.candidates.millionths()) * longer
    }

    fn article(&self, page: &Page) -> Article {
        Article::new(page, &self.options)
    }
}

/// `related / pairs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Product {
    related: u64,
    pairs: u64,
}

impl Product {
    fn is_over(self, threshold: Threshold) -> bool {
        let bar = u64::from(threshold.millionths()) * self.pairs;
        self.related * ONE > bar || self.related == self.pairs
    }

    fn score(self) -> Score {
        Score(u32::try_from(self.related * ONE / self.pairs).unwrap_or(Threshold::ONE))
    }
}

impl Measure for Fuzzy {
    fn project(&self, page: &mut PageInput) {
        let query = &self.options.query;
        if query.is_empty() {
            return;
        }
        let asked: Vec<bool> = page.terms.iter().map(|term| query.contains(&term.term)).collect();
        let is_asked = |term: &u32| asked.get(*term as usize) == Some(&true);
        page.order.sentences.retain(|sentence| sentence.iter().any(is_asked));
    }

    fn filtered<'a>(&self, page: &'a Page) -> Cow<'a, [(TermId, u32)]> {
        self.article(page).words.into_iter().map(|word| (TermId(word), 1)).collect()
    }

    fn lower_bound(&self, _bar: Threshold) -> Threshold {
        self.options.candidates
    }

    fn most_compared(&self) -> usize {
        if self.options.first_results == 0 { usize::MAX } else { self.options.first_results }
    }

    fn compare(&self, probe: &Page, stored: &Page, bar: Threshold) -> Option<Similarity> {
        let (a, b) = (self.article(probe), self.article(stored));
        let product = self.are_candidates(&a, &b).then(|| self.correlation(&a, &b, bar))??;
        Some(Similarity { score: product.score(), second: None, difference: None })
    }

    fn learn(&mut self, _number: Sequence, page: &Page, _is_subject: bool, is_compared: bool) {
        if is_compared {
            self.collection.add(page.record.terms());
        }
    }

    fn bytes(&self) -> usize {
        self.collection.bytes()
    }

    fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        self.collection.save(out)
    }

    fn load(&mut self, input: &mut dyn Read) -> io::Result<()> {
        self.collection = Collection::load(input)?;
        Ok(())
    }
}

#[cfg(test)]
mod plain;
#[cfg(test)]
mod tests;
