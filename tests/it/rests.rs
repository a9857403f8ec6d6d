//! That hosts rest as long as they asked for, across the end of a run.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use crate::program::{Finished, Place, Run};
use crate::web::{Answer, Content, Request, Web};
use crate::words::{sentences, words_of};

/// How long hosts rest here.
const REST: Duration = Duration::from_secs(4);

/// Timers and clocks of two processes differ a little.
const MARGIN: Duration = Duration::from_millis(150);

/// A site of three pages, of which one asks for a rest the first time.
struct Throttled {
    status: u16,
    retry_after: Option<fn() -> String>,
    robots: &'static str,
}

impl Content for Throttled {
    fn answer(&self, url: &str, before: usize) -> Answer {
        let path = &url[url.rfind('/').unwrap()..];
        match path {
            "/robots.txt" if self.robots.is_empty() => Answer::error(404),
            "/robots.txt" => Answer::text(self.robots),
            "/b" if before == 0 && self.status != 200 => {
                let mut answer = Answer::error(self.status);
                answer.headers.extend(self.retry_after.map(|value| ("retry-after", value())));
                answer
            }
            path => {
                let links = if path == "/" { "<a href=/b>b</a> <a href=/c>c</a>" } else { "" };
                let text = sentences(&words_of(5, path, 100));
                Answer::html(format!("<!DOCTYPE html><title>{path}</title><body>{links}<p>{text}</p>"))
            }
        }
    }
}

fn web(site: Throttled) -> Web {
    Web::start(1, |_| Arc::new(site))
}

const USUAL: Throttled = Throttled { status: 200, retry_after: None, robots: "" };

fn crawl(place: &Place, web: &Web) -> Run {
    let seed = format!("{}/", web.origins()[0]);
    place.run([&seed[..], "-o", "out", "--allow-private", "--soft-404", "off"]).args(["--ip-delay", "0"])
}

fn seconds() -> String {
    REST.as_secs().to_string()
}

/// A date has whole seconds, so that it may be up to one earlier.
fn date() -> String {
    httpdate::fmt_http_date(SystemTime::now() + REST + Duration::from_secs(1))
}

/// Waits until the server has had this request.
fn asked(web: &Web, path: &str) -> bool {
    web.requests().iter().any(|request| request.url.ends_with(path))
}

/// The time from the last request before to the first request after.
#[track_caller]
fn gap(web: &Web, before: usize) -> Duration {
    let requests: Vec<Request> = web.requests();
    let last = requests[..before].iter().map(|request| request.at).max().unwrap();
    requests[before..].iter().map(|request| request.at).min().expect("no request of the second run") - last
}

#[test]
fn a_rest_that_a_host_asked_for_holds_when_the_crawl_is_stopped_in_any_way() {
    let site = |status, retry_after| Throttled { status, retry_after, ..USUAL };
    // The first back-off after a failure is between half a second and one.
    let back_off = Duration::from_millis(500);
    let cases: [(&str, Throttled, Duration); 6] = [
        ("KILL", site(429, Some(seconds)), REST),
        ("INT", site(503, Some(seconds)), REST),
        ("TERM", site(503, Some(date)), REST),
        ("KILL", site(500, Some(seconds)), REST),
        ("KILL", site(502, None), back_off),
        ("KILL", Throttled { robots: "User-agent: *\nCrawl-delay: 4\n", ..USUAL }, REST),
    ];
    let cases = cases.map(|(signal, site, rest)| {
        std::thread::spawn(move || {
            let name = format!("{signal} after {}", site.status);
            let (place, last) = (Place::new(), if site.status == 200 { "/" } else { "/b" });
            let web = web(site);
            let mut running = crawl(&place, &web).args(["--delay", "20ms"]).start();
            // The rest is known a moment after the answer, which is a moment after the request.
            let log = || std::fs::read_to_string(place.path("out/rests.jsonl")).unwrap_or_default();
            let is_known = || ["retry-after", "crawl-delay", "back-off"].iter().any(|why| log().contains(why));
            assert!(running.wait_until(|| asked(&web, last) && is_known()), "{name}");
            running.signal(signal);
            running.finish();
            let before = web.requests().len();
            crawl(&place, &web).args(["--delay", "20ms"]).finish().expect_code(0);
            assert!(gap(&web, before) + MARGIN >= rest, "{name}: {:?}", gap(&web, before));
            assert_eq!(web.asked().len(), 3, "{name}: the crawl is complete");
        })
    });
    cases.into_iter().for_each(|case| case.join().unwrap());
}

