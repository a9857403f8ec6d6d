//! Endless sites: the crawl is bounded and loses nothing.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use crate::program::{Place, Run};
use crate::web::{Answer, Content, Web};
use crate::words::{sentences, words_of};

const COLOURS: u32 = 9;
const ORDERS: u32 = 12;
const VIEWS: u32 = 6;
const CHAPTERS: u32 = 60;
/// Chapters of the second version of the manual only.
const NEW_CHAPTERS: u32 = 5;
/// Months of the calendar in which there is something, counted from the one that it begins with.
const EVENTS: [i64; 4] = [-5, -1, 3, 8];

/// A shop whose lists can be had in many orders and views, of which none makes a difference, while the
/// colour does; a calendar and a counter without end; and a manual in two versions, as unique and as
/// repetitive as real ones.
struct Traps {
    origin: String,
}

impl Traps {
    fn page(&self, path: &str) -> Option<String> {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let mut parts = path.trim_start_matches('/').split('/');
        let first = parts.next().unwrap_or_default();
        let number = parts.next().and_then(|part| part.parse::<i64>().ok());
        Some(match (first, number) {
            ("", _) => html("index", &self.front_links()),
            ("list", _) => {
                let colour = value(query, "colour")?;
                let others = (0..ORDERS * VIEWS)
                    .map(|other| format!("/list?colour={colour}&sort={}&view={}", other / VIEWS, other % VIEWS));
                // The last color comes late, long after the orders and views are closed.
                let late = (colour == 1).then(|| "/about/1".to_owned());
                html(&format!("colour {colour}"), &others.chain(late).collect::<Vec<_>>())
            }
            ("about", Some(step)) => {
                let next = if step < 8 { format!("/about/{}", step + 1) } else { format!("/list?colour={COLOURS}") };
                html(&format!("about {step}"), &[next])
            }
            ("calendar", Some(month)) => {
                let what = if EVENTS.contains(&month) { format!("event {month}") } else { "nothing".to_owned() };
                html(&what, &[format!("/calendar/{}", month + 1), format!("/calendar/{}", month - 1)])
            }
            ("counter", Some(count)) => {
                html("counter", &(1..=10).map(|step| format!("/counter/{}", count * 10 + step)).collect::<Vec<_>>())
            }
            ("manual", Some(version)) => {
                let chapter: u32 = parts.next()?.parse().ok()?;
                let is_new = version == 2 && chapter >= CHAPTERS;
                html(&format!("chapter {chapter} {is_new}"), &[])
            }
            _ => return None,
        })
    }

    fn front_links(&self) -> Vec<String> {
        let colours = (1..COLOURS).map(|colour| format!("/list?colour={colour}"));
        let manual = |version| (0..CHAPTERS).map(move |chapter| format!("/manual/{version}/{chapter}"));
        let new = (CHAPTERS..CHAPTERS + NEW_CHAPTERS).map(|chapter| format!("/manual/2/{chapter}"));
        let traps = ["/calendar/0", "/counter/0"].map(str::to_owned);
        colours.chain(traps).chain(manual(1)).chain(manual(2)).chain(new).collect()
    }

    /// The unique pages.
    fn unique(&self) -> usize {
        let chapters = CHAPTERS + NEW_CHAPTERS;
        // The front page, one empty month and one page of the counter; the steps to the last colour.
        3 + 8 + COLOURS as usize + EVENTS.len() + chapters as usize
    }
}

impl Content for Traps {
    fn answer(&self, url: &str, _before: usize) -> Answer {
        let page = url.strip_prefix(&self.origin).and_then(|path| self.page(path));
        page.map_or_else(|| Answer::error(404), Answer::html)
    }
}

fn value(query: &str, name: &str) -> Option<u32> {
    let values = query.split('&').filter_map(|pair| pair.split_once('='));
    values.filter(|(known, _)| *known == name).find_map(|(_, value)| value.parse().ok())
}

