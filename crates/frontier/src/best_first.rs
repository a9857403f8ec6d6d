//! Scores of the queued URLs, in a focused crawl.
//!
//! A focused crawl is best-first. A URL's score has these parts, besides the clues on the pages that name it:
//!
//!  - *siblings*: the relevance of the pages behind the other links of a page that names it. Before the first of these, the
//!    relevance of that page counts, somewhat less. So a few links show whether a page is a list about the topic.
//!  - *region*: the relevance of the pages in its directory. A directory with few pages takes from the one above it, down
//!    from the host and the whole crawl.
//!
//! Scores change with every page, so the frontier reorders its queues: after every page while they are short, and so
//! often that it reorders [`REORDERED_PER_PAGE`] URLs for each page.
//!
//! **Exploration.** The crawl leases a share of the URLs out of turn, and tries *unknown hosts*: hosts without a page
//! of conclusive relevance. Of `n` leases at most `10 · √n` are tries, the likelier the lower the best score is. That
//! is the rule for bandits with more arms than can be tried (Berry et al. 1997; Wang, Audibert and Munos 2008). Few
//! tries run at a time, since each result tells which host to try next. A probable mirror of a known host comes later,
//! a certain one never ([`RuleLearner::mirrored_origins`](ndcrawl_dust::RuleLearner::mirrored_origins)).
//!
//! **Patience.** While a URL with at least twice the score is on lease, or due within seconds, the rest waits.
//!
//! A restart restores the clues of first sights, regions and siblings. Memory: about 50 bytes for a queued URL, 20 for
//! a region or a page with links. Measurements: `docs/design/frontier.md`.

use std::time::{Duration, Instant};

use hashbrown::HashMap;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::FocusOptions;
use ndcrawl_model::{Clue, Expectation, Relevance, UrlId};

/// URLs to reorder for each fetched page.
const REORDERED_PER_PAGE: usize = 2048;
/// The most pages that name a URL to consider: those with the best siblings.
const MAX_LINKING_PAGES: usize = 4;
/// The weight of the level above, in pages.
const PARENT_WEIGHT: f64 = 3.0;
/// The weight of a page's own relevance, in links.
const OWN_WEIGHT: f64 = 2.0;
/// The expected relevance of a page's first link, as a share of the page's own.
const INHERITED: f64 = 0.7;
/// The expected relevance before the first page.
const DEFAULT_RELEVANCE: f64 = 0.1;
/// A URL below this share of a better score waits for the better one.
const MIN_SHARE: f64 = 0.5;
/// How long a URL waits for a better one.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// Of `n` leases, `TRIES_PER_ROOT · √n` may be tries of unknown hosts: the first hundred, a third of a thousand.
const TRIES_PER_ROOT: f64 = 10.0;
/// The best score from which no unknown host is tried; below it, tries are proportionally more likely.
const CERTAIN_SCORE: f64 = 0.6;
/// Unknown hosts to try at a time.
const TRIES_AT_ONCE: u64 = 2;
/// Tries after which one more may run at a time.
const TRIES_PER_SLOT: u64 = 32;
/// How long a try keeps other tries waiting.
const TRY_PATIENCE: Duration = Duration::from_secs(2);
/// The most directory levels to tell apart.
const MAX_LEVELS: usize = 8;

/// A quantized score; smaller is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ScoreRank(u16);

impl ScoreRank {
    /// Before all others.
    pub(super) const FIRST: Self = Self(0);
    const LAST: f64 = 1023.0;

    /// Whether the other should wait for this one.
    pub(super) fn is_worth_waiting_for(self, other: Self) -> bool {
        other.score() < MIN_SHARE * self.score()
    }

    /// Returns the score, in [0, 1].
    fn score(self) -> f64 {
        1.0 - f64::from(self.0) / Self::LAST
    }

    fn of(score: f64) -> Self {
        // In [0, 1023].
        Self(((1.0 - score.clamp(0.0, 1.0)) * Self::LAST).round() as u16)
    }
}

/// The mean relevance of some pages.
#[derive(Clone, Copy, Default)]
struct RelevanceMean {
    worth: f64,
    pages: f64,
}

impl RelevanceMean {
    fn add(&mut self, worth: Relevance) {
        self.worth += worth.as_f64();
        self.pages += 1.0;
    }

    /// Returns the mean, with `before` as the mean of `pages` further pages.
    fn mean(self, before: f64, pages: f64) -> f64 {
        (self.worth + before * pages) / (self.pages + pages)
    }
}

