//! A page says the same however it is read: as HTML, as XML, or nested too deep.

use super::tests::{TestPage, page};
use super::*;

const HEAD: &str = "<title>A &#38; B</title><meta name=\"robots\" content=\"noindex, noarchive\"/>\
    <meta name=\"description\" content=\"About &#233;tudes\"/><meta name=\"author\" content=\"Jane Roe\"/>\
    <base href=\"/moved/\"/><link rel=\"canonical\" href=\"c\"/>\
    <meta http-equiv=\"refresh\" content=\"30; url=later\"/>";
const BODY: &str = "<h1>One <a href=\"a1?x=1&#38;y=2\">link</a></h1><p title=\"a > b\">Words &eacute; and <b>mo</b>re.</p>\
    <a rel=\"nofollow\" href=\"a2\">two</a><a data-href=\"wrong\" href=\"a3\">three</a><nav>aside</nav>\
    <script>var a = '<a href=\"s\">';</script><video>no</video><noscript><a href=\"a4\">four</a></noscript>";

fn document(before: &str) -> String {
    format!(
        "<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"de\"><head>{HEAD}</head><body>{before}{BODY}</body></html>"
    )
}

fn rendered(media_type: &str, body: &str) -> (PageContent, String) {
    let page = page("http://www.h.test/a/b.html", media_type, body);
    let reader = PageReader::default();
    (reader.render(&page), reader.reading(&page).map(|reading| reading.text).unwrap_or_default())
}

#[track_caller]
fn assert_same(one: &(PageContent, String), other: &(PageContent, String)) {
    let ((one, one_text), (other, other_text)) = (one, other);
    assert_eq!(one_text, other_text);
    assert_eq!(one.terms, other.terms);
    assert_eq!(one.text_digest, other.text_digest);
    assert_eq!(
        (&one.title, &one.language, &one.canonical, one.robots),
        (&other.title, &other.language, &other.canonical, other.robots)
    );
    assert_eq!((&one.links, one.links_dropped), (&other.links, other.links_dropped));
    assert_eq!((&one.provenance.who, &one.provenance.why), (&other.provenance.who, &other.provenance.why));
}

fn links(content: &PageContent) -> Vec<String> {
    let path = |link: &OutLink| link.url.as_str().trim_start_matches("http://www.h.test").to_owned();
    content.links.iter().map(|link| path(link) + if link.nofollow { " nofollow" } else { "" }).collect()
}

const XML_TYPES: [&str; 4] = ["application/xhtml+xml", "application/xml", "text/xml", "application/vnd.page+xml"];

#[test]
fn xhtml_says_the_same_under_every_media_type() {
    let html = rendered("text/html; charset=utf-8", &document(""));
    assert_eq!(links(&html.0), ["/moved/later", "/moved/a1?x=1&y=2", "/moved/a2 nofollow", "/moved/a3", "/moved/a4"]);
    assert!(html.0.robots.noindex && html.0.robots.noarchive);
    assert_eq!(html.0.title.as_deref(), Some("A & B"));
    for media_type in XML_TYPES {
        let xml = rendered(&format!("{media_type}; charset=utf-8"), &document(""));
        assert_same(&html, &xml);
        assert_eq!(xml.0.provenance.markup, Some(Markup::Xhtml));
    }
}

#[test]
fn only_the_depth_is_given_up_beyond_the_limit() {
    let flat = rendered("text/html; charset=utf-8", &document(""));
    for (opened, count) in [("<font color='#%'>", 600), ("<div>", 513), ("<span><ul><li>", 400), ("<b><p>", 2000)] {
        let before: String = (0..count).map(|number| opened.replace('%', &number.to_string())).collect();
        let deep = rendered("text/html; charset=utf-8", &document(&before));
        assert!(deep.0.too_deep && !flat.0.too_deep, "{opened}");
        assert_same(&flat, &deep);
    }
    let nested = "<div>".repeat(3000);
    for media_type in XML_TYPES {
        let deep = rendered(&format!("{media_type}; charset=utf-8"), &document(&nested));
        assert!(deep.0.too_deep);
        assert_same(&flat, &deep);
    }
}

