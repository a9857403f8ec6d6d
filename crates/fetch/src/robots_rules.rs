//! Which rule of robots.txt decides about a path? The longest that matches (RFC 9309, section 2.2.2).

use url::Position;

use super::robots_text::{as_utf8, our_part};
use ndcrawl_model::CanonicalUrl;

/// A rule of robots.txt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsRule {
    /// Whether it allows.
    pub allows: bool,
    /// The path pattern as parsed.
    pub path: String,
}

/// Returns the rule that decides about a URL for the crawler with this product token. `None` if none matches.
pub fn deciding_rule(robots_txt: &[u8], token: &str, url: &CanonicalUrl) -> Option<RobotsRule> {
    let rules = RobotsRules::new(our_part(&as_utf8(robots_txt, usize::MAX), token).rules);
    rules.deciding(&url.as_url()[Position::BeforePath..Position::AfterQuery]).cloned()
}

/// The rules for one crawler.
#[derive(Debug)]
pub(super) struct RobotsRules {
    rules: Vec<RobotsRule>,
    patterns: Vec<Pattern>,
}

/// What paths a rule matches: parts with stars between them.
#[derive(Clone, Debug, PartialEq)]
struct Pattern {
    parts: String,
    /// Whether the path ends where the pattern does.
    has_end: bool,
    /// The number of its rule.
    rule: usize,
}

impl RobotsRules {
    pub(super) fn new(rules: Vec<RobotsRule>) -> Self {
        let patterns = rules.iter().enumerate().flat_map(|(number, rule)| patterns(number, rule)).collect();
        Self { rules, patterns }
    }

    /// Returns the longest rule that matches a path with its query; of equals, one that allows.
    pub(super) fn deciding(&self, path: &str) -> Option<&RobotsRule> {
        if path == "/robots.txt" {
            return None;
        }
        let allows = |rule: usize| self.rules[rule].allows;
        let (longest, _) = self.matching(path).into_iter().max_by_key(|(rule, length)| (*length, allows(*rule)))?;
        Some(&self.rules[longest])
    }

    /// Returns the numbers of the rules that match a path with its query, each with the length of its pattern.
    pub(super) fn matching(&self, path: &str) -> Vec<(usize, usize)> {
        let path = spell(path, false);
        let matching = self.patterns.iter().filter(|pattern| pattern.matches(&path));
        matching.map(|pattern| (pattern.rule, pattern.length())).collect()
    }
}

impl Pattern {
    fn length(&self) -> usize {
        self.parts.len() + usize::from(self.has_end)
    }

    /// Whether the parts stand in the path one behind the other, the first at its start. Taking the leftmost place of
    /// each finds them if any places do.
    fn matches(&self, path: &str) -> bool {
        let mut parts = self.parts.split('*');
        let first = parts.next().unwrap_or_default();
        let last = if self.has_end { parts.next_back() } else { None };
        let rest = path.strip_prefix(first);
        let rest = rest.and_then(|rest| parts.try_fold(rest, |rest, part| Some(rest.split_once(part)?.1)));
        rest.is_some_and(|rest| last.map_or(!self.has_end || rest.is_empty(), |last| rest.ends_with(last)))
    }
}

/// Returns the patterns of a rule. Patterns match from the start of the path, a slash.
fn patterns(number: usize, rule: &RobotsRule) -> Vec<Pattern> {
    let (body, has_end) = rule.path.strip_suffix('$').map_or((&*rule.path, false), |body| (body, true));
    if !body.starts_with(['/', '*']) {
        return Vec::new();
    }
    let pattern = |parts: String, has_end| Pattern { parts, has_end, rule: number };
    let mut patterns = vec![pattern(spell(body, false), has_end)];
    // RFC 9309, section 2.2.2 compares escaped letters unescaped, as in a normalized URL. Google compares
    // them as written. Disallow applies to both.
    let decoded = spell(body, true);
    if !rule.allows && decoded != patterns[0].parts {
        patterns.push(pattern(decoded, has_end));
    }
    // Allowing the index page of a folder allows the folder.
    let index_page = body.rsplit_once('/').filter(|(_, file)| rule.allows && file.starts_with("index.htm"));
    patterns.extend(index_page.map(|(folder, _)| pattern(format!("{}/", spell(folder, false)), true)));
    patterns
}

