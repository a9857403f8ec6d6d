//! The parser that builds a tree: slower than [one pass](super::tree_builder), and the reference for it.

use std::borrow::Cow;

use ego_tree::iter::Edge;
use encoding_rs::Encoding;
use scraper::node::Element;
use scraper::{Html, Node};

use crate::model::{Field, Normalizer, PageSource};

use super::document::{Attributes, Document, Findings, is_json_ld, rel};
use super::names::{ASIDE, HIDDEN, INLINE, Name};
use super::{Options, language};

/// Parses HTML and walks the tree once, without recursion.
pub(super) fn read(
    html: &str,
    page: PageSource<'_>,
    encoding: &'static Encoding,
    options: &Options,
    normalizer: &Normalizer,
) -> Document {
    let tree = Html::parse_document(html);
    let mut walk = Walk {
        findings: Findings::new(page, encoding, options, normalizer),
        fields: Vec::new(),
        hidden: 0,
        foreign: 0,
    };
    // The base counts for the whole document, also for links before it.
    if let Some(base) = first_base(&tree) {
        walk.findings.links.set_base(base);
    }
    for edge in tree.tree.root().traverse() {
        match edge {
            Edge::Open(node) => match node.value() {
                Node::Text(text) => walk.text(text),
                Node::Element(element) => {
                    walk.open(element);
                    let texts = || node.children().filter_map(|child| child.value().as_text());
                    if is_html(element, "script") && is_json_ld(element) {
                        walk.findings.json_ld(&texts().map(|text| &**text).collect::<String>());
                    } else if is_html(element, "noscript") || is_html(element, "noframes") {
                        walk.findings.noscript(&texts().map(|text| &**text).collect::<String>());
                    }
                }
                _ => {}
            },
            Edge::Close(node) => {
                if let Node::Element(element) = node.value() {
                    walk.close(element);
                }
            }
        }
    }
    walk.findings.finish()
}

fn first_base(tree: &Html) -> Option<&str> {
    tree.tree
        .values()
        .filter_map(Node::as_element)
        .find(|element| element.name() == "base" && element.attr("href").is_some())
        .and_then(|element| element.attr("href"))
}

/// Returns whether this is the element of HTML of that name, not of SVG.
fn is_html(element: &Element, name: &str) -> bool {
    element.name() == name && &*element.name.ns == "http://www.w3.org/1999/xhtml"
}

impl Attributes for Element {
    fn value(&self, name: &str) -> Option<Cow<'_, str>> {
        self.attr(name).map(Cow::Borrowed)
    }
}

struct Walk<'a> {
    findings: Findings<'a>,
    /// The fields of the open elements, innermost last.
    fields: Vec<(Field, &'static str)>,
    /// Open elements whose content is hidden.
    hidden: u32,
    /// Open `svg` and `math` elements: their titles are not the page's.
    foreign: u32,
}

impl<'a> Walk<'a> {
    fn text(&mut self, text: &str) {
        if self.hidden == 0 {
            let field = self.fields.last().map_or(Field::Body, |(field, _)| *field);
            self.findings.text(field, text);
        }
    }

    fn open(&mut self, element: &Element) {
        let name = element.name();
        let known = Name::of(name.as_bytes());
        if !known.is(INLINE) {
            self.findings.document.text.break_line();
        }
        match name {
            "html" => {
                let declared = element.attr("lang").or(element.attr("xml:lang"));
                self.findings.document.language = declared.and_then(language::primary_subtag);
            }
            "a" => self.anchor(element),
            "area" => self.findings.link(element, "href"),
            "iframe" | "frame" => self.findings.link(element, "src"),
            "object" => self.findings.embedded(element, "data"),
            "embed" => self.findings.embedded(element, "src"),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.findings.heading(known.level());
                self.fields.push((Field::Heading, "h"));
            }
            "title" if self.foreign == 0 && self.findings.open_title() => {
                self.fields.push((Field::Title, "title"));
            }
            "svg" | "math" => self.foreign += 1,
            "meta" => self.findings.meta(element),
            "time" => self.findings.time(element),
            "link" => self.findings.link_element(element),
            _ => {}
        }
        if known.is(HIDDEN) {
            self.hidden += 1;
        }
        if known.is(ASIDE) {
            self.findings.document.text.begin_aside();
        }
    }

    fn close(&mut self, element: &Element) {
        let name = element.name();
        let known = Name::of(name.as_bytes());
        if !known.is(INLINE) {
            self.findings.document.text.break_line();
        }
        if known.is(ASIDE) {
            self.findings.document.text.end_aside();
        }
        let marker = match name {
            "a" if element.attr("href").is_some() => "a",
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => "h",
            "title" => "title",
            _ => "",
        };
        if self.fields.last().is_some_and(|(_, open)| *open == marker) {
            self.fields.pop();
        }
        match name {
            "svg" | "math" => self.foreign -= 1,
            _ if known.is(HIDDEN) => self.hidden -= 1,
            _ => {}
        }
    }

    fn anchor(&mut self, element: &Element) {
        let Some(href) = element.attr("href") else { return };
        let field = self.findings.anchor(href, rel(element).within(self.fields.iter().map(|(field, _)| *field)));
        self.fields.push((field, "a"));
    }
}
