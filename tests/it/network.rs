//! Dead addresses, lost connections and no network at all.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::invariants::{lines, outcome, with_outcome};
use crate::program::Place;
use crate::words::{sentences, words_of};

/// A small site of three pages that resets its first connections.
struct Site {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Site {
    fn start(address: &str, lost: usize) -> Option<Self> {
        let listener = TcpListener::bind(address).ok()?;
        let (address, connections) = (listener.local_addr().unwrap(), Arc::<AtomicUsize>::default());
        let count = connections.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let is_lost = count.fetch_add(1, Ordering::SeqCst) < lost;
                std::thread::spawn(move || if is_lost { drop(stream) } else { serve(stream) });
            }
        });
        Some(Self { address, connections })
    }

    fn port(&self) -> u16 {
        self.address.port()
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Answers one request. A connection that is dropped with unread bytes is reset.
fn serve(mut stream: TcpStream) {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if !matches!(stream.read(&mut byte), Ok(1)) {
            return;
        }
        request.push(byte[0]);
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    let path = request.split(' ').nth(1).unwrap_or_default();
    let status = if path == "/robots.txt" { "404 Not Found" } else { "200 OK" };
    let links = if path == "/" { "<a href=/one>one</a> <a href=/two>two</a>" } else { "" };
    let text = sentences(&words_of(11, path, 120));
    let body = format!("<!DOCTYPE html><title>{path}</title><body>{links}<p>{text}</p>");
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: text/html\r\nConnection: close\r\n");
    let _ = stream.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
}

fn stored(place: &Place) -> usize {
    with_outcome(&lines(&place.path("out")), "stored").len()
}

fn resolve(addresses: &[&str]) -> Vec<String> {
    addresses.iter().flat_map(|address| ["--resolve".to_owned(), format!("dual.test:{address}")]).collect()
}

#[test]
fn dead_addresses_of_a_name_give_way_to_a_living_one() {
    let site = Site::start("127.0.0.1:0", 0).unwrap();
    for addresses in [
        &["127.0.0.77", "127.0.0.1"][..],
        &["127.0.0.77", "127.0.0.78", "127.0.0.79", "::1", "127.0.0.1"],
        &["127.0.0.1", "127.0.0.77"],
    ] {
        let place = Place::new();
        let seed = format!("http://dual.test:{}/", site.port());
        let run = place.crawl(&[seed]).args(resolve(addresses)).args(["--soft-404", "off"]).finish().expect_code(0);
        assert_eq!(stored(&place), 3, "{addresses:?}\n{}", run.stderr);
    }
}

#[test]
fn a_name_of_which_every_address_is_dead_fails_and_says_why() {
    let place = Place::new();
    let port = Site::start("127.0.0.1:0", 0).unwrap().port();
    let seed = format!("http://dual.test:{port}/");
    let run = place.crawl(&[&seed]).args(resolve(&["127.0.0.77", "127.0.0.78"])).finish().expect_code(1);
    assert_eq!(outcome(&lines(&place.path("out"))[&seed]), "failed");
    assert!(run.stderr.contains("127.0.0.77, 127.0.0.78: "), "{}", run.stderr);
    assert!(run.stderr.contains("no seed could be fetched"), "{}", run.stderr);
}

#[test]
fn a_server_that_listens_to_one_family_only_is_found_by_name() {
    let sites = ["127.0.0.1:0", "[::1]:0"].map(|address| Site::start(address, 0));
    for site in sites.into_iter().flatten() {
        let place = Place::new();
        let seed = format!("http://localhost:{}/", site.port());
        let run = place.crawl(&[seed]).args(["--soft-404", "off"]).finish().expect_code(0);
        assert_eq!(stored(&place), 3, "{}\n{}", site.address, run.stderr);
    }
}

#[test]
fn connections_that_are_lost_at_the_start_cost_no_seed() {
    let lost = Site::start("127.0.0.1:0", 1).unwrap();
    let place = Place::new();
    place.crawl(&[format!("http://{}/", lost.address)]).args(["--soft-404", "off"]).finish().expect_code(0);
    assert_eq!(stored(&place), 3);
    assert_eq!(lost.connections(), 5, "robots.txt twice and three pages");
}

#[test]
fn a_recrawl_tries_again_before_it_says_that_there_is_no_network() {
    let place = Place::new();
    let site = Site::start("127.0.0.1:0", 0).unwrap();
    let seed = format!("http://dual.test:{}/", site.port());
    let crawl = |addresses: &[&str]| {
        place.crawl(&[&seed]).args(resolve(addresses)).args(["--soft-404", "off"]).args(["--recrawl"])
    };
    place.crawl(&[&seed]).args(resolve(&["127.0.0.1"])).args(["--soft-404", "off"]).finish().expect_code(0);
    crawl(&["127.0.0.77"]).finish().expect_code(1);
    crawl(&["127.0.0.77", "127.0.0.1"]).finish().expect_code(0);
    let kept = with_outcome(&lines(&place.path("out")), "not-modified").len();
    assert_eq!(kept, 3, "the pages of before are still there to compare with");
}
