//! Is a page about one thing, or does it list what stands on other pages?
//!
//! An entry of a list has a heading that links to the page of the entry. Where most of a page's text stands under such
//! headings, it is a list, also if its only entry is there in full. A heading of lower level does not end an entry.

use url::Url;

use crate::model::PageKind;

/// Levels of headings.
const LEVELS: usize = 6;

/// What speaks for a kind of page.
#[derive(Debug, Default)]
pub(super) struct KindEvidence {
    /// Whether the page calls itself an article.
    pub says_article: bool,
    /// Whether the page calls itself a collection.
    pub says_collection: bool,
    /// Whether each open heading, by its level, links to another page.
    open: [Option<bool>; LEVELS],
    /// The last heading, by level, and the text before it.
    heading: Option<(usize, usize)>,
    /// The text before the last link, and whether that leads to another page.
    link: Option<(usize, bool)>,
    /// Bytes of text so far, without white space.
    text: usize,
    /// Those before the last heading.
    counted: usize,
    /// Those under headings that link to other pages.
    listed: usize,
}

impl KindEvidence {
    /// Adds text that a reader sees.
    #[inline]
    pub fn text(&mut self, text: &str) {
        self.text += text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count();
    }

    /// Begins a heading of this level, from 1.
    pub fn heading(&mut self, level: usize) {
        self.end_section();
        let at = level.clamp(1, LEVELS) - 1;
        self.open[at..].fill(None);
        let within_link = self.link.is_some_and(|(text, leads_away)| text == self.text && leads_away);
        self.open[at] = Some(within_link);
        self.heading = Some((at, self.text));
    }

    /// Begins a link; `leads_away` says whether it leads to another page.
    #[inline]
    pub fn link(&mut self, leads_away: bool) {
        self.link = Some((self.text, leads_away));
        if let Some((at, _)) = self.heading.filter(|(_, text)| *text == self.text) {
            self.open[at] = Some(leads_away);
        }
    }

    fn end_section(&mut self) {
        if self.open.contains(&Some(true)) {
            self.listed += self.text - self.counted;
        }
        self.counted = self.text;
    }

    /// Returns the kind of the page.
    pub fn kind(&mut self) -> PageKind {
        self.end_section();
        let is_listed = self.listed * 2 > self.text;
        match (is_listed, self.says_article, self.says_collection) {
            (true, _, _) | (_, false, true) => PageKind::List,
            (_, true, _) => PageKind::Article,
            (false, false, false) => PageKind::Page,
        }
    }
}

/// Whether a link leads away from a page and from what stands above it: a heading that links to the front page of its
/// site is no entry.
pub(super) fn leads_away(page: &Url, target: &Url) -> bool {
    let folder = target.path().trim_end_matches('/');
    let is_above = page.path().strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    !(is_above && target.query().is_none() && page.host_str() == target.host_str())
}

#[cfg(test)]
mod tests {
    use crate::model::PageKind;
    use crate::tests::page;
    use crate::{Normalizer, Options, PageReader, Parser};

    fn kind(media_type: &str, body: &str) -> PageKind {
        let page = page("http://www.h.test/blog/a.html", media_type, body);
        let kinds = [Parser::Fast, Parser::Dom].map(|parser| {
            let options = Options { parser, ..Options::default() };
            PageReader::new(options, Normalizer::default()).render(&page).kind
        });
        assert_eq!(kinds[0], kinds[1], "{body}");
        kinds[0]
    }

    #[test]
    fn text_under_headings_that_link_to_its_own_page_is_listed() {
        let text = "<p>Some words about it, and more words.</p>";
        for (html, expected) in [
            (format!("<h1>One</h1>{text}"), PageKind::Page),
            (format!("<h1>Blog</h1><h2><a href=one>One</a></h2>{text}"), PageKind::List),
            (format!("<h2> <a href=one>One</a> </h2>{text}<h3>Part</h3>{text}"), PageKind::List),
            (format!("<a href=one><h2>One</h2></a>{text}"), PageKind::List),
            (format!("<h1><a href=/>Site</a></h1>{text}"), PageKind::Page),
            (format!("<h1><a href=/blog/>Blog</a></h1><h2>One</h2>{text}"), PageKind::Page),
            (format!("<h1><a href=a.html>One</a></h1>{text}"), PageKind::Page),
            (format!("<h1><a href=#top>One</a></h1>{text}"), PageKind::Page),
            (format!("<h1>One</h1>{text}<h2>Related</h2><h3><a href=two>Two</a></h3>"), PageKind::Page),
            (format!("<h1>Uses of <a href=two>two</a></h1>{text}"), PageKind::Page),
        ] {
            assert_eq!(kind("text/html", &html), expected, "{html}");
        }
    }

    #[test]
    fn what_a_page_says_of_itself_counts_unless_it_lists() {
        let text = "<p>Some words about it, and more words.</p>";
        let json =
            |name: &str| format!("<script type=application/ld+json>{{\"@graph\":[{{\"@type\":\"{name}\"}}]}}</script>");
        for (html, expected) in [
            (format!("<meta property=og:type content=article><h1>One</h1>{text}"), PageKind::Article),
            (format!("<meta property=og:type content=website><h1>One</h1>{text}"), PageKind::Page),
            (format!("{}<h1>One</h1>{text}", json("BlogPosting")), PageKind::Article),
            (format!("{}<h1>One</h1>{text}", json("CollectionPage")), PageKind::List),
            (format!("{}{}<h1>One</h1>{text}", json("Blog"), json("BlogPosting")), PageKind::Article),
            (format!("{}<h2><a href=one>One</a></h2>{text}", json("BlogPosting")), PageKind::List),
        ] {
            assert_eq!(kind("text/html", &html), expected, "{html}");
        }
    }

    #[test]
    fn a_feed_is_one() {
        let feed = "<rss version='2.0'><channel><title>News</title><item><title>One</title><link>http://www.h.test/one</link>\
                    <description>Some words</description></item></channel></rss>";
        assert_eq!(kind("application/rss+xml", feed), PageKind::Feed);
        assert_eq!(kind("text/plain", "some words"), PageKind::Page);
    }
}
