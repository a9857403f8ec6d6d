//! Answers that break a rule of HTTP, byte by byte, as servers on the web send them: what can be read is read, and what
//! holds no page is not taken for one.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};
use serde_json::Value;

use crate::invariants::{Lines, lines, text};
use crate::program::{Place, Run};
use crate::words::{sentences, words_of};

/// A server that writes bytes; it ends with the tests.
struct Raw {
    address: SocketAddr,
    /// Requests as they came, without their bodies.
    seen: Arc<Mutex<Vec<String>>>,
}

impl Raw {
    /// Answers one request a connection with what `answer` makes of path and request.
    fn start(answer: impl Fn(&str, &str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let (log, answer) = (Arc::clone(&seen), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                std::thread::spawn(move || {
                    let Some(request) = read_request(&stream) else { return };
                    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
                    log.lock().unwrap().push(request.clone());
                    let _ = (&stream).write_all(&answer(&path, &request));
                });
            }
        });
        Self { address, seen }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The paths of all requests, in order.
    fn paths(&self) -> Vec<String> {
        self.seen.lock().unwrap().iter().filter_map(|request| request.split(' ').nth(1).map(str::to_owned)).collect()
    }
}

fn read_request(mut stream: &TcpStream) -> Option<String> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        request.push(byte[0]);
    }
    String::from_utf8(request).ok()
}

/// A page with a text of its own, and a link to an address that only it knows.
fn page(name: &str) -> String {
    let text = sentences(&words_of(11, name, 60));
    format!("<!DOCTYPE html><title>Page {name} é</title><p>{text}</p><a href=\"/behind{name}\">next</a>")
}

