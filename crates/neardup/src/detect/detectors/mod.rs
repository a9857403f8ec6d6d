//! *How similar are two pages?* One contract ([`Measure`]), one file for each published system.
//!
//! | detector | file | source |
//! |---|---|---|
//! | `mwo` | `mwo` | minimum weight overlapping |
//! | `mwo` with a second check | `template_aware` | our own: word order, without a host's template |
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

pub use template_aware::{ProbeBitmaps, TemplateAware, TextBitmap};

use super::Options;
use super::page_match::{Match, Page, Similarity};
use crate::model::{Detector, PageInput, Score, Sequence, TermId, Threshold, Verdict};
use crate::similarity::Record;

#[cfg(feature = "baselines")]
pub use provenance_batch::provenance_clusters;
pub use thresholding::{Thresholding, ThresholdingError};

const NO_BAR: Threshold = match Threshold::from_millionths(0) {
    Some(zero) => zero,
    None => panic!("0 is a threshold"),
};

/// The result of a detector's second check on two pages, passed or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecondCheck {
    /// The shared part; `None` if there was nothing to compare.
    pub score: Option<Score>,
    /// The part that would be enough. With nothing to compare: the first score that is required.
    pub required: Score,
    /// The text that was compared.
    pub basis: SecondCheckBasis,
}

/// The text that a second check compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecondCheckBasis {
    /// The running text, without what is template on either host.
    Text,
    /// All running text: almost nothing is left without the template.
    LittleText,
    /// The running text without what a large part of the host's pages have: the page has next to nothing else that the
    /// other lacks.
    RepeatedText,
    /// The running text without core template and without what holds a word of either page's name: the later page has nothing
    /// of its own but its name.
    OtherName,
    /// All running text: too few pages of the host are known to recognize template.
    YoungHost,
    /// All running text of the shorter page: the same of two hosts.
    TwoYoungHosts,
    /// The later page's running text, without template: it says too much that the other does not.
    NewText,
    /// No running text: the first score must be high.
    WeightsAlone,
}

/// The shingles of a page that are no template of its host, ascending: computed once for all comparisons of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnText {
    /// Without any template.
    pub text: Vec<u32>,
    /// Tell how much of `text` another page may have.
    pub bitmaps: ProbeBitmaps,
    /// Without the template that a large part of the host's pages have.
    pub beyond_core: Vec<u32>,
}

impl SecondCheck {
    /// Returns whether two pages of this first score pass the check.
    pub fn is_met(&self, first: Score) -> bool {
        self.score.unwrap_or(first) >= self.required
    }
}

/// One detector.
///
/// Its statistics (document counts, shares of a host's pages) change only by [`learn`](Self::learn), which is called
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

    /// Returns the least score of a match of these pages, given that of the options. Never less than
    /// [`page_bar`](Self::page_bar).
    fn pair_bar(&self, _probe: &Page, _stored: &Page, bar: Threshold) -> Threshold {
        bar
    }

    /// Returns the least score of a match of this page with any other.
    fn page_bar(&self, _probe: &Page, bar: Threshold) -> Threshold {
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

    /// Returns the text of a page that [`has_other_text`](Self::has_other_text) looks for in others.
    fn own_text(&self, _probe: &Page) -> OwnText {
        OwnText::default()
    }

    /// Returns the bitmap of a stored page's text, if the detector compares text and the page has any.
    fn text_bitmap(&self, _page: &Page) -> Option<TextBitmap<'static>> {
        None
    }

    /// Returns whether two pages certainly do not match, by the [own text](Self::own_text) of the first and the bitmap of
    /// the stored one.
    fn shares_too_little(&self, _probe: &Page, _own: &OwnText, _stored: &TextBitmap<'_>) -> bool {
        false
    }

    /// Returns whether two pages certainly do not match, by the [own text](Self::own_text) of the first. Must be cheap.
    fn has_other_text(&self, _probe: &Page, _own: &OwnText, _stored: &Page) -> bool {
        false
    }

    /// Returns the similarity of two pages, if they reach `bar`.
    fn compare(&self, probe: &Page, stored: &Page, bar: Threshold) -> Option<Similarity>;

    /// Returns the first score of two pages, whatever the threshold and any second check; `None` if they have nothing
    /// in common. For explanations.
    fn first_score(&self, probe: &Page, stored: &Page) -> Option<Score> {
        self.compare(probe, stored, NO_BAR).map(|similarity| similarity.score)
    }

    /// Returns the result of the second check on two pages of this first score, if there is one. For explanations.
    fn second_check(&self, _probe: &Page, _stored: &Page, _first: Score) -> Option<SecondCheck> {
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

    /// Adds a decided page to the statistics. `is_compared` tells whether later pages are compared with it.
    fn learn(&mut self, _number: Sequence, _page: &Page, _verdict: &Verdict, _is_compared: bool) {}

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
            Some(second) => {
                let Options { thresholding, host_memory, host_parts, .. } = *options;
                Box::new(template_aware::TemplateAware::new(second, thresholding, host_memory, host_parts))
            }
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
