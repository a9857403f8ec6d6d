//! The elements and texts of a page that a reader may see, in document order.

use ego_tree::iter::Edge;
use scraper::node::Element;
use scraper::{Html, Node as Parsed};

use crate::names::{HIDDEN, Name};

/// An element or a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'a> {
    /// The name of an element; [`Name::Other`] for a text.
    pub name: Name,
    /// `None` for a text.
    pub element: Option<&'a Element>,
    /// The characters of a text as the source has them.
    pub text: &'a str,
    /// Bytes of the text without white space.
    pub length: u32,
    /// The index of the node around it; its own for the root.
    pub parent: usize,
    /// The index behind its last descendant.
    pub end: usize,
}

impl<'a> Node<'a> {
    pub fn is_text(&self) -> bool {
        self.element.is_none()
    }

    /// Returns an attribute; the name is in lower case.
    pub fn attribute(&self, name: &str) -> Option<&'a str> {
        attribute(self.element?, name)
    }
}

/// A page as a list of nodes: each stands before its descendants.
///
/// Scripts, styles and other elements that a reader does not see are not in it.
#[derive(Debug, Default)]
pub(super) struct Tree<'a> {
    pub nodes: Vec<Node<'a>>,
}

impl<'a> Tree<'a> {
    /// Lists the nodes of a page. Linear, and without recursion.
    pub fn of(html: &'a Html) -> Self {
        let mut nodes: Vec<Node<'a>> = Vec::with_capacity(html.tree.values().len());
        let mut open: Vec<usize> = Vec::new();
        let mut hidden = 0_u32;
        for edge in html.tree.root().traverse() {
            match edge {
                Edge::Open(node) => match node.value() {
                    Parsed::Text(text) if hidden == 0 && !open.is_empty() => {
                        let at = nodes.len();
                        let parent = open.last().copied().unwrap_or_default();
                        let length = visible_length(text);
                        nodes.push(Node { name: Name::Other, element: None, text, length, parent, end: at + 1 });
                    }
                    Parsed::Element(element) => {
                        let name = Name::of(element.name().as_bytes());
                        if is_unseen(name) {
                            hidden += 1;
                        } else if hidden == 0 {
                            let at = nodes.len();
                            let parent = open.last().copied().unwrap_or(at);
                            nodes.push(Node { name, element: Some(element), text: "", length: 0, parent, end: at });
                            open.push(at);
                        }
                    }
                    _ => {}
                },
                Edge::Close(node) => {
                    if let Parsed::Element(element) = node.value() {
                        if is_unseen(Name::of(element.name().as_bytes())) {
                            hidden -= 1;
                        } else if hidden == 0
                            && let Some(at) = open.pop()
                        {
                            nodes[at].end = nodes.len();
                        }
                    }
                }
            }
        }
        Self { nodes }
    }

    /// Returns the children of a node in order.
    pub fn children(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.nodes[node].end;
        let first = (node + 1 < end).then_some(node + 1);
        std::iter::successors(first, move |&child| Some(self.nodes[child].end).filter(|&next| next < end))
    }

    /// Returns the text of a node as the source has it.
    pub fn text(&self, node: usize) -> String {
        self.nodes[node..self.nodes[node].end].iter().map(|node| node.text).collect()
    }

    /// Returns the nodes around this one, innermost first.
    pub fn ancestors(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let above = move |at: usize| Some(self.nodes[at].parent).filter(|&parent| parent != at);
        std::iter::successors(above(node), move |&at| above(at))
    }
}

/// Returns an attribute. [`Element::attr`] interns the name at each call, and an element has few attributes.
pub(super) fn attribute<'a>(element: &'a Element, name: &str) -> Option<&'a str> {
    let mut attributes = element.attrs.iter().filter(|(known, _)| known.ns.is_empty());
    attributes.find(|(known, _)| *known.local == *name).map(|(_, value)| &**value)
}

fn visible_length(text: &str) -> u32 {
    let length = if text.is_ascii() {
        text.bytes().filter(|byte| !matches!(byte, b'\t'..=b'\r' | b' ')).count()
    } else {
        text.split_whitespace().map(str::len).sum()
    };
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// Whether nobody reads the content of such an element.
fn is_unseen(name: Name) -> bool {
    name.is(HIDDEN) || matches!(name, Name::Svg | Name::Title | Name::Head)
}
