//! Which of several copies is kept.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use super::PageLine;

/// The rule by which one copy of a cluster is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KeepRule {
    /// The one that was decided first.
    #[default]
    First,
    /// The one with the most words.
    Longest,
    /// The one that was fetched last.
    Newest,
    /// The one that was fetched first.
    Oldest,
    /// The one that most of the others name as canonical or as an alternate; then the shorter URL without query.
    Cited,
    /// The one whose host, file or column `source` stands first in this list.
    Source(Vec<String>),
}

/// A text that is no [`KeepRule`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected first, longest, newest, oldest, cited, or source:LIST with hosts, files or sources, such as source:a.org,b.org"
)]
pub struct KeepRuleError;

/// What a rule knows of a copy: see [`KeepRule::copy`].
#[derive(Clone, Debug)]
pub struct ClusterCopy {
    worth: Worth,
    url: String,
    /// The URLs that it names as canonical or as alternates.
    names: Vec<String>,
}

/// How much a rule wants a copy: the greater, the more.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    Equal,
    Words(usize),
    Newest(Option<String>),
    Oldest(Option<Reverse<String>>),
    Cited { by: usize, has_no_query: bool, length: Reverse<usize> },
    Place(Reverse<usize>),
}

impl KeepRule {
    /// Returns what the rule has to know of a page: its line, and the words of its text.
    pub fn copy(&self, line: &PageLine, words: usize) -> ClusterCopy {
        let worth = match self {
            Self::First => Worth::Equal,
            Self::Longest => Worth::Words(words),
            Self::Newest => Worth::Newest(line.fetched_at.clone()),
            Self::Oldest => Worth::Oldest(line.fetched_at.clone().map(Reverse)),
            Self::Cited => {
                let (has_no_query, length) = (!line.url.contains('?'), Reverse(line.url.len()));
                Worth::Cited { by: 0, has_no_query, length }
            }
            Self::Source(list) => {
                let place = list.iter().position(|source| is_of(line, source));
                Worth::Place(Reverse(place.unwrap_or(list.len())))
            }
        };
        let names = if *self == Self::Cited { named_by(line) } else { Vec::new() };
        ClusterCopy { worth, url: line.url.clone(), names }
    }

    /// Returns the copies that the rule prefers to `first`, the copy that is kept without a rule: the best one first, each
    /// with what it has over that one; then `first` itself. Of equals the earlier ones, if copies are in order.
    pub fn preferred(&self, mut copies: Vec<ClusterCopy>, first: usize) -> Vec<(usize, Option<String>)> {
        count_names(&mut copies);
        let worth = |at: usize| &copies[at].worth;
        let mut better: Vec<usize> = (0..copies.len()).filter(|at| worth(*at) > worth(first)).collect();
        better.sort_by_key(|at| Reverse(worth(*at)));
        let better = better.into_iter().map(|at| (at, Some(self.reason(worth(at), worth(first)))));
        better.chain([(first, None)]).collect()
    }

    fn reason(&self, best: &Worth, first: &Worth) -> String {
        let why = match (best, first) {
            (Worth::Words(best), Worth::Words(first)) => format!("{best} words, not {first}"),
            (Worth::Newest(Some(best)), Worth::Newest(first)) => told(best, first.as_ref()),
            (Worth::Oldest(Some(Reverse(best))), Worth::Oldest(first)) => told(best, first.as_ref().map(|it| &it.0)),
            (Worth::Cited { by: best, .. }, Worth::Cited { by: first, .. }) if best > first => {
                format!("named by {best}, not {first}")
            }
            (Worth::Cited { .. }, _) => "the shorter URL, or the one without query".to_owned(),
            (Worth::Place(Reverse(best)), _) => match self {
                Self::Source(list) => list.get(*best).cloned().unwrap_or_default(),
                _ => String::new(),
            },
            _ => String::new(),
        };
        format!("{}: {why}", self.name())
    }

    /// Returns the name of the rule, without a list.
    pub fn name(&self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Longest => "longest",
            Self::Newest => "newest",
            Self::Oldest => "oldest",
            Self::Cited => "cited",
            Self::Source(_) => "source",
        }
    }
}

/// Counts, of each copy, the others that name it.
fn count_names(copies: &mut [ClusterCopy]) {
    let mut named = HashMap::<String, usize>::new();
    for copy in &mut *copies {
        let ClusterCopy { url, names, .. } = copy;
        std::mem::take(names)
            .into_iter()
            .filter(|name| name != url)
            .for_each(|name| *named.entry(name).or_default() += 1);
    }
    for ClusterCopy { worth, url, .. } in copies {
        if let Worth::Cited { by, .. } = worth {
            *by = named.get(url).copied().unwrap_or_default();
        }
    }
}

