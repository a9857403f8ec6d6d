//! The dashboard of a running crawl, for programs and in a browser.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::foreign::{Foreign, run};
use crate::needs::{Axe, Program, PythonModule, has_all, has_for_part};
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
    let (web, running, url) = watched_by_url(place);
    (web, running, url.split_once('/').unwrap().0.to_owned())
}

/// The same with all of the URL that was printed, but its scheme.
fn watched_by_url(place: &Place) -> (Web, Running, String) {
    let web = Web::start(1, |_| Arc::new(Endless));
    let seeds = [format!("{}/1", web.origins()[0])];
    let mut running = place.crawl(&seeds).args(["--dashboard", "127.0.0.1:0", "--host-concurrency", "2"]).start();
    assert!(running.wait_until(|| place.path("out/status.json").exists()), "{}", running.stderr());
    let told = running.stderr();
    let url = told.lines().find_map(|line| line.strip_prefix("dashboard: http://")).unwrap();
    (web, running, url.to_owned())
}

/// Returns the address and the token of a URL without scheme.
fn parts(url: &str) -> (&str, &str) {
    url.split_once("/?token=").unwrap()
}

/// Sends a form; returns the status and the answer.
fn post(address: &str, path: &str, headers: &[(&str, &str)], form: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    let lines: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\n{lines}Connection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{form}",
        form.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    (answer[9..12].parse().unwrap(), answer)
}

