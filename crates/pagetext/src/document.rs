//! The meaning of elements: links, and what the page says of itself.
//!
//! Both parsers call this code. They differ in how they find elements, not in what an element means.

use std::borrow::Cow;
use std::ops::Range;

use encoding_rs::Encoding;
use url::Url;

use crate::model::{
    Alternate, CanonicalUrl, Field, Normalizer, OutLink, PageKind, PageSource, Preference, PreferencePlace, Refresh,
    RobotsDirectives,
};

use super::link_context::Anchor;
use super::links::{Added, Links};
use super::metadata::{Claims, WhenRank, WhoRank};
use super::names::Name;
use super::page_kind::{KindEvidence, leads_away};
use super::tokenizer::{Lexer, RawText, Tag, Token};
use super::{Options, WordCache, directives, json_ld, preferences, refresh};
use neardup::text::FieldedText;
use neardup::text::whitespace::folded;

/// Characters of the longest title that is kept.
const LONGEST_TITLE: usize = 1000;
/// Pages of other languages that are kept, and characters of the longest name of a language.
const MOST_ALTERNATES: (usize, usize) = (200, 35);

/// Everything that was found on a page.
#[derive(Debug, Default)]
pub(super) struct Document {
    pub text: FieldedText,
    pub title: Option<String>,
    /// The parts of the text from the first heading of the first level up to the next heading.
    pub heading: Range<usize>,
    pub language: Option<String>,
    pub robots: RobotsDirectives,
    pub preferences: Vec<Preference>,
    pub canonical: Option<String>,
    pub alternates: Vec<Alternate>,
    pub links: Vec<OutLink>,
    pub links_dropped: u32,
    pub links_over_limit: u32,
    pub names_itself: bool,
    /// The base of relative links, where there can be any.
    pub base: Option<Url>,
    /// The first refresh that names a URL.
    pub refresh: Option<Refresh>,
    /// The page's claims of author and date.
    pub claims: Claims,
    /// Where links begin, if the options ask for it.
    pub anchors: Vec<Anchor>,
    /// Whether elements were nested too deep.
    pub too_deep: bool,
    /// Whether it is XML with the root `html`.
    pub is_xhtml: bool,
    pub kind: PageKind,
}

impl Document {
    /// Adds a statement about the use of the page, once.
    pub fn add_preference(&mut self, preference: Preference) {
        // Of those that disallow there are few that differ.
        let has_room = self.preferences.len() < preferences::MOST || preference.disallows();
        if has_room && !self.preferences.contains(&preference) {
            self.preferences.push(preference);
        }
    }

    /// Returns the first heading of the first level, without the sign that links to it; `None` if all of it is one link.
    pub fn heading(&self) -> Option<String> {
        let pieces = self.text.pieces().enumerate().skip(self.heading.start).take(self.heading.len());
        let first = self.heading.start;
        let own = pieces.take_while(|(at, piece)| {
            piece.field == Field::Heading || piece.field.is_anchor() && (*at == first || !piece.breaks)
        });
        let said: Vec<_> = own.filter(|(_, piece)| piece.text.contains(char::is_alphanumeric)).collect();
        let is_heading = said.iter().any(|(_, piece)| piece.field == Field::Heading);
        is_heading.then(|| folded(&said.iter().map(|(_, piece)| piece.text).collect::<String>(), LONGEST_TITLE))
    }

    /// Adds a page of another language.
    pub fn add_alternate(&mut self, lang: &str, url: &CanonicalUrl) {
        let lang = folded(lang, MOST_ALTERNATES.1);
        if self.alternates.len() < MOST_ALTERNATES.0 && !lang.is_empty() {
            self.alternates.push(Alternate { lang, url: url.to_string() });
        }
    }
}

/// The attributes of an element.
pub(super) trait Attributes {
    /// Returns the value of the attribute of that name, which is in lower case.
    fn value(&self, name: &str) -> Option<Cow<'_, str>>;
}

