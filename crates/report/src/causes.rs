//! Classifies duplicates by how the URL of a copy differs from the URL of the page that it repeats.

use std::collections::HashMap;

use url::Url;

use pagetext::says_not_there;

/// Maximum number of distinct patterns. Beyond it, only causes are counted.
const MOST_PATTERNS: usize = 20_000;

/// Why one page has two URLs, judged by the URLs alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DuplicateCause {
    /// The same path on another host.
    Mirror,
    /// Another path on another host.
    MovedMirror,
    /// `http` and `https`.
    Scheme,
    /// A session identifier.
    Session,
    /// A query parameter.
    Parameter,
    /// `/` and `/index.html`.
    Index,
    /// Upper and lower case.
    Case,
    /// A path segment differs or is added: versions, languages, print pages.
    PathPart,
    /// Another file name in the same folder.
    Name,
    /// A soft 404: status 200, but the title says "not found".
    SoftError,
    /// Path and query differ.
    Several,
}

impl DuplicateCause {
    /// Returns the label used in the report.
    pub fn name(self) -> &'static str {
        match self {
            DuplicateCause::Mirror => "mirror host",
            DuplicateCause::MovedMirror => "mirror host, other path",
            DuplicateCause::Scheme => "http and https",
            DuplicateCause::Session => "session ID",
            DuplicateCause::Parameter => "query parameter",
            DuplicateCause::Index => "index page",
            DuplicateCause::Case => "letter case",
            DuplicateCause::PathPart => "path segment",
            DuplicateCause::Name => "other file name, same folder",
            DuplicateCause::SoftError => "soft 404",
            DuplicateCause::Several => "path and query",
        }
    }
}

/// The difference between the URL of a copy and the original URL.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UrlDifference {
    /// The kind of difference.
    pub cause: DuplicateCause,
    /// The differing parts: `copy → original`.
    pub pattern: String,
}

/// A difference, its number of copies, and an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CausePattern {
    /// The difference.
    pub difference: UrlDifference,
    /// Number of copies.
    pub count: u64,
    /// URLs of the first copy and of the page that it repeats.
    pub example: (String, String),
}

/// Counts of copies by cause and by pattern.
#[derive(Clone, Debug, Default)]
pub struct DuplicateCauses {
    counts: HashMap<DuplicateCause, u64>,
    patterns: HashMap<UrlDifference, (u64, (String, String))>,
}

impl DuplicateCauses {
    /// Counts a copy; the title reveals soft 404s.
    pub fn add(&mut self, copy: &str, original: &str, title: Option<&str>) {
        let difference = if title.is_some_and(says_not_there) {
            UrlDifference { cause: DuplicateCause::SoftError, pattern: host(copy) }
        } else {
            url_difference(copy, original)
        };
        *self.counts.entry(difference.cause).or_default() += 1;
        if self.patterns.len() < MOST_PATTERNS || self.patterns.contains_key(&difference) {
            let first = || (0, (copy.to_owned(), original.to_owned()));
            self.patterns.entry(difference).or_insert_with(first).0 += 1;
        }
    }

    /// Returns the causes, most copies first.
    ///
    /// Each comes with its number of copies, its `most` commonest patterns, and its number of patterns.
    pub fn ranked(&self, most: usize) -> Vec<(DuplicateCause, u64, Vec<CausePattern>, usize)> {
        let mut causes: Vec<(DuplicateCause, u64)> =
            self.counts.iter().map(|(cause, count)| (*cause, *count)).collect();
        causes.sort_by_key(|(cause, count)| (std::cmp::Reverse(*count), *cause));
        let with_patterns = |(cause, count)| {
            let own = self.patterns.iter().filter(|(difference, _)| difference.cause == cause);
            let mut own: Vec<CausePattern> = own
                .map(|(difference, (count, example))| CausePattern {
                    difference: difference.clone(),
                    count: *count,
                    example: example.clone(),
                })
                .collect();
            own.sort_by(|one, other| {
                other.count.cmp(&one.count).then_with(|| one.difference.pattern.cmp(&other.difference.pattern))
            });
            let all = own.len();
            own.truncate(most);
            (cause, count, own, all)
        };
        causes.into_iter().map(with_patterns).collect()
    }
}

fn host(url: &str) -> String {
    Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
}

