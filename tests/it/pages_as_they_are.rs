//! Pages as the web has them: XHTML, nesting without end, encodings that lie.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use crate::invariants::{Lines, lines, text};
use crate::program::Place;
use crate::web::{Answer, Content, Web};
use crate::words::{sentences, words_of};

/// A page and its media type, by its path.
struct Pages(Vec<(&'static str, &'static str, Vec<u8>)>);

impl Content for Pages {
    fn answer(&self, url: &str, _: usize) -> Answer {
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        if path.is_empty() {
            let links: String = self.0.iter().map(|(path, _, _)| format!("<a href='/{path}'>{path}</a> ")).collect();
            return Answer::html(format!("<title>index</title><p>{}{links}", prose("index")));
        }
        match self.0.iter().find(|(known, _, _)| *known == path) {
            Some((_, content_type, body)) => Answer {
                headers: vec![("content-type", (*content_type).to_owned())],
                body: body.clone(),
                ..Answer::html("")
            },
            None if path == "robots.txt" => Answer::error(404),
            None => Answer::html(format!("<title>{path}</title><p>{}", prose(path))),
        }
    }
}

fn prose(purpose: &str) -> String {
    sentences(&words_of(7, purpose, 80))
}

/// Crawls these pages. Returns the lines by path, and the paths that were asked for.
fn crawl(pages: Vec<(&'static str, &'static str, Vec<u8>)>) -> (Place, Lines, BTreeSet<String>) {
    let web = Web::start(1, |_| Arc::new(Pages(pages)));
    let place = Place::new();
    let origin = web.origins()[0].clone();
    place.crawl(&[format!("{origin}/")]).args(["--soft-404", "off"]).finish().expect_code(0);
    let path = |url: &str| url.strip_prefix(&format!("{origin}/")).unwrap_or(url).to_owned();
    let asked = web.requests().iter().map(|request| path(&request.url)).collect();
    let found = lines(&place.path("out")).into_iter().map(|(url, line)| (path(&url), line)).collect();
    (place, found, asked)
}

fn verdict(line: &Value) -> (&str, &str) {
    (text(line, "outcome"), text(line, "reason"))
}

#[test]
fn what_a_page_asks_of_robots_is_obeyed_however_it_is_written() {
    let page = |name: &str, robots: &str, before: &str| {
        let body = format!(
            "{before}<p>{}</p><a href=\"{name}-1\">1</a><a rel=\"nofollow\" href=\"{name}-2\">2</a>",
            prose(name)
        );
        format!(
            "<html xmlns=\"http://www.w3.org/1999/xhtml\"><head><title>{name}</title>\
             <meta name=\"robots\" content=\"{robots}\"/><base href=\"/moved/\"/></head><body>{body}</body></html>"
        )
        .into_bytes()
    };
    let deep = "<div>".repeat(700);
    let (_place, lines, asked) = crawl(vec![
        ("xhtml-hidden", "application/xhtml+xml", page("xhtml-hidden", "noindex", "")),
        ("xml-hidden", "application/xml", page("xml-hidden", "noindex", "")),
        ("text-hidden", "text/xml", page("text-hidden", "noindex", "")),
        ("deep-hidden", "text/html", page("deep-hidden", "noindex", &deep)),
        ("xml-shut", "application/xml; charset=utf-8", page("xml-shut", "nofollow", "")),
        ("deep-shut", "text/html", page("deep-shut", "nofollow", &deep)),
        ("xml-open", "application/xml", page("xml-open", "all", &deep)),
        ("deep-open", "text/html", page("deep-open", "all", &deep)),
    ]);
    for (path, line) in &lines {
        match path.split_once('-') {
            Some((_, "hidden")) => assert_eq!(verdict(line), ("excluded", "noindex"), "{path}"),
            Some((_, "shut" | "open")) => assert_eq!((verdict(line).0, text(line, "title")), ("stored", path.as_str())),
            _ => {}
        }
    }
    let linked: Vec<&str> =
        asked.iter().filter(|path| path.contains("-1") || path.contains("-2")).map(String::as_str).collect();
    let open = [
        "moved/deep-hidden-1",
        "moved/deep-open-1",
        "moved/text-hidden-1",
        "moved/xhtml-hidden-1",
        "moved/xml-hidden-1",
        "moved/xml-open-1",
    ];
    assert_eq!(linked, open);
}