/// The links have function words for their text, since pages must not come to share terms through them.
fn html(purpose: &str, links: &[String]) -> String {
    let words = words_of(1, purpose, 60);
    let links: String =
        links.iter().map(|link| format!("<a href=\"{}\">to the</a>\n", link.replace('&', "&amp;"))).collect();
    format!(
        "<!DOCTYPE html><html lang=\"en\"><head><title>{}</title></head><body><p>{}</p>{links}</body></html>",
        words[0],
        sentences(&words)
    )
}

fn web() -> (Web, Arc<Traps>) {
    let mut traps = None;
    let web = Web::start(1, |origins| {
        let planned = Arc::new(Traps { origin: origins[0].clone() });
        traps = Some(Arc::clone(&planned));
        planned
    });
    (web, traps.unwrap())
}

/// One request at a time, so that the order of pages is the same in every run. Without rules that predict
/// duplicates, so that only the trap guard bounds the crawl.
fn crawl(place: &Place, web: &Web, guard: &str) -> Run {
    let limits = ["--duplicate-links", "follow", "--depth", "30", "--max-pages-per-host", "2500"];
    place.crawl(&[format!("{}/", web.origins()[0])]).args(limits).args([
        "--host-concurrency",
        "1",
        "--trap-guard",
        guard,
    ])
}

/// The closed patterns.
fn patterns(pages: &[Value]) -> BTreeSet<&str> {
    pages.iter().filter_map(|line| line["pattern"].as_str()).collect()
}

