//! Which pages link to their counterparts: to what a rule would make of their own URLs.
//!
//! A manual names on each page the languages in which there is that page. In place of those that it does not name the
//! site may have copies of the original. So of two URLs of a page one is a translation, or both are copies, by whether
//! the page at one of them links to the other, and to itself. Elsewhere such links tell nothing, or tell it the other
//! way round: each rule is measured on each kind of URL apart.

use hashbrown::HashSet;

use crate::model::UrlId;

/// Links that are remembered at most.
const MAX_LINKS: usize = 1 << 20;

/// To what a page links that a URL is said to repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkEvidence {
    /// To that URL or not, and to itself or not.
    Links { there: bool, itself: bool },
    /// It was not fetched yet.
    Pending,
    /// There were too many such links to remember.
    Unknown,
}

/// Two kinds of URLs, which are told apart by links, and the context in which each is measured.
pub(super) type LinkClasses = [&'static str; 2];

const THERE: LinkClasses = ["unlinked", "linked"];
const ITSELF: [LinkClasses; 2] =
    [["unlinked, itself-unlinked", "unlinked, itself-linked"], ["linked, itself-unlinked", "linked, itself-linked"]];

impl LinkEvidence {
    /// All kinds that are measured apart, wider ones first.
    pub(super) const CLASSES: [LinkClasses; 3] = [THERE, ITSELF[0], ITSELF[1]];

    /// The kinds of which a URL may be, wider ones first, each with the context of its own.
    pub(super) fn classes(self) -> impl Iterator<Item = (LinkClasses, &'static str)> {
        let kinds = match self {
            LinkEvidence::Links { there, itself } => {
                let narrow = ITSELF[usize::from(there)];
                Some([(THERE, THERE[usize::from(there)]), (narrow, narrow[usize::from(itself)])])
            }
            LinkEvidence::Pending | LinkEvidence::Unknown => None,
        };
        kinds.into_iter().flatten()
    }
}

/// The links from pages to their counterparts.
#[derive(Default)]
pub(super) struct AlternateLinks {
    links: HashSet<(u32, u32)>,
    is_full: bool,
}

impl AlternateLinks {
    /// A page links to a counterpart. Whether that is news.
    pub(super) fn note(&mut self, page: UrlId, counterpart: UrlId) -> bool {
        if self.links.len() >= MAX_LINKS && !self.links.contains(&(page.0, counterpart.0)) {
            (self.links, self.is_full) = (HashSet::new(), true);
        }
        !self.is_full && self.links.insert((page.0, counterpart.0))
    }

    /// To what `page` links, of which `url` is said to be a copy. What it repeats itself, `original`, has the same links.
    pub(super) fn evidence(&self, page: UrlId, original: UrlId, url: UrlId) -> LinkEvidence {
        let links = |to: UrlId| [page, original].iter().any(|page| self.links.contains(&(page.0, to.0)));
        if self.is_full {
            LinkEvidence::Unknown
        } else {
            LinkEvidence::Links { there: links(url), itself: links(page) }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.links.allocation_size()
    }
}
