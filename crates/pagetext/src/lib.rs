//! *Which text, terms and links does this page hold?*
//!
//! ```
//! use pagetext::{Normalizer, PageSource, PageReader};
//!
//! # fn main() -> Result<(), pagetext::UrlError> {
//! let url = Normalizer::default().absolute("http://docs.example/guide/")?;
//! let html = b"<title>Sockets</title><h1>Sockets</h1><p>A socket <a href='tcp.html#top'>talks TCP</a>.";
//! let page = PageSource::new(&url, html);
//!
//! let reader = PageReader::default();
//! let content = reader.render(page);
//! assert_eq!(content.title.as_deref(), Some("Sockets"));
//! assert_eq!(content.links[0].url.as_str(), "http://docs.example/guide/tcp.html");
//! assert_eq!(content.terms[1].term, "guid"); // stemmed; the first is the host's name
//! assert_eq!(reader.reading(page).map(|text| text.text), Some("Sockets\nA socket talks TCP.".to_owned()));
//! # Ok(())
//! # }
//! ```
//!
//! A page goes through these steps:
//!
//! 1. Its bytes are decoded.
//! 2. [`Parser::Fast`] follows its elements in one pass: text by field, links, title, directives. [`Parser::Dom`] builds a
//!    tree instead and finds the same; the few pages whose text is not in source order always take it. XML, and pages
//!    that are nested too deep, take the pass always: it gives up the depth of the nesting and nothing else.
//! 3. The words of each field are stemmed and counted ([`neardup::text`]).
//!
//! The fields are those of the MWO paper (section "Rendering"); the innermost element decides in which field a word
//! counts. The paper is silent on the language: by default all words are stemmed by the rules of English ([`Rules`]
//! says why).
//!
//! A bad page is never an error: what cannot be read is left out.
//!
//! Imports between rooms go downward only:
//!
//! ```text
//! main_text  tree_builder  charset
//! tokenizer  model
//! ```

#![deny(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod assembled;
mod byte_search;
mod charset;
mod copyright;
mod dates;
mod directives;
mod document;
mod dom;
mod entities;
mod feed;
mod header_link;
mod json_ld;
mod language;
mod license;
mod link_context;
mod links;
mod main_text;
mod markdown;
mod metadata;
pub mod model;
mod names;
mod nesting;
mod page_kind;
mod parser;
pub mod preferences;
mod provenance;
mod query_encoding;
mod reading;
mod refresh;
mod rsl;
mod sitemap;
mod sitemap_date;
mod soft_404_phrases;
mod tokenizer;
mod tree_builder;
mod url_terms;

use std::borrow::Cow;
use std::sync::Arc;

use encoding_rs::Encoding;

use neardup::model::{Field, Markup, TermCounts, TermOrder, WantedOrder};

use charset::{Decoded, Syntax};
use document::Document;
use link_context::LinkContext;
use main_text::Scope;
use neardup::text::{Tokenizer, TokenizerOptions, WordObserver};
use tree_builder::{Order, OutOfOrder};

pub use directives::robots_directives;
pub use model::{
    Alternate, CanonicalUrl, Header, LinkPlace, MediaType, NormalizeOptions, Normalizer, OutLink, PageContent,
    PageKind, PageSource, Refresh, RobotsDirectives, RunningTerms, SpelledUrl, UrlError, read_reference, shown_url,
};
pub use neardup::text::{LanguageRules as Rules, Synonyms, SynonymsError, WordCache, query_terms};

pub use language::DetectedLanguage;
pub use main_text::{BlockCounts, CommonBlocks, PageText, WantedText};
pub use parser::{Parser, ParserError};
pub use reading::Reading;
pub use refresh::header_refresh;
pub use rsl::{RslEntry, rsl_entries};
pub use sitemap::{Sitemap, SitemapCut, SitemapLimits, is_sitemap, parse_sitemap};
pub use sitemap_date::SitemapDate;
pub use soft_404_phrases::says_not_there;

/// The version of the reading rules. Records of different versions cannot be compared.
pub const RENDERING_VERSION: u32 = 10;

