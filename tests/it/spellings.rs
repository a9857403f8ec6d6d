//! URLs whose server insists on another spelling, through all commands; and seed files of other programs.

use std::fs;
use std::sync::Arc;

use axum::http::HeaderMap;
use serde_json::Value;

use crate::invariants::{assert_folder_is_sound, lines, outcome, text};
use crate::program::Place;
use crate::web::{Answer, Content, Web};
use crate::words::{sentences, words_of};

/// A shop without cookies: each page redirects to an address with the number of the visit, of which each has another.
struct Shop;

const PAGES: [&str; 3] = ["/shop", "/shop/hats", "/shop/shoes"];

impl Content for Shop {
    fn answer(&self, _: &str, _: usize) -> Answer {
        Answer::error(500)
    }

    fn answer_to(&self, url: &str, before: usize, headers: &HeaderMap) -> Answer {
        let path = &url[url.match_indices('/').nth(2).unwrap().0..];
        let (page, visit) = path.split_once(";jsessionid=").unwrap_or((path, ""));
        if !PAGES.contains(&page) {
            return Answer::error(404);
        }
        match visit {
            // The shoes need no visit, on the second day.
            "" if page != "/shop/shoes" || before == 0 => Answer::redirect(&format!("{page};jsessionid={before}")),
            _ => {
                let links: String =
                    PAGES.map(|page| format!("<a href='{page};jsessionid={visit}'>{page}</a> ")).concat();
                let words = sentences(&words_of(3, page, 150));
                let mut answer = Answer::html(format!("<title>{page}</title><p>{words}</p>{links}"));
                // A tag that means nothing at another address.
                answer.headers.push(("etag", format!("\"{visit}\"")));
                if headers.get("if-none-match").is_some() {
                    return Answer::error(412);
                }
                // Without the number the page is the same.
                answer.body =
                    String::from_utf8(answer.body).unwrap().replace(&format!(";jsessionid={visit}"), "").into();
                answer
            }
        }
    }
}

fn web() -> Web {
    Web::start(1, |_| Arc::new(Shop))
}

