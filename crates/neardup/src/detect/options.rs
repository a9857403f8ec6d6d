//! Options of the decider.

use serde::{Deserialize, Serialize};

#[cfg(feature = "baselines")]
use super::detectors::dd::DdOptions;
#[cfg(feature = "baselines")]
use super::detectors::fuzzy::{self, FuzzyOptions};
use super::{Mode, Settling, Thresholding};
use crate::index::FilterKind;
use crate::model::{Detector, FieldWeights, MostLost, Threshold, WantedOrder};

/// 0.8: pages of which four fifths of the weight agree are the same page.
const DEFAULT_THRESHOLD: Threshold = tenths(8);

const fn tenths(tenths: u32) -> Threshold {
    match Threshold::from_millionths(tenths * 100_000) {
        Some(threshold) => threshold,
        None => panic!("tenths up to ten are thresholds"),
    }
}

/// 0.3: what a page says for itself decides; two frames of one text may outweigh it.
const FIRST_OF_TWO: Threshold = tenths(3);

/// What the detector [`Detector::Mwo`] compares beside weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SecondCheck {
    /// What either page says for itself: [`OwnWords`](super::OwnWords).
    OwnWords,
    /// Nothing: the paper's weights alone decide.
    #[default]
    None,
}

/// The pages among which duplicates are searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Within {
    /// Among all pages.
    #[default]
    Crawl,
    /// Among the pages of the same group; exact copies too.
    Host,
}

impl Within {
    /// Returns the name used on the command line and in output.
    pub fn name(self) -> &'static str {
        match self {
            Within::Crawl => "crawl",
            Within::Host => "host",
        }
    }
}

/// The decider's options. One log holds verdicts made under the same options only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The detector; [`Detector::None`] finds exact copies only.
    pub detector: Detector,
    /// The similarity from which a page is a near-duplicate, in [0, 1]. The MWO paper tries 0.5; the other detectors
    /// document their own meaning.
    pub threshold: Threshold,
    /// The second check of [`Detector::Mwo`].
    pub second: SecondCheck,
    /// The memory that knowledge of common text may take for the second check, in bytes.
    ///
    /// Beyond it, what one document alone has said is forgotten. So it belongs to the definition of a verdict.
    pub text_memory: usize,
    /// The most words that a near-duplicate may lose by the second check; `None`: what its rules allow. A page without
    /// running text, of which no words can be counted, is then a near-duplicate of no other.
    pub lose_at_most: Option<MostLost>,
    /// Whether terms of little weight are dropped before a page is compared; for [`Detector::Mwo`] and `provenance`.
    pub thresholding: Thresholding,
    /// Pages are compared only if their sentence counts differ by less than this; for [`Detector::ExtendedTdw`].
    /// `None`: always.
    #[cfg(feature = "baselines")]
    pub sentence_slack: Option<u32>,
    /// The index that finds the records to compare.
    pub filter: FilterKind,
    /// Pages with fewer distinct terms (of positive weight) are compared by their bytes only: short pages resemble
    /// each other by chance.
    ///
    /// They are not indexed, so no page is a near-duplicate of them either.
    pub min_terms: usize,
    /// The weight of an occurrence in each field.
    pub weights: FieldWeights,
    /// The pages among which duplicates are searched.
    pub within: Within,
    /// Which of several matches a verdict names. It does not change whether there is one, so it may differ from run
    /// to run. [`Mode::All`] decides like [`Mode::Best`].
    pub mode: Mode,
    /// When statistics take in what was decided.
    pub settling: Settling,
    /// Options of [`Detector::Dd`] only.
    #[cfg(feature = "baselines")]
    pub dd: DdOptions,
    /// Options of [`Detector::Fuzzy`] only.
    #[cfg(feature = "baselines")]
    pub fuzzy: FuzzyOptions,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            detector: Detector::Mwo,
            threshold: DEFAULT_THRESHOLD,
            second: SecondCheck::None,
            text_memory: Self::DEFAULT_TEXT_MEMORY,
            lose_at_most: None,
            thresholding: Thresholding::Off,
            #[cfg(feature = "baselines")]
            sentence_slack: None,
            filter: FilterKind::Exact,
            min_terms: 20,
            weights: FieldWeights::default(),
            within: Within::Crawl,
            mode: Mode::default(),
            settling: Settling::default(),
            #[cfg(feature = "baselines")]
            dd: DdOptions::default(),
            #[cfg(feature = "baselines")]
            fuzzy: FuzzyOptions::default(),
        }
    }
}

