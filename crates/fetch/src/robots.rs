//! Rules of one origin's robots.txt (RFC 9309).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use url::{Position, Url};

use super::path_preferences::PathPreferences;
use super::robots_rules::RobotsRules;
use super::robots_text::{as_utf8, is_packed, is_without_sense, our_part};
use super::{FetchFailure, Options};
use ndcrawl_model::{CanonicalUrl, Preference, RobotsRow};

/// Time after which an unreachable robots.txt is tried again.
const UNREACHABLE_FOR: Duration = Duration::from_secs(10 * 60);

/// What robots.txt says about a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RobotsAnswer {
    /// No rule forbids it.
    Allowed,
    /// A rule forbids it.
    Disallowed,
    /// robots.txt is unreachable, so the whole site is forbidden for now (section 2.3.1.4).
    Unreachable,
}

/// The robots.txt of one origin: the rules for this crawler.
#[derive(Debug)]
pub struct Robots {
    row: RobotsRow,
    rules: Rules,
    failure: Option<FetchFailure>,
    /// Next download, if not given by its age.
    again_at: Option<i64>,
    crawl_delay: Option<Duration>,
    sitemaps: Vec<Url>,
    preferences: PathPreferences,
    /// Whether there is text, and nothing of it is a rule or any other line of such a file.
    is_without_sense: bool,
}

#[derive(Debug)]
enum Rules {
    /// Unavailable, empty, or ignored.
    AllowAll,
    Unreachable,
    Parsed(RobotsRules),
}

impl Robots {
    /// Parses the robots.txt of an origin (`scheme://host:port`), downloaded or restored.
    pub fn new(origin: &str, row: RobotsRow, options: &Options) -> Self {
        let mut robots = Self::empty(row, Rules::AllowAll);
        match robots.row.status {
            200..300 => robots.parse(origin, options),
            // Too many redirects count as unavailable (section 2.3.1.2), and unavailable allows all
            // (2.3.1.3). 429 "Too many requests" is neither: it asks to come later.
            429 => robots.rules = Rules::Unreachable,
            300..500 => {}
            _ => robots.rules = Rules::Unreachable,
        }
        robots
    }

    /// Returns rules that allow all, for `--ignore-robots`.
    pub(super) fn ignored() -> Self {
        Self::empty(RobotsRow { fetched_at: 0, status: 0, body: Vec::new() }, Rules::AllowAll)
    }

    /// Returns an unreachable robots.txt with its cause.
    pub(super) fn failed(row: RobotsRow, failure: Option<FetchFailure>) -> Self {
        Self { failure, ..Self::empty(row, Rules::Unreachable) }
    }

    /// Returns a copy that stays in use because the new download failed.
    pub(super) fn outlived(&self, origin: &str, options: &Options) -> Self {
        let again_at = now_millis().saturating_add(millis(UNREACHABLE_FOR));
        Self { again_at: Some(again_at), ..Self::new(origin, self.row.clone(), options) }
    }

    fn empty(row: RobotsRow, rules: Rules) -> Self {
        Self {
            row,
            rules,
            failure: None,
            again_at: None,
            crawl_delay: None,
            sitemaps: Vec::new(),
            preferences: PathPreferences::default(),
            is_without_sense: false,
        }
    }

    /// Says whether the rules allow a URL of the origin.
    pub fn allows(&self, url: &CanonicalUrl) -> RobotsAnswer {
        self.allows_address(url.as_url())
    }

    /// [`allows`](Self::allows) for an address in the spelling that is requested.
    pub fn allows_address(&self, address: &Url) -> RobotsAnswer {
        self.allows_path(&address[Position::BeforePath..Position::AfterQuery])
    }

