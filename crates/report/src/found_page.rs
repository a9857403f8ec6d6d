//! A page that a finding or a change is about.

use serde::Serialize;

/// A page with a finding, and the page that it is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FoundPage {
    /// The URL of the page.
    pub url: String,
    /// The URL of the other one: the page that it repeats, names or leads to, that names it, or the first of its title.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub other: String,
    /// The URLs to which a redirect leads, one after the other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hops: Vec<String>,
    /// Pages that link to it, words on it, or hops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}