#[test]
fn a_label_that_lies_costs_no_text_and_is_on_record() {
    let chinese = "网页去重是搜索引擎的一项基本工作,每天都有新的文章需要处理和比较。";
    let japanese = "検索エンジンは毎日新しいページを読みます。重複するページは保存しません。";
    let french = "Le café était fermé; la fenêtre, à moitié ouverte, donnait sur un marché déserté.";
    let russian = "Это обычный русский текст о погоде, о доме и о дороге в город.";
    let spanish = "El niño comió jamón; mañana volverá a la montaña con su compañero español.";
    let german = "Der Bär läuft über die Straße; später hört er schöne Grüße aus München.";
    let html = |title: &str| format!("<html><head><title>{title}</title></head><body><p>{title}</p></body></html>");
    let encoded = |encoding: &'static encoding_rs::Encoding, title: &str| encoding.encode(&html(title)).0.into_owned();
    let utf_16 = |title: &str| html(title).encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let utf_8 = "text/html; charset=utf-8";
    let cases = [
        ("gbk", utf_8, encoded(encoding_rs::GBK, chinese), chinese, "GBK", "UTF-8"),
        ("sjis", utf_8, encoded(encoding_rs::SHIFT_JIS, japanese), japanese, "Shift_JIS", "UTF-8"),
        ("latin", utf_8, encoded(encoding_rs::WINDOWS_1252, french), french, "windows-1252", "UTF-8"),
        (
            "koi8",
            "text/html; charset=iso-8859-1",
            encoded(encoding_rs::KOI8_R, russian),
            russian,
            "KOI8-U",
            "windows-1252",
        ),
        ("utf8", "text/html; charset=iso-8859-1", html(spanish).into_bytes(), spanish, "UTF-8", "windows-1252"),
        ("utf16", "text/html", utf_16(russian), russian, "UTF-16LE", ""),
        ("none", "text/html; charset=none", html(german).into_bytes(), german, "UTF-8", "none"),
    ];
    let pages = cases.iter().map(|(path, content_type, body, ..)| (*path, *content_type, body.clone())).collect();
    let (place, lines, _) = crawl(pages);
    place.run(["export", "out", "--format", "jsonl", "-o", "rows.jsonl"]).finish().expect_code(0);
    let exported = std::fs::read_to_string(place.path("rows.jsonl")).unwrap();
    let rows: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (path, _, _, title, used, declared) in &cases {
        let line = &lines[*path];
        assert_eq!((text(line, "title"), text(line, "charset")), (*title, *used), "{path}");
        assert_eq!(text(line, "charset_declared"), *declared, "{path}");
        let row = rows.iter().find(|row| text(row, "url").ends_with(&format!("/{path}"))).unwrap();
        assert_eq!((text(row, "text"), text(row, "charset_declared")), (*title, *declared), "{path}");
    }
}

#[test]
fn links_are_sent_in_the_encoding_of_their_page_and_those_for_readers_without_scripts_are_followed() {
    let page =
        |links: &str| format!("<html><head><title>t</title></head><body>{links}<p>{}</p></body></html>", prose(links));
    let russian = page("<a href='/find?q=дом#дом'>x</a><a href='/дом'>y</a>");
    let scripted =
        page("<noscript><a href='/behind'>x</a><meta http-equiv=refresh content='0;url=/warning'></noscript>");
    let (_place, lines, asked) = crawl(vec![
        ("ru", "text/html; charset=windows-1251", encoding_rs::WINDOWS_1251.encode(&russian).0.into_owned()),
        ("scripted", "text/html", scripted.into_bytes()),
    ]);
    for wanted in ["find?q=%E4%EE%EC", "%D0%B4%D0%BE%D0%BC", "behind"] {
        assert!(asked.contains(wanted), "{wanted}: {asked:?}");
    }
    assert!(!asked.contains("warning"));
    assert_eq!(verdict(&lines["scripted"]).0, "stored");
}
