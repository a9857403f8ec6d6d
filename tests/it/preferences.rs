//! What sites say of the use of their pages: read in each form, recorded as evidence, and filters of exports.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::http::HeaderMap;
use flate2::read::MultiGzDecoder;
use serde_json::Value;

use crate::invariants::{assert_folder_is_sound, lines, outcome, text};
use crate::program::{Place, Run};
use crate::web::{Answer, Content, Web};
use crate::words::{sentences, words_of};

/// Three hosts: one speaks by robots.txt and headers, one by files of its own, one by its pages.
struct Speaking {
    origins: Vec<String>,
    /// The number of changes.
    version: AtomicU32,
}

/// What a robots.txt says behind the name of a license, which is not there.
const ROBOTS: &str = "User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /open/ train-ai=y, search=y\nContent-Signal: /signal/ ai-train=yes, ai-input=no\n";
const TDMREP: &str = r#"[{"location": "/free/", "tdm-reservation": 0}, {"location": "/", "tdm-reservation": 1,
    "tdm-policy": "https://rights.example/policy.json"}]"#;
const AI_TXT: &str = "User-Agent: *\nAllow: /free/\nDisallow: /paid/\n";

/// The pages of each host, with what stands in their heads.
const PAGES: [&[(&str, &str)]; 3] = [
    &[("/plain", ""), ("/open/1", ""), ("/open/n", ""), ("/signal/1", ""), ("/broken", "")],
    &[("/free/1", ""), ("/paid/1", ""), ("/free/header", "")],
    &[
        ("/noai", "<meta name=robots content='noai, noimageai'>"),
        ("/tdm", "<meta name=tdm-reservation content=0>"),
        ("/cc0", "<link rel=license href='https://creativecommons.org/publicdomain/zero/1.0/'>"),
        ("/by", "<link rel=license href='https://creativecommons.org/licenses/by/4.0/'>"),
        ("/rsl", "<link rel=license type='application/rsl+xml' href='/license.xml'>"),
        (
            "/contradicts",
            "<link rel=license href='https://creativecommons.org/publicdomain/zero/1.0/'><meta name=robots content=noai>",
        ),
        ("/silent", ""),
        ("/changes", ""),
    ],
];

impl Speaking {
    fn page(host: usize, path: &str) -> Option<String> {
        let words = |of: &str| sentences(&words_of(11, of, 150));
        let (head, body) = match path {
            "/" => {
                let links = PAGES[host].iter().map(|(path, _)| format!("<a href='{path}'>{path}</a> "));
                ("", links.collect::<String>() + &words(&format!("start {host}")))
            }
            path => {
                let (_, head) = PAGES[host].iter().find(|(known, _)| *known == path)?;
                (*head, words(path))
            }
        };
        Some(format!("<!DOCTYPE html><title>{host}{path}</title>{head}<body><p>{body}</p>"))
    }
}

impl Content for Speaking {
    fn answer(&self, _: &str, _: usize) -> Answer {
        Answer::error(500)
    }

    fn answer_to(&self, url: &str, _: usize, headers: &HeaderMap) -> Answer {
        let url = url::Url::parse(url).unwrap();
        let host = usize::from(url.host_str().unwrap().rsplit('.').next().unwrap().parse::<u8>().unwrap()) - 1;
        match (host, url.path()) {
            (0, "/robots.txt") => {
                return Answer::text(&format!("License: {}/license.xml\n\n{ROBOTS}", self.origins[0]));
            }
            (1, "/.well-known/tdmrep.json") => return Answer::text(TDMREP),
            (1, "/ai.txt") => return Answer::text(AI_TXT),
            _ => {}
        }
        let Some(body) = Self::page(host, url.path()) else { return Answer::error(404) };
        let mut answer = Answer::html(body);
        let mut says = |name, value: &str| answer.headers.push((name, value.to_owned()));
        match url.path() {
            "/open/n" => says("content-usage", "train-ai=n"),
            "/broken" => says("content-usage", "Train-AI=n"),
            "/free/header" => says("tdm-reservation", "1"),
            "/changes" => {
                let is_changed = self.version.load(Ordering::SeqCst) > 0;
                says("content-usage", if is_changed { "train-ai=n" } else { "train-ai=y" });
                says("etag", "\"1\"");
                if headers.get("if-none-match").is_some_and(|sent| sent == "\"1\"") {
                    return Answer { status: 304, body: Vec::new(), ..answer };
                }
            }
            _ => {}
        }
        answer
    }
}