/// Compares the URL of a copy with the URL of the page that it repeats.
pub fn url_difference(copy: &str, original: &str) -> UrlDifference {
    let several = UrlDifference { cause: DuplicateCause::Several, pattern: String::new() };
    let (Ok(copy), Ok(original)) = (Url::parse(copy), Url::parse(original)) else { return several };
    let (same_path, same_query) = (copy.path() == original.path(), copy.query() == original.query());
    if copy[..url::Position::BeforePath] != original[..url::Position::BeforePath] {
        return other_origin(&copy, &original, same_path && same_query);
    }
    match (same_path, same_query) {
        (true, _) => of_query(&copy, &original),
        (false, true) => of_path(copy.path(), original.path()),
        (false, false) => several,
    }
}

fn other_origin(copy: &Url, original: &Url, is_same: bool) -> UrlDifference {
    let name = |url: &Url| {
        let port = url.port().map_or(String::new(), |port| format!(":{port}"));
        format!("{}{port}", url.host_str().unwrap_or_default())
    };
    if name(copy) == name(original) {
        return UrlDifference {
            cause: DuplicateCause::Scheme,
            pattern: format!("{} → {}", copy.scheme(), original.scheme()),
        };
    }
    let cause = if is_same { DuplicateCause::Mirror } else { DuplicateCause::MovedMirror };
    UrlDifference { cause, pattern: format!("{} → {}", name(copy), name(original)) }
}

fn of_query(copy: &Url, original: &Url) -> UrlDifference {
    let pairs = |url: &Url| url.query_pairs().into_owned().collect::<Vec<_>>();
    let (ours, theirs) = (pairs(copy), pairs(original));
    let differ =
        ours.iter().filter(|pair| !theirs.contains(pair)).chain(theirs.iter().filter(|pair| !ours.contains(pair)));
    let mut keys: Vec<&str> = differ.map(|(key, _)| key.as_str()).collect();
    keys.sort_unstable();
    keys.dedup();
    let cause = if !keys.is_empty() && keys.iter().all(|key| is_session(key)) {
        DuplicateCause::Session
    } else {
        DuplicateCause::Parameter
    };
    let pattern = if keys.is_empty() { "order of parameters".to_owned() } else { format!("?{}", keys.join(" &")) };
    UrlDifference { cause, pattern }
}

/// Returns whether the name of a parameter is common for session IDs.
fn is_session(key: &str) -> bool {
    let key = key.to_lowercase();
    key.contains("sess") || matches!(&*key, "sid" | "s" | "osid" | "zenid" | "cfid" | "cftoken" | "visit" | "visitor")
}

