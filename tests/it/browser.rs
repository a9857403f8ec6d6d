//! Pages rendered by scripts, with a real Chromium.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::HeaderMap;

use crate::foreign::{output, run};
use crate::invariants::{Lines, assert_folder_is_sound, lines, outcome, text, with_outcome};
use crate::needs::{Program, has_all, skip};
use crate::program::{Place, Run};
use crate::web::{Answer, Content, Web};
use crate::words::{sentences, words_of};

/// Returns the response for a path, if there is one.
type Answers = dyn Fn(&str) -> Option<Answer> + Send + Sync;

/// A function from paths to responses.
struct Site {
    origins: Vec<String>,
    robots: &'static str,
    answer: Box<Answers>,
}

impl Content for Site {
    fn answer(&self, url: &str, _: usize) -> Answer {
        let path = self.origins.iter().find_map(|origin| url.strip_prefix(origin.as_str())).unwrap_or(url);
        match path {
            "/robots.txt" => Answer::text(self.robots),
            path => (self.answer)(path).unwrap_or_else(|| Answer::error(404)),
        }
    }
}

fn web(robots: &'static str, answer: impl Fn(&str) -> Option<Answer> + Send + Sync + 'static) -> Web {
    Web::start(1, |origins| Arc::new(Site { origins: origins.to_vec(), robots, answer: Box::new(answer) }))
}

/// Chromium needs much of a machine: one test runs it at a time.
fn alone() -> Option<std::sync::MutexGuard<'static, ()>> {
    static ALONE: Mutex<()> = Mutex::new(());
    has_all(&[Program("chromium")]).then(|| ALONE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// A crawl with its own folder for temporary files.
fn drawing(place: &Place, web: &Web, source: &str) -> Run {
    let temporary = place.path("tmp");
    std::fs::create_dir_all(&temporary).unwrap();
    let flags = ["--page-source", source, "--soft-404", "off", "--sitemaps", "off"];
    place.crawl(web.origins()).args(flags).env("TMPDIR", temporary.to_str().unwrap())
}

/// A leftover profile, or a process that uses it.
fn is_left(place: &Place) -> Option<String> {
    let left: Vec<_> = std::fs::read_dir(place.path("tmp")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let is_profile = |path: &PathBuf| path.to_string_lossy().contains("ndcrawl-browser-");
    let processes = run(Command::new("ps").args(["-eo", "args"]));
    let folder = place.path("tmp").to_string_lossy().into_owned();
    (left.iter().any(is_profile) || processes.contains(&folder)).then(|| format!("{left:?}\n{processes}"))
}

fn assert_nothing_is_left(place: &Place) {
    assert_eq!(is_left(place), None);
}

fn script(body: impl Into<Vec<u8>>) -> Answer {
    Answer { headers: vec![("content-type", "text/javascript".to_owned())], ..Answer::html(body) }
}

fn words(purpose: &str) -> String {
    sentences(&words_of(1, purpose, 120))
}

fn paths_asked(web: &Web) -> BTreeSet<String> {
    let origin = &web.origins()[0];
    web.asked().keys().map(|url| url.strip_prefix(origin.as_str()).unwrap().to_owned()).collect()
}

fn line<'a>(lines: &'a Lines, web: &Web, path: &str) -> &'a serde_json::Value {
    &lines[&format!("{}{path}", web.origins()[0])]
}

const SHELL: &str = "<!DOCTYPE html><title>shell</title><link rel=stylesheet href='/style.css'>\
    <div id=\"root\"></div><img src='/picture.png'><script src='/app.js'></script>";

/// A script that requests the page's text, and a URL that robots.txt forbids, and renders the text.
const APP: &str = "(async () => {
    fetch('/api/secret.json').catch(() => {});
    fetch('/api/written.json', { method: 'POST', body: 'x' }).catch(() => {});
    const page = await (await fetch('/api' + location.pathname + '.json')).json();
    document.title = page.title;
    const root = document.getElementById('root');
    root.append(Object.assign(document.createElement('p'), { textContent: page.text }));
    for (const link of page.links) root.append(Object.assign(document.createElement('a'), { href: link, textContent: link }));
})();";

