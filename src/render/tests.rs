//! Whole pages, rendered.

use std::time::Duration;

use super::*;
use crate::record::{CanonicalUrl, Field, OutLink};

pub(crate) fn page(url: &str, content_type: &str, body: &str) -> Fetched {
    Fetched {
        url: Normaliser::default().absolute(url).unwrap(),
        status: 200,
        version: "HTTP/1.1",
        reason: "OK".into(),
        headers: vec![("content-type".into(), content_type.into())],
        request_headers: Vec::new(),
        body: body.into(),
        truncated: false,
        address: None,
        started_at: 0,
        elapsed: Duration::ZERO,
    }
}

fn html(body: &str) -> Rendered {
    Renderer::default().render(&page("http://www.h.test/a/b.html", "text/html; charset=utf-8", body))
}

fn counts(rendered: &Rendered, term: &str) -> Vec<(&'static str, u32)> {
    let Some(found) = rendered.terms.iter().find(|t| &*t.term == term) else { return Vec::new() };
    Field::ALL.iter().map(|f| (f.name(), found.counts.0[*f as usize])).filter(|(_, n)| *n > 0).collect()
}

fn urls(links: &[OutLink]) -> Vec<&str> {
    links.iter().map(|link| CanonicalUrl::as_str(&link.url)).collect()
}

/// Table IV of "An Extended TDW Scheme by Word Mapping Technique": the sentence, the synonyms of which it
/// speaks, and the stems. (Its stemmer makes "ag" of "ages"; and it has lost "billions".)
#[test]
fn words_are_mapped_as_in_the_papers_table() {
    let table = b"years, ages\nmassive, bulky\npages, side\nsearch, seek\nengine, motor\ndecreases, drop";
    let options = Options { synonyms: Some(Synonyms::read("", table).unwrap().into()), ..Options::default() };
    let renderer = Renderer::new(options, Normaliser::default());
    let sentence = "In the recent years there is a massive development in the web pages, there are billions of \
                    web pages existing in the search engine which decreases the efficiency and effectiveness \
                    of the search results of the search engine.";
    for _ in 0..2 {
        let rendered = renderer.render(&page("http://h.test/", "text/html", &format!("<html lang=en>{sentence}")));
        let terms: Vec<&str> = rendered.terms.iter().skip(1).map(|term| &*term.term).collect();
        let expected = "recent age bulki develop web side billion exist seek motor drop effici effect result";
        assert_eq!(terms, expected.split(' ').collect::<Vec<_>>());
        assert_eq!(counts(&rendered, "seek"), [("body", 3)]);
    }
    assert_ne!(renderer.signature(), Renderer::default().signature());
    assert!(!Renderer::default().signature().contains("synonyms"));
}

#[test]
fn each_occurrence_counts_in_its_innermost_field() {
    let rendered = html(
        "<html lang=en><title>zebra</title><meta name=Keywords content='zebra, lion'>\
         <meta name=description content=zebra><h1>zebra <a href=/x>zebra</a></h1>\
         <p>zebra ze<b>bra</b> <a href='http://h.test/y'>zebra</a> <a href='http://other.test/'>zebra</a>\
         <a name=z>zebra</a><script>zebra</script><style>zebra</style><!-- zebra --></p><svg><title>lion</title></svg>",
    );
    assert_eq!(
        counts(&rendered, "zebra"),
        [
            ("heading", 1),
            ("title", 1),
            ("anchor-same-site", 2),
            ("anchor-other-site", 1),
            ("keywords", 1),
            ("description", 1),
            ("body", 3)
        ]
    );
    assert_eq!(counts(&rendered, "lion"), [("keywords", 1), ("body", 1)]);
    assert_eq!(counts(&rendered, "html"), [("url", 1)]);
    assert_eq!(rendered.title.as_deref(), Some("zebra"));
}

