//! A page to read, and the result.

use std::borrow::Cow;
use std::ops::Range;

use neardup::model::{Digest, PageInput, Provenance, TermCounts, TermOrder};
use serde::{Deserialize, Serialize};

use super::{CanonicalUrl, MediaType, Preference, SpelledUrl};

/// A header line. The value is what came over the wire: not necessarily UTF-8.
pub type Header = (String, Vec<u8>);

/// A page to read: its bytes, and what its server said of them.
#[derive(Clone, Copy, Debug)]
pub struct PageSource<'a> {
    /// The address of the page. Links are resolved against it.
    pub url: &'a CanonicalUrl,
    /// The response's header lines: `Content-Type`, `X-Robots-Tag` and `Last-Modified` are read.
    pub headers: &'a [Header],
    /// The body, without transfer and content coding.
    pub body: &'a [u8],
    /// When the page was requested, milliseconds since 1970 UTC, if that is known. Directives and dates are compared with
    /// it.
    pub fetched_at: Option<i64>,
    /// Whether the body is what the page's scripts have written. If not, links in `noscript` count.
    pub scripts_ran: bool,
}

impl<'a> PageSource<'a> {
    /// A page of this address and body, without header lines, fetched at the start of 1970.
    ///
    /// Without `Content-Type` the body is read as HTML, as browsers do.
    pub fn new(url: &'a CanonicalUrl, body: &'a [u8]) -> Self {
        Self { url, headers: &[], body, fetched_at: None, scripts_ran: false }
    }

    /// The same page with these header lines.
    #[must_use]
    pub fn with_headers(self, headers: &'a [Header]) -> Self {
        Self { headers, ..self }
    }

    /// Returns the first header line of that name (case does not matter), as text with other bytes replaced.
    pub fn header(&self, name: &str) -> Option<String> {
        self.headers_named(name).next()
    }

    /// Returns all header lines of that name, as text with other bytes replaced.
    pub fn headers_named<'n>(&self, name: &'n str) -> impl Iterator<Item = String> + use<'a, 'n> {
        self.headers
            .iter()
            .filter(move |(n, _)| n.eq_ignore_ascii_case(name))
            .map(|(_, value)| String::from_utf8_lossy(value).trim().to_owned())
    }

    /// Returns what `Content-Type` says; `None` if there is none. Several lines are one list.
    pub fn content_type(&self) -> Option<MediaType> {
        let lines = self.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        MediaType::of_lines(lines.map(|(_, value)| value.as_slice()))
    }

    /// Returns the media type of `Content-Type` in lower case, without parameters; empty if there is none.
    pub fn media_type(&self) -> String {
        self.content_type().map(|found| found.essence).unwrap_or_default()
    }
}

/// A link found on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutLink {
    /// Where it leads.
    pub url: CanonicalUrl,
    /// Whether the link itself, not the page, says `rel=nofollow`.
    pub nofollow: bool,
}

/// A page in another language, or for another region, that a page names (`hreflang`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alternate {
    /// The language as written, such as `de`, `pt-BR` or `x-default`.
    pub lang: String,
    /// Its URL.
    pub url: String,
}

/// A refresh that names a URL: a browser loads it after some time, by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Refresh {
    /// The delay.
    pub seconds: f64,
    /// The target.
    pub to: SpelledUrl,
}

impl Refresh {
    /// Whether the browser goes on at once, so that nobody reads the page. Browsers drop the fraction of the delay.
    pub fn is_instant(&self) -> bool {
        self.seconds < 1.0
    }
}

/// The terms of a page in order, and the positions of its links among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunningTerms {
    /// Indexes into the page's terms; without stop words.
    pub terms: Vec<u32>,
    /// The links that have a text, in order; the same link may occur several times.
    pub links: Vec<LinkPlace>,
}

/// Where a link stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkPlace {
    /// The index of the link among the page's links.
    pub link: u32,
    /// Its own words, as positions in [`RunningTerms::terms`]; empty for a picture.
    pub anchor: Range<u32>,
    /// The words of its line: its paragraph, list item or cell, up to the next line break.
    pub line: Range<u32>,
    /// The words of the heading before it.
    pub heading: Range<u32>,
}

