//! HTML without a tree: one pass over the source, with the stack of open elements.
//!
//! The page needs only the position of a text and the elements around it, and the pass knows both when it meets the
//! text. So it follows WHATWG HTML, section 13.2.6 ("Tree construction"), with insertion modes, implied end tags and the
//! list of formatting elements, but makes no node: opening or closing an element changes the field of the text that
//! follows, hides it, or ends a line.
//!
//! In few cases the order of a tree is not that of its source: text in a table outside its cells moves before the table,
//! and a frameset replaces the body. There the pass stops ([`OutOfOrder`]), and a [tree](super::dom) is built, unless
//! elements nest too deep for one: then the text stays in the order of its source ([`Order`]).
//!
//! XML has neither insertion modes nor implied tags, so it takes other rules for tags ([`xml`]) and shares the rest.
//!
//! Where the standard leaves room, the pass does what `html5ever` does, which builds the tree.

mod beyond;
mod body;
mod body_end;
mod characters;
mod doctype;
mod elements;
mod foreign;
mod formatting;
mod frames;
mod head;
mod stack;
mod table;
mod xml;

use std::borrow::Cow;

use encoding_rs::Encoding;
use memchr::memchr;

use crate::model::{Field, Normalizer, PageSource};

use super::document::{Document, Findings, is_json_ld};
use super::names::{Name, SHALLOW};
use super::tokenizer::{Lexer, RawText, Tag, Token};
use super::{Options, language};

use beyond::Beyond;
use formatting::Formatting;
use stack::{Space, Stack};
use xml::Xml;

/// The text of the page is not in the order of its source, and why.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OutOfOrder(pub &'static str);

/// What a document is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// HTML, in the order of its tree.
    Tree,
    /// HTML, in the order of its source.
    Source,
    /// XML, where the two are the same.
    Xml,
}

/// Why the pass stopped before the end.
#[derive(Debug, PartialEq, Eq)]
enum Stop {
    /// The order of the text is not that of its source.
    OutOfOrder(&'static str),
    /// A `base` that counts for links before it.
    Base(String),
}

/// The insertion modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Initial,
    BeforeHtml,
    BeforeHead,
    InHead,
    AfterHead,
    InBody,
    InTable,
    InCaption,
    InColumnGroup,
    InTableBody,
    InRow,
    InCell,
    InTemplate,
    AfterBody,
    InFrameset,
    AfterFrameset,
    AfterAfterBody,
    AfterAfterFrameset,
}

/// What to do after a token.
enum Step {
    Done,
    /// Process the token again in this mode.
    Again(Mode),
}

/// Reads a page whose character encoding was this one. Only [`Order::Tree`] can fail.
pub(super) fn read(
    html: &str,
    page: PageSource<'_>,
    encoding: &'static Encoding,
    options: &Options,
    normalizer: &Normalizer,
    order: Order,
) -> Result<Document, OutOfOrder> {
    let html = with_line_feeds(html.strip_prefix('\u{feff}').unwrap_or(html));
    let mut base: Option<String> = None;
    loop {
        let mut findings = Findings::new(page, encoding, options, normalizer);
        findings.document.text.reserve(html.len() / 2);
        if let Some(href) = &base {
            findings.links.set_base(href);
        }
        let builder = Builder::new(findings, &html, options.max_depth, base.is_some(), order);
        match builder.read(&html) {
            // The base is known now, so this happens once.
            Err(Stop::Base(href)) => base = Some(href),
            Err(Stop::OutOfOrder(why)) => return Err(OutOfOrder(why)),
            Ok(document) => return Ok(document),
        }
    }
}

/// "Normalize newlines": CR LF and CR are LF.
fn with_line_feeds(html: &str) -> Cow<'_, str> {
    if memchr(b'\r', html.as_bytes()).is_none() {
        return Cow::Borrowed(html);
    }
    let mut normal = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = memchr(b'\r', rest.as_bytes()) {
        normal.push_str(&rest[..at]);
        normal.push('\n');
        rest = &rest[at + 1..];
        rest = rest.strip_prefix('\n').unwrap_or(rest);
    }
    normal.push_str(rest);
    Cow::Owned(normal)
}

