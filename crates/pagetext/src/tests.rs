//! Whole pages, rendered.

use super::*;
use crate::model::{CanonicalUrl, Field, OutLink};

/// A page that owns its bytes.
pub(crate) struct TestPage {
    pub url: CanonicalUrl,
    pub headers: Vec<Header>,
    pub body: Vec<u8>,
    pub fetched_at: i64,
}

impl<'a> From<&'a TestPage> for PageSource<'a> {
    fn from(page: &'a TestPage) -> Self {
        let source = PageSource::new(&page.url, &page.body).with_headers(&page.headers);
        PageSource { fetched_at: Some(page.fetched_at), ..source }
    }
}

pub(crate) fn page(url: &str, content_type: &str, body: &str) -> TestPage {
    TestPage {
        url: Normalizer::default().absolute(url).unwrap(),
        headers: vec![("content-type".into(), content_type.into())],
        body: body.into(),
        // 2026-01-01.
        fetched_at: 1_767_225_600_000,
    }
}

fn html(body: &str) -> PageContent {
    PageReader::default().render(&page("http://www.h.test/a/b.html", "text/html; charset=utf-8", body))
}

fn counts(rendered: &PageContent, term: &str) -> Vec<(&'static str, u32)> {
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
    let renderer = PageReader::new(options, Normalizer::default());
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
    assert_ne!(renderer.signature(), PageReader::default().signature());
    assert!(!PageReader::default().signature().contains("synonyms"));
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
    let renderer = PageReader::new(Options { max_links: 3, ..Options::default() }, Normalizer::default());
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
fn the_heading_is_the_first_one_of_the_first_level_unless_it_is_a_link() {
    for (body, expected) in [
        (
            "<h2>No</h2><h1>The <a href=/w>wine</a> list<a href=#x>\u{b6}</a></h1><p>text<h1>Second</h1>",
            Some("The wine list"),
        ),
        ("<h1>\n<div>One<br>two</div></h1><a href=/x>three</a>", Some("One two")),
        ("<h1><a href=/>Shop</a></h1><h2>Chair</h2>", None),
        ("<h1></h1><a href=/>Start</a><h2>Chair</h2>", None),
        ("<p>Text", None),
    ] {
        assert_eq!(html(body).heading.as_deref(), expected, "{body}");
    }
}

#[test]
fn a_page_that_is_nested_too_deep_is_read_without_its_nesting() {
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
    let robots = PageReader::default().render(&fetched).robots;
    assert!(robots.noindex && robots.nofollow && !robots.noarchive);
}

#[test]
fn other_media_types_have_their_own_reading() {
    let render = |kind: &str, body: &str| PageReader::default().render(&page("http://h.test/", kind, body));
    assert_eq!(counts(&render("text/plain", "<b>word</b>"), "word"), [("body", 1)]);
    assert_eq!(counts(&render("application/rss+xml", "<rss><item>word</item></rss>"), "word"), [("body", 1)]);
    assert!(render("image/png", "word").terms.is_empty());
    let picture: String = (0..2000_u32).filter_map(|n| char::from_u32(n % 9)).collect();
    assert!(render("text/html", &picture).terms.is_empty());
}

#[test]
fn words_become_the_same_terms_on_pages_of_any_language() {
    for language in ["en", "de", "ja", "tr", ""] {
        let page = html(&format!("<html lang='{language}'><p>the crawling Häuser</p>"));
        let terms: Vec<&str> = page.terms.iter().map(|term| &*term.term).collect();
        assert!(terms.ends_with(&["crawl", "häuser"]), "{language}: {terms:?}");
    }
}

#[test]
fn if_asked_for_the_declared_language_stems_and_an_undeclared_one_is_detected() {
    let by_language =
        PageReader::new(Options { rules: Rules::OfLanguage, ..Options::default() }, Normalizer::default());
    let html = |body: &str| by_language.render(&page("http://h.test/", "text/html; charset=utf-8", body));
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

/// The terms of each sentence, and how many sentences there are.
fn sentences(content_type: &str, body: &str) -> (Vec<String>, u32) {
    let order = WantedOrder { sentence_count: true, sentences: true, ..WantedOrder::default() };
    let renderer = PageReader::new(Options { order, ..Options::default() }, Normalizer::default());
    let rendered = renderer.render(&page("http://www.h.test/a/b.html", content_type, body));
    let term = |term: &u32| rendered.terms[*term as usize].term.to_string();
    let told = |sentence: &Vec<u32>| sentence.iter().map(term).collect::<Vec<_>>().join(" ");
    (rendered.order.sentences.iter().map(told).collect(), rendered.order.sentence_count)
}

#[test]
fn sentences_end_at_marks_and_where_lines_of_the_page_end() {
    let html = "<html lang=en><title>Bees</title><meta name=keywords content='hidden. words'>\
        <h1>Honey</h1><p>Monks kept <a href=/b>bees</a>. They sold\nhoney 3.24 times! \"Sweet?\" (Yes.) Go<br>the\
        <ul><li>wax<li>mead</ul>";
    let expected = ["bee", "honey", "monk kept bee", "sold honey 3.24 time", "sweet", "yes", "go", "wax", "mead"];
    // "the" is a stop word: a sentence without terms counts, and is not listed.
    assert_eq!(sentences("text/html", html), (expected.map(str::to_owned).to_vec(), 10));
}

#[test]
fn sentences_of_chinese_are_pairs_of_characters() {
    let (found, count) = sentences("text/html; charset=utf-8", "<html lang=zh><p>服务中心餐饮部。网页！<p>去重");
    assert_eq!(found, ["服务 务中 中心 心餐 餐饮 饮部", "网页", "去重"]);
    assert_eq!(count, 3);
}

#[test]
fn paragraphs_of_plain_text_end_sentences_and_lines_do_not() {
    let (found, _) = sentences("text/plain; charset=utf-8", "alpha beta\ngamma\n \ndelta\r\n\r\nepsilon");
    assert_eq!(found, ["alpha beta gamma", "delta", "epsilon"]);
}

#[test]
fn the_order_of_terms_is_told_only_if_it_is_asked_for() {
    assert_eq!(html("<p>One. Two.").order, TermOrder::default());
    let order = WantedOrder { sentence_count: true, ..WantedOrder::default() };
    let renderer = PageReader::new(Options { order, ..Options::default() }, Normalizer::default());
    let counted = renderer.render(&page("http://h.test/", "text/html", "<p>One. Two."));
    assert_eq!((counted.order.sentence_count, counted.order.sentences.len()), (2, 0));
    assert_ne!(renderer.signature(), PageReader::default().signature());
}

/// Who and when of a page with this head and body, and where each was found.
fn claimed(head: &str, body: &str) -> String {
    let found = html(&format!("<!doctype html><head><title>t</title>{head}</head><body>{body}</body>")).provenance;
    let one = |value: Option<String>, from: Option<crate::model::Source>| match (value, from) {
        (Some(value), Some(from)) => format!("{value} ({})", from.name()),
        _ => "-".to_owned(),
    };
    format!("{}; {}", one(found.who, found.who_from), one(found.when, found.when_from))
}

#[test]
fn who_and_when_are_found_wherever_a_page_says_them() {
    for (head, body, expected) in [
        ("", "text", "-; -"),
        ("<meta name=author content=' Jane &amp;\n Roe '>", "", "Jane & Roe (meta); -"),
        ("<meta property=article:author content='https://social.test/j'>", "", "-; -"),
        ("<meta name=DC.creator content=Jane><meta name=author content=John>", "", "Jane (meta); -"),
        ("", "<a rel='nofollow author' href=/j>Jane <b>Roe</b></a> writes", "Jane Roe (link); -"),
        ("", "<a rel=author href=/j><img src=x></a> <a href=/k>Kim</a>", "-; -"),
        ("", "<footer>&copy; 2019 <a href=/>Jane Roe</a></footer>", "Jane Roe (copyright); -"),
        ("", "<footer>&copy; 2019 Roe Press</footer><a rel=author href=/j>Jane</a>", "Jane (link); -"),
        (
            "<script type=application/ld+json>{\"author\":{\"name\":\"Jane\"},\"datePublished\":\"2019-03-01\"}</script>",
            "",
            "Jane (json-ld); 2019-03-01 (json-ld)",
        ),
        (
            "<script type=application/ld+json>{\"author\":{\"name\":\"Jane\"},}</script>",
            "&copy; John",
            "John (copyright); -",
        ),
        ("<script>{\"author\":\"Jane\"}</script>", "", "-; -"),
        (
            "<script type=application/ld+json>{\"publisher\":\"Press\"}</script>",
            "<a rel=author href=/j>Jane</a>",
            "Jane (link); -",
        ),
        (
            "<meta property=article:published_time content=2019-03-01T10:00:00+01:00>",
            "",
            "-; 2019-03-01T09:00:00Z (meta)",
        ),
        (
            "<meta name=revised content='March 2, 2019'><meta name=dc.date content=2019-03-01>",
            "",
            "-; 2019-03-01 (meta)",
        ),
        (
            "<meta http-equiv=last-modified content='Fri, 01 Mar 2019 10:20:30 GMT'>",
            "<time datetime=2018-01-01>",
            "-; 2019-03-01T10:20:30Z (meta)",
        ),
        (
            "<meta name=date content='{{date}}'>",
            "<time datetime=PT2H></time><time datetime=2018-01-01>x</time>",
            "-; 2018-01-01 (time)",
        ),
        ("<meta itemprop=dateModified content=2020-01-01>", "<time datetime=2030-01-01>", "-; 2020-01-01 (meta)"),
    ] {
        assert_eq!(claimed(head, body), expected, "{head} {body}");
    }
}

#[test]
fn a_page_made_of_claims_that_count_for_nothing_is_read() {
    let many = |piece: &str| piece.repeat(100_000);
    assert_eq!(claimed("", &many("<a rel=author href=/j>1</a> ")), "-; -");
    assert_eq!(claimed("", &many("<a rel=author href=/j> </a>")), "-; -");
    assert_eq!(claimed("", &many("<time datetime=1>x</time>")), "-; -");
    assert_eq!(claimed(&many("<meta name=date content=1>"), ""), "-; -");
    assert_eq!(claimed("", &many("\u{a9}")), "-; -");
    assert_eq!(claimed("", &many("\u{a9} 2019 x ")), "x (copyright); -");
}

#[test]
fn json_ld_beyond_the_limit_is_passed_over() {
    let long = format!("{{\"x\":\"{}\",\"author\":\"Jane\"}}", "x".repeat(64 * 1024));
    let script = |text: &str| format!("<script type=application/ld+json>{text}</script>");
    assert_eq!(claimed(&script(&long), ""), "-; -");
    assert_eq!(claimed(&(script(&long) + &script("{\"author\":\"Jane\"}")), ""), "Jane (json-ld); -");
}

#[test]
fn where_why_and_how_are_known_of_every_page() {
    let mut fetched =
        page("http://www.h.test/", "Text/HTML; charset=utf-8", "<h2><a href=/>Site</a></h2><h2>Some\n page</h2>");
    fetched.headers.push(("Last-Modified".into(), b"Fri, 01 Mar 2019 10:20:30 GMT".to_vec()));
    let json = serde_json::to_string(&PageReader::default().render(&fetched).provenance).unwrap();
    assert_eq!(
        json,
        r#"{"when":"2019-03-01T10:20:30Z","when_from":"header","where":"www.h.test","why":"Some page","why_from":"heading","how":"text/html","markup":"html"}"#
    );
    fetched.body = b"<title>The title</title><h1>Some page</h1>".to_vec();
    assert_eq!(PageReader::default().render(&fetched).provenance.why.as_deref(), Some("The title"));
    fetched.headers = vec![("content-type".into(), b"image/png".to_vec()), ("last-modified".into(), b"\xff".to_vec())];
    let json = serde_json::to_string(&PageReader::default().render(&fetched).provenance).unwrap();
    assert_eq!(json, r#"{"where":"www.h.test","how":"image/png"}"#);
    let feed = PageReader::default().render(&page("http://h.test/", "application/rss+xml", "<rss>x</rss>")).provenance;
    assert_eq!((feed.markup, feed.how.as_deref()), (None, Some("application/rss+xml")));
}

#[test]
fn the_document_type_names_the_markup() {
    for (start, expected) in [
        ("<!DOCTYPE html>", "html5"),
        ("\u{feff} <!-- x --> <?xml version='1.0'?><!doctype HTML >", "html5"),
        ("<!DOCTYPE html SYSTEM 'about:legacy-compat'>", "html5"),
        ("<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 4.01 Transitional//EN\">", "html4"),
        ("<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Strict//EN\" \"x\">", "xhtml"),
        ("<!DOCTYPE é>", "html"),
        ("<!DOCTYPE html", "html"),
        ("<!--", "html"),
        ("<p>x</p><!DOCTYPE html>", "html"),
    ] {
        assert_eq!(html(start).provenance.markup.map(crate::model::Markup::name), Some(expected), "{start}");
    }
}
