//! Which pages link to their counterparts: to what a rule would make of their own URLs.
//!
//! A manual names on each page the languages in which there is that page. Of a language that it does not name the site
//! may have a copy of the original all the same. Whether the page that a URL is said to repeat links to it therefore
//! often tells a translation from a copy, and as often it tells nothing: each rule is measured on both kinds apart.

use hashbrown::HashSet;

use crate::record::UrlId;

/// Links that are remembered at most.
const MOST: usize = 1 << 20;

/// Whether the page that a URL is said to repeat links to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// It does.
    Links,
    /// It does not.
    LinksNot,
    /// It was not fetched yet.
    Pending,
    /// There were too many such links to remember.
    Unknown,
}

impl Naming {
    /// The context in which a rule is measured on such URLs.
    pub(super) fn context(self) -> Option<&'static str> {
        match self {
            Naming::Links => Some("linked"),
            Naming::LinksNot => Some("unlinked"),
            Naming::Pending | Naming::Unknown => None,
        }
    }
}

/// The links from pages to their counterparts.
#[derive(Default)]
pub(super) struct Editions {
    links: HashSet<(u32, u32)>,
    is_full: bool,
}

impl Editions {
    /// A page links to a counterpart. Whether that is news.
    pub(super) fn note(&mut self, page: UrlId, counterpart: UrlId) -> bool {
        if self.links.len() >= MOST && !self.links.contains(&(page.0, counterpart.0)) {
            (self.links, self.is_full) = (HashSet::new(), true);
        }
        !self.is_full && self.links.insert((page.0, counterpart.0))
    }

    /// Whether one of these URLs, which say the same, links to a URL.
    pub(super) fn naming(&self, pages: [UrlId; 2], url: UrlId) -> Naming {
        match pages.iter().any(|page| self.links.contains(&(page.0, url.0))) {
            _ if self.is_full => Naming::Unknown,
            true => Naming::Links,
            false => Naming::LinksNot,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.links.allocation_size()
    }
}
