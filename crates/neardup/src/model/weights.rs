//! The fields of a page, and the weight of a term in each.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The part of a page in which an occurrence of a term is counted. The innermost field wins: a link inside a heading
/// is anchor text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum Field {
    /// Labels of the host below the public suffix, and path segments.
    Url,
    /// `h1` to `h6`.
    Heading,
    /// `title`.
    Title,
    /// `a[href]` whose target has the page's registrable domain.
    AnchorSameSite,
    /// Any other `a[href]`.
    AnchorOtherSite,
    /// `meta[name=keywords]`.
    Keywords,
    /// `meta[name=description]`.
    Description,
    /// All other visible text.
    Body,
}

impl Field {
    /// All fields, in the order in which [`FieldCounts`] holds them.
    pub const ALL: [Field; 8] = [
        Field::Url,
        Field::Heading,
        Field::Title,
        Field::AnchorSameSite,
        Field::AnchorOtherSite,
        Field::Keywords,
        Field::Description,
        Field::Body,
    ];

    /// Returns whether this is the text of links.
    pub fn is_anchor(self) -> bool {
        matches!(self, Field::AnchorSameSite | Field::AnchorOtherSite)
    }

    /// Returns the name used in configuration and explanations.
    pub fn name(self) -> &'static str {
        match self {
            Field::Url => "url",
            Field::Heading => "heading",
            Field::Title => "title",
            Field::AnchorSameSite => "anchor-same-site",
            Field::AnchorOtherSite => "anchor-other-site",
            Field::Keywords => "keywords",
            Field::Description => "description",
            Field::Body => "body",
        }
    }
}

/// Occurrences of one term in each field, indexed by `Field as usize`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FieldCounts(pub [u32; 8]);

impl FieldCounts {
    /// Counts one more occurrence in `field`.
    pub fn add(&mut self, field: Field) {
        let count = &mut self.0[field as usize];
        *count = count.saturating_add(1);
    }
}

/// The weight of each field in hundredths, indexed by `Field as usize`. The default is the table
/// of the MWO paper: URL 2, heading 2, title 2, anchor text 1 (same site) and 0.5 (other site),
/// keywords 3, description 3, main content 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldWeights(pub [u16; 8]);

impl Default for FieldWeights {
    fn default() -> Self {
        Self([200, 200, 200, 100, 50, 300, 300, 100])
    }
}

impl FieldWeights {
    /// Returns the weighted count of a term in hundredths: the sum over the fields of count times weight.
    pub fn weigh(&self, counts: &FieldCounts) -> u64 {
        counts.0.iter().zip(self.0).map(|(&count, weight)| u64::from(count) * u64::from(weight)).sum()
    }
}

/// Written as `url=2,heading=2,...`, in the order of [`Field::ALL`].
impl fmt::Display for FieldWeights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (field, weight)) in Field::ALL.iter().zip(self.0).enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(f, "{comma}{}={}", field.name(), f64::from(weight) / 100.0)?;
        }
        Ok(())
    }
}

/// A text that is no list of weights.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldWeightsError {
    /// Unknown field.
    #[error("'{0}' is no field: the fields are {names}", names = Field::ALL.map(Field::name).join(", "))]
    Field(String),
    /// Invalid weight.
    #[error("'{0}' is no weight: give a number from 0 to 600 with at most two places")]
    Weight(String),
    /// All weights are 0.
    #[error("all weights are 0")]
    AllZero,
}

/// Parses `field=weight` pairs separated by commas. Other fields keep their default.
impl FromStr for FieldWeights {
    type Err = FieldWeightsError;

    fn from_str(text: &str) -> Result<Self, FieldWeightsError> {
        let mut weights = Self::default();
        for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let (name, weight) = pair.split_once('=').unwrap_or((pair, ""));
            let field = Field::ALL.into_iter().find(|field| field.name() == name.trim());
            let field = field.ok_or_else(|| FieldWeightsError::Field(name.trim().to_owned()))?;
            let weight = weight.trim();
            weights.0[field as usize] =
                hundredths(weight).ok_or_else(|| FieldWeightsError::Weight(weight.to_owned()))?;
        }
        if weights.0 == [0; 8] { Err(FieldWeightsError::AllZero) } else { Ok(weights) }
    }
}

/// Parses a decimal of at most two places, without rounding.
fn hundredths(text: &str) -> Option<u16> {
    let (whole, places) = text.split_once('.').unwrap_or((text, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_digits(whole) || !is_digits(places) || places.len() > 2 {
        return None;
    }
    let places: u16 = format!("{places:0<2}").parse().ok()?;
    whole.parse::<u16>().ok()?.checked_mul(100)?.checked_add(places).filter(|weight| *weight <= 60_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_read_without_rounding_and_written_as_they_are_read() {
        let text = "url=2,heading=2,title=2,anchor-same-site=1,anchor-other-site=0.5,keywords=3,description=3,body=1";
        assert_eq!(FieldWeights::default().to_string(), text);
        assert_eq!(text.parse(), Ok(FieldWeights::default()));
        let changed: FieldWeights = "url=0, body=1.25".parse().unwrap();
        assert_eq!(changed.0, [0, 200, 200, 100, 50, 300, 300, 125]);
    }

    #[test]
    fn what_is_no_weight_is_named() {
        assert_eq!("text=1".parse::<FieldWeights>(), Err(FieldWeightsError::Field("text".into())));
        for weight in ["-1", "1.234", "", "x", "601"] {
            assert_eq!(format!("body={weight}").parse::<FieldWeights>(), Err(FieldWeightsError::Weight(weight.into())));
        }
        let nothing = Field::ALL.map(|field| format!("{}=0", field.name())).join(",");
        assert_eq!(nothing.parse::<FieldWeights>(), Err(FieldWeightsError::AllZero));
    }
}
