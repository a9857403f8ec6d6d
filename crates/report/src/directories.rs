//! Pages and duplicates by directory, for the map of a crawl.

use std::collections::{BTreeMap, HashMap};

use url::{Position, Url};

/// Directories of one path that are counted, from the root on.
const DEEPEST: usize = 4;
/// Maximum number of directories. Beyond it, pages count for the directories above.
const MOST: usize = 50_000;
/// Maximum number of pairs of sections.
const MOST_PAIRS: usize = 10_000;

/// Compared pages of a directory, with those below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectoryCounts {
    /// Pages compared.
    pub pages: u64,
    /// Duplicates among them.
    pub copies: u64,
}

impl DirectoryCounts {
    /// Returns the share of duplicates.
    pub fn share(self) -> f64 {
        self.copies as f64 / self.pages.max(1) as f64
    }
}

/// A part of the map: a directory with all below it, or the files that lie directly in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapPart {
    /// The URL of the directory, which ends in a slash.
    pub directory: String,
    /// Whether directories below it have parts of their own.
    pub is_rest: bool,
    /// Its pages.
    pub counts: DirectoryCounts,
}

/// Counters of directories and of sections that repeat each other.
#[derive(Clone, Debug, Default)]
pub struct Directories {
    counts: BTreeMap<String, DirectoryCounts>,
    /// Copies by section of the copy and section of the page kept.
    pairs: HashMap<(String, String), u64>,
}

impl Directories {
    /// Counts a compared page; `of` is the URL that it duplicates.
    pub fn add(&mut self, url: &str, of: Option<&str>) {
        let Ok(url) = Url::parse(url) else { return };
        if url.host_str().is_none() {
            return;
        }
        for directory in directories(&url) {
            if self.counts.len() >= MOST && !self.counts.contains_key(&directory) {
                break;
            }
            let counts = self.counts.entry(directory).or_default();
            counts.pages += 1;
            counts.copies += u64::from(of.is_some());
        }
        let Some(of) = of.and_then(|of| Url::parse(of).ok()) else { return };
        let pair = (section(&url), section(&of));
        if self.pairs.len() < MOST_PAIRS || self.pairs.contains_key(&pair) {
            *self.pairs.entry(pair).or_default() += 1;
        }
    }

    /// Returns the counters of a directory by its URL.
    pub fn of(&self, directory: &str) -> DirectoryCounts {
        self.counts.get(directory).copied().unwrap_or_default()
    }

    /// Returns all directories by name.
    pub fn all(&self) -> impl Iterator<Item = (&str, DirectoryCounts)> {
        self.counts.iter().map(|(directory, counts)| (directory.as_str(), *counts))
    }

    /// Returns the pairs of sections (of the copy, of the page kept) with their copies, most copies first.
    pub fn pairs(&self) -> Vec<(&str, &str, u64)> {
        let mut pairs: Vec<_> =
            self.pairs.iter().map(|((copy, kept), count)| (copy.as_str(), kept.as_str(), *count)).collect();
        pairs.sort_by_key(|(copy, kept, count)| (std::cmp::Reverse(*count), *copy, *kept));
        pairs
    }

    /// Divides all pages among at most `most` directories: the largest one is divided first.
    ///
    /// The parts do not overlap. They come largest first.
    pub fn map(&self, most: usize) -> Vec<MapPart> {
        let whole = |(directory, counts): (&str, DirectoryCounts)| MapPart {
            directory: directory.to_owned(),
            is_rest: false,
            counts,
        };
        let is_root = |directory: &str| directory.matches('/').count() == 3;
        let mut open: Vec<MapPart> = self.all().filter(|(directory, _)| is_root(directory)).map(whole).collect();
        let mut closed = Vec::new();
        sort(&mut open);
        while let Some(part) = (!open.is_empty()).then(|| open.remove(0)) {
            let below: Vec<MapPart> = self.children(&part.directory).map(whole).collect();
            let sum = |field: fn(&DirectoryCounts) -> u64| below.iter().map(|part| field(&part.counts)).sum::<u64>();
            let rest = DirectoryCounts {
                pages: part.counts.pages.saturating_sub(sum(|counts| counts.pages)),
                copies: part.counts.copies.saturating_sub(sum(|counts| counts.copies)),
            };
            let parts = below.len() + usize::from(rest.pages > 0);
            if below.is_empty() || open.len() + closed.len() + parts > most {
                closed.push(part);
                continue;
            }
            if rest.pages > 0 {
                closed.push(MapPart { is_rest: true, counts: rest, ..part });
            }
            open.extend(below);
            sort(&mut open);
        }
        sort(&mut closed);
        closed
    }

