//! Compares pages and links with the topic.
//!
//! Terms weigh `(1 + ln tf) · idf`, with `idf = ln(1 + (n + 1) / (df + ½))` over the `n` pages read so far. Only the
//! heaviest terms represent a long topic.
//!
//! - Page: the weighted share of the topic's terms on the page. Each term saturates with its frequency, `tf / (tf + k)`,
//!   more slowly on longer pages (the term weight of Okapi BM25: Robertson et al., TREC-3, 1994). A page that repeats
//!   all terms many times approaches 1.
//! - Link: the cosine of its words and the topic. Document frequencies of other words are not counted; each weighs as
//!   a word on 1 page in 20.

use std::ops::Range;

use hashbrown::HashMap;

use super::topic::{Topic, counted};
use ndcrawl_model::{CanonicalUrl, Clue, Field, OutLink, PageContent, Relevance, RunningTerms, TermCounts};
use pagetext::PageReader;

/// Maximum terms that represent a topic.
const HEAVIEST: usize = 60;
/// `k₁` and `b` of BM25.
const SATURATION: (f64, f64) = (1.2, 0.75);
/// Length of an average page, in terms.
const USUAL_LENGTH: f64 = 400.0;
/// Terms before and after a link, within its line, that form its context.
const AROUND: u32 = 10;
/// A page with fewer distinct terms outside its links is bare.
const FEW_WORDS: usize = 20;
/// `idf` of a term outside the topic.
const OTHER: f64 = 3.044_522_437_723_423;
/// Number of pages between updates of the weights; more often at the start.
const UPDATE_INTERVAL: u32 = 25;

/// The index of a term outside the topic.
const NONE: u32 = u32::MAX;

/// The relevance of a page and the clues of its links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Appraisal {
    /// Relevance of the page.
    pub relevance: Relevance,
    /// Whether the page has hardly any words outside its links, such as a directory listing.
    ///
    /// The relevance of such a page predicts nothing about its links.
    pub is_bare: bool,
    /// One clue per link of the page.
    pub clues: Vec<Clue>,
}

impl Appraisal {
    /// Returns the relevance that predicts nearby pages; `None` for a bare page without relevance.
    pub fn telling(&self) -> Option<Relevance> {
        (self.relevance > Relevance::NONE || !self.is_bare).then_some(self.relevance)
    }
}

/// A topic with the document frequencies of its terms.
#[derive(Clone, Debug)]
pub struct Focus {
    topic: Topic,
    places: HashMap<Box<str>, u32>,
    /// Pages read.
    pages: u32,
    /// Document frequency of each term.
    frequencies: Vec<u32>,
    /// Weight of each term; 0 for terms that do not represent the topic.
    weights: Vec<f64>,
    total: f64,
    norm: f64,
}

impl Focus {
    /// Returns a comparer for a topic, before any page.
    pub fn new(topic: Topic) -> Self {
        let terms = topic.terms();
        let places = terms.iter().zip(0..).map(|((term, _), place)| (term.clone(), place)).collect();
        let mut focus = Self {
            places,
            pages: 0,
            frequencies: vec![0; terms.len()],
            weights: Vec::new(),
            total: 0.0,
            norm: 0.0,
            topic,
        };
        focus.update_weights();
        focus
    }

    /// Returns the index of a term in the topic.
    pub fn place(&self, term: &str) -> Option<u32> {
        self.places.get(term).copied()
    }

    /// Counts a page that has the topic terms of these indices, each given once.
    pub fn count(&mut self, places: impl IntoIterator<Item = u32>) {
        self.pages = self.pages.saturating_add(1);
        for place in places {
            if let Some(frequency) = self.frequencies.get_mut(place as usize) {
                *frequency += 1;
            }
        }
        if self.pages.is_power_of_two() || self.pages.is_multiple_of(UPDATE_INTERVAL) {
            self.update_weights();
        }
    }

    /// Counts a new page, and compares the page and its links with the topic.
    ///
    /// Cost: linear in the terms of the page and the words of its links.
    pub fn read(&mut self, page: &PageContent, renderer: &PageReader) -> Appraisal {
        let places: Vec<u32> = page.terms.iter().map(|term| self.place(&term.term).unwrap_or(NONE)).collect();
        self.count(places.iter().copied().filter(|place| *place != NONE));
        let relevance = self.relevance(&page.terms, &places);
        let of_url = |link: &OutLink| Clue { source: relevance, ..self.of_url(&link.url, renderer) };
        let mut clues: Vec<Clue> = page.links.iter().map(of_url).collect();
        if let Some(running) = &page.running {
            self.read_links(running, &places, &mut clues);
        }
        Appraisal { relevance, is_bare: is_bare(&page.terms), clues }
    }