#[test]
fn what_is_nested_too_deep_ends_where_it_ends() {
    let html = format!(
        "{}<nav>menu <svg><title>t</title></svg></nav><h2>heading <a href=x>link</a></h2><object>no</object>valley{}<p>flat",
        "<div>".repeat(600),
        "</div>".repeat(600)
    );
    let (content, text) = rendered("text/html", &html);
    assert!(content.too_deep);
    assert_eq!(text, "heading link\nvalley\nflat");
    let field = |term: &str| content.terms.iter().find(|found| &*found.term == term).map(|found| found.counts);
    let body = field("flat").unwrap();
    assert_ne!(field("head"), Some(body), "a heading counts as one");
    assert_ne!(field("link"), Some(body));
    assert_eq!(field("valley"), Some(body));
}

#[test]
fn a_deep_page_whose_text_is_out_of_order_loses_nothing() {
    let deep = "<div>".repeat(600);
    let table = format!("<table>loose <a href=x>one</a><tr><td>cell</table>{deep}deep &mp\0; end");
    let (content, text) = rendered("text/html", &table);
    assert!(content.too_deep);
    assert_eq!(links(&content), ["/a/x"]);
    for word in ["loose", "one", "cell", "deep", "end"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    let frames = format!("<frameset><frame src=f1><frame src=f2></frameset>{deep}x");
    assert_eq!(links(&rendered("text/html", &frames).0), ["/a/f1", "/a/f2"]);
}

#[test]
fn xml_is_read_by_the_rules_of_xml() {
    let xhtml = |body: &str| {
        format!(
            "<?xml version='1.0'?><!DOCTYPE html [<!ENTITY x 'y>'> ]><html xmlns='http://www.w3.org/1999/xhtml'>{body}</html>"
        )
    };
    for (body, text, expected) in [
        ("<script src='x'/><p>shown</p>", "shown", &[][..]),
        ("<title/><p>shown</p><div/><a href='x'/>more", "shown\nmore", &["/a/x"]),
        ("<p><![CDATA[a < b <a href='no'>]]> c</p>", "a < b <a href='no'> c", &[]),
        ("<?php echo \"<a href='no'>\" ?><p>x</p>", "x", &[]),
        ("<!-- a --!> <a href='no'>x</a> -->y", "y", &[]),
        ("<A HREF='no'>x</A> <a HREF='no'>y</a>", "x\ny", &[]),
        ("<script>//<![CDATA[\nif (a<b) x('</script>');//]]></script><a href='x'>y</a>", "y", &["/a/x"]),
        ("<script>if (a<b && c>'d) it's</script><p>shown</p>", "shown", &[]),
        ("<p>one<br><img src='i'><a href='x'>two</a></p>three", "one\ntwo\nthree", &["/a/x"]),
        (
            "<div xml:base='/b/'><a href='x'>1</a><p xml:base='c/'><a href='x'>2</a></p><a href='y'>3</a></div><a href='x'>4</a>",
            "1\n2\n3\n4",
            &["/b/x", "/b/c/x", "/b/y", "/a/x"],
        ),
        ("<svg xmlns='http://www.w3.org/2000/svg'><title>t</title><text>drawn</text></svg>", "t\ndrawn", &[]),
        ("<x:p xmlns:x='urn:x'>t<x:a href='no'>u</x:a></x:p>", "t\nu", &[]),
        ("<h:a xmlns:h='http://www.w3.org/1999/xhtml' href='x'>y</h:a>", "y", &["/a/x"]),
    ] {
        let (content, found) = rendered("application/xhtml+xml", &xhtml(body));
        assert_eq!(
            (found.as_str(), links(&content)),
            (text, expected.iter().map(|&path| path.to_owned()).collect()),
            "{body}"
        );
    }
}

#[test]
fn a_document_names_its_language_and_encoding_as_xml_does() {
    let (content, _) = rendered("text/xml", "<html lang='en' xml:lang='de-AT'><body>x</body></html>");
    assert_eq!(content.language.as_deref(), Some("de"));
    let mut latin = page("http://h.test/", "application/xml", "");
    latin.body = b"<?xml version='1.0' encoding='iso-8859-1'?><html><title>caf\xe9</title></html>".to_vec();
    let content = PageReader::default().render(&latin);
    assert_eq!((content.title.as_deref(), content.charset), (Some("caf\u{e9}"), "windows-1252"));
    for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
        let source = "<?xml version='1.0' encoding='UTF-16'?><html><title>\u{410}\u{411}</title></html>";
        latin.body = source.encode_utf16().flat_map(bytes).collect();
        assert_eq!(PageReader::default().render(&latin).title.as_deref(), Some("\u{410}\u{411}"));
    }
}

