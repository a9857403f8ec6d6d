//! The parts of a site that may each have their own error page, and addresses in them that cannot exist.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use ndcrawl_model::{CanonicalUrl, Normalizer};

/// Letters of a made-up path segment: about 75 bits.
const LETTERS: usize = 16;
/// Longest ending of a file name, in bytes, with the dot.
const LONGEST_ENDING: usize = 6;

/// URLs with the same directory and file ending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UrlGroup {
    /// The directory, with the slash at its end.
    directory: String,
    /// `/` of a directory, `.html` of a file, empty if there is none.
    ending: String,
}

impl UrlGroup {
    /// Returns the group of all names with this ending, below the first directory.
    pub fn around(url: &CanonicalUrl) -> Self {
        let path = url.as_url().path();
        let first = parent(path).match_indices('/').nth(1).map_or("/", |(end, _)| &path[..=end]);
        Self { directory: first.to_owned(), ending: ending(path).to_owned() }
    }

    /// Returns the group of the names with this ending in the same directory.
    pub fn beside(url: &CanonicalUrl) -> Self {
        let path = url.as_url().path();
        Self { directory: parent(path).to_owned(), ending: ending(path).to_owned() }
    }
}

/// Returns the parent directory of a path, with the slash at its end.
fn parent(path: &str) -> &str {
    let name = path.strip_suffix('/').unwrap_or(path);
    name.rfind('/').map_or("/", |end| &path[..=end])
}

/// Returns `/` for a directory, the ending of a file's name, or nothing.
fn ending(path: &str) -> &str {
    if path.ends_with('/') {
        return "/";
    }
    let name = path.rsplit('/').next().unwrap_or_default();
    let ending = name.rfind('.').map_or("", |dot| &name[dot..]);
    let is_ending = ending.len() <= LONGEST_ENDING
        && ending.chars().skip(1).all(|c| c.is_ascii_alphanumeric())
        && ending.contains(|c: char| c.is_ascii_alphabetic());
    if is_ending { ending } else { "" }
}

/// Returns an address beside this one that cannot exist. The same seed and `number` give the same address.
pub(super) fn wrong_beside(url: &CanonicalUrl, seed: u64, number: u8, normalizer: &Normalizer) -> Option<CanonicalUrl> {
    let UrlGroup { directory, ending } = UrlGroup::beside(url);
    wrong(url, &directory, 1, &ending, (seed, number), normalizer)
}

/// Returns an address with the same depth and ending, and nothing else of this one. Many sites choose a page by a
/// number in its path and ignore the rest: beside such a page no address is wrong.
pub(super) fn wrong_elsewhere(
    url: &CanonicalUrl,
    seed: u64,
    number: u8,
    normalizer: &Normalizer,
) -> Option<CanonicalUrl> {
    let UrlGroup { directory, ending } = UrlGroup::beside(url);
    let depth = directory.split('/').filter(|segment| !segment.is_empty()).count();
    wrong(url, "/", depth + 1, &ending, (seed, number), normalizer)
}

/// Returns an address below a directory, with this many made-up segments.
fn wrong(
    url: &CanonicalUrl,
    directory: &str,
    segments: usize,
    ending: &str,
    (seed, number): (u64, u8),
    normalizer: &Normalizer,
) -> Option<CanonicalUrl> {
    let origin = url.origin();
    let purpose = |segment| format!("{origin}{directory}{ending} {number} {segment}");
    let made_up: Vec<String> = (0..segments).map(|segment| letters(&purpose(segment), seed)).collect();
    // Not resolved against the URL: a path that begins with two slashes would name a host.
    normalizer.absolute(&format!("{origin}{directory}{}{ending}", made_up.join("/"))).ok()
}

fn letters(purpose: &str, seed: u64) -> String {
    let mut bits = u128::from(xxh3_64_with_seed(purpose.as_bytes(), seed)) << 64
        | u128::from(xxh3_64_with_seed(purpose.as_bytes(), !seed));
    let mut letters = String::with_capacity(LETTERS);
    for _ in 0..LETTERS {
        letters.push(char::from(b'a' + (bits % 26) as u8));
        bits /= 26;
    }
    letters
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(path: &str) -> CanonicalUrl {
        Normalizer::default().absolute(&format!("http://a.test:8080{path}")).unwrap()
    }

    fn path(url: Option<CanonicalUrl>) -> String {
        url.unwrap().as_str().strip_prefix("http://a.test:8080").unwrap().to_owned()
    }

    fn beside(page: &str, seed: u64, number: u8) -> String {
        path(wrong_beside(&url(page), seed, number, &Normalizer::default()))
    }

    #[test]
    fn an_area_is_a_directory_and_an_ending() {
        for (path, around, beside, ending) in [
            ("/", "/", "/", "/"),
            ("/a", "/", "/", ""),
            ("/a/", "/", "/", "/"),
            ("/a/b/", "/a/", "/a/", "/"),
            ("/a/b/c.html?q=/1", "/a/", "/a/b/", ".html"),
            ("/release-1.2", "/", "/", ""),
            ("/a.b/c.d.php5", "/a.b/", "/a.b/", ".php5"),
            ("/what.is-this-thing", "/", "/", ""),
            ("//a//b", "//", "//a//", ""),
        ] {
            let area = |directory: &str| UrlGroup { directory: directory.to_owned(), ending: ending.to_owned() };
            assert_eq!(
                (UrlGroup::around(&url(path)), UrlGroup::beside(&url(path))),
                (area(around), area(beside)),
                "{path}"
            );
        }
    }

    #[test]
    fn a_wrong_address_lies_beside_the_page_and_has_its_ending() {
        for (path, parent, ending) in [
            ("/a/b/c.html?q=1", "/a/b/", ".html"),
            ("/a", "/", ""),
            ("/a/b/", "/a/", "/"),
            ("/", "/", "/"),
            ("//b.test/a", "//b.test/", ""),
        ] {
            let wrong = beside(path, 0, 0);
            let name = wrong.strip_prefix(parent).unwrap().strip_suffix(ending).unwrap();
            assert!(name.len() == LETTERS && name.chars().all(|c| c.is_ascii_lowercase()), "{path}: {wrong}");
        }
    }

    #[test]
    fn a_wrong_address_elsewhere_is_as_deep_and_has_none_of_the_same_segments() {
        let elsewhere = |page| path(wrong_elsewhere(&url(page), 0, 0, &Normalizer::default()));
        for (page, ending) in [("/a", ""), ("/a/b/c.html", ".html"), ("/a/b/", "/"), ("//a", "")] {
            let wrong = elsewhere(page);
            let names: Vec<&str> = wrong.strip_suffix(ending).unwrap().split('/').skip(1).collect();
            assert_eq!(names.len(), page.split('/').filter(|segment| !segment.is_empty()).count(), "{page}: {wrong}");
            assert!(names.iter().all(|name| name.len() == LETTERS), "{page}: {wrong}");
        }
        let wrong = elsewhere("/a/b");
        let (one, other) = wrong[1..].split_once('/').unwrap();
        assert_ne!(one, other);
    }

    #[test]
    fn wrong_addresses_are_drawn_by_seed_directory_and_number() {
        let first = beside("/a/b", 0, 0);
        assert_eq!(first, beside("/a/c", 0, 0));
        for other in [beside("/a/b", 1, 0), beside("/a/b", 0, 1), beside("/d/b", 0, 0)] {
            assert_ne!(first.rsplit_once('/'), other.rsplit_once('/'));
        }
    }
}
