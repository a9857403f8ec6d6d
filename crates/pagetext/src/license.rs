//! Under which license does a page say that it may be used?

use scraper::Html;
use url::Url;

use super::json_ld;

/// Characters of the longest statement that is kept.
const LONGEST: usize = 300;

/// Returns the license that a page names: an absolute address, or a name.
///
/// The best statement counts, and of equal ones the first: `rel=license`, `license` in JSON-LD, `dcterms.license` and
/// the like in a `meta` element, a link to a license of Creative Commons. Of several licenses that are merely linked, no
/// one is the page's.
pub(super) fn of_page(html: &Html, base: &Url) -> Option<String> {
    let mut best: Option<(u8, String)> = None;
    let mut linked: Vec<String> = Vec::new();
    for node in html.tree.nodes() {
        let Some(element) = node.value().as_element() else { continue };
        let found = match element.name() {
            "a" | "link" | "area" => {
                let rel = element.attr("rel").unwrap_or_default();
                let address = element.attr("href").and_then(|href| absolute(href, base));
                if !rel.split_ascii_whitespace().any(|token| token.eq_ignore_ascii_case("license")) {
                    linked.extend(address.filter(|address| is_creative_commons(address)));
                    continue;
                }
                address.map(|address| (0, address))
            }
            "script" if element.attr("type").is_some_and(|kind| kind.contains("ld+json")) => {
                let texts = node.children().filter_map(|child| child.value().as_text());
                json_ld::license(&texts.map(|text| &**text).collect::<String>()).map(|license| (1, license))
            }
            "meta" => {
                let name = element.attr("name").or(element.attr("property")).unwrap_or_default().trim();
                let is_license = ["dcterms.license", "dc.license", "dc.rights.license", "license"];
                let is_license = is_license.iter().any(|known| name.eq_ignore_ascii_case(known));
                element.attr("content").filter(|_| is_license).map(|license| (2, license.to_owned()))
            }
            _ => None,
        };
        if let Some((rank, license)) = found
            && best.as_ref().is_none_or(|(so_far, _)| rank < *so_far)
        {
            let license: String =
                license.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(LONGEST).collect();
            best = Some((rank, license)).filter(|(_, license)| !license.is_empty()).or(best);
        }
    }
    linked.sort_unstable();
    linked.dedup();
    let only = linked.pop().filter(|_| linked.is_empty());
    best.map(|(_, license)| license).or(only)
}

fn absolute(href: &str, base: &Url) -> Option<String> {
    let url = base.join(href.trim()).ok()?;
    matches!(url.scheme(), "http" | "https").then(|| url.to_string())
}

/// Whether an address is that of a license, not the home page, of Creative Commons.
pub(super) fn is_creative_commons(address: &str) -> bool {
    let rest = address.trim_start_matches("https://").trim_start_matches("http://").trim_start_matches("www.");
    rest.strip_prefix("creativecommons.org/").is_some_and(|path| {
        ["licenses/", "publicdomain/"].iter().any(|kind| path.strip_prefix(kind).is_some_and(|name| !name.is_empty()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn license(html: &str) -> Option<String> {
        of_page(&Html::parse_document(html), &Url::parse("http://h.test/a/").unwrap())
    }

    #[test]
    fn the_best_statement_counts() {
        const BY: &str = "https://creativecommons.org/licenses/by/4.0/";
        let link = format!("<a href={BY}>CC BY</a>");
        assert_eq!(license(&link).as_deref(), Some(BY));
        assert_eq!(
            license(&format!("{link}<a rel='nofollow License' href=../mit>MIT</a>")).as_deref(),
            Some("http://h.test/mit")
        );
        let json = "<script type=application/ld+json>{\"license\": {\"@id\": \"http://l.test/\"}}</script>";
        assert_eq!(license(&format!("{link}{json}")).as_deref(), Some("http://l.test/"));
        assert_eq!(
            license(&format!("<meta name=DCTERMS.license content=' MIT  License '>{link}")).as_deref(),
            Some("MIT License")
        );
    }

    #[test]
    fn what_states_no_license_of_the_page_is_none() {
        for html in [
            "<a href=https://creativecommons.org/>Creative Commons</a>",
            "<a href=https://creativecommons.org/licenses/>Licenses</a>",
            "<a href=https://creativecommons.org/licenses/by/4.0/>a</a><a href=https://creativecommons.org/licenses/by-sa/4.0/>b</a>",
            "<a rel=license href=javascript:x>x</a>",
            "<meta name=license content=''>",
            "<script type=application/ld+json>{\"license\": 7}</script>",
        ] {
            assert_eq!(license(html), None, "{html}");
        }
    }
}
