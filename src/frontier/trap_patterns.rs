//! Patterns of URLs that keep repeating each other: calendars, facets, counters, session ids.
//!
//! A **pattern** is what URLs of a host have in common: a directory (at most three levels down), the whole path, or the
//! name of a query parameter; runs of digits count as equal. In a trap the pages of a pattern repeat *each other*: the
//! empty months of a calendar, one list in a hundred orders. So a duplicate counts for the patterns that it shares with
//! its original. If both have one path, it counts for the parameters in which they differ: those made no difference. A
//! second version of a manual repeats pages elsewhere, each a different one, and closes no pattern.
//!
//! The guard counts the run of duplicates since a pattern's last unique page, and their originals. It demotes a pattern
//! after a run of [`DEMOTE_RUN`], and closes it after a run of [`CLOSE_RUN`], if there are many duplicates to each
//! original. The crawl fetches demoted URLs last. Of a closed pattern it still fetches 1 in [`SAMPLE_ONE_IN`] URLs, up
//! to [`MAX_SAMPLES`]. A unique page ends the run and opens the pattern again; the frontier then queues its URLs.
//!
//! All this follows from the outcomes in the order of the log, so it is the same after a restart. Memory: about 60
//! bytes for each pattern with a run, of which there are at most [`MAX_PATTERNS`].

use hashbrown::HashMap;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::model::UrlId;

/// Duplicates in a row that demote a pattern, and duplicates to each original.
const DEMOTE_RUN: (u32, u32) = (12, 4);
/// Duplicates in a row that close a pattern, and duplicates to each original.
const CLOSE_RUN: (u32, u32) = (32, 8);
/// The crawl may fetch 1 in so many URLs of a closed pattern.
const SAMPLE_ONE_IN: u64 = 8;
/// The most fetched URLs of a closed pattern.
const MAX_SAMPLES: u8 = 16;
/// The most patterns with a run.
const MAX_PATTERNS: usize = 1 << 16;
/// Originals of a run to tell apart; further ones count each time.
const MAX_ORIGINALS: usize = 64;
/// Directory levels that are patterns.
const MAX_LEVELS: usize = 3;
/// The most parameters of a URL to look at.
const MAX_PARAMETERS: usize = 8;

/// The duplicates of a pattern since its last unique page.
#[derive(Default)]
struct DuplicateRun {
    duplicates: u32,
    /// Their originals.
    originals: Vec<UrlId>,
    /// Duplicates of originals beyond the limit.
    others: u32,
    /// Duplicates since the pattern was closed.
    samples: u8,
}

impl DuplicateRun {
    fn is_beyond(&self, (length, concentration): (u32, u32)) -> bool {
        let originals = self.originals.len() as u32 + self.others;
        self.duplicates >= length && self.duplicates >= originals.saturating_mul(concentration)
    }

    fn is_closed(&self) -> bool {
        self.is_beyond(CLOSE_RUN)
    }

    fn add(&mut self, original: UrlId) {
        self.samples = if self.is_closed() { self.samples.saturating_add(1) } else { 0 };
        self.duplicates = self.duplicates.saturating_add(1);
        if !self.originals.contains(&original) {
            match self.originals.len() < MAX_ORIGINALS {
                true => self.originals.push(original),
                false => self.others = self.others.saturating_add(1),
            }
        }
    }
}

/// All patterns with a run.
pub(super) struct TrapPatterns {
    seed: u64,
    is_on: bool,
    runs: HashMap<u64, DuplicateRun>,
    closed: usize,
    /// Whether a pattern was opened again since the last call of [`take_reopened`](Self::take_reopened).
    reopened: bool,
}

impl TrapPatterns {
    /// `is_on`: whether to demote and close patterns at all.
    pub(super) fn new(is_on: bool, seed: u64) -> Self {
        Self { seed, is_on, runs: HashMap::new(), closed: 0, reopened: false }
    }

    /// Returns the bytes in use.
    pub(super) fn bytes(&self) -> usize {
        let originals = self.runs.values().map(|run| run.originals.capacity() * size_of::<UrlId>()).sum::<usize>();
        originals + self.runs.allocation_size()
    }

    /// Whether the guard is on.
    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Whether no pattern has a run, so that a unique page changes nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Whether no pattern is closed.
    pub(super) fn are_open(&self) -> bool {
        self.closed == 0
    }

    /// Records a unique page.
    pub(super) fn note_unique(&mut self, url: &str) {
        for pattern in UrlShape::of(url).patterns() {
            if let Some(run) = self.runs.remove(&self.hash(&pattern)) {
                self.count_closed(run.is_closed(), false);
            }
        }
    }

