//! Which claim of author and date counts?
//!
//! Pages say these things several times, in places of unequal quality.
//!
//! - **Author**: authors come before publishers and copyright holders. Among each, machine-readable claims come before
//!   text.
//! - **Date**: the date of publication comes before that of a change, since of two similar pages the earlier is sought.
//!   Both come before a `time` element, which may mean anything, and the header, which is about a file.
//!
//! Each date is a moment at which the page existed, so dates can be compared. Of equal claims the first counts.

use crate::model::Source;

use super::dates;
use neardup::text::whitespace::folded;

/// Characters of the longest name that is kept.
const LONGEST_NAME: usize = 200;
/// Bytes of the longest text that is read.
const LONGEST_TEXT: usize = 4096;
/// Texts of one page that are tried as dates: a hostile page may be made of them.
const MOST_DATES: u32 = 64;

/// Sources of an author, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WhoRank {
    Meta,
    JsonLdAuthor,
    JsonLdCreator,
    Link,
    JsonLdHolder,
    JsonLdPublisher,
    Copyright,
}

/// Sources of a date, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WhenRank {
    MetaPublished,
    JsonLdPublished,
    MetaModified,
    JsonLdModified,
    Time,
    Header,
}

impl WhoRank {
    fn source(self) -> Source {
        match self {
            WhoRank::Meta => Source::Meta,
            WhoRank::Link => Source::Link,
            WhoRank::Copyright => Source::Copyright,
            WhoRank::JsonLdAuthor | WhoRank::JsonLdCreator | WhoRank::JsonLdHolder | WhoRank::JsonLdPublisher => {
                Source::JsonLd
            }
        }
    }
}

impl WhenRank {
    fn source(self) -> Source {
        match self {
            WhenRank::MetaPublished | WhenRank::MetaModified => Source::Meta,
            WhenRank::JsonLdPublished | WhenRank::JsonLdModified => Source::JsonLd,
            WhenRank::Time => Source::Time,
            WhenRank::Header => Source::Header,
        }
    }
}

/// A value, and where it was found.
pub(super) type Found = Option<(String, Source)>;

/// The best claims so far.
#[derive(Debug, Default)]
pub(super) struct Claims {
    who: Option<(WhoRank, String)>,
    when: Option<(WhenRank, String)>,
    /// When the page was requested, milliseconds since 1970.
    fetched_at: Option<i64>,
    /// Texts that were tried as dates.
    dates: u32,
}

impl Claims {
    pub fn new(fetched_at: Option<i64>) -> Self {
        Self::default().fetched(fetched_at)
    }

    /// Creates an empty set of claims for a page requested at this time.
    pub fn fetched(self, fetched_at: Option<i64>) -> Self {
        Self { fetched_at, ..self }
    }

    /// Returns whether a claim of this rank would win.
    pub fn wants_who(&self, rank: WhoRank) -> bool {
        self.who.as_ref().is_none_or(|(best, _)| rank < *best)
    }

    /// Returns whether a claim of this rank would win.
    pub fn wants_when(&self, rank: WhenRank) -> bool {
        self.when.as_ref().is_none_or(|(best, _)| rank < *best)
    }

    /// Adds a claim of an author, if it is a name.
    pub fn who(&mut self, rank: WhoRank, text: &str) {
        if self.wants_who(rank)
            && let Some(name) = name(text)
        {
            self.who = Some((rank, name));
        }
    }

    /// Adds a claim of a date, if it is a date.
    pub fn when(&mut self, rank: WhenRank, text: &str) {
        if !self.wants_when(rank) || (self.dates >= MOST_DATES && rank != WhenRank::Header) {
            return;
        }
        self.dates += 1;
        if let Some(date) = dates::normalised(text, self.fetched_at) {
            self.when = Some((rank, date));
        }
    }

    /// Adds the claim of a `meta` element of this name, if it is about author or date.
    pub fn meta(&mut self, name: &str, content: &str) {
        match meaning(name) {
            Some(Meaning::Who) => self.who(WhoRank::Meta, content),
            Some(Meaning::Published) => self.when(WhenRank::MetaPublished, content),
            Some(Meaning::Modified) => self.when(WhenRank::MetaModified, content),
            None => {}
        }
    }

    /// Returns author and date.
    pub fn into_parts(self) -> (Found, Found) {
        let who = self.who.map(|(rank, name)| (name, rank.source()));
        (who, self.when.map(|(rank, date)| (date, rank.source())))
    }
}

#[derive(Clone, Copy)]
enum Meaning {
    Who,
    Published,
    Modified,
}

