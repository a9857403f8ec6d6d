//! Recovery from repeated SIGKILLs at random moments.
//!
//! `NDCRAWL_KILL_ROUNDS` sets the number of kills: a quarter each for crawl, dedup, export and report, and as many
//! for reindex.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use flate2::read::MultiGzDecoder;
use ndcrawl::seeded::SeededRng;

use crate::corruption::copy_folder;
use crate::graph::{Graph, Options, path};
use crate::invariants::{
    Lines, assert_as_expected, assert_duplicates_name_stored_pages, assert_folder_is_sound, assert_planted_copies_meet,
    lines, with_outcome,
};
use crate::program::{ALL_FETCHED, BY_WEIGHTS, Place, Run, UNSPARING};
use crate::web::Web;

/// The number of kills of a run before it may finish.
const KILLS: usize = 25;
const CONCURRENCY: usize = 16;
const BATCH: usize = 256;
/// Bounds of the random time between start and kill.
const MOMENTS: (u64, u64) = (60, 1000);

/// The least number of kills of each command.
fn kills_of_each(few: usize) -> usize {
    std::env::var("NDCRAWL_KILL_ROUNDS").ok().and_then(|text| text.parse::<usize>().ok()).map_or(few, |all| all / 4)
}

/// Slow pages, so that the crawl outlasts all kills.
fn options(seed: u64, pages: usize, slowest: u64) -> Options {
    let delay = (Duration::from_millis(slowest / 2), Duration::from_millis(slowest));
    Options { seed, pages, oddities: false, delay, ..Options::default() }
}

fn planned_web(seed: u64, pages: usize, slowest: u64) -> (Web, Arc<Graph>) {
    let mut graph = None;
    let web = Web::start(1, |origins| {
        let planned = Arc::new(Graph::new(origins, options(seed, pages, slowest)));
        graph = Some(Arc::clone(&planned));
        planned
    });
    (web, graph.unwrap())
}

/// Fetches all planted copies, to compare each with the plan.
fn crawl(place: &Place, graph: &Graph) -> Run {
    place.crawl(&graph.seeds()).args(["-c", &CONCURRENCY.to_string()])
}

/// Runs the crawl to its end and returns the number of kills.
fn crawl_under_fire(place: &Place, graph: &Graph, moments: &mut SeededRng) -> usize {
    for kills in 0..KILLS {
        let mut running = crawl(place, graph).start();
        let moment = MOMENTS.0 + moments.next_u64() % (MOMENTS.1 - MOMENTS.0);
        std::thread::sleep(Duration::from_millis(moment));
        if running.has_ended() {
            running.finish().expect_code(0);
            return kills;
        }
        running.kill();
    }
    crawl(place, graph).finish().expect_code(0);
    KILLS
}

fn stored_paths(lines: &Lines) -> BTreeSet<&str> {
    with_outcome(lines, "stored").into_iter().map(path).collect()
}

fn assert_little_was_fetched_twice(web: &Web, kills: usize) {
    let asked = web.asked();
    for (url, &times) in &asked {
        assert!(times <= 1 + kills, "{url} was fetched {times} times with {kills} kills");
    }
    let again: usize = asked.values().map(|times| times - 1).sum();
    assert!(again <= kills * (CONCURRENCY + BATCH), "{again} pages were fetched again with {kills} kills");
    println!("{kills} kills, {} pages, {again} fetched again", asked.len());
}

/// Returns the number of kills.
fn killed_crawl(seed: u64, moments: &mut SeededRng) -> usize {
    let (web, graph) = planned_web(seed, 500, 120);
    let place = Place::new();
    let kills = crawl_under_fire(&place, &graph, moments);
    assert!(kills > KILLS / 2, "the crawl ended after {kills} kills: it is too short to be a test");

    let lines = lines(&place.path("out"));
    assert_as_expected(&lines, &graph.expected(false));
    assert_duplicates_name_stored_pages(&lines);
    assert_planted_copies_meet(&lines, &graph);
    assert_little_was_fetched_twice(&web, kills);
    assert_folder_is_sound(&place);

    let (_calm_web, calm_graph) = planned_web(seed, 500, 0);
    let calm_place = Place::new();
    crawl(&calm_place, &calm_graph).finish().expect_code(0);
    assert_eq!(stored_paths(&lines), stored_paths(&self::lines(&calm_place.path("out"))));
    kills
}

#[test]
fn a_repeatedly_killed_crawl_loses_nothing_and_stores_nothing_twice() {
    let mut moments = SeededRng::new(9, "moments of death");
    let mut kills = 0;
    for seed in 25.. {
        kills += killed_crawl(seed, &mut moments);
        if kills >= kills_of_each(1) {
            break;
        }
    }
    println!("crawl: {kills} kills");
}

/// The folder of a finished crawl with the bodies of all pages.
fn crawled(pages: usize) -> Place {
    let (_web, graph) = planned_web(25, pages, 0);
    let place = Place::new();
    crawl(&place, &graph).args(["--keep-duplicates", "--duplicate-links", "follow"]).finish().expect_code(0);
    place
}

