//! Politeness towards a hostile server, and the outcomes of its pages.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::foreign::run;
use crate::needs::{Program, has_all, tool};
use crate::program::Place;

/// The number of consecutive ports that the server uses.
const PORTS: u16 = 41;

/// Checks of politeness besides the delay.
const MANNERS: [&str; 12] = [
    "--max-conc",
    "1",
    "--key",
    "origin",
    "--max-repeat",
    "3",
    "--origin-gap",
    "crawl-delay=2",
    "--ua-regex",
    r"^ndcrawl/[0-9.]+ \(\+https?://",
    "--max-under",
    "/t/calendar=200",
];

/// Forbidden URLs and their outcomes. They are seeds, because pages that link to them may be left out
/// as duplicates.
const FORBIDDEN: [(&str, &str, &str); 3] = [
    ("origin robots-redirect", "/private/x", "robots"),
    ("origin robots-huge", "/early/x", "robots"),
    ("origin robots-500", "/p1", "robots-unreachable"),
];

/// The path of the server's list of expectations.
const EXPECTATIONS: &str = "/expect.json";
/// The targets of the page with 100,000 links.
const MANY_LINKS: &str = "/t/links-100k/";

/// The server; dropping it stops it.
struct Hostile {
    child: Child,
    port: u16,
}

impl Hostile {
    /// The server packs 512 MiB of spaces when it is first asked for them, which takes longer than a
    /// short time limit: here it does so before it listens.
    fn start(script: &Path, place: &Place) -> Self {
        let port = free_ports();
        fs::copy(script, place.path("hostile_server.py")).unwrap();
        place.write("hostile_more.py", "bomb(512 << 20, 31)\n");
        let child = Command::new("python3")
            .arg(place.path("hostile_server.py"))
            .args(["--port", &port.to_string(), "--log"])
            .arg(place.path("log.jsonl"))
            .arg("--ready-file")
            .arg(place.path("ready"))
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let started = Instant::now();
        while !place.path("ready").exists() {
            assert!(started.elapsed() < Duration::from_secs(60), "the hostile server does not come up");
            std::thread::sleep(Duration::from_millis(20));
        }
        Self { child, port }
    }

