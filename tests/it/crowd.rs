//! Many hosts on few addresses, with a log of all requests by the servers' clock.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, header};

use crate::web::{Answer, Content, Web};
use crate::words::{sentences, words_of};

/// Hosts on one address.
const SHARE: usize = 2;
/// One page in so many redirects to a page of another host that nothing else links to.
const REDIRECTS: usize = 9;
/// One page in so many is slow.
const SLOW: usize = 50;
const SLOWNESS: Duration = Duration::from_millis(80);

/// Sites that link to each other; dropping it stops them.
pub struct Crowd {
    web: Web,
    addresses: usize,
    pages: usize,
    log: Log,
}

type Log = Arc<Mutex<Vec<Visit>>>;

/// One request as the server saw it.
#[derive(Clone, Copy)]
struct Visit {
    name: usize,
    /// Whether the page exists; soft-404 probes request pages that do not.
    is_known: bool,
    begin: Instant,
    end: Instant,
}

/// Figures of the log about the crawler's politeness.
#[derive(Debug)]
pub struct Manners {
    #[allow(dead_code)] // for the measurement
    pub requests: usize,
    /// Of these, requests for pages that exist.
    pub known: usize,
    /// From the first request to the last one.
    #[allow(dead_code)] // for the measurement
    pub elapsed: Duration,
    /// The shortest delay between two requests to a host, start to start.
    pub least_by_name: Duration,
    /// The shortest delay between two requests to an address.
    pub least_by_address: Duration,
    /// The most concurrent requests to an address.
    pub most_at_once: usize,
}

impl Crowd {
    /// Starts two hosts on each of so many addresses (127.0.0.2 ...), with so many pages each.
    pub fn start(addresses: usize, pages: usize) -> Self {
        let log = Log::default();
        let of_web: Vec<String> = (0..addresses).map(address).collect();
        let web = Web::start_at(&of_web, |origins| {
            let port = origins[0].rsplit(':').next().unwrap().to_owned();
            Arc::new(Hosts { port, names: addresses * SHARE, pages, log: log.clone() })
        });
        Self { web, addresses, pages, log }
    }

    fn port(&self) -> &str {
        self.web.origins()[0].rsplit(':').next().unwrap()
    }

    fn names(&self) -> usize {
        self.addresses * SHARE
    }

    pub fn seeds(&self) -> String {
        (0..self.names()).map(|name| format!("{}/\n", origin(name, self.port()))).collect()
    }

    /// The arguments that resolve the hosts.
    pub fn resolve(&self) -> Vec<String> {
        let at = |name: usize| format!("{}:{}", host(name), address(name / SHARE));
        (0..self.names()).flat_map(|name| ["--resolve".to_owned(), at(name)]).collect()
    }

    /// The number of requests for a complete crawl: robots.txt, the front page, its links and their redirects.
    pub fn requests(&self) -> usize {
        self.names() * (2 + self.pages + (0..self.pages).filter(|page| page % REDIRECTS == 0).count())
    }

    /// The highest rate that these delays allow, in requests a second.
    #[allow(dead_code)] // for the measurement
    pub fn fastest(&self, by_name: Duration, by_address: Duration) -> f64 {
        let of_names = self.names() as f64 / by_name.as_secs_f64();
        of_names.min(self.addresses as f64 / by_address.as_secs_f64())
    }

    pub fn manners(&self) -> Manners {
        let mut log = self.log.lock().unwrap().clone();
        log.sort_by_key(|visit| visit.begin);
        let (mut by_name, mut by_address) =
            (BTreeMap::<usize, Vec<Visit>>::new(), BTreeMap::<usize, Vec<Visit>>::new());
        for &visit in &log {
            by_name.entry(visit.name).or_default().push(visit);
            by_address.entry(visit.name / SHARE).or_default().push(visit);
        }
        Manners {
            requests: log.len(),
            known: log.iter().filter(|visit| visit.is_known).count(),
            elapsed: log[log.len() - 1].begin - log[0].begin,
            least_by_name: least_gap(&by_name),
            least_by_address: least_gap(&by_address),
            most_at_once: by_address.values().map(|visits| most_at_once(visits)).max().unwrap_or_default(),
        }
    }
}

