//! The audit of a shop with planted faults: each is named and none else, and the changes that it proposes do what they
//! promise.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use axum::http::HeaderMap;
use serde_json::Value;

use crate::program::{Place, Run};
use crate::web::{Answer, Content, Web};
use crate::words::{sentences, words_of};

const PRODUCTS: usize = 20;
/// Products with a German page.
const GERMAN: usize = 6;
/// Products with a link that has a session id.
const SESSIONS: usize = 12;
/// Products with a link to the other host.
const OTHER_HOST: usize = 8;

/// A shop on two hosts.
#[derive(Default)]
struct Shop {
    port: String,
    /// Lines for its robots.txt.
    lines: Mutex<Vec<String>>,
    /// Whether the other host redirects to this one.
    redirects: Mutex<bool>,
}

impl Shop {
    fn url(&self, path: &str) -> String {
        format!("http://shop.test:{}{path}", self.port)
    }

    fn facets() -> Vec<String> {
        let mut facets = Vec::new();
        for color in ["red", "blue", "green"] {
            facets.push(format!("/shop?color={color}"));
            facets.extend(["s", "m", "l"].map(|size| format!("/shop?size={size}&color={color}")));
        }
        facets.extend(["name", "price", "age", "size"].map(|order| format!("/shop?sort={order}")));
        facets
    }

    fn page(&self, lang: &str, title: &str, head: &str, links: &[String]) -> Answer {
        let menu = "<nav><a href=/>Start</a> <a href=/shop>Shop</a> <a href=/about>About</a> <a href=/contact>Contact</a></nav>";
        let links: String = links.iter().map(|link| format!("<a href=\"{link}\">{link}</a> ")).collect();
        let text = if title == "Contact" { "Call us.".to_owned() } else { sentences(&words_of(1, title, 120)) };
        Answer::html(format!(
            "<!doctype html><html lang={lang}><title>{title}</title>{head}<body>{menu}<main><h1>{title}</h1><p>{text}</p></main>{links}"
        ))
    }

    fn product(&self, number: usize) -> Answer {
        let mut links = vec![format!("/print/p/{number}")];
        links.extend((number < SESSIONS).then(|| format!("/p/{number}?sid=7{number}")));
        let other_host = || format!("http://www.shop.test:{}/p/{number}", self.port);
        links.extend((number < OTHER_HOST).then(other_host));
        let german = match number {
            4 => "/de/gone".to_owned(),
            _ => format!("/de/p/{number}"),
        };
        let german = format!("<link rel=alternate hreflang=de href=\"{}\">", self.url(&german));
        let canonical = format!("<link rel=canonical href=\"{}\">", self.url(&format!("/p/{number}")));
        let head = if number < GERMAN { canonical + &german } else { canonical };
        self.page("en", &format!("Product {number}"), &head, &links)
    }

    fn sitemap(&self) -> Answer {
        let mut paths = vec!["/".to_owned(), "/shop".to_owned(), "/shop?page=2".to_owned(), "/contact".to_owned()];
        paths.extend(["/hidden", "/older"].map(str::to_owned));
        paths.extend((0..PRODUCTS).map(|number| format!("/p/{number}")));
        paths.extend((0..GERMAN).filter(|number| *number != 4).map(|number| format!("/de/p/{number}")));
        let entries: String = paths.iter().map(|path| format!("<url><loc>{}</loc></url>", self.url(path))).collect();
        let headers = vec![("content-type", "application/xml".to_owned())];
        Answer { headers, ..Answer::html(format!("<urlset>{entries}</urlset>")) }
    }
}

impl Content for Shop {
    fn answer(&self, _: &str, _: usize) -> Answer {
        Answer::error(500)
    }