/// Whether the run was killed at a random moment before its end.
fn is_killed(run: Run, time: Duration, moments: &mut SeededRng) -> bool {
    let mut running = run.start();
    std::thread::sleep(Duration::from_micros(moments.next_u64() % time.as_micros() as u64));
    if running.has_ended() {
        running.finish().expect_code(0);
        return false;
    }
    running.kill();
    true
}

fn dedup(place: &Place, out: &str) -> Run {
    place.run([
        "dedup",
        "out/warc",
        "-o",
        out,
        "--detector-option",
        "second_check=none",
        "-t",
        "0.8",
        "--min-free",
        "0",
    ])
}

/// Outcome, repeated page and score of each line, by URL.
fn verdicts(place: &Place, out: &str) -> BTreeMap<String, [String; 3]> {
    let fields = |line: &serde_json::Value| ["outcome", "duplicate_of", "score"].map(|field| line[field].to_string());
    lines(&place.path(out)).iter().map(|(url, line)| (url.clone(), fields(line))).collect()
}

#[test]
fn a_repeatedly_killed_dedup_ends_with_the_same_verdicts() {
    let place = crawled(250);
    let time = dedup(&place, "calm").finish().expect_code(0).elapsed;
    let expected = verdicts(&place, "calm");
    let (wanted, mut moments, mut kills) = (kills_of_each(5), SeededRng::new(9, "dedup"), 0);
    while kills < wanted {
        let most = kills + KILLS.min(wanted - kills);
        while kills < most && is_killed(dedup(&place, "killed"), time, &mut moments) {
            kills += 1;
        }
        dedup(&place, "killed").finish().expect_code(0);
        assert_eq!(verdicts(&place, "killed"), expected);
        place.run(["verify", "killed"]).finish().expect_code(0);
        fs::remove_dir_all(place.path("killed")).unwrap();
    }
    println!("dedup: {kills} kills, {time:?} undisturbed");
}

/// The files of a folder and of those in it, by their paths from there.
fn contents(place: &Place, folder: &str) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(place.path(folder)).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            let within = contents(place, &format!("{folder}/{name}"));
            found.extend(within.into_iter().map(|(file, bytes)| (format!("{name}/{file}"), bytes)));
        } else {
            found.insert(name, content(&entry.path()));
        }
    }
    found
}

/// The content of a file without the time of writing. The first record of a WARC file holds that time; its length,
/// and with it all offsets in the index, may depend on it.
fn content(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).unwrap();
    let mut text = String::new();
    match path.to_str().unwrap() {
        name if name.ends_with(".warc.gz") && MultiGzDecoder::new(&bytes[..]).read_to_string(&mut text).is_ok() => {
            let moment = text.lines().find(|line| line.starts_with("WARC-Date: ")).unwrap().to_owned();
            text.replacen(&moment, "", 1).into_bytes()
        }
        name if name.ends_with(".cdxj") => bytes.into_iter().filter(|byte| !byte.is_ascii_digit()).collect(),
        _ => bytes,
    }
}

/// Kills a command that writes files so often. A file gets its final name only when it is complete;
/// until then an older file of that name stays.
fn assert_only_whole_files(what: &str, wanted: usize, place: &Place, write: impl Fn(&str) -> Run) {
    const BEFORE: &[u8] = b"what was there before";
    for folder in ["calm", "killed"] {
        fs::create_dir_all(place.path(folder)).unwrap();
    }
    let time = write("calm").finish().expect_code(0).elapsed;
    let expected = contents(place, "calm");
    let (mut moments, mut kills) = (SeededRng::new(9, what), 0);
    while kills < wanted {
        let starts_over = moments.below(2) == 0;
        for name in expected.keys().filter(|_| !starts_over) {
            let path = place.path("killed").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, BEFORE).unwrap();
        }
        kills += usize::from(is_killed(write("killed"), time, &mut moments));
        for (name, bytes) in contents(place, "killed") {
            let is_whole = expected.get(&name).is_none_or(|whole| bytes == *whole);
            assert!(is_whole || (!starts_over && bytes == BEFORE), "{what}: half of {name} has its final name");
        }
        write("killed").finish().expect_code(0);
        assert!(contents(place, "killed") == expected, "{what}: what a kill has left shows");
        for name in expected.keys() {
            fs::remove_file(place.path("killed").join(name)).unwrap();
        }
    }
    for folder in ["calm", "killed"] {
        fs::remove_dir_all(place.path(folder)).unwrap();
    }
    println!("{what}: {kills} kills, {time:?} undisturbed");
}