fn drawn_by_script(path: &str) -> Option<Answer> {
    let json = |path: &str, links: &str| {
        let text = words(path);
        Answer::text(&format!("{{\"title\": \"Title of {path}\", \"text\": \"{text}\", \"links\": [{links}]}}"))
    };
    match path {
        "/" | "/a" | "/b" => Some(Answer::html(SHELL)),
        "/app.js" => Some(script(APP)),
        "/api/.json" => Some(json("/", "\"/a\", \"/plain\"")),
        "/api/a.json" => Some(json("/a", "\"/b\"")),
        "/api/b.json" => Some(json("/b", "")),
        "/plain" => Some(Answer::html(format!(
            "<title>plain</title><p>{}</p><script src='/other.js'></script>",
            words("plain")
        ))),
        _ => None,
    }
}

#[test]
#[cfg_attr(not(has_chromium), ignore = "needs chromium")]
fn a_scripted_site_is_empty_without_a_browser_and_complete_with_it() {
    let Some(_alone) = alone() else { return };
    let web = web("User-agent: *\nDisallow: /api/secret\n", drawn_by_script);
    let without = Place::new();
    drawing(&without, &web, "static").finish().expect_code(0);
    assert_eq!(lines(&without.path("out")).len(), 1, "no links without scripts");

    let place = Place::new();
    drawing(&place, &web, "auto").args(["--delay", "100ms"]).finish().expect_code(0);
    let lines = lines(&place.path("out"));
    for path in ["/", "/a", "/b"] {
        let line = line(&lines, &web, path);
        assert_eq!((outcome(line), text(line, "page_source")), ("stored", "browser"), "{line}");
        assert_eq!(text(line, "title"), format!("Title of {path}"));
    }
    let plain = line(&lines, &web, "/plain");
    assert_eq!((outcome(plain), plain.get("page_source")), ("stored", None), "it says enough as it is");
    let expected = ["/", "/a", "/b", "/plain", "/app.js", "/api/.json", "/api/a.json", "/api/b.json"];
    assert_eq!(paths_asked(&web), expected.iter().map(|path| (*path).to_owned()).collect());
    assert_eq!(web.asked()[&format!("{}/app.js", web.origins()[0])], 1, "a script is asked for once");
    assert_manners(&web);
    assert_folder_is_sound(&place);
    assert_nothing_is_left(&place);
    let requests = place.run(["status", "out", "--json"]).finish().json()["requests"].as_u64();
    // The first of both crawls requested only robots.txt and the front page.
    assert_eq!(requests, Some(web.requests().len() as u64 - 2));
}

/// Checks the server's log of the second crawl: robots.txt first, then delays, which jitter never halves.
fn assert_manners(web: &Web) {
    let requests = web.requests();
    let requests = &requests[2..];
    assert!(requests[0].url.ends_with("/robots.txt"), "{requests:?}");
    for pair in requests.windows(2) {
        assert!(pair[1].at - pair[0].at >= Duration::from_millis(50), "{pair:?}");
    }
}

/// A shell that answers 304, around data that change.
#[derive(Default)]
struct Renewed {
    version: AtomicU32,
}

impl Content for Renewed {
    fn answer(&self, _: &str, _: usize) -> Answer {
        Answer::error(500)
    }

    fn answer_to(&self, url: &str, _: usize, headers: &HeaderMap) -> Answer {
        let path = &url[url.find("//").unwrap() + 2..];
        let path = &path[path.find('/').unwrap()..];
        let answer = match path {
            "/api/a.json" if self.version.load(Ordering::SeqCst) > 0 => {
                Answer::text(&format!("{{\"title\": \"News\", \"text\": \"{}\", \"links\": []}}", words("news")))
            }
            path => drawn_by_script(path).unwrap_or_else(|| Answer::error(404)),
        };
        if headers.get("if-none-match").is_some_and(|tag| tag == path) {
            return Answer { status: 304, ..Answer::default() };
        }
        let tagged = [answer.headers, vec![("etag", path.to_owned())]].concat();
        Answer { headers: if path.starts_with("/api/") { vec![] } else { tagged }, ..answer }
    }
}

