//! Where on a page a term stands, and what it weighs there.

use serde::{Deserialize, Serialize};

/// The part of a page in which one occurrence of a term is counted. The innermost field wins: a
/// link inside a heading is anchor text.
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

    /// The name used in configuration and explanations.
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

/// How often one term stands in each field, indexed by `Field as usize`.
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
    /// The weighted count of a term in hundredths: the sum over the fields of count times weight.
    pub fn weigh(&self, counts: &FieldCounts) -> u64 {
        counts.0.iter().zip(self.0).map(|(&count, weight)| u64::from(count) * u64::from(weight)).sum()
    }
}