struct Builder<'a, 'o> {
    findings: Findings<'o>,
    stack: Stack<'a>,
    formatting: Vec<Formatting<'a>>,
    mode: Mode,
    template_modes: Vec<Mode>,
    quirks: bool,
    frameset_ok: bool,
    ignore_line_feed: bool,
    /// "Foster parenting".
    foster: bool,
    has_head: bool,
    form: Option<u32>,
    next_id: u32,
    /// The field of the text that follows.
    field: Field,
    /// Open elements whose content is hidden.
    hidden: u32,
    /// Open `svg` and `math` elements.
    foreign: u32,
    /// Open `p` elements, so that the stack is rarely searched for one.
    paragraphs: u32,
    has_nul: bool,
    /// Nested elements that are not closed, as [`super::nesting`] counts them.
    depth: usize,
    max_depth: usize,
    /// Elements beyond that depth.
    beyond: Beyond<'a>,
    /// Whether text stays where its source has it.
    in_source_order: bool,
    xml: Option<Xml<'a>>,
    /// Whether links were resolved, and whether their base is settled.
    linked: bool,
    based: bool,
    /// `lang` and `xml:lang` of the root.
    languages: [Option<Cow<'a, str>>; 2],
    foreign_language: Option<Option<String>>,
    /// How the content of the element that was just opened is read, if it is text.
    raw: Option<RawText>,
    stop: Option<Stop>,
}

impl<'a, 'o> Builder<'a, 'o> {
    fn new(findings: Findings<'o>, html: &str, max_depth: usize, based: bool, order: Order) -> Self {
        Self {
            findings,
            stack: Stack::default(),
            formatting: Vec::new(),
            mode: Mode::Initial,
            template_modes: Vec::new(),
            quirks: false,
            frameset_ok: true,
            ignore_line_feed: false,
            foster: false,
            has_head: false,
            form: None,
            next_id: 0,
            field: Field::Body,
            hidden: 0,
            foreign: 0,
            paragraphs: 0,
            has_nul: memchr(0, html.as_bytes()).is_some(),
            depth: 0,
            max_depth,
            beyond: Beyond::default(),
            in_source_order: order != Order::Tree,
            xml: (order == Order::Xml).then(Xml::default),
            linked: false,
            based,
            languages: [None, None],
            foreign_language: None,
            raw: None,
            stop: None,
        }
    }

    fn read(mut self, html: &'a str) -> Result<Document, Stop> {
        let is_xml = self.xml.is_some();
        let mut lexer = if is_xml { Lexer::xml(html) } else { Lexer::new(html) };
        let mut tag = Tag { is_xml, ..Tag::default() };
        loop {
            let in_foreign = self.stack.top().is_some_and(|open| open.space != Space::Html);
            let token = lexer.next(&mut tag, in_foreign);
            let ignore_line_feed = std::mem::take(&mut self.ignore_line_feed);
            match token {
                Token::Start => {
                    let counts = self.start(&mut tag);
                    if let Some(kind) = self.raw.take() {
                        let text = lexer.raw_text(kind, tag.written);
                        match tag.name {
                            Name::Script if is_json_ld(&tag) => self.json_ld(text),
                            Name::NoScript | Name::NoFrames => self.noscript(text),
                            _ => {}
                        }
                        self.raw_text(text, kind);
                    } else if counts {
                        self.count_open(tag.name);
                    }
                }
                Token::End => self.end(&mut tag),
                Token::Text(text) => {
                    let text = if ignore_line_feed { text.strip_prefix('\n').unwrap_or(text) } else { text };
                    self.text(text);
                }
                Token::Characters(text) => self.characters(text),
                Token::Comment => {}
                Token::Doctype(text) => {
                    if self.mode == Mode::Initial {
                        self.quirks = doctype::is_quirky(text);
                        self.mode = Mode::BeforeHtml;
                    }
                }
                Token::Eof => break,
            }
            if let Some(stop) = self.stop.take() {
                return Err(stop);
            }
        }
        Ok(self.finish())
    }

    fn finish(self) -> Document {
        let [lang, xml_lang] = &self.languages;
        // HTML has no attribute "xml:lang"; in XML it comes first.
        let (first, second) = if self.xml.is_some() { (xml_lang, lang) } else { (lang, xml_lang) };
        let declared = first.as_ref().or(second.as_ref()).and_then(|tag| language::primary_subtag(tag));
        let language = self.foreign_language.unwrap_or(declared);
        let is_xhtml = self.xml.is_some_and(|xml| xml.is_xhtml);
        let mut document = self.findings.finish();
        document.language = language;
        document.is_xhtml = is_xhtml;
        document
    }

