//! What a detector measures between two pages: one contract, one file for each published system.
//!
//! | detector | file | source |
//! |---|---|---|
//! | `mwo` | `mwo` | minimum weight overlapping |
//! | `mwo` with a second condition | `host_aware` | our own: the order of words, without a host's template |
//! | `dd` | [`dd`] | the duplicate detection algorithm: sets of hash values |
//! | `fuzzy` | [`fuzzy`] | fuzzy sets: sentences whose words go together |
//! | `extended-tdw` | `extended_tdw` | angles, after words were mapped to synonyms |
//! | `provenance` | `provenance` | sets of terms, and their columns in a plane |
//!
//! All of them stand on the same stages. A page is weighed; the filter gets a view of it that is so
//! made that no page that matches can be lost; what the filter candidates is compared. So none of them
//! ever goes through all stored pages.

#[cfg(feature = "baselines")]
mod angle;
#[cfg(feature = "baselines")]
pub mod dd;
#[cfg(feature = "baselines")]
mod extended_tdw;
#[cfg(feature = "baselines")]
pub mod fuzzy;
mod mwo;
#[cfg(feature = "baselines")]
mod plane;
#[cfg(feature = "baselines")]
mod provenance;
#[cfg(feature = "baselines")]
mod provenance_batch;
mod template_aware;
mod thresholding;

use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::sync::Arc;

pub use template_aware::TemplateAware;

use super::{Match, Options};
use crate::model::{Detector, PageInput, Score, Sequence, TermId, TermOrder, Threshold, Verdict};
use crate::similarity::Record;

#[cfg(feature = "baselines")]
pub use provenance_batch::provenance_clusters;
pub use thresholding::{Thresholding, ThresholdingError};

const NO_BAR: Threshold = match Threshold::from_millionths(0) {
    Some(zero) => zero,
    None => panic!("0 is a threshold"),
};

/// A page as detectors see it.
#[derive(Clone, Debug)]
pub struct Page {
    /// The page's group (its host), an opaque number.
    pub group: u32,
    /// Its weighted terms.
    pub record: Record,
    /// The order of its terms, as far as the detector asks for it; terms by id.
    pub order: TermOrder,
}

impl Page {
    /// Terms, and numbers that tell their order: what memory goes by.
    pub(super) fn size(&self) -> usize {
        let in_sentences: usize = self.order.sentences.iter().map(Vec::len).sum();
        self.record.len() + (self.order.shingles.len() + in_sentences) / 2
    }
}

/// How similar two pages are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Similarity {
    /// By the detector's measure.
    pub score: Score,
    /// By its second condition, if it has one and there was anything to go by.
    pub second: Option<Score>,
}

/// What a detector's second condition sees in two pages, whether or not it is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecondCheck {
    /// How much is the same; `None` if there is nothing to go by.
    pub score: Option<Score>,
    /// How much would be enough. With nothing to go by: what the first score has to reach.
    pub asked: Score,
    /// What was looked at.
    pub basis: SecondCheckBasis,
}

/// What a second condition looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecondCheckBasis {
    /// The running text, without what is template on either host.
    Text,
    /// All running text: without the template next to nothing is left.
    LittleText,
    /// All running text: of neither host enough pages are known to tell what is template.
    YoungHost,
    /// There is no running text: the weights have to be firm.
    WeightsAlone,
}

impl SecondCheck {
    /// Whether the condition is met by two pages of this first score.
    pub fn is_met(&self, first: Score) -> bool {
        self.score.unwrap_or(first) >= self.asked
    }
}

/// One detector.
///
/// What it has learnt (document counts, shares of a host's pages) changes only by
/// [`learn`](Self::learn), which is called in the order of judgement and at fixed numbers of judged
/// pages: not between two questions that are asked together. So verdicts depend on the order of the
/// pages alone, and what was learnt is learnt again when a log is read back.
///
/// Invariant: if [`compare`](Self::compare) finds that two pages reach a bar, then the minimum weight
/// overlapping of their [`filtered`](Self::filtered) terms reaches [`lower_bound`](Self::lower_bound) of that bar.
pub trait Measure: Send + Sync {
    /// Drops what the detector will not look at, before terms are numbered and anything is logged.
    fn project(&self, _page: &mut PageInput) {}

