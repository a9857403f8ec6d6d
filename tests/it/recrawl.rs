//! Recrawls: servers need not send unchanged pages, and a page is never its own duplicate.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use axum::http::HeaderMap;

use crate::invariants::{Lines, assert_folder_is_sound, lines, outcome, text};
use crate::program::{Place, Run};
use crate::web::{Answer, Content, Web};
use crate::words::{sentences, words_of};

/// A site that changes from one crawl to the next.
#[derive(Default)]
struct Changing {
    /// The number of changes.
    version: AtomicU32,
    /// The number of bodies sent.
    bodies: AtomicUsize,
    delay: Duration,
}

const PAGES: [&str; 9] =
    ["/etag", "/date", "/plain", "/changed", "/touched", "/copy", "/gone", "/like-old", "/unasked"];

impl Changing {
    /// The text of a page in a version of the site; `None` if it does not exist.
    fn body(&self, path: &str, version: u32) -> Option<String> {
        let body = match path {
            "/" => PAGES.iter().map(|page| format!("<a href='{page}'>{page}</a> ")).collect(),
            "/changed" => article(&format!("changed {version}"), ""),
            "/touched" => article("touched", &format!("Seen {version} times.")),
            "/copy" => article("etag", ""),
            "/robots.txt" => return None,
            "/gone" if version > 0 => return None,
            "/like-old" => article(if version == 0 { "like-old" } else { "changed 0" }, "A few words more."),
            page => article(page.trim_start_matches('/'), ""),
        };
        Some(format!("<!DOCTYPE html><title>{path}</title><body>{body}"))
    }
}

fn article(seed: &str, more: &str) -> String {
    format!("<p>{}{more}</p>", sentences(&words_of(7, seed, 150)))
}

impl Content for Changing {
    fn answer(&self, _: &str, _: usize) -> Answer {
        Answer::error(500)
    }

    fn answer_to(&self, url: &str, _: usize, headers: &HeaderMap) -> Answer {
        let path = &path(url)[..];
        let version = self.version.load(Ordering::SeqCst);
        let Some(body) = self.body(path, version) else { return Answer::error(404) };
        let is_sent = |name: &str, value: &str| headers.get(name).is_some_and(|sent| sent == value);
        let mut answer = Answer { delay: self.delay, ..Answer::html(body.clone()) };
        // The start page and pages without validators are sent each time.
        match path {
            "/" | "/plain" => {}
            "/date" => {
                let date = "Sun, 01 Nov 2026 08:00:00 GMT";
                answer.headers.push(("last-modified", date.to_owned()));
                if is_sent("if-modified-since", date) {
                    return Answer { status: 304, delay: self.delay, ..Answer::default() };
                }
            }
            "/unasked" if version == 2 => return Answer { status: 304, ..Answer::default() },
            "/unasked" => {}
            _ => {
                let tag = format!("\"{:x}\"", xxhash_rust::xxh3::xxh3_64(body.as_bytes()));
                answer.headers.push(("etag", tag.clone()));
                if is_sent("if-none-match", &tag) {
                    return Answer { status: 304, delay: self.delay, ..Answer::default() };
                }
            }
        }
        self.bodies.fetch_add(1, Ordering::SeqCst);
        answer
    }
}

fn web(delay: Duration) -> (Web, Arc<Changing>) {
    let site = Arc::new(Changing { delay, ..Changing::default() });
    (Web::start(1, |_| site.clone()), site)
}

fn crawl(place: &Place, web: &Web) -> Run {
    place.crawl(&[format!("{}/", web.origins()[0])]).args(["-c", "1", "--soft-404", "off"])
}

fn again(place: &Place, web: &Web) -> Run {
    crawl(place, web).args(["--recrawl"])
}

/// Outcomes by path.
fn outcomes(lines: &Lines) -> BTreeMap<&str, &str> {
    lines.iter().map(|(url, line)| (&url[url.rfind('/').unwrap()..], outcome(line))).collect()
}

fn line<'a>(lines: &'a Lines, path: &str) -> &'a serde_json::Value {
    lines.iter().find(|(url, _)| url.ends_with(path)).unwrap().1
}

/// The exported text of stored pages by path.
fn exported(place: &Place) -> BTreeMap<String, String> {
    let run = place.run(["export", "out", "--format", "jsonl", "-o", "-"]).finish().expect_code(0);
    let rows = run.stdout.lines().map(|row| serde_json::from_str::<serde_json::Value>(row).unwrap());
    rows.map(|row| (path(text(&row, "url")), text(&row, "text").to_owned())).collect()
}

fn path(url: &str) -> String {
    url[url.rfind('/').unwrap()..].to_owned()
}