    /// Applies the rules to a URL in any spelling, or to a path. Other text counts as the path `/`. Unlike
    /// [`allows`](Self::allows), it also applies them to `/robots.txt`.
    ///
    /// No rule matches characters beyond ASCII: rules stand for URLs as sent, percent-encoded.
    pub fn allows_text(&self, text: &str) -> RobotsAnswer {
        let text: String = text.chars().map(|c| if c.is_ascii() { c } else { '\u{fffd}' }).collect();
        let url = Url::parse(&text).or_else(|_| Url::parse("http://path.invalid/")?.join(&text));
        let path = url.as_ref().map_or("/", |url| &url[Position::BeforePath..Position::AfterQuery]);
        // The file itself is allowed whatever its rules.
        self.allows_path(if path == "/robots.txt" { "/robots.txt?" } else { path })
    }

    fn allows_path(&self, path: &str) -> RobotsAnswer {
        let allowed = match &self.rules {
            Rules::AllowAll => true,
            Rules::Unreachable => return RobotsAnswer::Unreachable,
            Rules::Parsed(rules) => rules.deciding(path).is_none_or(|rule| rule.allows),
        };
        if allowed { RobotsAnswer::Allowed } else { RobotsAnswer::Disallowed }
    }

    /// The `Crawl-delay` for this crawler. It is not in RFC 9309, but in wide use.
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }

    /// The sitemaps in order of appearance, without repeats, http and https only.
    pub fn sitemaps(&self) -> &[Url] {
        &self.sitemaps
    }

    /// Returns what the file says of the use of the page at this address.
    pub fn preferences(&self, address: &Url) -> Vec<Preference> {
        self.preferences.of(address)
    }

    /// The failure, if there was no response.
    pub fn failure(&self) -> Option<&FetchFailure> {
        self.failure.as_ref()
    }

    /// Whether the file has text and says nothing that such a file may say.
    pub(super) fn is_without_sense(&self) -> bool {
        self.is_without_sense
    }

    /// The row to store and restore.
    pub fn row(&self) -> &RobotsRow {
        &self.row
    }

    /// Whether the host has answered that it is in trouble: it may send the file the next time.
    pub fn is_in_trouble(&self) -> bool {
        !self.is_reached() && self.row.status > 0
    }

    /// Whether the download succeeded.
    pub fn is_reached(&self) -> bool {
        !matches!(self.rules, Rules::Unreachable)
    }

    /// Expiry time, in milliseconds since 1970 UTC.
    pub fn good_until(&self, ttl: Duration) -> i64 {
        let life = match self.is_reached() {
            true => ttl,
            // The host rests meanwhile.
            false if self.is_in_trouble() => Duration::ZERO,
            false => UNREACHABLE_FOR.min(ttl),
        };
        self.again_at.unwrap_or_else(|| self.row.fetched_at.saturating_add(millis(life)))
    }

    fn parse(&mut self, origin: &str, options: &Options) {
        let most = options.robots_max_bytes;
        // Half of a packed file gives half of its text. Other files are cut before they are decoded.
        let body = if is_packed(&self.row.body) { &self.row.body[..] } else { whole_lines(&self.row.body, most) };
        let text = as_utf8(body, most);
        let text = whole_lines(&text, most);
        let part = our_part(text, &options.robots_agent);
        self.is_without_sense = is_without_sense(text);
        self.crawl_delay = part.crawl_delay.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        self.sitemaps = sitemaps(origin, &part.sitemaps);
        self.preferences = PathPreferences::of_robots(&part, self.row.fetched_at);
        self.rules = Rules::Parsed(RobotsRules::new(part.rules));
    }
}

/// Returns the text up to the limit, without a last line that the limit cuts: half a rule forbids more than the
/// whole rule.
fn whole_lines(body: &[u8], limit: usize) -> &[u8] {
    if body.len() < limit {
        return body;
    }
    let body = &body[..limit];
    let end = body.iter().rposition(|&byte| matches!(byte, b'\n' | b'\r')).unwrap_or(limit);
    &body[..end]
}

