//! A URL rule: what it replaces, and how it derives one URL from another.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::parts::{UrlParts, name};

/// One text in the place of another.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Change {
    /// The text to replace.
    pub from: String,
    /// The replacement.
    pub to: String,
}

impl Change {
    pub(super) fn new(from: &str, to: &str) -> Self {
        Self { from: from.to_owned(), to: to.to_owned() }
    }
}

/// The difference between the URL of a duplicate and that of its original. All parts apply together.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Rule {
    /// The origins (scheme, host and port); both texts are equal if the origin stays.
    pub origin: Change,
    /// The leading directories, from slash to slash; or the whole path, which then does not end in a slash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Change>,
    /// The end of the file name: an extension behind a stem, if one of the texts begins with a dot; otherwise the whole
    /// name, of which one text is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Change>,
    /// Names of parameters without effect, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<String>,
}

impl Rule {
    /// Returns the URL that the rule derives from a canonical URL. `None` if the rule does not apply or changes
    /// nothing.
    pub fn apply(&self, url: &str) -> Option<String> {
        let parts = UrlParts::of(url).filter(|parts| parts.origin == self.origin.from)?;
        let path = self.end(&self.start(parts.path)?)?;
        let query = self.query(&parts)?;
        let made = format!("{}{path}{query}", self.origin.to);
        (made != url).then_some(made)
    }

    /// Whether the rule only drops parameters: URLs that differ in these alone are the same page.
    pub fn only_drops_parameters(&self) -> bool {
        self.keeps_origin() && self.start.is_none() && self.end.is_none()
    }

    /// Whether the rule keeps the origin.
    pub(super) fn keeps_origin(&self) -> bool {
        self.origin.from == self.origin.to
    }

    /// Whether the rule changes the origin and nothing else.
    pub(super) fn only_changes_origin(&self) -> bool {
        !self.keeps_origin() && self.start.is_none() && self.end.is_none() && self.dropped.is_empty()
    }

    /// Returns the inverse rule; `None` if this one drops parameters.
    pub(super) fn reverse(&self) -> Option<Self> {
        let turned = |change: &Change| Change { from: change.to.clone(), to: change.from.clone() };
        self.dropped.is_empty().then(|| Self {
            origin: turned(&self.origin),
            start: self.start.as_ref().map(turned),
            end: self.end.as_ref().map(turned),
            dropped: Vec::new(),
        })
    }

    fn start(&self, path: &str) -> Option<String> {
        let Some(Change { from, to }) = &self.start else { return Some(path.to_owned()) };
        let rest = path.strip_prefix(from.as_str())?;
        (from.ends_with('/') || rest.is_empty()).then(|| format!("{to}{rest}"))
    }

    fn end(&self, path: &str) -> Option<String> {
        let Some(Change { from, to }) = &self.end else { return Some(path.to_owned()) };
        let (folder, file) = path.split_at(path.rfind('/')? + 1);
        if from.starts_with('.') || to.starts_with('.') {
            let stem = file.strip_suffix(from.as_str()).filter(|stem| !stem.is_empty())?;
            return Some(format!("{folder}{stem}{to}"));
        }
        (file == from).then(|| format!("{folder}{to}"))
    }

    fn query(&self, parts: &UrlParts<'_>) -> Option<String> {
        let Some(query) = parts.query else { return self.dropped.is_empty().then(String::new) };
        if self.dropped.is_empty() {
            return Some(format!("?{query}"));
        }
        let kept: Vec<&str> = parts.parameters().filter(|parameter| !self.drops(name(parameter))).collect();
        let is_any_dropped = kept.len() < parts.parameters().count();
        let query = if kept.is_empty() { String::new() } else { format!("?{}", kept.join("&")) };
        is_any_dropped.then_some(query)
    }

    pub(super) fn drops(&self, name: &str) -> bool {
        self.dropped.iter().any(|dropped| dropped == name)
    }
}

/// Writes the rule for people: `http://a.test/print/* -> http://a.test/*`, `http://a.test/*index.html ->
/// http://a.test/*`, `http://a.test/*?sid= -> http://a.test/*`.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |f: &mut fmt::Formatter<'_>, of: fn(&Change) -> &str| {
            f.write_str(of(&self.origin))?;
            f.write_str(self.start.as_ref().map_or("/", of))?;
            f.write_str("*")?;
            f.write_str(self.end.as_ref().map_or("", of))
        };
        side(f, |change| &change.from)?;
        for (place, name) in self.dropped.iter().enumerate() {
            write!(f, "{}{name}=", if place == 0 { "?" } else { "&" })?;
        }
        f.write_str(" -> ")?;
        side(f, |change| &change.to)
    }
}