impl Attributes for Tag<'_> {
    fn value(&self, name: &str) -> Option<Cow<'_, str>> {
        self.get(name)
    }
}

/// Collects what elements mean.
pub(super) struct Findings<'a> {
    agent: &'a str,
    /// When the page was requested, milliseconds since 1970.
    now: Option<i64>,
    pub document: Document,
    pub links: Links<'a>,
    title: Option<String>,
    /// The parts at which the first heading of the first level and the next heading begin.
    heading: (Option<usize>, Option<usize>),
    /// The part of the text in which the text of a link to the author begins.
    author_part: Option<usize>,
    has_author_link: bool,
    wants_places: bool,
    /// Bytes of JSON-LD left to read.
    json_ld_left: usize,
    kind: KindEvidence,
    /// Whether the page is what its scripts have written.
    scripts_ran: bool,
}

impl<'a> Findings<'a> {
    pub fn new(
        page: PageSource<'a>,
        encoding: &'static Encoding,
        options: &'a Options,
        normalizer: &'a Normalizer,
    ) -> Self {
        let plain = options.word_cache == WordCache::Plain;
        let text = if plain { FieldedText::plain() } else { FieldedText::default() };
        Self {
            agent: &options.robots_agent,
            now: page.fetched_at,
            document: Document { text, claims: Claims::new(page.fetched_at), ..Document::default() },
            links: Links::new(normalizer, page.url, encoding, options.max_links, plain),
            title: None,
            heading: (None, None),
            author_part: None,
            has_author_link: false,
            // A plain text has no positions before it is settled.
            wants_places: options.running && !plain,
            json_ld_left: json_ld::MOST_BYTES,
            kind: KindEvidence::default(),
            scripts_ran: page.scripts_ran,
        }
    }

    /// Adds text that a reader sees.
    #[inline]
    pub fn text(&mut self, field: Field, text: &str) {
        if field == Field::Title
            && let Some(title) = &mut self.title
        {
            title.push_str(text);
        }
        self.kind.text(text);
        self.document.text.push(field, text);
    }

    /// Opens the page's title, which is the first `title`; returns whether this is it.
    pub fn open_title(&mut self) -> bool {
        let is_first = self.title.is_none();
        self.title.get_or_insert_default();
        is_first
    }

    /// Adds a link; returns the field of its text.
    #[inline]
    pub fn anchor(&mut self, href: &str, rel: Rel) -> Field {
        if rel.author || self.author_part.is_some() {
            self.author_link(rel.author);
        }
        let added = self.links.add(href, rel.nofollow);
        if rel.license {
            self.license(href, None);
        }
        let target = added.as_ref().and_then(|added| self.links.found(added.link?));
        self.kind.link(target.is_some_and(|target| leads_away(self.links.page(), target)));
        if self.wants_places {
            let link = added.as_ref().and_then(|added| added.link);
            self.document.anchors.push(Anchor { link, start: self.document.text.len() });
        }
        match added {
            Some(Added { same_site: true, .. }) => Field::AnchorSameSite,
            _ => Field::AnchorOtherSite,
        }
    }

    /// Ends the link to the author, since another link begins.
    ///
    /// The name is its first line. One link is enough, so a second copy in a tree does not matter.
    fn author_link(&mut self, begins: bool) {
        let line = self.author_part.take().and_then(|part| self.document.text.link_from(part));
        if let Some(name) = line {
            self.document.claims.who(WhoRank::Link, name);
            self.has_author_link = true;
        }
        if begins && !self.has_author_link {
            self.author_part = Some(self.document.text.part_count());
        }
    }

    /// Begins a heading of this level, from 1.
    pub fn heading(&mut self, level: usize) {
        self.kind.heading(level);
        let part = self.document.text.part_count();
        match self.heading {
            (None, _) if level == 1 => self.heading.0 = Some(part),
            (Some(_), None) => self.heading.1 = Some(part),
            _ => {}
        }
    }

