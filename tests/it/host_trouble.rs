//! Trouble of a host is the host's: its URLs wait, and none is lost.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::invariants::{lines, with_outcome};
use crate::program::{Place, Run};
use crate::web::{Answer, Content, Web};
use crate::words::{sentences, words_of};

/// A site of ten pages that is in trouble for a while from its third page on.
struct Site {
    status: u16,
    lasts: Duration,
    since: Mutex<Option<Instant>>,
    /// Whether robots.txt is in trouble, too, and from the start.
    of_robots: bool,
    is_well: AtomicBool,
}

impl Site {
    fn new(status: u16, lasts: Duration) -> Self {
        Self { status, lasts, since: Mutex::default(), of_robots: false, is_well: AtomicBool::new(false) }
    }

    fn is_in_trouble(&self, path: &str) -> bool {
        let mut since = self.since.lock().unwrap();
        if since.is_none() && (path == "/p2" || self.of_robots) {
            *since = Some(Instant::now());
        }
        let may_be = self.of_robots || path != "/robots.txt";
        may_be && !self.is_well.load(Ordering::SeqCst) && since.is_some_and(|since| since.elapsed() < self.lasts)
    }
}

impl Content for Site {
    fn answer(&self, url: &str, _: usize) -> Answer {
        let path = &url[url.rfind('/').unwrap()..];
        if self.is_in_trouble(path) {
            return Answer::error(self.status);
        }
        match path {
            "/robots.txt" => Answer::error(404),
            path => {
                let links: String = (0..10).map(|page| format!("<a href=/p{page}>{page}</a> ")).collect();
                let text = sentences(&words_of(5, path, 100));
                Answer::html(format!("<!DOCTYPE html><title>{path}</title><body>{links}<p>{text}</p>"))
            }
        }
    }
}

fn crawl(place: &Place, web: &Web) -> Run {
    let seed = format!("{}/", web.origins()[0]);
    place.run([&seed[..], "-o", "out", "--allow-private", "--soft-404", "off", "--depth", "1"]).args([
        "--delay",
        "20ms",
        "--ip-delay",
        "0",
    ])
}

fn stored(place: &Place) -> usize {
    with_outcome(&lines(&place.path("out")), "stored").len()
}

#[test]
fn no_page_is_lost_to_a_host_that_is_away_for_a_while() {
    let cases = [429, 500, 502, 503, 522].map(|status| {
        std::thread::spawn(move || {
            let (place, web) = (Place::new(), Web::start(1, |_| Arc::new(Site::new(status, Duration::from_secs(6)))));
            crawl(&place, &web).finish().expect_code(0);
            // A program that fails behind a server that is well is the fault of its pages.
            let expected = if status == 500 { 0 } else { 11 };
            assert!(stored(&place) >= expected, "{status}: {} stored", stored(&place));
        })
    });
    cases.into_iter().for_each(|case| case.join().unwrap());
}

#[test]
fn a_robots_txt_that_is_busy_is_asked_for_again() {
    let site = Site { of_robots: true, ..Site::new(503, Duration::from_secs(8)) };
    let (place, web) = (Place::new(), Web::start(1, |_| Arc::new(site)));
    crawl(&place, &web).finish().expect_code(0);
    assert_eq!(stored(&place), 11);
}

#[test]
fn urls_of_a_host_that_is_given_up_are_deferred_and_the_same_command_takes_them_up() {
    let site = Arc::new(Site::new(503, Duration::from_secs(600)));
    let (place, shown) = (Place::new(), Arc::clone(&site));
    let web = Web::start(1, move |_| shown);
    let patient = ["--host-patience", "2s"];
    let run = crawl(&place, &web).args(patient).finish().expect_code(0);
    assert!(run.stderr.contains("in trouble for longer than --host-patience"), "{}", run.stderr);
    assert!(run.stderr.contains("the same command takes them up again"), "{}", run.stderr);
    let before = lines(&place.path("out"));
    let deferred = with_outcome(&before, "deferred");
    assert!(!deferred.is_empty(), "{before:?}");
    assert!(with_outcome(&before, "failed").is_empty(), "{before:?}");
    site.is_well.store(true, Ordering::SeqCst);
    crawl(&place, &web).args(patient).finish().expect_code(0);
    assert_eq!(stored(&place), 11);
}
