//! What is expected of the URLs that wait, in a focused crawl.
//!
//! The frontier is then best-first: a URL's place follows from the clues on the pages that name it, and
//! from what was found near it, which is learnt while the crawl goes:
//!
//! - *siblings*: what the other links of a page that names it led to; before any was followed, the page's own
//!   relevance, somewhat less. So the one page that lists a topic is found out after a few of its links.
//! - *region*: what was found in its directory. A directory of which little is known is judged by the one
//!   above it, down from the host and the whole crawl.
//!
//! Expectations change with every page, so all that wait are put in order anew: after every page while
//! they are few, and after as many pages as keeps that at [`REORDERED_PER_PAGE`] URLs a page. A share of the URLs is
//! taken out of turn, so that what lies behind unpromising pages is found too.
//!
//! *Unknown hosts* (of which no page was had, or none that tells anything) are tried besides: of `n` leases
//! `10 · √n` at most may go to them, and each of these the more likely the less is expected of the best that is known.
//! What is expected of a host before its first page is a guess, and the same for all that one page lists by name only;
//! so best-first alone stays where the first tolerable pages were. That the number of hosts to try grows with the root
//! of the time is the rule for bandits with more arms than can be tried (Berry et al. 1997; Wang, Audibert and Munos
//! 2008): it is enough to find a good one, and what it costs in a long crawl is little. A page that says nothing, such
//! as the listing of a directory, leaves its host unknown, and what lies behind it is looked at next, three times at
//! most.
//!
//! What was found at one host tells which is to be tried next, so few are tried at a time: two, and one more after every
//! 32. One that is likely a copy of a host that was met or comes first, since others of its kind are
//! ([`RuleLearner::copied`](crate::dust::RuleLearner::copied)), comes after those that are not, and is the less worth a try; of
//! many copies the first is not doubted. One that is believed to be a copy is not tried.
//!
//! Measured from one page that lists 92 hosts (23 manuals, each four times) by name only, 200 requests, eleven topics
//! of words, each document of a manual about it counted once, as a part of what an order that knows the answer finds
//! (area under the recall, two runs or more): breadth-first 0.03 on average, this 0.41, and no topic less than
//! breadth-first. Without tries 0.27, but five topics next to nothing: what reads like the topic on other hosts took all
//! requests. With tries, but any number at a time and all hosts alike if no copy is believed, 0.23 and two topics less
//! than breadth-first; with doubts 0.24; with four at a time, but not those tried for their own sake, 0.31. With
//! [`CERTAIN_SCORE`] at 0.4 0.46, and one topic less than breadth-first (0.02 against 0.03 of pages of any of its hosts); at
//! 0.8 0.38, at 1 0.36. One at a time is no better than two. Crawls of one host are as before. Of six further topics,
//! which had no part in the choice of the numbers, two are less than breadth-first by their labels: for string utilities
//! and threads the pages of another manual are found, where they are as much at home, and one as much, as the listings
//! of its hosts begin with another language.
//!
//! Requests are not spent on what promises little only because a better server must be spared: while
//! something of which at least twice as much is expected is being fetched, or can be within seconds, the
//! rest waits.
//!
//! Only what was expected is restored after a restart: clues as they were at first sight, and all that was
//! learnt of regions and siblings. Memory for a waiting URL: about 50 bytes, and for a region or a page with
//! links about 20.

use std::time::{Duration, Instant};

use hashbrown::HashMap;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::FocusOptions;
use crate::model::{Clue, Expectation, Relevance, UrlId};

/// URLs put in order anew for each page that is fetched.
const REORDERED_PER_PAGE: usize = 2048;
/// Pages that name a URL of which the siblings are looked at: the most promising.
const MAX_LINKING_PAGES: usize = 4;
/// What is known of the level above counts for so many pages.
const PARENT_WEIGHT: f64 = 3.0;
/// A page's own relevance counts for so many of its links.
const OWN_WEIGHT: f64 = 2.0;
/// What is expected of a link before any other of its page was followed, as a part of the page's relevance.
const INHERITED: f64 = 0.7;
/// What is expected before anything was fetched.
const DEFAULT_RELEVANCE: f64 = 0.1;
/// Nothing of which less than this part is expected is fetched while better is on its way ...
const MIN_SHARE: f64 = 0.5;
/// ... or can be asked for within this time.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// Of `n` leases, `TRIES_PER_ROOT · √n` may go to hosts of which nothing is known: the first hundred, a third of a thousand.
const TRIES_PER_ROOT: f64 = 10.0;
/// Where so much is expected of the best, no unknown host is preferred to it; where less is, in proportion more often.
const CERTAIN_SCORE: f64 = 0.6;
/// So many unknown hosts are tried at a time ...
const TRIES_AT_ONCE: u64 = 2;
/// ... and one more after so many tries ...
const TRIES_PER_SLOT: u64 = 32;
/// ... each waited for so long.
const TRY_PATIENCE: Duration = Duration::from_secs(2);
/// Levels of directories that are told apart.
const MAX_LEVELS: usize = 8;

/// How much is expected of a URL, as a place in the order: the smaller, the more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ScoreRank(u16);

impl ScoreRank {
    /// Before all others.
    pub(super) const FIRST: Self = Self(0);
    const LAST: f64 = 1023.0;