struct Region {
    above: Option<u32>,
    found: RelevanceMean,
}

struct LinkingPage {
    relevance: f64,
    found: RelevanceMean,
}

struct ScoredUrl {
    clue: Clue,
    region: u32,
    sources: [Option<UrlId>; MAX_LINKING_PAGES],
}

struct ActiveLease {
    /// The score at the time of the lease.
    rank: ScoreRank,
    since: Instant,
    /// Whether the host was unknown.
    is_try: bool,
}

/// The scores of the queued URLs.
#[derive(Default)]
pub(super) struct BestFirst {
    options: FocusOptions,
    seed: u64,
    leases: u64,
    waiting: HashMap<u32, ScoredUrl>,
    on_lease: HashMap<u32, ActiveLease>,
    sources: HashMap<u32, LinkingPage>,
    regions: Vec<Region>,
    region_numbers: HashMap<u64, u32>,
    all: RelevanceMean,
    /// Pages since the last reordering.
    pages_since_reorder: usize,
}

impl BestFirst {
    /// Scores without any page.
    pub(super) fn new(options: FocusOptions, seed: u64) -> Self {
        Self { options, seed, ..Self::default() }
    }

    /// Returns the bytes in use.
    pub(super) fn bytes(&self) -> usize {
        let tables = self.waiting.allocation_size() + self.on_lease.allocation_size() + self.sources.allocation_size();
        tables + self.region_numbers.allocation_size() + self.regions.capacity() * size_of::<Region>()
    }

    /// Notes a link to a URL that is queued.
    pub(super) fn note_link(&mut self, id: UrlId, url: &str, clue: Clue, source: Option<UrlId>) {
        let region = match self.waiting.get(&id.0) {
            Some(scored) => scored.region,
            None => self.region(url),
        };
        let scored = self.waiting.entry(id.0).or_insert(ScoredUrl {
            clue: Clue::default(),
            region,
            sources: [None; MAX_LINKING_PAGES],
        });
        scored.clue = scored.clue.or(clue);
        let mut sources = scored.sources;
        if let Some(source) = source {
            let relevance = clue.source.as_f64();
            self.sources.entry(source.0).or_insert(LinkingPage { relevance, found: RelevanceMean::default() });
            self.add_linking_page(&mut sources, source);
        }
        if let Some(scored) = self.waiting.get_mut(&id.0) {
            scored.sources = sources;
        }
    }

    /// Adds a page that names a URL; replaces the least promising one if there is no room.
    fn add_linking_page(&self, sources: &mut [Option<UrlId>; MAX_LINKING_PAGES], source: UrlId) {
        if sources.contains(&Some(source)) {
            return;
        }
        let promise = |named: &Option<UrlId>| named.map_or(-1.0, |id| self.siblings(id));
        let least = sources.iter_mut().min_by(|a, b| promise(a).total_cmp(&promise(b)));
        if let Some(least) = least.filter(|least| promise(least) < self.siblings(source)) {
            *least = Some(source);
        }
    }

    /// Returns the clues to a queued URL.
    pub(super) fn clue(&self, id: UrlId) -> Option<Clue> {
        self.waiting.get(&id.0).map(|scored| scored.clue)
    }

    /// Returns the score of a queued URL and its parts.
    pub(super) fn expectation(&self, id: UrlId) -> Option<Expectation> {
        let ScoredUrl { clue, region, sources } = self.waiting.get(&id.0)?;
        let siblings = sources.iter().flatten().map(|source| self.siblings(*source)).fold(0.0, f64::max);
        let mut expectation = Expectation {
            anchor: clue.anchor.as_f64(),
            around: clue.around.as_f64(),
            heading: clue.heading.as_f64(),
            url: clue.url.as_f64(),
            source: clue.source.as_f64(),
            siblings,
            region: self.mean_of(*region),
            ..Expectation::default()
        };
        // The parts are rounded as they are reported.
        expectation.siblings = thousandths(expectation.siblings);
        expectation.region = thousandths(expectation.region);
        expectation.score = thousandths(self.options.weights.score(&expectation));
        Some(expectation)
    }

    /// Returns the quantized score; the first without clues, as for a seed.
    pub(super) fn rank(&self, id: UrlId) -> ScoreRank {
        self.expectation(id).map_or(ScoreRank::FIRST, |expectation| ScoreRank::of(expectation.score))
    }

