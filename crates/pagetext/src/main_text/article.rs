//! Does a page say that it is an article?

use scraper::Html;

use crate::json_ld::ARTICLE_TYPES;

use super::tree::attribute;

/// Returns whether Open Graph, JSON-LD, microdata or microformats call the page an article.
pub(super) fn is_article(html: &Html) -> bool {
    html.tree.nodes().any(|node| {
        let Some(element) = node.value().as_element() else { return false };
        match element.name() {
            "meta" => {
                let key = element.attr("property").or(element.attr("name")).unwrap_or_default().trim();
                let value = element.attr("content").unwrap_or_default().trim();
                (key.eq_ignore_ascii_case("og:type") && value.eq_ignore_ascii_case("article"))
                    || key.eq_ignore_ascii_case("article:published_time")
            }
            "script" => {
                element.attr("type").is_some_and(|kind| kind.contains("ld+json"))
                    && node.children().filter_map(|child| child.value().as_text()).any(|text| names_type(text))
            }
            _ => {
                let is_type = |name: &str| ARTICLE_TYPES.contains(&name.rsplit('/').next().unwrap_or_default());
                attribute(element, "itemtype").is_some_and(|types| types.split_ascii_whitespace().any(is_type))
            }
        }
    })
}

/// Whether JSON-LD has a thing of one of the types.
fn names_type(script: &str) -> bool {
    script.match_indices("\"@type\"").any(|(at, key)| {
        let rest = script[at + key.len()..].trim_start_matches(|c: char| c.is_whitespace() || c == ':' || c == '[');
        let name = rest.strip_prefix('"').and_then(|rest| rest.split('"').next());
        name.is_some_and(|name| ARTICLE_TYPES.contains(&name))
    })
}
