//! Where duplicates come from: how the URL of a copy differs from that of the page it repeats.

use std::collections::HashMap;

use url::Url;

use crate::pagetext::says_not_there;

/// Kinds of patterns that are kept; beyond that only causes are counted.
const MOST_PATTERNS: usize = 20_000;

/// Why there are two URLs for one page, as far as the URLs tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// The same path on another host.
    Mirror,
    /// Another path on another host.
    MovedMirror,
    /// http and https.
    Scheme,
    /// A session number.
    Session,
    /// A parameter of the query.
    Parameter,
    /// `/` and `/index.html`.
    Index,
    /// Capital and small letters.
    Case,
    /// A part of the path is another, or there is one more: versions, languages, print pages.
    PathPart,
    /// Another name in the same folder.
    Name,
    /// The server says 200 and the page says that it is not there.
    SoftError,
    /// More than one of these.
    Several,
}

impl Cause {
    /// As it is called in the report.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Mirror => "mirror host",
            Cause::MovedMirror => "mirror host, other path",
            Cause::Scheme => "http and https",
            Cause::Session => "session number",
            Cause::Parameter => "parameter",
            Cause::Index => "index page",
            Cause::Case => "capital letters",
            Cause::PathPart => "part of the path",
            Cause::Name => "other name, same folder",
            Cause::SoftError => "says that it is not there",
            Cause::Several => "path and parameters",
        }
    }
}

/// How a copy's URL differs from the original's.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Difference {
    /// The kind.
    pub cause: Cause,
    /// What stands in the copy's, and what in the original's in its place.
    pub pattern: String,
}

/// A pattern with its first pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// What differs.
    pub difference: Difference,
    /// Copies.
    pub count: u64,
    /// The first of them, and what it repeats.
    pub example: (String, String),
}

/// All copies by what their URLs tell.
#[derive(Clone, Debug, Default)]
pub struct Causes {
    counts: HashMap<Cause, u64>,
    patterns: HashMap<Difference, (u64, (String, String))>,
}

impl Causes {
    /// Takes in a copy, with its title.
    pub fn add(&mut self, copy: &str, original: &str, title: Option<&str>) {
        let difference = if title.is_some_and(says_not_there) {
            Difference { cause: Cause::SoftError, pattern: host(copy) }
        } else {
            difference(copy, original)
        };
        *self.counts.entry(difference.cause).or_default() += 1;
        if self.patterns.len() < MOST_PATTERNS || self.patterns.contains_key(&difference) {
            let first = || (0, (copy.to_owned(), original.to_owned()));
            self.patterns.entry(difference).or_insert_with(first).0 += 1;
        }
    }