fn of_path(copy: &str, original: &str) -> UrlDifference {
    let of = |cause, pattern: String| UrlDifference { cause, pattern };
    if copy.to_lowercase() == original.to_lowercase() {
        return of(DuplicateCause::Case, "upper and lower case".to_owned());
    }
    if without_index(copy) == without_index(original) {
        return of(DuplicateCause::Index, format!("{} → {}", end(copy), end(original)));
    }
    let without_parameters = |path: &str| {
        path.split('/').map(|part| part.split(';').next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    if without_parameters(copy) == without_parameters(original) {
        return of(DuplicateCause::Session, "; in the path".to_owned());
    }
    let (ours, theirs): (Vec<&str>, Vec<&str>) = (copy.split('/').collect(), original.split('/').collect());
    let before = ours.iter().zip(&theirs).take_while(|(one, other)| one == other).count();
    let left = ours.len().min(theirs.len()) - before;
    let after = ours.iter().rev().zip(theirs.iter().rev()).take(left).take_while(|(one, other)| one == other).count();
    let middle = |parts: &[&str]| parts[before..parts.len() - after].join("/");
    if after == 0 && ours.len() == theirs.len() {
        let in_names = (before + 1 == ours.len()).then(|| of_names(ours[before], theirs[before])).flatten();
        return of(DuplicateCause::Name, in_names.unwrap_or_else(|| format!("{}/", ours[..before].join("/"))));
    }
    let part = |text: String| if text.is_empty() { "(nothing)".to_owned() } else { format!("/{text}/") };
    of(DuplicateCause::PathPart, format!("{} → {}", part(middle(&ours)), part(middle(&theirs))))
}

/// Returns the difference of two file names with the same start and end, such as `a.en.html` and `a.html`.
fn of_names(copy: &str, original: &str) -> Option<String> {
    let parts = |name: &'_ str| name.split_inclusive(['.', '-', '_']).map(str::to_owned).collect::<Vec<_>>();
    let (ours, theirs) = (parts(copy), parts(original));
    let before = ours.iter().zip(&theirs).take_while(|(one, other)| one == other).count();
    let left = ours.len().min(theirs.len()) - before;
    let after = ours.iter().rev().zip(theirs.iter().rev()).take(left).take_while(|(one, other)| one == other).count();
    let middle = |parts: &[String]| {
        let text = parts[before..parts.len() - after].concat();
        if text.is_empty() { "(nothing)".to_owned() } else { text }
    };
    let (one, other) = (middle(&ours), middle(&theirs));
    (before > 0 && after > 0 && (one == "(nothing)" || other == "(nothing)")).then(|| format!("{one} → {other}"))
}

/// Returns the path without a file name that stands for its folder (`index.html`).
fn without_index(path: &str) -> &str {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.split('.').next().unwrap_or_default().to_lowercase();
    let is_index = matches!(&*stem, "" | "index" | "default" | "home");
    if is_index { folder } else { path }
}

fn end(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(folder, _)| &path[folder.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_difference(copy: &str, original: &str, cause: DuplicateCause, pattern: &str) {
        assert_eq!(
            url_difference(copy, original),
            UrlDifference { cause, pattern: pattern.to_owned() },
            "{copy} {original}"
        );
    }

    #[test]
    fn urls_tell_why_there_are_two() {
        assert_difference("http://b.test/x?y", "http://a.test/x?y", DuplicateCause::Mirror, "b.test → a.test");
        assert_difference("http://a.test:81/x", "http://a.test/x", DuplicateCause::Mirror, "a.test:81 → a.test");
        assert_difference("http://b.test/x", "http://a.test/y", DuplicateCause::MovedMirror, "b.test → a.test");
        assert_difference("http://a.test/x", "https://a.test/x", DuplicateCause::Scheme, "http → https");
        assert_difference("http://a.test/x?sid=1", "http://a.test/x", DuplicateCause::Session, "?sid");
        assert_difference("http://a.test/x;v=1/y", "http://a.test/x;v=2/y", DuplicateCause::Session, "; in the path");
        assert_difference("http://a.test/x?b=1&c=2", "http://a.test/x?b=1&d=2", DuplicateCause::Parameter, "?c &d");
        assert_difference(
            "http://a.test/x?b=1&c=2",
            "http://a.test/x?c=2&b=1",
            DuplicateCause::Parameter,
            "order of parameters",
        );
        assert_difference("http://a.test/x/index.html", "http://a.test/x/", DuplicateCause::Index, "/index.html → /");
        assert_difference("http://a.test/X", "http://a.test/x", DuplicateCause::Case, "upper and lower case");
        assert_difference("http://a.test/1.1/x", "http://a.test/1.0/x", DuplicateCause::PathPart, "/1.1/ → /1.0/");
        assert_difference("http://a.test/print/x", "http://a.test/x", DuplicateCause::PathPart, "/print/ → (nothing)");
        assert_difference("http://a.test/x/x", "http://a.test/x", DuplicateCause::PathPart, "/x/ → (nothing)");
        assert_difference("http://a.test/d/x.html", "http://a.test/d/y.html", DuplicateCause::Name, "/d/");
        assert_difference(
            "http://a.test/d/x.en.html",
            "http://a.test/d/x.html",
            DuplicateCause::Name,
            "en. → (nothing)",
        );
        assert_difference("http://a.test/x-2.html", "http://a.test/x-3.html", DuplicateCause::Name, "/");
        assert_difference("http://a.test/x?b", "http://a.test/y", DuplicateCause::Several, "");
        assert_difference("nonsense", "http://a.test/y", DuplicateCause::Several, "");
    }

    #[test]
    fn the_most_common_cause_and_pattern_come_first() {
        let mut causes = DuplicateCauses::default();
        causes.add("http://a.test/x?q=1", "http://a.test/x", None);
        for host in ["b", "c", "c"] {
            causes.add(&format!("http://{host}.test/x"), "http://a.test/x", Some("A page"));
        }
        causes.add("http://a.test/gone", "http://a.test/lost", Some("404 Not Found"));
        let ranked = causes.ranked(1);
        let told: Vec<_> = ranked
            .iter()
            .map(|(cause, count, patterns, all)| (*cause, *count, &*patterns[0].difference.pattern, *all))
            .collect();
        assert_eq!(
            told,
            [
                (DuplicateCause::Mirror, 3, "c.test → a.test", 2),
                (DuplicateCause::Parameter, 1, "?q", 1),
                (DuplicateCause::SoftError, 1, "a.test", 1)
            ]
        );
    }
}