fn web() -> (Web, Arc<Speaking>) {
    let mut site = None;
    let web = Web::start(3, |origins| {
        let speaking = Arc::new(Speaking { origins: origins.to_vec(), version: AtomicU32::default() });
        site = Some(Arc::clone(&speaking));
        speaking
    });
    (web, site.unwrap())
}

fn crawl(place: &Place, web: &Web, flags: &[&str]) -> Run {
    let seeds: Vec<String> = web.origins().iter().map(|origin| format!("{origin}/")).collect();
    place.crawl(&seeds).args(["--soft-404", "off"]).args(flags)
}

fn path(url: &str) -> String {
    url::Url::parse(url).unwrap().path().to_owned()
}

/// What is said of each page, by path: `form place use=said`.
fn told(place: &Place) -> BTreeMap<String, Vec<String>> {
    let statement = |said: &Value| {
        let uses = said["uses"].as_object().into_iter().flatten();
        let uses: String = uses.map(|(usage, said)| format!(" {usage}={}", said.as_str().unwrap())).collect();
        format!("{} {}{uses}", text(said, "form"), text(said, "from"))
    };
    let of_line = |line: &Value| line["preferences"].as_array().into_iter().flatten().map(statement).collect();
    lines(&place.path("out")).iter().map(|(url, line)| (path(url), of_line(line))).collect()
}

fn is_site_file(url: &str) -> bool {
    path(url) == "/robots.txt" || is_further_file(url)
}

fn is_further_file(url: &str) -> bool {
    ["/.well-known/tdmrep.json", "/ai.txt"].contains(&&*path(url)) || path(url).ends_with(".xml")
}

/// The requests for the files of sites, and those for pages.
fn asked(web: &Web) -> (BTreeMap<String, usize>, usize) {
    let (files, pages): (BTreeMap<_, _>, BTreeMap<_, _>) =
        web.asked().into_iter().partition(|(url, _)| is_further_file(url));
    (files, pages.values().sum())
}

#[test]
fn what_is_at_hand_is_recorded_without_a_further_request() {
    let (web, _) = web();
    let place = Place::new();
    crawl(&place, &web, &[]).finish().expect_code(0);
    let told = told(&place);
    let rsl = "rsl robots.txt ai-input=unclear search=unclear train-ai=unclear";
    for (path, expected) in [
        ("/plain", vec!["content-usage robots.txt train-ai=n", rsl]),
        ("/open/1", vec!["content-usage robots.txt search=y train-ai=y", rsl]),
        ("/open/n", vec!["content-usage header train-ai=n", "content-usage robots.txt search=y train-ai=y", rsl]),
        (
            "/signal/1",
            vec!["content-usage robots.txt train-ai=n", "content-signal robots.txt ai-input=n train-ai=y", rsl],
        ),
        (
            "/broken",
            vec!["content-usage header search=unclear train-ai=unclear", "content-usage robots.txt train-ai=n", rsl],
        ),
        ("/free/1", vec![]),
        ("/free/header", vec!["tdmrep header tdm=n train-ai=n"]),
        ("/noai", vec!["noai page train-ai=n", "noai page"]),
        ("/tdm", vec!["tdmrep page tdm=y"]),
        ("/cc0", vec!["creative-commons page ai-input=y search=y tdm=y train-ai=y"]),
        ("/by", vec!["creative-commons page"]),
        ("/rsl", vec!["rsl page ai-input=unclear search=unclear train-ai=unclear"]),
        ("/silent", vec![]),
    ] {
        assert_eq!(told[path], expected, "{path}");
    }
    let url = format!("{}/open/n", web.origins()[0]);
    let explained = place.run(["explain", "out", &url]).finish().expect_code(0).stdout;
    let line = "train-ai n, ai-input unclear, search unclear; by content-usage (header), content-usage (robots.txt), rsl (robots.txt)";
    assert!(explained.contains(line), "{explained}");
    // The words are kept, and the time of a file that was not fetched with the page.
    let lines = lines(&place.path("out"));
    let line = lines.iter().find(|(url, _)| url.ends_with("/open/n")).unwrap().1;
    let [header, robots, license] = line["preferences"].as_array().unwrap().as_slice() else { panic!("{line}") };
    assert_eq!((text(header, "says"), &header["at"]), ("train-ai=n", &Value::Null));
    assert!(text(robots, "at") <= text(line, "fetched_at"), "{line}");
    assert_eq!(text(license, "says"), format!("{}/license.xml", web.origins()[0]));
    let (files, pages) = asked(&web);
    assert!(files.is_empty(), "{files:?}");
    assert_eq!(pages, 3 + PAGES.iter().map(|pages| pages.len()).sum::<usize>());
}