    /// Learns the relevance of a page, whose URL leaves the queue. `None` if it is inconclusive.
    pub(super) fn learn(&mut self, id: UrlId, worth: Option<Relevance>) {
        self.end(id);
        let Some(ScoredUrl { region, sources, .. }) = self.waiting.remove(&id.0) else { return };
        let Some(worth) = worth else { return };
        self.pages_since_reorder += 1;
        self.all.add(worth);
        for source in sources.into_iter().flatten() {
            if let Some(source) = self.sources.get_mut(&source.0) {
                source.found.add(worth);
            }
        }
        let mut at = Some(region);
        while let Some(region) = at.and_then(|at| self.regions.get_mut(at as usize)) {
            region.found.add(worth);
            at = region.above;
        }
    }

    /// Whether it is time to reorder; if so, counts that as done.
    pub(super) fn is_due(&mut self) -> bool {
        let is_due = self.pages_since_reorder > self.waiting.len() / REORDERED_PER_PAGE;
        if is_due {
            self.pages_since_reorder = 0;
        }
        is_due
    }

    /// Whether to lease the next URL out of turn, with a number to choose it by.
    pub(super) fn explore(&self) -> Option<u64> {
        let (share, dice) = self.dice(self.seed);
        (share < self.options.exploration).then_some(dice)
    }

    /// Returns how novel an unknown host must be to be tried in place of the best URL, after so many tries. `None` if
    /// none is tried.
    pub(super) fn min_novelty(&self, best: ScoreRank, tries: u64) -> Option<f64> {
        let (share, _) = self.dice(!self.seed);
        let is_due = (tries as f64) < TRIES_PER_ROOT * (self.leases as f64).sqrt();
        let least = best.score() / CERTAIN_SCORE / share;
        (self.options.exploration > 0.0 && is_due && least < 1.0).then_some(least)
    }

    /// Returns a random share and a random number for the next lease.
    fn dice(&self, seed: u64) -> (f64, u64) {
        let dice = xxh3_64_with_seed(&self.leases.to_le_bytes(), seed);
        ((dice >> 32) as f64 / f64::from(u32::MAX), dice & u64::from(u32::MAX))
    }

    /// Counts a lease of an earlier run.
    pub(super) fn count_lease(&mut self) {
        self.leases += 1;
    }

    /// Begins a lease of a URL with this score; `is_try` if its host is unknown.
    pub(super) fn begin(&mut self, id: UrlId, rank: ScoreRank, is_try: bool, now: Instant) {
        self.leases += 1;
        if rank != ScoreRank::FIRST {
            self.on_lease.insert(id.0, ActiveLease { rank, since: now, is_try });
        }
    }

    /// Ends a lease.
    pub(super) fn end(&mut self, id: UrlId) {
        self.on_lease.remove(&id.0);
    }

    /// Returns the best score on lease, and how long to wait for it.
    pub(super) fn best_on_lease(&self, now: Instant) -> Option<(ScoreRank, Instant)> {
        let awaited = self.on_lease.values().map(|on_lease| (on_lease.rank, on_lease.since + PATIENCE));
        awaited.filter(|(_, until)| *until > now).min()
    }

    /// Returns until when to wait for a running try, if as many run as may at a time.
    pub(super) fn awaited_try(&self, tries: u64, now: Instant) -> Option<Instant> {
        let tried = self.on_lease.values().filter(|on_lease| on_lease.is_try);
        let awaited = tried.map(|on_lease| on_lease.since + TRY_PATIENCE).filter(|until| *until > now);
        let most = TRIES_AT_ONCE + tries / TRIES_PER_SLOT;
        let (count, first) = awaited.fold((0, None::<Instant>), |(count, first), until| {
            (count + 1, Some(first.map_or(until, |first| first.min(until))))
        });
        first.filter(|_| count >= most)
    }

    fn siblings(&self, source: UrlId) -> f64 {
        self.sources
            .get(&source.0)
            .map_or(0.0, |source| source.found.mean((source.relevance * INHERITED).max(self.mean_of_all()), OWN_WEIGHT))
    }

    fn mean_of_all(&self) -> f64 {
        if self.all.pages > 0.0 { self.all.worth / self.all.pages } else { DEFAULT_RELEVANCE }
    }

    fn mean_of(&self, region: u32) -> f64 {
        self.regions.get(region as usize).map_or(self.mean_of_all(), |region| {
            let above = region.above.map_or_else(|| self.mean_of_all(), |above| self.mean_of(above));
            region.found.mean(above, PARENT_WEIGHT)
        })
    }