    /// Causes by falling number of copies, each with its most common patterns and how many there are.
    pub fn ranked(&self, most: usize) -> Vec<(Cause, u64, Vec<Pattern>, usize)> {
        let mut causes: Vec<(Cause, u64)> = self.counts.iter().map(|(cause, count)| (*cause, *count)).collect();
        causes.sort_by_key(|(cause, count)| (std::cmp::Reverse(*count), *cause));
        let with_patterns = |(cause, count)| {
            let own = self.patterns.iter().filter(|(difference, _)| difference.cause == cause);
            let mut own: Vec<Pattern> = own
                .map(|(difference, (count, example))| Pattern {
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

/// How the URL of a copy differs from that of the page it repeats.
pub fn difference(copy: &str, original: &str) -> Difference {
    let several = Difference { cause: Cause::Several, pattern: String::new() };
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

fn other_origin(copy: &Url, original: &Url, is_same: bool) -> Difference {
    let name = |url: &Url| {
        let port = url.port().map_or(String::new(), |port| format!(":{port}"));
        format!("{}{port}", url.host_str().unwrap_or_default())
    };
    if name(copy) == name(original) {
        return Difference { cause: Cause::Scheme, pattern: format!("{} → {}", copy.scheme(), original.scheme()) };
    }
    let cause = if is_same { Cause::Mirror } else { Cause::MovedMirror };
    Difference { cause, pattern: format!("{} → {}", name(copy), name(original)) }
}

fn of_query(copy: &Url, original: &Url) -> Difference {
    let pairs = |url: &Url| url.query_pairs().into_owned().collect::<Vec<_>>();
    let (ours, theirs) = (pairs(copy), pairs(original));
    let differ =
        ours.iter().filter(|pair| !theirs.contains(pair)).chain(theirs.iter().filter(|pair| !ours.contains(pair)));
    let mut keys: Vec<&str> = differ.map(|(key, _)| key.as_str()).collect();
    keys.sort_unstable();
    keys.dedup();
    let cause =
        if !keys.is_empty() && keys.iter().all(|key| is_session(key)) { Cause::Session } else { Cause::Parameter };
    let pattern = if keys.is_empty() { "order of parameters".to_owned() } else { format!("?{}", keys.join(" &")) };
    Difference { cause, pattern }
}

/// Whether a parameter is named as those that hold session numbers are.
fn is_session(key: &str) -> bool {
    let key = key.to_lowercase();
    key.contains("sess") || matches!(&*key, "sid" | "s" | "osid" | "zenid" | "cfid" | "cftoken" | "visit" | "visitor")
}

fn of_path(copy: &str, original: &str) -> Difference {
    let of = |cause, pattern: String| Difference { cause, pattern };
    if copy.to_lowercase() == original.to_lowercase() {
        return of(Cause::Case, "capital and small letters".to_owned());
    }
    if without_index(copy) == without_index(original) {
        return of(Cause::Index, format!("{} → {}", end(copy), end(original)));
    }
    let without_parameters = |path: &str| {
        path.split('/').map(|part| part.split(';').next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    if without_parameters(copy) == without_parameters(original) {
        return of(Cause::Session, "; in the path".to_owned());
    }
    let (ours, theirs): (Vec<&str>, Vec<&str>) = (copy.split('/').collect(), original.split('/').collect());
    let before = ours.iter().zip(&theirs).take_while(|(one, other)| one == other).count();
    let left = ours.len().min(theirs.len()) - before;
    let after = ours.iter().rev().zip(theirs.iter().rev()).take(left).take_while(|(one, other)| one == other).count();
    let middle = |parts: &[&str]| parts[before..parts.len() - after].join("/");
    if after == 0 && ours.len() == theirs.len() {
        let in_names = (before + 1 == ours.len()).then(|| of_names(ours[before], theirs[before])).flatten();
        return of(Cause::Name, in_names.unwrap_or_else(|| format!("{}/", ours[..before].join("/"))));
    }
    let part = |text: String| if text.is_empty() { "(nothing)".to_owned() } else { format!("/{text}/") };
    of(Cause::PathPart, format!("{} → {}", part(middle(&ours)), part(middle(&theirs))))
}

/// What differs between names of one stem and one ending, such as `a.en.html` and `a.html`.
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

/// The path without a name that stands for the folder.
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
    fn assert_difference(copy: &str, original: &str, cause: Cause, pattern: &str) {
        assert_eq!(difference(copy, original), Difference { cause, pattern: pattern.to_owned() }, "{copy} {original}");
    }

    #[test]
    fn urls_tell_why_there_are_two() {
        assert_difference("http://b.test/x?y", "http://a.test/x?y", Cause::Mirror, "b.test → a.test");
        assert_difference("http://a.test:81/x", "http://a.test/x", Cause::Mirror, "a.test:81 → a.test");
        assert_difference("http://b.test/x", "http://a.test/y", Cause::MovedMirror, "b.test → a.test");
        assert_difference("http://a.test/x", "https://a.test/x", Cause::Scheme, "http → https");
        assert_difference("http://a.test/x?sid=1", "http://a.test/x", Cause::Session, "?sid");
        assert_difference("http://a.test/x;v=1/y", "http://a.test/x;v=2/y", Cause::Session, "; in the path");
        assert_difference("http://a.test/x?b=1&c=2", "http://a.test/x?b=1&d=2", Cause::Parameter, "?c &d");
        assert_difference(
            "http://a.test/x?b=1&c=2",
            "http://a.test/x?c=2&b=1",
            Cause::Parameter,
            "order of parameters",
        );
        assert_difference("http://a.test/x/index.html", "http://a.test/x/", Cause::Index, "/index.html → /");
        assert_difference("http://a.test/X", "http://a.test/x", Cause::Case, "capital and small letters");
        assert_difference("http://a.test/1.1/x", "http://a.test/1.0/x", Cause::PathPart, "/1.1/ → /1.0/");
        assert_difference("http://a.test/print/x", "http://a.test/x", Cause::PathPart, "/print/ → (nothing)");
        assert_difference("http://a.test/x/x", "http://a.test/x", Cause::PathPart, "/x/ → (nothing)");
        assert_difference("http://a.test/d/x.html", "http://a.test/d/y.html", Cause::Name, "/d/");
        assert_difference("http://a.test/d/x.en.html", "http://a.test/d/x.html", Cause::Name, "en. → (nothing)");
        assert_difference("http://a.test/x-2.html", "http://a.test/x-3.html", Cause::Name, "/");
        assert_difference("http://a.test/x?b", "http://a.test/y", Cause::Several, "");
        assert_difference("nonsense", "http://a.test/y", Cause::Several, "");
    }

    #[test]
    fn the_most_common_cause_and_pattern_come_first() {
        let mut causes = Causes::default();
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
                (Cause::Mirror, 3, "c.test → a.test", 2),
                (Cause::Parameter, 1, "?q", 1),
                (Cause::SoftError, 1, "a.test", 1)
            ]
        );
    }
}
