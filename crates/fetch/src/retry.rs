//! Retries, back-off and `Retry-After`.

use std::time::{Duration, SystemTime};

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::FetchFailure;
use ndcrawl_model::{FailureClass, Fetched};

/// The back-off after the first failure, before jitter.
const FIRST_BACK_OFF: Duration = Duration::from_secs(1);

/// No back-off is longer.
pub(super) const LONGEST_BACK_OFF: Duration = Duration::from_secs(60);

/// Whether a retry may change a response of this status. Each 5xx counts like 500 (RFC 9110, section 15).
pub(super) fn retry_status(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 500..=599)
}

/// Whether an answer may be another one later: by its status, or because it says when to come again with `Retry-After`.
/// A redirect is followed all the same.
pub fn asks_to_come_again(fetched: &Fetched) -> bool {
    let says_when = || rest_asked(fetched, SystemTime::now(), Duration::MAX).is_some();
    retry_status(fetched.status) || (matches!(fetched.status, 202 | 400..=499) && says_when())
}

/// Whether this status speaks of the host and not of a page: it is busy, or whoever stands before it does not reach it
/// (RFC 6585, section 4; RFC 9110, sections 15.6.3 to 15.6.5). Proxies have numbers of their own for that.
pub(super) fn busy_status(status: u16) -> bool {
    matches!(status, 429 | 501..=599)
}

/// Returns how often a failed request may be tried again, apart from the limit of the options.
///
/// As long as no server has answered, the network itself is the likely cause. Then one more try tells a lost
/// connection from a dead network; a timeout has taken long enough to tell.
pub fn tries_before_answer(failure: &FetchFailure, has_heard: bool) -> u32 {
    match (has_heard, failure.class) {
        (true, _) => u32::MAX,
        (false, FailureClass::Timeout) => 0,
        (false, _) => 1,
    }
}

/// Returns the exponential back-off after a failed attempt, counted from 1.
///
/// The wait doubles with each attempt. Jitter takes between half of it and all of it, by a hash of seed and text (the
/// URL): repeatable, and different URLs do not return all at once.
pub fn back_off(attempt: u32, seed: u64, text: &str) -> Duration {
    let whole = FIRST_BACK_OFF.saturating_mul(1 << attempt.saturating_sub(1).min(16)).min(LONGEST_BACK_OFF);
    let hash = xxh3_64_with_seed(text.as_bytes(), seed.wrapping_add(u64::from(attempt)));
    let share = hash as f64 / u64::MAX as f64;
    whole.mul_f64(0.5 + share / 2.0)
}

/// Returns how long an answer asks to wait: the longest of its `Retry-After` lines. Servers and the proxies before them
/// each add one, and some join them by commas.
pub fn rest_asked(fetched: &Fetched, now: SystemTime, longest: Duration) -> Option<Duration> {
    let parse = |text: &str| retry_after(text, now, longest);
    let lines = fetched.headers_named("retry-after");
    // A date has a comma of its own.
    lines.filter_map(|line| parse(&line).or_else(|| line.split(',').filter_map(parse).max())).max()
}

/// Parses `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date in one of three forms.
///
/// A past date is zero, a longer wait is cut to `longest`. `None` is an invalid value.
pub fn retry_after(value: &str, now: SystemTime, longest: Duration) -> Option<Duration> {
    let value = value.trim();
    let wait = if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number beyond u64 is a long time too.
        Duration::from_secs(value.parse().unwrap_or(u64::MAX))
    } else {
        httpdate::parse_http_date(value).ok()?.duration_since(now).unwrap_or_default()
    };
    Some(wait.min(longest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_stay_in_their_half_and_are_the_same_next_time() {
        for (attempt, whole) in [(1, 1.0), (2, 2.0), (3, 4.0), (6, 32.0), (7, 60.0), (u32::MAX, 60.0)] {
            let wait = back_off(attempt, 7, "http://a.test/").as_secs_f64();
            assert!((whole / 2.0..=whole).contains(&wait), "{attempt}: {wait}");
        }
        assert_eq!(back_off(1, 7, "http://a.test/"), back_off(1, 7, "http://a.test/"));
        assert_ne!(back_off(1, 7, "http://a.test/"), back_off(1, 7, "http://b.test/"));
        assert_ne!(back_off(1, 7, "http://a.test/"), back_off(1, 8, "http://a.test/"));
    }

    #[test]
    fn an_answer_is_asked_for_again_only_if_it_may_change() {
        let again: Vec<u16> = (100..600).filter(|&status| retry_status(status)).collect();
        assert_eq!(again, [408, 425, 429].into_iter().chain(500..600).collect::<Vec<u16>>());
    }

    #[test]
    fn a_wait_is_never_longer_than_the_longest() {
        let longest = Duration::from_secs(300);
        for value in ["301", "99999999999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"] {
            assert_eq!(retry_after(value, SystemTime::now(), longest), Some(longest), "{value}");
        }
        assert_eq!(retry_after("", SystemTime::now(), longest), None);
    }

    #[test]
    fn the_longest_of_several_lines_counts() {
        let asked = |lines: &[&str]| {
            let headers: Vec<_> = lines.iter().map(|line| ("Retry-After", *line)).collect();
            let fetched = crate::test::answered(503, &headers, "");
            rest_asked(&fetched, SystemTime::UNIX_EPOCH, Duration::from_secs(300)).map(|wait| wait.as_secs())
        };
        assert_eq!(asked(&[]), None);
        assert_eq!(asked(&["1", "120", "soon", "60"]), Some(120));
        assert_eq!(asked(&["2, 90", "3"]), Some(90));
        assert_eq!(asked(&["5", "Thu, 01 Jan 1970 00:01:00 GMT"]), Some(60));
        assert_eq!(asked(&["9999", "soon"]), Some(300));
    }

    #[test]
    fn the_conformance_cases_hold() {
        let Some(cases) = crate::test::conformance("retry_after.json") else { return };
        let longest = Duration::from_secs(3600);
        for case in cases {
            let now: jiff::Timestamp = case["now"].as_str().unwrap().parse().unwrap();
            let wait = retry_after(case["value"].as_str().unwrap(), now.into(), longest).map(|wait| wait.as_secs());
            match case["seconds"].as_str() {
                Some("cap") => assert_eq!(wait, Some(3600), "{case}"),
                Some(_) => {}
                None => assert_eq!(wait, case["seconds"].as_u64(), "{case}"),
            }
        }
    }
}