#[test]
fn the_gap_of_a_host_holds_from_one_run_to_the_next_one_of_any_kind() {
    let cases: [(&[&str], &[&str]); 3] =
        [(&["--max-pages", "1"], &["--max-pages", "2"]), (&[], &["--recrawl"]), (&[], &["--fresh", "--force"])];
    let cases = cases.map(|(first, second)| {
        std::thread::spawn(move || {
            let (place, web) = (Place::new(), web(USUAL));
            let delay = ["--delay", "4s", "--depth", "1"];
            crawl(&place, &web).args(delay).args(first).finish().expect_code(0);
            let before = web.requests().len();
            let mut running = crawl(&place, &web).args(delay).args(second).start();
            assert!(running.wait_until(|| web.requests().len() > before), "{second:?}");
            assert!(gap(&web, before) + MARGIN >= REST, "{second:?}: {:?}", gap(&web, before));
            running.kill();
        })
    });
    cases.into_iter().for_each(|case| case.join().unwrap());
}

#[test]
fn an_address_rests_for_the_next_host_there() {
    let (place, first, second) = (Place::new(), web(USUAL), web(USUAL));
    let polite =
        ["--ip-delay", "4s", "--delay", "10ms", "--depth", "0", "-o", "out", "--allow-private", "--soft-404", "off"];
    let seed = |web: &Web| format!("{}/", web.origins()[0]);
    place.run([seed(&first)]).args(polite).finish().expect_code(0);
    let last = first.requests().last().unwrap().at;
    place.run([seed(&second)]).args(polite).args(["--fresh", "--force"]).finish().expect_code(0);
    let gap = second.requests()[0].at - last;
    assert!(gap + MARGIN >= REST, "{gap:?}");
}

#[test]
fn a_rest_beyond_the_time_limit_ends_the_crawl_at_once_and_says_who_rests() {
    let hour = || "3600".to_owned();
    let (place, web) = (Place::new(), web(Throttled { status: 429, retry_after: Some(hour), ..USUAL }));
    let limits = ["--delay", "20ms", "--max-retry-after", "2h", "--max-time", "30m"];
    let told = |run: &Finished| {
        let origin = web.origins()[0].clone();
        assert!(run.stderr.contains(&format!("{origin} rests until ")), "{}", run.stderr);
        assert!(run.stderr.contains("Retry-After"), "{}", run.stderr);
    };
    let begin = Instant::now();
    let run = crawl(&place, &web).args(limits).finish().expect_code(0);
    told(&run);
    assert!(run.stderr.contains("the same command resumes the crawl then"), "{}", run.stderr);
    let before = web.requests().len();
    let run = crawl(&place, &web).args(limits).finish().expect_code(0);
    told(&run);
    assert!(run.stderr.contains("note: "), "it is said at the start, too: {}", run.stderr);
    assert_eq!(web.requests().len(), before);
    assert!(begin.elapsed() < Duration::from_secs(600), "nobody waits for the end of the time");
    // Who resumes the crawl may choose a shorter rest.
    crawl(&place, &web).args(["--delay", "20ms", "--max-retry-after", "0s"]).finish().expect_code(0);
    assert_eq!(web.asked().len(), 3);
}

#[test]
fn a_file_of_rests_that_is_missing_or_damaged_does_no_harm() {
    let (place, web) = (Place::new(), web(USUAL));
    crawl(&place, &web).args(["--delay", "20ms"]).finish().expect_code(0);
    for damage in [None, Some(&b"\xff\xfe not a line\n{\"origin\":7}\n"[..]), Some(b"")] {
        let path = place.path("out/rests.jsonl");
        match damage {
            Some(bytes) => std::fs::write(&path, bytes).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        crawl(&place, &web).args(["--delay", "20ms", "--recrawl"]).finish().expect_code(0);
    }
    place.run(["verify", "out"]).finish().expect_code(0);
}
