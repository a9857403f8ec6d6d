//! The stored page that a duplicate names.

use ndcrawl_model::{CanonicalUrl, UrlId, shown_url};

/// The stored page that a duplicate repeats.
pub struct NamedOriginal {
    /// `None` if an earlier crawl has stored it.
    pub id: Option<UrlId>,
    /// Its URL, as the store spells it.
    pub url: String,
    /// The number of its capture. A crawl has one of each URL.
    pub capture: u32,
    /// Fetch time, milliseconds since 1970 UTC.
    pub fetched_at: Option<i64>,
    /// The folder of the earlier crawl.
    pub folder: Option<String>,
    /// Its links.
    pub links: OriginalLinks,
}

/// The links of the stored page that a duplicate repeats.
pub enum OriginalLinks {
    /// Those of a page of this crawl.
    Here(Vec<UrlId>),
    /// Those of a page of an earlier crawl: [hashes](super::link_hash), ascending.
    Earlier(Vec<u32>),
}

impl NamedOriginal {
    /// Returns its URL as a line names it: see [`CanonicalUrl::shown`].
    pub fn shown(&self) -> String {
        shown_url(&self.url).into_owned()
    }

    /// Returns its file, if it is a document without URL.
    pub fn file(&self) -> Option<String> {
        CanonicalUrl::from_canonical(&self.url).ok()?.file()
    }
}
