//! Verdicts, scores and thresholds.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Sequence;

/// A decimal in [0, 1] of at most six places, kept in millionths: comparisons with it are exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Threshold(u32);

impl Threshold {
    /// One, in millionths.
    pub const ONE: u32 = 1_000_000;

    /// Creates a threshold from millionths, 0 to 1,000,000.
    pub const fn from_millionths(millionths: u32) -> Option<Self> {
        if millionths <= Self::ONE { Some(Self(millionths)) } else { None }
    }

    /// Returns the threshold in millionths.
    pub const fn millionths(self) -> u32 {
        self.0
    }
}

/// A text that is no decimal in [0, 1] with at most six places.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a threshold: give a decimal from 0 to 1 with at most six places, such as 0.8")]
pub struct ThresholdError(String);

impl TryFrom<f64> for Threshold {
    type Error = ThresholdError;

    fn try_from(value: f64) -> Result<Self, ThresholdError> {
        value.to_string().parse()
    }
}

impl From<Threshold> for f64 {
    fn from(threshold: Threshold) -> f64 {
        f64::from(threshold.0) / f64::from(Threshold::ONE)
    }
}

impl FromStr for Threshold {
    type Err = ThresholdError;

    fn from_str(text: &str) -> Result<Self, ThresholdError> {
        let error = || ThresholdError(text.to_owned());
        let (whole, places) = text.split_once('.').unwrap_or((text, ""));
        let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(places) || places.len() > 6 || (whole.is_empty() && places.is_empty()) {
            return Err(error());
        }
        let whole: u32 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| error())? };
        let places: u32 = format!("{places:0<6}").parse().map_err(|_| error())?;
        let millionths = whole.checked_mul(Self::ONE).and_then(|w| w.checked_add(places)).ok_or_else(error)?;
        Self::from_millionths(millionths).ok_or_else(error)
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f64::from(*self).fmt(f)
    }
}

/// A similarity in [0, 1] in millionths, rounded down: a score printed as 0.8 has reached 0.8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Score(pub u32);

impl Score {
    /// Returns the score as a number in [0, 1].
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / f64::from(Threshold::ONE)
    }
}

/// Written as a number in [0, 1], with as many places as the format asks for.
impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_f64().fmt(f)
    }
}

/// The detector that gave a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Detector {
    /// Exact copies only.
    None,
    /// Minimum weight overlapping.
    Mwo,
    /// The hash algorithm: sets of keywords.
    #[cfg(feature = "baselines")]
    Dd,
    /// Fuzzy sets: sentences of related words.
    #[cfg(feature = "baselines")]
    Fuzzy,
    /// The extended term-document-weight matrix: angles, after words were mapped to synonyms.
    #[cfg(feature = "baselines")]
    ExtendedTdw,
    /// Web provenance, and the matrix in two dimensions.
    #[cfg(feature = "baselines")]
    Provenance,
}

impl Detector {
    /// All of them, the default first. Without the feature `baselines`: [`Mwo`](Self::Mwo) and [`None`](Self::None).
    #[cfg(not(feature = "baselines"))]
    pub const ALL: [Self; 2] = [Self::Mwo, Self::None];
    /// All of them, the default first.
    #[cfg(feature = "baselines")]
    pub const ALL: [Self; 6] = [Self::Mwo, Self::Dd, Self::Fuzzy, Self::ExtendedTdw, Self::Provenance, Self::None];

    /// Returns the name used on the command line and in output.
    pub fn name(self) -> &'static str {
        match self {
            Detector::None => "none",
            Detector::Mwo => "mwo",
            #[cfg(feature = "baselines")]
            Detector::Dd => "dd",
            #[cfg(feature = "baselines")]
            Detector::Fuzzy => "fuzzy",
            #[cfg(feature = "baselines")]
            Detector::ExtendedTdw => "extended-tdw",
            #[cfg(feature = "baselines")]
            Detector::Provenance => "provenance",
        }
    }
}

/// The evidence for a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecidedBy {
    /// The bytes of the body were seen before.
    BodyDigest,
    /// The extracted text was seen before.
    TextDigest,
    /// The detector compared the two records.
    Similarity,
}

impl DecidedBy {
    /// Returns the name used in output.
    pub fn name(self) -> &'static str {
        match self {
            DecidedBy::BodyDigest => "body-digest",
            DecidedBy::TextDigest => "text-digest",
            DecidedBy::Similarity => "similarity",
        }
    }
}

/// What two near-duplicates say that the other does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// Own words of the page that the kept page lacks.
    pub adds: u32,
    /// Own words of the kept page that the page lacks.
    pub lacks: u32,
    /// All words of the page, own or common.
    pub words: u32,
    /// Those of them that stand in no run that the kept page has: what is lost with the page.
    pub loses: u32,
    /// Whether the page has a subject of its own nevertheless: another name, and words under it.
    pub has_own_subject: bool,
}

/// The decision about a page.
///
/// `of` is always a *stored* page, never another duplicate: one of this crawl, or [one that an earlier crawl
/// stored](Sequence::as_earlier).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// No stored page matches: the page is stored.
    Unique,
    /// The page is similar to `of`.
    NearDuplicate {
        /// The stored page that is repeated.
        of: Sequence,
        /// The similarity of the two.
        score: Score,
        /// The similarity by the detector's second check, if that gives a score.
        second: Option<Score>,
        /// What either page says for itself and the other does not; `None` if only weights were compared.
        difference: Option<Difference>,
        /// The detector that compared them.
        detector: Detector,
        /// By similarity, or inherited from a near-duplicate of which this is an exact copy.
        decided_by: DecidedBy,
    },
    /// The page has the bytes or the text of the stored page `of`.
    ExactDuplicate {
        /// The stored page that is repeated.
        of: Sequence,
        /// Bytes or text.
        decided_by: DecidedBy,
    },
}

impl Verdict {
    /// Returns the stored page that is repeated, if any.
    pub fn duplicate_of(&self) -> Option<Sequence> {
        match *self {
            Verdict::Unique => None,
            Verdict::NearDuplicate { of, .. } | Verdict::ExactDuplicate { of, .. } => Some(of),
        }
    }

    /// Returns the same verdict with other page numbers.
    #[must_use]
    pub fn renumbered(self, number: impl Fn(Sequence) -> Sequence) -> Self {
        match self {
            Verdict::Unique => Verdict::Unique,
            Verdict::NearDuplicate { of, score, second, difference, detector, decided_by } => {
                Verdict::NearDuplicate { of: number(of), score, second, difference, detector, decided_by }
            }
            Verdict::ExactDuplicate { of, decided_by } => Verdict::ExactDuplicate { of: number(of), decided_by },
        }
    }

    /// Returns whether the page was compared and found similar, as opposed to inheriting that.
    pub fn is_by_similarity(&self) -> bool {
        matches!(self, Verdict::NearDuplicate { decided_by: DecidedBy::Similarity, .. })
    }

    /// Returns whether the page is to be stored.
    pub fn is_unique(&self) -> bool {
        matches!(self, Verdict::Unique)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_is_read_without_rounding() {
        for (text, millionths) in [("0.8", 800_000), ("1", 1_000_000), ("0", 0), (".5", 500_000), ("0.333333", 333_333)]
        {
            assert_eq!(text.parse::<Threshold>().map(Threshold::millionths), Ok(millionths), "{text}");
        }
        for text in ["", ".", "1.1", "-0.1", "0.1234567", "NaN", "1e-1", "80%"] {
            assert!(text.parse::<Threshold>().is_err(), "{text}");
        }
        assert_eq!(Threshold::try_from(0.7), "0.7".parse());
    }
}
