//! *Which text, terms and links does this page hold?*
//!
//! ```
//! use pagetext::{Normaliser, PageSource, Renderer};
//!
//! # fn main() -> Result<(), pagetext::UrlError> {
//! let url = Normaliser::default().absolute("http://docs.example/guide/")?;
//! let html = b"<title>Sockets</title><h1>Sockets</h1><p>A socket <a href='tcp.html#top'>talks TCP</a>.";
//! let page = PageSource::new(&url, html);
//!
//! let reader = Renderer::default();
//! let content = reader.render(page);
//! assert_eq!(content.title.as_deref(), Some("Sockets"));
//! assert_eq!(content.links[0].url.as_str(), "http://docs.example/guide/tcp.html");
//! assert_eq!(content.terms[1].term, "guid"); // stemmed; the first is the host's name
//! assert_eq!(reader.reading(page).map(|text| text.text), Some("Sockets\nA socket talks TCP.".to_owned()));
//! # Ok(())
//! # }
//! ```
//!
//! A page goes through these steps: its bytes are decoded, its elements are followed in one pass over the text
//! ([`Parser::Fast`]; text by field, links, title, what it asks of robots), the language is settled, and the words of
//! each field are counted under their stems, or under those of their synonyms. Nothing of the markup remains.
//! [`Parser::Dom`] finds the same by way of a tree; the few pages whose text is not in the order of their source are
//! left to it in any case. Pages that are nested too deep are read as text.
//!
//! The fields and what falls into them are those of the MWO paper (section "Rendering"); which
//! field an occurrence counts in is decided by the innermost element. The paper is silent on the
//! language; here the words of every page are stemmed by the rules of English ([`Rules`] says why), unless
//! those of the language that the page declares, or that is detected, are asked for.
//!
//! A bad page is never an error: what can't be read is left out.
//!
//! Imports between rooms go downward only:
//!
//! ```text
//! tree_builder
//! tokenizer  model
//! ```

#![deny(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod byte_search;
mod charset;
mod copyright;
mod dates;
mod directives;
mod document;
mod dom;
mod json_ld;
mod language;
mod link_context;
mod links;
mod main_text;
mod markup;
mod metadata;
pub mod model;
mod names;
mod nesting;
mod parser;
mod provenance;
mod refresh;
mod sitemap;
mod soft_404_phrases;
mod tokenizer;
mod tree_builder;
mod url_terms;

use std::borrow::Cow;
use std::sync::Arc;

use encoding_rs::Encoding;

use neardup::model::{Field, TermCounts, TermOrder, WantedOrder};

use document::Document;
use link_context::LinkContext;
use neardup::text::{Tokenizer, TokenizerOptions, WordObserver};
use tree_builder::Stop;

pub use directives::robots_directives;
pub use model::{
    CanonicalUrl, Header, LinkPlace, NormaliseOptions, Normaliser, OutLink, PageSource, Rendered, RobotsDirectives,
    RunningTerms, UrlError, read_reference,
};
pub use neardup::text::{LanguageRules as Rules, Synonyms, SynonymsError, WordCache, query_terms};

pub use main_text::{Reading, Refresh};
pub use parser::{Parser, ParserError};
pub use sitemap::{Sitemap, SitemapLimits, parse_sitemap};
pub use soft_404_phrases::says_not_there;

/// The version of the rendering. Records made by different versions can't be compared.
pub const RENDERING_VERSION: u32 = 4;

/// How pages are rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How elements are found.
    pub parser: Parser,
    /// Links kept of one page.
    pub max_links: usize,
    /// Elements nested deeper are read as text.
    pub max_depth: usize,
    /// Below this many letters the language is not guessed.
    pub min_language_chars: usize,
    /// The product token to which `meta` and `X-Robots-Tag` may speak.
    pub robots_agent: String,
    /// Whether stop words are dropped.
    pub stop_words: bool,
    /// Words that become one word before they are stemmed. `None`: none do, and nothing is looked up.
    pub synonyms: Option<Arc<Synonyms>>,
    /// Whether words are stemmed.
    pub stem: bool,
    /// By which rules stop words are dropped and words stemmed.
    pub rules: Rules,
    /// How often the same word is stemmed. Nothing but time depends on it.
    pub word_cache: WordCache,
    /// What is told of the order of terms.
    pub order: WantedOrder,
    /// Whether it is told where links stand, see [`RunningTerms`].
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

/// Renders pages. Shared by threads; holds no state of a page, but words that it has met.
#[derive(Clone, Debug, Default)]
pub struct Renderer {
    options: Options,
    normaliser: Normaliser,
    tokenizer: Tokenizer,
}

