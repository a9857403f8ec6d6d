//! What is decided again at the end of a crawl of several workers: as one process does it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::http::HeaderMap;
use ndcrawl::cluster::{Connector, CrawlName, ReplayOptions, check_log, open};
use ndcrawl::detect::{Mode, Options};
use ndcrawl::model::Detector;
use serde_json::{Value, json};

use super::servers::LocalServers;
use crate::invariants::lines;
use crate::program::{Place, Run, Running};
use crate::web::{Answer, Content, Web};
use crate::words::words_of;

pub const POSTS: u64 = 6;
pub const PAGES: usize = 40;

/// A host with lists that hold the posts of another host, and a manual whose pages look like copies until its template is
/// known. Each page names one that no other page names.
pub struct Sites;

impl Sites {
    /// The page of a host at a path without its first slash.
    pub fn html(host: &str, path: &str, port: &str) -> Option<String> {
        match host {
            _ if path == "robots.txt" => None,
            "tags.test" => Self::tags(path, port),
            "posts.test" => Self::posts(path),
            _ => Self::manual(path),
        }
    }

    fn post(number: u64) -> String {
        words_of(20 + number, "post", 300).join(" ")
    }

    fn tags(path: &str, port: &str) -> Option<String> {
        let Some(number) = path.strip_prefix("tag/") else {
            return Some((0..POSTS).map(|number| format!("<a href=/tag/{number}>Tag {number}</a> ")).collect());
        };
        let number: u64 = number.parse().ok()?;
        let link = format!("<h2><a href=http://posts.test:{port}/post/{number}>Post {number}</a></h2>");
        Some(format!("<!doctype html><title>Tag {number} - Tags</title>{link}<p>{}", Self::post(number)))
    }

    fn posts(path: &str) -> Option<String> {
        let Some((kind, number)) = path.split_once('/') else {
            // Only lists lead to posts.
            return path.is_empty().then(|| words_of(1, "about", 80).join(" "));
        };
        let number: u64 = number.parse().ok()?;
        let head = "<meta property=og:type content=article>";
        Some(match kind {
            "post" => format!(
                "<!doctype html><title>Post {number} - Blog</title>{head}<h1>Post {number}</h1><p>{}\
                 <p><a href=/behind/{number}>Next</a>",
                Self::post(number)
            ),
            _ => words_of(60 + number, "behind", 80).join(" "),
        })
    }

    fn manual(path: &str) -> Option<String> {
        if path.is_empty() {
            return Some((0..PAGES).map(|number| format!("<a href=/{number}>{number}</a> ")).collect());
        }
        if let Some(number) = path.strip_prefix("behind") {
            return Some((0..40).map(|word| format!("behind{number}x{word} ")).collect());
        }
        let template: String = (0..800).map(|word| format!(" common{}", word * 7919 % 1009)).collect();
        let own: String = (0..22).map(|word| format!(" own{path}x{word}")).collect();
        let link = format!("<a href=/behind{path}>more</a>");
        Some(format!("<!doctype html><title>Page {path} - Manual</title><body><p>{template}<p>{own}<p>{link}"))
    }
}

impl Content for Sites {
    fn answer(&self, _: &str, _: usize) -> Answer {
        Answer::error(404)
    }

    fn answer_to(&self, url: &str, before: usize, headers: &HeaderMap) -> Answer {
        let path = crate::graph::path(url).trim_start_matches('/').to_owned();
        let (host, port) = headers["host"].to_str().unwrap().split_once(':').unwrap();
        let html = Self::html(host, &path, port);
        let delay = Duration::from_millis(5);
        html.map_or_else(|| self.answer(url, before), |html| Answer { delay, ..Answer::html(html) })
    }
}

/// Whether only one host has a page at this path.
fn is_one_of_a_host(url: &str) -> bool {
    !["", "robots.txt"].contains(&crate::graph::path(url).trim_matches('/'))
}

/// The sites, with pages that come for a second time only after a long while, as long as that is wanted.
struct SlowOnceMore(Arc<AtomicBool>);

impl Content for SlowOnceMore {
    fn answer(&self, url: &str, before: usize) -> Answer {
        Sites.answer(url, before)
    }

