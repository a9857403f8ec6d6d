//! *How similar are two pages?* One contract ([`Measure`]), one file for each published system.
//!
//! | detector | file | source |
//! |---|---|---|
//! | `mwo` | `mwo` | minimum weight overlapping |
//! | `mwo` with a second check | `own_words` | our own: what a page says for itself |
//! | `dd` | `dd` | the duplicate detection algorithm: sets of hash values |
//! | `fuzzy` | `fuzzy` | fuzzy sets: sentences of related words |
//! | `extended-tdw` | `extended_tdw` | angles, after words were mapped to synonyms |
//! | `provenance` | `provenance` | sets of terms, and their columns in a plane |
//!
//! All share the same stages. A page is weighed. The index gets a view of it such that no matching page is lost. The
//! candidates are compared. So no detector scans all stored pages.

#[cfg(feature = "baselines")]
mod angle;
#[cfg(feature = "baselines")]
pub mod dd;
#[cfg(feature = "baselines")]
mod extended_tdw;
#[cfg(feature = "baselines")]
pub mod fuzzy;
mod mwo;
mod own_words;
#[cfg(feature = "baselines")]
mod plane;
#[cfg(feature = "baselines")]
mod provenance;
#[cfg(feature = "baselines")]
mod provenance_batch;
mod thresholding;

use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::sync::Arc;

pub use own_words::{OwnWords, OwnWordsMeasure, PreparedText};

use super::page_match::{Match, Page, Similarity};
use super::{Options, SecondCheck};
use crate::index::RunKeys;
use crate::model::{Detector, PageInput, Score, Sequence, TermId, Threshold};
use crate::similarity::Record;

#[cfg(feature = "baselines")]
pub use provenance_batch::provenance_clusters;
pub use thresholding::{Thresholding, ThresholdingError};

const NO_BAR: Threshold = match Threshold::from_millionths(0) {
    Some(zero) => zero,
    None => panic!("0 is a threshold"),
};

/// One detector.
///
/// Its statistics (document counts, common runs) change only by [`learn`](Self::learn), which is called
/// in the order of decision and at fixed page numbers, never between queries that run together. So verdicts depend on
/// the order of the pages only, and restoring a log restores the statistics.
///
/// Invariant: if [`compare`](Self::compare) finds that two pages reach a score, the minimum weight overlapping of
/// their [`filtered`](Self::filtered) terms reaches [`lower_bound`](Self::lower_bound) of that score.
pub trait Measure: Send + Sync {
    /// Drops what the detector does not use, before terms are numbered and logged.
    fn project(&self, _page: &mut PageInput) {}

    /// Returns the least weight of a term that is compared, by the statistics so far. 0 for no limit.
    fn least_weight(&self, _record: &Record) -> u32 {
        0
    }

    /// Returns the terms and weights that represent the page in the index.
    fn filtered<'a>(&self, page: &'a Page) -> Cow<'a, [(TermId, u32)]> {
        Cow::Borrowed(page.record.terms())
    }

    /// Returns what the filtered terms of two pages reach if the pages reach `bar`.
    fn lower_bound(&self, bar: Threshold) -> Threshold {
        bar
    }

    /// Returns whether the index's bounds are bounds of scores: the index sees pages as they are compared.
    fn bounds_are_scores(&self) -> bool {
        false
    }

    /// Returns whether a stored page certainly does not match, before it is read back. Must be cheap.
    fn rules_out(&self, _probe: &Page, _stored: Sequence) -> bool {
        false
    }

    /// Returns how many stored pages are compared with a page at most; likely ones come first.
    fn most_compared(&self) -> usize {
        usize::MAX
    }

    /// Looks a page's text up once for all comparisons.
    fn prepare(&self, _probe: &Page) -> PreparedText {
        PreparedText::default()
    }

    /// Returns the hashes of the runs under which a stored page is filed, given what [`prepare`](Self::prepare) returned for
    /// it; `None` if pages are found by their weights.
    fn filed_under(&self, _page: &Page, _prepared: &PreparedText) -> Option<RunKeys> {
        None
    }

    /// Returns the hashes of the runs under which pages like this one are looked up; `None` if they are found by their weights.
    fn looked_up_under(&self, _page: &Page, _prepared: &PreparedText) -> Option<RunKeys> {
        None
    }

    /// Returns the runs that many pages have by now, in the order in which they became common: nothing is found by them.
    fn newly_common(&self) -> &[u64] {
        &[]
    }

    /// Returns the similarity of two pages, if they reach `bar`.
    fn compare(&self, probe: &Page, stored: &Page, bar: Threshold) -> Option<Similarity>;

    /// As [`compare`](Self::compare), given what [`prepare`](Self::prepare) returned for the probe.
    fn compare_prepared(
        &self,
        probe: &Page,
        _prepared: &PreparedText,
        stored: &Page,
        bar: Threshold,
    ) -> Option<Similarity> {
        self.compare(probe, stored, bar)
    }

    /// Returns the first score of two pages, whatever the threshold and any second check; `None` if they have nothing
    /// in common. For explanations.
    fn first_score(&self, probe: &Page, stored: &Page) -> Option<Score> {
        self.compare(probe, stored, NO_BAR).map(|similarity| similarity.score)
    }

    /// Returns what two pages say for themselves, if the detector looks at that. For explanations.
    fn own_words(&self, _probe: &Page, _stored: &Page) -> Option<OwnWords> {
        None
    }

    /// Returns whether matches are chosen from all of them together, by [`choose`](Self::choose).
    fn needs_all_matches(&self) -> bool {
        false
    }

    /// Returns the matches that remain when all are compared together. Called if
    /// [`needs_all_matches`](Self::needs_all_matches).
    fn choose(&self, _probe: &Page, matches: Vec<(Match, Arc<Page>)>) -> Vec<Match> {
        matches.into_iter().map(|(found, _)| found).collect()
    }

    /// Returns whether a match may stop being one as statistics grow.
    fn is_unstable(&self) -> bool {
        false
    }

    /// Adds a decided page to the statistics. `is_subject` tells whether it is a document of a subject of its own, and
    /// `is_compared` whether later pages are compared with it.
    fn learn(&mut self, _number: Sequence, _page: &Page, _is_subject: bool, _is_compared: bool) {}

    /// Returns the memory held, in bytes.
    fn bytes(&self) -> usize {
        0
    }

    /// Writes the statistics to a snapshot.
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

/// Creates the measure of the detector that the options name; `None` for the one that compares nothing.
pub fn build(options: &Options) -> Option<Box<dyn Measure>> {
    match options.detector {
        Detector::Mwo => Some(match options.second {
            SecondCheck::OwnWords => Box::new(OwnWordsMeasure::new(options)),
            SecondCheck::None => Box::new(mwo::Mwo::new(options.thresholding)),
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