#[test]
fn unchanged_pages_are_not_sent_again_and_changed_ones_are_judged_again() {
    let (web, site) = web(Duration::ZERO);
    let place = Place::new();
    crawl(&place, &web).finish().expect_code(0);
    let first = lines(&place.path("out"));
    let found = outcomes(&first);
    for page in PAGES.into_iter().filter(|page| *page != "/copy") {
        assert_eq!(found[page], "stored", "{page}");
    }
    assert!(found["/copy"].ends_with("-duplicate"), "{found:?}");
    let sent = site.bodies.swap(0, Ordering::SeqCst);
    assert_eq!(sent, PAGES.len() + 1);

    site.version.store(1, Ordering::SeqCst);
    again(&place, &web).finish().expect_code(0);
    let second = lines(&place.path("out"));
    let found = outcomes(&second);
    for page in ["/etag", "/date", "/plain", "/unasked", "/"] {
        assert_eq!(found[page], "not-modified", "{page}");
    }
    for (page, status) in [("/etag", 304), ("/date", 304), ("/plain", 200)] {
        assert_eq!(line(&second, page)["status"], status, "{page}");
        for field in ["title", "charset", "type", "bytes", "digest", "warc_file", "warc_offset"] {
            assert_eq!(line(&second, page)[field], line(&first, page)[field], "{page} {field}");
        }
    }
    // The most similar page is an older version of itself or of another page, and neither exists any more.
    for page in ["/changed", "/touched", "/like-old"] {
        assert_eq!(found[page], "stored", "{page}");
    }
    assert_eq!((found["/gone"], text(line(&second, "/gone"), "reason")), ("failed", "http"));
    assert!(found["/copy"].ends_with("-duplicate"));
    assert_eq!(path(text(line(&second, "/copy"), "duplicate_of")), "/etag");
    assert_eq!(site.bodies.swap(0, Ordering::SeqCst), sent - 3, "two pages were not sent, and one is gone");
    assert_folder_is_sound(&place);
    let kept = exported(&place);
    assert_eq!(kept.len(), 8);
    assert!(kept.values().all(|text| !text.is_empty()), "every kept page has its body");
    assert!(place.path("out/earlier/1/pages.jsonl").exists());

    // The third time nothing has changed; an unsolicited 304 is not trusted.
    site.version.store(2, Ordering::SeqCst);
    let run = again(&place, &web).args(["--json"]).finish().expect_code(0);
    assert_eq!(run.json()["not_modified"], 5, "{}", run.stdout);
    assert_folder_is_sound(&place);
    let third = lines(&place.path("out"));
    assert_eq!(outcomes(&third)["/unasked"], "failed");
    assert_eq!(line(&third, "/etag")["warc_offset"], line(&first, "/etag")["warc_offset"]);
    let explained = place.run(["explain", "out", &format!("{}/etag", web.origins()[0])]).finish().expect_code(0);
    assert!(explained.stdout.contains("not-modified, unchanged: the server answered 304"), "{}", explained.stdout);
}

#[test]
fn a_recrawl_survives_kills() {
    let (web, site) = web(Duration::from_millis(60));
    let place = Place::new();
    crawl(&place, &web).finish().expect_code(0);
    site.bodies.store(0, Ordering::SeqCst);
    let mut kills = 0;
    for moment in [5, 30, 120, 250, 380, 500] {
        let mut running = again(&place, &web).start();
        // The first one dies before the finished crawl is moved, the others after that.
        assert!(kills == 0 || running.wait_until(|| place.path("out/earlier").exists()));
        std::thread::sleep(Duration::from_millis(moment));
        if running.has_ended() {
            running.finish().expect_code(0);
            break;
        }
        running.kill();
        kills += 1;
    }
    assert!(kills > 2, "{kills} kills are no test");
    // Only a finished crawl starts over.
    crawl(&place, &web).finish().expect_code(0);
    assert_folder_is_sound(&place);
    let found = lines(&place.path("out"));
    let kept = found.values().filter(|line| outcome(line) == "not-modified").count();
    assert_eq!(kept, PAGES.len(), "{:?}", outcomes(&found));
    assert_eq!(exported(&place).len(), PAGES.len());
    assert!(generations(&place.path("out")) <= 2);
}

fn generations(out: &Path) -> usize {
    std::fs::read_dir(out.join("earlier")).unwrap().count()
}

#[test]
fn recrawl_needs_a_finished_crawl_and_resumes_an_unfinished_one() {
    let (web, _) = web(Duration::ZERO);
    let place = Place::new();
    let run = again(&place, &web).finish().expect_code(5);
    assert!(run.stderr.contains("no crawl to repeat"), "{}", run.stderr);

    let mut running = crawl(&place, &web).args(["--delay", "2s"]).start();
    assert!(running.wait_until(|| place.path("out/store").exists()));
    running.kill();
    let run = again(&place, &web).finish().expect_code(0);
    assert!(run.stderr.contains("had not finished"), "{}", run.stderr);
    assert!(!place.path("out/earlier").exists());
    // Without seeds, the crawl uses those of before.
    place
        .run([
            "--recrawl",
            "-o",
            "out",
            "--allow-private",
            "--delay",
            "0",
            "--ip-delay",
            "0",
            "--detector-option",
            "second_check=none",
        ])
        .finish()
        .expect_code(0);
    assert_eq!(generations(&place.path("out")), 1);
    assert!(lines(&place.path("out")).values().any(|line| outcome(line) == "not-modified"));
}

#[test]
fn a_recrawl_without_a_network_keeps_the_old_pages() {
    let place = Place::new();
    let seeds;
    {
        let (web, _) = web(Duration::ZERO);
        crawl(&place, &web).finish().expect_code(0);
        seeds = [format!("{}/", web.origins()[0])];
    }
    let archived = |place: &Place| std::fs::read_dir(place.path("out/warc")).unwrap().count();
    let before = archived(&place);
    for _ in 0..2 {
        place.crawl(&seeds).args(["--recrawl", "--retries", "0"]).finish().expect_code(1);
        assert_eq!(archived(&place), before);
        assert_eq!(generations(&place.path("out")), 1, "a crawl that had nothing is not set aside");
    }
}