/// What a page asks of robots, by `meta` and `X-Robots-Tag`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct RobotsDirectives {
    pub noindex: bool,
    pub nofollow: bool,
    pub noarchive: bool,
}

impl RobotsDirectives {
    /// Returns the names of the directives in force.
    pub fn names(self) -> Vec<&'static str> {
        let all = [(self.noindex, "noindex"), (self.nofollow, "nofollow"), (self.noarchive, "noarchive")];
        all.into_iter().filter(|(set, _)| *set).map(|(_, name)| name).collect()
    }
}

/// Everything that was read from a page.
#[derive(Clone, Debug, Default)]
pub struct PageContent {
    /// The distinct terms in order of first appearance.
    pub terms: Vec<TermCounts>,
    /// The order of the terms, as far as the options ask for it.
    pub order: TermOrder,
    /// Digest of the visible text with white space folded.
    pub text_digest: Option<Digest>,
    /// The text of the first `title`, white space folded.
    pub title: Option<String>,
    /// The text of the first heading of the first level (`h1`), white space folded. A heading that is one link is none.
    pub heading: Option<String>,
    /// The language by which the terms were stemmed, as a primary BCP 47 subtag; `None` if unknown.
    pub language: Option<String>,
    /// The character encoding that was used, by its WHATWG name.
    pub charset: &'static str,
    /// The encoding that the server or the page declares: its WHATWG name, or the label if it names none.
    pub charset_declared: Option<Cow<'static, str>>,
    /// Links in order of first appearance, each URL once, without the page itself.
    pub links: Vec<OutLink>,
    /// Whether the page links to itself as it would to another page, not only to fragments of itself.
    pub names_itself: bool,
    /// The refresh to another page, or to this one by its name.
    pub refresh: Option<Refresh>,
    /// The words around links, if the options ask for them.
    pub running: Option<RunningTerms>,
    /// Links that are no http or https URLs (`mailto:`, `javascript:`, broken).
    pub links_dropped: u32,
    /// Links beyond the limit.
    pub links_over_limit: u32,
    /// `link[rel=canonical]`: recorded, never obeyed.
    pub canonical: Option<String>,
    /// The pages of other languages that it names, and itself if it does: recorded, and links like others.
    pub alternates: Vec<Alternate>,
    /// What the page asks of robots.
    pub robots: RobotsDirectives,
    /// What header and page say of its use.
    pub preferences: Vec<Preference>,
    /// Author, date and other marks of origin.
    pub provenance: Provenance,
    /// Whether elements were nested too deep, so that the deepest were read without their nesting.
    pub too_deep: bool,
    /// Whether the page is about one thing, or lists what stands on other pages.
    pub kind: PageKind,
}

/// What a page is. Of two pages with the same text, the one of the greater [rank](PageKind::rank) is the better place for
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PageKind {
    /// An RSS or Atom feed.
    Feed,
    /// A page that lists what stands on other pages.
    List,
    /// Any other page.
    #[default]
    Page,
    /// A page that calls itself an article.
    Article,
    /// A page whose transfer broke off. Stores keep kinds by number, so it stands behind those.
    Part,
    /// A page that the user's rule prefers to its copies. What it is else stands where it was decided before.
    Chosen,
}

impl PageKind {
    /// Returns the kind as a number: the greater, the better.
    pub fn rank(self) -> u8 {
        match self {
            PageKind::Feed | PageKind::Part => 0,
            PageKind::List => 1,
            PageKind::Page => 2,
            PageKind::Article => 3,
            PageKind::Chosen => PageInput::CHOSEN,
        }
    }

    /// Returns a kind of this [rank](Self::rank); the greatest for greater numbers.
    pub fn of_rank(rank: u8) -> Self {
        match rank {
            0 => PageKind::Feed,
            1 => PageKind::List,
            2 => PageKind::Page,
            PageInput::CHOSEN => PageKind::Chosen,
            _ => PageKind::Article,
        }
    }

    /// Returns the name used in output.
    pub fn name(self) -> &'static str {
        match self {
            PageKind::Feed => "feed",
            PageKind::List => "list",
            PageKind::Page => "page",
            PageKind::Article => "article",
            PageKind::Part => "part",
            PageKind::Chosen => "chosen",
        }
    }
}
