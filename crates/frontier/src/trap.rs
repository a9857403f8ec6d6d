//! The shapes of URLs that give endless sites away.
//!
//! The rules are those of Heritrix 3, `PathologicalPathDecideRule` (`.*?/(.*?/)\1{2,}.*`) and
//! `TooManyPathSegmentsDecideRule` (20), with its default values. Departures: the host is no segment, and the slashes
//! of `http://` and of the query do not count as path depth.
//!
//! Traps of other shapes (calendars, session ids) are bounded by depth and by pages per host. `trap_patterns` closes
//! them when their pages repeat each other.

use ndcrawl_model::{CanonicalUrl, named};

/// The most segments of a path.
const MAX_SEGMENTS: usize = 20;
/// How often in a row a group of segments may occur.
const MAX_REPETITIONS: usize = 2;

named! {
    /// Why a URL looks like a trap.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Trap {
        /// The same segments more than twice in a row: `/a/b/a/b/a/b/`.
        RepeatedSegments = "repeated-segments",
        /// More than 20 segments.
        TooManySegments = "too-many-segments",
    }
}

impl Trap {
    /// Checks the shape of a URL. Linear in its length.
    pub fn of(url: &CanonicalUrl) -> Option<Self> {
        let (path, query) = (url.as_url().path(), url.as_url().query());
        if path.strip_suffix('/').unwrap_or(path).matches('/').count() > MAX_SEGMENTS {
            return Some(Trap::TooManySegments);
        }
        let repeats = has_repetition(path) || query.is_some_and(has_repetition);
        repeats.then_some(Trap::RepeatedSegments)
    }
}

/// Whether a group of segments, each between two slashes, occurs too often in a row.
fn has_repetition(text: &str) -> bool {
    let mut segments: Vec<&str> = text.split('/').skip(1).collect();
    segments.pop();
    let longest = (segments.len() / (MAX_REPETITIONS + 1)).min(MAX_SEGMENTS);
    (1..=longest).any(|period| has_period(&segments, period))
}

/// Whether `period` segments occur more than [`MAX_REPETITIONS`] times in a row. Then a run of so many times as many
/// segments equals the segments one period further on.
fn has_period(segments: &[&str], period: usize) -> bool {
    let mut run = 0;
    segments.iter().zip(&segments[period..]).any(|(here, there)| {
        run = if here == there { run + 1 } else { 0 };
        run == period * MAX_REPETITIONS
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndcrawl_model::Normalizer;

    fn trap(url: &str) -> Option<Trap> {
        Trap::of(&Normalizer::default().absolute(url).unwrap())
    }

    #[test]
    fn a_group_of_segments_may_stand_twice_in_a_row_and_not_three_times() {
        for (url, expected) in [
            ("http://h.test/", None),
            ("http://h.test/a/a/b", None),
            ("http://h.test/a/b/a/b/c", None),
            ("http://h.test/cal?month=11&year=2026", None),
            ("http://h.test/x/../../x", None),
            ("http://h.test/a/x/a/x/a", None),
            ("http://h.test/a/a/a/b", Some(Trap::RepeatedSegments)),
            ("http://h.test/en/en/en/", Some(Trap::RepeatedSegments)),
            ("http://h.test/x/a/a/a/a/b", Some(Trap::RepeatedSegments)),
            ("http://h.test/x/a/b/a/b/a/b/c", Some(Trap::RepeatedSegments)),
            ("http://h.test////", Some(Trap::RepeatedSegments)),
            ("http://h.test/?p=/a/a/a/", Some(Trap::RepeatedSegments)),
        ] {
            assert_eq!(trap(url), expected, "{url}");
        }
    }

    #[test]
    fn twenty_segments_are_a_path_and_twenty_one_are_a_trap() {
        let path = |n: usize| (0..n).map(|i| format!("/s{i}")).collect::<String>();
        assert_eq!(trap(&format!("http://h.test{}", path(20))), None);
        assert_eq!(trap(&format!("http://h.test{}/", path(20))), None);
        assert_eq!(trap(&format!("http://h.test{}", path(21))), Some(Trap::TooManySegments));
    }
}
