//! Patterns of URLs that keep repeating each other: calendars, facets, counters, session ids.
//!
//! A **pattern** is what URLs of a host have in common: the depth and the names of their path, and their parameters.
//! `trap_shapes` tells them. In a trap the pages of a pattern repeat *each other*: the empty months of a calendar, one
//! list in a hundred orders. A second version of a manual repeats pages elsewhere, each a different one, and closes no
//! pattern.
//!
//! A duplicate counts for the pattern of its own name. If it has the path of its original, it counts for the parameters in
//! which both differ: those made no difference. It counts for a wider pattern, in which any word will do, only if its
//! original has it too; and a wider pattern needs duplicates of [`MIN_NAMES`] different names. So what one script of a
//! forum repeats says nothing about the threads beside it.
//!
//! The guard counts the run of duplicates since a pattern's last unique page, and their originals. It closes a pattern
//! after a run of [`CLOSE_RUN`], if there are many duplicates to each original. Of a closed pattern the crawl still
//! fetches 1 in [`SAMPLE_ONE_IN`] URLs, up to [`MAX_SAMPLES`]. A unique page ends the run and opens the pattern again; the frontier then queues its URLs.
//!
//! All this follows from the outcomes in the order of the log, so it is the same after a restart. Memory: about 80
//! bytes for each pattern with a run, of which there are at most [`MAX_PATTERNS`].

use hashbrown::HashMap;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::trap_shapes::{UrlPattern, patterns, repeated};
use ndcrawl_model::UrlId;

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
/// Names whose duplicates close a wider pattern.
const MIN_NAMES: usize = 4;

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
    /// For a wider pattern: the names of the duplicates, as hashes.
    names: Option<Vec<u64>>,
}

impl DuplicateRun {
    fn is_closed(&self) -> bool {
        let (length, concentration) = CLOSE_RUN;
        let originals = self.originals.len() as u32 + self.others;
        let has_names = self.names.as_ref().is_none_or(|names| names.len() >= MIN_NAMES);
        has_names && self.duplicates >= length && self.duplicates >= originals.saturating_mul(concentration)
    }

