//! The words around each link: its anchor text, its line, and the heading before it.

use crate::model::{Field, LinkPlace, RunningTerms};
use neardup::text::{FieldedText, Lines};

/// Where a link begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Anchor {
    /// Its index among the page's links, if it is one of them.
    pub link: Option<usize>,
    /// Bytes of text before it.
    pub start: usize,
}

/// Collects the terms of a text in order, and the positions of links among them.
pub(super) struct LinkContext<'a> {
    /// Links that follow.
    anchors: &'a [Anchor],
    found: RunningTerms,
    lines: Lines<'a>,
    /// Where the line begins, and its first link.
    line: (u32, usize),
    /// Whether the last link is open: words that follow may be its text.
    open: bool,
    heading: std::ops::Range<u32>,
    in_heading: bool,
}

impl<'a> LinkContext<'a> {
    /// Creates the collector for a text in which links begin at these positions, ascending.
    pub fn new(text: &'a FieldedText, anchors: &'a [Anchor]) -> Self {
        Self {
            anchors,
            found: RunningTerms::default(),
            lines: text.lines(),
            line: (0, 0),
            open: false,
            heading: 0..0,
            in_heading: false,
        }
    }

    /// Adds the next word, which begins at `start`; `term` is `None` for a stop word.
    #[inline]
    pub fn add(&mut self, start: usize, field: Field, term: Option<u32>) {
        let (breaks, is_visible) = self.lines.at(start);
        if breaks {
            self.end_line();
        }
        while let Some((anchor, rest)) = self.anchors.split_first().filter(|(anchor, _)| anchor.start <= start) {
            self.anchors = rest;
            self.begin(*anchor);
        }
        self.open &= field.is_anchor();
        let Some(term) = term.filter(|_| is_visible) else { return };
        self.found.terms.push(term);
        let end = self.found.terms.len() as u32;
        if self.open
            && let Some(place) = self.found.links.last_mut()
        {
            place.anchor.end = end;
        }
        if field == Field::Heading {
            let begins = !std::mem::replace(&mut self.in_heading, true);
            self.heading = if begins { end - 1 } else { self.heading.start }..end;
        } else {
            self.in_heading = false;
        }
    }

    fn begin(&mut self, anchor: Anchor) {
        let here = self.found.terms.len() as u32;
        self.open = anchor.link.is_some();
        if let Some(link) = anchor.link {
            self.found.links.push(LinkPlace {
                link: link as u32,
                anchor: here..here,
                line: self.line.0..here,
                heading: self.heading.clone(),
            });
        }
    }

    fn end_line(&mut self) {
        let here = self.found.terms.len() as u32;
        for place in &mut self.found.links[self.line.1..] {
            place.line.end = here;
        }
        self.line = (here, self.found.links.len());
    }

    /// Returns the terms and the links.
    pub fn finish(mut self) -> RunningTerms {
        for anchor in std::mem::take(&mut self.anchors) {
            self.begin(*anchor);
        }
        self.end_line();
        self.found
    }
}

#[cfg(test)]
mod tests {
    use crate::model::Normalizer;
    use crate::tests::page;
    use crate::{Options, PageReader, Parser};

    /// The words of each link, of its line, and of the heading before it.
    fn places(html: &str, parser: Parser) -> Vec<[String; 4]> {
        let page = page("http://h.test/", "text/html", html);
        let options = Options { parser, running: true, ..Options::default() };
        let rendered = PageReader::new(options, Normalizer::default()).render(&page);
        let running = rendered.running.unwrap();
        let words = |range: std::ops::Range<u32>| {
            let terms = &running.terms[range.start as usize..range.end as usize];
            terms.iter().map(|term| &*rendered.terms[*term as usize].term).collect::<Vec<_>>().join(" ")
        };
        let path = |link: u32| rendered.links[link as usize].url.as_url().path().to_owned();
        running
            .links
            .iter()
            .map(|place| {
                [path(place.link), words(place.anchor.clone()), words(place.line.clone()), words(place.heading.clone())]
            })
            .collect()
    }

    #[test]
    fn each_place_of_a_link_has_its_words_its_line_and_its_heading() {
        let html = "<title>Zero</title><a href=a>alpha</a> <a href=b>beta</a> loose <a href=mailto:x>nobody</a>\
                    <h1>First <a href=c>gamma</a></h1><p><a href=a>alpha <b>twice</b></a> loose<h2>Second</h2>\
                    <a href=d><img></a> loose <a href=e>epsilon";
        let first = "alpha beta loos nobodi";
        let expected = [
            ["/a", "alpha", first, ""],
            ["/b", "beta", first, ""],
            ["/c", "gamma", "first gamma", "first"],
            ["/a", "alpha twice", "alpha twice loos", "first"],
            ["/d", "", "loos epsilon", "second"],
            ["/e", "epsilon", "loos epsilon", "second"],
        ]
        .map(|place| place.map(str::to_owned));
        for parser in [Parser::Fast, Parser::Dom] {
            assert_eq!(places(html, parser), expected, "{parser:?}");
        }
    }

    #[test]
    fn nothing_is_told_unless_it_is_asked_for() {
        let page = page("http://h.test/", "text/html", "<a href=x>y</a>");
        assert_eq!(PageReader::default().render(&page).running, None);
    }
}
