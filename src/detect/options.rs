//! How the decider decides.

use serde::{Deserialize, Serialize};

use super::Mode;
use crate::filter::FilterKind;
use crate::record::{Detector, FieldWeights, Threshold};

/// 0.8: pages of which four fifths of the weight agree are one page.
const DEFAULT_THRESHOLD: Threshold = match Threshold::from_millionths(800_000) {
    Some(threshold) => threshold,
    None => panic!("0.8 is a threshold"),
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
    /// From which similarity on a page is a near-duplicate, in [0, 1]; the paper tries 0.5.
    pub threshold: Threshold,
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
}

impl Default for Options {
    fn default() -> Self {
        Self {
            detector: Detector::Mwo,
            threshold: DEFAULT_THRESHOLD,
            filter: FilterKind::Exact,
            min_terms: 20,
            weights: FieldWeights::default(),
            within: Within::Crawl,
            mode: Mode::default(),
        }
    }
}

impl Options {
    /// Names everything that decides what is in the index.
    pub fn signature(&self) -> String {
        let Self { detector, filter, min_terms, weights, within, .. } = self;
        format!("{detector:?}, {}, {min_terms} terms, {weights}, {}", filter.name(), within.name())
    }
}
