//! The origin of a page: who, when, where, why and how.
//!
//! The questions are those of "A Hybrid Model for Detection and Elimination of Near-Duplicates Based on Web
//! Provenance" (section III, table 1). The sixth, *what*, is the page's content: its terms.

use serde::{Deserialize, Serialize};

/// What a page and its server tell about the page's origin. Unknown fields are left out.
///
/// | field | paper | here |
/// |---|---|---|
/// | [`who`](Self::who) | who has the copyright | the author, else the publisher or copyright holder |
/// | [`when`](Self::when) | date or year of launch | the earliest day or time by which the page existed |
/// | [`place`](Self::place) | server name | the same |
/// | [`why`](Self::why) | title, or first heading | the same |
/// | [`how`](Self::how) | format | media type and, for HTML, the [markup](Self::markup) |
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Provenance {
    /// The author, else the publisher or copyright holder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// Where `who` was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub who_from: Option<Source>,
    /// A date or a time in UTC, RFC 3339 without fractions of a second. Such texts sort by time; a date sorts before
    /// the times of its day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// Where `when` was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when_from: Option<Source>,
    /// The server's host name.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The purpose of the page: its title, else its first heading.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Where `why` was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_from: Option<Source>,
    /// The media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub how: Option<String>,
    /// The kind of HTML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub markup: Option<Markup>,
}

/// Where a value was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// A `meta` element.
    Meta,
    /// JSON-LD in a `script` element.
    JsonLd,
    /// A link that says `rel=author`.
    Link,
    /// A copyright line of the text.
    Copyright,
    /// A `time` element.
    Time,
    /// A response header.
    Header,
    /// The `title` element.
    Title,
    /// A heading.
    Heading,
}

impl Source {
    /// Returns the name used in output.
    pub fn name(self) -> &'static str {
        match self {
            Source::Meta => "meta",
            Source::JsonLd => "json-ld",
            Source::Link => "link",
            Source::Copyright => "copyright",
            Source::Time => "time",
            Source::Header => "header",
            Source::Title => "title",
            Source::Heading => "heading",
        }
    }
}

/// The kind of HTML that a page claims to be. Later ones suggest better maintenance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Markup {
    /// Without document type, or with an unknown one.
    Html,
    /// HTML 2 to 4.
    Html4,
    /// XHTML.
    Xhtml,
    /// `<!doctype html>`.
    Html5,
}

impl Markup {
    /// Returns the name used in output.
    pub fn name(self) -> &'static str {
        match self {
            Markup::Html => "html",
            Markup::Html4 => "html4",
            Markup::Xhtml => "xhtml",
            Markup::Html5 => "html5",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_left_out_and_the_rest_reads_back() {
        let provenance = Provenance {
            who: Some("Jane Roe".into()),
            who_from: Some(Source::JsonLd),
            place: Some("a.test".into()),
            markup: Some(Markup::Html5),
            ..Provenance::default()
        };
        let json = r#"{"who":"Jane Roe","who_from":"json-ld","where":"a.test","markup":"html5"}"#;
        assert_eq!(serde_json::to_string(&provenance).unwrap(), json);
        assert_eq!(serde_json::from_str::<Provenance>(json).unwrap(), provenance);
        assert_eq!(serde_json::from_str::<Provenance>("{}").unwrap(), Provenance::default());
    }

    #[test]
    fn names_are_those_of_the_files() {
        for source in [
            Source::Meta,
            Source::JsonLd,
            Source::Link,
            Source::Copyright,
            Source::Time,
            Source::Header,
            Source::Title,
            Source::Heading,
        ] {
            assert_eq!(serde_json::to_value(source).unwrap(), source.name());
        }
        for markup in [Markup::Html, Markup::Html4, Markup::Xhtml, Markup::Html5] {
            assert_eq!(serde_json::to_value(markup).unwrap(), markup.name());
        }
    }
}
