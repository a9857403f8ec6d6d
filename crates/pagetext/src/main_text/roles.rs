//! What each element is for: by its name, its ARIA role, its names and its state.

use crate::names::{HEADING, Name};

use super::tree::{Node, Tree};
use super::vocabulary::{Purpose, squeezed};

/// What an element says of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Role {
    /// Nothing.
    #[default]
    Plain,
    /// It is a control, such as a button: no text, however long.
    Control,
    /// It is not shown.
    Hidden,
    /// It belongs to the site by its element or its ARIA role.
    Site,
    /// It belongs to the site by its names.
    Boilerplate,
    /// It is a detail by its names, if it is short.
    Detail,
    /// Comments of readers.
    Comments,
    /// A caption of a picture.
    Caption,
    /// The body of the page, by its names.
    Body,
    /// The body of the page, by its element or its role.
    Main,
    /// The body of the page, by microdata.
    ArticleBody,
}

/// ARIA roles of what belongs to the site (WAI-ARIA 1.2, landmarks and widgets).
const SITE_ROLES: &str = "\
    alertdialog banner complementary contentinfo dialog directory doc-pagelist menu menubar navigation search \
    tablist toolbar tooltip";

/// Nodes of an element among which its heading is looked for.
const LOOKED_AT: usize = 40;

impl Role {
    /// Returns the role of an element.
    pub fn of(tree: &Tree<'_>, at: usize) -> Self {
        let node = &tree.nodes[at];
        if node.is_text() || matches!(node.name, Name::Html | Name::Body) {
            return Role::Plain;
        }
        if matches!(node.name, Name::Button | Name::Select | Name::TextArea | Name::Input) {
            return Role::Control;
        }
        if is_hidden(node) {
            return Role::Hidden;
        }
        let role = node.attribute("role").map(|role| role.trim().to_ascii_lowercase());
        let role = role.as_deref().unwrap_or_default();
        if role == "button" {
            return Role::Control;
        }
        let id = node.attribute("id").filter(|id| !repeats_heading(tree, at, id)).unwrap_or_default();
        let purpose = Purpose::of(node.attribute("class").unwrap_or_default(), id);
        if node.attribute("itemprop").is_some_and(|names| names.split_ascii_whitespace().any(is_article_body)) {
            return Role::ArticleBody;
        }
        if !role.is_empty() && SITE_ROLES.split(' ').any(|site| site == role) {
            return Role::Site;
        }
        match node.name {
            Name::Nav | Name::Search | Name::Dialog | Name::Menu => return Role::Site,
            Name::Footer if !in_quotation(tree, at) => return Role::Site,
            Name::Aside if !(purpose.has(Purpose::NOTE) || role == "note" || role.starts_with("doc-")) => {
                return Role::Site;
            }
            Name::Main => return Role::Main,
            Name::FigCaption => return Role::Caption,
            _ if role == "main" => return Role::Main,
            _ => {}
        }
        if purpose.has(Purpose::COMMENTS) {
            return Role::Comments;
        }
        if purpose.has(Purpose::BODY) {
            return Role::Body;
        }
        if purpose.has(Purpose::BOILERPLATE) {
            return Role::Boilerplate;
        }
        if purpose.has(Purpose::CAPTION) {
            return Role::Caption;
        }
        if node.name == Name::Article {
            return Role::Main;
        }
        if purpose.has(Purpose::DETAIL) {
            return Role::Detail;
        }
        Role::Plain
    }
}

/// Whether an id is made of the words of the first heading of its element: it says what the section is about, and nothing
/// of what the element is for.
fn repeats_heading(tree: &Tree<'_>, at: usize, id: &str) -> bool {
    let nodes = &tree.nodes;
    let first = (at..nodes[at].end).take(LOOKED_AT).find(|&inner| nodes[inner].name.is(HEADING));
    let Some(heading) = first.filter(|&heading| nodes[heading].end - heading <= LOOKED_AT) else { return false };
    let (id, heading) = (squeezed(id), squeezed(&tree.text(heading)));
    !id.is_empty() && heading.starts_with(id.trim_end_matches(|c: char| c.is_ascii_digit()))
        || heading.len() >= 4 && id.ends_with(&heading)
}

fn is_article_body(name: &str) -> bool {
    ["articleBody", "reviewBody", "recipeInstructions"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Whether an element is not shown, by its own attributes.
fn is_hidden(node: &Node<'_>) -> bool {
    let style = node.attribute("style").map(|style| style.to_ascii_lowercase().replace(' ', ""));
    let style = style.as_deref().unwrap_or_default();
    node.attribute("hidden").is_some()
        || node.attribute("aria-hidden").is_some_and(|value| value.eq_ignore_ascii_case("true"))
        || style.contains("display:none")
        || style.contains("visibility:hidden")
}

fn in_quotation(tree: &Tree<'_>, at: usize) -> bool {
    tree.ancestors(at).any(|above| tree.nodes[above].name == Name::BlockQuote)
}
