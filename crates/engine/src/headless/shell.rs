//! Detects pages that are only the shell of a script application.

use std::sync::LazyLock;

use regex::bytes::Regex;

use ndcrawl_model::{Field, PageContent};

/// A page with fewer words counts as empty.
const FEW_WORDS: u32 = 25;

/// An empty element that a script will fill.
static MOUNT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let names = "root|app|__next|__nuxt|__layout|main-app|react-root|q-app|svelte|gatsby-focus-wrapper";
    Regex::new(&format!(
        r#"(?is)<(div|main|section|body)\b[^>]*\bid\s*=\s*["']?({names})(["'\s][^>]*)?>(\s|<!--.*?-->)*</|<app-root\b[^>]*>\s*</"#
    ))
    .ok()
});
/// A request to enable scripts.
static NOSCRIPT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?is)<noscript\b[^>]*>[^<]*(<[^/][^>]*>[^<]*)*\b(enable|activate|turn on|requires?|needs?)\b[^<]{0,80}\bjavascript\b").ok()
});

/// Whether a page needs its scripts: it has some, and little text, an empty mount point or a request to enable
/// scripts.
pub fn is_shell(body: &[u8], rendered: &PageContent) -> bool {
    if !has(body, b"<script") {
        return false;
    }
    let words: u32 = rendered.terms.iter().map(|term| term.counts.0[Field::Body as usize]).sum();
    let is_match = |regex: &LazyLock<Option<Regex>>| regex.as_ref().is_some_and(|regex| regex.is_match(body));
    words < FEW_WORDS || is_match(&MOUNT) || is_match(&NOSCRIPT)
}

fn has(body: &[u8], tag: &[u8]) -> bool {
    body.windows(tag.len()).any(|window| window.eq_ignore_ascii_case(tag))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndcrawl_model::{FieldCounts, TermCounts};

    fn with_words(count: u32) -> PageContent {
        let mut counts = FieldCounts::default();
        (0..count).for_each(|_| counts.add(Field::Body));
        PageContent { terms: vec![TermCounts { term: "word".into(), counts }], ..PageContent::default() }
    }

    #[test]
    fn a_page_that_scripts_draw_is_known_by_its_empty_place_or_its_few_words() {
        let script = "<script src=a.js></script>";
        for (html, words, expected) in [
            ("<div id=\"root\"></div>", 200, true),
            ("<div class=x id='app'> <!-- here --> </div>", 200, true),
            ("<div id=__next></div>", 200, true),
            ("<app-root></app-root>", 200, true),
            ("<noscript>You need to enable JavaScript to run this app.</noscript>", 200, true),
            ("<p>few words", 10, true),
            ("<div id=root><p>all is there</p></div>", 200, false),
            ("<noscript><img src=pixel></noscript><p>JavaScript is a language", 200, false),
            ("<p>many words", 200, false),
        ] {
            assert_eq!(is_shell(format!("{html}{script}").as_bytes(), &with_words(words)), expected, "{html}");
            assert!(!is_shell(html.as_bytes(), &with_words(words)), "without scripts there is nothing to draw: {html}");
        }
    }
}
