//! Pages behind a login, by the cookies of a file.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::sync::{Arc, Mutex};

use axum::http::HeaderMap;
use flate2::read::MultiGzDecoder;

use crate::program::{Place, Run};
use crate::web::{Answer, Content, Web};
use crate::words::{sentences, words_of};

const SECRET: &str = "open-sesame-4711";

/// Two hosts. Without its cookie, the first shows a form that links to nothing; with it, pages and a redirect to the second.
struct Members {
    origins: Vec<String>,
    /// The header `Cookie` by URL.
    got: Mutex<BTreeMap<String, String>>,
}

impl Members {
    fn page(&self, path: &str) -> Answer {
        let links = match path {
            "/" => "<a href=/app/1>1</a><a href=/app/2>2</a><a href=/away>3</a>",
            "/app/1" | "/app/2" => "",
            "/away" => return Answer::redirect(&format!("{}/", self.origins[1])),
            _ => return Answer::error(404),
        };
        let words = sentences(&words_of(1, path, 120));
        let mut answer = Answer::html(format!("<!DOCTYPE html><title>{path}</title><p>{words}</p>{links}"));
        // Answers change no cookie.
        answer.headers.push(("set-cookie", "session=other; Path=/".to_owned()));
        answer
    }
}

impl Content for Members {
    fn answer(&self, url: &str, _: usize) -> Answer {
        panic!("{url}: asked without headers");
    }

    fn answer_to(&self, url: &str, _: usize, headers: &HeaderMap) -> Answer {
        let cookie = headers.get("cookie").map_or("", |value| value.to_str().unwrap()).to_owned();
        let is_member = cookie.contains(&format!("session={SECRET}"));
        self.got.lock().unwrap().insert(url.to_owned(), cookie);
        match url.strip_prefix(&self.origins[0]) {
            _ if url.ends_with("/robots.txt") => Answer::error(404),
            Some(path) if is_member => self.page(path),
            Some(_) => Answer::html("<title>Login</title><p>Who are you?<form></form>"),
            None => Answer::html(format!("<title>Away</title><p>{}", sentences(&words_of(2, "away", 120)))),
        }
    }
}

fn members() -> (Web, Arc<Members>) {
    let mut members = None;
    let web = Web::start(2, |origins| {
        let site = Arc::new(Members { origins: origins.to_vec(), got: Mutex::default() });
        members = Some(Arc::clone(&site));
        site
    });
    (web, members.unwrap())
}

fn file() -> String {
    format!(
        "# Netscape HTTP Cookie File\n\n\
         #HttpOnly_127.0.0.1\tFALSE\t/\tFALSE\t4102444800\tsession\t{SECRET}\n\
         127.0.0.1\tFALSE\t/app\tFALSE\t0\tapp\t{SECRET}\n\
         127.0.0.1\tFALSE\t/\tFALSE\t1000000000\told\t{SECRET}\n"
    )
}

fn crawl(place: &Place, web: &Web) -> Run {
    let seed = format!("{}/", web.origins()[0]);
    place.crawl(&[seed]).args(["--scope", "any", "--max-pages", "20", "--cookie-file", "cookies.txt", "-vv"])
}

/// The content of all files of a folder, the compressed ones decompressed.
fn content(folder: &std::path::Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(content(&path));
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        if path.extension().is_some_and(|extension| extension == "gz") {
            MultiGzDecoder::new(&bytes[..]).read_to_end(&mut all).unwrap();
        }
        all.extend(bytes);
    }
    all
}

fn has(content: &[u8], part: &str) -> bool {
    content.windows(part.len()).any(|window| window == part.as_bytes())
}

#[test]
fn cookies_of_a_file_open_a_site_and_go_to_no_other() {
    for engine in ["frontier", "spider"] {
        let (web, site) = members();
        let place = Place::new();
        place.write("cookies.txt", &file());
        let run = crawl(&place, &web).args(["--engine", engine]).finish().expect_code(0);
        assert!(run.stderr.contains("warning: --cookie-file: cookies.txt: 1 of 3 cookies expired"), "{}", run.stderr);
        let stored = place.pages().iter().filter(|line| line["outcome"] == "stored").count();
        assert_eq!(stored, 4, "{engine}: the root, two pages, and the page of the other host");
        let got = site.got.lock().unwrap();
        for (path, expected) in [
            ("/", format!("session={SECRET}")),
            ("/robots.txt", format!("session={SECRET}")),
            ("/away", format!("session={SECRET}")),
            ("/app/1", format!("app={SECRET}; session={SECRET}")),
        ] {
            assert_eq!(got[&format!("{}{path}", web.origins()[0])], expected, "{engine}: {path}");
        }
        assert_eq!(got[&format!("{}/", web.origins()[1])], "", "{engine}");
        let written = content(&place.path("out"));
        assert!(has(&written, "WARC-Type: request") && has(&written, "set-cookie: session=other"), "{engine}");
        assert!(!has(&written, SECRET) && !run.stderr.contains(SECRET) && !run.stdout.contains(SECRET), "{engine}");
    }
}

#[test]
fn a_header_line_replaces_the_cookies_of_the_file() {
    let (web, site) = members();
    let place = Place::new();
    place.write("cookies.txt", &file());
    crawl(&place, &web).args(["-H", "Cookie: a=b"]).finish().expect_code(0);
    assert_eq!(site.got.lock().unwrap()[&format!("{}/", web.origins()[0])], "a=b");
}

#[test]
fn a_file_that_cannot_be_used_is_refused_before_anything_is_written() {
    let (web, _) = members();
    let place = Place::new();
    for (text, told) in [
        ("127.0.0.1 FALSE / FALSE 0 sid hidden\n", "cookies.txt:1: 1 of 7 fields, with tabs"),
        ("# c\n\n127.0.0.1\tFALSE\t/\tFALSE\tsoon\tsid\thidden\n", "cookies.txt:3: the expiry (field 5)"),
        ("# Netscape HTTP Cookie File\n", "cookies.txt: the file holds no cookies"),
        ("127.0.0.1\tFALSE\t/\tFALSE\t1000000000\tsid\thidden\n", "cookies.txt: all its cookies have expired"),
    ] {
        place.write("cookies.txt", text);
        let run = crawl(&place, &web).finish().expect_code(2);
        assert!(run.stderr.contains(&format!("--cookie-file: {told}")), "{}", run.stderr);
        assert!(!run.stderr.contains("hidden"), "{}", run.stderr);
        let planned = crawl(&place, &web).args(["--dry-run"]).finish().expect_code(2);
        assert_eq!(planned.stderr, run.stderr);
    }
    fs::remove_file(place.path("cookies.txt")).unwrap();
    let run = crawl(&place, &web).finish().expect_code(2);
    assert!(run.stderr.contains("--cookie-file: cookies.txt: No such file"), "{}", run.stderr);
    assert!(!place.path("out").exists() && web.requests().is_empty());
}
