//! The recipes of the cookbook print what the page shows. `NDCRAWL_GOLDEN=write` writes the page.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use axum::http::HeaderMap;
use ndcrawl::demo::DemoSite;
use regex::Regex;

use crate::foreign::output;
use crate::needs::{Program, has_all};
use crate::program::Place;
use crate::web::{Answer, Content, Web};

const PAGE: &str = "docs/guide/cookbook.md";

/// The site of the demo with a sitemap, whose status page changes after the first request; and another one that has
/// copied two of its pages.
struct Sites {
    demo: DemoSite,
    origins: Vec<String>,
}

impl Sites {
    fn own(&self, path: &str, before: usize) -> Answer {
        let origin = &self.origins[0];
        match path {
            "/robots.txt" => Answer::text(self.demo.robots()),
            "/sitemap.xml" => {
                let urls =
                    ["alarms", "birds", "clock"].map(|name| format!("<url><loc>{origin}/1.0/{name}.html</loc></url>"));
                let headers = vec![("content-type", "application/xml".to_owned())];
                let body =
                    format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{}</urlset>", urls.concat());
                Answer { status: 200, headers, ..Answer::html(body) }
            }
            "/status.html" if before > 0 => {
                let body = self.demo.body(path).unwrap_or_default();
                Answer::html(format!("{body}<p>All lamps on the island are out until Monday."))
            }
            _ => self.demo.body(path).map_or(Answer::error(404), |body| Answer::html(body.as_bytes().to_vec())),
        }
    }

    fn other(&self, path: &str) -> Answer {
        let copy =
            |name: &str| self.demo.body(name).map_or(Answer::error(404), |body| Answer::html(body.as_bytes().to_vec()));
        match path {
            "/" => Answer::html(
                "<title>A blog</title><p>Of ropes and knots.<a href=/tides.html>1</a><a href=/hours.html>2</a>",
            ),
            "/tides.html" => copy("/1.0/alarms.html"),
            "/hours.html" => copy("/1.1/clock.html"),
            _ => Answer::error(404),
        }
    }
}

/// What the first site hands out to members.
const SESSION: &str = "session=3f1c9b27";

/// Pages for members, and the form that makes one of whoever comes.
fn members(path: &str, headers: &HeaderMap) -> Option<Answer> {
    let is_member = headers.get("cookie").is_some_and(|cookie| cookie == SESSION);
    let page = |title: &str, links: &str| Answer::html(format!("<title>{title}</title><p>Of the {title}.{links}"));
    Some(match path {
        "/login" => {
            let cookie = format!("{SESSION}; Path=/members/; HttpOnly");
            Answer {
                status: 303,
                headers: vec![("location", "/members/".to_owned()), ("set-cookie", cookie)],
                ..Answer::default()
            }
        }
        _ if !path.starts_with("/members/") => return None,
        _ if !is_member => Answer::error(403),
        "/members/" => page("members", "<a href=minutes.html>1</a><a href=rota.html>2</a>"),
        "/members/minutes.html" => page("minutes of the meeting", ""),
        "/members/rota.html" => page("rota of the lighthouse", ""),
        _ => Answer::error(404),
    })
}

impl Content for Sites {
    fn answer_to(&self, url: &str, before: usize, headers: &HeaderMap) -> Answer {
        let own = url.strip_prefix(&self.origins[0]).and_then(|path| members(path, headers));
        own.unwrap_or_else(|| self.answer(url, before))
    }

    fn answer(&self, url: &str, before: usize) -> Answer {
        match url.strip_prefix(&self.origins[0]) {
            Some(path) => self.own(path, before),
            None => self.other(url.strip_prefix(&self.origins[1]).unwrap_or_default()),
        }
    }
}

/// Without what differs from run to run.
fn normalize(text: &str, port: &str) -> String {
    let changes = [
        (r"after \d+(\.\d)? m?s", "after 40 ms"),
        (r"[\d.,]+ pages/s, [\d.]+ [kMG]B/s", "400 pages/s, 0.5 MB/s"),
        (r"  +time\n", "  time\n"),
        (r"  +\d+(\.\d)? m?s\n", "  3 ms\n"),
        (r"(\S) \d+(\.\d)? m?s\n", "$1 3 ms\n"),
        (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "2026-01-05T06:00:00Z"),
        (r"(\d+(\.\d)? [KM]iB|\d+ B)\b", "120 KiB"),
        (r"[ \t]+\n", "\n"),
    ];
    let text = text.replace(&format!(":{port}"), ":8000");
    changes
        .iter()
        .fold(text, |text, (pattern, with)| Regex::new(pattern).unwrap().replace_all(&text, *with).into_owned())
}

#[test]
fn the_recipes_of_the_cookbook_print_what_the_page_shows() {
    if !has_all(&[Program("jq"), Program("curl")]) {
        return;
    }
    let web = Web::start(2, |origins| Arc::new(Sites { demo: DemoSite::new(0), origins: origins.to_vec() }));
    let origins = web.origins();
    let port = origins[0].rsplit(':').next().unwrap().to_owned();
    let place = Place::new();
    place.write("list.txt", &format!("{0}/1.0/clock.html\n{0}/1.0/alarms.html\n{0}/1.1/clock.html\n", origins[0]));
    fs::create_dir(place.path("bin")).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_ndcrawl"), place.path("bin/ndcrawl")).unwrap();
    let path = format!("{}:{}", place.path("bin").display(), std::env::var("PATH").unwrap());
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    let page = fs::read_to_string(&file).unwrap();
    let mut made = String::new();
    let mut is_console = false;
    for line in page.lines() {
        is_console = if line.starts_with("```") { line == "```console" } else { is_console };
        if is_console && !line.starts_with('$') && !line.starts_with("```") {
            continue;
        }
        made += &format!("{line}\n");
        let Some(call) = line.strip_prefix("$ ").filter(|_| is_console) else { continue };
        let mut bash = Command::new("bash");
        bash.args(["-c", &call.replace(":8000", &format!(":{port}"))]).current_dir(place.path(""));
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("NDCRAWL_")) {
            bash.env_remove(name);
        }
        bash.env("PATH", &path).env("XDG_CONFIG_HOME", place.path("none"));
        // On loopback nobody is disturbed. One request at a time, so that the order is always the same.
        for (key, value) in [
            ("POLITENESS_DELAY", "0"),
            ("POLITENESS_IP_DELAY", "0"),
            ("POLITENESS_CONCURRENCY", "1"),
            ("SECURITY_ALLOW_PRIVATE", "true"),
            ("LOG_PROGRESS", "none"),
        ] {
            bash.env(format!("NDCRAWL_{key}"), value);
        }
        let ran = output(&mut bash);
        let (stdout, stderr) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        assert!(ran.status.success(), "{call}\n{stdout}{stderr}");
        made += &normalize(&format!("{stdout}{stderr}"), &port);
    }
    if std::env::var("NDCRAWL_GOLDEN").is_ok_and(|value| value == "write") {
        fs::write(&file, made).unwrap();
        return;
    }
    let difference = page.lines().zip(made.lines()).find(|(shown, printed)| shown != printed);
    assert_eq!(difference, None, "shown, printed; NDCRAWL_GOLDEN=write cargo test --test it cookbook writes {PAGE}");
    assert_eq!(page, made);
}
