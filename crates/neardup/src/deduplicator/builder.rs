use std::hash::Hash;

use serde::{Deserialize, Serialize};

use super::document::{Counter, WEIGHTS};
use super::{Deduplicator, Error};
use crate::detect::{Mode, Options, SecondCheck};
use crate::model::{Detector, MostLost, Threshold};

/// Settings of a [`Deduplicator`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[must_use]
pub struct Builder {
    threshold: Option<f64>,
    own_words: bool,
    lose_at_most: Option<MostLost>,
    min_terms: u64,
    language: Option<String>,
}

impl Default for Builder {
    fn default() -> Self {
        Self { threshold: None, own_words: true, lose_at_most: None, min_terms: 20, language: Some("en".to_owned()) }
    }
}

impl Builder {
    /// Sets the similarity of weights that a near-duplicate needs: in [0, 1], rounded to millionths. Default: 0.3, since
    /// own words decide; 0.8 without them.
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.threshold = Some(threshold);
        self
    }

    /// Sets whether texts are also compared by what each says for itself, as in a crawl. Default: they are.
    ///
    /// A near-duplicate then says for itself what the kept document says for itself: see
    /// [`OwnWords`](crate::detect::OwnWords). Without, the weights of terms alone decide, so that two forms that are
    /// filled in differently are one document, and an article in two frames may be two.
    pub fn own_words(mut self, compared: bool) -> Self {
        self.own_words = compared;
        self
    }

    /// Sets how many words of a document may be lost when it is dropped: a number, or a share of its words. Default:
    /// what own words allow.
    ///
    /// A document that would lose more is unique; with `MostLost::Words(0)` only what a kept document contains is dropped.
    /// Weighted terms have no words to count, so they are exact duplicates or unique then.
    pub fn lose_at_most(mut self, most: MostLost) -> Self {
        self.lose_at_most = Some(most);
        self
    }

    /// Returns the threshold in force.
    pub(super) fn threshold_in_force(&self) -> f64 {
        let default = || Options::default_threshold(Detector::Mwo, self.own_words);
        self.threshold.unwrap_or_else(|| f64::from(default().millionths()) / f64::from(Threshold::ONE))
    }

    /// Sets how many distinct terms a document needs to be compared by similarity. Default: 20.
    ///
    /// Short texts resemble each other by chance. Shorter documents are exact duplicates or unique.
    pub fn min_terms(mut self, terms: usize) -> Self {
        self.min_terms = terms as u64;
        self
    }

    /// Sets the language by whose rules words are stemmed and stop words dropped, as a primary BCP 47 subtag. `None`
    /// keeps words as they are. Default: `en`, which also serves collections in several languages.
    pub fn language(mut self, language: Option<&str>) -> Self {
        self.language = language.map(str::to_owned);
        self
    }

    /// Builds an empty deduplicator.
    ///
    /// # Errors
    /// [`Error::Threshold`], [`Error::Language`] and [`Error::NoOwnWords`].
    pub fn build<K: Clone + Eq + Hash>(self) -> Result<Deduplicator<K>, Error> {
        let options = self.options()?;
        let has_rules = |language: &String| crate::text::has_rules(language);
        if let Some(language) = self.language.as_ref().filter(|language| !has_rules(language)) {
            return Err(Error::Language(language.clone()));
        }
        if self.lose_at_most.is_some() && !self.own_words {
            return Err(Error::NoOwnWords);
        }
        Ok(Deduplicator::with_options(self, options))
    }

    /// Returns the options of the decider.
    pub(super) fn options(&self) -> Result<Options, Error> {
        Ok(Options {
            threshold: threshold(self.threshold_in_force())?,
            second: if self.own_words { SecondCheck::OwnWords } else { SecondCheck::None },
            lose_at_most: self.lose_at_most,
            min_terms: usize::try_from(self.min_terms).unwrap_or(usize::MAX),
            mode: Mode::Best,
            weights: WEIGHTS,
            ..Options::default()
        })
    }

    /// Returns a counter of terms.
    pub(super) fn counter(&self) -> Counter {
        Counter::new(self.language.clone(), self.own_words)
    }
}

/// Reads a threshold, rounded to millionths.
pub(super) fn threshold(value: f64) -> Result<Threshold, Error> {
    let millionths = (value * f64::from(Threshold::ONE)).round();
    let in_range = (0.0..=f64::from(Threshold::ONE)).contains(&millionths);
    in_range.then(|| Threshold::from_millionths(millionths as u32)).flatten().ok_or(Error::Threshold(value))
}