    /// Returns the number of a URL's directory.
    fn region(&mut self, url: &str) -> u32 {
        let path = url.split(['?', '#']).next().unwrap_or(url);
        // Behind the slashes of the scheme: the origin, then one level for each directory.
        let root = path.find("://").and_then(|at| path[at + 3..].find('/').map(|slash| at + 3 + slash));
        let root = root.unwrap_or(path.len());
        let ends = std::iter::once(root)
            .chain(path[root..].char_indices().skip(1).filter(|(_, c)| *c == '/').map(|(at, _)| root + at));
        let mut above = None;
        for end in ends.take(MAX_LEVELS) {
            let name = xxh3_64_with_seed(&path.as_bytes()[..end], self.seed);
            let next = self.regions.len() as u32;
            let number = *self.region_numbers.entry(name).or_insert(next);
            if number == next {
                self.regions.push(Region { above, found: RelevanceMean::default() });
            }
            above = Some(number);
        }
        above.unwrap_or(0)
    }
}

fn thousandths(share: f64) -> f64 {
    (share * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(exploration: f64) -> FocusOptions {
        FocusOptions { exploration, ..FocusOptions::default() }
    }

    fn relevance(share: f64) -> Relevance {
        Relevance::of(share)
    }

    fn best_first(urls: &[(&str, Clue, u32)]) -> BestFirst {
        let mut best_first = BestFirst::new(options(0.0), 0);
        for (id, (url, clue, source)) in (0..).zip(urls) {
            best_first.note_link(UrlId(id), url, *clue, Some(UrlId(*source)));
        }
        best_first
    }

    fn clue(anchor: f64, source: f64) -> Clue {
        Clue { anchor: relevance(anchor), source: relevance(source), ..Clue::default() }
    }

    #[test]
    fn a_better_text_and_a_better_page_promise_more() {
        let best_first = best_first(&[
            ("http://h.test/a", clue(0.0, 0.1), 100),
            ("http://h.test/b", clue(0.9, 0.1), 100),
            ("http://h.test/c", clue(0.0, 0.9), 101),
        ]);
        let places = [0, 1, 2].map(|id| best_first.rank(UrlId(id)));
        assert!(places[1] < places[0] && places[2] < places[0], "{places:?}");
        assert!(best_first.rank(UrlId(7)) < places[1], "a seed, of which there are no clues, is first");
    }

    #[test]
    fn what_was_found_speaks_for_the_same_directory_and_the_links_of_the_same_page() {
        let none = Clue::default();
        let mut best_first = best_first(&[
            ("http://h.test/good/found", none, 100),
            ("http://h.test/bad/found", none, 101),
            ("http://h.test/good/deeper/x", none, 102),
            ("http://h.test/bad/x", none, 102),
            ("http://h.test/else/x", none, 100),
            ("http://h.test/else/y", none, 101),
        ]);
        best_first.learn(UrlId(0), Some(relevance(0.9)));
        best_first.learn(UrlId(1), Some(relevance(0.0)));
        let place = |id| best_first.rank(UrlId(id));
        assert!(place(2) < place(3), "by their directories");
        assert!(place(4) < place(5), "by the pages that name them");
        let expected = best_first.expectation(UrlId(4)).unwrap();
        assert!(expected.siblings > best_first.expectation(UrlId(5)).unwrap().siblings && expected.region > 0.0);
    }

    #[test]
    fn of_many_pages_that_name_a_url_the_most_promising_are_remembered() {
        let mut best_first = BestFirst::new(options(0.0), 0);
        for source in 0..20_u32 {
            best_first.note_link(
                UrlId(99),
                "http://h.test/x",
                clue(0.0, f64::from(source) / 20.0),
                Some(UrlId(source)),
            );
        }
        let mut sources: Vec<u32> = best_first.waiting[&99].sources.iter().flatten().map(|id| id.0).collect();
        sources.sort_unstable();
        assert_eq!(sources, [16, 17, 18, 19]);
    }

    #[test]
    fn about_the_share_that_was_asked_for_is_taken_out_of_turn() {
        let mut best_first = BestFirst::new(options(0.05), 3);
        let explored = (0..10_000).filter(|id| {
            let explores = best_first.explore().is_some();
            best_first.begin(UrlId(*id), ScoreRank::FIRST, false, Instant::now());
            explores
        });
        let explored = explored.count();
        assert!((400..600).contains(&explored), "{explored}");
    }
}