fn exported(place: &Place) -> Vec<Value> {
    let run = place.run(["export", "out", "--format", "jsonl", "-o", "-"]).finish().expect_code(0);
    run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn assert_all_read_it(place: &Place, origin: &str, visit: usize) {
    assert_folder_is_sound(place);
    let rows = exported(place);
    assert_eq!(rows.len(), PAGES.len());
    for row in &rows {
        let page = text(row, "url").strip_prefix(origin).unwrap();
        let expected = (visit == 0 || page != "/shop/shoes").then(|| format!("{origin}{page};jsessionid={visit}"));
        assert_eq!(row["final_url"].as_str(), expected.as_deref(), "{row}");
        assert!(text(row, "text").len() > 100, "{row}");
    }
    for (format, name) in [("warc", "all.warc.gz"), ("cdxj", "all.cdxj")] {
        // Nothing is there the first time.
        let _ = fs::remove_file(place.path(name));
        place.run(["export", "out", "--format", format, "-o", name]).finish().expect_code(0);
    }
    let index = fs::read_to_string(place.path("all.cdxj")).unwrap();
    assert_eq!(index.lines().count(), PAGES.len(), "{index}");
}

#[test]
fn a_url_keeps_its_page_through_export_recrawl_and_reindex() {
    let (web, place) = (web(), Place::new());
    let origin = web.origins()[0].clone();
    let crawl = || place.crawl(&[format!("{origin}/shop")]).args(["--soft-404", "off"]);
    crawl().finish().expect_code(0);
    assert_all_read_it(&place, &origin, 0);
    let index = fs::read_to_string(place.path("all.cdxj")).unwrap();
    assert!(index.contains("/shop/hats;jsessionid=0\""), "the archive names the address that was requested: {index}");
    let explained = place.run(["explain", "out", &format!("{origin}/shop")]).finish().expect_code(0).stdout;
    assert!(explained.contains("/shop;jsessionid=0"), "{explained}");

    crawl().args(["--recrawl"]).finish().expect_code(0);
    let second = lines(&place.path("out"));
    assert!(second.values().all(|line| outcome(line) == "not-modified"), "{second:?}");
    assert_all_read_it(&place, &origin, 1);

    fs::remove_dir_all(place.path("out/store")).unwrap();
    place.run(["reindex", "out"]).finish().expect_code(0);
    assert_all_read_it(&place, &origin, 1);
}

#[test]
fn the_engine_spider_gets_the_page_of_the_servers_spelling() {
    let (web, place) = (web(), Place::new());
    let run = place.crawl(&[format!("{}/shop", web.origins()[0])]).args(["--engine", "spider", "--soft-404", "off"]);
    run.finish().expect_code(0);
    let found = lines(&place.path("out"));
    assert_eq!(found.len(), PAGES.len(), "{found:?}");
    assert!(found.values().all(|line| outcome(line) == "stored"), "{found:?}");
}

#[test]
fn a_redirect_record_and_the_page_behind_it_are_one_document() {
    let place = Place::new();
    let record = |url: &str, http: &str| {
        format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-01-02T03:04:05Z\r\n\
             Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{http}\r\n\r\n",
            http.len()
        )
    };
    let words = sentences(&words_of(3, "shop", 150));
    let page = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>{words}</p>");
    let redirect = "HTTP/1.1 302 Found\r\nLocation: /shop;jsessionid=1\r\n\r\n";
    let elsewhere = "HTTP/1.1 302 Found\r\nLocation: /other\r\n\r\n";
    place.write(
        "in.warc",
        &[
            record("http://a.test/shop", redirect),
            record("http://a.test/shop;jsessionid=1", &page),
            record("http://a.test/moved", elsewhere),
        ]
        .concat(),
    );
    place.run(["dedup", "in.warc", "-o", "out"]).finish().expect_code(0);
    let found = lines(&place.path("out"));
    let shop = &found["http://a.test/shop"];
    assert_eq!((outcome(shop), text(shop, "final_url")), ("stored", "http://a.test/shop;jsessionid=1"));
    assert_eq!(outcome(&found["http://a.test/moved"]), "redirected");

    // The page never follows, or stands before: no line is missing, and none comes twice.
    place.write(
        "alone.warc",
        &[
            record("http://a.test/before;jsessionid=1", &page),
            record("http://a.test/before", "HTTP/1.1 302 Found\r\nLocation: /before;jsessionid=1\r\n\r\n"),
            record("http://a.test/shop", redirect),
            record("http://a.test/shop", redirect),
        ]
        .concat(),
    );
    for rule in ["first", "last", "keep"] {
        let out = format!("alone-{rule}");
        for known in [0, 2] {
            let told = place.run(["dedup", "alone.warc", "--json", "--same-url", rule, "-o", &out]).finish();
            let summary: Value = serde_json::from_str(&told.expect_code(0).stdout).unwrap();
            assert_eq!((&summary["answers"], &summary["known"]), (&2.into(), &known.into()), "{rule}: {summary}");
            assert_eq!(summary["passed"], 2, "{rule}: {summary}");
            let found = lines(&place.path(&out));
            assert_eq!(found.len(), 2, "{rule}: {found:?}");
            let shop = &found["http://a.test/shop"];
            assert_eq!(outcome(shop), "redirected", "{rule}");
            assert_eq!(outcome(&found["http://a.test/before"]), "stored", "{rule}");
        }
    }
}

/// Any page.
struct Anything;

impl Content for Anything {
    fn answer(&self, url: &str, _: usize) -> Answer {
        if url.ends_with("/robots.txt") {
            return Answer::error(404);
        }
        Answer::html(format!("<title>{url}</title><p>{}", sentences(&words_of(5, url, 120))))
    }
}

#[test]
fn a_seed_file_of_another_program_names_no_other_url() {
    let web = Web::start(1, |_| Arc::new(Anything));
    let origin = &web.origins()[0];
    let place = Place::new();
    let text = format!("\u{feff}{origin}/a\tscore=1\r{origin}/b its page\r\"{origin}/c\",\"Label, 1\"\r");
    let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    fs::write(place.path("seeds.txt"), bytes).unwrap();
    let flags = ["--soft-404", "off", "--depth", "0"];
    for (seeds, name) in [("seeds.txt", "seeds.txt"), ("-", "standard input")] {
        let out = format!("out-{}", seeds.len());
        let run = place.run(["--seeds", seeds, "-o", &out, "--allow-private", "--delay", "0", "--ip-delay", "0"]);
        let told = run.args(flags).reading(&place.path("seeds.txt")).finish().expect_code(0);
        assert!(told.stderr.contains(&format!("{name}:2: ")), "{}", told.stderr);
        let found = lines(&place.path(&out));
        assert_eq!(found.keys().collect::<Vec<_>>(), [&format!("{origin}/a"), &format!("{origin}/c")]);
    }
}