#[test]
fn files_of_sites_are_asked_for_once_a_host_if_the_user_wants_them() {
    let (web, _) = web();
    let place = Place::new();
    crawl(&place, &web, &["--preferences"]).finish().expect_code(0);
    let (files, pages) = asked(&web);
    assert_eq!(files.len(), 6 + 2, "two of each host, and two licenses: {files:?}");
    assert!(files.values().all(|times| *times == 1), "{files:?}");
    assert_eq!(pages, 3 + PAGES.iter().map(|pages| pages.len()).sum::<usize>());
    let told = told(&place);
    for (path, expected) in [
        ("/free/1", vec!["tdmrep tdmrep.json tdm=y", "ai-txt ai.txt train-ai=y"]),
        ("/paid/1", vec!["tdmrep tdmrep.json tdm=n train-ai=n", "ai-txt ai.txt train-ai=n"]),
        (
            "/free/header",
            vec!["tdmrep header tdm=n train-ai=n", "tdmrep tdmrep.json tdm=y", "ai-txt ai.txt train-ai=y"],
        ),
        ("/silent", vec![]),
    ] {
        assert_eq!(told[path], expected, "{path}");
    }
}

/// Exports with `--usage` and returns the paths, and the note on those left out.
fn exported(place: &Place, usage: &str) -> (BTreeSet<String>, String) {
    let run = place.run(["export", "out", "--format", "jsonl", "-o", "-", "--usage", usage]).finish().expect_code(0);
    let rows = run.stdout.lines().map(|row| serde_json::from_str::<Value>(row).unwrap());
    let note = run.stderr.lines().find(|line| line.contains("--usage")).unwrap_or_default().to_owned();
    (rows.map(|row| path(text(&row, "url"))).filter(|path| path != "/").collect(), note)
}

