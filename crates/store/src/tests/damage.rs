use std::fs;
use std::path::{Path, PathBuf};

use ndcrawl_model::{Batch, Discovery, OutcomeKind, OutcomeRow, Totals, UrlId, UrlRow, UrlState};

use super::super::{DoneRow, Error, verify};
use ndcrawl_model::seeded::SeededRng;

use super::support::{Model, open};

/// A closed crawl of some batches.
fn crawl(folder: &Path) -> Model {
    let (mut store, _) = open(folder).unwrap();
    let (mut random, mut model) = (SeededRng::new(3, "store"), Model::default());
    for _ in 0..8 {
        let batch = model.next_batch(&mut random, &store.archive());
        store.commit(batch.clone()).unwrap();
        model.apply(batch);
    }
    store.close().unwrap();
    model
}

fn problems(folder: &Path) -> String {
    verify(folder).unwrap().problems.join("\n")
}

fn first_warc(folder: &Path) -> PathBuf {
    fs::read_dir(folder.join("warc")).unwrap().map(|entry| entry.unwrap().path()).min().unwrap()
}

#[test]
fn a_lost_line_a_second_line_and_a_wrong_outcome_are_found() {
    let folder = tempfile::tempdir().unwrap();
    crawl(folder.path());
    assert_eq!(problems(folder.path()), "");
    let path = folder.path().join("pages.jsonl");
    let sound = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = sound.lines().collect();

    let wrong = sound.replacen("\"stored\"", "\"failed\"", 1);
    fs::write(&path, &wrong).unwrap();
    assert!(problems(folder.path()).contains("failed, the log says stored"));

    let twice = sound.replacen(lines[1], &format!("{:width$}", lines[0], width = lines[1].len()), 1);
    fs::write(&path, &twice).unwrap();
    let found = problems(folder.path());
    assert!(found.contains("a second line for") && found.contains("has no line in pages.jsonl"), "{found}");

    fs::write(&path, &sound[..sound.len() - 10]).unwrap();
    assert!(problems(folder.path()).contains("the last commit says"));
    assert!(matches!(open(folder.path()), Err(Error::Corrupt { .. })));
}

