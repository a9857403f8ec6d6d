//! `verify postgres://…`: what it finds in a sound crawl, and in one that somebody has damaged.

use std::fs;
use std::path::PathBuf;

use ndcrawl::cluster::{LoggedLine, logged_lines};
use serde_json::Value;

use super::crawl::{SharedCrawl, slow};
use crate::program::{Finished, Running};

/// Runs `verify` with these further arguments.
fn verify(crawl: &SharedCrawl, arguments: &[&str]) -> Finished {
    let url = crawl.servers.url();
    crawl.place.run(["verify", &url, "--cluster-name", crawl.name]).args(arguments).finish()
}

/// Returns what `verify --json` has found. It has this exit code.
fn found(crawl: &SharedCrawl, arguments: &[&str], code: i32) -> Value {
    let finished = verify(crawl, &[arguments, &["--json"]].concat());
    assert_eq!(finished.code, Some(code), "{finished:?}");
    serde_json::from_str(&finished.stdout).unwrap()
}

/// Asserts that one problem is found, which says this.
fn assert_one_problem(crawl: &SharedCrawl, says: &str) {
    let found = found(crawl, &[], 1);
    let problems = found["problems"].as_array().unwrap();
    assert!(!problems.is_empty() && problems[0].as_str().unwrap().contains(says), "{found}");
}

/// Returns an archive file of a worker, and where a stored page begins in it.
async fn stored_record(crawl: &SharedCrawl, worker: &str) -> (PathBuf, usize) {
    let (session, row) = crawl.session().await;
    let lines = logged_lines(&session, row.slot_map().slots()).await.unwrap();
    let place = |logged: &LoggedLine| {
        let line: Value = serde_json::from_str(&logged.line).unwrap();
        let file = line["warc_file"].as_str().filter(|_| line["outcome"] == "stored")?;
        let path = crawl.place.path(worker).join(&logged.folder).join(file);
        path.exists().then(|| (path, line["warc_offset"].as_u64().unwrap() as usize))
    };
    lines.iter().find_map(place).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_sound_crawl_is_intact_and_damage_is_named() {
    let crawl = SharedCrawl::new("checked", slow(41, 100));
    let workers: Vec<Running> = (1..=2).map(|number| crawl.worker(number, &[])).collect();
    for worker in workers {
        worker.finish().expect_code(0);
    }
    let finished = verify(&crawl, &[]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(finished.stdout.ends_with("the crawl 'checked' is intact\n"), "{finished:?}");
    let all = found(&crawl, &[], 0);
    let count = |found: &Value, name: &str| found["checked"][name].as_u64().unwrap();
    let pages = count(&all, "pages with a verdict");
    assert!(pages > 80 && count(&all, "pages decided once more") == pages, "{all}");
    assert!(count(&all, "WARC records read") > 0);
    assert_eq!(count(&all, "WARC records read"), count(&all, "WARC records of pages"), "{all}");
    let part = found(&crawl, &["--sample", "40%"], 0);
    assert!(count(&part, "pages decided once more") < pages, "{part}");
    assert!(count(&part, "WARC records read") < count(&part, "WARC records of pages"), "{part}");

    // Archives that were moved are found by the folder that is named.
    let moved = crawl.place.path("elsewhere");
    fs::rename(crawl.place.path("worker-1"), &moved).unwrap();
    assert_one_problem(&crawl, "name its folder with --archives");
    found(&crawl, &["--archives", moved.to_str().unwrap()], 0);
    fs::rename(&moved, crawl.place.path("worker-1")).unwrap();

    // A byte of an archive is another.
    let (path, offset) = stored_record(&crawl, "worker-1").await;
    let sound = fs::read(&path).unwrap();
    let mut damaged = sound.clone();
    damaged[offset + 200] ^= 0x10;
    fs::write(&path, &damaged).unwrap();
    assert_one_problem(&crawl, &path.display().to_string());
    // It was cut.
    fs::write(&path, &sound[..offset]).unwrap();
    assert_one_problem(&crawl, "were committed");
    fs::write(&path, &sound).unwrap();
    found(&crawl, &[], 0);

    let (session, _) = crawl.session().await;
    let sql = session.client();
    // An outcome is there twice.
    let twice = "INSERT INTO slot_log (slot, seq, run, body) SELECT slot, seq + 100000, run, body FROM slot_log \
                 WHERE (slot, seq) IN (SELECT slot, max(seq) FROM slot_log GROUP BY slot)";
    sql.batch_execute(twice).await.unwrap();
    assert_one_problem(&crawl, "has two outcomes");
    sql.batch_execute("DELETE FROM slot_log WHERE seq > 100000").await.unwrap();
    // The cluster had another threshold than its settings say.
    let other = "UPDATE crawl SET settings = jsonb_set(settings, '{settings,dedup.threshold}', '\"0.999\"')";
    sql.batch_execute(other).await.unwrap();
    assert_one_problem(&crawl, "one process gives another verdict");
}