    fn add(&mut self, original: UrlId, name: Option<u64>) {
        self.samples = if self.is_closed() { self.samples.saturating_add(1) } else { 0 };
        self.duplicates = self.duplicates.saturating_add(1);
        if !self.originals.contains(&original) {
            match self.originals.len() < MAX_ORIGINALS {
                true => self.originals.push(original),
                false => self.others = self.others.saturating_add(1),
            }
        }
        if let Some(name) = name {
            let names = self.names.get_or_insert_default();
            if names.len() < MIN_NAMES && !names.contains(&name) {
                names.push(name);
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
    /// `is_on`: whether to close patterns at all.
    pub(super) fn new(is_on: bool, seed: u64) -> Self {
        Self { seed, is_on, runs: HashMap::new(), closed: 0, reopened: false }
    }

    /// Returns the bytes in use.
    pub(super) fn bytes(&self) -> usize {
        let of = |run: &DuplicateRun| {
            let names = run.names.as_ref().map_or(0, Vec::capacity) * size_of::<u64>();
            run.originals.capacity() * size_of::<UrlId>() + names
        };
        self.runs.values().map(of).sum::<usize>() + self.runs.allocation_size()
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
        for pattern in patterns(url) {
            if let Some(run) = self.runs.remove(&self.hash(&pattern.text)) {
                self.count_closed(run.is_closed(), false);
            }
        }
    }

    /// Records a page that repeats `original`, whose number is `number`.
    pub(super) fn note_duplicate(&mut self, url: &str, original: &str, number: UrlId) {
        let repeated = repeated(url, original);
        for UrlPattern { text, name } in &repeated {
            let hash = self.hash(text);
            let name = name.as_ref().map(|name| self.hash(name));
            if self.runs.len() >= MAX_PATTERNS && !self.runs.contains_key(&hash) {
                continue;
            }
            let run = self.runs.entry(hash).or_default();
            let before = run.is_closed();
            run.add(number, name);
            let after = run.is_closed();
            if after && !before {
                tracing::debug!(pattern = text, "URLs of this pattern repeat each other: no more of them are fetched");
            }
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

    fn runs_of<'a>(&'a self, url: &str) -> impl Iterator<Item = (String, &'a DuplicateRun)> {
        let patterns = patterns(url).into_iter();
        patterns.filter_map(|pattern| self.runs.get(&self.hash(&pattern.text)).map(|run| (pattern.text, run)))
    }

    fn hash(&self, pattern: &str) -> u64 {
        xxh3_64_with_seed(pattern.as_bytes(), self.seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_patterns() -> TrapPatterns {
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
        let mut patterns = no_patterns();
        let fetched = fetched(&mut patterns, 10_000, month, |_| 0);
        assert_eq!(fetched, CLOSE_RUN.0 + u32::from(MAX_SAMPLES));
        assert_eq!(patterns.closed_pattern(&month(20_000)).as_deref(), Some("http://h.test/calendar/*/*"));
        assert_eq!(patterns.closed_pattern("http://h.test/news/2000/1"), None);
    }

    #[test]
    fn a_unique_page_opens_its_patterns_again() {
        let mut patterns = no_patterns();
        fetched(&mut patterns, 1000, month, |_| 0);
        assert!(!patterns.take_reopened() && !patterns.are_open());
        patterns.note_unique("http://h.test/calendar/1999/7");
        assert!(patterns.take_reopened() && patterns.are_open() && !patterns.take_reopened());
        assert_eq!(patterns.closed_pattern(&month(2000)), None);
    }

    #[test]
    fn a_version_that_repeats_another_page_by_page_is_never_closed() {
        let mut patterns = no_patterns();
        for number in 0..10_000 {
            let page = |version: u32| format!("http://h.test/docs/{version}/page{number}.html");
            assert_eq!(patterns.closed_pattern(&page(2)), None);
            patterns.note_duplicate(&page(2), &page(1), UrlId(number));
        }
    }

    #[test]
    fn of_parameters_only_those_that_make_no_difference_are_closed() {
        let mut patterns = no_patterns();
        for order in 0..100 {
            let url = format!("http://h.test/shop/list?colour=c{}&sort={order}", order % 3);
            let original = format!("http://h.test/shop/list?colour=c{}", order % 3);
            patterns.note_duplicate(&url, &original, UrlId(order % 3));
        }
        let closed = patterns.closed_pattern("http://h.test/shop/list?sort=name");
        assert_eq!(closed.as_deref(), Some("http://h.test/shop/list?sort="));
        for open in ["/shop/list?colour=new", "/shop/item", "/shop/other?sort=name", "/list?sort=name"] {
            let open = format!("http://h.test{open}");
            let open = open.as_str();
            assert_eq!(patterns.closed_pattern(open), None, "{open}");
        }
    }

    #[test]
    fn a_counter_at_the_root_is_closed_and_its_neighbours_are_not() {
        let mut patterns = no_patterns();
        fetched(&mut patterns, 1000, |number| format!("http://h.test/page-{number}.html"), |_| 1);
        assert_eq!(
            patterns.closed_pattern("http://h.test/page-2000.html").as_deref(),
            Some("http://h.test/page-*.html")
        );
        assert_eq!(patterns.closed_pattern("http://h.test/other-1.html"), None);
    }

    #[test]
    fn what_one_script_repeats_closes_nothing_beside_it() {
        let mut patterns = no_patterns();
        for user in 1..1000 {
            let url = format!("http://h.test/forum/member?action={}&user={user}", ["mail", "quote"][user as usize % 2]);
            patterns.note_duplicate(&url, "http://h.test/forum/member", UrlId(0));
            patterns.note_duplicate(&url.replace("member", "report"), "http://h.test/forum/login", UrlId(0));
        }
        let closed = patterns.closed_pattern("http://h.test/forum/member?action=ignore");
        assert_eq!(closed.as_deref(), Some("http://h.test/forum/member?action="));
        assert!(patterns.closed_pattern("http://h.test/forum/report?action=x&user=0").is_some());
        for open in ["thread-12", "thread?id=12", "board", "a/b", "member", "search?action=x"] {
            assert_eq!(patterns.closed_pattern(&format!("http://h.test/forum/{open}")), None, "{open}");
        }
    }

    #[test]
    fn facets_in_the_path_are_closed_by_their_depth() {
        let mut patterns = no_patterns();
        let words = ["red", "blue", "green", "large", "small", "cotton", "wool", "new"];
        let facets = |number: usize| -> String {
            let facets = [number, number / 8, number / 64].map(|place| words[place % 8]);
            format!("http://h.test/shop/{}", facets.join("/"))
        };
        for number in 1..200 {
            patterns.note_duplicate(&facets(number), &facets(0), UrlId(0));
        }
        assert_eq!(patterns.closed_pattern(&facets(500)).as_deref(), Some("http://h.test/shop/~/~/~"));
        for open in ["http://h.test/shop/red", "http://h.test/shop/red/blue", "http://h.test/shop/item-1/red/blue"] {
            assert_eq!(patterns.closed_pattern(open), None, "{open}");
        }
    }

    #[test]
    fn one_name_is_not_enough_for_a_wider_pattern() {
        let mut patterns = no_patterns();
        for number in 0..1000 {
            let url = |name: &str| format!("http://h.test/dir/{name}?id={number}");
            patterns.note_duplicate(&url("print"), &url("print").replace("id", "x"), UrlId(0));
        }
        assert!(patterns.closed_pattern("http://h.test/dir/print?id=2000").is_some());
        assert_eq!(patterns.closed_pattern("http://h.test/dir/article?id=1"), None);
    }

    #[test]
    fn no_more_patterns_are_held_than_there_is_room_for() {
        let mut patterns = no_patterns();
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
