//! What a page asks of robots, by `meta` elements and `X-Robots-Tag` header lines.
//!
//! The rules are those that Google publishes: names are separated by commas, case does not matter,
//! unknown names are passed over, and of contradicting ones the most restrictive wins. A header line
//! may be meant for one robot alone (`otherbot: noindex`).

use crate::record::RobotsDirectives;

/// Directives that take a value behind a colon; the colon does not name a robot.
const WITH_VALUE: [&str; 4] = ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"];

/// Adds the directives of a `meta` element whose name is `robots` or ours.
pub(super) fn add_meta(directives: &mut RobotsDirectives, name: &str, content: &str, agent: &str) {
    let name = name.trim();
    if name.eq_ignore_ascii_case("robots") || name.eq_ignore_ascii_case(agent) {
        add_list(directives, content);
    }
}

/// Adds the directives of one `X-Robots-Tag` header line, if it is meant for everyone or for us.
pub(super) fn add_header(directives: &mut RobotsDirectives, value: &str, agent: &str) {
    match value.split_once(':') {
        Some((name, rest)) if names_a_robot(name) => {
            if name.trim().eq_ignore_ascii_case(agent) {
                add_list(directives, rest);
            }
        }
        _ => add_list(directives, value),
    }
}

fn names_a_robot(name: &str) -> bool {
    let name = name.trim();
    !name.contains(',') && !WITH_VALUE.iter().any(|known| name.eq_ignore_ascii_case(known))
}

fn add_list(directives: &mut RobotsDirectives, list: &str) {
    for name in list.split(',').map(|name| name.trim().to_ascii_lowercase()) {
        match name.as_str() {
            "noindex" => directives.noindex = true,
            "nofollow" => directives.nofollow = true,
            "noarchive" => directives.noarchive = true,
            "none" => {
                directives.noindex = true;
                directives.nofollow = true;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(value: &str) -> Vec<&'static str> {
        let mut directives = RobotsDirectives::default();
        add_header(&mut directives, value, "ndcrawl");
        directives.names()
    }

    #[test]
    fn a_header_line_may_be_meant_for_one_robot() {
        assert_eq!(header("NDCrawl: noarchive, nofollow"), ["nofollow", "noarchive"]);
        assert!(header("otherbot: noindex").is_empty());
        assert_eq!(header("  noindex ,  ,"), ["noindex"]);
        assert_eq!(header("max-snippet: 20, noindex"), ["noindex"]);
    }

    #[test]
    fn none_means_noindex_and_nofollow_and_lookalikes_mean_nothing() {
        assert_eq!(header("None"), ["noindex", "nofollow"]);
        assert!(header("notindex, all, noai").is_empty());
        let mut directives = RobotsDirectives::default();
        add_meta(&mut directives, "description", "noindex", "ndcrawl");
        assert!(directives.names().is_empty());
        add_meta(&mut directives, "ROBOTS", "NoIndex", "ndcrawl");
        assert_eq!(directives.names(), ["noindex"]);
    }
}
