//! How much of a page may be lost when it is dropped as a near-duplicate.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Threshold;

/// The most words of a near-duplicate that may stand in no run of words that the kept page has, too.
///
/// A page that would lose more is unique. Exact duplicates lose nothing. Written as `12` (words) or `2.5%` (of all words of
/// the page).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MostLost {
    /// A number of words; 0: only what the kept page contains is dropped.
    Words(u32),
    /// A share of the page's words.
    Share(Threshold),
}

/// A text that is no [`MostLost`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a number of words or a percentage with up to four decimal places, such as 0, 12 or 2.5%")]
pub struct MostLostError;

impl MostLost {
    /// Returns whether a page of so many words may lose so many of them.
    pub fn allows(self, lost: usize, words: usize) -> bool {
        match self {
            MostLost::Words(most) => lost as u64 <= u64::from(most),
            MostLost::Share(share) => {
                lost as u128 * u128::from(Threshold::ONE) <= words as u128 * u128::from(share.millionths())
            }
        }
    }
}

impl FromStr for MostLost {
    type Err = MostLostError;

    fn from_str(text: &str) -> Result<Self, MostLostError> {
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let Some(percent) = text.strip_suffix('%') else {
            return text.parse().ok().filter(|_| is_number(text)).map(MostLost::Words).ok_or(MostLostError);
        };
        let (whole, places) = percent.split_once('.').unwrap_or((percent, "0"));
        if !is_number(whole) || !is_number(places) || places.len() > 4 {
            return Err(MostLostError);
        }
        let millionths = format!("{whole}{places:0<4}").parse().ok().and_then(Threshold::from_millionths);
        millionths.map(MostLost::Share).ok_or(MostLostError)
    }
}

impl fmt::Display for MostLost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            MostLost::Words(most) => most.fmt(f),
            MostLost::Share(share) => {
                let (whole, places) = (share.millionths() / 10_000, format!("{:04}", share.millionths() % 10_000));
                let places = places.trim_end_matches('0');
                let point = if places.is_empty() { "" } else { "." };
                write!(f, "{whole}{point}{places}%")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_shares_are_read_and_written() {
        for text in ["0", "12", "0%", "2.5%", "0.0001%", "100%"] {
            assert_eq!(text.parse::<MostLost>().unwrap().to_string(), text);
        }
        for text in ["", "%", "-1", "+1", "1.5", "101%", "1.00001%", ".5%", "1.%", "4294967296", "a", "1 %", "1%%"] {
            assert_eq!(text.parse::<MostLost>(), Err(MostLostError), "{text}");
        }
    }

    #[test]
    fn a_bound_is_kept_to_the_word() {
        let allows = |text: &str, lost, words| text.parse::<MostLost>().unwrap().allows(lost, words);
        assert!(allows("0", 0, 0) && !allows("0", 1, 1000) && allows("3", 3, 3) && !allows("3", 4, 1000));
        assert!(allows("2.5%", 1, 40) && !allows("2.5%", 1, 39) && allows("100%", 7, 7) && !allows("0%", 1, 7));
        assert!(allows("100%", usize::MAX, usize::MAX) && !allows("99.9999%", usize::MAX, usize::MAX));
    }
}
