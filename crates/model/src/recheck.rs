//! What a recrawl finds of the pages that the crawl before has kept.

use serde::{Deserialize, Serialize};

use crate::named;

named! {
    /// Why a page is taken as the crawl before has archived it, without a request.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum NotRequested {
        /// Its sitemap says that it has not changed, and the sitemaps of its host have proved true.
        Lastmod = "lastmod": "not requested again: its sitemap says that it has not changed since (--trust-lastmod)",
        /// The crawl before has requested it a short time ago.
        Recent = "recent": "not requested again: the crawl before has requested it a short time ago (--recrawl-after)",
    }
}

named! {
    /// What a sitemap says of a page.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum LastmodClaim {
        /// It may have changed since the crawl before, or is new.
        Changed = "changed",
        /// It has not changed since the crawl before.
        Unchanged = "unchanged",
    }
}

/// What a request for a page of the crawl before has found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recheck {
    /// Whether the text of the page has changed.
    pub changed: bool,
    /// What its sitemap says of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lastmod: Option<LastmodClaim>,
    /// If the sitemaps of the host are trusted: the share of unchanged pages that are requested all the same, in (0, 1].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
}

/// What became of a page of the crawl before.
#[derive(Clone, Debug, PartialEq)]
pub enum Recrawled {
    /// It was requested.
    Requested(Recheck),
    /// Its archived copy was reused.
    Reused(NotRequested),
}