impl Options {
    /// The default memory for knowledge of common text: 256 MiB. Before anything is forgotten, 11 million
    /// runs have room that few documents say.
    pub const DEFAULT_TEXT_MEMORY: usize = 256 << 20;

    /// Returns the default threshold of a detector. With a second check the first threshold can be lower.
    pub fn default_threshold(detector: Detector, has_second: bool) -> Threshold {
        match detector {
            Detector::Mwo if has_second => FIRST_OF_TWO,
            #[cfg(feature = "baselines")]
            Detector::Fuzzy => fuzzy::DEFAULT_THRESHOLD,
            #[cfg(feature = "baselines")]
            // 18 degrees. The paper names none; up to 0.5 its formula lets every angle pass.
            Detector::ExtendedTdw => tenths(9),
            #[cfg(feature = "baselines")]
            Detector::Provenance => tenths(5),
            _ => DEFAULT_THRESHOLD,
        }
    }

    /// Returns which parts of the term order the detector needs.
    pub fn order(&self) -> WantedOrder {
        match self.detector {
            Detector::Mwo => WantedOrder { text: self.has_second(), ..WantedOrder::default() },
            #[cfg(feature = "baselines")]
            Detector::Fuzzy => WantedOrder { sentence_count: true, sentences: true, text: false },
            #[cfg(feature = "baselines")]
            Detector::ExtendedTdw => WantedOrder { sentence_count: true, ..WantedOrder::default() },
            _ => WantedOrder::default(),
        }
    }

    /// Returns the default thresholding of a detector, as in its paper.
    pub fn default_thresholding(detector: Detector) -> Thresholding {
        match detector {
            #[cfg(feature = "baselines")]
            Detector::Provenance => Thresholding::Paper,
            _ => Thresholding::Off,
        }
    }

    /// Returns the recommended options of a detector.
    pub fn of(detector: Detector) -> Self {
        let second = if detector == Detector::Mwo { SecondCheck::OwnWords } else { SecondCheck::None };
        let threshold = Self::default_threshold(detector, second == SecondCheck::OwnWords);
        Self { detector, threshold, second, thresholding: Self::default_thresholding(detector), ..Self::default() }
    }

    /// Returns a text that names everything that decides what is in the index.
    pub fn signature(&self) -> String {
        let Self { detector, threshold, filter, min_terms, weights, within, settling, .. } = self;
        let own = match detector {
            #[cfg(feature = "baselines")]
            Detector::Dd => format!(", {:?}", self.dd),
            #[cfg(feature = "baselines")]
            Detector::Fuzzy => format!(", {:?}", self.fuzzy),
            Detector::Mwo => {
                let memory = format!(", known text in {} bytes", self.text_memory);
                let memory = if self.has_second() { memory } else { String::new() };
                let lost = self.lose_at_most.map_or(String::new(), |most| format!(", losing at most {most}"));
                format!(", second {:?}{memory}{lost}, thresholding {}", self.second, self.thresholding)
            }
            #[cfg(feature = "baselines")]
            Detector::Provenance => format!(", thresholding {}", self.thresholding),
            #[cfg(feature = "baselines")]
            Detector::ExtendedTdw => format!(", sentences within {:?}", self.sentence_slack),
            _ => String::new(),
        };
        let (filter, within) = (filter.name(), within.name());
        let marks = if *settling == Settling::AtMarks { ", settling at marks" } else { "" };
        format!("{detector:?} from {threshold}, {filter}, {min_terms} terms, {weights}, {within}{own}{marks}")
    }

    /// Returns whether own words are compared.
    pub fn has_second(&self) -> bool {
        self.detector == Detector::Mwo && self.second == SecondCheck::OwnWords
    }

    /// Returns the score that a page must reach to be considered: the threshold, or a lower one.
    pub(super) fn bar(&self) -> Threshold {
        match self.detector {
            #[cfg(feature = "baselines")]
            Detector::Dd => self.dd.store_below.map_or(self.threshold, |below| self.threshold.min(below)),
            _ => self.threshold,
        }
    }
}