/// A finished crawl of two URLs that failed, the second of which has this state.
fn crawl_of_two(folder: &Path, state: UrlState, outcomes: u32) -> String {
    let row =
        |name, state| UrlRow { url: format!("http://{name}.test/"), discovery: Discovery::SEED, state, clue: None };
    let line = |name| format!(r#"{{"url":"http://{name}.test/","outcome":"failed"}}"#);
    let outcome = |url| OutcomeRow { url: UrlId(url), kind: OutcomeKind::Failed };
    let (mut store, _) = open(folder).unwrap();
    let batch = Batch {
        urls: vec![row("a", UrlState::Queued), row("b", state)],
        outcomes: (0..outcomes).map(outcome).collect(),
        page_lines: ["a", "b"].into_iter().take(outcomes as usize).map(line).collect(),
        totals: Totals { outcomes: [(OutcomeKind::Failed, u64::from(outcomes))].into(), ..Totals::default() },
        ..Batch::default()
    };
    store.commit(batch).unwrap();
    store.finish(Vec::<Result<String, Error>>::new()).unwrap();
    store.close().unwrap();
    problems(folder)
}

#[test]
fn a_url_of_another_slot_has_neither_outcome_nor_line_here() {
    let [sound, lost, double] = [(); 3].map(|()| tempfile::tempdir().unwrap());
    assert_eq!(crawl_of_two(sound.path(), UrlState::Elsewhere(None), 1), "");
    assert_eq!(crawl_of_two(lost.path(), UrlState::Queued, 1), "URL 1 has no line in pages.jsonl");
    let found = crawl_of_two(double.path(), UrlState::Elsewhere(None), 2);
    assert!(found.contains("URL 1 has an outcome and belongs to another slot"), "{found}");
    assert!(found.contains("http://b.test/ belongs to another slot"), "{found}");
}

#[test]
fn a_predicted_duplicate_must_repeat_a_page_that_was_kept() {
    let crawled = tempfile::tempdir().unwrap();
    let model = crawl(crawled.path());
    let has_outcome = |kind| {
        move |row: &DoneRow| match row {
            DoneRow::Outcome(row) if row.kind == kind => Some(row.url),
            _ => None,
        }
    };
    let url = |id: UrlId| model.urls[id.index()].url.as_str();
    let with = |kind| url(model.done.iter().find_map(has_outcome(kind)).unwrap());
    let (stored, copy) = (with(OutcomeKind::Stored), with(OutcomeKind::ExactDuplicate));
    let unfetched: Vec<&str> = model.urls[model.pages.len()..].iter().map(|row| row.url.as_str()).collect();
    let of = |target: &str| format!(r#","duplicate_of":"{target}""#);
    for (of, problem) in [
        (of(stored), ""),
        (String::new(), "is predicted to repeat no page"),
        (of("http://elsewhere.test/"), "which is not in the log"),
        (of(copy), "which is no stored page: the log says exact-duplicate"),
        (of(unfetched[1]), "which is no stored page: the log has no outcome of it"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        copy_folder(crawled.path(), folder.path());
        let (mut store, _) = open(folder.path()).unwrap();
        let predicted = format!(r#"{{"url":"{}","outcome":"predicted-duplicate"{of}}}"#, unfetched[0]);
        let deferred = unfetched[1..].iter().map(|url| format!(r#"{{"url":"{url}","outcome":"deferred"}}"#));
        store.finish(std::iter::once(predicted).chain(deferred).map(Ok::<_, Error>)).unwrap();
        store.close().unwrap();
        let found = problems(folder.path());
        assert!(found.contains(problem) && found.is_empty() == problem.is_empty(), "{found}");
    }
}

#[test]
fn a_flipped_byte_in_an_archive_file_is_found() {
    let folder = tempfile::tempdir().unwrap();
    crawl(folder.path());
    let path = first_warc(folder.path());
    let sound = fs::read(&path).unwrap();
    for at in [20, sound.len() / 2, sound.len() - 3] {
        let mut bytes = sound.clone();
        bytes[at] ^= 0x10;
        fs::write(&path, &bytes).unwrap();
        assert_ne!(problems(folder.path()), "", "{at}");
    }
    fs::remove_file(&path).unwrap();
    assert!(problems(folder.path()).contains("has no record in WARC file 00000"));
}

#[test]
fn behind_a_record_that_cannot_be_read_the_next_page_is_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    crawl(folder.path());
    let path = first_warc(folder.path());
    let mut bytes = fs::read(&path).unwrap();
    let first = verify(folder.path()).unwrap().checked;
    // The first record is no page, and nothing refers to it.
    bytes[20] ^= 0x10;
    fs::write(&path, &bytes).unwrap();
    let report = verify(folder.path()).unwrap();
    assert_eq!(report.problem_count, 1, "{:?}", report.problems);
    assert!(first.pages > 3 && report.checked.warc_records + 1 >= report.checked.pages, "{:?}", report.checked);
}

#[test]
fn what_tells_of_the_crawl_is_looked_at_too() {
    let folder = tempfile::tempdir().unwrap();
    crawl(folder.path());
    for name in ["crawl.json", "status.json"] {
        fs::write(folder.path().join(name), "{\"half\":").unwrap();
        assert!(problems(folder.path()).contains(&format!("{name} is damaged")));
        fs::write(folder.path().join(name), "{}").unwrap();
        assert_eq!(problems(folder.path()), "");
    }
}

#[test]
fn flipped_bytes_in_the_database_never_go_unnoticed_and_never_panic() {
    let folder = tempfile::tempdir().unwrap();
    let model = crawl(folder.path());
    let path = folder.path().join("store/db");
    let sound = fs::read(&path).unwrap();
    let used = sound.iter().rposition(|&byte| byte != 0).unwrap();
    let mut random = SeededRng::new(5, "store");
    let mut noticed = 0;
    for _ in 0..60 {
        let copy = tempfile::tempdir().unwrap();
        copy_folder(folder.path(), copy.path());
        let at = random.below(used as usize);
        let mut bytes = sound.clone();
        bytes[at] ^= 1 << random.below(8);
        fs::write(copy.path().join("store/db"), &bytes).unwrap();
        match verify(copy.path()) {
            Ok(report) if report.is_sound() => {
                // Bytes that the database has replaced may change; then all is as it was.
                let (store, opened) = open(copy.path()).unwrap();
                assert_eq!(opened.mark.number, 8, "byte {at}");
                assert_eq!(Model::read(copy.path(), &store.reader(), &opened.mark), model, "byte {at}");
            }
            Ok(_) | Err(Error::Corrupt { .. }) => noticed += 1,
            Err(other) => panic!("byte {at}: {other}"),
        }
    }
    assert!(noticed > 0);
}

#[test]
fn a_snapshot_that_was_being_written_does_not_keep_the_store_from_opening() {
    let folder = tempfile::tempdir().unwrap();
    let model = crawl(folder.path());
    fs::write(folder.path().join("store/snap.FFFFFFFFFFFFFFFF.generating"), "").unwrap();
    let (store, opened) = open(folder.path()).unwrap();
    assert_eq!(Model::read(folder.path(), &store.reader(), &opened.mark), model);
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
