//! What a rule makes of a URL.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::parts::{UrlParts, name};

/// One text in the place of another.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Change {
    /// What goes.
    pub from: String,
    /// What comes.
    pub to: String,
}

impl Change {
    pub(super) fn new(from: &str, to: &str) -> Self {
        Self { from: from.to_owned(), to: to.to_owned() }
    }
}

/// How the URL of a duplicate differs from that of the page that it repeats. All parts hold together.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Rule {
    /// The origins (scheme, host and port); twice the same if the origin stays.
    pub origin: Change,
    /// The first directories of the path, from slash to slash; or the whole path, which then ends in no slash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Change>,
    /// The end of the file name. From a dot on, behind a stem that stays, if one of the texts begins with a dot;
    /// otherwise the whole name, of which one is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Change>,
    /// Names of parameters that change nothing, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<String>,
}

impl Rule {
    /// What the rule makes of a canonical URL; `None` if it does not apply. Never the URL itself.
    pub fn apply(&self, url: &str) -> Option<String> {
        let parts = UrlParts::of(url).filter(|parts| parts.origin == self.origin.from)?;
        let path = self.end(&self.start(parts.path)?)?;
        let query = self.query(&parts)?;
        let made = format!("{}{path}{query}", self.origin.to);
        (made != url).then_some(made)
    }

    /// Whether nothing but parameters is left out: URLs with other values of theirs are one and the same.
    pub fn only_drops_parameters(&self) -> bool {
        self.keeps_origin() && self.start.is_none() && self.end.is_none()
    }

    /// Whether it leaves the origin alone.
    pub(super) fn keeps_origin(&self) -> bool {
        self.origin.from == self.origin.to
    }

    /// Whether it changes the origin, and nothing else.
    pub(super) fn only_changes_origin(&self) -> bool {
        !self.keeps_origin() && self.start.is_none() && self.end.is_none() && self.dropped.is_empty()
    }

    /// The rule that makes of what this one has made what it was, if nothing was dropped.
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

/// For people: `http://a.test/print/ -> http://a.test/`, `http://a.test/*index.html -> http://a.test/*`,
/// `http://a.test/*?sid= -> http://a.test/*`.
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