/// Names of `meta` elements: of HTML, Open Graph, Dublin Core and Highwire.
const META: [(&str, Meaning); 20] = [
    ("author", Meaning::Who),
    ("article:author", Meaning::Who),
    ("citation_author", Meaning::Who),
    ("dc.creator", Meaning::Who),
    ("dcterms.creator", Meaning::Who),
    ("date", Meaning::Published),
    ("article:published_time", Meaning::Published),
    ("citation_publication_date", Meaning::Published),
    ("citation_date", Meaning::Published),
    ("datepublished", Meaning::Published),
    ("dc.date", Meaning::Published),
    ("dc.date.issued", Meaning::Published),
    ("dc.date.created", Meaning::Published),
    ("dcterms.issued", Meaning::Published),
    ("dcterms.date", Meaning::Published),
    ("last-modified", Meaning::Modified),
    ("revised", Meaning::Modified),
    ("article:modified_time", Meaning::Modified),
    ("datemodified", Meaning::Modified),
    ("dcterms.modified", Meaning::Modified),
];

fn meaning(name: &str) -> Option<Meaning> {
    let name = name.trim();
    META.iter().find(|(known, _)| name.eq_ignore_ascii_case(known)).map(|(_, meaning)| *meaning)
}

/// Returns a name with folded white space; `None` if it is an address or has no letters.
pub(super) fn name(text: &str) -> Option<String> {
    if text.len() > LONGEST_TEXT || text.contains("://") {
        return None;
    }
    let name = folded(text, LONGEST_NAME);
    let name = name.trim_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '|'));
    let name = match name.split_at_checked(3) {
        Some((by, rest)) if by.eq_ignore_ascii_case("by ") => rest,
        _ => name,
    };
    (name.chars().any(char::is_alphabetic) && !is_placeholder(name)).then(|| name.to_owned())
}

/// Texts that stand in the place of a name, in lower case, separated by bars.
const PLACEHOLDERS: &str = "\
    admin|administrator|anonymous|author|autor|auteur|by|company name|copyright|default|editor|legal|n/a|none|null|\
    root|undefined|unknown|webmaster|your name";
/// Beginnings and parts of statements that are no names.
const STATEMENTS: [&str; 6] = [
    "all rights reserved",
    "alle rechte vorbehalten",
    "tous droits réservés",
    "todos los derechos",
    "todos os direitos",
    "tutti i diritti",
];

/// Whether a text names nobody: a placeholder, or a statement of copyright.
fn is_placeholder(name: &str) -> bool {
    let lower = name.to_lowercase();
    let lower = lower.trim_matches(|c: char| !c.is_alphanumeric());
    let is_copyright = lower.strip_prefix("copyright").is_some_and(|rest| !rest.starts_with(char::is_alphabetic));
    PLACEHOLDERS.split('|').any(|placeholder| placeholder == lower)
        || is_copyright
        || STATEMENTS.iter().any(|part| lower.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_folded_and_addresses_are_none() {
        assert_eq!(name(" By  Jane\n\u{a0}Roe, ").as_deref(), Some("Jane Roe"));
        assert_eq!(name("Byron").as_deref(), Some("Byron"));
        assert_eq!(name("李明").as_deref(), Some("李明"));
        assert_eq!(name(&"x".repeat(1000)).map(|name| name.len()), Some(LONGEST_NAME));
        for text in
            ["Copyright", "All Rights Reserved.", "Copyright © 2019", "admin", "(Unknown)", "© Alle Rechte vorbehalten"]
        {
            assert_eq!(name(text), None, "{text}");
        }
        assert_eq!(name("Copyrightable Works Ltd").as_deref(), Some("Copyrightable Works Ltd"));
        for text in ["", " ", "2019", "https://social.test/jane", "|", &"x".repeat(LONGEST_TEXT + 1)] {
            assert_eq!(name(text), None, "{text}");
        }
    }

    #[test]
    fn the_better_claim_counts_and_of_equal_ones_the_first() {
        let mut claims = Claims::new(Some(1_767_225_600_000));
        claims.who(WhoRank::Copyright, "Press");
        claims.who(WhoRank::Meta, "https://social.test/jane");
        claims.meta(" Author ", "Jane Roe");
        claims.meta("DC.Creator", "John Doe");
        claims.who(WhoRank::JsonLdAuthor, "John Doe");
        claims.when(WhenRank::Header, "Fri, 01 Mar 2019 10:20:30 GMT");
        claims.meta("revised", "2020-01-01");
        claims.meta("article:published_time", "not yet");
        claims.when(WhenRank::Time, "2021-01-01");
        let (who, when) = claims.into_parts();
        assert_eq!(who, Some(("Jane Roe".to_owned(), Source::Meta)));
        assert_eq!(when, Some(("2020-01-01".to_owned(), Source::Meta)));
    }
}