    /// Terms of this page that weigh less are dropped before anything else, by what has been learnt
    /// so far. 0 for none.
    fn least_weight(&self, _record: &Record) -> u32 {
        0
    }

    /// The terms and weights that stand for the page in the filter.
    fn filtered<'a>(&self, page: &'a Page) -> Cow<'a, [(TermId, u32)]> {
        Cow::Borrowed(page.record.terms())
    }

    /// What the filtered terms of two pages reach if the pages reach `bar`.
    fn lower_bound(&self, bar: Threshold) -> Threshold {
        bar
    }

    /// Whether the filter's bounds are bounds of scores: if pages are filtered as they are compared.
    fn bounds_are_scores(&self) -> bool {
        false
    }

    /// Whether a stored page is known not to match, before it is read back. Must be cheap.
    fn rules_out(&self, _probe: &Page, _stored: Sequence) -> bool {
        false
    }

    /// Stored pages that a page is compared with at most; likely ones come first.
    fn most_compared(&self) -> usize {
        usize::MAX
    }

    /// How similar two pages are, if they reach `bar`.
    fn compare(&self, probe: &Page, stored: &Page, bar: Threshold) -> Option<Similarity>;

    /// The score by which two pages are compared first, whatever the bar and any second condition; `None` if they
    /// have nothing in common. For explanations.
    fn first_score(&self, probe: &Page, stored: &Page) -> Option<Score> {
        self.compare(probe, stored, NO_BAR).map(|similarity| similarity.score)
    }

    /// What the second condition sees in two pages of this first score, if there is one. For explanations.
    fn second_check(&self, _probe: &Page, _stored: &Page, _first: Score) -> Option<SecondCheck> {
        None
    }

    /// Whether matches are chosen from all of them together, by [`choose`](Self::choose).
    fn needs_all_matches(&self) -> bool {
        false
    }

    /// The matches that remain when they are looked at together. Called if
    /// [`needs_all_matches`](Self::needs_all_matches).
    fn choose(&self, _probe: &Page, matches: Vec<(Match, Arc<Page>)>) -> Vec<Match> {
        matches.into_iter().map(|(found, _)| found).collect()
    }

    /// Whether two pages that match may match no longer after more was learnt.
    fn is_unstable(&self) -> bool {
        false
    }

    /// Takes a judged page in. `is_compared` tells whether later pages are compared with it.
    fn learn(&mut self, _number: Sequence, _page: &Page, _verdict: &Verdict, _is_compared: bool) {}

    /// Memory held, in bytes.
    fn bytes(&self) -> usize {
        0
    }

    /// Writes what was learnt into a snapshot.
    ///
    /// # Errors
    /// Those of `out`.
    fn save(&self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// Reads what [`save`](Self::save) wrote.
    ///
    /// # Errors
    /// Those of `input`, and [`io::ErrorKind::InvalidData`].
    fn load(&mut self, _input: &mut dyn Read) -> io::Result<()> {
        Ok(())
    }
}

/// The measure of the detector that the options name; `None` for the one that compares nothing.
pub fn build(options: &Options) -> Option<Box<dyn Measure>> {
    match options.detector {
        Detector::Mwo => Some(match options.second {
            Some(second) => Box::new(template_aware::TemplateAware::new(second, options.thresholding)),
            None => Box::new(mwo::Mwo::new(options.thresholding)),
        }),
        #[cfg(feature = "baselines")]
        Detector::Dd => Some(Box::new(dd::Dd::new(options.threshold, options.dd))),
        #[cfg(feature = "baselines")]
        Detector::Fuzzy => Some(Box::new(fuzzy::Fuzzy::new(options.threshold, options.fuzzy.clone()))),
        #[cfg(feature = "baselines")]
        Detector::ExtendedTdw => Some(Box::new(extended_tdw::ExtendedTdw::new(options))),
        #[cfg(feature = "baselines")]
        Detector::Provenance => Some(Box::new(provenance::Provenance::new(options))),
        Detector::None => None,
    }
}

#[cfg(all(test, feature = "baselines"))]
mod tests;
#[cfg(all(test, feature = "baselines"))]
mod unfiltered;
