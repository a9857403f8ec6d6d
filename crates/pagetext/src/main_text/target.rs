//! Where links lead, and in which language code is written.

use scraper::Html;
use url::Url;

use super::tree::{Node, Tree};

/// Resolves the addresses of a page.
#[derive(Debug)]
pub(super) struct Targets {
    base: Url,
}

impl Targets {
    /// `address` is that of the page; its first `base` element counts.
    pub fn new(address: &Url, html: &Html) -> Self {
        let elements = html.tree.values().filter_map(|node| node.as_element());
        let base = elements.filter(|element| element.name() == "base").find_map(|element| element.attr("href"));
        let base = base.and_then(|base| address.join(base.trim()).ok());
        Self { base: base.unwrap_or_else(|| address.clone()) }
    }

    /// Returns the address that others are relative to.
    pub fn base(&self) -> &Url {
        &self.base
    }

    /// Returns the absolute address in an attribute, as it may stand in a link of Markdown.
    pub fn of(&self, node: &Node<'_>, attribute: &str) -> Option<String> {
        let url = self.base.join(node.attribute(attribute)?.trim()).ok()?;
        let is_address = matches!(url.scheme(), "http" | "https" | "ftp" | "mailto");
        is_address.then(|| url.as_str().replace('(', "%28").replace(')', "%29"))
    }
}

/// Prefixes of the classes that name the language of code.
const PREFIXES: [&str; 5] = ["language-", "lang-", "highlight-source-", "highlight-", "brush:"];
/// What stands in the place of a language, and is none.
const NO_LANGUAGE: [&str; 5] = ["default", "none", "notranslate", "plaintext", "text"];

/// Returns the language of a preformatted block by its classes, or those of an element in or around it.
pub(super) fn code_language(tree: &Tree<'_>, pre: usize) -> String {
    let inner = tree.children(pre).take(1);
    let around = tree.ancestors(pre).take(2);
    let places = std::iter::once(pre).chain(inner).chain(around);
    let classes = places.filter_map(|at| tree.nodes[at].attribute("class"));
    let mut languages = classes.flat_map(str::split_ascii_whitespace).filter_map(|class| {
        let language = PREFIXES.iter().find_map(|prefix| class.strip_prefix(prefix))?;
        let is_name = !language.is_empty()
            && language.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+#-_.".contains(&byte));
        (is_name && !NO_LANGUAGE.contains(&language)).then(|| language.to_ascii_lowercase())
    });
    languages.next().unwrap_or_default()
}
