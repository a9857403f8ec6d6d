//! Finds the robots.txt rule that decides about a URL, for `explain`.

use texting_robots::Robot;
use url::Position;

use super::robots_text::{OurPart, as_utf8, our_part, spell};
use crate::model::CanonicalUrl;

/// A rule that matches a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsRule {
    /// Whether it allows.
    pub allows: bool,
    /// The path pattern as parsed.
    pub path: String,
}

/// Returns the rule that decides about a URL for the crawler with this product token.
///
/// The longest matching rule decides; of equals, one that allows (RFC 9309, section 2.2.2). `None` if none matches.
pub fn deciding_rule(robots_txt: &[u8], token: &str, url: &CanonicalUrl) -> Option<RobotsRule> {
    let path = spell(&url.as_url()[Position::BeforePath..Position::AfterQuery], false);
    let rules = our_part(&as_utf8(robots_txt, usize::MAX), token).rules.into_iter();
    let matching = rules.filter(|(_, pattern)| matches(pattern, &path));
    let rule = matching.max_by_key(|(allows, pattern)| (spell(pattern, true).len(), *allows))?;
    Some(RobotsRule { allows: rule.0, path: rule.1 })
}

/// Whether a pattern matches the path.
fn matches(pattern: &str, path: &str) -> bool {
    let alone = OurPart { rules: vec![(false, pattern.to_owned())], ..OurPart::default() };
    Robot::new("*", alone.for_matcher(false).as_bytes()).is_ok_and(|robot| !robot.allowed(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Normalizer;

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
    }
}
