//! A crawl moves from a folder into a cluster and back into a folder.

use std::path::Path;

use ndcrawl::cluster::logged_lines;
use ndcrawl::model::{Rest, RestOf, RestRow};
use serde_json::Value;

use super::crawl::{OF_THE_CRAWL, SharedCrawl, slow};
use crate::invariants::{Lines, lines, outcome, text, with_outcome};
use crate::program::{Finished, Running};

/// Crawls alone into the folder of this name.
fn crawl_alone(crawl: &SharedCrawl, folder: &str, flags: &[&str]) -> Finished {
    let run = crawl.place.run(["-c8", "--out"]).args([crawl.place.path(folder)]);
    let of_one = OF_THE_CRAWL.iter().filter(|flag| !flag.starts_with("--slots") && !flag.starts_with("--lease"));
    run.args(of_one).args(flags).args(crawl.graph.seeds()).finish()
}

fn move_folder(crawl: &SharedCrawl, folder: &str, flags: &[&str]) -> crate::program::Run {
    let run = crawl.place.run(["cluster", "move"]).args([crawl.place.path(folder)]);
    run.args([&crawl.servers.url(), "--cluster-name", crawl.name, "--slots=16"]).args(flags)
}

fn worker(crawl: &SharedCrawl, number: usize) -> Running {
    let run = crawl.place.run(["worker", &crawl.servers.url(), "--cluster-name", crawl.name, "-c8", "--lease=2s"]);
    let folder = crawl.place.path(&format!("worker-{number}"));
    run.args(["--allow-private", "--no-config", "--progress=none", "--out"]).args([folder]).start()
}

async fn log_lines(crawl: &SharedCrawl) -> Lines {
    let (session, row) = crawl.session().await;
    let logged = logged_lines(&session, row.slot_map().slots()).await.unwrap();
    let line = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
    logged.iter().map(|logged| line(&logged.line)).map(|line| (text(&line, "url").to_owned(), line)).collect()
}

/// What was stored of the plan: of copies the page that was copied.
fn stored(crawl: &SharedCrawl, lines: &Lines) -> Vec<String> {
    let mut stored: Vec<String> =
        with_outcome(lines, "stored").into_iter().map(|url| crawl.graph.original(url).to_owned()).collect();
    stored.sort();
    stored
}

