//! Many hosts on few addresses, with a log of all requests by the servers' clock.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, Response, StatusCode, Uri, header};
use tokio::sync::oneshot;

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
    port: u16,
    addresses: usize,
    pages: usize,
    log: Log,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
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
        let listeners = listeners(addresses);
        let port = listeners[0].local_addr().unwrap().port();
        let log = Log::default();
        let (stop, stopped) = oneshot::channel();
        let site = Site { port, names: addresses * SHARE, pages, log: log.clone() };
        let thread = std::thread::spawn(move || serve(listeners, &site, stopped));
        Self { port, addresses, pages, log, stop: Some(stop), thread: Some(thread) }
    }

    fn names(&self) -> usize {
        self.addresses * SHARE
    }

    pub fn seeds(&self) -> String {
        (0..self.names()).map(|name| format!("{}/\n", origin(name, self.port))).collect()
    }

    /// The arguments that resolve the hosts.
    pub fn resolve(&self) -> Vec<String> {
        let at = |name: usize| format!("{}:127.0.0.{}", host(name), 2 + name / SHARE);
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

impl Drop for Crowd {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn least_gap(visits: &BTreeMap<usize, Vec<Visit>>) -> Duration {
    let gaps = visits.values().flat_map(|visits| visits.windows(2).map(|pair| pair[1].begin - pair[0].begin));
    gaps.min().unwrap_or_default()
}

/// Computes the figures; the visits are sorted by their beginnings.
fn most_at_once(visits: &[Visit]) -> usize {
    let beside = |(place, visit): (usize, &Visit)| {
        1 + visits[..place].iter().rev().take(64).filter(|earlier| earlier.end > visit.begin).count()
    };
    visits.iter().enumerate().map(beside).max().unwrap_or_default()
}

fn host(name: usize) -> String {
    format!("name{name:02}.test")
}

fn origin(name: usize, port: u16) -> String {
    format!("http://{}:{port}", host(name))
}

/// Tries ports until one is free on all addresses.
fn listeners(addresses: usize) -> Vec<TcpListener> {
    for _ in 0..50 {
        let first = TcpListener::bind("127.0.0.2:0").unwrap();
        let port = first.local_addr().unwrap().port();
        let others = (3..addresses + 2).map(|address| TcpListener::bind(format!("127.0.0.{address}:{port}")));
        if let Ok(others) = others.collect::<Result<Vec<_>, _>>() {
            return std::iter::once(first).chain(others).collect();
        }
    }
    panic!("no port is free on {addresses} loopback addresses");
}

fn serve(listeners: Vec<TcpListener>, site: &Site, stopped: oneshot::Receiver<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async move {
        for listener in listeners {
            listener.set_nonblocking(true).unwrap();
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let router = Router::new().fallback(answer).with_state(site.clone());
            tokio::spawn(async move { axum::serve(listener, router).await });
        }
        let _ = stopped.await;
    });
    runtime.shutdown_background();
}

#[derive(Clone)]
struct Site {
    port: u16,
    names: usize,
    pages: usize,
    log: Log,
}

async fn answer(State(site): State<Site>, headers: HeaderMap, uri: Uri) -> Response<String> {
    let begin = Instant::now();
    let named = headers[header::HOST].to_str().unwrap();
    let name: usize = named["name".len()..].split('.').next().unwrap().parse().unwrap();
    let response = site.answer(name, uri.path());
    if number_in(uri.path(), "/page/").is_some_and(|page| page % SLOW == SLOW - 1) {
        tokio::time::sleep(SLOWNESS).await;
    }
    let is_known = response.status() != StatusCode::NOT_FOUND;
    site.log.lock().unwrap().push(Visit { name, is_known, begin, end: Instant::now() });
    response
}

fn number_in(path: &str, prefix: &str) -> Option<usize> {
    path.strip_prefix(prefix)?.parse().ok()
}

impl Site {
    fn answer(&self, name: usize, path: &str) -> Response<String> {
        if path == "/robots.txt" {
            return Response::builder().body("User-agent: *\nDisallow: /private/\n".to_owned()).unwrap();
        }
        let page = number_in(path, "/page/").filter(|page| *page < self.pages);
        let from = path.strip_prefix("/from/").and_then(|rest| rest.rsplit('/').next()?.parse::<usize>().ok());
        if path != "/" && page.or(from).is_none() {
            return Response::builder().status(404).body("There is no such page.".to_owned()).unwrap();
        }
        let redirected = page.filter(|page| page % REDIRECTS == 0);
        if let Some(page) = redirected {
            let elsewhere = origin((name + 1 + page) % self.names, self.port);
            let target = format!("{elsewhere}/from/{name}/{page}");
            return Response::builder().status(301).header(header::LOCATION, target).body(String::new()).unwrap();
        }
        let links = if path == "/" { self.pages } else { 0 };
        let links: String = (0..links).map(|page| format!("<a href=\"/page/{page}\">to the</a>\n")).collect();
        let words = words_of(name as u64, path, 60);
        let text = sentences(&words);
        let body = format!("<!DOCTYPE html><html lang=\"en\"><title>{}</title><p>{text}</p>{links}</html>", words[0]);
        Response::builder().header(header::CONTENT_TYPE, "text/html; charset=utf-8").body(body).unwrap()
    }
}