    fn answer_to(&self, url: &str, before: usize, headers: &HeaderMap) -> Answer {
        let answer = Sites.answer_to(url, before, headers);
        match before > 0 && is_one_of_a_host(url) && self.0.load(Ordering::SeqCst) {
            true => Answer { delay: Duration::from_secs(60), ..answer },
            false => answer,
        }
    }
}

const FLAGS: [&str; 9] = [
    "--delay=0",
    "--ip-delay=0",
    "-c2",
    "--resolve=*:127.0.0.1",
    "--allow-private",
    "--no-config",
    "--soft-404=off",
    "--min-free=0",
    "--progress=none",
];

struct RevisedCrawl {
    servers: LocalServers,
    place: Place,
    web: Web,
    name: &'static str,
}

impl RevisedCrawl {
    fn new(name: &'static str) -> Self {
        Self::of(name, Sites)
    }

    fn of(name: &'static str, content: impl Content) -> Self {
        let web = Web::start(1, |_| Arc::new(content));
        Self { servers: LocalServers::start(), place: Place::new(), web, name }
    }

    fn seeds(&self) -> Vec<String> {
        let port = self.web.origins()[0].rsplit(':').next().unwrap().to_owned();
        ["tags", "posts", "manual"].map(|host| format!("http://{host}.test:{port}/")).to_vec()
    }

    fn worker(&self, number: usize, flags: &[&str]) -> Run {
        let folder = self.place.path(&format!("worker-{number}"));
        let run = self.place.run(["--cluster", &self.servers.url(), "--cluster-name", self.name, "--slots=16"]);
        // The best match is the same in every order.
        let run = run.args(["--matching=best"]);
        run.args(["--lease=2s", "--out"]).args([folder]).args(FLAGS).args(flags).args(self.seeds())
    }

    fn alone(&self, folder: &str, flags: &[&str]) -> Run {
        self.place.run(["-o"]).args([self.place.path(folder)]).args(FLAGS).args(flags).args(self.seeds())
    }

    /// A worker that knows the crawl by its name only.
    fn joining(&self, url: &str) -> Run {
        let run = self.place.run(["worker", url, "--cluster-name", self.name, "-c2", "--lease=2s", "--allow-private"]);
        let flags = ["--resolve=*:127.0.0.1", "--no-config", "--progress=none", "--out"];
        run.args(flags).args([self.place.path("worker-1")])
    }

    /// Returns how many pages are to be fetched once more.
    async fn queued_again(&self) -> i64 {
        let session = Connector::new(self.servers.address()).connect().await.unwrap();
        let statement = format!("SELECT sum(revising)::bigint FROM nd_{}.slot", self.name);
        session.client().query_one(&statement, &[]).await.unwrap().get(0)
    }

    /// The folder that the crawl is gathered into.
    fn folder(&self) -> PathBuf {
        self.place.path(&format!("gathered-{}", self.name))
    }

    /// Moves a folder into the cluster under this name.
    fn move_in(&mut self, name: &'static str, folder: &Path, flags: &[&str]) {
        self.name = name;
        let to = [&*self.servers.url(), "--cluster-name", name, "--slots=16"];
        self.place.run(["cluster", "move"]).args([folder]).args(to).args(flags).finish().expect_code(0);
    }

    /// Checks the log and gathers the crawl. Returns the lines of the folder.
    async fn gathered(&self) -> BTreeMap<String, Value> {
        let session = Connector::new(self.servers.address()).connect().await.unwrap();
        let crawl = open(&session, &CrawlName::parse(self.name).unwrap()).await.unwrap();
        let options = Options { mode: Mode::Best, ..Options::of(Detector::Mwo) };
        let check = check_log(&session, &crawl, ReplayOptions::all(options)).await.unwrap();
        assert!(check.is_sound() && check.replay.questions > 0, "{check:?}");
        assert_eq!(self.gather()["urls"], check.urls);
        by_url(&self.folder())
    }

    /// Gathers the crawl. Returns what was said of it.
    fn gather(&self) -> Value {
        let (url, folder) = (self.servers.url(), self.folder());
        let gathering = self.place.run(["gather", &url, "--cluster-name", self.name, "--json", "-o"]).args([&folder]);
        let told = gathering.finish().expect_code(0).json();
        self.place.run(["verify"]).args([&folder]).finish().expect_code(0);
        self.place.run(["report"]).args([&folder]).finish().expect_code(0);
        told
    }