fn sitemaps(origin: &str, texts: &[String]) -> Vec<Url> {
    let Ok(base) = Url::parse(origin).and_then(|origin| origin.join("/robots.txt")) else {
        return Vec::new();
    };
    let mut sitemaps: Vec<Url> = Vec::new();
    for text in texts.iter().filter(|text| !text.is_empty()) {
        match base.join(text) {
            Ok(url) if matches!(url.scheme(), "http" | "https") && !sitemaps.contains(&url) => sitemaps.push(url),
            _ => {}
        }
    }
    sitemaps
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// Milliseconds since 1970 UTC.
pub(super) fn now_millis() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::{bytes, conformance};

    fn robots(status: u16, body: &[u8], agent: &str) -> Robots {
        let row = RobotsRow { fetched_at: 0, status, body: body.to_vec() };
        Robots::new("http://a.test:80", row, &Options { robots_agent: agent.to_owned(), ..Options::default() })
    }

    fn answer(robots: &Robots, url: &str) -> RobotsAnswer {
        robots.allows_text(url)
    }

    #[test]
    fn the_status_decides_when_there_are_no_rules_to_read() {
        use RobotsAnswer::{Allowed, Disallowed, Unreachable};
        let expected = [(200, Disallowed), (302, Allowed), (401, Allowed), (403, Allowed), (404, Allowed)];
        for (status, expected) in expected.into_iter().chain([0, 429, 500, 503, 599].map(|s| (s, Unreachable))) {
            let robots = robots(status, b"User-agent: *\nDisallow: /\n", "ndcrawl");
            assert_eq!(answer(&robots, "http://a.test/x"), expected, "{status}");
        }
    }

    #[test]
    fn what_could_not_be_had_is_asked_for_again_long_before_what_could() {
        let day = Duration::from_secs(24 * 60 * 60);
        assert_eq!(robots(404, b"", "a").good_until(day), 86_400_000);
        assert_eq!(robots(0, b"", "a").good_until(day), 600_000);
        assert_eq!(robots(503, b"", "a").good_until(day), 0, "the host rests, and then the file is asked for");
    }

    #[test]
    fn a_rule_that_the_limit_cuts_in_two_is_no_rule() {
        let options = Options { robots_max_bytes: 38, ..Options::default() };
        let body = b"User-agent: *\nDisallow: /a\nDisallow: /private/\n".to_vec();
        let robots = Robots::new("http://a.test:80", RobotsRow { fetched_at: 0, status: 200, body }, &options);
        assert_eq!(answer(&robots, "http://a.test/a"), RobotsAnswer::Disallowed);
        assert_eq!(answer(&robots, "http://a.test/b"), RobotsAnswer::Allowed);
    }

    #[test]
    fn the_conformance_cases_of_rules_hold() {
        let Some(cases) = conformance("robots.json") else { return };
        let mut wrong = Vec::new();
        for case in &cases {
            let body = bytes(case, "robots");
            for check in case["checks"].as_array().unwrap() {
                let url = check["url"].as_str().unwrap();
                let allowed =
                    answer(&robots(200, &body, check["agent"].as_str().unwrap()), url) == RobotsAnswer::Allowed;
                if allowed != check["allowed"].as_bool().unwrap() {
                    wrong.push(format!("{} {} {check}", case["level"], case["id"]));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn the_conformance_cases_of_crawl_delays_hold() {
        let Some(cases) = conformance("crawl_delay.json") else { return };
        for case in cases.iter().filter(|case| !case["crawl_delay_s"].is_string()) {
            let robots = robots(200, &bytes(case, "robots"), case["agent"].as_str().unwrap());
            assert_eq!(robots.crawl_delay().map(|delay| delay.as_secs_f64()), case["crawl_delay_s"].as_f64(), "{case}");
        }
    }

    #[test]
    fn the_conformance_cases_of_sitemaps_hold() {
        let Some(cases) = conformance("robots_sitemaps.json") else { return };
        for case in cases.iter().filter(|case| case["sitemaps"].is_array()) {
            let robots = robots(200, &bytes(case, "robots"), "ndcrawl");
            let sitemaps: Vec<&str> = robots.sitemaps().iter().map(Url::as_str).collect();
            let expected: Vec<&str> = case["sitemaps"].as_array().unwrap().iter().filter_map(|s| s.as_str()).collect();
            assert_eq!(sitemaps, expected, "{case}");
        }
    }
}
