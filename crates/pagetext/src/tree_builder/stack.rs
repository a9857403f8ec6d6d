//! The stack of open elements: WHATWG HTML, section 13.2.4.2.

use crate::model::Field;
use crate::names::{IMPLIED, LIST_SCOPE, Name, SCOPE, SPECIAL, TABLE_PART, TABLE_SCOPE, THOROUGH, is_same};

/// The vocabulary that an element belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    Html,
    Svg,
    MathMl,
}

/// An open element, with what matters to the text that follows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open<'a> {
    pub name: Name,
    pub space: Space,
    /// The name as written, for elements without a rule.
    pub written: &'a str,
    /// Distinguishes elements of one name.
    pub id: u32,
    /// The field of its text; `None` for that of the element around it.
    pub field: Option<Field>,
    pub hidden: bool,
    /// Whether its end ends a line.
    pub breaks: bool,
    /// `annotation-xml` that says it holds HTML.
    pub holds_html: bool,
}

impl Open<'_> {
    /// Returns whether this is an HTML element in one of the sets.
    pub fn is(&self, sets: u16) -> bool {
        self.space == Space::Html && self.name.is(sets)
    }

    /// Returns whether this is the HTML element of that name, other than [`Name::Other`].
    pub fn named(&self, name: Name) -> bool {
        self.space == Space::Html && self.name == name
    }

    /// "MathML text integration point".
    pub fn holds_math_text(&self) -> bool {
        self.space == Space::MathMl && matches!(self.name, Name::Mi | Name::Mo | Name::Mn | Name::Ms | Name::MText)
    }

    /// "HTML integration point", but for `annotation-xml`.
    pub fn holds_svg_html(&self) -> bool {
        self.space == Space::Svg && matches!(self.name, Name::ForeignObject | Name::Desc | Name::Title)
    }

    fn bounds(&self, sets: u16) -> bool {
        self.is(sets) || (sets & SCOPE != 0 && (self.holds_math_text() || self.holds_svg_html()))
    }
}

/// The open elements, the current one last.
#[derive(Debug, Default)]
pub(super) struct Stack<'a>(pub Vec<Open<'a>>);

impl<'a> Stack<'a> {
    pub fn top(&self) -> Option<&Open<'a>> {
        self.0.last()
    }

    pub fn top_named(&self, name: Name) -> bool {
        self.top().is_some_and(|open| open.named(name))
    }

    pub fn top_is(&self, sets: u16) -> bool {
        self.top().is_some_and(|open| open.is(sets))
    }

    /// Returns whether the current element is one that holds no text.
    pub fn in_table_part(&self) -> bool {
        self.top_is(TABLE_PART)
    }

    pub fn holds(&self, name: Name) -> bool {
        self.0.iter().any(|open| open.named(name))
    }

    pub fn position(&self, id: u32) -> Option<usize> {
        self.0.iter().rposition(|open| open.id == id)
    }

    pub fn in_scope(&self, name: Name) -> bool {
        self.is_in(SCOPE, |open| open.named(name))
    }

    pub fn in_list_scope(&self, name: Name) -> bool {
        self.is_in(SCOPE | LIST_SCOPE, |open| open.named(name))
    }

    pub fn in_table_scope(&self, name: Name) -> bool {
        self.is_in(TABLE_SCOPE, |open| open.named(name))
    }

    pub fn p_in_button_scope(&self) -> bool {
        for open in self.0.iter().rev() {
            if open.named(Name::P) {
                return true;
            }
            if open.bounds(SCOPE) || open.named(Name::Button) {
                return false;
            }
        }
        false
    }

    /// Returns whether a wanted element is open, without one of `bounds` between.
    pub fn is_in(&self, bounds: u16, sought: impl Fn(&Open<'a>) -> bool) -> bool {
        for open in self.0.iter().rev() {
            if sought(open) {
                return true;
            }
            if open.bounds(bounds) {
                return false;
            }
        }
        false
    }

    /// Returns the element that an end tag without a rule closes.
    pub fn closed_by(&self, name: Name, written: &str) -> Option<usize> {
        for (at, open) in self.0.iter().enumerate().rev() {
            let same = open.space == Space::Html
                && open.name == name
                && (name != Name::Other || is_same(open.written, written));
            if same {
                return Some(at);
            }
            if open.is(SPECIAL) {
                return None;
            }
        }
        None
    }

    /// Returns whether the current element has an implied end tag.
    pub fn top_is_implied(&self, thorough: bool, except: Name) -> bool {
        self.top().is_some_and(|open| {
            open.is(if thorough { THOROUGH } else { IMPLIED }) && (except == Name::Other || open.name != except)
        })
    }
}