#[test]
fn a_killed_export_leaves_no_partial_file_and_can_be_repeated() {
    const FORMATS: [(&str, &str); 5] = [
        ("parquet", "pages.parquet"),
        ("jsonl", "pages.jsonl.zst"),
        ("warc", "pages.warc.gz"),
        ("cdxj", "index.cdxj"),
        ("csv", "rates.csv"),
    ];
    let place = crawled(120);
    for (format, name) in FORMATS {
        let export = |folder: &str| {
            place
                .run(["export", "out", "--format", format, "-o", &format!("{folder}/{name}")])
                .args(["--outcome", "all"])
        };
        assert_only_whole_files(&format!("export {format}"), kills_of_each(10) / FORMATS.len(), &place, export);
    }
}

#[test]
fn a_killed_report_leaves_no_partial_page_and_can_be_repeated() {
    let place = crawled(120);
    let report = |folder: &str| place.run(["report", "out", "-o", &format!("{folder}/report.html")]);
    assert_only_whole_files("report", kills_of_each(3), &place, report);
}

/// The results of reindex: its lines, its summary and its generations.
fn reindexed(place: &Place, out: &str) -> (Vec<Vec<u8>>, Vec<String>, serde_json::Value) {
    let files = ["pages.jsonl", "errors.jsonl", "earlier/1/pages.jsonl", "earlier/1/crawl.json"];
    let files = files.map(|name| fs::read(place.path(out).join(name)).unwrap()).into();
    let mut names: Vec<_> = [out.to_owned(), format!("{out}/earlier"), format!("{out}/warc")]
        .iter()
        .flat_map(|folder| fs::read_dir(place.path(folder)).unwrap())
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let verified = place.run(["verify", out, "--json"]).finish().expect_code(0).json();
    (files, names, verified)
}

/// Commands that must refuse a folder with a partial store.
fn assert_refused(place: &Place, out: &str, seed: &str) {
    let before = tree(&place.path(out));
    let page = "http://127.0.0.1/";
    for arguments in [
        &[seed, "-o", out][..],
        &[seed, "-o", out, "--recrawl"],
        &[seed, "-o", "other", "--against", out, "--allow-private"],
        &["explain", out, page],
        &["export", out, "--format", "csv"],
        &["clusters", out],
        &["report", out],
        &["rules", out],
        &["status", out],
        &["verify", out],
    ] {
        let refused = place.run(arguments).finish().expect_code(4);
        let remedy = format!("'ndcrawl reindex {out}'");
        let is_told = refused.errors().iter().any(|line| line.contains(&remedy) && line.contains("incomplete"));
        assert!(is_told, "{arguments:?}: {}", refused.stderr);
    }
    assert_eq!(tree(&place.path(out)), before, "a command that is refused leaves the folder as it is");
}

/// All files below a folder with their lengths, except the lock.
fn tree(folder: &Path) -> BTreeMap<PathBuf, u64> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.metadata().unwrap() {
            data if data.is_dir() => found.extend(tree(&entry.path())),
            data => drop((entry.file_name() != "ndcrawl.lock").then(|| found.insert(entry.path(), data.len()))),
        }
    }
    found
}

#[test]
fn a_killed_reindex_leaves_a_folder_that_is_refused_until_it_is_repeated() {
    let (web, graph) = planned_web(25, 120, 0);
    let place = Place::new();
    let crawl = |out: &str| {
        let seeds = graph.seeds();
        place.run(&seeds).args(["-o", out]).args(UNSPARING).args(BY_WEIGHTS).args(ALL_FETCHED)
    };
    crawl("out").finish().expect_code(0);
    let reindex = |out: &str| place.run(["reindex", out, "--force", "--json"]);
    copy_folder(&place.path("out"), &place.path("calm"));
    let calm = reindex("calm").finish().expect_code(0);
    let expected = reindexed(&place, "calm");
    let asked = web.asked();
    let (wanted, mut moments, mut kills, mut in_part) = (kills_of_each(6), SeededRng::new(9, "reindex"), 0, 0);
    while kills < wanted || in_part == 0 {
        copy_folder(&place.path("out"), &place.path("killed"));
        let is_over = || place.path("killed/earlier/1").exists() && !place.path("killed/rebuilding.json").exists();
        // Also on the remains of a killed run.
        while is_killed(reindex("killed"), calm.elapsed, &mut moments) {
            kills += 1;
            if place.path("killed/rebuilding.json").exists() {
                in_part += 1;
                if in_part == 1 {
                    assert_refused(&place, "killed", &graph.seeds()[0]);
                }
                crawl("killed").finish().expect_code(4);
            }
            if is_over() || moments.below(3) == 0 {
                break;
            }
        }
        if !is_over() {
            let rebuilt = reindex("killed").finish().expect_code(0);
            assert_eq!(rebuilt.stdout, calm.stdout);
        }
        assert_eq!(reindexed(&place, "killed"), expected);
        fs::remove_dir_all(place.path("killed")).unwrap();
    }
    assert_eq!(web.asked(), asked, "none of this asks a server for anything");
    println!("reindex: {kills} kills, {in_part} of them in the middle, {:?} undisturbed", calm.elapsed);
}