    /// Returns the clue from a URL alone.
    pub fn of_url(&self, url: &CanonicalUrl, renderer: &PageReader) -> Clue {
        Clue { url: self.of_terms(&renderer.terms_of_url(url)), ..Clue::default() }
    }

    fn relevance(&self, terms: &[TermCounts], places: &[u32]) -> Relevance {
        let length: f64 = terms.iter().map(|term| f64::from(counted(term))).sum();
        let (k, grows) = SATURATION;
        let k = k * (1.0 - grows + grows * length / USUAL_LENGTH);
        let shares = terms.iter().zip(places).filter(|(_, place)| **place != NONE).map(|(term, place)| {
            let frequency = f64::from(counted(term));
            self.weight(*place) * frequency / (frequency + k)
        });
        Relevance::of(shares.sum::<f64>() / self.total)
    }

    fn read_links(&self, running: &RunningTerms, places: &[u32], clues: &mut [Clue]) {
        let mut bag = Vec::new();
        let mut compare = |ranges: [Range<u32>; 2]| {
            bag.clear();
            let terms = ranges.into_iter().flat_map(|range| &running.terms[range.start as usize..range.end as usize]);
            bag.extend(terms.map(|term| (places.get(*term as usize).copied().unwrap_or(NONE), *term)));
            self.of_bag(&mut bag)
        };
        for place in &running.links {
            let Some(clue) = clues.get_mut(place.link as usize) else { continue };
            let Range { start, end } = place.anchor.clone();
            let before = start.saturating_sub(AROUND).max(place.line.start)..start;
            // A link may extend beyond the line in which it begins.
            let after = end..end.saturating_add(AROUND).min(place.line.end).max(end);
            let found = Clue {
                anchor: compare([place.anchor.clone(), 0..0]),
                around: compare([before, after]),
                heading: compare([place.heading.clone(), 0..0]),
                ..Clue::default()
            };
            *clue = clue.or(found);
        }
    }

    /// Returns the relevance of counted terms.
    fn of_terms(&self, terms: &[TermCounts]) -> Relevance {
        let weighted = terms.iter().map(|term| (self.place(&term.term).unwrap_or(NONE), counted(term)));
        self.cosine(weighted)
    }

    /// Returns the relevance of single terms, each given by its topic index and its number on the page.
    fn of_bag(&self, bag: &mut [(u32, u32)]) -> Relevance {
        bag.sort_unstable();
        self.cosine(bag.chunk_by(|a, b| a == b).map(|same| (same[0].0, same.len() as u32)))
    }

    /// Returns the cosine of the topic and terms with frequencies.
    fn cosine(&self, terms: impl Iterator<Item = (u32, u32)>) -> Relevance {
        let (mut dot, mut squares) = (0.0, 0.0);
        for (place, frequency) in terms.filter(|(_, frequency)| *frequency > 0) {
            let repeated = 1.0 + f64::from(frequency).ln();
            let weight = self.weight(place);
            let own = if weight > 0.0 { self.rarity(place) } else { OTHER };
            dot += repeated * own * weight;
            squares += (repeated * own).powi(2);
        }
        Relevance::of(if dot > 0.0 { dot / (squares.sqrt() * self.norm) } else { 0.0 })
    }

    fn weight(&self, place: u32) -> f64 {
        self.weights.get(place as usize).copied().unwrap_or(0.0)
    }

    fn rarity(&self, place: u32) -> f64 {
        let with = self.frequencies.get(place as usize).copied().unwrap_or(0);
        (1.0 + (f64::from(self.pages) + 1.0) / (f64::from(with) + 0.5)).ln()
    }

    /// Updates the weights from the current document frequencies.
    fn update_weights(&mut self) {
        let terms = self.topic.terms();
        let weighed =
            terms.iter().zip(0..).map(|((_, count), place)| (1.0 + f64::from(*count).ln()) * self.rarity(place));
        let mut weights: Vec<f64> = weighed.collect();
        let mut heaviest: Vec<usize> = (0..weights.len()).collect();
        heaviest.sort_by(|a, b| weights[*b].total_cmp(&weights[*a]).then(a.cmp(b)));
        for place in heaviest.into_iter().skip(HEAVIEST) {
            weights[place] = 0.0;
        }
        self.total = weights.iter().sum();
        self.norm = weights.iter().map(|weight| weight * weight).sum::<f64>().sqrt();
        self.weights = weights;
    }
}