#[test]
#[cfg_attr(not(has_chromium), ignore = "needs chromium")]
fn a_recrawl_renders_scripted_pages_again() {
    let Some(_alone) = alone() else { return };
    let site = Arc::new(Renewed::default());
    let web = Web::start(1, |_| site.clone());
    let place = Place::new();
    drawing(&place, &web, "auto").finish().expect_code(0);
    site.version.store(1, Ordering::SeqCst);
    drawing(&place, &web, "auto").args(["--recrawl"]).finish().expect_code(0);
    let again = lines(&place.path("out"));
    let front = line(&again, &web, "/");
    assert_eq!((outcome(front), text(front, "page_source")), ("not-modified", "browser"), "{front}");
    assert_eq!(front["status"], 200, "the shell's tag says nothing of what is drawn in it");
    let news = line(&again, &web, "/a");
    assert_eq!((outcome(news), text(news, "title"), text(news, "page_source")), ("stored", "News", "browser"));
    let plain = line(&again, &web, "/plain");
    assert_eq!(
        (outcome(plain), &plain["status"]),
        ("not-modified", &304.into()),
        "who needs no script is asked whether"
    );
    assert_folder_is_sound(&place);
    assert_nothing_is_left(&place);
}

#[test]
#[cfg_attr(not(has_chromium), ignore = "needs chromium")]
fn browser_mode_renders_every_html_page() {
    let Some(_alone) = alone() else { return };
    let web = web("", |path| match path {
        "/" => Some(Answer::html(format!(
            "<title>t</title><p>{}</p><script>document.title = 'drawn'</script><a href='/text.txt'>t</a>",
            words("front")
        ))),
        "/text.txt" => Some(Answer::text(&words("text"))),
        _ => None,
    });
    let place = Place::new();
    drawing(&place, &web, "browser").finish().expect_code(0);
    let lines = lines(&place.path("out"));
    let front = line(&lines, &web, "/");
    assert_eq!((text(front, "page_source"), text(front, "title")), ("browser", "drawn"));
    assert_eq!(line(&lines, &web, "/text.txt").get("page_source"), None);
}

