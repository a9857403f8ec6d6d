//! Crawls over TLS: a real nginx, a small server that refuses streams, and bad certificates.

use std::collections::BTreeMap;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::invariants::{lines, outcome, text};
use crate::needs::{LowPorts, Program, data, has_all};
use crate::program::{Place, Run};
use crate::secure_web::{SecureWeb, Speaks};
use crate::web::{Answer, Content, Web};
use crate::words::{sentences, words_of};

const PAGES: usize = 120;
const PATIENCE: Duration = Duration::from_secs(20);

/// A page with a text of its own.
fn page(name: &str, links: &[String]) -> String {
    let links: String = links.iter().map(|link| format!("<a href=\"{link}\">more</a> ")).collect();
    format!("<!DOCTYPE html><title>{name}</title><p>{}</p>{links}", sentences(&words_of(7, name, 60)))
}

/// A crawl of names that all lie on 127.0.0.1, which trusts the issuer of the tests.
fn crawl(place: &Place, seeds: &[String]) -> Run {
    let issuers = data("certificates/issuers.pem");
    place.crawl(seeds).args(["--resolve", "*:127.0.0.1", "--min-free", "0", "--ca-file"]).args([issuers])
}

/// The requests that the program says it has made, robots.txt included, and those for pages by its lines.
fn told(place: &Place) -> (u64, u64) {
    let status: Value = serde_json::from_str(&fs::read_to_string(place.path("out/status.json")).unwrap()).unwrap();
    let of_lines = lines(&place.path("out")).values().map(|line| line["requests"].as_u64().unwrap()).sum();
    (status["requests"].as_u64().unwrap(), of_lines)
}

/// The details of failures by host.
fn failures(place: &Place) -> BTreeMap<String, String> {
    let errors = fs::read_to_string(place.path("out/errors.jsonl")).unwrap();
    let lines = errors.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines
        .map(|line| {
            let url = text(&line, "url").to_owned();
            let host = url.split(['/', ':']).find(|part| part.ends_with(".test")).unwrap_or_default().to_owned();
            (host, format!("{}: {}", text(&line, "class"), text(&line, "detail")))
        })
        .collect()
}

/// A running nginx; dropping it stops it.
struct Nginx {
    process: Child,
    port: u16,
}