/// Returns whether a page has few terms outside its links.
fn is_bare(terms: &[TermCounts]) -> bool {
    let stands_in = |term: &TermCounts, field: Field| term.counts.0[field as usize] > 0;
    let own = terms.iter().filter(|term| [Field::Body, Field::Heading].iter().any(|field| stands_in(term, *field)));
    own.take(FEW_WORDS).count() < FEW_WORDS
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndcrawl_model::Normalizer;
    use ndcrawl_model::PageSource;
    use pagetext::Options;

    fn renderer() -> PageReader {
        PageReader::new(Options { running: true, ..Options::default() }, Normalizer::default())
    }

    fn focus(words: &str) -> Focus {
        Focus::new(Topic::of([&*renderer().terms_of(words)]).unwrap())
    }

    fn read(focus: &mut Focus, html: &str) -> Appraisal {
        let url = Normalizer::default().absolute("http://h.test/d/").unwrap();
        let headers = [("content-type".to_owned(), b"text/html".to_vec())];
        let page = PageSource {
            fetched_at: Some(1_767_225_600_000),
            ..PageSource::new(&url, html.as_bytes()).with_headers(&headers)
        };
        focus.read(&renderer().render(page), &renderer())
    }

    #[test]
    fn a_page_is_the_more_relevant_the_more_of_the_topic_it_says() {
        let mut focus = focus("network sockets");
        let relevance = ["<p>Of bread and salt", "<p>A socket for bread", "<title>Network sockets</title><p>sockets"]
            .map(|html| read(&mut focus, html).relevance);
        assert_eq!(relevance[0], Relevance::NONE);
        assert!(relevance[0] < relevance[1] && relevance[1] < relevance[2], "{relevance:?}");
    }

    #[test]
    fn the_listing_of_a_directory_says_nothing_of_what_lies_behind_it_unless_it_names_the_topic() {
        let entry = |name: &str| format!("<a href='{name}/'>{name}/</a>       09-Jul-2023 12:05      -\n");
        let listing = |names: &[&str]| {
            let entries: String = names.iter().map(|name| entry(name)).collect();
            format!("<title>Index of /</title><h1>Index of /</h1><hr><pre><a href='../'>../</a>\n{entries}</pre><hr>")
        };
        let languages = "ca cs da de el en es eu fi fr hu it ja ko nl nn pl pt ru sv tl vi zh".split(' ');
        let many: Vec<&str> = languages.collect();
        let told = |html: &str| read(&mut focus("network sockets"), html).telling();
        assert_eq!(told(&listing(&many)), None);
        assert!(told(&listing(&["sockets", "salt"])) > Some(Relevance::NONE));
        let text: String = (0..30).map(|n| format!("bread{n} ")).collect();
        assert_eq!(told(&text), Some(Relevance::NONE));
    }

    #[test]
    fn a_link_of_several_lines_is_one_link() {
        let clues = read(&mut focus("network sockets"), "<p>bread <a href=a>network<br>sockets</a> salt").clues;
        assert_eq!((clues[0].anchor, clues[0].around), (Relevance::ALL, Relevance::NONE));
    }

    #[test]
    fn a_rare_word_of_the_topic_says_more_than_a_frequent_one() {
        let mut focus = focus("python sockets");
        for n in 0..50 {
            read(&mut focus, &format!("<p>python page {n}"));
        }
        let (frequent, rare) = (read(&mut focus, "<p>python here"), read(&mut focus, "<p>sockets here"));
        assert!(frequent.relevance < rare.relevance, "{frequent:?} {rare:?}");
    }

    #[test]
    fn each_link_has_clues_of_its_own_words_those_around_it_its_heading_and_its_url() {
        let html = "<p><a href=a>network sockets</a><p>bread bread bread bread bread bread bread bread bread bread bread\
                    <p>network sockets: <a href=b>more</a><p>salt salt salt salt salt salt salt salt salt salt salt salt\
                    <h2>Network</h2><p>salt salt salt salt salt salt salt salt salt salt salt salt salt <a href=c>more</a>\
                    <p>salt salt salt salt salt salt salt salt salt salt salt salt\
                    <h2>Bread</h2><p>salt salt salt salt salt salt salt salt salt salt salt salt salt <a href=networkSockets.html>more</a>";
        let Appraisal { relevance, clues, .. } = read(&mut focus("network sockets"), html);
        let parts = clues
            .iter()
            .map(|clue| [clue.anchor, clue.around, clue.heading, clue.url].map(|part| part > Relevance::NONE));
        assert_eq!(
            parts.collect::<Vec<_>>(),
            [
                [true, false, false, false],
                [false, true, false, false],
                [false, false, true, false],
                [false, false, false, true]
            ]
        );
        assert!(clues.iter().all(|clue| clue.source == relevance));
        assert_eq!(clues[0].anchor, Relevance::ALL);
    }
}
