//! The paper's names for ranges of scores (figure 5, table 2 and the conclusion).

use std::fmt;

use crate::model::{Score, Threshold};

/// A range of SimScores. The threshold decides about a page; the band tells what the paper would call it.
///
/// The paper writes "< 60 %", "60 % to 70 %", "more than 70 %", and "> 80 %". So 60 and 70 are suspicious, and 80 is
/// almost a near-duplicate. Scores are rounded down to millionths; that changes the band only of pages with more than
/// 100,000 keywords together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Band {
    /// Below 60 %: "not similar".
    Unique,
    /// From 60 % to 70 %.
    Suspicious,
    /// Over 70 %, to 80 %.
    AlmostNearDuplicate,
    /// Over 80 %.
    NearDuplicate,
}

impl Band {
    /// All bands, from the lowest.
    pub const ALL: [Self; 4] = [Self::Unique, Self::Suspicious, Self::AlmostNearDuplicate, Self::NearDuplicate];

    /// Returns the band of a score.
    pub fn of(score: Score) -> Self {
        const PERCENT: u32 = Threshold::ONE / 100;
        match score.0 {
            score if score < 60 * PERCENT => Self::Unique,
            score if score <= 70 * PERCENT => Self::Suspicious,
            score if score <= 80 * PERCENT => Self::AlmostNearDuplicate,
            _ => Self::NearDuplicate,
        }
    }

    /// Returns the name used in output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unique => "unique",
            Self::Suspicious => "suspicious",
            Self::AlmostNearDuplicate => "almost-near-duplicate",
            Self::NearDuplicate => "near-duplicate",
        }
    }

    /// Returns the range as the paper writes it.
    pub fn range(self) -> &'static str {
        match self {
            Self::Unique => "<60%",
            Self::Suspicious => "60% to 70%",
            Self::AlmostNearDuplicate => "70% to 80%",
            Self::NearDuplicate => ">80%",
        }
    }
}

/// The number of scores in each band (tables 2 and 3). Displays as a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BandCounts([u64; 4]);

impl BandCounts {
    /// Returns the number of scores in one band.
    pub fn count(&self, band: Band) -> u64 {
        self.0[band as usize]
    }
}

impl Extend<Score> for BandCounts {
    fn extend<T: IntoIterator<Item = Score>>(&mut self, scores: T) {
        scores.into_iter().for_each(|score| self.0[Band::of(score) as usize] += 1);
    }
}

impl FromIterator<Score> for BandCounts {
    fn from_iter<T: IntoIterator<Item = Score>>(scores: T) -> Self {
        let mut counts = Self::default();
        counts.extend(scores);
        counts
    }
}

impl fmt::Display for BandCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<12}{:<24}{:>8}", "SimScore", "band", "pages")?;
        for band in Band::ALL {
            writeln!(f, "{:<12}{:<24}{:>8}", band.range(), band.name(), self.count(band))?;
        }
        Ok(())
    }
}
