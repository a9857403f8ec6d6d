//! What elements mean: links, and what the page says of itself.
//!
//! Both parsers meet here: they differ in how they find out which elements there are, not in what
//! they make of them.

use std::borrow::Cow;

use crate::record::{CanonicalUrl, Field, Normaliser, OutLink, RobotsDirectives};

use super::folding::folded;
use super::links::Links;
use super::text::Text;
use super::{Options, WordCache, directives, refresh};

/// Longest title kept, in characters.
const LONGEST_TITLE: usize = 1000;

/// What was found on a page.
#[derive(Debug, Default)]
pub(super) struct Document {
    pub text: Text,
    pub title: Option<String>,
    pub language: Option<String>,
    pub robots: RobotsDirectives,
    pub canonical: Option<String>,
    pub links: Vec<OutLink>,
    pub links_dropped: u32,
    pub links_over_limit: u32,
}

/// The attributes of an element.
pub(super) trait Attributes {
    /// The value of the attribute of that name, which is in lower case.
    fn value(&self, name: &str) -> Option<Cow<'_, str>>;
}

/// Gathers what elements mean.
pub(super) struct Findings<'a> {
    agent: &'a str,
    pub document: Document,
    pub links: Links<'a>,
    title: Option<String>,
}

impl<'a> Findings<'a> {
    pub fn new(page: &'a CanonicalUrl, options: &'a Options, normaliser: &'a Normaliser) -> Self {
        let plain = options.word_cache == WordCache::Plain;
        let text = if plain { Text::plain() } else { Text::default() };
        Self {
            agent: &options.robots_agent,
            document: Document { text, ..Document::default() },
            links: Links::new(normaliser, page, options.max_links, plain),
            title: None,
        }
    }

    /// Text that a reader sees.
    #[inline]
    pub fn text(&mut self, field: Field, text: &str) {
        if field == Field::Title
            && let Some(title) = &mut self.title
        {
            title.push_str(text);
        }
        self.document.text.push(field, text);
    }

    /// Opens the page's title, which is the first; answers whether this is it.
    pub fn open_title(&mut self) -> bool {
        let is_first = self.title.is_none();
        self.title.get_or_insert_default();
        is_first
    }

    /// The field of the text of a link.
    pub fn anchor(&mut self, href: &str, nofollow: bool) -> Field {
        match self.links.add(href, nofollow) {
            Some(true) => Field::AnchorSameSite,
            Some(false) | None => Field::AnchorOtherSite,
        }
    }

    /// Elements that link by an attribute and have no text.
    pub fn link(&mut self, element: &impl Attributes, attribute: &str) {
        if let Some(reference) = element.value(attribute).filter(|reference| !reference.trim().is_empty()) {
            self.links.add(&reference, is_nofollow(element));
        }
    }

    /// `meta` elements: redirects, directives, keywords and description.
    pub fn meta(&mut self, element: &impl Attributes) {
        let Some(content) = element.value("content") else { return };
        if element.value("http-equiv").is_some_and(|key| key.trim().eq_ignore_ascii_case("refresh")) {
            if let Some(target) = refresh::target(&content) {
                self.links.add(target, false);
            }
            return;
        }
        let Some(name) = element.value("name") else { return };
        directives::add_meta(&mut self.document.robots, &name, &content, self.agent);
        if name.trim().eq_ignore_ascii_case("keywords") {
            self.document.text.push_hidden(Field::Keywords, &content);
        } else if name.trim().eq_ignore_ascii_case("description") {
            self.document.text.push_hidden(Field::Description, &content);
        }
    }

    /// `link` elements: the canonical URL is recorded, next and previous pages and other languages
    /// are links.
    pub fn link_element(&mut self, element: &impl Attributes) {
        let (Some(rel), Some(href)) = (element.value("rel"), element.value("href")) else { return };
        let has = |name: &str| rel.split_ascii_whitespace().any(|token| token.eq_ignore_ascii_case(name));
        if has("canonical") && self.document.canonical.is_none() {
            self.document.canonical = self.links.resolve(&href).ok().map(|url| url.to_string());
        }
        let is_page = element.value("type").is_none_or(|kind| kind.trim().eq_ignore_ascii_case("text/html"));
        let other_language = has("alternate") && element.value("hreflang").is_some() && !has("stylesheet");
        if has("next") || has("prev") || (other_language && is_page) {
            self.links.add(&href, has("nofollow"));
        }
    }

    pub fn finish(self) -> Document {
        let mut document = self.document;
        document.title = self.title.map(|title| folded(&title, LONGEST_TITLE)).filter(|title| !title.is_empty());
        document.links_dropped = self.links.dropped;
        document.links_over_limit = self.links.over_limit;
        document.links = self.links.into_found();
        document
    }
}

/// Whether a link says `rel=nofollow`.
pub(super) fn is_nofollow(element: &impl Attributes) -> bool {
    let rel = element.value("rel").unwrap_or_default();
    rel.split_ascii_whitespace().any(|token| token.eq_ignore_ascii_case("nofollow"))
}
