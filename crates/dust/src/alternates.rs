//! Links from pages to their counterparts: to the URLs that a rule derives from their own.
//!
//! A page of a manual links to its translations. For a missing translation the site may serve a copy of the original.
//! So a URL is a copy or a translation by whether the page at its counterpart links to it, and to itself. On other
//! sites such links mean nothing, or the opposite. So the learner measures each rule separately for each class of URLs.

use hashbrown::HashSet;

use ndcrawl_model::UrlId;

/// The most links to remember.
const MAX_LINKS: usize = 1 << 20;

/// The links of a page that a URL may repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkEvidence {
    /// Whether the page links to that URL, and to itself.
    Links { there: bool, itself: bool },
    /// The page has not been fetched yet.
    Pending,
    /// There were too many such links to remember.
    Unknown,
}

/// Two classes of URLs that links tell apart; each is the name of a context.
pub(super) type LinkClasses = [&'static str; 2];

const THERE: LinkClasses = ["unlinked", "linked"];
const ITSELF: [LinkClasses; 2] =
    [["unlinked, itself-unlinked", "unlinked, itself-linked"], ["linked, itself-unlinked", "linked, itself-linked"]];

impl LinkEvidence {
    /// All classes, wider ones first.
    pub(super) const CLASSES: [LinkClasses; 3] = [THERE, ITSELF[0], ITSELF[1]];

    /// Returns the classes to which a URL may belong, wider ones first, each with the URL's own context.
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
    /// Records a link to a counterpart. Returns whether it is new and remembered.
    pub(super) fn note(&mut self, page: UrlId, counterpart: UrlId) -> bool {
        if self.links.len() >= MAX_LINKS && !self.links.contains(&(page.0, counterpart.0)) {
            (self.links, self.is_full) = (HashSet::new(), true);
        }
        !self.is_full && self.links.insert((page.0, counterpart.0))
    }

    /// Returns the links of `page`, which `url` may repeat. Its `original` has the same links.
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
