//! The source of a page as a browser shows it before any script of the page runs.
//!
//! Servers send parts of a page away from their place, in forms that need no script to be read: a declarative shadow root
//! (WHATWG HTML, section 13.2.6.4.4), a document in `iframe[srcdoc]`, and the parts that React streams behind the page,
//! each of which replaces the boundary of its number. Other templates are inert: nothing of them is shown. Links in SVG and
//! MathML are written as those of HTML, so that each parser finds them.
//!
//! Only the source is rewritten. Pages without such forms are not copied.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use memchr::memmem;

use super::names::{BREAKS_OUT, Name};
use super::tokenizer::{Lexer, RawText, Tag, Token};

/// How deep streamed parts are put into one another.
const MOST_NESTED: usize = 64;

/// The element that stands for a shadow root. It has no rule.
const SHADOW_ROOT: &str = "shadow-root";

/// Returns the source with each part in its place.
pub(super) fn assembled(html: &str) -> Cow<'_, str> {
    let has = |sign: &str| memmem::find(html.as_bytes(), sign.as_bytes()).is_some();
    if !["<template", "<TEMPLATE", "srcdoc", "SRCDOC", "xlink:href", "XLINK:HREF", "<math"].into_iter().any(has) {
        return Cow::Borrowed(html);
    }
    let streamed = if has("\"S:") || has("'S:") { streamed_parts(html) } else { HashMap::new() };
    let mut assembler = Assembler {
        page: html,
        streamed,
        written: String::with_capacity(html.len()),
        is_changed: false,
        has_unclosed: false,
    };
    assembler.write(html, 0);
    if assembler.is_changed { Cow::Owned(assembler.written) } else { Cow::Borrowed(html) }
}

/// A part that was streamed behind the page: where it stands, and its content.
struct Streamed {
    whole: Range<usize>,
    content: Range<usize>,
}

/// Finds the elements `<div hidden id="S:n">`, by number, if their boundary is there, too.
fn streamed_parts(html: &str) -> HashMap<String, Streamed> {
    let (mut parts, mut boundaries, mut open, mut divs) = (HashMap::new(), Vec::new(), None, 0_usize);
    let (mut lexer, mut tag) = (Lexer::new(html), Tag::default());
    loop {
        let start = lexer.position();
        match lexer.next(&mut tag, false) {
            Token::Start => {
                let id = tag.get("id").unwrap_or_default();
                if tag.name == Name::Template
                    && let Some(number) = boundary_number(&id)
                {
                    boundaries.push(number.to_owned());
                }
                if tag.name == Name::Div {
                    divs += 1;
                    let number = id.strip_prefix("S:").filter(|_| tag.has("hidden") && open.is_none());
                    open = open.or_else(|| Some((number?.to_owned(), divs, start, lexer.position())));
                }
                skip_raw_text(&mut lexer, &tag);
            }
            Token::End if tag.name == Name::Div => {
                if let Some((number, _, begin, content)) = open.take_if(|(_, depth, ..)| *depth == divs) {
                    let part = Streamed { whole: begin..lexer.position(), content: content..start };
                    parts.entry(number).or_insert(part);
                }
                divs = divs.saturating_sub(1);
            }
            Token::Eof => break,
            _ => {}
        }
    }
    parts.retain(|number, _| boundaries.contains(number));
    parts
}

/// Returns the number of the place that a template keeps for a streamed part.
fn boundary_number(id: &str) -> Option<&str> {
    id.strip_prefix("B:").or_else(|| id.strip_prefix("P:"))
}

fn skip_raw_text<'a>(lexer: &mut Lexer<'a>, tag: &Tag<'a>) {
    if let Some(kind) = RawText::of(tag.name) {
        lexer.raw_text(kind, tag.written);
    }
}

struct Assembler<'h> {
    page: &'h str,
    streamed: HashMap<String, Streamed>,
    written: String,
    is_changed: bool,
    /// Whether a template or a boundary has no end. Then no further end is looked for, so that the cost stays linear.
    has_unclosed: bool,
}