#[test]
fn xml_that_is_no_page_keeps_its_text_and_its_links() {
    let (content, text) = rendered(
        "application/xml",
        "<doc><title>T</title><object>shown</object><a href='x'>y</a><meta name='robots' content='noindex'/></doc>",
    );
    assert_eq!((content.title.as_deref(), text.as_str()), (Some("T"), "shown\ny"));
    assert_eq!(links(&content), ["/a/x"]);
    assert!(!content.robots.noindex, "it is no page that says so");
    assert_eq!(content.provenance.markup, None);
}

#[test]
fn html_that_is_sent_as_xml_is_read() {
    let (content, text) = rendered("text/xml", "<HTML><HEAD><TITLE>T</TITLE></HEAD><BODY><A HREF=x>y</A><BR>z");
    assert_eq!((content.title.as_deref(), text.as_str()), (Some("T"), "y\nz"));
    assert_eq!(links(&content), ["/a/x"]);
    let (content, text) =
        rendered("application/xhtml+xml", "<!doctype html><html><body><p>one<p>two<hr><a href=x>three");
    assert_eq!((text.as_str(), links(&content)), ("one\ntwo\nthree", vec!["/a/x".to_owned()]));
}

#[test]
fn hostile_xml_takes_time_and_memory_in_proportion() {
    for piece in [
        "<a>",
        "<?a>",
        "<!--",
        "<!-- --!>",
        "<![CDATA[",
        "<!DOCTYPE [",
        "<script><![CDATA[</script>",
        "</a>",
        "<a xmlns:b='c'>",
        "<p xml:base='d'>",
        "<x:y/>",
        "<a b='",
        "<title>",
        "&a;",
        "<script>",
    ] {
        let source = format!("<html>{}<p>end", piece.repeat(200_000));
        rendered("application/xml", &source);
    }
}

/// The links of a page whose `noscript` holds this.
fn behind_scripts(content: &str, media_type: &str, scripts_ran: bool) -> Vec<String> {
    let html = format!("<html><body><noscript>{content}</noscript><p>text</p></body></html>");
    let TestPage { url, headers, body, .. } = page("http://www.h.test/a/b.html", media_type, &html);
    let source = PageSource { scripts_ran, ..PageSource::new(&url, &body).with_headers(&headers) };
    let reading = PageReader::default().reading(source).unwrap();
    let content_read = PageReader::default().render(source);
    assert_eq!((reading.text.as_str(), &content_read.refresh), ("text", &None), "{content}");
    links(&content_read)
}

#[test]
fn links_in_noscript_count_where_no_script_has_run_and_nothing_else_does() {
    for media_type in ["text/html", "application/xhtml+xml"] {
        for (content, expected) in [
            ("<a href='x'><img src='i'/></a> <area href='y'/>", &["/a/x", "/a/y"][..]),
            ("<a rel='nofollow' href='x'>more</a>", &["/a/x nofollow"]),
            ("<iframe src='x'></iframe>", &["/a/x"]),
            ("<meta http-equiv='refresh' content='0; url=js'/>", &[]),
            ("<!-- <a href='x'>y</a> --><style>a{}</style>", &[]),
        ] {
            assert_eq!(behind_scripts(content, media_type, false), expected, "{content}");
            assert!(behind_scripts(content, media_type, true).is_empty(), "{content}");
        }
    }
}

#[test]
fn directives_in_noscript_count_where_no_script_has_run() {
    let html = "<head><noscript><meta name=robots content='noindex, nofollow'></noscript></head><p>text</p>";
    let TestPage { url, headers, body, .. } = page("http://www.h.test/a/b.html", "text/html", html);
    for scripts_ran in [false, true] {
        let source = PageSource { scripts_ran, ..PageSource::new(&url, &body).with_headers(&headers) };
        let robots = PageReader::default().render(source).robots;
        assert_eq!((robots.noindex, robots.nofollow), (!scripts_ran, !scripts_ran));
    }
}

#[test]
fn label_and_encoding_are_both_told() {
    let mut gbk = page("http://h.test/", "text/html; charset=utf-8", "");
    let text = "\u{7f51}\u{9875}\u{53bb}\u{91cd}\u{662f}\u{641c}\u{7d22}\u{5f15}\u{64ce}\u{7684}\u{5de5}\u{4f5c}";
    gbk.body = encoding_rs::GBK.encode(&format!("<title>{text}</title><p>{text}")).0.into_owned();
    let content = PageReader::default().render(&gbk);
    assert_eq!((content.title.as_deref(), content.charset), (Some(text), "GBK"));
    assert_eq!(content.charset_declared.as_deref(), Some("UTF-8"));
}
