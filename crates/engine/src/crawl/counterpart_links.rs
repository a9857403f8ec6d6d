//! Which links of a duplicate have a counterpart among the links of the page that it repeats.
//!
//! A counterpart is the same URL, or the URL to which the [change](UrlChange) from the duplicate to that page leads.
//! A link without one is *unmatched*: it may lead to pages that no stored page names.
//!
//! Cost: some ten look-ups in the frontier for a link that is not the same URL.

use std::collections::HashSet;

use crate::pipeline::{NamedOriginal, OriginalLinks, link_hash};
use ndcrawl_dust::UrlChange;
use ndcrawl_model::UrlId;

/// The links of the page that a duplicate repeats.
pub(super) struct CounterpartLinks<'a> {
    change: Option<UrlChange<'a>>,
    links: KnownLinks<'a>,
}

enum KnownLinks<'a> {
    Here(HashSet<UrlId>),
    Earlier(&'a [u32]),
}

impl<'a> CounterpartLinks<'a> {
    /// Pairs the links of `duplicate` with those of `original`.
    pub fn new(duplicate: &'a str, original: &'a NamedOriginal) -> Self {
        let links = match &original.links {
            OriginalLinks::Here(links) => KnownLinks::Here(links.iter().copied().collect()),
            OriginalLinks::Earlier(hashes) => KnownLinks::Earlier(hashes),
        };
        Self { change: UrlChange::between(duplicate, &original.url), links }
    }

    /// Whether a link of the duplicate has a counterpart. `find` returns the number of a URL that was seen.
    pub fn has(&self, link: &str, find: impl Fn(&str) -> Option<UrlId>) -> bool {
        let is_known = |url: &str| match &self.links {
            KnownLinks::Here(links) => find(url).is_some_and(|id| links.contains(&id)),
            KnownLinks::Earlier(hashes) => hashes.binary_search(&link_hash(url)).is_ok(),
        };
        let counterparts = || self.change.iter().flat_map(|change| change.counterparts(link));
        is_known(link) || counterparts().any(|url| is_known(&url))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const URLS: [&str; 4] = ["http://h.test/en/a", "http://h.test/en/b", "http://h.test/both", "http://h.test/en/none"];

    fn find(url: &str) -> Option<UrlId> {
        URLS.iter().position(|known| *known == url).map(|place| UrlId(place as u32))
    }

    fn original(links: OriginalLinks) -> NamedOriginal {
        NamedOriginal { id: None, url: URLS[0].to_owned(), capture: 1, fetched_at: None, folder: None, links }
    }

    #[test]
    fn a_link_has_a_counterpart_if_the_other_page_has_it_or_its_like() {
        let mut hashes: Vec<u32> = URLS[1..3].iter().map(|url| link_hash(url)).collect();
        hashes.sort_unstable();
        for links in [OriginalLinks::Here(vec![UrlId(1), UrlId(2)]), OriginalLinks::Earlier(hashes)] {
            let original = original(links);
            let counterparts = CounterpartLinks::new("http://h.test/de/a", &original);
            for (link, is_matched) in [
                ("http://h.test/both", true),
                ("http://h.test/en/b", true),
                ("http://h.test/de/b", true),
                ("http://h.test/de/none", false),
                ("http://h.test/de/new", false),
                ("http://h.test/new", false),
            ] {
                assert_eq!(counterparts.has(link, find), is_matched, "{link}");
            }
        }
    }
}
