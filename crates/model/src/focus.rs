//! Relevance of pages and links to the topic of a focused crawl.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A share in [0, 1], in ten-thousandths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Relevance(u16);

impl Relevance {
    /// No relevance.
    pub const NONE: Self = Self(0);
    /// Full relevance.
    pub const ALL: Self = Self(10_000);

    /// Returns the share nearest to a number, clamped to [0, 1].
    pub fn of(share: f64) -> Self {
        Self((share.clamp(0.0, 1.0) * 10_000.0).round() as u16)
    }

    /// Returns it as a number in [0, 1].
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / 10_000.0
    }

    /// Returns half of it.
    pub fn half(self) -> Self {
        Self(self.0 / 2)
    }
}

/// Evidence on a page for the relevance of one of its links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clue {
    /// How close the anchor text is to the topic.
    pub anchor: Relevance,
    /// The same of the words before and after it in its line.
    pub around: Relevance,
    /// The same of the heading above it.
    pub heading: Relevance,
    /// The same of the words of its URL.
    pub url: Relevance,
    /// The relevance of the page.
    pub source: Relevance,
}

impl Clue {
    /// Returns the maximum of two, part by part.
    pub fn or(self, other: Self) -> Self {
        Self {
            anchor: self.anchor.max(other.anchor),
            around: self.around.max(other.around),
            heading: self.heading.max(other.heading),
            url: self.url.max(other.url),
            source: self.source.max(other.source),
        }
    }
}

/// The expected relevance of a URL when it was leased. All parts are in [0, 1].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Expectation {
    /// The weighted mean of the parts below, which orders the queue.
    pub score: f64,
    /// Whether it was leased out of order, to explore where nothing is expected.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub explored: bool,
    /// See [`Clue::anchor`]. As in the next four, the maximum over the pages that link to it.
    pub anchor: f64,
    /// See [`Clue::around`].
    pub around: f64,
    /// See [`Clue::heading`].
    pub heading: f64,
    /// See [`Clue::url`].
    pub url: f64,
    /// See [`Clue::source`].
    pub source: f64,
    /// The relevance of other pages linked from a page that links to it.
    pub siblings: f64,
    /// The relevance of the pages in its directory, and in those above it.
    pub region: f64,
}

/// Weight of each part of an [`Expectation`] in its score. At least one is not 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartWeights([f64; 7]);

impl PartWeights {
    /// The parts, in the order of the weights.
    const NAMES: [&str; 7] = ["anchor", "around", "heading", "url", "source", "siblings", "region"];

    /// Returns the weighted mean of an expectation's parts.
    pub fn score(&self, parts: &Expectation) -> f64 {
        let Expectation { anchor, around, heading, url, source, siblings, region, .. } = *parts;
        let parts = [anchor, around, heading, url, source, siblings, region];
        let weighed: f64 = self.0.iter().zip(parts).map(|(weight, part)| weight * part).sum();
        weighed / self.0.iter().sum::<f64>()
    }
}

impl Default for PartWeights {
    fn default() -> Self {
        Self([1.0, 0.5, 0.3, 1.0, 0.2, 1.0, 1.0])
    }
}

impl fmt::Display for PartWeights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs: Vec<String> =
            Self::NAMES.iter().zip(self.0).map(|(name, weight)| format!("{name}={weight}")).collect();
        f.write_str(&pairs.join(","))
    }
}

/// Why a text gives no [`PartWeights`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartWeightsError {
    /// Unknown part.
    #[error("'{0}' is no part of what is expected: the parts are {names}", names = PartWeights::NAMES.join(", "))]
    Part(String),
    /// Invalid weight.
    #[error("'{0}' is no weight: give a number from 0 to 100")]
    Weight(String),
    /// All weights are 0.
    #[error("all weights are 0")]
    AllZero,
}

/// Parses `part=weight` pairs, separated by commas. Other parts keep their default.
impl FromStr for PartWeights {
    type Err = PartWeightsError;

    fn from_str(text: &str) -> Result<Self, PartWeightsError> {
        let mut weights = Self::default();
        for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let (name, weight) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, weight) = (name.trim(), weight.trim());
            let part = Self::NAMES.iter().position(|part| *part == name);
            let part = part.ok_or_else(|| PartWeightsError::Part(name.to_owned()))?;
            let number = weight.parse().ok().filter(|number| (0.0..=100.0).contains(number));
            weights.0[part] = number.ok_or_else(|| PartWeightsError::Weight(weight.to_owned()))?;
        }
        if weights.0.iter().sum::<f64>() > 0.0 { Ok(weights) } else { Err(PartWeightsError::AllZero) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_read_as_they_are_printed_and_what_is_none_is_named() {
        let default = PartWeights::default();
        assert_eq!(default.to_string().parse(), Ok(default));
        let only_url: PartWeights = "anchor=0,around=0,heading=0,url=2.5,source=0,siblings=0,region=0".parse().unwrap();
        let half = Expectation { url: 0.5, anchor: 1.0, ..Expectation::default() };
        assert_eq!(only_url.score(&half), 0.5);
        assert_eq!("text=1".parse::<PartWeights>(), Err(PartWeightsError::Part("text".into())));
        for weight in ["-1", "x", "", "NaN", "101"] {
            assert_eq!(format!("url={weight}").parse::<PartWeights>(), Err(PartWeightsError::Weight(weight.into())));
        }
        let nothing = PartWeights::NAMES.map(|name| format!("{name}=0")).join(",");
        assert_eq!(nothing.parse::<PartWeights>(), Err(PartWeightsError::AllZero));
    }

    #[test]
    fn a_share_is_brought_between_none_and_all() {
        assert_eq!([-1.0, f64::NAN, 2.0].map(Relevance::of), [Relevance::NONE, Relevance::NONE, Relevance::ALL]);
        assert_eq!(Relevance::of(0.123_44).as_f64(), 0.1234);
    }
}