#[test]
fn links_are_resolved_and_come_once() {
    let rendered = html(
        "<base href='/base/'><a href='one#top'>1</a><a href='one'>again</a><a rel='UGC NoFollow' href='two'>2</a>\
         <a href='http://www.h.test/a/b.html#self'>self</a><a href='mailto:a@b.test'>m</a><area href=three>\
         <iframe src=four></iframe><meta http-equiv=refresh content='0; url=five'><link rel=canonical href=six>\
         <link rel=next href=seven><a href='one' rel=nofollow>no</a>",
    );
    assert_eq!(
        urls(&rendered.links),
        [
            "http://www.h.test/base/one",
            "http://www.h.test/base/two",
            "http://www.h.test/base/three",
            "http://www.h.test/base/four",
            "http://www.h.test/base/five",
            "http://www.h.test/base/seven",
        ]
    );
    assert_eq!(
        rendered.links.iter().map(|l| l.nofollow).collect::<Vec<_>>(),
        [false, true, false, false, false, false]
    );
    assert_eq!(rendered.links_dropped, 1);
    assert_eq!(rendered.canonical.as_deref(), Some("http://www.h.test/base/six"));
}

#[test]
fn links_beyond_the_limit_are_counted() {
    let renderer = Renderer::new(Options { max_links: 3, ..Options::default() }, Normaliser::default());
    let body: String = (0..10).map(|n| format!("<a href='{n}'>x</a>")).collect();
    let rendered = renderer.render(&page("http://h.test/", "text/html", &body));
    assert_eq!((rendered.links.len(), rendered.links_over_limit), (3, 7));
}

#[test]
fn the_text_digest_sees_words_and_not_markup() {
    let one = html("<title>t</title><p>some   words\n here</p>");
    let two =
        html("<html><head><title>t</title></head><body><div><p>some words</p> <p>here</p></div><script>x</script>");
    let other = html("<title>t</title><p>some words there</p>");
    assert_eq!(one.text_digest, two.text_digest);
    assert_ne!(one.text_digest, other.text_digest);
    assert_eq!(html("<img src=x>").text_digest, None);
}

#[test]
fn a_page_that_is_nested_too_deep_is_read_as_text() {
    let deep = format!("<title>deep</title>{}word <a href='/next'>x</a>", "<div>".repeat(16_000));
    let rendered = html(&deep);
    assert!(rendered.too_deep);
    assert_eq!(counts(&rendered, "word"), [("body", 1)]);
    assert_eq!(urls(&rendered.links), ["http://www.h.test/next"]);
}

#[test]
fn robots_directives_come_from_header_and_document() {
    let mut fetched = page("http://h.test/", "text/html", "<meta name=robots content=nofollow>");
    fetched.headers.push(("X-Robots-Tag".into(), b"noindex".to_vec()));
    let robots = Renderer::default().render(&fetched).robots;
    assert!(robots.noindex && robots.nofollow && !robots.noarchive);
}

#[test]
fn other_media_types_have_their_own_reading() {
    let render = |kind: &str, body: &str| Renderer::default().render(&page("http://h.test/", kind, body));
    assert_eq!(counts(&render("text/plain", "<b>word</b>"), "word"), [("body", 1)]);
    assert_eq!(counts(&render("application/rss+xml", "<rss><item>word</item></rss>"), "word"), [("body", 1)]);
    assert!(render("image/png", "word").terms.is_empty());
    let picture: String = (0..2000_u32).filter_map(|n| char::from_u32(n % 9)).collect();
    assert!(render("text/html", &picture).terms.is_empty());
}

#[test]
fn the_declared_language_stems_and_an_undeclared_one_is_detected() {
    assert!(!counts(&html("<html lang=en><p>crawling</p>"), "crawl").is_empty());
    assert!(!counts(&html("<p>crawling</p>"), "crawling").is_empty());
    let german =
        "<p>Die Häuser der Stadt stehen seit vielen Jahren an der Straße, und niemand weiß, wer sie gebaut hat.</p>";
    let rendered = html(&german.repeat(4));
    assert_eq!(rendered.language.as_deref(), Some("de"));
    assert!(!counts(&rendered, "haus").is_empty());
}

#[test]
fn broken_documents_render_to_something() {
    for body in [
        "",
        "<",
        "<a href",
        "<a href='",
        "<!--",
        "<title>",
        "\0\0\0",
        "&#x110000;&#0;",
        "<base href='http://['><a href=x>y",
    ] {
        html(body);
    }
}
