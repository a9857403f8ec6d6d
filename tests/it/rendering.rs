//! The one-pass parser against the tree parser, on real pages.

use std::path::PathBuf;
use std::time::Duration;

use ndcrawl::model::{Fetched, Normalizer, PageContent};
use ndcrawl::pagetext::{Options, PageReader, Parser, WordCache};

use crate::corpora::sites;
use crate::needs::skip;

#[path = "../../benches/shared/html.rs"]
mod html;

/// The share of pages that may fall back to the tree parser.
const DETOURS: f64 = 0.02;
/// Bytes between two cuts of a page.
const STEP: usize = 97;

fn renderer(parser: Parser, word_cache: WordCache) -> PageReader {
    PageReader::new(Options { parser, word_cache, ..Options::default() }, Normalizer::default())
}

fn page(body: &[u8]) -> Fetched {
    Fetched {
        url: Normalizer::default().absolute("http://www.site.test/some/page.html").unwrap(),
        spelling: None,
        status: 200,
        version: "HTTP/1.1",
        reason: "OK".into(),
        headers: vec![("content-type".into(), b"text/html".to_vec())],
        request_headers: Vec::new(),
        body: body.to_vec(),
        truncated: false,
        broken_off: None,
        address: None,
        // 2026-01-01.
        started_at: Some(1_767_225_600_000),
        elapsed: Duration::ZERO,
    }
}

/// Returns the bodies of all pages, or why there are none.
fn bodies() -> Result<Vec<(PathBuf, Vec<u8>)>, String> {
    let folder = sites()?;
    Ok(html::html_files(&folder).into_iter().map(|file| (file.clone(), std::fs::read(file).unwrap())).collect())
}

#[track_caller]
fn assert_same(one: &PageContent, other: &PageContent, name: &str) {
    assert!(one.terms == other.terms, "terms of {name}");
    assert_eq!(one.text_digest, other.text_digest, "{name}");
    assert_eq!(
        (&one.title, &one.language, &one.canonical),
        (&other.title, &other.language, &other.canonical),
        "{name}"
    );
    assert!(one.links == other.links, "links of {name}");
    assert_eq!((one.links_dropped, one.links_over_limit), (other.links_dropped, other.links_over_limit), "{name}");
    assert_eq!(one.provenance, other.provenance, "{name}");
    assert_eq!((one.robots, one.too_deep), (other.robots, other.too_deep), "{name}");
}

#[test]
#[cfg_attr(not(can_fetch_sites), ignore = "needs shared/corpora beside the checkout, and apt-get")]
fn real_pages_render_the_same_by_both_parsers_nearly_all_in_one_pass() {
    let bodies = match bodies() {
        Ok(bodies) => bodies,
        Err(reason) => return skip(&reason),
    };
    let fast = renderer(Parser::Fast, WordCache::Kept);
    let dom = renderer(Parser::Dom, WordCache::Plain);
    let mut detours = 0;
    for (file, body) in &bodies {
        let page = page(body);
        detours += u32::from(fast.detour(&page).is_some());
        assert_same(&fast.render(&page), &dom.render(&page), &file.display().to_string());
    }
    println!("{} pages, {detours} by way of a tree", bodies.len());
    assert!(bodies.len() > 100);
    assert!(f64::from(detours) <= DETOURS * bodies.len() as f64);
}

#[test]
#[cfg_attr(not(can_fetch_sites), ignore = "needs shared/corpora beside the checkout, and apt-get")]
fn real_pages_cut_anywhere_render_the_same_by_both_parsers() {
    let bodies = match bodies() {
        Ok(bodies) => bodies,
        Err(reason) => return skip(&reason),
    };
    let fast = renderer(Parser::Fast, WordCache::Kept);
    let dom = renderer(Parser::Dom, WordCache::Kept);
    let mut short: Vec<&[u8]> = bodies.iter().map(|(_, body)| &**body).filter(|body| body.len() < 12_000).collect();
    short.truncate(12);
    for body in short {
        // One parser takes every offset, both take some.
        for end in 0..body.len() {
            let page = page(&body[..end]);
            let rendered = fast.render(&page);
            if end % STEP == 0 {
                assert_same(&rendered, &dom.render(&page), &format!("a page cut at {end}"));
            }
        }
    }
}
