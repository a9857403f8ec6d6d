//! HTML without a tree: one pass over the source, with the stack of open elements.
//!
//! The page needs only the position of a text and the elements around it, and the pass knows both when it meets the
//! text. So it follows WHATWG HTML, section 13.2.6 ("Tree construction"), with insertion modes, implied end tags and the
//! list of formatting elements, but makes no node: opening or closing an element changes the field of the text that
//! follows, hides it, or ends a line.
//!
//! In few cases the order of a tree is not that of its source: text in a table outside its cells moves before the table,
//! and a frameset replaces the body. There the pass stops ([`Stop::OutOfOrder`]), and a [tree](super::dom) is built.
//!
//! Where the standard leaves room, the pass does what `html5ever` does, which builds the tree.

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

use std::borrow::Cow;

use memchr::memchr;

use crate::model::{Field, Normalizer, PageSource};

use super::document::{Attributes, Document, Findings, is_json_ld};
use super::names::{Name, SHALLOW};
use super::tokenizer::{Lexer, RawText, Tag, Token};
use super::{Options, language};

use formatting::Formatting;
use stack::{Space, Stack};

/// Why the pass stopped before the end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The order of the text is not that of its source.
    OutOfOrder(&'static str),
    /// Elements are nested too deep.
    TooDeep,
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

/// Reads a page.
pub(super) fn read(
    html: &str,
    page: PageSource<'_>,
    options: &Options,
    normalizer: &Normalizer,
) -> Result<Document, Stop> {
    let html = with_line_feeds(html.strip_prefix('\u{feff}').unwrap_or(html));
    let mut base: Option<String> = None;
    loop {
        let mut findings = Findings::new(page, options, normalizer);
        findings.document.text.reserve(html.len() / 2);
        if let Some(href) = &base {
            findings.links.set_base(href);
        }
        let builder = Builder::new(findings, &html, options.max_depth, base.is_some());
        match builder.read(&html) {
            // The base is known now, so this happens once.
            Err(Stop::Base(href)) => base = Some(href),
            read => return read,
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

impl Attributes for Tag<'_> {
    fn value(&self, name: &str) -> Option<Cow<'_, str>> {
        self.get(name)
    }
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
    fn new(findings: Findings<'o>, html: &str, max_depth: usize, based: bool) -> Self {
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
            linked: false,
            based,
            languages: [None, None],
            foreign_language: None,
            raw: None,
            stop: None,
        }
    }

    fn read(mut self, html: &'a str) -> Result<Document, Stop> {
        let mut lexer = Lexer::new(html);
        let mut tag = Tag::default();
        loop {
            let in_foreign = self.stack.top().is_some_and(|open| open.space != Space::Html);
            let token = lexer.next(&mut tag, in_foreign);
            let ignore_line_feed = std::mem::take(&mut self.ignore_line_feed);
            match token {
                Token::Start => {
                    self.start(&tag);
                    if let Some(kind) = self.raw.take() {
                        let text = lexer.raw_text(kind, tag.written);
                        if kind == RawText::Script && is_json_ld(&tag) {
                            self.json_ld(text);
                        }
                        self.raw_text(text, kind);
                    } else {
                        self.count_open(tag.name);
                    }
                }
                Token::End => {
                    self.count_close(tag.name);
                    self.end(&tag);
                }
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
        let declared = lang.as_ref().or(xml_lang.as_ref()).and_then(|tag| language::primary_subtag(tag));
        let language = self.foreign_language.unwrap_or(declared);
        let mut document = self.findings.finish();
        document.language = language;
        document
    }

    fn start(&mut self, tag: &Tag<'a>) {
        if self.in_foreign_content(tag) {
            return self.foreign_start(tag);
        }
        self.start_in(self.mode, tag);
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

    fn end(&mut self, tag: &Tag<'a>) {
        if self.stack.top().is_some_and(|open| open.space != Space::Html) {
            return self.foreign_end(tag);
        }
        self.end_in(self.mode, tag);
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
        self.stop.get_or_insert(why);
    }

    fn count_open(&mut self, name: Name) {
        if !name.is(SHALLOW) {
            self.depth += 1;
        }
        // The stack may be higher: it also holds elements that do not count.
        if self.depth > self.max_depth || self.stack.0.len() > self.max_depth.saturating_mul(4).saturating_add(64) {
            self.stop(Stop::TooDeep);
        }
    }

    fn count_close(&mut self, name: Name) {
        if !name.is(SHALLOW) {
            self.depth = self.depth.saturating_sub(1);
        }
    }
}
