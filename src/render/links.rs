//! The links of a page: resolved, each once.

use std::collections::HashMap;

use url::Url;

use crate::record::{CanonicalUrl, Normaliser, OutLink, UrlError};

/// Collects links in order of first appearance.
pub(super) struct Links<'a> {
    normaliser: &'a Normaliser,
    page: &'a CanonicalUrl,
    base: Url,
    most: usize,
    found: Vec<OutLink>,
    /// Position in `found`. Also holds the page itself, at a position that does not exist.
    seen: HashMap<CanonicalUrl, usize>,
    pub dropped: u32,
    pub over_limit: u32,
}

impl<'a> Links<'a> {
    /// For the links of `page`, at most `most` of them.
    pub fn new(normaliser: &'a Normaliser, page: &'a CanonicalUrl, most: usize) -> Self {
        let seen = HashMap::from([(page.clone(), usize::MAX)]);
        let base = page.as_url().clone();
        Self { normaliser, page, base, most, found: Vec::new(), seen, dropped: 0, over_limit: 0 }
    }

    /// Sets the base for what follows, as the first `base[href]` does. Only http and https can be
    /// a base; others are passed over.
    pub fn set_base(&mut self, href: &str) {
        if let Ok(base) = self.page.as_url().join(href)
            && matches!(base.scheme(), "http" | "https")
        {
            self.base = base;
        }
    }

    /// Resolves a reference without collecting it.
    pub fn resolve(&self, reference: &str) -> Result<CanonicalUrl, UrlError> {
        self.normaliser.resolve(&self.base, reference)
    }

    /// Collects the link. A URL that is linked twice is nofollow only if both links say so.
    /// Answers whether its target lies in the page's registrable domain; `None` if it is no URL to
    /// crawl.
    pub fn add(&mut self, reference: &str, nofollow: bool) -> Option<bool> {
        let Ok(url) = self.resolve(reference) else {
            self.dropped = self.dropped.saturating_add(1);
            return None;
        };
        let same_site = url.registrable_domain() == self.page.registrable_domain();
        if let Some(&at) = self.seen.get(&url) {
            if let Some(known) = self.found.get_mut(at) {
                known.nofollow &= nofollow;
            }
        } else if self.found.len() < self.most {
            self.seen.insert(url.clone(), self.found.len());
            self.found.push(OutLink { url, nofollow });
        } else {
            self.over_limit = self.over_limit.saturating_add(1);
        }
        Some(same_site)
    }

    /// The links.
    pub fn into_found(self) -> Vec<OutLink> {
        self.found
    }
}
