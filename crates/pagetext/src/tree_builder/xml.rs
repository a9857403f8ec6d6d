//! XML: elements as they are written, with namespaces, and no rule of HTML for what is missing.
//!
//! What an element means depends on its namespace (Namespaces in XML 1.0) and its name, in lower case as XHTML has it.
//! A document without namespaces whose root is `html` is XHTML all the same. In one with another root, only links and
//! the first title mean something, and all text is shown.
//!
//! Sources that are XML in name only lose no text: an end tag closes the element that it names, if that is open, and
//! the elements of HTML without content need no end.

use url::Url;

use crate::names::Name;
use crate::tokenizer::{Tag, references};

use super::Builder;
use super::stack::{Open, Space};

const XHTML: &str = "http://www.w3.org/1999/xhtml";
const SVG: &str = "http://www.w3.org/2000/svg";
const MATH_ML: &str = "http://www.w3.org/1998/Math/MathML";

/// Namespace declarations that are in force at the same time; more are ignored.
const MOST_BINDINGS: usize = 256;
/// Open elements among which an end tag looks for its own.
const MOST_CLOSED: usize = 256;

/// The vocabulary of a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Vocabulary {
    Html,
    Svg,
    MathMl,
    /// No namespace, in a document of another kind.
    Bare,
    Other,
}

/// A prefix, empty for the default, and what it stands for.
#[derive(Debug)]
struct Binding<'a> {
    /// The place on the stack of the element that declares it.
    at: usize,
    prefix: &'a str,
    vocabulary: Vocabulary,
}

/// What is in force within the open elements of an XML document.
#[derive(Debug, Default)]
pub(super) struct Xml<'a> {
    bindings: Vec<Binding<'a>>,
    /// The bases outside of the elements that set one by `xml:base`, with the place of the element.
    bases: Vec<(usize, Url)>,
    /// Whether the root is `html`.
    pub is_xhtml: bool,
}

impl<'a> Xml<'a> {
    fn vocabulary(&self, prefix: &str) -> Vocabulary {
        let bound = self.bindings.iter().rev().find(|binding| binding.prefix == prefix);
        match bound {
            Some(binding) => binding.vocabulary,
            None if !prefix.is_empty() => Vocabulary::Other,
            None if self.is_xhtml => Vocabulary::Html,
            None => Vocabulary::Bare,
        }
    }

    fn bind(&mut self, at: usize, prefix: &'a str, vocabulary: Vocabulary) {
        if self.bindings.len() < MOST_BINDINGS {
            self.bindings.push(Binding { at, prefix, vocabulary });
        }
    }
}

impl<'a> Builder<'a, '_> {
    /// Gives a start tag the name that it has by its namespace, and returns the namespace as the page knows it.
    pub(super) fn resolve_name(&mut self, tag: &mut Tag<'a>) -> Space {
        let at = self.stack.0.len();
        let (prefix, local) = split(tag.written);
        let Some(xml) = &mut self.xml else { return Space::Html };
        for (name, value) in tag.attributes_as_written() {
            let declared = if name == "xmlns" { Some("") } else { name.strip_prefix("xmlns:") };
            if let Some(declared) = declared {
                let vocabulary = match value {
                    XHTML => Vocabulary::Html,
                    SVG => Vocabulary::Svg,
                    MATH_ML => Vocabulary::MathMl,
                    "" if xml.is_xhtml => Vocabulary::Html,
                    "" => Vocabulary::Bare,
                    _ => Vocabulary::Other,
                };
                xml.bind(at, declared, vocabulary);
            }
        }
        if at == 0 && local == "html" {
            // Whatever address its namespace has, it is a page.
            xml.is_xhtml = true;
            xml.bind(at, prefix, Vocabulary::Html);
        }
        let vocabulary = xml.vocabulary(prefix);
        tag.name = name(vocabulary, local);
        match vocabulary {
            Vocabulary::Svg => Space::Svg,
            Vocabulary::MathMl => Space::MathMl,
            Vocabulary::Html | Vocabulary::Bare | Vocabulary::Other => Space::Html,
        }
    }

    pub(super) fn start_in_xml(&mut self, tag: &Tag<'a>, space: Space) {
        let at = self.stack.0.len();
        if at == 0 {
            self.add_languages(tag);
        }
        self.enter_base(at, tag);
        match self.raw_text_of(tag) {
            Some(kind) => {
                self.start_raw(tag, kind);
                self.leave(at);
            }
            None if tag.self_closing || (space == Space::Html && is_empty(tag.name)) => {
                // It has no content, so it does not nest.
                self.count_close(tag.name);
                self.insert_empty(tag, space);
                self.leave(at);
            }
            None => {
                let open = self.element(tag, space);
                self.push(open);
            }
        }
    }

    pub(super) fn end_in_xml(&mut self, tag: &Tag<'a>) {
        let is_it = |open: &Open<'a>| open.written == tag.written;
        let found = self.stack.0.iter().rev().take(MOST_CLOSED).position(is_it);
        if let Some(above) = found {
            let at = self.stack.0.len() - 1 - above;
            self.pop_to(at);
            self.leave(at);
        }
    }

    /// Ends what elements from this place on have declared.
    pub(super) fn leave(&mut self, at: usize) {
        let Some(xml) = &mut self.xml else { return };
        while xml.bindings.last().is_some_and(|binding| binding.at >= at) {
            xml.bindings.pop();
        }
        while let Some((_, base)) = xml.bases.pop_if(|(of, _)| *of >= at) {
            self.findings.links.replace_base(base);
        }
    }

    /// Sets the base of an element and all within it (XML Base, section 4).
    fn enter_base(&mut self, at: usize, tag: &Tag<'a>) {
        let Some(value) = tag.as_written("xml:base") else { return };
        let outer = self.findings.links.base().clone();
        let inner = outer.join(&references::in_attribute(value));
        if let (Some(xml), Ok(inner)) = (&mut self.xml, inner)
            && matches!(inner.scheme(), "http" | "https")
        {
            xml.bases.push((at, outer));
            self.findings.links.replace_base(inner);
        }
    }
}

/// Splits a name into prefix and local name.
fn split(written: &str) -> (&str, &str) {
    written.split_once(':').unwrap_or(("", written))
}

/// Returns the name of an element, [`Name::Other`] for one that means nothing here.
fn name(vocabulary: Vocabulary, local: &str) -> Name {
    let known = Name::of(local.as_bytes());
    let is_lower = !local.bytes().any(|byte| byte.is_ascii_uppercase());
    match vocabulary {
        Vocabulary::Html if is_lower => known,
        // Names such as "foreignObject".
        Vocabulary::Svg | Vocabulary::MathMl => known,
        Vocabulary::Bare if matches!(known, Name::A | Name::Title) && is_lower => known,
        _ => Name::Other,
    }
}

/// Returns whether an element of HTML has no content ("void elements").
fn is_empty(name: Name) -> bool {
    use Name::{Area, Base, Br, Col, Embed, Hr, Img, Input, Link, Meta, Param, Source, Track, Wbr};
    matches!(name, Area | Base | Br | Col | Embed | Hr | Img | Input | Link | Meta | Param | Source | Track | Wbr)
}