/// A page that was decoded and read.
struct Read<'a> {
    kind: Kind,
    source: Cow<'a, str>,
    encoding: &'static Encoding,
    document: Document,
    /// Whether it is nested too deep to be read as what it is.
    too_deep: bool,
}

/// How a media type is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Html,
    Xml,
    Plain,
    Other,
}

impl Renderer {
    /// A renderer with these options; links are brought into their canonical spelling by
    /// `normaliser`.
    pub fn new(options: Options, normaliser: Normaliser) -> Self {
        let Options { stop_words, stem, rules, word_cache, .. } = options;
        let synonyms = options.synonyms.clone();
        let tokenizer = Tokenizer::new(TokenizerOptions { stop_words, stem, synonyms, rules, word_cache });
        Self { options, normaliser, tokenizer }
    }

    /// Names everything that makes two renderings incomparable.
    pub fn signature(&self) -> String {
        let Options { parser, max_depth, min_language_chars, synonyms, rules, order, .. } = &self.options;
        let synonyms = synonyms.as_ref().map(|table| format!(", synonyms {}", table.signature())).unwrap_or_default();
        format!(
            "rendering {RENDERING_VERSION}, parser {parser}, {}, stop words {}, depth {max_depth}, language from {min_language_chars}{synonyms}{}{}{}{}",
            self.tokenizer.stemmer(),
            self.tokenizer.stop_word_version(),
            if *rules == Rules::OfLanguage { ", rules of the language" } else { "" },
            if order.sentence_count { ", sentences counted" } else { "" },
            if order.sentences { ", sentences listed" } else { "" },
            if order.shingles { ", runs of terms" } else { "" },
        )
    }