#[test]
fn exports_hold_what_is_said_and_tell_what_they_leave_out() {
    let (web, _) = web();
    let place = Place::new();
    crawl(&place, &web, &["--preferences"]).finish().expect_code(0);
    let set = |paths: &[&str]| -> BTreeSet<String> { paths.iter().map(|path| (*path).to_owned()).collect() };
    // A license of RSL that nobody has read leaves open what `/open/` allows.
    let allowed = set(&["/free/1", "/cc0", "/changes"]);
    let denied = set(&["/plain", "/open/n", "/broken", "/paid/1", "/noai"]);
    let unclear = set(&["/open/1", "/signal/1", "/free/header", "/rsl", "/contradicts"]);
    let unknown = set(&["/tdm", "/by", "/silent"]);
    for (usage, expected, note) in [
        ("train-ai=y", &allowed, "n 7, unclear 5, unknown 4"),
        ("train-ai=n", &denied, "y 3, unclear 5, unknown 4"),
        ("train-ai=unclear", &unclear, "y 3, n 7, unknown 4"),
        ("train-ai=unknown", &unknown, "y 3, n 7, unclear 5"),
        ("train-ai=y+unknown", &(&allowed | &unknown), "n 7, unclear 5"),
        ("train-ai=y,search=y", &set(&["/cc0"]), "n 7, unclear 5, unknown 6"),
        ("tdm=y", &set(&["/free/1", "/tdm", "/cc0", "/contradicts"]), "n 3, unknown 12"),
    ] {
        let (paths, told) = exported(&place, usage);
        assert_eq!(&paths, expected, "{usage}");
        assert!(told.ends_with(&format!("left out by --usage: {note}")), "{usage}: {told}");
    }
    for (usage, why) in [("train-ai", "train-ai=y"), ("train-ai=maybe", "joined by +"), ("reading=y", "the uses are")] {
        let refused = place.run(["export", "out", "--format", "csv", "--usage", usage]).finish().expect_code(2);
        assert!(refused.stderr.contains(why), "{}", refused.stderr);
    }

    let dataset = ["export", "out", "--format", "dataset", "-o", "set", "--usage", "train-ai=y+unknown"];
    place.run(dataset).finish().expect_code(0);
    let card = fs::read_to_string(place.path("set/README.md")).unwrap();
    for line in [
        "| train-ai | 3 | 0 | 0 | 4 |",
        "Left out for what is said of their use: 12 (y 0, n 7, unclear 5, unknown 0).",
        "| creative-commons (page) | 2 |",
    ] {
        assert!(card.contains(line), "{line}: {card}");
    }
}

#[test]
fn a_recrawl_tells_what_is_said_now() {
    let (web, site) = web();
    let place = Place::new();
    crawl(&place, &web, &[]).finish().expect_code(0);
    assert_eq!(told(&place)["/changes"], ["content-usage header train-ai=y"]);
    site.version.store(1, Ordering::SeqCst);
    crawl(&place, &web, &["--recrawl"]).finish().expect_code(0);
    assert_eq!(told(&place)["/changes"], ["content-usage header train-ai=n"]);
    let lines = lines(&place.path("out"));
    let line = lines.iter().find(|(url, _)| url.ends_with("/changes")).unwrap().1;
    assert_eq!((outcome(line), line["status"].as_u64()), ("not-modified", Some(304)));
    assert_eq!(told(&place)["/noai"], ["noai page train-ai=n", "noai page"]);
    // What is said otherwise than before is told, and nothing else.
    let report = place.run(["report", "out", "--against", "out/earlier/1"]).finish().expect_code(0);
    assert!(report.stderr.contains("note: of the use of 1 page something else is said"), "{}", report.stderr);
    let list = fs::read_to_string(place.path("out/comparison_files/changes.csv")).unwrap();
    let uses: Vec<&str> = list.lines().filter(|line| line.starts_with("other use,")).collect();
    assert!(matches!(uses[..], [line] if line.ends_with("/changes,,train-ai y → n")), "{list}");
}

/// The fields of the records of files of sites in the archive, and all that they hold.
fn archived_files(place: &Place) -> Vec<(BTreeMap<String, String>, String)> {
    let mut files: Vec<_> = fs::read_dir(place.path("out/warc")).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let mut text = String::new();
    for file in files {
        MultiGzDecoder::new(fs::File::open(file).unwrap()).read_to_string(&mut text).unwrap();
    }
    let records = text.split("WARC/1.1\r\n").skip(1).map(|record| {
        let (head, block) = record.split_once("\r\n\r\n").unwrap();
        let fields = head.lines().filter_map(|line| line.split_once(": "));
        (fields.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(), block.to_owned())
    });
    records.filter(|(fields, _): &(BTreeMap<_, _>, _)| fields.contains_key("Site-File")).collect()
}