    /// The directories directly in one.
    fn children<'a>(&'a self, directory: &'a str) -> impl Iterator<Item = (&'a str, DirectoryCounts)> {
        let range = self.counts.range::<str, _>((std::ops::Bound::Excluded(directory), std::ops::Bound::Unbounded));
        let below = range.take_while(move |(name, _)| name.starts_with(directory));
        let direct = below.filter(move |(name, _)| name[directory.len()..].matches('/').count() == 1);
        direct.map(|(name, counts)| (name.as_str(), *counts))
    }
}

fn sort(parts: &mut [MapPart]) {
    parts.sort_by(|one, other| {
        other.counts.pages.cmp(&one.counts.pages).then_with(|| one.directory.cmp(&other.directory))
    });
}

/// Returns the directories of a URL, from the root of its host on.
fn directories(url: &Url) -> Vec<String> {
    let (origin, path) = (&url[..Position::BeforePath], url.path());
    let slashes = path.match_indices('/').map(|(slash, _)| slash + 1).take(DEEPEST);
    slashes.map(|end| format!("{origin}{}", &path[..end])).collect()
}

/// Returns the section of a URL: the first directory of its host.
fn section(url: &Url) -> String {
    directories(url).into_iter().take(2).next_back().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> Directories {
        let mut directories = Directories::default();
        for (language, pages) in [("en", 60), ("de", 30), ("es", 30)] {
            for page in 0..pages {
                let path = if page % 3 == 0 { "mod/" } else { "" };
                let url = |language: &str| format!("http://a.test/{language}/{path}{page}.html?q=/x/");
                let of = (language != "en").then(|| url("en"));
                directories.add(&url(language), of.as_deref());
            }
        }
        directories.add("http://a.test/", None);
        directories.add("row://file?line=1", None);
        directories.add("nonsense", None);
        directories
    }

    #[test]
    fn a_page_counts_for_all_directories_above_it() {
        let directories = site();
        assert_eq!(directories.of("http://a.test/"), DirectoryCounts { pages: 121, copies: 60 });
        assert_eq!(directories.of("http://a.test/de/mod/"), DirectoryCounts { pages: 10, copies: 10 });
        assert_eq!(directories.of("http://a.test/en/").share(), 0.0);
        let pairs = directories.pairs();
        assert_eq!(pairs[0], ("http://a.test/de/", "http://a.test/en/", 30));
        assert_eq!(pairs.len(), 2);
    }

    #[test]
    fn the_map_divides_the_largest_directories_and_loses_no_page() {
        let directories = site();
        for most in [1, 2, 4, 5, 7, 100] {
            let parts = directories.map(most);
            assert!(parts.len() <= most, "{parts:?}");
            let sum = parts.iter().fold((0, 0), |sum, part| (sum.0 + part.counts.pages, sum.1 + part.counts.copies));
            assert_eq!(sum, (121, 60), "{most}");
        }
        let names: Vec<String> =
            directories.map(5).iter().map(|part| part.directory.replace("http://a.test", "")).collect();
        assert_eq!(names, ["/en/", "/de/", "/es/", "/en/mod/", "/"]);
        assert!(directories.map(100).iter().any(|part| part.directory.ends_with("/en/") && part.is_rest));
        assert_eq!(Directories::default().map(9), []);
    }
}