    /// Whether so much more is expected that the other had better wait for it.
    pub(super) fn is_worth_waiting_for(self, other: Self) -> bool {
        other.score() < MIN_SHARE * self.score()
    }

    /// How much is expected, in [0, 1].
    fn score(self) -> f64 {
        1.0 - f64::from(self.0) / Self::LAST
    }

    fn of(score: f64) -> Self {
        // In [0, 1023].
        Self(((1.0 - score.clamp(0.0, 1.0)) * Self::LAST).round() as u16)
    }
}

/// What was found so far in one region.
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

    /// The mean, in which `before` counts for `pages` further pages.
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
    /// What was expected.
    rank: ScoreRank,
    since: Instant,
    /// Whether nothing was known of its host.
    is_try: bool,
}

/// What is expected of the URLs that wait.
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
    /// Pages since all were put in order.
    pages_since_reorder: usize,
}

impl BestFirst {
    /// Of nothing yet.
    pub(super) fn new(options: FocusOptions, seed: u64) -> Self {
        Self {
            options,
            seed,
            leases: 0,
            waiting: HashMap::new(),
            on_lease: HashMap::new(),
            sources: HashMap::new(),
            regions: Vec::new(),
            region_numbers: HashMap::new(),
            all: RelevanceMean::default(),
            pages_since_reorder: 0,
        }
    }

    /// Bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        let tables = self.waiting.allocation_size() + self.on_lease.allocation_size() + self.sources.allocation_size();
        tables + self.region_numbers.allocation_size() + self.regions.capacity() * size_of::<Region>()
    }

    /// Notes a URL that is to be fetched, or that another page names.
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

    /// Takes a page among those that name a URL, in place of the least promising if there is no room.
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

    /// The clues to a URL that waits.
    pub(super) fn clue(&self, id: UrlId) -> Option<Clue> {
        self.waiting.get(&id.0).map(|scored| scored.clue)
    }

    /// What is expected of a URL that waits.
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
        // What is on record is what is gone by.
        expectation.siblings = thousandths(expectation.siblings);
        expectation.region = thousandths(expectation.region);
        expectation.score = thousandths(self.options.weights.score(&expectation));
        Some(expectation)
    }

    /// Its place in the order; first, if there is nothing to go by: a seed.
    pub(super) fn rank(&self, id: UrlId) -> ScoreRank {
        self.expectation(id).map_or(ScoreRank::FIRST, |expectation| ScoreRank::of(expectation.score))
    }

    /// Learns from what was found at a URL, which waits no longer. `None`: nothing that tells of others.
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

    /// Whether it is time to put all in order anew; if so, that is taken for done.
    pub(super) fn is_due(&mut self) -> bool {
        let is_due = self.pages_since_reorder > self.waiting.len() / REORDERED_PER_PAGE;
        if is_due {
            self.pages_since_reorder = 0;
        }
        is_due
    }

    /// Whether the next URL is to be taken out of turn, and a number to choose it by.
    pub(super) fn explore(&self) -> Option<u64> {
        let (share, dice) = self.dice(self.seed);
        (share < self.options.exploration).then_some(dice)
    }

    /// How likely a host of which nothing is known must be no copy to be tried next, after so many tries, although
    /// this is the best that could be had; `None` if none is tried.
    pub(super) fn min_novelty(&self, best: ScoreRank, tries: u64) -> Option<f64> {
        let (share, _) = self.dice(!self.seed);
        let is_due = (tries as f64) < TRIES_PER_ROOT * (self.leases as f64).sqrt();
        let least = best.score() / CERTAIN_SCORE / share;
        (self.options.exploration > 0.0 && is_due && least < 1.0).then_some(least)
    }

    /// A share and a number by chance, for the next lease.
    fn dice(&self, seed: u64) -> (f64, u64) {
        let dice = xxh3_64_with_seed(&self.leases.to_le_bytes(), seed);
        ((dice >> 32) as f64 / f64::from(u32::MAX), dice & u64::from(u32::MAX))
    }

    /// A lease of an earlier run.
    pub(super) fn count_lease(&mut self) {
        self.leases += 1;
    }

    /// A URL is leased, of which this is expected; `is_try` if nothing is known of its host.
    pub(super) fn begin(&mut self, id: UrlId, rank: ScoreRank, is_try: bool, now: Instant) {
        self.leases += 1;
        if rank != ScoreRank::FIRST {
            self.on_lease.insert(id.0, ActiveLease { rank, since: now, is_try });
        }
    }

    /// A URL is not on lease any more.
    pub(super) fn end(&mut self, id: UrlId) {
        self.on_lease.remove(&id.0);
    }

    /// The most that is expected of a URL on lease, and how long it is waited for.
    pub(super) fn best_on_lease(&self, now: Instant) -> Option<(ScoreRank, Instant)> {
        let awaited = self.on_lease.values().map(|on_lease| (on_lease.rank, on_lease.since + PATIENCE));
        awaited.filter(|(_, until)| *until > now).min()
    }

    /// If as many unknown hosts are being tried as may be at a time, after so many tries: until when the first of them
    /// is waited for.
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

    /// The number of a URL's directory.
    fn region(&mut self, url: &str) -> u32 {
        let path = url.split(['?', '#']).next().unwrap_or(url);
        // After the slashes of the scheme: the origin, then a level with each directory.
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