#[test]
fn what_was_said_is_archived_as_it_came_and_taken_for_no_page() {
    let (web, _) = web();
    let place = Place::new();
    crawl(&place, &web, &["--preferences"]).finish().expect_code(0);
    let asked = web.requests().into_iter().map(|request| request.url).filter(|url| is_site_file(url));
    let asked: Vec<String> = asked.collect();
    let (files, pages) = (archived_files(&place), lines(&place.path("out")));
    for kind in ["response", "request"] {
        let of_kind = files.iter().filter(|(fields, _)| fields["WARC-Type"] == kind);
        let mut named: Vec<String> = of_kind.map(|(fields, _)| fields["Site-File"].clone()).collect();
        let mut asked = asked.clone();
        named.sort();
        asked.sort();
        assert_eq!(named, asked, "{kind}: each request, those for files that are not there, too");
    }
    let robots = files.iter().find(|(fields, block)| fields["WARC-Type"] == "response" && block.contains(ROBOTS));
    assert_eq!(robots.unwrap().0["WARC-Target-URI"], format!("{}/robots.txt", web.origins()[0]));
    // Each statement of a file leads to its record by file and time.
    let mut count = 0;
    for (url, line) in &pages {
        for said in line["preferences"].as_array().into_iter().flatten().filter(|said| !said["at"].is_null()) {
            let file = match text(said, "from") {
                "tdmrep.json" => "/.well-known/tdmrep.json".to_owned(),
                name => format!("/{name}"),
            };
            let file = url::Url::parse(url).unwrap().join(&file).unwrap().to_string();
            let at: jiff::Timestamp = text(said, "at").parse().unwrap();
            let is_it = |fields: &BTreeMap<String, String>| {
                fields["Site-File"] == file && fields["WARC-Date"].parse::<jiff::Timestamp>().unwrap() == at
            };
            assert!(files.iter().any(|(fields, _)| fields["WARC-Type"] == "response" && is_it(fields)), "{said}");
            count += 1;
        }
    }
    assert!(count > 10, "{count}");

    // No command takes them for pages.
    assert!(!pages.keys().any(|url| is_site_file(url)));
    assert_folder_is_sound(&place);
    place.run(["reindex", "out", "--force"]).finish().expect_code(0);
    assert_eq!(lines(&place.path("out")).len(), pages.len());
    assert_folder_is_sound(&place);
    for name in ["pages.cdxj", "pages.warc", "pages.jsonl"] {
        place.run(["export", "out", "-o", name]).finish().expect_code(0);
        let exported = String::from_utf8_lossy(&fs::read(place.path(name)).unwrap()).into_owned();
        assert!(exported.contains("/silent") && !exported.contains("robots.txt\r\n"), "{name}");
        assert!(!exported.contains("Site-File") && !exported.contains("/ai.txt"), "{name}");
    }
    place.run(["export", "out", "-o", "pages.wacz"]).finish().expect_code(0);
    let deduplicated = place.run(["dedup", "out/warc", "-o", "again"]).finish().expect_code(0);
    let again = lines(&place.path("again"));
    assert_eq!(again.keys().collect::<Vec<_>>(), pages.keys().collect::<Vec<_>>(), "{}", deduplicated.stderr);
}

#[test]
fn a_recrawl_archives_the_files_of_sites_anew_and_no_archive_has_none() {
    let (web, _) = web();
    let place = Place::new();
    crawl(&place, &web, &[]).finish().expect_code(0);
    assert_eq!(archived_files(&place).len(), 2 * 3);
    crawl(&place, &web, &["--recrawl"]).finish().expect_code(0);
    assert_eq!(archived_files(&place).len(), 2 * 2 * 3);
    let robots = web.requests().into_iter().filter(|request| request.url.ends_with("/robots.txt"));
    assert_eq!(robots.count(), 2 * 3, "once a host and crawl");
    assert_folder_is_sound(&place);
    let place = Place::new();
    crawl(&place, &web, &["--no-warc"]).finish().expect_code(0);
    assert!(!place.path("out/warc").exists());
}

/// Two texts of two pages each, and one of one page. Of the first, the copy disallows what the page allows.
struct Copies;

