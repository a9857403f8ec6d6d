//! A crawl of a cluster becomes a folder, however often that is interrupted.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ndcrawl::store::StoreReader;

use super::crawl::{SharedCrawl, slow};
use crate::graph::Options as GraphOptions;
use crate::program::{Finished, Running};

/// Enough pages for several commits.
const PAGES: usize = 1400;

fn gather(crawl: &SharedCrawl, folder: &str, kill_at: Option<&str>) -> Finished {
    let run = crawl.place.run(["gather", &crawl.servers.url(), "--cluster-name", crawl.name, "-o"]);
    let run = run.args([crawl.place.path(folder)]);
    match kill_at {
        None => run.finish(),
        Some(point) => run.env("TEST_NDCRAWL_ABORT_AT", point).finish(),
    }
}

/// Everything that a folder says, but for times.
#[derive(PartialEq, Eq)]
struct Told {
    files: BTreeMap<PathBuf, Vec<u8>>,
    rows: Vec<String>,
}

impl Told {
    fn read(folder: &Path) -> Self {
        let mut files = BTreeMap::new();
        for name in ["pages.jsonl", "errors.jsonl"] {
            files.insert(name.into(), std::fs::read(folder.join(name)).unwrap());
        }
        for file in archives(folder).into_keys() {
            files.insert(file.clone(), std::fs::read(folder.join("warc").join(file)).unwrap());
        }
        let (reader, opened) = StoreReader::open(folder, 1 << 20).unwrap();
        let mut rows = vec![format!("{:?} {:?}", opened.mark.totals, opened.mark.finished)];
        rows.extend(reader.all_urls().unwrap().map(|row| format!("{:?}", row.unwrap())));
        rows.extend(reader.all_terms().unwrap().map(|row| format!("{:?}", row.unwrap())));
        rows.extend(reader.all_pages().unwrap().map(|row| format!("{:?}", row.unwrap())));
        rows.extend(reader.all_done().unwrap().map(|row| format!("{:?}", row.unwrap())));
        rows.extend(reader.all_hosts().unwrap().map(|row| format!("{:?}", row.unwrap())));
        Self { files, rows }
    }

    fn assert_is(&self, other: &Self) {
        assert!(self.files.keys().eq(other.files.keys()));
        for (name, bytes) in &self.files {
            assert!(*bytes == other.files[name], "{} differs", name.display());
        }
        let differing = self.rows.iter().zip(&other.rows).find(|(one, other)| one != other);
        assert_eq!(differing, None);
        assert_eq!(self.rows.len(), other.rows.len());
    }
}

/// The archive files of a folder, each with the number of its file and when it was written.
fn archives(folder: &Path) -> BTreeMap<PathBuf, (u64, i64)> {
    let entries = std::fs::read_dir(folder.join("warc")).into_iter().flatten();
    let entry = |entry: std::io::Result<std::fs::DirEntry>| {
        let (name, facts) = (entry.as_ref().unwrap().file_name(), entry.unwrap().metadata().unwrap());
        (PathBuf::from(name), (facts.ino(), facts.mtime_nsec()))
    };
    entries.map(entry).collect()
}

fn finish(workers: Vec<Running>) {
    for worker in workers {
        worker.finish().expect_code(0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_gather_that_is_killed_at_each_commit_makes_the_same_folder() {
    let options = GraphOptions { delay: (Duration::ZERO, Duration::ZERO), ..slow(61, PAGES) };
    let crawl = SharedCrawl::new("gathered", options);
    finish((1..=2).map(|number| crawl.worker(number, &[])).collect());
    gather(&crawl, "whole", None).expect_code(0);
    let whole = Told::read(&crawl.place.path("whole"));

    let partial = crawl.place.path(".killed.gathering");
    let mut known = BTreeMap::new();
    let (mut kills, mut copied) = (0, 0);
    loop {
        let round = gather(&crawl, "killed", Some("gather-commit"));
        if round.code == Some(0) {
            break;
        }
        assert_eq!(round.code, None, "{round:?}");
        assert_eq!(kills > 0, round.stderr.contains("going on with an interrupted gather"), "{round:?}");
        let now = archives(&partial);
        assert!(known.iter().all(|(file, facts)| now.get(file) == Some(facts)), "copied again: {known:?} {now:?}");
        copied += usize::from(now.len() > known.len());
        kills += 1;
        known = now;
    }
    assert!(copied > 1 && kills > copied + 3, "{kills} kills, {copied} of them after an archive");
    Told::read(&crawl.place.path("killed")).assert_is(&whole);
    assert!(!partial.exists());
    assert!(!crawl.place.path("killed").join("gathering.json").exists());

    for point in ["gather-copied", "gather-commit:3", "gather-finished", "gather-renamed"] {
        let killed = gather(&crawl, "points", Some(point));
        assert_eq!(killed.code, None, "{point}: {killed:?}");
    }
    gather(&crawl, "points", None).expect_code(0);
    Told::read(&crawl.place.path("points")).assert_is(&whole);
    crawl.place.run(["verify"]).args([crawl.place.path("points")]).finish().expect_code(0);
    let again = gather(&crawl, "points", None);
    assert_eq!(again.code, Some(5), "{again:?}");

    // The control: who begins again copies again.
    let begun = gather(&crawl, "second", Some("gather-commit:2"));
    assert_eq!(begun.code, None, "{begun:?}");
    let partial = crawl.place.path(".second.gathering");
    let before = archives(&partial);
    std::fs::remove_file(partial.join("gathering.json")).unwrap();
    gather(&crawl, "second", Some("gather-commit:2"));
    assert_ne!(archives(&partial), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn an_interrupted_gather_goes_on_with_the_crawl_as_it_was() {
    let crawl = SharedCrawl::new("going_on", slow(62, 120));
    let worker = crawl.worker(1, &[]);
    crawl.await_pages(50);
    worker.signal("INT");
    assert_eq!(worker.finish().code, Some(130));
    gather(&crawl, "whole", None).expect_code(0);
    for folder in ["early", "late"] {
        let point = if folder == "early" { "gather-commit:1" } else { "gather-commit:4" };
        let killed = gather(&crawl, folder, Some(point));
        assert_eq!(killed.code, None, "{killed:?}");
    }

    finish(vec![crawl.worker(2, &[])]);
    let whole = Told::read(&crawl.place.path("whole"));
    for folder in ["early", "late"] {
        gather(&crawl, folder, None).expect_code(0);
        Told::read(&crawl.place.path(folder)).assert_is(&whole);
    }
    // The control: the crawl has gone on since.
    gather(&crawl, "now", None).expect_code(0);
    assert!(Told::read(&crawl.place.path("now")) != whole);
}
