//! The patterns to which a URL belongs.
//!
//! | pattern | URLs |
//! |---|---|
//! | `http://h/calendar/*/*` | the same path but for numbers and what follows them in a word |
//! | `http://h/forum/member?action&user` | the same path with parameters of these names |
//! | `http://h/list?sort=` | the same path with this parameter, whatever the others |
//! | `http://h/shop/~/~` | *wider*: any two words in the directory; also with parameters |
//!
//! A wider pattern keeps one to [`MAX_LEVELS`] directories. Behind them it takes any word, but not a name with a number:
//! `thread-12` stays `thread-*`, or else pages of different kinds in one directory would look alike.

/// Directories that a wider pattern keeps.
const MAX_LEVELS: usize = 3;
/// The most parameters of a URL to look at.
const MAX_PARAMETERS: usize = 8;
/// Characters of the longest file extension.
const MAX_EXTENSION: usize = 5;

/// A pattern of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UrlPattern {
    /// What URLs of the pattern have in common, as people read it.
    pub(super) text: String,
    /// For a wider pattern: the path of the URL but for numbers.
    pub(super) name: Option<String>,
}

/// Returns all patterns of a canonical URL, those of its name first.
pub(super) fn patterns(url: &str) -> Vec<UrlPattern> {
    let shape = UrlShape::of(url);
    let mut patterns = shape.of_names();
    patterns.extend(shape.parameters().flat_map(|(parameter, _)| shape.of_parameter(parameter)));
    patterns
}

/// Returns what a canonical URL has in common with others of its kind: the path but for numbers, and the names of its
/// parameters. `None` without numbers and parameters.
pub fn url_pattern(url: &str) -> Option<String> {
    UrlShape::of(url).of_names().into_iter().find(|pattern| pattern.name.is_none()).map(|pattern| pattern.text)
}

/// Returns the patterns for which a page counts that repeats `original`.
pub(super) fn repeated(url: &str, original: &str) -> Vec<UrlPattern> {
    let (url, original) = (UrlShape::of(url), UrlShape::of(original));
    if url.origin != original.origin {
        return Vec::new();
    }
    if url.path == original.path {
        let known: Vec<_> = original.parameters().collect();
        let differing = url.parameters().filter(|pair| !known.contains(pair));
        return differing.flat_map(|(name, _)| url.of_parameter(name)).collect();
    }
    let known = original.of_names();
    let is_shared = |pattern: &UrlPattern| known.iter().any(|known| known.text == pattern.text);
    url.of_names().into_iter().filter(|pattern| pattern.name.is_none() || is_shared(pattern)).collect()
}

/// A canonical URL, split.
struct UrlShape<'a> {
    origin: &'a str,
    path: &'a str,
    query: Option<&'a str>,
}

impl<'a> UrlShape<'a> {
    fn of(url: &'a str) -> Self {
        let authority = url.find("://").map_or(0, |colon| colon + "://".len());
        let path = url[authority..].find(['/', '?']).map_or(url.len(), |place| authority + place);
        let (origin, rest) = url.split_at(path);
        match rest.split_once('?') {
            Some((path, query)) => Self { origin, path, query: Some(query) },
            None => Self { origin, path: rest, query: None },
        }
    }

    /// Returns the patterns of the path with the names of all parameters. A path without numbers or parameters has none
    /// of its own: it is one URL.
    fn of_names(&self) -> Vec<UrlPattern> {
        let mut names: Vec<String> = self.parameters().map(|(name, _)| without_numbers(name)).collect();
        names.sort_unstable();
        names.dedup();
        let end = if names.is_empty() { String::new() } else { format!("?{}", names.join("&")) };
        let mut patterns = self.paths(&end);
        patterns.retain(|pattern| pattern.name.is_some() || pattern.text.contains(['*', '?']));
        patterns
    }

    /// Returns the patterns of the path with one parameter.
    fn of_parameter(&self, name: &str) -> Vec<UrlPattern> {
        self.paths(&format!("?{}=", without_numbers(name)))
    }

    /// Returns the pattern of the path, then wider ones.
    fn paths(&self, end: &str) -> Vec<UrlPattern> {
        let name = format!("{}{}", self.origin, without_numbers(self.path));
        let segments: Vec<&str> = self.path.split('/').skip(1).collect();
        let mut patterns = vec![UrlPattern { text: format!("{name}{end}"), name: None }];
        for kept in 1..segments.len().min(MAX_LEVELS + 1) {
            let (kept, rest) = segments.split_at(kept);
            let any: Vec<String> = rest.iter().map(|segment| without_words(segment)).collect();
            let text = format!("{}/{}/{}{end}", self.origin, kept.join("/"), any.join("/"));
            if patterns.iter().all(|known| known.text != text) {
                patterns.push(UrlPattern { text, name: Some(name.clone()) });
            }
        }
        patterns
    }

