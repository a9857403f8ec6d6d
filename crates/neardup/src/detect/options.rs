//! How the decider decides.

use serde::{Deserialize, Serialize};

#[cfg(feature = "baselines")]
use super::detectors::dd::DdOptions;
#[cfg(feature = "baselines")]
use super::detectors::fuzzy::{self, FuzzyOptions};
use super::{Mode, Thresholding};
use crate::index::FilterKind;
use crate::model::{Detector, FieldWeights, Threshold, WantedOrder};

/// 0.8: pages of which four fifths of the weight agree are one page.
const DEFAULT_THRESHOLD: Threshold = tenths(8);

const fn tenths(tenths: u32) -> Threshold {
    match Threshold::from_millionths(tenths * 100_000) {
        Some(threshold) => threshold,
        None => panic!("tenths up to ten are thresholds"),
    }
}

/// 0.68: what pages share that were translated but for their text.
const FIRST_OF_TWO: Threshold = match Threshold::from_millionths(680_000) {
    Some(threshold) => threshold,
    None => panic!("0.68 is a threshold"),
};

/// Among which pages a copy is looked for.
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
    /// The name used on the command line and in output.
    pub fn name(self) -> &'static str {
        match self {
            Within::Crawl => "crawl",
            Within::Host => "host",
        }
    }
}

/// The decider's options. Verdicts made under different options can't be mixed in one log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The detector; [`Detector::None`] finds exact copies only.
    pub detector: Detector,
    /// From which similarity on a page is a near-duplicate, in [0, 1]; the MWO paper tries 0.5. What it
    /// means to the other detectors stands in their documentation.
    pub threshold: Threshold,
    /// From which likeness on the second condition of [`Detector::Mwo`] is met, which looks at the
    /// order of the words and at what other pages of the host hold; `None`: the paper's weights alone
    /// decide. What is asked of short pages is more: [`TemplateAware`](super::TemplateAware).
    pub second: Option<Threshold>,
    /// Whether terms of little weight are dropped before a page is compared; by [`Detector::Mwo`] and
    /// [`Detector::Provenance`].
    pub thresholding: Thresholding,
    /// Pages are compared only if the numbers of their sentences differ by less than this; by
    /// [`Detector::ExtendedTdw`]. `None`: whatever they are.
    #[cfg(feature = "baselines")]
    pub sentence_slack: Option<u32>,
    /// How the records to compare are found.
    pub filter: FilterKind,
    /// Pages with fewer distinct terms (of positive weight) are compared by their bytes only: short
    /// pages resemble each other by chance. They are never in the index, so nothing is found to be
    /// a near-duplicate of them either.
    pub min_terms: usize,
    /// What an occurrence weighs in each field.
    pub weights: FieldWeights,
    /// Among which pages a copy is looked for.
    pub within: Within,
    /// Which of several matches a verdict names. Whether there is one does not depend on it, so
    /// this may change from run to run. [`Mode::All`] decides like [`Mode::Best`].
    pub mode: Mode,
    /// What only [`Detector::Dd`] asks for.
    #[cfg(feature = "baselines")]
    pub dd: DdOptions,
    /// What only [`Detector::Fuzzy`] asks for.
    #[cfg(feature = "baselines")]
    pub fuzzy: FuzzyOptions,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            detector: Detector::Mwo,
            threshold: DEFAULT_THRESHOLD,
            second: None,
            thresholding: Thresholding::Off,
            #[cfg(feature = "baselines")]
            sentence_slack: None,
            filter: FilterKind::Exact,
            min_terms: 20,
            weights: FieldWeights::default(),
            within: Within::Crawl,
            mode: Mode::default(),
            #[cfg(feature = "baselines")]
            dd: DdOptions::default(),
            #[cfg(feature = "baselines")]
            fuzzy: FuzzyOptions::default(),
        }
    }
}

impl Options {
    /// The second condition's threshold, if nobody sets another. On the labelled public pages it
    /// leaves 10 of 1,983 pages out that are nobody's copies, where the paper's weights alone leave
    /// out 67, and finds 922 of 923 near-duplicates, where those find 915.
    pub const DEFAULT_SECOND: Threshold = match Threshold::from_millionths(350_000) {
        Some(threshold) => threshold,
        None => panic!("0.35 is a threshold"),
    };

    /// The threshold of a detector, if nobody sets another. With a second condition the first can be
    /// lower.
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

    /// What of the order of terms the detector goes by.
    pub fn order(&self) -> WantedOrder {
        match self.detector {
            Detector::Mwo => WantedOrder { shingles: self.second.is_some(), ..WantedOrder::default() },
            #[cfg(feature = "baselines")]
            Detector::Fuzzy => WantedOrder { sentence_count: true, sentences: true, shingles: false },
            #[cfg(feature = "baselines")]
            Detector::ExtendedTdw => WantedOrder { sentence_count: true, ..WantedOrder::default() },
            _ => WantedOrder::default(),
        }
    }

    /// Whether a detector drops light terms, if nobody says so: as its paper does.
    pub fn default_thresholding(detector: Detector) -> Thresholding {
        match detector {
            #[cfg(feature = "baselines")]
            Detector::Provenance => Thresholding::Paper,
            _ => Thresholding::Off,
        }
    }

    /// The options with which a detector is meant to be used, if nothing else is said.
    pub fn of(detector: Detector) -> Self {
        let second = (detector == Detector::Mwo).then_some(Self::DEFAULT_SECOND);
        let threshold = Self::default_threshold(detector, second.is_some());
        Self { detector, threshold, second, thresholding: Self::default_thresholding(detector), ..Self::default() }
    }

    /// Names everything that decides what is in the index.
    pub fn signature(&self) -> String {
        let Self { detector, threshold, filter, min_terms, weights, within, .. } = self;
        let own = match detector {
            #[cfg(feature = "baselines")]
            Detector::Dd => format!(", {:?}", self.dd),
            #[cfg(feature = "baselines")]
            Detector::Fuzzy => format!(", {:?}", self.fuzzy),
            Detector::Mwo => format!(", second {:?}, thresholding {}", self.second, self.thresholding),
            #[cfg(feature = "baselines")]
            Detector::Provenance => format!(", thresholding {}", self.thresholding),
            #[cfg(feature = "baselines")]
            Detector::ExtendedTdw => format!(", sentences within {:?}", self.sentence_slack),
            _ => String::new(),
        };
        let (filter, within) = (filter.name(), within.name());
        format!("{detector:?} from {threshold}, {filter}, {min_terms} terms, {weights}, {within}{own}")
    }

    /// What a page has to reach to be looked at: the threshold, or what lies below it.
    pub(super) fn bar(&self) -> Threshold {
        match self.detector {
            #[cfg(feature = "baselines")]
            Detector::Dd => self.dd.store_below.map_or(self.threshold, |below| self.threshold.min(below)),
            _ => self.threshold,
        }
    }
}