impl Nginx {
    /// Serves the folder `site` of the place. `listen` and `server` are parts of its configuration.
    fn start(place: &Place, listen: &str, server: &str) -> Self {
        let folder = place.path("nginx");
        fs::create_dir_all(&folder).unwrap();
        let certificate = data("certificates/a.pem").display().to_string();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let (here, site) = (folder.display(), place.path("site"));
        let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|name| format!("{name}_temp_path {here}/{name};\n"))
            .concat();
        let configuration = format!(
            "daemon off;\nmaster_process off;\npid {here}/pid;\nerror_log {here}/error.log;\n\
             events {{ worker_connections 256; }}\n\
             http {{\n{temporary}default_type text/html;\n\
             log_format seen '$server_protocol $ssl_protocol $request_uri $status';\n\
             access_log {here}/access.log seen;\n\
             server {{\nlisten 127.0.0.1:{port} {listen};\nserver_name a.test;\nroot {};\n\
             ssl_certificate {certificate};\nssl_certificate_key {certificate};\n{server}\n}}\n}}\n",
            site.display()
        );
        fs::write(folder.join("nginx.conf"), configuration).unwrap();
        let process = Command::new("nginx")
            .arg("-e")
            .arg(folder.join("error.log"))
            .arg("-c")
            .arg(folder.join("nginx.conf"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut nginx = Self { process, port };
        nginx.wait(&folder);
        nginx
    }

    fn wait(&mut self, folder: &Path) {
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let log = fs::read_to_string(folder.join("error.log")).unwrap_or_default();
            assert!(self.process.try_wait().unwrap().is_none() && start.elapsed() < PATIENCE, "no nginx: {log}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Ends it when all requests are answered, and returns the lines of its log.
    fn log(mut self, place: &Place) -> Vec<String> {
        let asked = Command::new("sh").args(["-c", &format!("kill -QUIT {}", self.process.id())]).status().unwrap();
        assert!(asked.success());
        let start = Instant::now();
        while self.process.try_wait().unwrap().is_none() && start.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
        let log = fs::read_to_string(place.path("nginx/access.log")).unwrap();
        log.lines().map(str::to_owned).collect()
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Requests of a crawl of which neither side may know whether the other has had them.
///
/// A server that closes a connection that has unread requests resets it. What it said before, which requests it has seen,
/// may be lost with that.
const IN_DOUBT: u64 = PAGES as u64 / 20;

/// Crawls a site on nginx. Checks that nothing is lost and that nginx has seen as many requests as are told, but for
/// `in_doubt`; returns the log of nginx.
fn crawl_nginx(listen: &str, server: &str, in_doubt: u64) -> Vec<String> {
    let place = Place::new();
    fs::create_dir(place.path("site")).unwrap();
    let names: Vec<String> = (0..PAGES).map(|number| format!("/page-{number}.html")).collect();
    fs::write(place.path("site/index.html"), page("index", &names)).unwrap();
    for name in &names {
        fs::write(place.path(&format!("site{name}")), page(name, &[])).unwrap();
    }
    let nginx = Nginx::start(&place, listen, server);
    let seed = format!("https://a.test:{}/", nginx.port);
    crawl(&place, &[seed]).finish().expect_code(0);
    let log = nginx.log(&place);
    let lines = lines(&place.path("out"));
    assert_eq!(lines.len(), PAGES + 1);
    let mut repeated = 0;
    for line in lines.values() {
        assert_eq!(outcome(line), "stored", "{line}");
        repeated += line["requests"].as_u64().unwrap() - 1;
    }
    assert!(repeated <= in_doubt, "{repeated} requests were repeated");
    let (all, of_pages) = told(&place);
    assert_eq!(of_pages, PAGES as u64 + 1 + repeated);
    assert!(all.abs_diff(log.len() as u64) <= in_doubt, "{all} told: {log:?}");
    log
}

#[test]
#[cfg_attr(not(has_nginx), ignore = "needs nginx")]
fn nginx_is_crawled_with_each_version_of_tls() {
    if !has_all(&[Program("nginx")]) {
        return;
    }
    for version in ["TLSv1.2", "TLSv1.3"] {
        let log = crawl_nginx("ssl", &format!("ssl_protocols {version};"), 0);
        assert!(log.iter().all(|line| line.starts_with(&format!("HTTP/1.1 {version} "))), "{log:?}");
    }
}

#[test]
#[cfg_attr(not(has_nginx), ignore = "needs nginx")]
fn connections_that_nginx_ends_lose_nothing_and_are_counted_right() {
    if !has_all(&[Program("nginx")]) {
        return;
    }
    // It says GOAWAY after so many requests, while others are under way.
    for most in [1, 3, 20] {
        let log = crawl_nginx("ssl http2", &format!("keepalive_requests {most};"), IN_DOUBT);
        assert!(log.iter().all(|line| line.starts_with("HTTP/2.0 ")), "{log:?}");
    }
    crawl_nginx("ssl", "keepalive_requests 3;", IN_DOUBT);
}

/// Serves an index and pages that it links to.
fn small_site(url: &str) -> Answer {
    let names: Vec<String> = (0..40).map(|number| format!("/page-{number}")).collect();
    match url.strip_prefix("https://a.test") {
        Some("/") => Answer::html(page("index", &names)),
        Some(path) if names.iter().any(|name| name == path) => Answer::html(page(path, &[])),
        _ => Answer::error(404),
    }
}

/// Crawls the small site over HTTP/2. Checks that each request that was answered is told, and no other.
fn crawl_streams(streams: u32, refuses: fn(&str) -> bool) -> SecureWeb {
    let place = Place::new();
    let web = SecureWeb::start(&[("a.test", "a.pem")], Speaks::Http2 { streams, refuses }, small_site);
    crawl(&place, &[web.url("a.test", "/")]).finish().expect_code(0);
    let lines = lines(&place.path("out"));
    assert_eq!(lines.len(), 41);
    assert!(lines.values().all(|line| outcome(line) == "stored" && line["requests"] == 1), "{lines:?}");
    assert_eq!(told(&place), (web.answered().len() as u64, 41), "{:?}", web.answered());
    web
}

#[test]
fn refused_streams_are_asked_for_again_and_are_no_requests() {
    let web = crawl_streams(100, |path| path.ends_with('7') || path == "/" || path == "/robots.txt");
    assert_eq!(web.refused().len(), 6, "{:?}", web.refused());
}

#[test]
fn a_server_that_allows_one_stream_is_crawled_one_by_one() {
    crawl_streams(1, |_| false);
}

#[test]
fn a_server_whose_http2_does_not_work_is_crawled_over_http1() {
    for (reason, is_asked_for) in [
        (h2::Reason::HTTP_1_1_REQUIRED, true),
        (h2::Reason::PROTOCOL_ERROR, false),
        (h2::Reason::INTERNAL_ERROR, false),
    ] {
        let place = Place::new();
        let web = SecureWeb::start(&[("a.test", "a.pem")], Speaks::BadHttp2(reason), small_site);
        crawl(&place, &[web.url("a.test", "/")]).finish().expect_code(0);
        let lines = lines(&place.path("out"));
        assert!(lines.len() == 41 && lines.values().all(|line| outcome(line) == "stored"), "{lines:?}");
        // Once known it holds for the origin. What the server asks for itself is no failure.
        assert_eq!(web.refused(), ["/robots.txt"], "{reason:?}");
        let requests = web.answered().len() as u64 + u64::from(!is_asked_for);
        assert_eq!(told(&place), (requests, 41), "{reason:?}: {:?}", web.answered());
    }
}

/// Good names and bad ones, on one address, with their certificates.
const NAMES: [(&str, &str); 7] = [
    ("good.test", "good.pem"),
    ("also.test", "also.pem"),
    ("expired.test", "expired.pem"),
    ("wrong.test", "wrong.pem"),
    ("selfmade.test", "selfmade.pem"),
    ("issuer.test", "issuer.pem"),
    ("private.test", "private.pem"),
];

fn every_name(url: &str) -> Answer {
    match url.strip_suffix("/robots.txt") {
        Some(_) => Answer::error(404),
        None => Answer::html(page(url, &[])),
    }
}

#[test]
fn each_bad_certificate_has_a_plain_reason_and_does_not_touch_its_neighbors() {
    let place = Place::new();
    let web = SecureWeb::start(&NAMES, Speaks::Http1, every_name);
    let mut seeds: Vec<String> = NAMES.iter().map(|(name, _)| web.url(name, "/")).collect();
    seeds.push(web.url("unnamed.test", "/"));
    let run = crawl(&place, &seeds).args(["--retries", "0"]).finish().expect_code(0);
    let failed = failures(&place);
    for (host, words) in [
        ("expired.test", "the server's certificate has expired: it was valid until 2001-12-31"),
        ("wrong.test", "the server's certificate is not for this host but for other.test, www.other.test"),
        ("selfmade.test", "the issuer of the server's certificate is not known here: it is self-signed"),
        ("issuer.test", "the server shows the certificate of an issuer (CA:TRUE) as its own"),
        ("private.test", "the issuer of the server's certificate is not known here"),
        ("unnamed.test", "the server "),
    ] {
        let detail = failed.get(host).unwrap_or_else(|| panic!("{host} did not fail: {failed:?}"));
        assert!(detail.starts_with("tls: ") && detail.contains(words), "{host}: {detail}");
        assert!(run.stderr.contains(&detail[detail.find("the ").unwrap()..]), "{host}: {detail}\n{}", run.stderr);
    }
    let text = format!("{failed:?}{}", run.stderr);
    assert!(!text.contains("EndEntity") && !text.contains("DnsName") && !text.contains("Context"), "{text}");
    let answered = web.answered();
    for good in ["https://good.test/", "https://also.test/"] {
        assert!(answered.iter().any(|url| url == good), "{answered:?}");
    }
    assert_eq!(failed.len(), seeds.len() - 2);
}

#[test]
fn without_checks_every_certificate_is_accepted_and_a_warning_says_so() {
    let place = Place::new();
    let web = SecureWeb::start(&NAMES, Speaks::Http1, every_name);
    let seeds: Vec<String> = NAMES.iter().map(|(name, _)| web.url(name, "/")).collect();
    let run = crawl(&place, &seeds).args(["--insecure"]).finish().expect_code(0);
    assert!(run.stderr.contains("certificates are not checked"), "{}", run.stderr);
    let lines = lines(&place.path("out"));
    assert_eq!(lines.values().filter(|line| outcome(line) == "stored").count(), NAMES.len(), "{lines:?}");
}

#[test]
fn an_issuer_is_trusted_only_by_its_file() {
    let place = Place::new();
    let web = SecureWeb::start(&[("a.test", "a.pem")], Speaks::Http1, small_site);
    let seed = [web.url("a.test", "/")];
    let resolve = ["--resolve", "*:127.0.0.1", "--min-free", "0", "--retries", "0"];
    place.crawl(&seed).args(resolve).finish().expect_code(1);
    assert!(failures(&place)["a.test"].contains("--ca-file"), "{:?}", failures(&place));
    for (content, words) in [("no certificate", "holds no certificate"), ("", "holds no certificate")] {
        place.write("empty.pem", content);
        let run = place.crawl(&seed).args(resolve).args(["--ca-file", "empty.pem", "--fresh", "--force"]).finish();
        assert!(run.code != Some(0) && run.stderr.contains(words) && run.stderr.contains("empty.pem"), "{run:?}");
    }
    let run = place.crawl(&seed).args(resolve).args(["--ca-file", "missing.pem"]).finish();
    assert!(run.code != Some(0) && run.stderr.contains("missing.pem"), "{run:?}");
}

#[test]
fn a_seed_without_a_scheme_is_asked_for_over_tls_first() {
    let place = Place::new();
    let web = SecureWeb::start(&[("a.test", "a.pem")], Speaks::Http1, small_site);
    let seed = format!("a.test:{}", web.port());
    crawl(&place, &[seed]).finish().expect_code(0);
    let lines = lines(&place.path("out"));
    assert_eq!(lines.len(), 41);
    assert!(lines.keys().all(|url| url.starts_with("https://a.test:")), "{lines:?}");
}

/// A site that sends the front page to the other scheme, and gets one page back.
struct Plain {
    secure: u16,
}

impl Content for Plain {
    fn answer(&self, url: &str, _: usize) -> Answer {
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        match path {
            "" => Answer::redirect(&format!("https://a.test:{}/", self.secure)),
            "only-http" => Answer::html(page("only http", &[])),
            _ => Answer::error(404),
        }
    }
}

#[test]
fn redirects_lead_from_one_scheme_to_the_other_and_back() {
    let place = Place::new();
    // The port of the secure site is known before it is served.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let secure = listener.local_addr().unwrap().port();
    let plain = Web::start(1, |_| Arc::new(Plain { secure }));
    let plain_port = plain.origins()[0].rsplit(':').next().unwrap().to_owned();
    let to_http = format!("http://a.test:{plain_port}/only-http");
    let web = SecureWeb::start_on(listener, &[("a.test", "a.pem")], Speaks::Http1, move |url| match url {
        "https://a.test/" => Answer::html(page("front", &["/moved".to_owned()])),
        "https://a.test/moved" => Answer::redirect(&to_http),
        _ => Answer::error(404),
    });
    let seed = format!("http://a.test:{plain_port}/");
    crawl(&place, std::slice::from_ref(&seed)).finish().expect_code(0);
    let lines = lines(&place.path("out"));
    let seen = |url: &str| (outcome(&lines[url]).to_owned(), text(&lines[url], "final_url").to_owned());
    assert_eq!(seen(&seed), ("redirected".to_owned(), web.url("a.test", "/")));
    assert_eq!(seen(&web.url("a.test", "/")).0, "stored");
    let back = format!("http://a.test:{plain_port}/only-http");
    assert_eq!(seen(&web.url("a.test", "/moved")), ("redirected".to_owned(), back.clone()));
    assert_eq!(seen(&back).0, "stored");
}

#[test]
fn sites_on_default_ports_have_no_port_anywhere() {
    if !has_all(&[LowPorts]) {
        return;
    }
    let (place, listener) = (Place::new(), TcpListener::bind("127.0.0.86:443").unwrap());
    let secure = SecureWeb::start_on(listener, &[("a.test", "a.pem")], Speaks::Http1, small_site);
    let plain = Web::start_on(vec![TcpListener::bind("127.0.0.85:80").unwrap()], |_| Arc::new(PlainSite));
    let seeds = ["https://a.test/", "http://127.0.0.85/"];
    let issuers = data("certificates/issuers.pem");
    let run = || {
        let run = place.crawl(&seeds).args(["--resolve", "a.test:127.0.0.86", "--min-free", "0", "--ca-file"]);
        run.args([&issuers]).finish().expect_code(0)
    };
    let said = run();
    let lines = lines(&place.path("out"));
    assert!(lines.len() == 44 && lines.values().all(|line| outcome(line) == "stored"), "{lines:?}");
    let explained =
        |url: &str, flag: &[&str]| place.run(["explain", "out", url]).args(flag).finish().expect_code(0).stdout;
    let [status, report] =
        ["status", "report"].map(|command| place.run([command, "out"]).finish().expect_code(0).stdout);
    let texts = [
        said.stdout,
        said.stderr,
        status,
        report,
        explained("https://a.test:443/page-2", &[]),
        explained("http://127.0.0.85/b", &["--json"]),
        fs::read_to_string(place.path("out/report.html")).unwrap(),
        fs::read_to_string(place.path("out/status.json")).unwrap(),
        fs::read_to_string(place.path("out/pages.jsonl")).unwrap(),
    ];
    for text in texts {
        assert!(!text.contains("a.test:443") && !text.contains("127.0.0.85:80"), "{text}");
    }
    let asked = (secure.answered().len(), plain.requests().len());
    run();
    assert_eq!((secure.answered().len(), plain.requests().len()), asked, "a second run asks for nothing");
}

/// Three pages that name each other with and without the default port.
struct PlainSite;

impl Content for PlainSite {
    fn answer(&self, url: &str, _: usize) -> Answer {
        match url.strip_prefix("http://127.0.0.85") {
            Some(path @ ("/" | "/a" | "/b")) => Answer::html(page(
                path,
                &["http://127.0.0.85:80/a".to_owned(), "/b".to_owned(), "//127.0.0.85:80/".to_owned()],
            )),
            _ => Answer::error(404),
        }
    }
}