    /// Reads a `time` element.
    pub fn time(&mut self, element: &impl Attributes) {
        if self.document.claims.wants_when(WhenRank::Time)
            && let Some(date) = element.value("datetime")
        {
            self.document.claims.when(WhenRank::Time, &date);
        }
    }

    /// Reads the content of a `script` element that [is JSON-LD](is_json_ld).
    pub fn json_ld(&mut self, script: &str) {
        let Some(left) = self.json_ld_left.checked_sub(script.len()) else { return };
        self.json_ld_left = left;
        json_ld::read(script, &mut self.document.claims, &mut self.kind);
    }

    /// Reads the content of a `noscript` element: its links and its directives, where no script has run.
    ///
    /// Its text says as a rule that scripts are needed, and its refresh leads to a page that says so. So neither counts.
    pub fn noscript(&mut self, content: &str) {
        if self.scripts_ran {
            return;
        }
        let mut lexer = Lexer::new(content);
        let mut tag = Tag::default();
        loop {
            match lexer.next(&mut tag, false) {
                Token::Start => {
                    match tag.name {
                        Name::A | Name::Area => self.link(&tag, "href"),
                        Name::Iframe | Name::Frame => self.link(&tag, "src"),
                        Name::Meta => self.directives(&tag),
                        _ => {}
                    }
                    if let Some(kind) = RawText::of(tag.name) {
                        lexer.raw_text(kind, tag.written);
                    }
                }
                Token::Eof => return,
                _ => {}
            }
        }
    }

    /// Adds the link of an element that has an address but no text.
    pub fn link(&mut self, element: &impl Attributes, attribute: &str) {
        if let Some(reference) = element.value(attribute).filter(|reference| !reference.trim().is_empty()) {
            self.links.add(&reference, rel(element).nofollow);
        }
    }

    /// Adds what an `object` or `embed` element shows, if it may be a page.
    pub fn embedded(&mut self, element: &impl Attributes, attribute: &str) {
        const PAGES: [&str; 9] = ["htm", "html", "xhtml", "shtml", "php", "asp", "aspx", "jsp", "txt"];
        let is_page = match element.value("type") {
            Some(kind) => {
                ["text/html", "application/xhtml+xml"].iter().any(|page| kind.trim().eq_ignore_ascii_case(page))
            }
            None => element.value(attribute).is_some_and(|reference| {
                let path = reference.split(['?', '#']).next().unwrap_or_default();
                let file = path.rsplit('/').next().unwrap_or_default();
                file.rsplit_once('.').is_none_or(|(_, end)| PAGES.iter().any(|page| end.eq_ignore_ascii_case(page)))
            }),
        };
        if is_page {
            self.link(element, attribute);
        }
    }

    /// Reads what a `meta` element asks of robots, and nothing else of it.
    fn directives(&mut self, element: &impl Attributes) {
        if let (Some(name), Some(content)) = (element.value("name"), element.value("content")) {
            self.meta_directives(&name, &content);
        }
    }

    /// Reads what the page asks of robots, and what it says of its use.
    fn meta_directives(&mut self, name: &str, content: &str) {
        directives::add_meta(&mut self.document.robots, name, content, self.agent, self.now);
        preferences::of_meta(name, content, self.agent).into_iter().for_each(|said| self.document.add_preference(said));
    }

    /// Reads a link to a license of the page; `kind` is its media type.
    fn license(&mut self, href: &str, kind: Option<&str>) {
        if let Ok(url) = self.links.resolve(href)
            && let Some(said) = preferences::of_license(url.as_str(), kind, PreferencePlace::Page)
        {
            self.document.add_preference(said);
        }
    }