    fn parameters(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let pairs = self.query.into_iter().flat_map(|query| query.split('&')).filter(|pair| !pair.is_empty());
        pairs.take(MAX_PARAMETERS).map(|pair| pair.split_once('=').unwrap_or((pair, "")))
    }
}

/// Replaces the rest of each word from its first digit on by a star: `page-12b.html` becomes `page-*.html`. An escaped
/// byte is a letter.
fn without_numbers(text: &str) -> String {
    let mut shape = String::with_capacity(text.len());
    let (mut is_number, mut escaped) = (false, 0);
    for (place, character) in text.char_indices() {
        if escaped == 0 && character == '%' && is_escape(&text[place..]) {
            escaped = 3;
        }
        let is_letter = escaped > 0 || character.is_alphabetic();
        escaped = usize::saturating_sub(escaped, 1);
        match (is_letter, character.is_numeric()) {
            (true, _) | (false, true) if is_number => {}
            (false, true) => {
                is_number = true;
                shape.push('*');
            }
            (is_letter, _) => {
                is_number &= is_letter;
                shape.push(character);
            }
        }
    }
    shape
}

fn is_escape(text: &str) -> bool {
    text.as_bytes().get(1..3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

/// Replaces a name of words by `~`, but keeps its extension. A name with a number keeps its words.
fn without_words(segment: &str) -> String {
    let shape = without_numbers(segment);
    if shape.contains('*') || shape.is_empty() {
        return shape;
    }
    let extension = segment.rfind('.').map_or("", |dot| &segment[dot..]);
    let is_extension = extension.len() <= MAX_EXTENSION + 1;
    format!("~{}", if is_extension { extension } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(patterns: Vec<UrlPattern>) -> Vec<String> {
        patterns.into_iter().map(|pattern| pattern.text.replace("http://h.test", "")).collect()
    }

    fn of(path: &str) -> Vec<String> {
        texts(patterns(&format!("http://h.test{path}")))
    }

    fn common(path: &str, original: &str) -> Vec<String> {
        let [url, original] = [path, original].map(|path| format!("http://h.test{path}"));
        texts(repeated(&url, &original))
    }

    #[test]
    fn a_pattern_is_made_of_depth_names_and_parameters() {
        assert_eq!(of("/"), [""; 0]);
        assert_eq!(of("/about.html"), [""; 0]);
        assert_eq!(of("/page-12.html"), ["/page-*.html"]);
        assert_eq!(of("/calendar/2026/7"), ["/calendar/*/*", "/calendar/2026/*"]);
        assert_eq!(of("/calendar/2026/jul"), ["/calendar/*/jul", "/calendar/*/~", "/calendar/2026/~"]);
        assert_eq!(of("/shop/red/large/"), ["/shop/~/~/", "/shop/red/~/"]);
        assert_eq!(of("/forum/thread-12.html"), ["/forum/thread-*.html"]);
        assert_eq!(of("/forum/about.html"), ["/forum/~.html"]);
        assert_eq!(
            of("/forum/member?user=7&action=mail"),
            [
                "/forum/member?action&user",
                "/forum/~?action&user",
                "/forum/member?user=",
                "/forum/~?user=",
                "/forum/member?action=",
                "/forum/~?action="
            ]
        );
        assert_eq!(of("/list?p12=1"), ["/list?p*", "/list?p*="]);
    }

    #[test]
    fn a_duplicate_counts_for_its_own_name_and_for_what_it_shares() {
        assert_eq!(common("/calendar/2026/8", "/calendar/2026/7"), ["/calendar/*/*", "/calendar/2026/*"]);
        assert_eq!(common("/calendar/2026/8", "/calendar/2025/7"), ["/calendar/*/*"]);
        assert_eq!(common("/forum/member?action=mail", "/forum/login"), ["/forum/member?action"]);
        assert_eq!(common("/forum/member?a=1", "/forum/post?a=1"), ["/forum/member?a", "/forum/~?a"]);
        assert_eq!(common("/list?sort=2&of=x", "/list?of=x&sort=1"), ["/list?sort="]);
        assert_eq!(common("/x/list?sort=2", "/x/list"), ["/x/list?sort=", "/x/~?sort="]);
        assert_eq!(repeated("http://a.test/1", "http://b.test/2"), []);
    }

    #[test]
    fn a_number_ends_its_word_and_escaped_letters_are_letters() {
        for (text, shape) in [
            ("a1b2-c", "a*-c"),
            ("8f3a9c", "*"),
            ("%E3%81%82", "%E3%81%82"),
            ("%E3%81%82-7", "%E3%81%82-*"),
            ("7%E3", "*"),
            ("5%", "*%"),
            ("100%-2", "*%-*"),
        ] {
            assert_eq!(without_numbers(text), shape, "{text}");
        }
    }
}