fn exported(crawl: &SharedCrawl, folder: &Path) -> usize {
    let file = folder.with_extension("jsonl");
    crawl.place.run(["export"]).args([folder]).args(["-o"]).args([&file]).finish().expect_code(0);
    std::fs::read_to_string(file).unwrap().lines().count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_moved_crawl_ends_as_one_that_went_on_alone() {
    for (name, matching) in [("moved", "--matching=any"), ("moved_best", "--matching=best")] {
        let crawl = SharedCrawl::new(name, slow(51, 100));
        crawl_alone(&crawl, "folder", &["--max-pages=60", matching]).expect_code(0);
        let since = jiff::Timestamp::now().as_millisecond();
        let (of, millis) = (RestOf::Origin("http://resting.test:8080".to_owned()), 3_600_000);
        let rest = RestRow { of, why: Rest::RetryAfter, since, millis, at: None, strikes: 1 };
        let resting = serde_json::to_string(&rest).unwrap() + "\n";
        std::fs::write(crawl.place.path("folder").join("rests.jsonl"), resting).unwrap();
        let moved = move_folder(&crawl, "folder", &["--max-pages=0"]).finish().expect_code(0);
        assert!(moved.stdout.contains(&format!("is the crawl '{name}' now")), "{moved:?}");

        // It is read as ever, and nobody goes on in it.
        crawl.place.run(["report"]).args([crawl.place.path("folder")]).finish().expect_code(0);
        let refused = crawl_alone(&crawl, "folder", &["--max-pages=80", matching]);
        assert_eq!(refused.code, Some(5), "{refused:?}");
        assert!(refused.stderr.contains(&format!("is the crawl '{name}' of")), "{refused:?}");
        let again = move_folder(&crawl, "folder", &["--max-pages=0"]).finish();
        assert!(again.stderr.contains("is there and has its own pages"), "{again:?}");

        let workers: Vec<Running> = (1..=2).map(|number| worker(&crawl, number)).collect();
        for worker in workers {
            worker.finish().expect_code(0);
        }
        let shared = log_lines(&crawl).await;
        crawl.assert_as_planned(&shared);
        crawl.assert_asked_once();
        let url = crawl.servers.url();
        let checked = crawl.place.run(["verify", &url, "--cluster-name", name]).finish().expect_code(0);
        assert!(checked.stdout.contains("is intact"), "{checked:?}");
        crawl.place.run(["verify", &url, "--cluster-name", name, "--sample=30%"]).finish().expect_code(0);

        let gathered = crawl.gather();
        let rests = std::fs::read_to_string(gathered.join("rests.jsonl")).unwrap();
        assert!(rests.contains("http://resting.test:8080"), "{rests}");
        crawl_alone(&crawl, "alone", &[matching]).expect_code(0);
        let (here, alone) = (lines(&gathered), lines(&crawl.place.path("alone")));
        assert_eq!(stored(&crawl, &here), stored(&crawl, &alone));
        assert!(here.keys().eq(alone.keys()), "the same URLs have lines");
        for (url, line) in &shared {
            assert_eq!(outcome(&here[url]), outcome(line));
        }
        assert_eq!(exported(&crawl, &gathered), exported(&crawl, &crawl.place.path("alone")));
        crawl.place.run(["report"]).args([&gathered]).finish().expect_code(0);
    }
}

/// The control of the test above: it would notice a move that leaves out what was fetched.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_move_without_the_outcomes_would_fetch_pages_twice() {
    let crawl = SharedCrawl::new("left_out", slow(52, 60));
    crawl_alone(&crawl, "folder", &["--max-pages=40"]).expect_code(0);
    move_folder(&crawl, "folder", &["--max-pages=0"]).finish().expect_code(0);
    let (session, _) = crawl.connected().await;
    // The first commit has the URLs, the last ones pages and origins.
    session.client().batch_execute("DELETE FROM slot_log WHERE seq > 1").await.unwrap();
    worker(&crawl, 1).finish();
    assert!(crawl.web.asked().values().any(|times| *times > 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn an_interrupted_move_goes_on_and_nobody_works_on_it_before() {
    let crawl = SharedCrawl::new("interrupted", slow(53, 60));
    crawl_alone(&crawl, "folder", &["--max-pages=40"]).expect_code(0);
    let state = "SELECT md5(string_agg(body::text, ',' ORDER BY slot, seq)) FROM slot_log \
                 UNION ALL SELECT md5(string_agg(body::text, ',' ORDER BY number)) FROM turn \
                 UNION ALL SELECT md5(string_agg(body::text, ',' ORDER BY first)) FROM arrival \
                 UNION ALL SELECT string_agg(commits || ' ' || pages, ',' ORDER BY slot) FROM slot \
                 UNION ALL SELECT string_agg(origin || ' ' || requests || ' ' || coalesce(outcomes::text, ''), ',' ORDER BY origin) FROM host";
    let whole = SharedCrawl { name: "uninterrupted", ..crawl };
    move_folder(&whole, "folder", &[]).finish().expect_code(0);
    let read = |rows: Vec<tokio_postgres::Row>| -> Vec<Option<String>> { rows.iter().map(|row| row.get(0)).collect() };
    let expected = read(whole.connected().await.0.client().query(state, &[]).await.unwrap());

    let crawl = SharedCrawl { name: "interrupted", ..whole };
    std::fs::remove_file(crawl.place.path("folder").join("moved.json")).unwrap();
    for point in ["moved-pages", "moved-events", "moved"] {
        let killed = move_folder(&crawl, "folder", &[]).env("TEST_NDCRAWL_ABORT_AT", point).finish();
        assert_eq!(killed.code, None, "{point}: {killed:?}");
        let refused = worker(&crawl, 1).finish();
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.stderr.contains("in part only"), "{refused:?}");
    }
    move_folder(&crawl, "folder", &[]).finish().expect_code(0);
    let found = read(crawl.connected().await.0.client().query(state, &[]).await.unwrap());
    assert_eq!(found, expected);
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
fn what_a_cluster_cannot_go_on_with_is_refused() {
    let crawl = SharedCrawl::new("refused", slow(54, 30));
    let refused = |folder: &str, flags: &[&str], code: i32, says: &str| {
        crawl_alone(&crawl, folder, &[flags, &["--max-pages=5"]].concat()).expect_code(0);
        let refused = move_folder(&crawl, folder, &[]).finish();
        assert_eq!(refused.code, Some(code), "{refused:?}");
        assert!(refused.stderr.contains(says), "{refused:?}");
    };
    refused("longest", &["--keep=longest"], 2, "several processes keep the first copy");
    refused("focused", &["--focus=words"], 2, "a topic is learned by one process");
    let place = &crawl.place;
    let input = place.write("pages.jsonl", "{\"url\": \"http://a.test/\", \"text\": \"one page\"}\n");
    place.run(["dedup", "-o"]).args([place.path("deduplicated")]).args([&input]).finish();
    let of_dedup = move_folder(&crawl, "deduplicated", &[]).finish();
    assert!(of_dedup.stderr.contains("the folder holds the results of dedup"), "{of_dedup:?}");
    let missing = move_folder(&crawl, "nothing", &[]).finish();
    assert_eq!(missing.code, Some(2), "{missing:?}");
}
