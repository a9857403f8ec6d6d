//! Which URLs of a crawl may a mistyped one mean?
//!
//! People type the end of a path, or a path without its host. So URLs whose paths end alike come first; only without
//! any do similar spellings count.

use std::cmp::Reverse;

use crate::cli::format::thousands;

/// URLs suggested for an unknown one.
const SUGGESTED: usize = 3;
/// The minimum similarity of a suggestion whose path ends otherwise, from 0 to 1.
const LEAST_ALIKE: f64 = 0.6;

/// The URLs that a text may mean.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Suggestions {
    /// The best ones, the best first.
    urls: Vec<String>,
    /// The end that they have in common with what was typed, and the number of URLs that have it.
    common: Option<(String, u64)>,
}

impl Suggestions {
    /// Returns the hint; `None` without suggestions.
    pub fn hint(&self) -> Option<String> {
        let urls = self.urls.join(" ");
        match &self.common {
            _ if self.urls.is_empty() => None,
            Some((end, 1)) => Some(format!("one URL ends in {end}: {urls}")),
            Some((end, count)) if *count as usize <= self.urls.len() => {
                Some(format!("{count} URLs end in {end}: {urls}"))
            }
            Some((end, count)) => Some(format!("{} URLs end in {end}, such as {urls}", thousands(*count))),
            None => Some(format!("URLs with a similar path: {urls}")),
        }
    }
}

/// Collects the URLs nearest to a text.
pub(super) struct Nearest {
    /// The parts of the path that was typed.
    typed: Vec<String>,
    path: String,
    /// Those whose paths have the most last parts in common with it.
    alike: Vec<Ranked>,
    parts: usize,
    count: u64,
    /// Those of similar paths.
    similar: Vec<Ranked>,
}

/// A URL; less is better.
type Ranked = (Reverse<u64>, usize, String);

impl Nearest {
    pub fn new(typed: &str) -> Self {
        let path = path(typed).to_owned();
        let typed = parts(&path).map(str::to_owned).collect();
        Self { typed, path, alike: Vec::new(), parts: 1, count: 0, similar: Vec::new() }
    }

    /// Counts a URL of the crawl.
    pub fn add(&mut self, url: String) {
        let own = path(&url).to_owned();
        let equal = parts(&own).rev().zip(self.typed.iter().rev()).take_while(|(one, other)| one == other).count();
        if equal > self.parts {
            (self.parts, self.count) = (equal, 0);
            self.alike.clear();
        }
        let likeness = |one: &str, other: &str| (strsim::normalized_levenshtein(one, other) * 1e6) as u64;
        if equal >= self.parts {
            self.count += 1;
            keep(&mut self.alike, (Reverse(likeness(&own, &self.path)), own.len(), url));
        } else if self.count == 0 && may_be_similar(&own, &self.path) {
            let last = |path: &str| parts(path).next_back().unwrap_or_default().to_owned();
            let likeness = likeness(&own, &self.path).max(likeness(&last(&own), &last(&self.path)));
            if likeness as f64 >= LEAST_ALIKE * 1e6 {
                keep(&mut self.similar, (Reverse(likeness), own.len(), url));
            }
        }
    }

    pub fn suggestions(self) -> Suggestions {
        let end = || {
            let end = self.typed[self.typed.len() - self.parts..].join("/");
            if self.parts < self.typed.len() { end } else { self.path.clone() }
        };
        let common = (self.count > 0).then(|| (end(), self.count));
        let best = if self.count > 0 { self.alike } else { self.similar };
        Suggestions { urls: best.into_iter().map(|(.., url)| url).collect(), common }
    }
}

fn keep(best: &mut Vec<Ranked>, url: Ranked) {
    best.push(url);
    best.sort();
    best.truncate(SUGGESTED);
}

/// Whether both paths have a part, so that they say more than the root of a host.
fn may_be_similar(one: &str, other: &str) -> bool {
    parts(one).next_back().is_some() && parts(other).next_back().is_some()
}

/// The path and query of a URL; of a text without scheme, all of it.
fn path(url: &str) -> &str {
    let Some((_, rest)) = url.split_once("://") else { return url };
    rest.find(['/', '?']).map_or("", |start| &rest[start..])
}

/// The parts of a path that are not empty. The query belongs to the last part.
fn parts(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(typed: &str) -> Option<String> {
        let mut nearest = Nearest::new(typed);
        for language in ["de", "en", "es", "fr"] {
            for page in ["core.html", "index.html", "mod/mod_ssl.html", "mod/core.html", "q?a=1"] {
                nearest.add(format!("http://h.test/{language}/{page}"));
            }
        }
        nearest.add("http://curl.test/".to_owned());
        nearest.suggestions().hint()
    }

    #[test]
    fn the_end_of_a_path_finds_its_urls() {
        let all = "8 URLs end in core.html, such as http://h.test/de/core.html http://h.test/en/core.html http://h.test/es/core.html";
        assert_eq!(hint("core.html").as_deref(), Some(all));
        for typed in ["/es/mod/core.html", "es/mod/core.html", "http://other.test/es/mod/core.html"] {
            assert!(hint(typed).is_some_and(|hint| hint.ends_with("es/mod/core.html: http://h.test/es/mod/core.html")));
        }
        let fewer = hint("/it/mod/core.html");
        assert!(
            fewer.as_deref().is_some_and(|hint| hint.starts_with("4 URLs end in mod/core.html, such as ")),
            "{fewer:?}"
        );
    }

    #[test]
    fn a_mistyped_path_finds_similar_ones_whatever_the_host() {
        let hint = |typed| hint(typed).unwrap_or_default();
        assert!(
            hint("http://other.test/en/mod/cor.html")
                .starts_with("URLs with a similar path: http://h.test/en/mod/core")
        );
        assert!(hint("mod_sll.html").contains("/mod/mod_ssl.html"));
        assert_eq!(hint("zzz"), "");
        assert_eq!(hint("http://h.test/"), "");
    }
}