/// Presses a button as its page does.
fn press(url: &str, path: &str) {
    let (address, token) = parts(url);
    let origin = format!("http://{address}");
    let headers = [("Host", address), ("Origin", &origin), ("Sec-Fetch-Site", "same-origin")];
    let (status, answer) = post(address, path, &headers, &format!("token={token}"));
    assert_eq!(status, 303, "{answer}");
    assert!(answer.contains(&format!("location: /?token={token}")), "{answer}");
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
fn a_paused_crawl_asks_for_nothing_until_it_is_resumed_and_a_stopped_one_goes_on_later() {
    let place = Place::new();
    let (web, mut running, url) = watched_by_url(&place);
    let (address, _) = parts(&url);
    figures(address, &mut running);
    let status = || -> Value { serde_json::from_str(&get(address, "/status.json").1).unwrap() };
    let counts = || (web.requests().len(), status()["leased"].as_u64());

    press(&url, "/pause");
    assert!(running.wait_until(|| status()["state"] == "paused" && status()["leased"] == 0), "{}", status());
    let before = counts();
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(counts(), before, "nothing is asked for");
    let told = place.run(["status", "out"]).finish().expect_code(0).stdout;
    assert!(told.starts_with("Paused after "), "{told}");

    press(&url, "/resume");
    assert!(running.wait_until(|| web.requests().len() > before.0 + 10), "{}", running.stderr());
    assert!(running.wait_until(|| status()["state"] == "running"));
    // A stop ends a pause, too.
    press(&url, "/pause");
    press(&url, "/stop");
    running.finish().expect_code(130);
    let told = place.run(["status", "out"]).finish().expect_code(0).stdout;
    assert!(told.starts_with("Stopped ") && told.contains("interrupted"), "{told}");

    let (seeds, kept) = ([format!("{}/1", web.origins()[0])], place.pages().len());
    place.crawl(&seeds).args(["--host-concurrency", "2", "--max-time", "2s"]).finish().expect_code(0);
    let urls: Vec<String> = place.pages().iter().map(|page| page["url"].to_string()).collect();
    let different: std::collections::BTreeSet<&String> = urls.iter().collect();
    assert!(urls.len() > kept && different.len() == urls.len(), "{kept}, then {}", urls.len());
}

#[test]
fn nobody_else_presses_the_buttons() {
    let place = Place::new();
    let (_web, mut running, url) = watched_by_url(&place);
    let (address, token) = parts(&url);
    figures(address, &mut running);
    let form = format!("token={token}");
    let origin = format!("http://{address}");
    let port = address.rsplit(':').next().unwrap();
    let rebound = format!("evil.test:{port}");
    let refused: [(&[(&str, &str)], &str); 7] = [
        (&[("Host", address), ("Origin", "http://evil.test")], &form),
        (&[("Host", address), ("Origin", "null")], &form),
        (&[("Host", address), ("Sec-Fetch-Site", "cross-site")], &form),
        (&[("Host", &rebound), ("Origin", &format!("http://{rebound}"))], &form),
        (&[("Host", address), ("Origin", &origin)], "token=0123456789abcdef0123456789abcdef"),
        (&[("Host", address), ("Origin", &origin)], ""),
        (&[("Origin", &origin)], &form),
    ];
    for (headers, form) in refused {
        for path in ["/pause", "/stop"] {
            let (status, answer) = post(address, path, headers, form);
            assert!(matches!(status, 400 | 403), "{headers:?} {form}: {answer}");
        }
    }
    let long = format!("{form}&more={}", "x".repeat(5000));
    assert_eq!(post(address, "/stop", &[("Host", address)], &long).0, 413);
    let (head, _) = ask(address, "GET", &format!("/stop?token={token}"), address);
    assert!(head.starts_with("HTTP/1.1 405") && head.contains("allow: POST"), "{head}");
    assert_eq!(post(address, "/close", &[("Host", address)], &form).0, 409, "the crawl runs");
    assert!(!get(address, "/").1.contains(token) && !get(address, "/?token=1").1.contains("<button>"));
    let shown = get(address, &format!("/?token={token}")).1;
    assert!(shown.contains("<button>Stop</button>") && shown.contains(token), "{shown}");
    assert!(!place.path("out").join("ndcrawl.log").exists());
    let status: Value = serde_json::from_str(&get(address, "/status.json").1).unwrap();
    assert_eq!(status["state"], "running");
    // A program with the token needs no Origin.
    assert_eq!(post(address, "/stop", &[("Host", address)], &form).0, 303);
    running.finish().expect_code(130);
}

/// Starts a crawl of five pages on a terminal.
fn on_a_terminal(place: &Place, web: &Web, ci: &str) -> Foreign {
    let line = format!(
        "{} {}/1 -o out --dashboard 127.0.0.1:0 --delay 0 --ip-delay 0 --allow-private --max-pages 5",
        env!("CARGO_BIN_EXE_ndcrawl"),
        web.origins()[0]
    );
    let mut script = Command::new("script");
    script.args(["-qefc", &line, "/dev/null"]).env("CI", ci).current_dir(place.path("")).stdin(Stdio::null());
    Foreign::start(&mut script)
}

/// Waits until the crawl has ended and its dashboard stays; returns the dashboard's URL.
fn url_that_stays(program: &Foreign) -> String {
    let began = Instant::now();
    loop {
        let printed = program.stdout();
        if let Some((_, rest)) = printed.split_once("stays at http://") {
            return rest.split(' ').next().unwrap().to_owned();
        }
        assert!(began.elapsed() < Duration::from_secs(120), "{printed}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn on_a_terminal_the_dashboard_stays_until_it_is_told_to_end() {
    if !has_all(&[Program("script")]) {
        return;
    }
    let web = Web::start(1, |_| Arc::new(Endless));
    let place = Place::new();
    let mut by_button = on_a_terminal(&place, &web, "");
    let url = url_that_stays(&by_button);
    let (address, token) = parts(&url);
    let shown = get(address, &format!("/?token={token}")).1;
    assert!(shown.contains("<button>Close the dashboard</button>"), "{shown}");
    assert!(get(address, "/status.json").1.contains("\"state\":\"finished\""));
    let again = place.run(["status", "out"]).finish().expect_code(0).stdout;
    assert!(again.starts_with("Finished "), "the folder is free: {again}");
    let form = format!("token={token}");
    assert_eq!(post(address, "/stop", &[("Host", address)], &form).0, 409, "it has ended");
    assert_eq!(post(address, "/close", &[("Host", address)], &form).0, 200);
    assert_eq!(by_button.wait().code(), Some(0), "{}", by_button.stdout());

    let place = Place::new();
    let mut by_signal = on_a_terminal(&place, &web, "false");
    url_that_stays(&by_signal);
    let status: Value = serde_json::from_slice(&fs::read(place.path("out/status.json")).unwrap()).unwrap();
    let sent = Command::new("kill").args(["-INT", &status["pid"].to_string()]).status().unwrap();
    assert!(sent.success());
    assert_eq!(by_signal.wait().code(), Some(0), "{}", by_signal.stdout());

    let place = Place::new();
    let mut on_a_machine = on_a_terminal(&place, &web, "true");
    assert_eq!(on_a_machine.wait().code(), Some(0));
    assert!(!on_a_machine.stdout().contains("stays at"), "{}", on_a_machine.stdout());
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
    assert!(!served.stderr.contains("token"), "others get no buttons: {}", served.stderr);
}

/// In a browser, the figures update, no other origin is contacted, the buttons work with and without script, and the
/// end is shown.
/// `AXE_FOLDER` names a folder with the npm packages `axe-core` and `puppeteer-core`.
#[test]
#[cfg_attr(not(can_use_axe), ignore = "needs node, chromium and AXE_FOLDER")]
fn a_browser_shows_the_progress_of_a_crawl() {
    if !has_all(&[Axe]) {
        return;
    }
    let place = Place::new();
    let (_web, mut running, url) = watched_by_url(&place);
    figures(parts(&url).0, &mut running);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools/dashboard.mjs");
    let mut node = Command::new("node");
    node.arg(script)
        .arg(format!("http://{url}"))
        .args(std::env::var_os("SCREENSHOT_FOLDER"))
        .current_dir(std::env::var_os("AXE_FOLDER").unwrap());
    let mut node = Foreign::start(&mut node);
    assert_eq!(node.lines_before("looked"), [""; 0], "what is wrong with the page");
    // The last button that it presses.
    running.finish().expect_code(130);
    assert!(node.wait().success());
    assert_eq!(node.stdout(), "looked\nlost\n");
}