    /// The URL at which each behaviour begins. The question is no part of a crawl, so it must be taken
    /// out of the log.
    fn beginnings(&self) -> BTreeMap<String, String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(format!("GET {EXPECTATIONS} HTTP/1.0\r\n\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        let expected: BTreeMap<String, Value> = serde_json::from_str(body).unwrap();
        expected.into_iter().map(|(name, case)| (name, case["url"].as_str().unwrap().to_owned())).collect()
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The first of a row of free ports.
fn free_ports() -> u16 {
    let free = |port| TcpListener::bind(("127.0.0.1", port)).is_ok();
    let start = 20_000 + (std::process::id() % 100) as u16 * 50;
    (0..100)
        .map(|step| start + step * PORTS)
        .find(|&first| (first..first + PORTS).all(free))
        .expect("no row of free ports")
}

/// A finished crawl of the whole server.
struct Crawled {
    place: Place,
    lines: BTreeMap<String, Value>,
    /// The number of requests by URL.
    asked: BTreeMap<String, usize>,
    beginnings: BTreeMap<String, String>,
}

/// One URL in it.
struct Seen<'a> {
    crawled: &'a Crawled,
    url: String,
}

impl Crawled {
    /// The crawl has the limits of every crawl, but for those that a test must not wait for: 10,000
    /// pages that one page links to, each a request of its own, and half a minute for each answer
    /// that never ends. What bars the private host is its address alone, since all hosts are in scope.
    fn new(server: &Path, checker: &Path) -> Self {
        let place = Place::new();
        let hostile = Hostile::start(server, &place);
        let beginnings = hostile.beginnings();
        let forbidden =
            FORBIDDEN.map(|(origin, path, _)| format!("{}{}", beginnings[origin].trim_end_matches('/'), path));
        place.write("seeds.txt", &format!("http://127.0.0.1:{}/\n{}\n", hostile.port, forbidden.join("\n")));
        place
            .run(["--seeds", "seeds.txt", "-o", "out", "--allow-net", "127.0.0.1/32", "--scope", "any", "--max-pages"])
            .args([
                "5000",
                "--exclude",
                MANY_LINKS,
                "--delay",
                "150ms",
                "--ip-delay",
                "0",
                "--timeout",
                "5s",
                "--host-patience",
                "30s",
                // What counts here is how answers are read, not what their texts have in common.
                "--detector",
                "none",
            ])
            .args(["--contact", "https://contact.example/"])
            .patience(Duration::from_secs(300))
            .finish()
            .expect_code(0);
        drop(hostile);
        let log = fs::read_to_string(place.path("log.jsonl")).unwrap();
        let log: Vec<&str> = log.lines().filter(|line| !line.contains(EXPECTATIONS)).collect();
        let log_of_crawl = place.write("crawl.jsonl", &log.join("\n"));
        let mut check = Command::new("python3");
        println!("{}", run(check.arg(checker).arg(log_of_crawl).args(["--min-gap", "0.15"]).args(MANNERS)));

        let mut asked = BTreeMap::new();
        for request in log {
            let request: Value = serde_json::from_str(request).unwrap();
            let [ip, target] = ["ip", "target"].map(|field| request[field].as_str().unwrap());
            *asked.entry(format!("http://{ip}:{}{target}", request["port"])).or_default() += 1;
        }
        let lines = place.pages().into_iter().map(|line| (line["url"].as_str().unwrap().to_owned(), line)).collect();
        Self { place, lines, asked, beginnings }
    }

    fn at(&self, url: &str) -> Seen<'_> {
        Seen { crawled: self, url: url.to_owned() }
    }
}

impl Seen<'_> {
    /// Another path of the same origin.
    fn beside(&self, path: &str) -> Self {
        Self { crawled: self.crawled, url: format!("{}{path}", self.origin()) }
    }

    fn origin(&self) -> &str {
        let host = "http://".len();
        &self.url[..host + self.url[host..].find('/').unwrap()]
    }

    /// Its line, or null if the crawl never saw the URL.
    fn line(&self) -> &Value {
        self.crawled.lines.get(&self.url).unwrap_or(&Value::Null)
    }

    /// Its outcome, followed by the reason, if any.
    fn outcome(&self) -> String {
        let words = ["outcome", "reason"].iter().filter_map(|field| self.line()[*field].as_str());
        words.collect::<Vec<_>>().join(" ")
    }

    /// Whether it has this outcome and number of requests.
    fn is(&self, outcome: &str, requests: usize) -> bool {
        self.outcome() == outcome && self.asked() == requests && self.line()["requests"] == requests
    }

    fn is_titled(&self, title: &str) -> bool {
        self.outcome() == "stored" && self.line()["title"] == title
    }

    fn is_cut_at_ten_mebibytes(&self) -> bool {
        self.is("stored", 1) && self.line()["truncated"] == true && self.line()["bytes"] == 10 << 20
    }

    /// Whether it was fetched, with any outcome.
    fn is_fetched(&self) -> bool {
        self.asked() > 0 && self.line()["status"] == 200
    }

    fn asked(&self) -> usize {
        self.crawled.asked.get(&self.url).copied().unwrap_or(0)
    }

    /// Requests for all URLs of the origin that begin with this path.
    fn asked_under(&self, path: &str) -> usize {
        let start = format!("{}{path}", self.origin());
        self.crawled.asked.iter().filter(|(url, _)| url.starts_with(&start)).map(|(_, times)| times).sum()
    }

    /// The URLs first seen on this page.
    fn named(&self) -> Vec<&str> {
        let here = |line: &&Value| line["referrer"] == self.url;
        self.crawled.lines.values().filter(here).map(|line| line["url"].as_str().unwrap()).collect()
    }

    fn report(&self) -> String {
        fs::read_to_string(self.crawled.place.path("out/report.html")).unwrap()
    }
}