impl Assembler<'_> {
    /// Writes a piece of the source of the page.
    fn write(&mut self, html: &str, nested: usize) {
        let (mut lexer, mut tag) = (Lexer::new(html), Tag::default());
        let (mut copied, mut shadows, mut foreign, mut is_math) = (0, 0_usize, 0_usize, false);
        // Streamed parts stand in the page itself, not in one another.
        let parts: HashMap<usize, usize> = match nested {
            0 => self.streamed.values().map(|part| (part.whole.start, part.whole.end)).collect(),
            _ => HashMap::new(),
        };
        loop {
            let start = lexer.position();
            let token = lexer.next(&mut tag, foreign > 0);
            if token == Token::Eof {
                break;
            }
            if let Some(&end) = parts.get(&start).filter(|_| token == Token::Start) {
                self.replace(html, &mut copied, start..end, "");
                lexer.go_to(end);
                continue;
            }
            match token {
                Token::Start if tag.name == Name::Template => {
                    if is_shadow_root(&tag) {
                        shadows += 1;
                        self.replace(html, &mut copied, start..lexer.position(), &format!("<{SHADOW_ROOT}>"));
                    } else if let Some(end) = self.end_of(|| end_of_template(html, lexer.position())) {
                        let number = tag.get("id").as_deref().and_then(boundary_number).map(str::to_owned);
                        let end = self.template(html, &mut copied, start..end, number, nested);
                        lexer.go_to(end);
                    }
                }
                Token::End if tag.name == Name::Template && shadows > 0 => {
                    shadows -= 1;
                    self.replace(html, &mut copied, start..lexer.position(), &format!("</{SHADOW_ROOT}>"));
                }
                Token::Start if tag.name == Name::Iframe && tag.has("srcdoc") => {
                    let inner = tag.get("srcdoc").unwrap_or_default();
                    lexer.raw_text(RawText::Plain, tag.written);
                    self.replace(html, &mut copied, start..lexer.position(), &format!("<div>{inner}</div>"));
                }
                Token::Start => {
                    let is_root = matches!(tag.name, Name::Svg | Name::Math);
                    // Such a tag ends foreign content, closed or not.
                    foreign =
                        if tag.name.is(BREAKS_OUT) { 0 } else { foreign + usize::from(is_root && !tag.self_closing) };
                    if foreign > 0 {
                        is_math = if is_root { tag.name == Name::Math } else { is_math };
                        self.foreign_link(html, &mut copied, start..lexer.position(), (&tag, is_math));
                    } else {
                        skip_raw_text(&mut lexer, &tag);
                    }
                }
                Token::End if matches!(tag.name, Name::Svg | Name::Math) => foreign = foreign.saturating_sub(1),
                _ => {}
            }
        }
        self.written.push_str(&html[copied.min(html.len())..]);
    }

    /// Writes the source before a range, and this in place of the range.
    fn replace(&mut self, html: &str, copied: &mut usize, range: Range<usize>, by: &str) {
        self.written.push_str(&html[*copied..range.start]);
        self.written.push_str(by);
        *copied = range.end;
        self.is_changed = true;
    }

    /// Leaves out a template, or puts the streamed part of its number there. Returns the end of what is replaced.
    fn template(
        &mut self,
        html: &str,
        copied: &mut usize,
        range: Range<usize>,
        number: Option<String>,
        nested: usize,
    ) -> usize {
        let part = number.and_then(|number| self.streamed.remove(&number)).filter(|_| nested < MOST_NESTED);
        let Some(part) = part else {
            self.replace(html, copied, range.clone(), "");
            return range.end;
        };
        // What was shown until the part came stands behind its boundary.
        let end = self.end_of(|| end_of_boundary(html, range.end)).unwrap_or(range.end);
        self.replace(html, copied, range.start..end, "");
        let page = self.page;
        self.write(&page[part.content], nested + 1);
        end
    }

    /// Writes a link of SVG or MathML as HTML has it. Any element of MathML may be one.
    fn foreign_link(&mut self, html: &str, copied: &mut usize, range: Range<usize>, (tag, is_math): (&Tag<'_>, bool)) {
        let is_anchor = tag.name == Name::A;
        let Some(href) = tag.get("href").or_else(|| tag.get("xlink:href")) else { return };
        if (is_anchor && tag.has("href")) || !(is_anchor || is_math) {
            return;
        }
        let href = href.replace('&', "&amp;").replace('"', "&quot;");
        let written = &html[range.clone()];
        let by = match is_anchor {
            true => format!("<a href=\"{href}\" {}", written[2..].trim_start()),
            false => format!("<a href=\"{href}\"></a>{written}"),
        };
        self.replace(html, copied, range, &by);
    }

    /// Looks for an end, unless one was missing before.
    fn end_of(&mut self, look: impl FnOnce() -> Option<usize>) -> Option<usize> {
        let end = if self.has_unclosed { None } else { look() };
        self.has_unclosed |= end.is_none();
        end
    }
}