/// How pages are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How elements are found.
    pub parser: Parser,
    /// Links that are kept of one page.
    pub max_links: usize,
    /// Elements nested deeper are read without their nesting.
    pub max_depth: usize,
    /// Letters that a text needs before its language is guessed.
    pub min_language_chars: usize,
    /// The product token that `meta` and `X-Robots-Tag` may address.
    pub robots_agent: String,
    /// Whether stop words are dropped.
    pub stop_words: bool,
    /// Words that become one word before they are stemmed. `None`: none do.
    pub synonyms: Option<Arc<Synonyms>>,
    /// Whether words are stemmed.
    pub stem: bool,
    /// The language by whose rules stop words are dropped and words stemmed.
    pub rules: Rules,
    /// How often the same word is stemmed. Nothing but time depends on it.
    pub word_cache: WordCache,
    /// Which parts of the order of terms are kept.
    pub order: WantedOrder,
    /// Whether the words around links are kept, see [`RunningTerms`].
    pub running: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            parser: Parser::Fast,
            max_links: 10_000,
            max_depth: 512,
            min_language_chars: 200,
            robots_agent: "ndcrawl".to_owned(),
            stop_words: true,
            synonyms: None,
            stem: true,
            rules: Rules::Same,
            word_cache: WordCache::Kept,
            order: WantedOrder::default(),
            running: false,
        }
    }
}

/// Reads pages. Shared by threads; its only state is a cache of words.
#[derive(Clone, Debug, Default)]
pub struct PageReader {
    options: Options,
    normalizer: Normalizer,
    tokenizer: Tokenizer,
}

/// A page that was decoded and parsed.
struct Read<'a> {
    kind: Kind,
    source: Cow<'a, str>,
    encoding: &'static Encoding,
    charset_declared: Option<Cow<'static, str>>,
    is_feed: bool,
    document: Document,
}

/// A page that was decoded.
struct DecodedPage<'a> {
    kind: Kind,
    source: Cow<'a, str>,
    encoding: &'static Encoding,
    charset_declared: Option<Cow<'static, str>>,
    /// A feed or Markdown, written as HTML.
    written: Option<String>,
}

/// How a media type is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Html,
    Xml,
    Plain,
    Markdown,
    Other,
}

impl PageReader {
    /// Creates a reader with these options; `normalizer` brings links into their canonical spelling.
    pub fn new(options: Options, normalizer: Normalizer) -> Self {
        let Options { stop_words, stem, rules, word_cache, .. } = options;
        let synonyms = options.synonyms.clone();
        let tokenizer = Tokenizer::new(TokenizerOptions { stop_words, stem, synonyms, rules, word_cache });
        Self { options, normalizer, tokenizer }
    }

    /// Names everything that makes two readings incomparable.
    pub fn signature(&self) -> String {
        let Options { parser, max_depth, min_language_chars, synonyms, rules, order, .. } = &self.options;
        let synonyms = synonyms.as_ref().map(|table| format!(", synonyms {}", table.signature())).unwrap_or_default();
        format!(
            "rendering {RENDERING_VERSION}, parser {parser}, {}, stop words {}, depth {max_depth}, language from {min_language_chars}{synonyms}{}{}{}{}",
            self.tokenizer.stemmer(),
            self.tokenizer.stop_word_version(),
            if *rules == Rules::OfLanguage { ", rules of the language 2" } else { "" },
            if order.sentence_count { ", sentences counted" } else { "" },
            if order.sentences { ", sentences listed" } else { "" },
            if order.text { ", runs of terms" } else { "" },
        )
    }