fn least_gap(visits: &BTreeMap<usize, Vec<Visit>>) -> Duration {
    let gaps = visits.values().flat_map(|visits| visits.windows(2).map(|pair| pair[1].begin - pair[0].begin));
    gaps.min().unwrap_or_default()
}

/// The most concurrent visits; `visits` are sorted by their beginnings.
fn most_at_once(visits: &[Visit]) -> usize {
    let beside = |(place, visit): (usize, &Visit)| {
        1 + visits[..place].iter().rev().take(64).filter(|earlier| earlier.end > visit.begin).count()
    };
    visits.iter().enumerate().map(beside).max().unwrap_or_default()
}

fn host(name: usize) -> String {
    format!("name{name:02}.test")
}

fn origin(name: usize, port: &str) -> String {
    format!("http://{}:{port}", host(name))
}

fn address(number: usize) -> String {
    format!("127.0.0.{}", 2 + number)
}

struct Hosts {
    port: String,
    names: usize,
    pages: usize,
    log: Log,
}

fn number_in(path: &str, prefix: &str) -> Option<usize> {
    path.strip_prefix(prefix)?.parse().ok()
}

/// The number of the host that a request names.
fn name_in(headers: &HeaderMap) -> usize {
    let named = headers[header::HOST].to_str().unwrap();
    named["name".len()..].split('.').next().unwrap().parse().unwrap()
}

/// The path of a URL, which the web builds from the address.
fn path_in(url: &str) -> &str {
    let rest = &url["http://".len()..];
    &rest[rest.find('/').unwrap()..]
}

impl Content for Hosts {
    fn answer(&self, _: &str, _: usize) -> Answer {
        Answer::error(404)
    }

    fn answer_to(&self, url: &str, _: usize, headers: &HeaderMap) -> Answer {
        let path = path_in(url);
        let is_slow = number_in(path, "/page/").is_some_and(|page| page % SLOW == SLOW - 1);
        let delay = if is_slow { SLOWNESS } else { Duration::ZERO };
        Answer { delay, ..self.page(name_in(headers), path) }
    }

    fn is_logged(&self) -> bool {
        false
    }

    fn finished(&self, _: &str, headers: &HeaderMap, status: u16, begin: Instant) {
        let visit = Visit { name: name_in(headers), is_known: status != 404, begin, end: Instant::now() };
        self.log.lock().unwrap().push(visit);
    }
}

impl Hosts {
    fn page(&self, name: usize, path: &str) -> Answer {
        if path == "/robots.txt" {
            return Answer::text("User-agent: *\nDisallow: /private/\n");
        }
        let page = number_in(path, "/page/").filter(|page| *page < self.pages);
        let from = path.strip_prefix("/from/").and_then(|rest| rest.rsplit('/').next()?.parse::<usize>().ok());
        if path != "/" && page.or(from).is_none() {
            return Answer { status: 404, ..Answer::text("There is no such page.") };
        }
        if let Some(page) = page.filter(|page| page % REDIRECTS == 0) {
            let elsewhere = origin((name + 1 + page) % self.names, &self.port);
            return Answer::redirect(&format!("{elsewhere}/from/{name}/{page}"));
        }
        let links = if path == "/" { self.pages } else { 0 };
        let links: String = (0..links).map(|page| format!("<a href=\"/page/{page}\">to the</a>\n")).collect();
        let words = words_of(name as u64, path, 60);
        let text = sentences(&words);
        Answer::html(format!("<!DOCTYPE html><html lang=\"en\"><title>{}</title><p>{text}</p>{links}</html>", words[0]))
    }
}