fn stored(pages: &[Value]) -> BTreeSet<String> {
    let stored = pages.iter().filter(|line| line["outcome"] == "stored");
    stored.map(|line| line["url"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn traps_are_bounded_and_no_unique_page_is_lost() {
    let (web, traps) = web();
    let unguarded = Place::new();
    crawl(&unguarded, &web, "off").finish().expect_code(0);
    let without = web.pages_asked();
    let place = Place::new();
    let summary = crawl(&place, &web, "on").args(["--json"]).finish().expect_code(0).json();
    let with = web.pages_asked() - without;
    println!("{without} requests without the guard, {with} with it");
    let pages = place.pages();
    assert_eq!(stored(&pages).len(), traps.unique());
    assert!(stored(&pages).is_superset(&stored(&unguarded.pages())));
    assert!(with * 4 < without, "{with} of {without} requests");

    let left: Vec<&Value> = pages.iter().filter(|line| line["reason"] == "pattern").collect();
    assert_eq!(summary["repeating"], left.len());
    let patterns = patterns(&pages);
    let origin = &web.origins()[0];
    let expected = ["/list?sort=", "/list?view=", "/calendar/*", "/calendar/-*", "/counter/*"]
        .map(|pattern| format!("{origin}{pattern}"));
    assert!(patterns.iter().all(|pattern| expected.iter().any(|known| known == pattern)), "{patterns:?}");
    assert!(left.iter().all(|line| line["outcome"] == "excluded" && line["requests"] == 0));

    let url = left[0]["url"].as_str().unwrap();
    let told = place.run(["explain", "out", url]).finish().expect_code(0).stdout;
    assert!(told.contains("are duplicates only"), "{told}");
    place.run(["verify", "out"]).finish().expect_code(0);
}

#[test]
fn traps_stay_closed_after_a_kill() {
    let (web, traps) = web();
    let place = Place::new();
    crawl(&place, &web, "on").finish().expect_code(0);
    let asked = web.pages_asked();

    let killed = Place::new();
    let mut running = crawl(&killed, &web, "on").start();
    assert!(running.wait_until(|| web.pages_asked() - asked > 150), "it ended too soon to be killed");
    running.kill();
    crawl(&killed, &web, "on").finish().expect_code(0);
    let pages = killed.pages();
    assert_eq!((stored(&pages), stored(&pages).len()), (stored(&place.pages()), traps.unique()));
    let undisturbed = place.pages();
    assert_eq!(patterns(&pages), patterns(&undisturbed));
    let asked_again = web.pages_asked().saturating_sub(2 * asked);
    assert!(asked_again < asked / 4, "{asked_again} requests more than the {asked} without a kill");
    killed.run(["verify", "out"]).finish().expect_code(0);
}

const THREADS: u32 = 12;
const SHELVES: [&str; 8] = ["red", "blue", "green", "large", "small", "cotton", "wool", "new"];

/// Real pages in the same directories as traps: a forum whose scripts ask every visitor to log in, a shop whose facets
/// make no difference, and papers beside sessions. The real pages come last.
struct Neighbours {
    origin: String,
}

impl Neighbours {
    fn page(&self, path: &str) -> Option<String> {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let segments: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        Some(match segments[..] {
            [""] => html("front", &["/forum/board-1", "/shop/red/blue/green", "/papers/session-0"].map(str::to_owned)),
            ["forum", name] => match name.split_once('-').and_then(|(kind, number)| Some((kind, number.parse().ok()?)))
            {
                // Each board names scripts with all kinds of parameters, and the next board.
                Some(("board", number)) => html(&format!("board {number}"), &Self::board_links(number)),
                Some(("thread", number)) => html(&format!("thread {number}"), &[]),
                _ if ["member", "report", "post"].contains(&name) && !query.is_empty() => html("log in first", &[]),
                _ => return None,
            },
            ["shop", .., last] if segments.len() > 3 => {
                let next = SHELVES.map(|shelf| format!("/shop/{}/{}/{shelf}", segments[2], last));
                let products = (last == "new").then(|| (1..5).map(|product| format!("/shop/item-{product}")));
                html("all shelves", &next.into_iter().chain(products.into_iter().flatten()).collect::<Vec<_>>())
            }
            ["shop", item] => html(&format!("shop {item}"), &[]),
            ["papers", name] => match name.strip_prefix("session-") {
                Some(session) => {
                    let session: u32 = session.parse().ok()?;
                    let sessions = (1..6).map(|step| format!("/papers/session-{}", (session * 5 + step) % 400));
                    html("papers", &sessions.collect::<Vec<_>>())
                }
                None => html(&format!("papers {name}"), &[]),
            },
            _ => return None,
        })
    }

    fn board_links(board: u32) -> Vec<String> {
        let scripts = (0..40).flat_map(|user| {
            let user = board * 100 + user;
            [format!("member?action=mail&user={user}"), format!("report?user={user}"), format!("post?reply={user}")]
        });
        let mut links: Vec<String> = scripts.map(|script| format!("/forum/{script}")).collect();
        if board < 4 {
            links.push(format!("/forum/board-{}", board + 1));
        } else {
            links.extend((0..THREADS).map(|thread| format!("/forum/thread-{thread}")));
            links.extend(SHELVES.map(|shelf| format!("/papers/on-{shelf}")));
        }
        links
    }

    /// The unique pages: the front page, boards, threads, the log-in, the shelves, the items, the papers.
    fn unique() -> usize {
        1 + 4 + THREADS as usize + 1 + 1 + 4 + 1 + SHELVES.len()
    }
}

impl Content for Neighbours {
    fn answer(&self, url: &str, _before: usize) -> Answer {
        let page = url.strip_prefix(&self.origin).and_then(|path| self.page(path));
        page.map_or_else(|| Answer::error(404), Answer::html)
    }
}

#[test]
fn real_pages_in_the_directory_of_a_trap_are_fetched() {
    let web = Web::start(1, |origins| Arc::new(Neighbours { origin: origins[0].clone() }));
    let unguarded = Place::new();
    crawl(&unguarded, &web, "off").finish().expect_code(0);
    let without = web.pages_asked();
    let place = Place::new();
    crawl(&place, &web, "on").finish().expect_code(0);
    let with = web.pages_asked() - without;
    println!("{without} requests without the guard, {with} with it");
    let pages = place.pages();
    assert_eq!(stored(&unguarded.pages()).len(), Neighbours::unique());
    assert_eq!(stored(&pages), stored(&unguarded.pages()));
    assert!(with * 2 < without, "{with} of {without} requests");
    let real = ["/board-", "/thread-", "/item-", "/on-"];
    let closed = pages.iter().filter(|line| line["reason"] == "pattern").map(|line| line["url"].as_str().unwrap());
    assert!(closed.clone().all(|url| !real.iter().any(|name| url.contains(name))), "{:?}", patterns(&pages));
    assert!(closed.count() > 0);
}
