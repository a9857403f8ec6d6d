//! One walk over a parsed document: text by field, links, and what the page says of itself.

use ego_tree::iter::Edge;
use scraper::node::Element;
use scraper::{Html, Node};

use crate::record::{CanonicalUrl, Fetched, Field, Normaliser, OutLink, RobotsDirectives};

use super::links::Links;
use super::text::{Text, folded};
use super::{Options, directives, language, refresh};

/// Longest title kept, in characters.
const LONGEST_TITLE: usize = 1000;

/// What the walk found.
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

/// Parses HTML and walks over it once, without recursion.
pub(super) fn read(html: &str, page: &Fetched, options: &Options, normaliser: &Normaliser) -> Document {
    let tree = Html::parse_document(html);
    let mut walk = Walk::new(&page.url, options, normaliser);
    // The base holds for the whole document, also for what stands before it.
    if let Some(base) = first_base(&tree) {
        walk.links.set_base(base);
    }
    for edge in tree.tree.root().traverse() {
        match edge {
            Edge::Open(node) => match node.value() {
                Node::Text(text) => walk.text(text),
                Node::Element(element) => walk.open(element),
                _ => {}
            },
            Edge::Close(node) => {
                if let Node::Element(element) = node.value() {
                    walk.close(element);
                }
            }
        }
    }
    walk.finish()
}

fn first_base(tree: &Html) -> Option<&str> {
    tree.tree
        .values()
        .filter_map(Node::as_element)
        .find(|element| element.name() == "base" && element.attr("href").is_some())
        .and_then(|element| element.attr("href"))
}

struct Walk<'a> {
    agent: &'a str,
    document: Document,
    links: Links<'a>,
    /// The fields of the elements that are open, innermost last.
    fields: Vec<(Field, &'static str)>,
    /// Open elements whose content is not shown.
    hidden: u32,
    title: Option<String>,
    /// Open `svg` and `math` elements: their titles are not the page's.
    foreign: u32,
}

impl<'a> Walk<'a> {
    fn new(page: &'a CanonicalUrl, options: &'a Options, normaliser: &'a Normaliser) -> Self {
        Self {
            agent: &options.robots_agent,
            document: Document::default(),
            links: Links::new(normaliser, page, options.max_links),
            fields: Vec::new(),
            hidden: 0,
            title: None,
            foreign: 0,
        }
    }

    fn text(&mut self, text: &str) {
        if self.hidden > 0 {
            return;
        }
        let field = self.fields.last().map_or(Field::Body, |(field, _)| *field);
        if field == Field::Title
            && let Some(title) = &mut self.title
        {
            title.push_str(text);
        }
        self.document.text.push(field, text);
    }

    fn open(&mut self, element: &Element) {
        let name = element.name();
        if !is_inline(name) {
            self.document.text.break_line();
        }
        match name {
            "html" => {
                self.document.language =
                    element.attr("lang").or(element.attr("xml:lang")).and_then(language::primary_subtag)
            }
            "a" => self.anchor(element),
            "area" => self.link(element, "href"),
            "iframe" | "frame" => self.link(element, "src"),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.fields.push((Field::Heading, "h")),
            "title" if self.foreign == 0 && self.title.is_none() => {
                self.title = Some(String::new());
                self.fields.push((Field::Title, "title"));
            }
            "svg" | "math" => self.foreign += 1,
            "meta" => self.meta(element),
            "link" => self.link_element(element),
            _ => {}
        }
        if is_hidden(name) {
            self.hidden += 1;
        }
    }

    fn close(&mut self, element: &Element) {
        let name = element.name();
        if !is_inline(name) {
            self.document.text.break_line();
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
            _ if is_hidden(name) => self.hidden -= 1,
            _ => {}
        }
    }

    fn anchor(&mut self, element: &Element) {
        let Some(href) = element.attr("href") else { return };
        let same_site = self.links.add(href, is_nofollow(element)).unwrap_or(false);
        let field = if same_site { Field::AnchorSameSite } else { Field::AnchorOtherSite };
        self.fields.push((field, "a"));
    }

    fn link(&mut self, element: &Element, attribute: &str) {
        if let Some(reference) = element.attr(attribute).filter(|reference| !reference.trim().is_empty()) {
            self.links.add(reference, is_nofollow(element));
        }
    }

    fn meta(&mut self, element: &Element) {
        let Some(content) = element.attr("content") else { return };
        if element.attr("http-equiv").is_some_and(|key| key.trim().eq_ignore_ascii_case("refresh")) {
            if let Some(target) = refresh::target(content) {
                self.links.add(target, false);
            }
            return;
        }
        let Some(name) = element.attr("name") else { return };
        directives::add_meta(&mut self.document.robots, name, content, self.agent);
        if name.trim().eq_ignore_ascii_case("keywords") {
            self.document.text.push_hidden(Field::Keywords, content);
        } else if name.trim().eq_ignore_ascii_case("description") {
            self.document.text.push_hidden(Field::Description, content);
        }
    }

    /// `link` elements: the canonical URL is recorded, next and previous pages and other languages
    /// are links.
    fn link_element(&mut self, element: &Element) {
        let (Some(rel), Some(href)) = (element.attr("rel"), element.attr("href")) else { return };
        let has = |name: &str| rel.split_ascii_whitespace().any(|token| token.eq_ignore_ascii_case(name));
        if has("canonical") && self.document.canonical.is_none() {
            self.document.canonical = self.links.resolve(href).ok().map(|url| url.to_string());
        }
        let is_page = element.attr("type").is_none_or(|kind| kind.trim().eq_ignore_ascii_case("text/html"));
        let other_language = has("alternate") && element.attr("hreflang").is_some() && !has("stylesheet");
        if has("next") || has("prev") || (other_language && is_page) {
            self.links.add(href, has("nofollow"));
        }
    }

    fn finish(self) -> Document {
        let mut document = self.document;
        document.title = self.title.map(|title| folded(&title, LONGEST_TITLE)).filter(|title| !title.is_empty());
        document.links_dropped = self.links.dropped;
        document.links_over_limit = self.links.over_limit;
        document.links = self.links.into_found();
        document
    }
}

fn is_nofollow(element: &Element) -> bool {
    let tokens = element.attr("rel").unwrap_or_default().split_ascii_whitespace();
    tokens.into_iter().any(|token| token.eq_ignore_ascii_case("nofollow"))
}

/// Elements whose text a reader does not see.
fn is_hidden(name: &str) -> bool {
    matches!(
        name,
        "script"
            | "style"
            | "noscript"
            | "template"
            | "iframe"
            | "noframes"
            | "noembed"
            | "object"
            | "audio"
            | "video"
            | "canvas"
            | "datalist"
    )
}

/// Elements that do not end a word.
fn is_inline(name: &str) -> bool {
    matches!(
        name,
        "a" | "abbr"
            | "acronym"
            | "b"
            | "bdi"
            | "bdo"
            | "big"
            | "cite"
            | "code"
            | "data"
            | "del"
            | "dfn"
            | "em"
            | "font"
            | "i"
            | "ins"
            | "kbd"
            | "label"
            | "mark"
            | "q"
            | "s"
            | "samp"
            | "small"
            | "span"
            | "strike"
            | "strong"
            | "sub"
            | "sup"
            | "time"
            | "tt"
            | "u"
            | "var"
            | "wbr"
    )
}