impl Content for Copies {
    fn answer(&self, url: &str, _: usize) -> Answer {
        let (text, usage) = match &*path(url) {
            "/" => ("start", ""),
            "/one" => ("one", "train-ai=y"),
            "/one-copy" => ("one", "train-ai=n"),
            "/two" => ("two", "train-ai=y"),
            "/two-copy" => ("two", ""),
            "/three" => ("three", "train-ai=y"),
            _ => return Answer::error(404),
        };
        let links =
            ["/one", "/two", "/three", "/one-copy", "/two-copy"].map(|path| format!("<a href={path}>{path}</a> "));
        let links = if text == "start" { links.concat() } else { String::new() };
        let words = sentences(&words_of(3, text, 150));
        let mut answer = Answer::html(format!("<!DOCTYPE html><title>{text}</title><p>{words}</p>{links}"));
        answer.headers.extend((!usage.is_empty()).then(|| ("content-usage", usage.to_owned())));
        answer
    }
}

#[test]
fn copies_may_be_asked_too() {
    let web = Web::start(1, |_| Arc::new(Copies));
    let place = Place::new();
    crawl(&place, &web, &["-c", "1", "--host-concurrency", "1"]).finish().expect_code(0);
    let set = |paths: &[&str]| -> BTreeSet<String> { paths.iter().map(|path| (*path).to_owned()).collect() };
    assert_eq!(exported(&place, "train-ai=y").0, set(&["/one", "/two", "/three"]));
    let run = place.run(["export", "out", "-o", "asked.jsonl", "--usage", "train-ai=y", "--usage-of-copies"]);
    let run = run.finish().expect_code(0);
    assert!(run.stderr.contains("left out by --usage: n 1, unknown 1"), "{}", run.stderr);
    let rows = fs::read_to_string(place.path("asked.jsonl")).unwrap();
    let rows = rows.lines().map(|row| path(text(&serde_json::from_str::<Value>(row).unwrap(), "url")));
    assert_eq!(rows.collect::<BTreeSet<_>>(), set(&["/two", "/three"]));
    let refused = place.run(["export", "out", "-o", "x.jsonl", "--usage-of-copies"]).finish().expect_code(2);
    assert!(refused.stderr.contains("--usage"), "{}", refused.stderr);
}

/// A site whose pages have licenses, and two hosts that only keep licenses.
struct Licensed {
    origins: Vec<String>,
}

impl Licensed {
    fn license(&self, host: usize, path: &str) -> Option<String> {
        let entry = |url: &str, terms: &str| format!("<content url=\"{url}\"><license>{terms}</license></content>");
        let usage = |name: &str, words: &str| format!("<{name} type=\"usage\">{words}</{name}>");
        let entries = match (host, path) {
            (1, "/terms.xml") => [
                entry("/", &(usage("permits", "search") + &usage("prohibits", "ai-train"))),
                entry("/free/", &usage("permits", "all")),
                entry("/paid/", &(usage("permits", "all") + "<payment type=\"crawl\"/>")),
                entry(&format!("{}/none/", self.origins[0]), &usage("prohibits", "ai-all")),
            ]
            .concat(),
            (0, "/own.xml") | (2, "/closed.xml") => entry("", &usage("permits", "ai-train")),
            _ => return None,
        };
        Some(format!("<?xml version=\"1.0\"?><rsl xmlns=\"https://rslstandard.org/rsl\">{entries}</rsl>"))
    }
}

/// The pages of the site, and the licenses that they name beside that of their robots.txt: host and path.
const LICENSED: [(&str, Option<(usize, &str)>); 7] = [
    ("/", None),
    ("/free/1", None),
    ("/paid/1", None),
    ("/none/1", None),
    ("/own", Some((0, "/own.xml"))),
    ("/free/closed", Some((2, "/closed.xml"))),
    ("/free/broken", Some((0, "/broken.xml"))),
];