type Behaviour = (&'static str, &'static str, fn(&Seen<'_>) -> bool);

/// The expected outcome of each behavior, by the server's name.
const BEHAVIOURS: &[Behaviour] = &[
    ("slow-body", "a body that trickles is given up when its time is over", |url| url.is("failed timeout", 3)),
    ("stall-headers", "an answer that does not come is given up when its time is over", |url| {
        url.is("failed timeout", 3)
    }),
    ("endless-body", "an endless body is cut at the limit", |url| url.is_cut_at_ten_mebibytes()),
    ("gzip-bomb", "a bomb is cut at the limit of bytes that are unpacked", |url| {
        url.is_cut_at_ten_mebibytes() && url.is_titled("bomb")
    }),
    ("gzip-lie", "text that claims to be packed fails to decode", |url| url.is("failed decode", 1)),
    ("gzip-ok", "a packed page is read", |url| url.is_titled("gzip ok")),
    ("redirect-loop", "a loop of redirects is gone through once, and its end is a failure", |url| {
        url.is("redirected", 1) && url.beside("/t/redirect-loop/b").is("failed redirect", 1)
    }),
    ("redirect-chain", "a chain of redirects is followed to its end", |url| {
        url.is("redirected", 1) && url.beside("/t/redirect-chain/0").is_titled("chain end")
    }),
    ("redirect-private", "a redirect to a private host leads nowhere", |url| {
        let target = url.line()["final_url"].as_str().unwrap_or_default();
        url.is("redirected", 1) && url.crawled.at(target).is("failed private-address", 0)
    }),
    ("redirect-scheme", "a redirect to a file is refused", |url| url.is("failed redirect", 1)),
    ("redirect-disallowed", "a redirect does not lead past robots.txt", |url| {
        url.is("redirected", 1) && url.beside("/private/secret.html").is("excluded robots", 0)
    }),
    ("length-too-big", "a body that ends too early is kept as far as it came", |url| {
        url.is("stored", 3) && url.line()["truncated"] == true
    }),
    ("length-too-small", "bytes behind the end of a body are no answer", |url| {
        url.is("stored", 1) && url.line()["bytes"] == 50
    }),
    ("reset-mid-body", "so is one whose connection is reset", |url| {
        url.is("stored", 3) && url.line()["truncated"] == true
    }),
    ("empty-reply", "an answer without a byte is tried as often as configured", |url| url.is("failed protocol", 3)),
    ("garbage", "what is no HTTP is said to be none", |url| url.is("failed protocol", 1)),
    ("charset-wrong", "text that its charset does not fit is read in the one that it fits", |url| {
        url.is_titled("café naïve") && url.line()["charset_declared"] == "UTF-8"
    }),
    ("invalid-utf8", "invalid UTF-8 and NUL come to lines that are valid", |url| {
        url.is("stored", 1) && url.line()["title"].as_str().is_some_and(|title| title.contains('\u{fffd}'))
    }),
    ("one-line-5mb", "five megabytes on a line are read to the link at their end", |url| {
        url.is_titled("one line") && url.line()["truncated"].is_null() && !url.beside("/ok/5").line().is_null()
    }),
    ("links-100k", "of too many links the first ten thousand are seen", |url| {
        url.is_titled("links") && url.named().len() == 10_000
    }),
    ("deep-10k", "ten thousand nested elements are read to the link within", |url| {
        url.is("stored", 1) && url.beside("/ok/6").is_fetched()
    }),
    ("calendar", "an endless calendar ends with the depth", |url| {
        (3..=11).contains(&url.asked_under("/t/calendar/"))
            && url.beside("/t/calendar/2027/4").outcome() == "deferred depth"
    }),
    ("session", "session numbers make no new pages", |url| {
        url.is_titled("session shop") && url.asked_under("/t/session") == 5
    }),
    ("soft404", "a page that says that there is none is no page, which two more requests show", |url| {
        url.is("excluded soft-404", 1) && url.named().is_empty() && url.asked_under("/t/soft404/") <= 3
    }),
    ("retry-429", "a host that asks for rest is asked again after it", |url| {
        url.is_titled("429 passed") && url.is("stored", 3)
    }),
    ("flap-503", "a server in trouble is asked again", |url| url.is_titled("503 passed") && url.is("stored", 2)),
    ("type-lie-png", "a picture is no page, whatever its header says", |url| {
        url.is("excluded type", 1) && url.named().is_empty()
    }),
    ("meta-refresh", "an instant refresh is a redirect", |url| {
        url.is("redirected", 1) && url.beside("/ok/7").is_fetched()
    }),
    ("canonical", "the canonical URL is on record and asked for once", |url| {
        let canonical = url.beside("/ok/8");
        url.is("stored", 1) && url.line()["canonical"] == canonical.url && canonical.asked() == 1
    }),
    ("nofollow", "links are not followed where the page or the link says so", |url| {
        ["rel", "meta"].iter().all(|target| url.beside(&format!("/t/nofollow/{target}")).is("deferred nofollow", 0))
    }),
    ("noindex", "a page that must not be indexed is fetched and not kept", |url| url.is("excluded noindex", 1)),
    ("disallowed", "what robots.txt bars is never asked for", |url| url.is("excluded robots", 0)),
    ("title-xss", "what a title says is text in the report", |url| {
        // The one script is the report's own, by its digest.
        let report = url.report();
        url.is("stored", 1)
            && report.matches("<script").count() <= 1
            && !report.contains("<script>alert")
            && !report.contains("<img src=x")
    }),
    ("odd-links", "only http links are followed", |url| {
        let expected: Vec<String> = (11..=16).map(|page| url.beside(&format!("/ok/{page}")).url).collect();
        url.named() == expected
    }),
    ("origin robots-500", "a robots.txt in trouble bars its origin", |url| {
        url.is("excluded robots-unreachable", 0) && url.asked_under("/") == url.asked_under("/robots.txt")
    }),
    ("origin robots-403", "a robots.txt that is forbidden bars nothing", |url| url.is_fetched()),
    ("origin robots-redirect", "a robots.txt behind five redirects is obeyed", |url| {
        url.is_fetched() && url.asked_under("/robots") == 6
    }),
    ("origin robots-huge", "a robots.txt is read up to its limit", |url| url.is_fetched()),
    ("origin crawl-delay", "an origin with a Crawl-delay is crawled", |url| url.asked_under("/p") >= 5),
    ("origin polite", "a plain site is crawled to its end", |url| {
        // A soft-404 probe is a name of letters, which may begin with a p.
        (0..40).all(|page| url.beside(&format!("/p{page}")).asked() == 1)
    }),
    ("origin slow", "a slow origin is crawled", |url| url.is_fetched()),
];

#[test]
#[cfg_attr(not(has_python3), ignore = "needs python3")]
fn every_hostile_behavior_ends_as_expected_and_politeness_holds() {
    if !has_all(&[Program("python3")]) {
        return;
    }
    let crawled = Crawled::new(&tool("hostile_server.py"), &tool("check_politeness.py"));
    let known: Vec<&str> = crawled.beginnings.keys().map(String::as_str).collect();
    let mut told: Vec<&str> = BEHAVIOURS.iter().map(|(name, ..)| *name).collect();
    told.sort_unstable();
    assert_eq!(known, told, "every behaviour has its row");
    let failed = BEHAVIOURS.iter().filter_map(|(name, sentence, holds)| {
        let url = crawled.at(&crawled.beginnings[*name]);
        (!holds(&url)).then(|| format!("{name}: not so: {sentence}; asked {} times: {}", url.asked(), url.line()))
    });
    assert_eq!(failed.collect::<Vec<_>>(), [""; 0]);
    for (origin, path, outcome) in FORBIDDEN {
        let url = crawled.at(&crawled.beginnings[origin]).beside(path);
        assert!(url.is(&format!("excluded {outcome}"), 0), "{}: {}", url.url, url.line());
    }
}
