//! The dashboard of a running crawl, for programs and in a browser.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::foreign::{Foreign, run};
use crate::needs::{Axe, PythonModule, has_all, has_for_part};
use crate::program::{Place, Running};
use crate::web::{Answer, Content, Web};
use crate::words::words_of;

/// An endless site where every third page is a duplicate.
struct Endless;

impl Content for Endless {
    fn answer(&self, url: &str, _: usize) -> Answer {
        let number: u64 = url.rsplit('/').next().unwrap_or_default().parse().unwrap_or(0);
        let text = words_of(if number % 3 == 2 { 2 } else { number }, "dashboard", 60).join(" ");
        let links = (1..4).map(|step| format!("<a href=/{}>next</a>", number * 3 + step));
        let body = format!("<title>Page {number}</title><p>{text}</p>{}", links.collect::<String>());
        Answer { delay: Duration::from_millis(20), ..Answer::html(body) }
    }
}

/// Starts a crawl of that site; returns it with the address of its dashboard.
fn watched(place: &Place) -> (Web, Running, String) {
    let web = Web::start(1, |_| Arc::new(Endless));
    let seeds = [format!("{}/1", web.origins()[0])];
    let mut running = place.crawl(&seeds).args(["--dashboard", "127.0.0.1:0", "--host-concurrency", "2"]).start();
    assert!(running.wait_until(|| place.path("out/status.json").exists()), "{}", running.stderr());
    let told = running.stderr();
    let address = told.lines().find_map(|line| line.strip_prefix("dashboard: http://")).unwrap();
    (web, running, address.trim_end_matches('/').to_owned())
}

/// Returns the head and the body of a response.
fn ask(address: &str, method: &str, path: &str, host: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

fn get(address: &str, path: &str) -> (String, String) {
    let (head, body) = ask(address, "GET", path, address);
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    (head, body)
}

/// Returns the status of the crawl, once it has compared pages.
fn figures(address: &str, running: &mut Running) -> Value {
    let told = || -> Value { serde_json::from_str(&get(address, "/status.json").1).unwrap() };
    assert!(running.wait_until(|| told()["duplicate_rate"].as_f64() > Some(0.0)));
    told()
}

#[test]
fn the_dashboard_serves_what_status_prints() {
    let place = Place::new();
    let (web, mut running, address) = watched(&place);
    let told = figures(&address, &mut running);
    let status = place.run(["status", "out", "--json"]).finish().expect_code(0).json();
    for name in status.as_object().unwrap().keys() {
        assert!(told.get(name).is_some(), "{name} in {told}");
    }
    assert!(told["history"].as_array().unwrap().last().unwrap()["queued"] == told["queued"], "{told}");
    assert_eq!(told["waiting"][0]["origin"].as_str(), Some(web.origins()[0].as_str()));
    assert!(["in-flight", "turn"].contains(&told["waiting"][0]["why"].as_str().unwrap()), "{told}");

    let (head, metrics) = get(&address, "/metrics");
    assert!(head.contains("text/plain; version=0.0.4"), "{head}");
    assert!(
        metrics.contains("\nndcrawl_duplicate_rate 0.") && metrics.contains("ndcrawl_waiting_queued{origin=\"http://")
    );
    read_by_prometheus(&place, &metrics);

    running.signal("INT");
    running.finish().expect_code(130);
    assert!(TcpStream::connect(&address).is_err(), "the dashboard ends with the crawl");
}

/// Checks that Prometheus's client reads all samples.
fn read_by_prometheus(place: &Place, metrics: &str) {
    if !has_for_part(&[PythonModule("prometheus_client")]) {
        return;
    }
    let mut command = Command::new("python3");
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools/metrics.py"));
    let found = run(command.stdin(fs::File::open(place.write("metrics", metrics)).unwrap()));
    let found: Vec<Value> = found.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let samples: Vec<&str> = metrics.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(found.len(), samples.len(), "{found:?}");
    for (sample, found) in samples.iter().zip(&found) {
        let (name, value) = sample.rsplit_once(' ').unwrap();
        assert_eq!(found[2].as_f64(), Some(value.parse().unwrap()), "{sample}");
        assert!(name.starts_with(found[0].as_str().unwrap()), "{sample} {found}");
    }
}

#[test]
fn a_page_of_another_origin_cannot_read_the_dashboard() {
    let place = Place::new();
    let (_web, running, address) = watched(&place);
    let status = |method: &str, path: &str, host: &str| ask(&address, method, path, host).0[9..12].to_owned();
    assert_eq!(status("GET", "/", "evil.test"), "403");
    assert_eq!(status("GET", "/status.json", &format!("evil.test:{}", address.rsplit(':').next().unwrap())), "403");
    assert_eq!(status("GET", "/", "localhost:1"), "200");
    assert_eq!(status("POST", "/", &address), "405");
    assert_eq!(status("GET", "/../../etc/passwd", &address), "404");
    let (head, page) = get(&address, "/");
    let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'self'; connect-src 'self'";
    assert!(page.contains(policy) && !page.contains("https:"), "{page}");
    assert!(head.contains("x-frame-options: DENY") && head.contains("cache-control: no-store"), "{head}");
    running.signal("INT");
    running.finish().expect_code(130);
}

#[test]
fn a_taken_or_public_address_is_refused_before_anything_is_written() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let place = Place::new();
    let refused = place.run(["--dashboard", &address, "http://127.0.0.1:1/", "-o", "out"]).finish().expect_code(2);
    assert!(refused.errors()[0].contains(&format!("--dashboard: cannot serve the dashboard at {address}")));
    assert!(refused.stderr.contains("hint: choose another port"), "{}", refused.stderr);
    let public = place.run(["--dashboard", "0.0.0.0:0", "http://127.0.0.1:1/", "-o", "out"]).finish().expect_code(2);
    assert!(public.stderr.contains("hint: ") && public.stderr.contains("--dashboard-public"), "{}", public.stderr);
    assert!(place.names().is_empty(), "{:?}", place.names());
    let flags =
        ["--dashboard", "0.0.0.0:0", "--dashboard-public", "http://127.0.0.1:1/", "-o", "out", "--allow-private"];
    let served = place.run(flags).finish().expect_code(1);
    assert!(served.stderr.contains("dashboard: http://0.0.0.0:"), "{}", served.stderr);
}

/// In a browser, the figures update, no other origin is contacted, and the end is shown.
/// `AXE_FOLDER` names a folder with the npm packages `axe-core` and `puppeteer-core`.
#[test]
#[cfg_attr(not(can_use_axe), ignore = "needs node, chromium and AXE_FOLDER")]
fn a_browser_shows_the_progress_of_a_crawl() {
    if !has_all(&[Axe]) {
        return;
    }
    let place = Place::new();
    let (_web, mut running, address) = watched(&place);
    figures(&address, &mut running);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools/dashboard.mjs");
    let mut node = Command::new("node");
    node.arg(script).arg(format!("http://{address}/")).current_dir(std::env::var_os("AXE_FOLDER").unwrap());
    let mut node = Foreign::start(&mut node);
    assert_eq!(node.lines_before("looked"), [""; 0], "what is wrong with the page");
    running.signal("INT");
    running.finish().expect_code(130);
    assert!(node.wait().success());
    assert_eq!(node.stdout(), "looked\nlost\n");
}