impl Content for Licensed {
    fn answer(&self, url: &str, _: usize) -> Answer {
        let host = self.origins.iter().position(|origin| url.starts_with(origin.as_str())).unwrap();
        let path = path(url);
        let words = |of: &str| sentences(&words_of(13, of, 150));
        match (host, path.as_str()) {
            (0, "/robots.txt") => return Answer::text(&format!("License: {}/terms.xml\n", self.origins[1])),
            (2, "/robots.txt") => return Answer::text("User-agent: *\nDisallow: /closed.xml\n"),
            (1 | 2, "/") => return Answer::html(format!("<title>{host}</title><p>{}", words(&format!("host {host}")))),
            (0, "/broken.xml") => return Answer::html("<!DOCTYPE html><title>Terms</title><p>All rights reserved."),
            _ => {}
        }
        if let Some(license) = self.license(host, &path) {
            return Answer {
                headers: vec![("content-type", "application/rsl+xml".to_owned())],
                ..Answer::html(license)
            };
        }
        let Some((_, license)) = LICENSED.iter().find(|(known, _)| host == 0 && *known == path) else {
            return Answer::error(404);
        };
        let links = LICENSED.map(|(path, _)| format!("<a href='{path}'>{path}</a> "));
        let links = if path == "/" { links.concat() } else { String::new() };
        let mut answer = Answer::html(format!("<!DOCTYPE html><title>{path}</title><p>{}</p>{links}", words(&path)));
        answer.headers.extend(license.map(|(host, path)| {
            ("link", format!("<{}{path}>; rel=\"license\"; type=\"application/rsl+xml\"", self.origins[host]))
        }));
        answer
    }
}

#[test]
fn licenses_are_read_once_each_where_robots_txt_allows_it() {
    let web = Web::start(3, |origins| Arc::new(Licensed { origins: origins.to_vec() }));
    let place = Place::new();
    crawl(&place, &web, &[]).finish().expect_code(0);
    assert!(asked(&web).0.is_empty(), "only the user has them asked for");
    let unread = "ai-input=unclear search=unclear train-ai=unclear";
    assert_eq!(told(&place)["/free/1"], [format!("rsl robots.txt {unread}")]);

    let place = Place::new();
    crawl(&place, &web, &["--preferences"]).finish().expect_code(0);
    let told = told(&place);
    let of_site = "rsl robots.txt ai-input=n search=y train-ai=n".to_owned();
    let free = "rsl robots.txt ai-input=y search=y train-ai=y".to_owned();
    for (path, expected) in [
        ("/free/1", vec![free.clone()]),
        ("/paid/1", vec![format!("rsl robots.txt {unread}")]),
        ("/none/1", vec!["rsl robots.txt ai-input=n train-ai=n".to_owned()]),
        ("/own", vec!["rsl header ai-input=n search=n train-ai=y".to_owned(), of_site]),
        ("/free/closed", vec![format!("rsl header {unread}"), free.clone()]),
        ("/free/broken", vec![format!("rsl header {unread}"), free]),
    ] {
        assert_eq!(told[path], expected, "{path}");
    }
    let files = asked(&web).0;
    let licenses: BTreeMap<String, usize> =
        files.into_iter().filter(|(url, _)| url.ends_with(".xml")).map(|(url, times)| (path(&url), times)).collect();
    let once = ["/broken.xml", "/own.xml", "/terms.xml"].map(|path| (path.to_owned(), 1));
    assert_eq!(licenses, BTreeMap::from(once));

    // The words and the document as it came are the evidence.
    let lines = lines(&place.path("out"));
    let line = lines.iter().find(|(url, _)| url.ends_with("/paid/1")).unwrap().1;
    let said = &line["preferences"][0];
    let file = format!("{}/terms.xml", web.origins()[1]);
    assert_eq!(text(said, "says"), format!("{file}: permits all; payment crawl"));
    let at: jiff::Timestamp = text(said, "at").parse().unwrap();
    let archived = archived_files(&place).into_iter().find(|(fields, _)| fields["Site-File"] == file).unwrap();
    assert_eq!(archived.0["WARC-Date"].parse::<jiff::Timestamp>().unwrap(), at);
    assert!(archived.1.contains("<payment type=\"crawl\"/>"));
    assert_folder_is_sound(&place);

    let set = |paths: &[&str]| -> BTreeSet<String> { paths.iter().map(|path| (*path).to_owned()).collect() };
    assert_eq!(exported(&place, "train-ai=y").0, set(&["/free/1"]));
    assert_eq!(exported(&place, "ai-input=n").0, set(&["/none/1", "/own"]));
    let unclear = set(&["/paid/1", "/free/closed", "/free/broken"]);
    assert_eq!(exported(&place, "search=unclear").0, unclear);
}
