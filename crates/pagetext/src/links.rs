//! The links of a page: resolved, each once.
//!
//! Pages name the same targets again and again (menus, indexes, fragments of one page), and resolving is the costly
//! part. So each spelling of a reference is resolved once. Its fragment is never sent and does not count.

use std::hash::BuildHasher;

use encoding_rs::Encoding;
use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use url::Url;

use crate::model::{CanonicalUrl, Normalizer, OutLink, Refresh, UrlError};

use super::{byte_search, query_encoding, refresh};

/// Links of a page of typical size.
const USUAL_LINKS: usize = 64;

/// The target of a reference.
#[derive(Clone, Copy)]
enum Target {
    /// No URL to crawl.
    Nowhere,
    /// The page itself, which is not among its links.
    Itself { same_site: bool },
    /// A link beyond the limit.
    OverLimit { same_site: bool },
    /// The link at this index.
    Link { same_site: bool, at: usize },
}

/// A reference to a URL to crawl.
pub(super) struct Added {
    /// Whether it is in the page's registrable domain.
    pub same_site: bool,
    /// Its index among the links, if it is one of them.
    pub link: Option<usize>,
}

/// Collects links in order of first appearance.
pub(super) struct Links<'a> {
    normalizer: &'a Normalizer,
    page: &'a CanonicalUrl,
    /// The registrable domain of `page`.
    site: &'a str,
    base: Url,
    /// The character encoding of the page, in which queries are sent.
    encoding: &'static Encoding,
    most: usize,
    found: Vec<OutLink>,
    /// Indexes into `found`, by URL. The hash is seeded at random, since pages choose what is hashed.
    by_url: HashTable<usize>,
    hasher: DefaultHashBuilder,
    /// Targets of the references since the base was set, by their text up to the fragment.
    targets: HashMap<Box<str>, Target>,
    /// Whether each reference is resolved where it stands: the reference for tests.
    plain: bool,
    pub dropped: u32,
    pub over_limit: u32,
    /// Whether the page links to itself as to another page, not only to its own fragments.
    pub names_itself: bool,
}

impl<'a> Links<'a> {
    /// Creates the collector for the links of `page`, at most `most` of them.
    pub fn new(
        normalizer: &'a Normalizer,
        page: &'a CanonicalUrl,
        encoding: &'static Encoding,
        most: usize,
        plain: bool,
    ) -> Self {
        Self {
            normalizer,
            page,
            site: page.registrable_domain(),
            base: page.as_url().clone(),
            encoding,
            most,
            found: Vec::with_capacity(USUAL_LINKS),
            by_url: HashTable::with_capacity(USUAL_LINKS),
            hasher: DefaultHashBuilder::default(),
            targets: HashMap::with_capacity(USUAL_LINKS),
            plain,
            dropped: 0,
            over_limit: 0,
            names_itself: false,
        }
    }

    /// Sets the base for the links that follow, as the first `base[href]` does.
    ///
    /// Only http and https can be a base; others are ignored.
    pub fn set_base(&mut self, href: &str) {
        if let Ok(base) = self.page.as_url().join(href)
            && matches!(base.scheme(), "http" | "https")
        {
            self.replace_base(base);
        }
    }

    /// Returns the base of the links that follow.
    pub fn base(&self) -> &Url {
        &self.base
    }

    /// Replaces the base for the links that follow.
    pub fn replace_base(&mut self, base: Url) {
        self.base = base;
        // A large table would cost more to empty than to make again.
        self.targets = HashMap::new();
    }

    /// Returns the page.
    pub fn page(&self) -> &Url {
        self.page.as_url()
    }

    /// Returns the target of the link at this index.
    pub fn found(&self, at: usize) -> Option<&Url> {
        self.found.get(at).map(|link| link.url.as_url())
    }

    /// Resolves a reference without collecting it.
    pub fn resolve(&self, reference: &str) -> Result<CanonicalUrl, UrlError> {
        self.normalizer.resolve(&self.base, &query_encoding::encoded(reference, self.encoding))
    }

    /// Reads the content of a refresh without collecting its target.
    pub fn refresh(&self, content: &str) -> Option<Refresh> {
        refresh::resolved(&query_encoding::encoded(content, self.encoding), &self.base, self.normalizer)
    }

    /// Collects the link, and returns its target; `None` if it is no URL to crawl.
    ///
    /// A URL that is linked twice is nofollow only if both links say so.
    pub fn add(&mut self, reference: &str, nofollow: bool) -> Option<Added> {
        if self.plain {
            let target = self.find(reference);
            return self.count(target, reference, nofollow);
        }
        let reference = without_fragment(reference);
        let target = match self.targets.get(reference) {
            Some(target) => *target,
            None => {
                let target = self.find(reference);
                self.targets.insert(reference.into(), target);
                target
            }
        };
        self.count(target, reference, nofollow)
    }

    fn count(&mut self, target: Target, reference: &str, nofollow: bool) -> Option<Added> {
        match target {
            Target::Nowhere => {
                self.dropped = self.dropped.saturating_add(1);
                None
            }
            Target::Itself { same_site } => {
                self.names_itself |= !matches!(reference.trim_ascii().bytes().next(), None | Some(b'#'));
                Some(Added { same_site, link: None })
            }
            Target::OverLimit { same_site } => {
                self.over_limit = self.over_limit.saturating_add(1);
                Some(Added { same_site, link: None })
            }
            Target::Link { same_site, at } => {
                self.found[at].nofollow &= nofollow;
                Some(Added { same_site, link: Some(at) })
            }
        }
    }