#[test]
#[cfg_attr(not(has_chromium), ignore = "needs chromium")]
fn a_hostile_page_stays_within_its_limits() {
    let Some(_alone) = alone() else { return };
    let hostile = [
        ("/endless", "for (;;) {}"),
        ("/later", "setTimeout(() => { for (;;) {} }, 50)"),
        ("/flood", "for (let i = 0; i < 10000; i++) fetch('/flood/' + i).catch(() => {});"),
        ("/alerts", "for (;;) { alert('a'); confirm('b'); prompt('c'); }"),
        (
            "/frames",
            "addEventListener('beforeunload', e => e.preventDefault()); for (let i = 0; i < 50; i++) document.body.append(Object.assign(document.createElement('iframe'), { srcdoc: '<script>top.alert(1); alert(2)</scr' + 'ipt>' }));",
        ),
        (
            "/download",
            "location = '/file.zip'; Object.assign(document.createElement('a'), { href: '/file.zip', download: 'x' }).click();",
        ),
        ("/windows", "for (let i = 0; i < 20; i++) open('/opened/' + i);"),
        ("/away", "setInterval(() => { location = '/elsewhere/' + Math.random() }, 10)"),
        (
            "/worker",
            "new Worker(URL.createObjectURL(new Blob(['setInterval(() => fetch(\"/from-worker\"), 1); importScripts(\"/worker.js\")'])));",
        ),
        ("/socket", "new WebSocket('ws://' + location.host + '/socket-opened');"),
        ("/large", "const s = 'x'.repeat(1 << 20); for (let i = 0; i < 64; i++) document.body.append(s + i);"),
    ];
    let web = web("", move |path| {
        let page = |code: &str| {
            Some(Answer::html(format!("<title>{path}</title><p>{path}</p><div id=root></div><script>{code}</script>")))
        };
        match path {
            "/" => Some(Answer::html(
                hostile.iter().map(|(path, _)| format!("<a href='{path}'>x</a>")).collect::<String>()
                    + "<a href='/last'>y</a>",
            )),
            "/last" => page("document.body.append('drawn in the end'); document.title = 'drawn'"),
            _ if path.starts_with("/flood/") => Some(Answer::text("more")),
            _ => page(hostile.iter().find(|(hostile, _)| *hostile == path)?.1),
        }
    });
    let place = Place::new();
    drawing(&place, &web, "auto")
        .env("NDCRAWL_BROWSER_TIMEOUT", "3s")
        .env("NDCRAWL_BROWSER_MAX_REQUESTS", "20")
        .finish()
        .expect_code(0);
    let lines = lines(&place.path("out"));
    assert_eq!(lines.len(), hostile.len() + 2, "{:?}", lines.keys());
    for (path, _) in hostile {
        let outcome = outcome(line(&lines, &web, path));
        assert!(["stored", "near-duplicate", "exact-duplicate"].contains(&outcome), "{path}: {outcome}");
    }
    assert_eq!(text(line(&lines, &web, "/last"), "title"), "drawn", "the browser lives on");
    let asked = paths_asked(&web);
    let flooded = asked.iter().filter(|path| path.starts_with("/flood/")).count();
    assert!(flooded <= 20, "{flooded}");
    for never in ["/file.zip", "/opened", "/elsewhere", "/from-worker", "/worker.js", "/socket-opened"] {
        assert!(!asked.iter().any(|path| path.starts_with(never)), "{never}: {asked:?}");
    }
    assert_folder_is_sound(&place);
    assert_nothing_is_left(&place);
}

/// Chromium is killed midway and restarted.
#[test]
#[cfg_attr(not(has_chromium), ignore = "needs chromium")]
fn a_crash_of_the_browser_is_survived() {
    let Some(_alone) = alone() else { return };
    let web = web("", |path| match path {
        "/" => Some(Answer::html((0..8).map(|n| format!("<a href='/{n}'>x</a>")).collect::<String>())),
        "/app.js" => Some(Answer {
            delay: Duration::from_millis(300),
            ..script("document.title = 'drawn' + location.pathname; document.body.append(document.title.repeat(9))")
        }),
        _ if path.len() == 2 => {
            Some(Answer::html(format!("<div id=root></div><p>{path}<script src='/app.js?{path}'></script>")))
        }
        _ if path.starts_with("/app.js?") => Some(script("document.title = 'drawn' + location.pathname")),
        _ => None,
    });
    let place = Place::new();
    let mut running = drawing(&place, &web, "auto").args(["--delay", "100ms"]).start();
    assert!(running.wait_until(|| web.asked().keys().any(|url| url.contains("/app.js?"))));
    let folder = place.path("tmp").to_string_lossy().into_owned();
    // The first process is the browser; the others are its children and end with it.
    let found = output(Command::new("pgrep").args(["-o", "-f", &format!("user-data-dir={folder}")]));
    let id = String::from_utf8(found.stdout).unwrap().trim().to_owned();
    assert!(!id.is_empty());
    run(Command::new("kill").args(["-KILL", &id]));
    running.finish().expect_code(0);
    let lines = lines(&place.path("out"));
    for number in 0..8 {
        let path = format!("/{number}");
        assert_eq!(text(line(&lines, &web, &path), "title"), format!("drawn{path}"));
    }
}