    /// Renders a page. Cost: linear in its length, some 5 ns a byte of the pages that are measured by
    /// `benches/rendering.rs`; by a tree three to four times that, and by a tree of which every word is
    /// stemmed more than five times.
    pub fn render<'a>(&self, page: impl Into<PageSource<'a>>) -> Rendered {
        let page = page.into();
        let Some(Read { kind, source, encoding, mut document, too_deep }) = self.read(page) else {
            return self.unread(page);
        };
        document.text.settle();
        let claims = std::mem::take(&mut document.claims);
        let mut provenance = provenance::of_page(page, claims, document.title.as_deref(), &document.text);
        provenance.markup = (kind == Kind::Html).then(|| provenance::markup(&source));
        self.add_header_directives(page, &mut document.robots);
        let language = document.language.take().or_else(|| {
            let detected = language::detect(document.text.as_str(), self.options.min_language_chars);
            detected.map(str::to_owned)
        });
        let (terms, order, running) = self.terms(&document, page, language.as_deref());
        Rendered {
            terms,
            order,
            text_digest: document.text.digest(),
            title: document.title,
            language,
            charset: encoding.name(),
            links: document.links,
            running,
            links_dropped: document.links_dropped,
            links_over_limit: document.links_over_limit,
            names_itself: document.names_itself,
            canonical: document.canonical,
            robots: document.robots,
            provenance,
            too_deep,
        }
    }

    /// Reads a page for its text. `None` if it holds none: a picture, say. Cost: as [`Renderer::render`]
    /// without the counting of terms.
    pub fn reading<'a>(&self, page: impl Into<PageSource<'a>>) -> Option<Reading<'a>> {
        let page = page.into();
        let Read { kind, source, encoding, mut document, .. } = self.read(page)?;
        document.text.settle();
        let text = if kind == Kind::Plain { main_text::plain(&source) } else { main_text::main_text(&document.text) };
        let base = document.base.unwrap_or_else(|| page.url.as_url().clone());
        Some(Reading { text, source, charset: encoding.name(), base, refresh: document.refresh })
    }

    /// Decodes a page and finds what it holds; `None` if it is no text.
    fn read<'a>(&self, page: PageSource<'a>) -> Option<Read<'a>> {
        let kind = kind_of(&page.media_type());
        if kind == Kind::Other {
            return None;
        }
        let top_level_domain = page.url.as_url().domain().and_then(|name| name.rsplit('.').next());
        let content_type = page.header("content-type");
        let (source, encoding) =
            charset::decode(page.body, content_type.as_deref(), kind == Kind::Xml, top_level_domain);
        if is_binary(&source) {
            return None;
        }
        let (document, too_deep) = match kind {
            Kind::Html => self.read_html(&source, page),
            Kind::Xml => (markup::read(&source, page, &self.options, &self.normaliser), false),
            Kind::Plain | Kind::Other => (plain(&source), false),
        };
        Some(Read { kind, source, encoding, document, too_deep })
    }

    /// The terms of a page and of its URL, and what there is to tell of their order.
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

    /// The terms of a text that is no page, as they would be on a page. All count as body.
    pub fn terms_of(&self, text: &str) -> Vec<TermCounts> {
        self.tokenizer.terms_of(text)
    }

    /// The terms of a text and, where a word is made of several, as `mod_rewrite` and `StringUtils` are, also the
    /// terms of its parts that have four letters or more: shorter ones, and numbers, say little. All count as body.
    pub fn terms_of_words(&self, text: &str) -> Vec<TermCounts> {
        let mut terms = self.terms_of(text);
        let parts = self.terms_of(&url_terms::cut_words(text));
        let says_much = |part: &TermCounts| part.term.chars().filter(|c| c.is_alphabetic()).count() >= 4;
        let is_new = |part: &TermCounts| terms.iter().all(|term| term.term != part.term);
        let new: Vec<TermCounts> = parts.into_iter().filter(|part| says_much(part) && is_new(part)).collect();
        terms.extend(new);
        terms
    }

    /// The terms of the words of a URL's path, of which compound words are cut.
    pub fn terms_of_url(&self, url: &CanonicalUrl) -> Vec<TermCounts> {
        self.terms_of(&url_terms::words_of_path(url))
    }

    /// Why the fast parser leaves this page to the other one; `None` if it does not.
    pub fn detour<'a>(&self, page: impl Into<PageSource<'a>>) -> Option<&'static str> {
        let page = page.into();
        let (text, _) = charset::decode(page.body, page.header("content-type").as_deref(), false, None);
        match tree_builder::read(&text, page, &self.options, &self.normaliser) {
            Err(Stop::OutOfOrder(why)) => Some(why),
            _ => None,
        }
    }

    /// Reads HTML, and says whether it is nested too deep to be read as such.
    fn read_html(&self, html: &str, page: PageSource<'_>) -> (Document, bool) {
        let too_deep = match self.options.parser {
            Parser::Fast => match tree_builder::read(html, page, &self.options, &self.normaliser) {
                Ok(document) => return (document, false),
                Err(stop) => stop == Stop::TooDeep,
            },
            Parser::Dom => false,
        };
        if too_deep || nesting::is_deeper_than(html, self.options.max_depth) {
            return (markup::read(html, page, &self.options, &self.normaliser), true);
        }
        (dom::read(html, page, &self.options, &self.normaliser), false)
    }

    /// What is known of a page without reading its body.
    fn unread(&self, page: PageSource<'_>) -> Rendered {
        let mut rendered = Rendered { provenance: provenance::of_answer(page), ..Rendered::default() };
        self.add_header_directives(page, &mut rendered.robots);
        rendered
    }

    fn add_header_directives(&self, page: PageSource<'_>, robots: &mut RobotsDirectives) {
        for value in page.headers_named("x-robots-tag") {
            directives::add_header(robots, &value, &self.options.robots_agent, page.fetched_at);
        }
    }
}

/// No media type means HTML, as for browsers.
fn kind_of(media_type: &str) -> Kind {
    match media_type {
        "" | "text/html" | "application/xhtml+xml" => Kind::Html,
        "text/xml" | "application/xml" => Kind::Xml,
        xml if xml.starts_with("application/") && xml.ends_with("+xml") => Kind::Xml,
        text if text.starts_with("text/") => Kind::Plain,
        _ => Kind::Other,
    }
}

/// Text has no NUL characters to speak of; a picture that is called text has.
fn is_binary(text: &str) -> bool {
    const HEAD_CHARS: usize = 1024;
    let head = &text.as_bytes()[..text.len().min(HEAD_CHARS)];
    if head.iter().all(|byte| matches!(byte, b'\t'..=b'\r' | b' '..=b'~')) {
        return false;
    }
    let mut odd = 0;
    for c in text.chars().take(HEAD_CHARS) {
        odd += usize::from(matches!(c, '\0'..='\u{8}' | '\u{e}'..='\u{1a}' | '\u{fffd}'));
    }
    // Single stray characters occur on real pages.
    odd > 16 && odd * 10 > text.chars().take(HEAD_CHARS).count()
}

/// Plain text is set in lines, which end no sentence, and paragraphs, which do.
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
mod agreement;
#[cfg(test)]
pub(crate) mod tests;