    /// Resolves a reference, and collects its URL, as nofollow, if it is new.
    fn find(&mut self, reference: &str) -> Target {
        let Ok(url) = self.resolve(reference) else { return Target::Nowhere };
        let same_site = url.host() == self.page.host() || url.registrable_domain() == self.site;
        if url == *self.page {
            return Target::Itself { same_site };
        }
        let hash = self.hasher.hash_one(url.as_str());
        if let Some(&at) = self.by_url.find(hash, |&at| self.found[at].url == url) {
            return Target::Link { same_site, at };
        }
        if self.found.len() >= self.most {
            return Target::OverLimit { same_site };
        }
        let at = self.found.len();
        self.found.push(OutLink { url, nofollow: true });
        let hash_of = |&at: &usize| self.hasher.hash_one(self.found[at].url.as_str());
        self.by_url.insert_unique(hash, at, hash_of);
        Target::Link { same_site, at }
    }

    /// Returns the links, and the base of the last of them.
    pub fn into_found(mut self) -> (Vec<OutLink>, Option<Url>) {
        self.found.shrink_to_fit();
        (self.found, Some(self.base))
    }
}

/// Returns the reference up to its fragment.
///
/// A space before the `#` would become a trailing space, which is ignored: such a reference stays as it is.
fn without_fragment(reference: &str) -> &str {
    match byte_search::find(b'#', reference.as_bytes()).map(|at| &reference[..at]) {
        Some(rest) if rest.bytes().next_back().is_none_or(|last| last > b' ') => rest,
        _ => reference,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn url(text: &str) -> CanonicalUrl {
        Normalizer::default().absolute(text).unwrap()
    }

    #[test]
    fn a_target_is_one_link_however_it_is_spelt_and_however_often() {
        let (normalizer, page) = (Normalizer::default(), url("http://www.a.test/d/page?q"));
        let mut links = Links::new(&normalizer, &page, encoding_rs::UTF_8, 3, false);
        let answers: Vec<Option<bool>> = ["x", "#top", "", "./x#1", "x#2", "/d/x", "mailto:a", "mailto:a", "#f"]
            .map(|reference| links.add(reference, true).map(|added| added.same_site))
            .to_vec();
        let yes = Some(true);
        assert_eq!(answers, [yes, yes, yes, yes, yes, yes, None, None, yes]);
        let mut same_site = |reference, nofollow| links.add(reference, nofollow).map(|added| added.same_site);
        assert_eq!(same_site("//other.test/", true), Some(false));
        assert_eq!(same_site("//a.test/", false), yes);
        for _ in 0..2 {
            assert_eq!(same_site("//other.test/more", false), Some(false));
        }
        assert_eq!(same_site("x", false), yes);
        assert_eq!((links.dropped, links.over_limit), (2, 2));
        for (reference, names_itself) in [("#top", false), (" #top", false), ("", false), ("page?q#top", true)] {
            links.add(reference, false);
            assert_eq!(links.names_itself, names_itself, "{reference:?}");
        }
        let found: Vec<_> =
            links.into_found().0.into_iter().map(|link| (link.url.to_string(), link.nofollow)).collect();
        let expected = [("http://www.a.test/d/x", false), ("http://other.test/", true), ("http://a.test/", false)];
        assert_eq!(found, expected.map(|(url, nofollow)| (url.to_owned(), nofollow)));
    }

    #[test]
    fn a_new_base_holds_for_what_follows() {
        let (normalizer, page) = (Normalizer::default(), url("http://a.test/d/page"));
        let mut links = Links::new(&normalizer, &page, encoding_rs::UTF_8, 9, false);
        links.add("x", false);
        links.set_base("/e/");
        links.add("x", false);
        links.set_base("mailto:x");
        links.add("y", false);
        let found: Vec<_> = links.into_found().0.into_iter().map(|link| link.url.to_string()).collect();
        assert_eq!(found, ["http://a.test/d/x", "http://a.test/e/x", "http://a.test/e/y"]);
    }

    #[test]
    fn a_query_is_sent_in_the_encoding_of_the_page() {
        let (normalizer, page) = (Normalizer::default(), url("http://a.test/"));
        let mut links = Links::new(&normalizer, &page, encoding_rs::WINDOWS_1251, 9, false);
        links.add("/\u{438}?q=\u{438}#\u{438}", false);
        let found = links.into_found().0.remove(0).url;
        assert_eq!(found.as_str(), "http://a.test/%D0%B8?q=%E8");
    }

    proptest! {
        #[test]
        fn a_reference_without_its_fragment_leads_where_the_whole_leads(
            reference in "(https?:|javascript:|mailto:|//|/|\\?)?[a.:/\\\\ \t\n\u{1}%20?&;@é\u{a0}]{0,8}(#[a#/ \t?é]{0,5})?[ \t]?",
        ) {
            let base = Url::parse("http://a.test/b/c?d").unwrap();
            let resolve = |text: &str| Normalizer::default().resolve(&base, text).ok();
            prop_assert_eq!(resolve(without_fragment(&reference)), resolve(&reference), "{:?}", reference);
        }
    }
}