    fn answer_to(&self, url: &str, _: usize, headers: &HeaderMap) -> Answer {
        let path = &url[url.match_indices('/').nth(2).unwrap().0..];
        let is_other = headers["host"].to_str().unwrap().starts_with("www.");
        if path == "/robots.txt" {
            let lines = if is_other { String::new() } else { self.lines.lock().unwrap().join("\n") };
            let sitemap = if is_other { String::new() } else { format!("Sitemap: {}\n", self.url("/map.xml")) };
            return Answer::text(&format!("User-agent: *\n{lines}\n{sitemap}"));
        }
        if is_other && *self.redirects.lock().unwrap() {
            return Answer::redirect(&self.url(path));
        }
        let number = |start: &str| path.strip_prefix(start)?.split('?').next()?.parse::<usize>().ok();
        if let Some(number) = number("/p/").or_else(|| number("/print/p/")).filter(|number| *number < PRODUCTS) {
            return self.product(number);
        }
        if let Some(number) = number("/de/p/").filter(|number| *number < GERMAN && *number != 4) {
            let back = format!("<link rel=alternate hreflang=en href=\"{}\">", self.url(&format!("/p/{number}")));
            return self.page("de", &format!("Ware {number}"), if number == 3 { "" } else { &back }, &[]);
        }
        match path {
            "/map.xml" => self.sitemap(),
            "/" => {
                let mut links: Vec<String> = (0..PRODUCTS).map(|number| format!("/p/{number}")).collect();
                links.extend(["/old", "/dead", "/round", "/jobs"].map(str::to_owned));
                self.page("en", "Start", "", &links)
            }
            // Another text below the heading of the first page.
            "/jobs" => {
                Answer::html(format!("<title>Jobs</title><h1>Start</h1><p>{}", sentences(&words_of(1, "jobs", 120))))
            }
            "/about" | "/hidden" | "/contact" => {
                let title = match path {
                    "/about" => "About",
                    "/hidden" => "Hidden",
                    _ => "Contact",
                };
                self.page("en", title, "", &[])
            }
            "/old" => Answer::redirect("/older"),
            "/dead" => Answer::redirect("/nowhere"),
            "/round" => Answer::redirect("/and-round"),
            "/and-round" => Answer::redirect("/round"),
            "/older" => Answer::redirect("/p/1"),
            "/shop?page=2" => self.page("en", "More", "", &[]),
            _ if path.split('?').next() == Some("/shop") => {
                let mut links = Self::facets();
                links.push("/shop?page=2".to_owned());
                self.page("en", "Shop", "", &links)
            }
            _ => Answer::error(404),
        }
    }
}

fn shop() -> (Web, Arc<Shop>) {
    let mut shop = None;
    let web = Web::start(1, |origins| {
        let port = origins[0].rsplit(':').next().unwrap().to_owned();
        let planned = Arc::new(Shop { port, ..Shop::default() });
        shop = Some(Arc::clone(&planned));
        planned
    });
    (web, shop.unwrap())
}

fn crawl(place: &Place, shop: &Shop, out: &str) -> Run {
    place
        .run([&*shop.url("/"), "-o", out, "--delay", "0", "--ip-delay", "0", "--allow-private", "--scope", "domain"])
        .args(["--resolve", "*:127.0.0.1", "--predicted", "fetch", "--trap-guard", "off", "--min-free", "0"])
}

fn audit(place: &Place, out: &str) -> Value {
    place.run(["audit", out, "--json"]).finish().expect_code(0).json()
}

/// The pages of each kind of finding, without the origin of the shop.
fn found(audit: &Value, shop: &Shop) -> BTreeMap<String, BTreeSet<String>> {
    let path = |url: &Value| url.as_str().unwrap().replace(&shop.url(""), "");
    let pages = |kind: &Value| kind["pages"].as_array().unwrap().iter().map(|page| path(&page["url"])).collect();
    let kinds = audit["findings"].as_array().unwrap();
    kinds.iter().map(|kind| (kind["kind"].as_str().unwrap().to_owned(), pages(kind))).collect()
}