    /// Reads a start tag; returns whether it counts as nested.
    fn start(&mut self, tag: &mut Tag<'a>) -> bool {
        let space = if self.xml.is_some() { self.resolve_name(tag) } else { Space::Html };
        if self.is_beyond(tag) {
            let at = self.stack.0.len();
            self.start_beyond(tag);
            self.leave(at);
            return false;
        }
        match () {
            () if self.xml.is_some() => self.start_in_xml(tag, space),
            () if self.in_foreign_content(tag) => self.foreign_start(tag),
            () => self.start_in(self.mode, tag),
        }
        true
    }

    fn start_in(&mut self, mode: Mode, tag: &Tag<'a>) {
        let mut step = Step::Again(mode);
        while let Step::Again(mode) = step {
            step = self.start_step(mode, tag);
            if let Step::Again(next) = step {
                self.mode = next;
            }
        }
    }

    fn start_step(&mut self, mode: Mode, tag: &Tag<'a>) -> Step {
        match mode {
            Mode::InBody => self.start_in_body(tag),
            Mode::InCell => self.start_in_cell(tag),
            Mode::Initial | Mode::BeforeHtml | Mode::BeforeHead | Mode::InHead | Mode::AfterHead => {
                self.start_before_body(mode, tag)
            }
            Mode::InTable => self.start_in_table(tag),
            Mode::InCaption => self.start_in_caption(tag),
            Mode::InColumnGroup => self.start_in_column_group(tag),
            Mode::InTableBody => self.start_in_table_body(tag),
            Mode::InRow => self.start_in_row(tag),
            Mode::InTemplate => self.start_in_template(tag),
            Mode::AfterBody | Mode::AfterAfterBody => match tag.name {
                Name::Html => self.start_in_body(tag),
                _ => Step::Again(Mode::InBody),
            },
            Mode::InFrameset | Mode::AfterFrameset | Mode::AfterAfterFrameset => self.start_in_frames(mode, tag),
        }
    }

    fn end(&mut self, tag: &mut Tag<'a>) {
        if self.xml.is_some() {
            self.resolve_name(tag);
        }
        if !self.beyond.is_empty() {
            return self.end_beyond(tag);
        }
        self.count_close(tag.name);
        match self.stack.top() {
            _ if self.xml.is_some() => self.end_in_xml(tag),
            Some(open) if open.space != Space::Html => self.foreign_end(tag),
            _ => self.end_in(self.mode, tag),
        }
    }

    fn end_in(&mut self, mode: Mode, tag: &Tag<'a>) {
        let mut step = Step::Again(mode);
        while let Step::Again(mode) = step {
            step = self.end_step(mode, tag);
            if let Step::Again(next) = step {
                self.mode = next;
            }
        }
    }

    fn end_step(&mut self, mode: Mode, tag: &Tag<'a>) -> Step {
        match mode {
            Mode::InBody => self.end_in_body(tag),
            Mode::InCell => self.end_in_cell(tag),
            Mode::Initial | Mode::BeforeHtml | Mode::BeforeHead | Mode::InHead | Mode::AfterHead => {
                self.end_before_body(mode, tag)
            }
            Mode::InTable => self.end_in_table(tag),
            Mode::InCaption => self.end_in_caption(tag),
            Mode::InColumnGroup => self.end_in_column_group(tag),
            Mode::InTableBody => self.end_in_table_body(tag),
            Mode::InRow => self.end_in_row(tag),
            Mode::InTemplate => match tag.name {
                Name::Template => self.end_in_head(tag),
                _ => Step::Done,
            },
            Mode::AfterBody => match tag.name {
                Name::Html => {
                    self.mode = Mode::AfterAfterBody;
                    Step::Done
                }
                _ => Step::Again(Mode::InBody),
            },
            Mode::AfterAfterBody => Step::Again(Mode::InBody),
            Mode::InFrameset | Mode::AfterFrameset | Mode::AfterAfterFrameset => self.end_in_frames(mode, tag),
        }
    }

    fn stop(&mut self, why: Stop) {
        if !(self.in_source_order && matches!(why, Stop::OutOfOrder(_))) {
            self.stop.get_or_insert(why);
        }
    }

    fn count_open(&mut self, name: Name) {
        if !name.is(SHALLOW) {
            self.depth += 1;
        }
    }

    fn count_close(&mut self, name: Name) {
        if !name.is(SHALLOW) {
            self.depth = self.depth.saturating_sub(1);
        }
    }
}