    /// Reads a `meta` element: refresh, directives, keywords and description, author and date.
    pub fn meta(&mut self, element: &impl Attributes) {
        let Some(content) = element.value("content") else { return };
        if element.value("http-equiv").is_some_and(|key| key.trim().eq_ignore_ascii_case("refresh")) {
            if let Some((_, target)) = refresh::read(&content) {
                self.links.add(target, false);
                if self.document.refresh.is_none() {
                    self.document.refresh = self.links.refresh(&content);
                }
            }
            return;
        }
        let Some(name) = element.value("name") else {
            let other = ["property", "http-equiv", "itemprop"].into_iter().find_map(|key| element.value(key));
            if other.as_deref().is_some_and(|name| name.trim().eq_ignore_ascii_case("og:type")) {
                self.kind.says_article |= content.trim().eq_ignore_ascii_case("article");
            }
            return other.iter().for_each(|name| self.document.claims.meta(name, &content));
        };
        self.meta_directives(&name, &content);
        if name.trim().eq_ignore_ascii_case("keywords") {
            self.document.text.push_hidden(Field::Keywords, &content);
        } else if name.trim().eq_ignore_ascii_case("description") {
            self.document.text.push_hidden(Field::Description, &content);
        } else {
            self.document.claims.meta(&name, &content);
        }
    }

    /// Reads a `link` element. The canonical URL is recorded; next and previous pages, other languages and feeds
    /// are links.
    pub fn link_element(&mut self, element: &impl Attributes) {
        let (Some(rel), Some(href)) = (element.value("rel"), element.value("href")) else { return };
        let has = |name: &str| rel.split_ascii_whitespace().any(|token| token.eq_ignore_ascii_case(name));
        if has("canonical") && self.document.canonical.is_none() {
            self.document.canonical = self.links.resolve(&href).ok().map(|url| url.to_string());
        }
        if has("license") {
            self.license(&href, element.value("type").as_deref());
        }
        let is_page = element.value("type").is_none_or(|kind| kind.trim().eq_ignore_ascii_case("text/html"));
        let other_language = has("alternate") && element.value("hreflang").is_some() && !has("stylesheet");
        let is_feed = has("alternate") && element.value("type").is_some_and(|kind| is_feed_type(&kind));
        if other_language && let (Some(lang), Ok(url)) = (element.value("hreflang"), self.links.resolve(&href)) {
            self.document.add_alternate(&lang, &url);
        }
        if has("next") || has("prev") || (other_language && is_page) || is_feed {
            self.links.add(&href, has("nofollow"));
        }
    }

    pub fn finish(mut self) -> Document {
        self.author_link(false);
        let mut document = self.document;
        document.kind = self.kind.kind();
        document.title = self.title.map(|title| folded(&title, LONGEST_TITLE)).filter(|title| !title.is_empty());
        let end = self.heading.1.unwrap_or(document.text.part_count());
        document.heading = self.heading.0.unwrap_or(end)..end;
        document.links_dropped = self.links.dropped;
        document.links_over_limit = self.links.over_limit;
        document.names_itself = self.links.names_itself;
        (document.links, document.base) = self.links.into_found();
        document
    }
}

/// Whether a media type is that of a feed.
fn is_feed_type(kind: &str) -> bool {
    ["application/rss+xml", "application/atom+xml"].iter().any(|feed| kind.trim().eq_ignore_ascii_case(feed))
}

/// The `rel` values of a link that matter.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rel {
    pub nofollow: bool,
    pub author: bool,
    pub license: bool,
}

impl Rel {
    /// Whether one link stands in another. The two parsers may not agree on where the inner one ends.
    pub fn within(self, mut fields: impl Iterator<Item = Field>) -> Self {
        let author = self.author && !fields.any(Field::is_anchor);
        Self { author, ..self }
    }
}

/// Reads the `rel` of a link.
#[inline]
pub(super) fn rel(element: &impl Attributes) -> Rel {
    let Some(rel) = element.value("rel") else { return Rel::default() };
    let has = |name: &str| rel.split_ascii_whitespace().any(|token| token.eq_ignore_ascii_case(name));
    Rel { nofollow: has("nofollow"), author: has("author"), license: has("license") }
}

/// Returns whether a `script` element holds JSON-LD.
#[inline]
pub(super) fn is_json_ld(element: &impl Attributes) -> bool {
    let kind = element.value("type").unwrap_or_default();
    // Only the part before the parameters of a media type counts.
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/ld+json")
}