#[test]
fn each_planted_fault_is_named_and_none_else() {
    let (_web, shop) = shop();
    let place = Place::new();
    crawl(&place, &shop, "out").finish().expect_code(0);
    let other_host: Vec<String> =
        (0..OTHER_HOST).map(|number| format!("http://www.shop.test:{}/p/{number}", shop.port)).collect();
    let mut duplicates = Shop::facets();
    duplicates.extend((0..PRODUCTS).map(|number| format!("/print/p/{number}")));
    duplicates.extend((0..SESSIONS).map(|number| format!("/p/{number}?sid=7{number}")));
    duplicates.extend(other_host.clone());
    let one = |path: &str| vec![path.to_owned()];
    let planted: BTreeMap<String, BTreeSet<String>> = [
        ("canonical-missing", Shop::facets()),
        ("two-hosts", other_host),
        ("redirect-chain", one("/old")),
        ("hreflang-no-return", one("/p/3")),
        ("hreflang-broken", one("/p/4")),
        ("linked-duplicate", duplicates),
        ("thin-page", one("/contact")),
        ("sitemap-orphan", one("/hidden")),
        ("sitemap-no-page", one("/older")),
        ("not-in-sitemap", vec!["/about".to_owned(), "/jobs".to_owned()]),
        ("redirect-broken", one("/dead")),
        ("redirect-loop", vec!["/round".to_owned(), "/and-round".to_owned()]),
        ("same-heading", one("/jobs")),
    ]
    .into_iter()
    .map(|(kind, paths)| (kind.to_owned(), paths.into_iter().collect()))
    .collect();
    let audit = audit(&place, "out");
    assert_eq!(found(&audit, &shop), planted);
    let chain = audit["findings"].as_array().unwrap().iter().find(|kind| kind["kind"] == "redirect-chain").unwrap();
    assert_eq!(chain["pages"][0]["hops"], serde_json::json!([shop.url("/older"), shop.url("/p/1")]));
    // The menu is all of the contact page but its text.
    let frames = audit["frames"].as_array().unwrap();
    let share = |path: &str| {
        let frame = frames.iter().find(|frame| frame["url"] == shop.url(path)).unwrap();
        frame["frame_words"].as_f64().unwrap() / frame["words"].as_f64().unwrap()
    };
    assert!(share("/contact") > 0.5 && share("/about") < 0.2, "{frames:?}");
    assert_eq!(frames[0]["url"], shop.url("/contact"));
}

#[test]
fn the_proposed_changes_lower_the_rate_as_told() {
    let (_web, shop) = shop();
    let place = Place::new();
    crawl(&place, &shop, "out").finish().expect_code(0);
    let before = audit(&place, "out");
    let changes = before["changes"].as_array().unwrap();
    let mut lines = Vec::new();
    for change in changes {
        assert_eq!(change["unique"], 0, "{change}");
        match change["mend"]["kind"].as_str().unwrap() {
            "robots" => {
                assert_eq!(change["mend"]["origin"], shop.url(""));
                lines.extend(
                    change["mend"]["lines"].as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned()),
                );
            }
            "redirect" => *shop.redirects.lock().unwrap() = true,
            kind => panic!("{kind}: {change}"),
        }
    }
    let expected = ["/print/", "/shop?color=", "/shop?*&color=", "/*?sid=", "/shop?sort="];
    assert_eq!(lines, expected.map(|path| format!("Disallow: {path}")));
    // The links of copies on the other host were left out, so it comes first.
    assert_eq!(changes.iter().map(|change| change["pages"].as_u64().unwrap()).collect::<Vec<_>>(), [8, 20, 12, 12, 4]);
    *shop.lines.lock().unwrap() = lines;
    crawl(&place, &shop, "again").finish().expect_code(0);
    let after = audit(&place, "again");
    assert_eq!(after["compared"], before["left"]["compared"]);
    assert_eq!(after["duplicates"], before["left"]["duplicates"]);
    assert_eq!((after["duplicates"].as_u64(), after["changes"].as_array().map(Vec::len)), (Some(0), Some(0)));
    let text = place.run(["audit", "out"]).finish().expect_code(0).stdout;
    let longest = text.lines().filter(|line| !line.contains("://")).map(|line| line.chars().count()).max();
    assert!(longest <= Some(80), "{text}");
    let csv = std::fs::read_to_string(place.path("out/report_files/changes.csv")).unwrap();
    assert!(csv.contains(",robots.txt,Disallow: /print/,,,"), "{csv}");
}

#[test]
fn unique_pages_of_one_pattern_that_are_much_alike_are_grouped() {
    let place = Place::new();
    let row = |url: String, words: Vec<String>| {
        serde_json::json!({ "url": format!("http://shop.test{url}"), "text": words.join(" ") }).to_string() + "\n"
    };
    let login = |number: usize| [words_of(1, "login", 80), words_of(2, &number.to_string(), 12)].concat();
    let mut rows: String = (0..40).map(|number| row(format!("/login?next=/{number}"), login(number))).collect();
    rows.extend((0..40).map(|number| row(format!("/article/{number}"), words_of(3, &number.to_string(), 80))));
    place.write("rows.jsonl", &rows);
    place.run(["dedup", "rows.jsonl", "-o", "out"]).finish().expect_code(0);
    let is_login = |line: &&Value| line["url"].as_str().unwrap().contains("/login") && line["outcome"] == "stored";
    let unique = place.pages().iter().filter(is_login).count();
    let audit = audit(&place, "out");
    let [group] = &audit["alike"].as_array().unwrap()[..] else { panic!("{}", audit["alike"]) };
    assert_eq!(
        (group["pattern"].as_str(), group["pages"].as_u64()),
        (Some("http://shop.test/login?next"), Some(unique as u64))
    );
    assert!(unique >= 20 && group["alike"].as_f64().is_some_and(|alike| (0.8..0.95).contains(&alike)), "{group}");
    let text = place.run(["audit", "out"]).finish().expect_code(0).stdout;
    assert!(text.contains("  http://shop.test/login?next\n    ") && !text.contains("0 requests"), "{text}");
}