    /// Reads a page: its terms, links and metadata.
    ///
    /// Cost: linear, some 5 ns a byte on the pages of `benches/rendering.rs`; with a tree three to four times that, and
    /// with a tree and no word cache more than five times.
    pub fn render<'a>(&self, page: impl Into<PageSource<'a>>) -> PageContent {
        let page = page.into();
        let Some(Read { kind, source, encoding, charset_declared, is_feed, mut document }) = self.read(page) else {
            return self.unread(page);
        };
        document.text.settle();
        let claims = std::mem::take(&mut document.claims);
        let heading = document.heading();
        let mut provenance = provenance::of_page(page, claims, document.title.as_deref(), &document.text);
        provenance.markup = match kind {
            Kind::Html => Some(provenance::markup(&source)),
            Kind::Xml => document.is_xhtml.then_some(Markup::Xhtml),
            Kind::Plain | Kind::Markdown | Kind::Other => None,
        };
        self.add_header_directives(page, &mut document.robots);
        self.add_header_links(page, &mut document);
        preferences::of_header(page, &self.options.robots_agent)
            .into_iter()
            .for_each(|said| document.add_preference(said));
        let refresh = self.refresh(page, &mut document);
        let language = document.language.take().or_else(|| {
            let detected = language::detect(document.text.as_str(), self.options.min_language_chars);
            detected.map(str::to_owned)
        });
        document.text.fold(document.anchors.iter_mut().map(|anchor| &mut anchor.start));
        let (terms, order, running) = self.terms(&document, page, language.as_deref());
        PageContent {
            terms,
            order,
            text_digest: document.text.digest(),
            title: document.title,
            heading,
            language,
            charset: encoding.name(),
            charset_declared,
            links: document.links,
            running,
            links_dropped: document.links_dropped,
            links_over_limit: document.links_over_limit,
            names_itself: document.names_itself,
            refresh,
            canonical: document.canonical,
            alternates: document.alternates,
            robots: document.robots,
            preferences: document.preferences,
            provenance,
            too_deep: document.too_deep,
            kind: if is_feed { PageKind::Feed } else { document.kind },
        }
    }

    /// Reads a page for its text; `None` if it has none, such as a picture.
    ///
    /// Cost: as [`PageReader::render`] without the counting of terms.
    pub fn reading<'a>(&self, page: impl Into<PageSource<'a>>) -> Option<Reading<'a>> {
        let page = page.into();
        let Read { kind, source, encoding, mut document, .. } = self.read(page)?;
        document.text.settle();
        let text = if kind == Kind::Plain { source.clone().into_owned() } else { reading::main_text(&document.text) };
        let base = document.base.unwrap_or_else(|| page.url.as_url().clone());
        Some(Reading { text, source, charset: encoding.name(), base, refresh: document.refresh })
    }

    /// Reads the texts of a page, main or all, with their shape; `None` if it has none, such as a picture.
    ///
    /// Cost: the page's tree is built, so some four times that of [`PageReader::render`]. A page nested beyond
    /// [`Options::max_depth`], and XML that is no XHTML and no feed, have the text of [`PageReader::reading`] for each.
    pub fn text<'a>(&self, page: impl Into<PageSource<'a>>, wanted: WantedText) -> Option<PageText> {
        self.text_on_host(page, wanted, &CommonBlocks::default())
    }

    /// As [`PageReader::text`], on a host whose pages repeat these blocks: they are no main text.
    pub fn text_on_host<'a>(
        &self,
        page: impl Into<PageSource<'a>>,
        wanted: WantedText,
        common: &CommonBlocks,
    ) -> Option<PageText> {
        let page = page.into();
        let decoded = self.decoded(page)?;
        let html = match &decoded.written {
            Some(html) => Some(html.as_str()),
            None if decoded.kind == Kind::Html || (decoded.kind == Kind::Xml && is_rooted_in_html(&decoded.source)) => {
                Some(&*decoded.source)
            }
            None => None,
        };
        let html = html.filter(|html| !nesting::is_deeper_than(html, self.options.max_depth));
        // A feed is all about its entries, and Markdown has nothing around it.
        let scope = if decoded.written.is_some() { Scope::All } else { Scope::Main };
        let text = html.and_then(|html| main_text::of_html(html, page.url.as_url(), scope, wanted, common));
        let mut text = match text {
            Some(text) => text,
            None => PageText::of_plain(self.reading(page)?.text, wanted),
        };
        let sample = text.main.as_ref().or(text.full.as_ref()).or(text.markdown.as_ref());
        text.language = sample.and_then(|text| language::detect_main(text, self.options.min_language_chars));
        Some(text)
    }

    /// Counts the blocks of text of an HTML page, to learn what its host repeats.
    ///
    /// Cost: as [`PageReader::text`].
    pub fn count_blocks<'a>(&self, page: impl Into<PageSource<'a>>, counts: &mut BlockCounts) {
        let Some(decoded) = self.decoded(page.into()) else { return };
        if decoded.kind == Kind::Html && !nesting::is_deeper_than(&decoded.source, self.options.max_depth) {
            main_text::count_blocks(&decoded.source, counts);
        }
    }

    /// Decodes and parses a page; `None` if it is no text.
    fn read<'a>(&self, page: PageSource<'a>) -> Option<Read<'a>> {
        let DecodedPage { kind, source, encoding, charset_declared, written } = self.decoded(page)?;
        let document = match kind {
            _ if let Some(html) = &written => self.read_written(html, page, encoding),
            Kind::Html => self.read_html(&source, page, encoding),
            Kind::Xml => self.pass(&source, page, encoding, Order::Xml).unwrap_or_default(),
            Kind::Plain | Kind::Markdown | Kind::Other => plain(&source),
        };
        let is_feed = written.is_some() && kind != Kind::Markdown;
        Some(Read { kind, source, encoding, charset_declared, is_feed, document })
    }

    /// Decodes a page and decides how it is read; `None` if it is no text.
    fn decoded<'a>(&self, page: PageSource<'a>) -> Option<DecodedPage<'a>> {
        let mut kind = kind_of(&page.media_type(), page.url);
        if kind == Kind::Other {
            return None;
        }
        let Decoded { text: source, encoding, declared: charset_declared, is_guess } = decode(page, kind);
        if is_binary(&source, is_guess) {
            return None;
        }
        let written = match kind {
            Kind::Markdown => Some(markdown::as_html(&source)),
            Kind::Html | Kind::Xml if feed::may_be_feed(&source) => feed::as_html(&source, page.url.as_url()),
            _ => None,
        };
        if kind == Kind::Xml && is_html_in_capitals(&source) {
            kind = Kind::Html;
        }
        let source = match kind {
            Kind::Html => match assembled::assembled(&source) {
                Cow::Owned(assembled) => Cow::Owned(assembled),
                Cow::Borrowed(_) => source,
            },
            _ => source,
        };
        Some(DecodedPage { kind, source, encoding, charset_declared, written })
    }

    /// Counts the terms of a page and of its URL, with their order and the words around links.
    fn terms(
        &self,
        document: &Document,
        page: PageSource<'_>,
        language: Option<&str>,
    ) -> (Vec<TermCounts>, TermOrder, Option<RunningTerms>) {
        let url = url_terms::words(page.url);
        let mut context = self.options.running.then(|| LinkContext::new(&document.text, &document.anchors));
        let (terms, order) = {
            let mut observe = context.as_mut().map(|context| |start, field, term| context.add(start, field, term));
            self.tokenizer.with_table(language, |mut table| {
                table.count(Field::Url, &url);
                let observer = observe.as_mut().map(|observe| observe as &mut WordObserver<'_>);
                let order = table.count_parts(&document.text, self.options.order, observer);
                (table.into_terms(), order)
            })
        };
        (terms, order, context.map(LinkContext::finish))
    }

    /// Returns the terms of a text that is no page. All count as body.
    pub fn terms_of(&self, text: &str) -> Vec<TermCounts> {
        self.tokenizer.terms_of(text)
    }

    /// Returns the terms of a text and of the parts of its compound words, such as `mod_rewrite` and `StringUtils`.
    ///
    /// Parts need four letters or more: shorter ones, and numbers, say little. All count as body.
    pub fn terms_of_words(&self, text: &str) -> Vec<TermCounts> {
        let mut terms = self.terms_of(text);
        let parts = self.terms_of(&url_terms::cut_words(text));
        let says_much = |part: &TermCounts| part.term.chars().filter(|c| c.is_alphabetic()).count() >= 4;
        let is_new = |part: &TermCounts| terms.iter().all(|term| term.term != part.term);
        let new: Vec<TermCounts> = parts.into_iter().filter(|part| says_much(part) && is_new(part)).collect();
        terms.extend(new);
        terms
    }

    /// Returns the terms of the words of a URL's path; compound words are cut.
    pub fn terms_of_url(&self, url: &CanonicalUrl) -> Vec<TermCounts> {
        self.terms_of(&url_terms::words_of_path(url))
    }

    /// Returns why the fast parser leaves this page to the other one; `None` if it does not.
    pub fn detour<'a>(&self, page: impl Into<PageSource<'a>>) -> Option<&'static str> {
        let page = page.into();
        let Decoded { text, encoding, .. } = decode(page, Kind::Html);
        self.pass(&text, page, encoding, Order::Tree).err().map(|OutOfOrder(why)| why)
    }

    /// Reads HTML in one pass, or by a tree if the order of the text needs one and the nesting allows it.
    fn read_html(&self, html: &str, page: PageSource<'_>, encoding: &'static Encoding) -> Document {
        if self.options.parser == Parser::Fast
            && let Ok(document) = self.pass(html, page, encoding, Order::Tree)
        {
            return document;
        }
        if nesting::is_deeper_than(html, self.options.max_depth)
            && let Ok(document) = self.pass(html, page, encoding, Order::Source)
        {
            return document;
        }
        dom::read(html, page, encoding, &self.options, &self.normalizer)
    }

    fn pass(
        &self,
        source: &str,
        page: PageSource<'_>,
        encoding: &'static Encoding,
        order: Order,
    ) -> Result<Document, OutOfOrder> {
        tree_builder::read(source, page, encoding, &self.options, &self.normalizer, order)
    }

    /// Returns the refresh that a browser obeys, which is that of the header line if there is one. Its target is a link.
    fn refresh(&self, page: PageSource<'_>, document: &mut Document) -> Option<Refresh> {
        let Some(refresh) = header_refresh(page, page.url.as_url(), &self.normalizer) else {
            return document.refresh.take();
        };
        if let Some(link) = document.links.iter_mut().find(|link| link.url == refresh.to.url) {
            link.nofollow = false;
        } else if refresh.to.url != *page.url && document.links.len() >= self.options.max_links {
            document.links_over_limit += 1;
        } else if refresh.to.url != *page.url {
            document.links.push(OutLink { url: refresh.to.url.clone(), nofollow: false });
        }
        Some(refresh)
    }

    /// Reads a feed or Markdown that is written as HTML. What the markup of an entry says of its page is not said by the
    /// feed, and Markdown says nothing to robots.
    fn read_written(&self, html: &str, page: PageSource<'_>, encoding: &'static Encoding) -> Document {
        let mut document = self.read_html(html, page, encoding);
        (document.robots, document.canonical, document.refresh) = Default::default();
        (document.alternates, document.preferences) = Default::default();
        document
    }

    /// Returns what is known of a page without its body.
    fn unread(&self, page: PageSource<'_>) -> PageContent {
        let mut rendered = PageContent { provenance: provenance::of_answer(page), ..PageContent::default() };
        self.add_header_directives(page, &mut rendered.robots);
        rendered.preferences = preferences::of_header(page, &self.options.robots_agent);
        rendered
    }

    /// Adds the pages that the header names: `Link` with `rel=next`, `rel=prev` or another language (RFC 8288).
    fn add_header_links(&self, page: PageSource<'_>, document: &mut Document) {
        let values: Vec<String> = page.headers_named("link").collect();
        for link in values.iter().flat_map(|value| header_link::links(value)).filter(header_link::HeaderLink::is_page) {
            let Ok(url) = self.normalizer.resolve(page.url.as_url(), link.target) else { continue };
            if let Some(lang) = link.language() {
                document.add_alternate(lang, &url);
            }
            let is_known = url == *page.url || document.links.iter().any(|known| known.url == url);
            if !is_known && document.links.len() < self.options.max_links {
                document.links.push(OutLink { url, nofollow: link.has_rel("nofollow") });
            }
        }
    }

    fn add_header_directives(&self, page: PageSource<'_>, robots: &mut RobotsDirectives) {
        for value in page.headers_named("x-robots-tag") {
            directives::add_header(robots, &value, &self.options.robots_agent, page.fetched_at);
        }
    }
}