/// A single-page application with a router, made with Preact from npm.
#[test]
#[cfg_attr(not(has_chromium), ignore = "needs chromium")]
fn a_killed_crawler_leaves_no_browser_behind() {
    let Some(_alone) = alone() else { return };
    let web = web("", drawn_by_script);
    let place = Place::new();
    let mut running = drawing(&place, &web, "browser").args(["--delay", "1s"]).start();
    let is_drawing = || paths_asked(&web).contains("/app.js");
    assert!(running.wait_until(is_drawing), "no page was drawn");
    assert!(is_left(&place).is_some(), "nothing was there to be ended");
    running.kill();
    let began = Instant::now();
    while let Some(left) = is_left(&place) {
        assert!(began.elapsed() < Duration::from_secs(20), "{left}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
#[cfg_attr(not(has_chromium), ignore = "needs chromium")]
fn an_application_of_a_common_framework_is_read() {
    let Some(_alone) = alone() else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("preact");
    let library = folder.join("node_modules/preact/dist/preact.umd.js");
    if !library.exists() {
        if !has_all(&[Program("npm")]) {
            return;
        }
        std::fs::create_dir_all(&folder).unwrap();
        let installed = output(
            Command::new("npm")
                .args(["install", "--silent", "--no-save", "--no-audit", "--prefix"])
                .arg(&folder)
                .arg("preact@10"),
        );
        if !installed.status.success() {
            return skip("npm does not get preact");
        }
    }
    let library = std::fs::read(library).unwrap();
    const APPLICATION: &str = "const { h, render, Component } = preact;
        class Page extends Component {
            componentDidMount() { fetch('/data' + this.props.path).then(r => r.text()).then(text => { document.title = 'Topic ' + this.props.path; this.setState({ text }); }); }
            render({ path }, { text }) {
                const next = [1, 2].map(n => '/topic/' + (Number(path.split('/')[2] || 0) * 2 + n)).filter(p => Number(p.split('/')[2]) < 7);
                return h('main', null, h('p', null, text || 'loading'), next.map(p => h('a', { href: p }, p)));
            }
        }
        render(h(Page, { path: location.pathname }), document.getElementById('app'));";
    let web = web("", move |path| match path {
        "/preact.js" => Some(script(library.clone())),
        "/application.js" => Some(script(APPLICATION)),
        _ if path.starts_with("/data/") => Some(Answer::text(&words(path))),
        _ if path == "/" || path.starts_with("/topic/") => Some(Answer::html(
            "<!DOCTYPE html><title>App</title><body><noscript>You need to enable JavaScript to run this app.</noscript>\
             <div id=app></div><script src=/preact.js></script><script src=/application.js></script>",
        )),
        _ => None,
    });
    let without = Place::new();
    drawing(&without, &web, "static").finish().expect_code(0);
    assert_eq!(lines(&without.path("out")).len(), 1);
    let place = Place::new();
    drawing(&place, &web, "auto").finish().expect_code(0);
    let lines = lines(&place.path("out"));
    assert_eq!(with_outcome(&lines, "stored").len(), 7, "{lines:?}");
    for number in 1..7 {
        let line = line(&lines, &web, &format!("/topic/{number}"));
        assert_eq!(text(line, "title"), format!("Topic /topic/{number}"), "{line}");
    }
}

#[test]
fn a_missing_browser_is_named() {
    let place = Place::new();
    let refused = place
        .crawl(&["http://127.0.0.1:9/"])
        .args(["--page-source", "auto"])
        .env("NDCRAWL_BROWSER_EXECUTABLE", "/nowhere/chromium")
        .finish()
        .expect_code(2);
    assert!(refused.stderr.contains("/nowhere/chromium"), "{}", refused.stderr);
    let refused = place
        .crawl(&["http://127.0.0.1:9/"])
        .args(["--page-source", "auto"])
        .env("PATH", "/nowhere")
        .finish()
        .expect_code(2);
    assert!(refused.stderr.contains("Chromium") && refused.stderr.contains("hint"), "{}", refused.stderr);
}