fn told(best: &str, first: Option<&String>) -> String {
    format!("{best}, not {}", first.map_or("without a time", String::as_str))
}

/// Returns the URLs that a page names as its canonical one or as alternates, each once.
fn named_by(line: &PageLine) -> Vec<String> {
    let alternates = line.alternates.iter().map(|alternate| &alternate.url);
    let mut names: Vec<String> = line.canonical.iter().chain(alternates).cloned().collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn is_of(line: &PageLine, source: &str) -> bool {
    let column = line.columns.as_ref().and_then(|columns| columns.get("source")?.as_str());
    [column, line.file.as_deref()].contains(&Some(source)) || line.site() == source
}

impl FromStr for KeepRule {
    type Err = KeepRuleError;

    fn from_str(text: &str) -> Result<Self, KeepRuleError> {
        if let Some(list) = text.strip_prefix("source:") {
            let list: Vec<String> = list.split(',').map(|source| source.trim().to_owned()).collect();
            return if list.iter().any(String::is_empty) { Err(KeepRuleError) } else { Ok(Self::Source(list)) };
        }
        [Self::First, Self::Longest, Self::Newest, Self::Oldest, Self::Cited]
            .into_iter()
            .find(|rule| rule.name() == text)
            .ok_or(KeepRuleError)
    }
}

impl fmt::Display for KeepRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Source(list) => write!(f, ":{}", list.join(",")),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(url: &str, day: u32) -> PageLine {
        let fetched_at = (day > 0).then(|| format!("2026-01-{day:02}T00:00:00.000Z"));
        PageLine { url: url.to_owned(), fetched_at, ..PageLine::default() }
    }

    #[track_caller]
    fn assert_preferred(rule: &str, lines: &[(PageLine, usize)], first: usize, expected: &[(usize, &str)]) {
        let rule = rule.parse::<KeepRule>().unwrap();
        let copies = lines.iter().map(|(line, words)| rule.copy(line, *words)).collect();
        let mut preferred = rule.preferred(copies, first);
        assert_eq!(preferred.pop(), Some((first, None)));
        let preferred: Vec<(usize, &str)> = preferred.iter().map(|(at, why)| (*at, why.as_deref().unwrap())).collect();
        assert_eq!(preferred, expected);
    }

    #[test]
    fn each_rule_prefers_the_better_copies_and_of_equals_the_first() {
        let mut citing = line("http://a.test/print?page=1", 3);
        citing.canonical = Some("http://c.test/longer".to_owned());
        let lines = [(citing, 10), (line("http://b.test/", 5), 12), (line("http://c.test/longer", 0), 12)];
        assert_preferred("first", &lines, 1, &[]);
        let why = "longest: 12 words, not 10";
        assert_preferred("longest", &lines, 0, &[(1, why), (2, why)]);
        assert_preferred("longest", &lines, 2, &[]);
        let why = "newest: 2026-01-05T00:00:00.000Z, not 2026-01-03T00:00:00.000Z";
        assert_preferred("newest", &lines, 0, &[(1, why)]);
        assert_preferred("oldest", &lines, 0, &[]);
        let shorter = "cited: the shorter URL, or the one without query";
        assert_preferred("cited", &lines, 0, &[(2, "cited: named by 1, not 0"), (1, shorter)]);
        assert_preferred("source:b.test,a.test", &lines, 0, &[(1, "source: b.test")]);
        assert_preferred("source:z.test,c.test,b.test", &lines, 0, &[(2, "source: c.test"), (1, "source: b.test")]);
    }

    #[test]
    fn a_copy_without_time_is_neither_the_newest_nor_the_oldest() {
        let lines = [(line("http://a.test/", 0), 0), (line("http://b.test/", 2), 0), (line("http://c.test/", 1), 0)];
        let why = |day| format!("2026-01-{day:02}T00:00:00.000Z, not without a time");
        let told = |rule, day| format!("{rule}: {}", why(day));
        assert_preferred("newest", &lines, 0, &[(1, &told("newest", 2)), (2, &told("newest", 1))]);
        assert_preferred("oldest", &lines, 0, &[(2, &told("oldest", 1)), (1, &told("oldest", 2))]);
    }

    #[test]
    fn rules_are_read_and_written() {
        for text in ["first", "longest", "newest", "oldest", "cited", "source:a.test,b.jsonl"] {
            assert_eq!(text.parse::<KeepRule>().unwrap().to_string(), text);
        }
        for text in ["", "First", "source", "source:", "source:a,,b", "newest:1"] {
            assert_eq!(text.parse::<KeepRule>(), Err(KeepRuleError), "{text}");
        }
    }
}