/// Writes a path as in a URL: escapes what has to be, in upper case (RFC 3986, section 6.2.2.1). With `decode`, decodes
/// unreserved characters (section 6.2.2.2).
fn spell(path: &str, decode: bool) -> String {
    let (mut spelt, mut rest) = (String::with_capacity(path.len()), path.as_bytes());
    while let [byte, after @ ..] = rest {
        let escaped = escaped_byte(rest);
        rest = if escaped.is_some() { &after[2..] } else { after };
        match escaped {
            Some(byte) if !decode || !is_unreserved(byte) => spelt.push_str(&format!("%{byte:02X}")),
            None if !byte.is_ascii_graphic() || b"\"<>`".contains(byte) => spelt.push_str(&format!("%{byte:02X}")),
            _ => spelt.push(escaped.unwrap_or(*byte).into()),
        }
    }
    spelt
}

/// Returns the byte that a percent-escape at the start of the text stands for.
fn escaped_byte(text: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = text else { return None };
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(high)? << 4 | digit(low)?)
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndcrawl_model::Normalizer;

    const ROBOTS: &[u8] = b"User-agent: *\nDisallow: /private/\nAllow: /private/*.html$\nDisallow: /\n\nUser-agent: ndcrawl\nDisallow: /drafts\nAllow: /drafts/public";

    fn rule(token: &str, path: &str) -> Option<(bool, String)> {
        let url = Normalizer::default().absolute(&format!("http://a.test{path}")).unwrap();
        deciding_rule(ROBOTS, token, &url).map(|rule| (rule.allows, rule.path))
    }

    #[test]
    fn the_longest_rule_that_matches_decides() {
        assert_eq!(rule("ndcrawl", "/drafts/x"), Some((false, "/drafts".to_owned())));
        assert_eq!(rule("ndcrawl", "/drafts/public/x"), Some((true, "/drafts/public".to_owned())));
        assert_eq!(rule("ndcrawl", "/private/"), None);
        assert_eq!(rule("other", "/private/x.html"), Some((true, "/private/*.html$".to_owned())));
        assert_eq!(rule("other", "/private/x"), Some((false, "/private/".to_owned())));
        assert_eq!(rule("other", "/x"), Some((false, "/".to_owned())));
        assert_eq!(rule("other", "/robots.txt"), None, "the file itself is allowed");
    }

    fn is_disallowed(pattern: &str, path: &str) -> bool {
        let rules = RobotsRules::new(vec![RobotsRule { allows: false, path: pattern.to_owned() }]);
        rules.deciding(path).is_some()
    }

    #[test]
    fn stars_stand_for_anything_and_a_dollar_for_the_end() {
        for (pattern, matching, other) in [
            ("/a", "/ab", "/b/a"),
            ("/a$", "/a", "/ab"),
            ("*.php", "/x.php5", "/x"),
            ("/*.php$", "/a.php.php", "/a.php5"),
            ("/a*b*c", "/a-b-b-c-d", "/a-c-b"),
            ("/a**b$", "/ab-b", "/ab-"),
            ("/ab*b$", "/abb", "/ab"),
            ("/a*$", "/ab", "/b"),
            ("*/a", "//a", "/b"),
            ("/x$/y", "/x$/y", "/x/y"),
            ("/a b\u{e9}", "/a%20b%C3%A9", "/a"),
            ("/%7euser", "/~user", "/user"),
            ("/%7euser", "/%7Euser", "/user"),
        ] {
            assert!(is_disallowed(pattern, matching) && !is_disallowed(pattern, other), "{pattern}");
        }
        assert!(!is_disallowed("a", "/a"), "a pattern starts with a slash or a star");
    }

    #[test]
    fn a_rule_allows_what_it_spells_and_the_folder_of_an_index_page() {
        let allowing = |path: &str| patterns(0, &RobotsRule { allows: true, path: path.to_owned() });
        assert_eq!(allowing("/%7euser").len(), 1);
        let index_page = allowing("/a/index.html");
        assert!(index_page.len() == 2 && index_page[1].matches("/a/") && !index_page[1].matches("/a/b"));
    }

    #[test]
    fn many_stars_cost_no_more_than_the_path_is_long() {
        let pattern = format!("/x{}$", "*y".repeat(8_000));
        assert!(is_disallowed(&pattern, &format!("/x{}", "y".repeat(8_000))));
        assert!(!is_disallowed(&pattern, &format!("/x{}", "y".repeat(7_999))));
    }
}