/// A message with these header lines and a length.
fn message(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\n{headers}{CLOSING}Content-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

fn html(name: &str) -> Vec<u8> {
    message("200 OK", HTML, page(name).as_bytes())
}

fn index(paths: impl IntoIterator<Item = &'static str>) -> Vec<u8> {
    let links: String = paths.into_iter().map(|path| format!("<a href=\"{path}\">to</a> ")).collect();
    message("200 OK", HTML, format!("{}{links}", page("/")).as_bytes())
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn raw_deflate(body: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

/// In each answer: the connection ends with it, and a client that did not know so could lose its next request.
const CLOSING: &str = "Connection: close\r\n";
const HTML: &str = "Content-Type: text/html; charset=utf-8\r\n";
const NO_RETRY: [&str; 4] = ["--retries", "0", "--soft-404", "off"];

fn crawl(place: &Place, server: &Raw) -> Run {
    place.crawl(&[server.url("/")]).args(["--min-free", "0", "--soft-404", "off"])
}

/// Outcome and reason.
fn told(line: &Value) -> String {
    let words = ["outcome", "reason"].map(|field| text(line, field)).join(" ");
    words.trim_end().to_owned()
}

/// Path, sentence, and the answer to it. All of them are pages.
type Readable = (&'static str, &'static str, fn(&str) -> Vec<u8>);

const READABLE: &[Readable] = &[
    ("/capitals", "names of codings have any case", |name| {
        coded("Content-Encoding: GZip\r\n", &gzip(page(name).as_bytes()))
    }),
    ("/x-gzip", "x-gzip is gzip", |name| coded("Content-Encoding: x-gzip\r\n", &gzip(page(name).as_bytes()))),
    ("/none", "none is no coding", |name| coded("content-encoding: none\r\n", page(name).as_bytes())),
    ("/charset", "a charset is no coding", |name| coded("Content-Encoding: utf-8\r\n", page(name).as_bytes())),
    ("/deflate", "a stream without its wrapper is read", |name| {
        coded("Content-Encoding: deflate\r\n", &raw_deflate(page(name).as_bytes()))
    }),
    ("/lines", "codings of several lines are a list", |name| {
        let body = gzip(&raw_deflate(page(name).as_bytes()));
        coded("Content-Encoding: deflate\r\nX: y\r\nContent-Encoding: identity, gzip\r\n", &body)
    }),
    ("/doubled", "a line that a proxy repeats counts once", |name| {
        coded("Content-Encoding: gzip\r\nContent-Encoding: gzip\r\n", &gzip(page(name).as_bytes()))
    }),
    ("/transfer", "transfer codings are undone", |name| {
        let body = gzip(page(name).as_bytes());
        let head =
            format!("HTTP/1.1 200 OK\r\n{CLOSING}{HTML}Transfer-Encoding: gzip, chunked\r\n\r\n{:x}\r\n", body.len());
        [head.as_bytes(), &body, b"\r\n0\r\n\r\n"].concat()
    }),
    ("/no-checksum", "a stream may lack its checksum", |name| {
        let body = gzip(page(name).as_bytes());
        coded("Content-Encoding: gzip\r\n", &body[..body.len() - 8])
    }),
    ("/padded", "what follows a stream is ignored", |name| {
        coded("Content-Encoding: gzip\r\n", &[&gzip(page(name).as_bytes())[..], &[0; 100]].concat())
    }),
    ("/folded", "a line may be folded", |name| {
        let policy = "Content-Security-Policy: default-src 'self';\r\n\timg-src *;\r\n   script-src 'self'\r\n";
        coded(policy, page(name).as_bytes())
    }),
    ("/folded-type", "the line with the type, too", |name| {
        message("200 OK", "Content-Type:\r\n text/html;\r\n\tcharset=utf-8\r\n", page(name).as_bytes())
    }),
    ("/blank", "white space before a colon is skipped", |name| {
        message("200 OK", "Content-Type : text/html; charset=utf-8\r\n", page(name).as_bytes())
    }),
    ("/control", "control characters cost their line", |name| {
        coded("Set-Cookie: a=\u{7f}; b=\u{1}\r\nX-Bell: a\u{7}b\r\n", page(name).as_bytes())
    }),
    ("/no-colon", "so does a missing colon, or name", |name| {
        coded("this is no header\r\n: nothing\r\nX Powered By: x\r\n", page(name).as_bytes())
    }),
    ("/many", "a hundred lines are not the end", |name| {
        let cookies: String = (0..300).map(|number| format!("Set-Cookie: c{number}=1\r\n")).collect();
        coded(&cookies, page(name).as_bytes())
    }),
    ("/length-twice", "the same length may be said twice", |name| {
        let body = page(name);
        coded(&format!("Content-Length: {}\r\n", body.len()), body.as_bytes())
    }),
    ("/type-list", "the last type of a list counts", |name| {
        message("200 OK", "Content-Type: text/plain, text/html;charset=utf-8\r\n", page(name).as_bytes())
    }),
    ("/type-lines", "and of several lines", |name| {
        message(
            "200 OK",
            "Content-Type: image/png\r\nContent-Type: text/html\r\nContent-Type: */*\r\n",
            page(name).as_bytes(),
        )
    }),
    ("/type-blank", "a semicolon may be forgotten", |name| {
        message("200 OK", "Content-Type: text/html charset=utf-8\r\n", page(name).as_bytes())
    }),
    ("/type-colon", "or be a colon", |name| {
        message("200 OK", "Content-Type: text/html:charset=utf-8\r\n", page(name).as_bytes())
    }),
    ("/type-quoted", "a type may be in quotes", |name| {
        message("200 OK", "Content-Type: 'text/html'\r\n", page(name).as_bytes())
    }),
    ("/type-name", "or name itself twice", |name| {
        message("200 OK", "Content-Type: Content-Type: text/html\r\n", page(name).as_bytes())
    }),
    ("/type-none", "what is no type means HTML", |name| {
        message("200 OK", "Content-Type: html\r\n", page(name).as_bytes())
    }),
    ("/type-unknown", "so does a type that is not known", |name| {
        message("200 OK", "Content-Type: application/unknown\r\n", page(name).as_bytes())
    }),
    ("/whole", "a 206 may hold the whole", |name| {
        let body = page(name);
        let range = format!("{HTML}Content-Range: bytes 0-{}/{}\r\n", body.len() - 1, body.len());
        message("206 Partial Content", &range, body.as_bytes())
    }),
];

fn coded(lines: &str, body: &[u8]) -> Vec<u8> {
    message("200 OK", &format!("{HTML}{lines}"), body)
}

#[test]
fn odd_answers_that_browsers_read_are_read() {
    let server = Raw::start(|path, _| match READABLE.iter().find(|(known, ..)| *known == path) {
        Some((.., answer)) => answer(path),
        None if path == "/" => index(READABLE.iter().map(|(path, ..)| *path)),
        None if path.starts_with("/behind") => html(path),
        None => message("404 Not Found", HTML, b"none"),
    });
    let place = Place::new();
    crawl(&place, &server).args(NO_RETRY).finish().expect_code(0);
    let lines = lines(&place.path("out"));
    let asked = server.paths();
    let wrong = READABLE.iter().filter(|(path, ..)| {
        let line = &lines[&server.url(path)];
        told(line) != "stored"
            || text(line, "title") != format!("Page {path} é")
            || line["truncated"] == true
            || !asked.contains(&format!("/behind{path}"))
    });
    let wrong = wrong.map(|(path, sentence, _)| format!("not so: {sentence}: {}", lines[&server.url(path)]));
    assert_eq!(wrong.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn robots_and_sitemaps_have_the_same_codings_and_headers() {
    let server = Raw::start(|path, request| {
        let host = request.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
        match path {
            "/robots.txt" => {
                let rules = format!("User-agent: *\nDisallow: /behind\nSitemap: http://{host}/map.xml\n");
                let headers = "Content-Type : text/plain;\r\n charset=utf-8\r\nContent-Encoding: X-GZIP, Gzip\r\n";
                message("200 OK", headers, &gzip(&gzip(rules.as_bytes())))
            }
            "/map.xml" => {
                let map = format!("<urlset><url><loc>http://{host}/only-here</loc></url></urlset>");
                message("200 OK", "Content-Encoding: DEFLATE\r\nX-Cache : HIT\r\n", &raw_deflate(map.as_bytes()))
            }
            "/" | "/only-here" => html(path),
            _ => message("404 Not Found", HTML, b"none"),
        }
    });
    let place = Place::new();
    crawl(&place, &server).finish().expect_code(0);
    let lines = lines(&place.path("out"));
    assert_eq!(told(&lines[&server.url("/only-here")]), "stored");
    assert_eq!(told(&lines[&server.url("/behind/")]), "excluded robots");
}

/// Locations as they are sent, and the paths that are asked for then.
const LOCATIONS: [(&str, &[u8], &str); 7] = [
    ("/latin", b"/caf\xe9.html", "/caf%E9.html"),
    ("/utf-8", b"/caf\xc3\xa9-u.html", "/caf%C3%A9-u.html"),
    ("/query", b"/p?w=\x93\xfa\x96\x7b&x=%e9", "/p?w=%93%FA%96{&x=%E9"),
    ("/relative", b"below/\xe4#\xfc", "/below/%E4"),
    ("/folded", b"\r\n /after-a-fold", "/after-a-fold"),
    ("/empty-first", b"\r\nLocation: /second-line", "/second-line"),
    ("/mixed", b"/%E9\xe9\xff", "/%E9%E9%FF"),
];

#[test]
fn the_bytes_of_a_location_are_asked_for_as_they_are() {
    let server = Raw::start(|path, _| match LOCATIONS.iter().find(|(known, ..)| *known == path) {
        Some((_, location, _)) => {
            let rest = format!("\r\n{CLOSING}Content-Length: 0\r\n\r\n");
            [b"HTTP/1.1 302 Found\r\nLocation: ", *location, rest.as_bytes()].concat()
        }
        None if path == "/" => index(LOCATIONS.iter().map(|(path, ..)| *path)),
        None if path == "/robots.txt" => message("404 Not Found", HTML, b"none"),
        None => html(path),
    });
    let place = Place::new();
    crawl(&place, &server).finish().expect_code(0);
    let (lines, asked) = (lines(&place.path("out")), server.paths());
    for (path, _, target) in LOCATIONS {
        let line = &lines[&server.url(path)];
        assert_eq!((told(line), text(line, "final_url")), ("redirected".to_owned(), &*server.url(target)), "{path}");
        assert_eq!(asked.iter().filter(|asked| *asked == target).count(), 1, "{path}: {asked:?}");
    }
    assert!(asked.iter().all(|path| !path.contains("EF%BF%BD")), "{asked:?}");
}

/// A part of a page.
fn part(name: &str, range: &str) -> Vec<u8> {
    let body = page(name);
    message("206 Partial Content", &format!("{HTML}{range}\r\n"), &body.as_bytes()[..body.len() / 3])
}

/// Path, outcome with reason, requests, and answer.
type Absent = (&'static str, &'static str, u64, fn(&str) -> Vec<u8>);

const ABSENT: &[Absent] = &[
    ("/204", "excluded empty", 1, |_| format!("HTTP/1.1 204 No Content\r\n{CLOSING}{HTML}\r\n").into_bytes()),
    ("/205", "excluded empty", 1, |_| message("205 Reset Content", HTML, b"")),
    ("/empty", "excluded empty", 1, |_| message("200 OK", HTML, b"")),
    ("/empty-too", "excluded empty", 1, |_| message("201 Created", HTML, b"")),
    ("/empty-coded", "excluded empty", 1, |_| coded("Content-Encoding: gzip\r\n", &gzip(b""))),
    ("/blank", "excluded empty", 1, |_| message("200 OK", "", b"\xef\xbb\xbf\r\n \r\n")),
    ("/picture", "excluded type", 1, |_| message("200 OK", "Content-Type: image/png\r\n", b"")),
    ("/third", "failed partial", 3, |name| part(name, "Content-Range: bytes 0-99/300")),
    ("/tail", "failed partial", 3, |name| part(name, "Content-Range: bytes 200-299/300")),
    ("/endless", "failed partial", 3, |name| part(name, "Content-Range: bytes 0-99/*")),
    ("/no-range", "failed partial", 3, |name| part(name, "X: y")),
    ("/ranges", "failed partial", 3, |name| {
        let headers = "Content-Type: multipart/byteranges; boundary=b\r\n";
        message("206 Partial Content", headers, &part(name, "Content-Range: bytes 0-9/99"))
    }),
];

fn absent_site(path: &str) -> Vec<u8> {
    match ABSENT.iter().find(|(known, ..)| *known == path) {
        Some((.., answer)) => answer(path),
        None if path == "/" => index(ABSENT.iter().map(|(path, ..)| *path)),
        None => message("404 Not Found", HTML, b"none"),
    }
}

/// Checks the line of each absent page.
fn assert_absent(lines: &Lines, server: &Raw) {
    for (path, expected, requests, _) in ABSENT {
        let line = &lines[&server.url(path)];
        assert_eq!((told(line).as_str(), line["requests"].as_u64()), (*expected, Some(*requests)), "{line}");
        assert!(line["duplicate_of"].is_null() && line["digest"].is_null(), "{line}");
    }
}

#[test]
fn answers_without_a_page_or_with_a_part_of_one_are_told_as_such() {
    let server = Raw::start(|path, _| absent_site(path));
    let place = Place::new();
    crawl(&place, &server).finish().expect_code(0);
    assert_absent(&lines(&place.path("out")), &server);
    let errors = std::fs::read_to_string(place.path("out/errors.jsonl")).unwrap();
    assert!(errors.contains("bytes 0-99/300") && errors.contains("without a Content-Range"), "{errors}");
    // The next crawl does not take them for pages either.
    crawl(&place, &server).args(["--recrawl"]).finish().expect_code(0);
    assert_absent(&lines(&place.path("out")), &server);
}

#[test]
fn a_seed_without_content_is_no_success() {
    let server = Raw::start(|path, _| match path {
        "/" => message("200 OK", HTML, b""),
        _ => message("404 Not Found", HTML, b"none"),
    });
    let place = Place::new();
    let run = crawl(&place, &server).finish().expect_code(1);
    assert!(run.stderr.contains("excluded: empty"), "{}", run.stderr);
    let explained = place.run(["explain", "out", &server.url("/")]).finish().expect_code(0).stdout;
    assert!(explained.contains("excluded, the answer has no content"), "{explained}");
}

#[test]
fn a_part_of_robots_txt_does_not_allow_what_the_rest_may_forbid() {
    let server = Raw::start(|path, _| match path {
        "/robots.txt" => message("206 Partial Content", "Content-Range: bytes 0-12/99\r\n", b"User-agent: *\n"),
        _ => html(path),
    });
    let place = Place::new();
    crawl(&place, &server).args(NO_RETRY).finish().expect_code(1);
    assert!(!server.paths().contains(&"/".to_owned()), "{:?}", server.paths());
}

#[test]
fn a_page_that_is_a_part_of_itself_when_asked_again_does_not_replace_the_whole() {
    let server = Raw::start(|path, request| match path {
        "/robots.txt" => message("404 Not Found", HTML, b"none"),
        "/" => index(["/part", "/gone"]),
        _ if !request.contains("if-none-match") => {
            message("200 OK", &format!("{HTML}ETag: \"1\"\r\n"), page(path).as_bytes())
        }
        "/part" => part(path, "Content-Range: bytes 0-99/300"),
        _ => message("204 No Content", HTML, b""),
    });
    let place = Place::new();
    crawl(&place, &server).args(NO_RETRY).finish().expect_code(0);
    crawl(&place, &server).args(NO_RETRY).args(["--recrawl"]).finish().expect_code(0);
    let lines = lines(&place.path("out"));
    assert_eq!(told(&lines[&server.url("/part")]), "failed partial");
    assert_eq!(told(&lines[&server.url("/gone")]), "excluded empty");
}

/// A WARC record of an answer.
fn record(path: &str, block: &[u8]) -> Vec<u8> {
    let head = format!(
        "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.test{path}\r\nWARC-Date: 2026-01-02T03:04:05Z\r\n\
         Content-Type: application/http;msgtype=response\r\nContent-Length: {}\r\n\r\n",
        block.len()
    );
    [head.as_bytes(), block, b"\r\n\r\n"].concat()
}

#[test]
fn archives_with_odd_answers_give_the_same_outcomes() {
    let mut expected: BTreeMap<String, String> = BTreeMap::new();
    let mut archive = Vec::new();
    for (path, _, answer) in READABLE {
        archive.extend(record(path, &answer(path)));
        expected.insert((*path).to_owned(), "stored".to_owned());
    }
    for (path, outcome, _, answer) in ABSENT {
        archive.extend(record(&format!("/absent{path}"), &answer(path)));
        // All bodies of an archive are there to be read.
        let outcome = if *outcome == "excluded type" { "excluded empty" } else { outcome };
        expected.insert(format!("/absent{path}"), outcome.to_owned());
    }
    for (path, location, _) in LOCATIONS {
        let block = [b"HTTP/1.1 301 Moved\r\nLocation: ", location, b"\r\n\r\n"].concat();
        archive.extend(record(&format!("/to{path}"), &block));
        expected.insert(format!("/to{path}"), "redirected".to_owned());
    }
    let place = Place::new();
    std::fs::write(place.path("a.warc"), &archive).unwrap();
    place.run(["dedup", "a.warc", "-o", "out", "--min-free", "0"]).finish().expect_code(0);
    let lines = lines(&place.path("out"));
    let found = lines.iter().map(|(url, line)| (url.trim_start_matches("http://a.test").to_owned(), told(line)));
    assert_eq!(found.collect::<BTreeMap<_, _>>(), expected);
    for (path, ..) in READABLE {
        assert_eq!(text(&lines[&format!("http://a.test{path}")], "title"), format!("Page {path} é"));
    }
    assert_eq!(text(&lines["http://a.test/to/latin"], "final_url"), "http://a.test/caf%E9.html");
    assert_eq!(text(&lines["http://a.test/to/query"], "final_url"), "http://a.test/p?w=%93%FA%96{&x=%e9");
}

#[test]
fn a_whole_page_takes_the_place_of_a_part_that_came_first() {
    let one = || format!("<title>One page</title><h1>One page</h1><p>{}", words_of(1, "one", 300).join(" "));
    let server = Raw::start(move |path, _| match path {
        "/" => message("200 OK", HTML, b"<a href=/long>Long</a>"),
        "/long" => {
            let head = format!("HTTP/1.1 200 OK\r\n{HTML}{CLOSING}Content-Length: 99999\r\n\r\n");
            [head.into_bytes(), format!("{}<a href=/whole>Whole</a>", one()).into_bytes()].concat()
        }
        "/whole" => message("200 OK", HTML, format!("{}<a href=/behind>Next</a>", one()).as_bytes()),
        "/behind" => message("200 OK", HTML, words_of(60, "behind", 80).join(" ").as_bytes()),
        _ => message("404 Not Found", "", b""),
    });
    let place = Place::new();
    // The second check, without which no verdict is looked at again.
    let second = ["--detector-option", "second_check=own-words"];
    crawl(&place, &server).args(NO_RETRY).args(second).finish().expect_code(0);
    let lines = lines(&place.path("out"));
    let [long, whole, behind] = ["/long", "/whole", "/behind"].map(|path| &lines[&server.url(path)]);
    assert_eq!((text(long, "outcome"), &long["truncated"]), ("near-duplicate", &Value::Bool(true)), "{long}");
    assert_eq!(long["duplicate_of"], whole["url"]);
    assert_eq!(text(whole, "outcome"), "stored", "{whole}");
    assert_eq!(whole["revised"]["reason"], "better-place");
    assert_eq!(text(behind, "outcome"), "stored", "the links of the whole page count");
}