    fn assert_as_alone(&self, shared: &BTreeMap<String, Value>, alone: &BTreeMap<String, Value>) {
        assert!(shared.keys().eq(alone.keys()), "the same URLs have lines");
        for (url, line) in shared {
            for key in ["outcome", "duplicate_of"] {
                assert_eq!(line.get(key), alone[url].get(key), "{url}: {line}, alone {}", alone[url]);
            }
        }
        let [tag, post] = ["/tag/3", "/post/3"].map(|end| shared.values().find(|line| url_of(line).ends_with(end)));
        let (tag, post) = (tag.unwrap(), post.unwrap());
        assert_eq!(post["revised"]["reason"], "better-place", "{post}");
        assert_eq!((&tag["outcome"], &tag["duplicate_of"]), (&json!("near-duplicate"), &post["url"]), "{tag}");
        assert_eq!(tag["revised"], json!({ "outcome": "stored", "reason": "displaced" }));
        assert_eq!(tag["title"], "Tag 3 - Tags", "the rest of the line is as it was");
    }
}

fn by_url(folder: &Path) -> BTreeMap<String, Value> {
    lines(folder).into_iter().collect()
}

fn url_of(line: &Value) -> &str {
    line["url"].as_str().unwrap()
}

fn revised(lines: &BTreeMap<String, Value>) -> usize {
    lines.values().filter(|line| !line["revised"].is_null()).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn workers_decide_again_what_one_process_does() {
    let crawl = RevisedCrawl::new("revised");
    let workers: Vec<Running> = (1..=2).map(|number| crawl.worker(number, &[]).start()).collect();
    for worker in workers {
        worker.finish().expect_code(0);
    }
    let shared = crawl.gathered().await;
    crawl.alone("alone", &["--matching=best"]).finish().expect_code(0);
    let alone = by_url(&crawl.place.path("alone"));
    crawl.assert_as_alone(&shared, &alone);
    // The control: there is more than the exchange, which comes of itself where posts are found late.
    assert!(revised(&alone) > 2 * POSTS as usize && revised(&shared) > 2 * POSTS as usize);
}

fn pages(lines: &BTreeMap<String, Value>) -> usize {
    let kinds = ["stored", "near-duplicate", "exact-duplicate"];
    lines.values().filter(|line| kinds.contains(&line["outcome"].as_str().unwrap())).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn pages_that_are_decided_again_keep_their_places() {
    let crawl = RevisedCrawl::new("revised_at_a_limit");
    let workers: Vec<Running> = (1..=2).map(|number| crawl.worker(number, &["--max-pages=70"]).start()).collect();
    for worker in workers {
        worker.finish().expect_code(0);
    }
    let shared = crawl.gathered().await;
    assert!(revised(&shared) > 0, "the crawl has decided pages again at its limit");
    assert_eq!(pages(&shared), 70);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn pages_that_others_decide_again_keep_their_places() {
    let crawl = RevisedCrawl::new("revised_by_others");
    let limit = "--max-pages=70";
    let killed = crawl.worker(1, &[limit]).env("TEST_NDCRAWL_ABORT_AT", "revising").finish();
    assert_eq!(killed.code, None, "{killed:?}");
    let queued = crawl.queued_again().await;
    assert!(queued > 0, "the killed worker has said what is to be fetched once more");
    let workers: Vec<Running> = (2..=3).map(|number| crawl.worker(number, &[limit]).start()).collect();
    for worker in workers {
        worker.finish().expect_code(0);
    }
    let shared = crawl.gathered().await;
    assert_eq!((pages(&shared), crawl.queued_again().await), (70, 0), "{queued} were to be fetched once more");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn gathered_folders_go_back_into_a_cluster() {
    let mut crawl = RevisedCrawl::new("to_be_gathered");
    let killed = crawl.worker(1, &["--max-pages=70"]).env("TEST_NDCRAWL_ABORT_AT", "revising").finish();
    assert_eq!(killed.code, None, "{killed:?}");
    let (queued, half) = (crawl.queued_again().await, crawl.folder());
    let of_crawl = [&*crawl.servers.url(), "--cluster-name", crawl.name];
    crawl.place.run(["gather"]).args(of_crawl).args([Path::new("-o"), &half]).finish().expect_code(0);

    crawl.move_in("half", &half, &[]);
    assert_eq!(crawl.queued_again().await, queued);
    crawl.joining(&crawl.servers.url()).finish().expect_code(0);
    // One decider does not know where the turns of the folder ended, so its verdicts are not replayed.
    crawl.gather();
    let at_limit = crawl.folder();
    let lines = by_url(&at_limit);
    assert_eq!((pages(&lines), revised(&lines) > 0), (70, true));

    // Those that were decided again are not once more.
    crawl.move_in("whole", &at_limit, &["--max-pages=0"]);
    assert_eq!(crawl.queued_again().await, 0);
    crawl.joining(&crawl.servers.url()).finish().expect_code(0);
    crawl.gather();
    crawl.alone("alone", &["--matching=best"]).finish().expect_code(0);
    crawl.assert_as_alone(&by_url(&crawl.folder()), &by_url(&crawl.place.path("alone")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_folder_that_was_stopped_while_it_decides_again_goes_on_in_a_cluster() {
    let is_slow = Arc::new(AtomicBool::new(true));
    let crawl = RevisedCrawl::of("moved_revising", SlowOnceMore(Arc::clone(&is_slow)));
    let mut alone = crawl.alone("folder", &["--max-pages=70", "--matching=best"]).start();
    let is_again = |(url, times): (String, usize)| times > 1 && is_one_of_a_host(&url);
    assert!(alone.wait_until(|| crawl.web.asked().into_iter().any(is_again)), "{}", alone.stderr());
    alone.signal("INT");
    std::thread::sleep(Duration::from_millis(300));
    alone.signal("INT");
    alone.finish().expect_code(130);
    is_slow.store(false, Ordering::SeqCst);

    let (url, folder) = (crawl.servers.url(), crawl.place.path("folder"));
    let to = [&url, "--cluster-name", crawl.name, "--slots=16"];
    crawl.place.run(["cluster", "move"]).args([&folder]).args(to).finish().expect_code(0);
    assert!(crawl.queued_again().await > 0, "pages are queued to be decided again");
    crawl.joining(&url).finish().expect_code(0);
    let shared = crawl.gathered().await;
    assert!(revised(&shared) > 0);
    assert_eq!((pages(&shared), crawl.queued_again().await), (70, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn workers_killed_during_the_questions_lose_nothing() {
    let crawl = RevisedCrawl::new("killed_asking");
    for (number, point) in ["questions", "revisions"].into_iter().enumerate() {
        let killed = crawl.worker(number, &[]).env("TEST_NDCRAWL_ABORT_AT", point).finish();
        assert_eq!(killed.code, None, "{point}: {killed:?}");
    }
    crawl.worker(9, &[]).finish().expect_code(0);
    let shared = crawl.gathered().await;
    crawl.alone("alone", &["--matching=best"]).finish().expect_code(0);
    crawl.assert_as_alone(&shared, &by_url(&crawl.place.path("alone")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_folder_that_has_decided_pages_again_goes_on_in_a_cluster() {
    let crawl = RevisedCrawl::new("moved_revised");
    crawl.alone("folder", &["--max-pages=70", "--matching=best"]).finish().expect_code(0);
    let before = by_url(&crawl.place.path("folder"));
    assert!(revised(&before) > 0, "the folder has decided pages again at its limit");
    assert_eq!(pages(&before), 70, "and these have kept their places");
    let (url, folder) = (crawl.servers.url(), crawl.place.path("folder"));
    let to = [&url, "--cluster-name", crawl.name, "--slots=16", "--max-pages=0"];
    crawl.place.run(["cluster", "move"]).args([&folder]).args(to).finish().expect_code(0);
    crawl.joining(&url).finish().expect_code(0);
    let shared = crawl.gathered().await;
    crawl.alone("alone", &["--matching=best"]).finish().expect_code(0);
    crawl.assert_as_alone(&shared, &by_url(&crawl.place.path("alone")));
}
