//! The page of the dashboard: it has no figures. Its script asks for them.

use crate::crawl::WaitReason;
use crate::html_writer::{escaped, live_page};

/// The path of the script.
pub(super) const SCRIPT_PATH: &str = "/live.js";

/// The script, a file of its own: the content policy then allows only scripts of this server, and no hash must be kept
/// in step.
pub(super) const SCRIPT: &str = include_str!("live.js");

const BODY: &str = include_str!("page.html");

/// Renders the page. `buttons` is markup.
pub(super) fn page(buttons: &str) -> String {
    let body = BODY.replace("{buttons}", buttons).replace("{meanings}", &meanings());
    live_page("ndcrawl", SCRIPT_PATH, &body)
}

fn meanings() -> String {
    let entry = |why: WaitReason| format!("<dt>{}</dt><dd>{}</dd>", why.name(), escaped(why.explain()));
    WaitReason::ALL.map(entry).concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_finds_what_it_fills() {
        let page = page("<span id=\"note\"></span>");
        let ids: Vec<&str> = SCRIPT.split("find(\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let filled = SCRIPT.split("fill(\"").skip(1).filter_map(|rest| rest.split('"').next());
        for id in ids.iter().copied().chain(filled) {
            assert!(page.contains(&format!("id=\"{id}\"")), "{id}");
        }
        assert!(page.contains("<dt>retry-after</dt>") && !page.contains("{meanings}"));
    }

    #[test]
    fn what_comes_from_elsewhere_cannot_be_markup() {
        for way in ["innerHTML", "outerHTML", "insertAdjacentHTML", "DOMParser", "document.write", "eval("] {
            assert!(!SCRIPT.contains(way), "{way}");
        }
    }
}