/// Splits CSV into rows of cells.
pub fn cells(csv: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell, mut is_quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut rest = csv.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '"' if is_quoted && rest.next_if_eq(&'"').is_some() => cell.push('"'),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => row.push(std::mem::take(&mut cell)),
            '\r' if !is_quoted => {}
            '\n' if !is_quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            c => cell.push(c),
        }
    }
    rows
}

/// Asserts that a file has one value a cell, plain numbers, and columns whose names say what they hold.
fn assert_is_plain(name: &str, csv: &str) {
    // Columns of words that may be numbers.
    const WORDS: [&str; 4] = ["status", "status_of_robots_txt", "title", "note"];
    let rows = cells(csv);
    let (heading, rows) = rows.split_first().unwrap();
    let is_name = |name: &&String| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    assert!(heading.iter().all(|name| is_name(&name) && heading.iter().filter(|other| *other == name).count() == 1));
    assert!(!rows.is_empty() && rows.iter().all(|row| row.len() == heading.len()), "{name}: {csv}");
    for (place, column) in heading.iter().enumerate() {
        let values: Vec<&str> = rows.iter().map(|row| &*row[place]).filter(|value| !value.is_empty()).collect();
        let numbers: Vec<f64> = values.iter().filter_map(|value| value.parse().ok()).collect();
        let is_of_numbers = !numbers.is_empty() && !WORDS.contains(&&**column);
        assert!(!is_of_numbers || numbers.len() == values.len(), "{name}, {column}: {values:?}");
        if column.ends_with("share") || column.ends_with("rate") || column.ends_with("score") {
            assert!(
                numbers.len() == values.len() && numbers.iter().all(|n| (0.0..=1.0).contains(n)),
                "{name}, {column}"
            );
        }
        for value in values {
            let is_one = value.split(' ').filter(|word| word.contains("://")).count() < 2;
            assert!(is_one && !value.contains(" %") && !value.contains('–'), "{name}, {column}: {value}");
            let starts_with_number = value.split(' ').next().is_some_and(|word| word.parse::<f64>().is_ok());
            assert!(
                !starts_with_number || !value.contains(' ') || WORDS.contains(&&**column),
                "{name}, {column}: {value}"
            );
        }
    }
}

#[test]
fn every_csv_has_one_value_a_cell_and_plain_numbers() {
    let (_web, shop) = shop();
    let place = Place::new();
    crawl(&place, &shop, "out").finish().expect_code(0);
    *shop.lines.lock().unwrap() = vec!["Disallow: /print/".to_owned(), "Disallow: /p/7".to_owned()];
    crawl(&place, &shop, "again").finish().expect_code(0);
    place.run(["report", "again", "--against", "out"]).finish().expect_code(0);
    place.run(["redirects", "out", "again", "-o", "map.csv"]).finish().expect_code(10);
    place.run(["export", "out", "--format", "csv", "-o", "rates.csv"]).finish().expect_code(0);
    place.run(["demo", "-o", "demo", "-q"]).finish().expect_code(0);
    let mut names = BTreeSet::new();
    for folder in ["out/report_files", "again/comparison_files", "demo/report_files", "."] {
        for file in std::fs::read_dir(place.path(folder)).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if name.ends_with(".csv") {
                assert_is_plain(&format!("{folder}/{name}"), &std::fs::read_to_string(&path).unwrap());
                names.insert(name);
            }
        }
    }
    let expected = "audit.csv between-hosts.csv causes.csv changes.csv clusters.csv directories.csv duplicates.csv failures.csv frames.csv \
                    hosts.csv left-out.csv map.csv origins.csv patterns.csv rates.csv redirects.csv thresholds.csv";
    let missing: Vec<&str> = expected.split(' ').filter(|name| !names.contains(*name)).collect();
    assert!(missing.is_empty(), "{missing:?} of {names:?}");
}