    /// Records a page that repeats `original`, whose number is `number`.
    pub(super) fn note_duplicate(&mut self, url: &str, original: &str, number: UrlId) {
        for pattern in in_common(url, original) {
            let hash = self.hash(&pattern);
            if self.runs.len() >= MAX_PATTERNS && !self.runs.contains_key(&hash) {
                continue;
            }
            let run = self.runs.entry(hash).or_default();
            let before = run.is_closed();
            run.add(number);
            let after = run.is_closed();
            self.count_closed(before, after);
        }
    }

    fn count_closed(&mut self, was_closed: bool, is_closed: bool) {
        match (was_closed, is_closed) {
            (false, true) => self.closed += 1,
            (true, false) => {
                self.closed -= 1;
                self.reopened = true;
            }
            _ => {}
        }
    }

    /// Whether to fetch the URL after those of other patterns.
    pub(super) fn is_demoted(&self, url: &str) -> bool {
        !self.is_empty() && self.runs_of(url).any(|(_, run)| run.is_beyond(DEMOTE_RUN))
    }

    /// Returns the closed pattern of a URL, unless the URL is a sample.
    pub(super) fn closed_pattern(&self, url: &str) -> Option<String> {
        if self.are_open() {
            return None;
        }
        let is_sample = xxh3_64_with_seed(url.as_bytes(), self.seed).is_multiple_of(SAMPLE_ONE_IN);
        let mut closed = self.runs_of(url).filter(|(_, run)| run.is_closed());
        closed.find(|(_, run)| !is_sample || run.samples >= MAX_SAMPLES).map(|(pattern, _)| pattern)
    }

    /// Whether a pattern was opened again since the last call.
    pub(super) fn take_reopened(&mut self) -> bool {
        std::mem::take(&mut self.reopened)
    }

    fn runs_of<'a>(&'a self, url: &'a str) -> impl Iterator<Item = (String, &'a DuplicateRun)> {
        let patterns = UrlShape::of(url).patterns().into_iter();
        patterns.filter_map(|pattern| self.runs.get(&self.hash(&pattern)).map(|run| (pattern, run)))
    }

    fn hash(&self, pattern: &str) -> u64 {
        xxh3_64_with_seed(pattern.as_bytes(), self.seed)
    }
}

/// A canonical URL, split.
struct UrlShape<'a> {
    origin: &'a str,
    path: &'a str,
    query: Option<&'a str>,
}

impl<'a> UrlShape<'a> {
    fn of(url: &'a str) -> Self {
        let authority = url.find("://").map_or(0, |colon| colon + "://".len());
        let path = url[authority..].find(['/', '?']).map_or(url.len(), |place| authority + place);
        let (origin, rest) = url.split_at(path);
        match rest.split_once('?') {
            Some((path, query)) => Self { origin, path, query: Some(query) },
            None => Self { origin, path: rest, query: None },
        }
    }

    /// Returns all patterns of the URL.
    fn patterns(&self) -> Vec<String> {
        self.regions().into_iter().chain(self.parameters().map(|(name, _)| self.parameter(name))).collect()
    }

    /// Returns the directories from the top down, and the path if it has digits: `http://h/a/`, `http://h/a/b-*.html`.
    fn regions(&self) -> Vec<String> {
        let shape = shape(self.path);
        let slashes = shape.match_indices('/').map(|(place, _)| place).skip(1).take(MAX_LEVELS);
        let mut regions: Vec<String> = slashes.map(|slash| format!("{}{}", self.origin, &shape[..=slash])).collect();
        if shape.contains('*') && !shape.ends_with('/') {
            regions.push(format!("{}{shape}", self.origin));
        }
        regions
    }

    /// Returns the pattern of a parameter: `http://h/?name=`.
    fn parameter(&self, name: &str) -> String {
        format!("{}/?{}=", self.origin, shape(name))
    }

    fn parameters(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let pairs = self.query.into_iter().flat_map(|query| query.split('&')).filter(|pair| !pair.is_empty());
        pairs.take(MAX_PARAMETERS).map(|pair| pair.split_once('=').unwrap_or((pair, "")))
    }
}

/// Returns the patterns that a page shares with its original, or the parameters in which both differ.
fn in_common(url: &str, original: &str) -> Vec<String> {
    let (url, original) = (UrlShape::of(url), UrlShape::of(original));
    if url.origin != original.origin {
        return Vec::new();
    }
    if url.path != original.path {
        let known = original.regions();
        return url.regions().into_iter().filter(|region| known.contains(region)).collect();
    }
    let known: Vec<_> = original.parameters().collect();
    let differing = url.parameters().filter(|pair| !known.contains(pair));
    differing.map(|(name, _)| url.parameter(name)).collect()
}