/// Maps a media type to its reader. No media type means HTML, as for browsers.
fn kind_of(media_type: &str, url: &CanonicalUrl) -> Kind {
    match media_type {
        _ if markdown::is_markdown(media_type, url) => Kind::Markdown,
        "" | "text/html" => Kind::Html,
        "text/xml" | "application/xml" => Kind::Xml,
        xml if xml.starts_with("application/") && xml.ends_with("+xml") => Kind::Xml,
        text if text.starts_with("text/") => Kind::Plain,
        _ => Kind::Other,
    }
}

/// Decodes a page of this kind.
fn decode(page: PageSource<'_>, kind: Kind) -> Decoded<'_> {
    let top_level_domain = page.url.domain().and_then(|name| name.rsplit('.').next());
    let syntax = match kind {
        Kind::Html => Syntax::Html,
        Kind::Xml => Syntax::Xml,
        Kind::Plain | Kind::Markdown | Kind::Other => Syntax::Plain,
    };
    let content_type = page.content_type();
    charset::decode(page.body, content_type.as_ref().map(|declared| declared.value.as_str()), syntax, top_level_domain)
}

/// Returns whether XML is none: its root is `HTML`, which only the rules of HTML know.
fn is_html_in_capitals(source: &str) -> bool {
    is_rooted_in_html(source) && root_name(source) != b"html"
}

/// Returns whether the root of XML is `html`, in upper or lower case.
fn is_rooted_in_html(source: &str) -> bool {
    root_name(source).eq_ignore_ascii_case(b"html")
}

/// Returns the first bytes of the name of the first element.
fn root_name(source: &str) -> &[u8] {
    let tags = source.match_indices('<').map(|(at, _)| &source.as_bytes()[at + 1..]);
    let mut tags = tags.filter(|rest| rest.first().is_some_and(u8::is_ascii_alphabetic));
    tags.next().and_then(|rest| rest.get(..4)).unwrap_or_default()
}

/// Returns whether this is no text. Text has next to no NUL characters; a mislabeled picture has many.
///
/// An encoding that was guessed turns any bytes into characters, so fewer odd ones tell.
fn is_binary(text: &str, is_guess: bool) -> bool {
    const HEAD_CHARS: usize = 1024;
    let head = &text.as_bytes()[..text.len().min(HEAD_CHARS)];
    if head.iter().all(|byte| matches!(byte, b'\t'..=b'\r' | b' '..=b'~')) {
        return false;
    }
    let mut odd = 0;
    for c in text.chars().take(HEAD_CHARS) {
        odd += usize::from(matches!(c, '\0'..='\u{8}' | '\u{e}'..='\u{1a}' | '\u{1c}'..='\u{1f}' | '\u{fffd}'));
    }
    // Single stray characters occur on real pages.
    odd > 16 && odd * if is_guess { 30 } else { 10 } > text.chars().take(HEAD_CHARS).count()
}

/// Returns the text digest that a page of plain text has; `None` if it has no text.
pub fn plain_text_digest(text: &str) -> Option<model::Digest> {
    let mut text = plain(text).text;
    text.fold(std::iter::empty());
    text.digest()
}

/// Reads plain text: lines do not end sentences, empty lines do.
fn plain(text: &str) -> Document {
    let mut document = Document::default();
    for line in text.split_inclusive('\n') {
        if line.trim().is_empty() {
            document.text.break_line();
        } else {
            document.text.push(Field::Body, line);
        }
    }
    document
}

#[cfg(test)]
mod agreement_tests;
#[cfg(test)]
mod same_reading_tests;
#[cfg(test)]
pub(crate) mod tests;