/// Whether a template holds a shadow root, which is shown.
fn is_shadow_root(tag: &Tag<'_>) -> bool {
    tag.get("shadowrootmode")
        .is_some_and(|mode| ["open", "closed"].iter().any(|known| mode.eq_ignore_ascii_case(known)))
}

/// Returns the end of the template whose content begins here.
fn end_of_template(html: &str, content: usize) -> Option<usize> {
    let (mut lexer, mut tag, mut depth) = (Lexer::new(html), Tag::default(), 1_usize);
    lexer.go_to(content);
    loop {
        match lexer.next(&mut tag, false) {
            Token::Start if tag.name == Name::Template => depth += 1,
            Token::Start => skip_raw_text(&mut lexer, &tag),
            Token::End if tag.name == Name::Template => depth -= 1,
            Token::Eof => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(lexer.position());
        }
    }
}

/// Returns the end of the boundary whose template ends here: React marks it by comments, which nest.
fn end_of_boundary(html: &str, from: usize) -> Option<usize> {
    let (mut lexer, mut tag, mut depth) = (Lexer::new(html), Tag::default(), 1_usize);
    lexer.go_to(from);
    loop {
        let start = lexer.position();
        match lexer.next(&mut tag, false) {
            Token::Comment => match &html[start..lexer.position()] {
                "<!--/$-->" => depth -= 1,
                "<!--$-->" | "<!--$?-->" | "<!--$!-->" => depth += 1,
                _ => {}
            },
            Token::Start => skip_raw_text(&mut lexer, &tag),
            Token::Eof => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(lexer.position());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stand_where_a_reader_sees_them() {
        for (html, shown) in [
            ("<p>a</p>", "<p>a</p>"),
            (
                "<my-a><template shadowrootmode=open><p>b</template></my-a>",
                "<my-a><shadow-root><p>b</shadow-root></my-a>",
            ),
            ("<template shadowrootmode='CLOSED'>b</template>", "<shadow-root>b</shadow-root>"),
            ("a<template><a href=x>b<template>c</template></template>d", "ad"),
            ("a<template><p>no end", "a<template><p>no end"),
            ("<iframe srcdoc='&lt;p>b'>no</iframe>c", "<div><p>b</div>c"),
            (
                "<main><!--$?--><template id=\"B:0\"></template>wait<!--/$--></main><div hidden id=\"S:0\"><p>b</div>",
                "<main><!--$?--><p>b</main>",
            ),
            (
                "<template id=\"B:0\"></template>x<!--/$--><div hidden id=\"S:0\">a<template id=\"P:1\"></template></div><div hidden id=\"S:1\">b</div>",
                "ab",
            ),
            ("<div hidden id=\"S:0\">b</div><template></template>", "<div hidden id=\"S:0\">b</div>"),
            ("<svg><a xlink:href='/x?a&b'>c</a></svg>", "<svg><a href=\"/x?a&amp;b\" xlink:href='/x?a&b'>c</a></svg>"),
            ("<math><mrow href=/x>c</mrow></math>", "<math><a href=\"/x\"></a><mrow href=/x>c</mrow></math>"),
            ("<a xlink:href=/x>no link in HTML</a>", "<a xlink:href=/x>no link in HTML</a>"),
            ("<script>'<template>'</script><p>a", "<script>'<template>'</script><p>a"),
        ] {
            assert_eq!(assembled(html), shown, "{html}");
        }
    }

    #[test]
    fn ends_that_are_missing_are_looked_for_once() {
        let html = "<template>".repeat(50_000);
        assert_eq!(assembled(&html), html);
    }
}