/// Replaces each run of digits by a star.
fn shape(text: &str) -> String {
    let mut shape = String::with_capacity(text.len());
    for character in text.chars() {
        match character.is_ascii_digit() {
            true if shape.ends_with('*') => {}
            true => shape.push('*'),
            false => shape.push(character),
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns() -> TrapPatterns {
        TrapPatterns::new(true, 0)
    }

    /// How many of these URLs are fetched, if all repeat what `original` says.
    fn fetched(
        patterns: &mut TrapPatterns,
        count: u32,
        url: impl Fn(u32) -> String,
        original: impl Fn(u32) -> u32,
    ) -> u32 {
        let open = (1..=count).filter(|&number| {
            let is_open = patterns.closed_pattern(&url(number)).is_none();
            if is_open {
                patterns.note_duplicate(&url(number), &url(original(number)), UrlId(original(number)));
            }
            is_open
        });
        open.count() as u32
    }

    fn month(number: u32) -> String {
        format!("http://h.test/calendar/{}/{}", 2000 + number / 12, number % 12)
    }

    #[test]
    fn empty_months_are_closed_and_a_few_of_them_still_looked_at() {
        let mut patterns = patterns();
        let fetched = fetched(&mut patterns, 10_000, month, |_| 0);
        assert_eq!(fetched, CLOSE_RUN.0 + u32::from(MAX_SAMPLES));
        assert_eq!(patterns.closed_pattern(&month(20_000)).as_deref(), Some("http://h.test/calendar/"));
        assert_eq!(patterns.closed_pattern("http://h.test/news/2000/1"), None);
    }

    #[test]
    fn a_unique_page_opens_its_patterns_again() {
        let mut patterns = patterns();
        fetched(&mut patterns, 1000, month, |_| 0);
        assert!(!patterns.take_reopened() && !patterns.are_open());
        patterns.note_unique("http://h.test/calendar/1999/7");
        assert!(patterns.take_reopened() && patterns.are_open() && !patterns.take_reopened());
        assert_eq!(patterns.closed_pattern(&month(2000)), None);
    }

    #[test]
    fn a_version_that_repeats_another_page_by_page_is_never_closed() {
        let mut patterns = patterns();
        for number in 0..10_000 {
            let page = |version: u32| format!("http://h.test/docs/{version}/page{number}.html");
            assert_eq!(patterns.closed_pattern(&page(2)), None);
            patterns.note_duplicate(&page(2), &page(1), UrlId(number));
        }
    }

    #[test]
    fn of_parameters_only_those_that_make_no_difference_are_closed() {
        let mut patterns = patterns();
        for order in 0..100 {
            let url = format!("http://h.test/shop/list?colour=c{}&sort={order}", order % 3);
            let original = format!("http://h.test/shop/list?colour=c{}", order % 3);
            patterns.note_duplicate(&url, &original, UrlId(order % 3));
        }
        assert_eq!(patterns.closed_pattern("http://h.test/other?sort=name").as_deref(), Some("http://h.test/?sort="));
        for open in ["http://h.test/shop/list?colour=new", "http://h.test/shop/item", "http://other.test/?sort=name"] {
            assert_eq!(patterns.closed_pattern(open), None, "{open}");
        }
    }

    #[test]
    fn a_counter_at_the_root_is_closed_and_its_neighbours_are_not() {
        let mut patterns = patterns();
        fetched(&mut patterns, 1000, |number| format!("http://h.test/page-{number}.html"), |_| 1);
        assert_eq!(
            patterns.closed_pattern("http://h.test/page-2000.html").as_deref(),
            Some("http://h.test/page-*.html")
        );
        assert_eq!(patterns.closed_pattern("http://h.test/other-1.html"), None);
    }

    #[test]
    fn a_pattern_is_demoted_before_it_is_closed() {
        let mut patterns = patterns();
        fetched(&mut patterns, DEMOTE_RUN.0 - 1, month, |_| 0);
        assert!(!patterns.is_demoted(&month(100)));
        fetched(&mut patterns, 1, month, |_| 0);
        assert!(patterns.is_demoted(&month(100)) && patterns.are_open());
    }

    #[test]
    fn no_more_patterns_are_held_than_there_is_room_for() {
        let mut patterns = patterns();
        for number in 0..MAX_PATTERNS as u32 + 10 {
            let name = |digit: u32| char::from(b'a' + (number >> (4 * digit) & 15) as u8);
            let folder: String = (0..5).map(name).collect();
            patterns.note_duplicate(
                &format!("http://h.test/{folder}/x"),
                &format!("http://h.test/{folder}/y"),
                UrlId(0),
            );
        }
        assert_eq!(patterns.runs.len(), MAX_PATTERNS);
    }
}
