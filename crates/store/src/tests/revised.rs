use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use super::super::{DiskStep, Error, Faults, Store, verify};
use super::support::{identity, open, options};
use ndcrawl_model::{Batch, Discovery, LinkKind, OutcomeKind, OutcomeRow, Requeue, Totals, UrlId, UrlRow, UrlState};

const BEFORE: &str = r#"{"url":"http://a.test/","outcome":"near-duplicate"}"#;
const OTHER: &str = r#"{"url":"http://b.test/","outcome":"stored"}"#;
const REVISED: &str = r#"{"url":"http://a.test/","outcome":"stored","revised":{"outcome":"near-duplicate","duplicate_of":"http://b.test/","score":0.8}}"#;
const NEVER: &str = r#"{"url":"http://c.test/","outcome":"deferred"}"#;

fn outcome(url: u32, kind: OutcomeKind) -> OutcomeRow {
    OutcomeRow { url: UrlId(url), kind }
}

fn totals(stored: u64, near: u64, revised: u64) -> Totals {
    let outcomes = [(OutcomeKind::Stored, stored), (OutcomeKind::NearDuplicate, near)].into_iter().collect();
    Totals { outcomes, revised, ..Totals::default() }
}

/// A crawl in which one page of two was revised, and a third URL was never leased.
fn revise(store: &mut Store) {
    let row = |name: &str| UrlRow {
        url: format!("http://{name}.test/"),
        discovery: Discovery::new(LinkKind::Page, None, 0),
        state: UrlState::Queued,
        clue: None,
    };
    let first = Batch {
        urls: ["a", "b", "c"].map(row).into(),
        outcomes: vec![outcome(0, OutcomeKind::NearDuplicate), outcome(1, OutcomeKind::Stored)],
        page_lines: vec![BEFORE.to_owned(), OTHER.to_owned()],
        totals: totals(1, 1, 0),
        ..Batch::default()
    };
    let again = Requeue { url: UrlId(0), discovery: Discovery::new(LinkKind::Revision, None, 0) };
    let second = Batch { requeued: vec![again], totals: totals(1, 1, 0), ..Batch::default() };
    let third = Batch {
        outcomes: vec![outcome(0, OutcomeKind::Stored)],
        page_lines: vec![REVISED.to_owned()],
        totals: totals(2, 0, 1),
        ..Batch::default()
    };
    for batch in [first, second, third] {
        store.commit(batch).unwrap();
    }
}

fn lines(folder: &Path) -> Vec<String> {
    fs::read_to_string(folder.join("pages.jsonl")).unwrap().lines().map(str::to_owned).collect()
}

fn finish(store: &mut Store) -> Result<(), Error> {
    store.finish([Ok::<_, Error>(NEVER.to_owned())]).map(drop)
}

#[test]
fn a_revised_url_has_two_lines_until_the_crawl_ends_and_then_one() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, _) = open(folder.path()).unwrap();
    revise(&mut store);
    drop(store);
    assert_eq!(verify(folder.path()).unwrap().problems, [""; 0]);
    assert_eq!(lines(folder.path()), [BEFORE, OTHER, REVISED]);

    let (mut store, _) = open(folder.path()).unwrap();
    finish(&mut store).unwrap();
    assert_eq!(lines(folder.path()), [OTHER, REVISED, NEVER]);
    // The crawl goes on and ends once more.
    store.reopen().unwrap();
    assert_eq!(lines(folder.path()), [OTHER, REVISED]);
    finish(&mut store).unwrap();
    store.close().unwrap();
    assert_eq!(lines(folder.path()), [OTHER, REVISED, NEVER]);
    assert_eq!(verify(folder.path()).unwrap().problems, [""; 0]);
}

#[test]
fn a_line_that_was_superseded_is_a_problem_once_the_crawl_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, _) = open(folder.path()).unwrap();
    revise(&mut store);
    finish(&mut store).unwrap();
    store.close().unwrap();
    let text = fs::read_to_string(folder.path().join("pages.jsonl")).unwrap();
    // As long as before, so that the length gives nothing away.
    let tampered =
        text.replacen("http://b.test/\",\"outcome\":\"stored\"", "http://a.test/\",\"outcome\":\"stored\"", 1);
    fs::write(folder.path().join("pages.jsonl"), tampered).unwrap();
    assert!(!verify(folder.path()).unwrap().is_sound());
}

/// Lets so many steps happen, then none.
struct Countdown(AtomicI64);

impl Faults for Countdown {
    fn before(&self, _: DiskStep) -> io::Result<()> {
        let left = self.0.fetch_sub(1, Ordering::SeqCst);
        if left > 0 { Ok(()) } else { Err(io::ErrorKind::StorageFull.into()) }
    }
}

#[test]
fn a_crash_at_any_step_of_writing_the_lines_anew_loses_none_and_leaves_no_second_one() {
    let (mut unfinished, mut finished) = (0, 0);
    for step in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let faults = Arc::new(Countdown(AtomicI64::new(i64::MAX)));
        let (mut store, _) = Store::open_with_faults(folder.path(), options(), &identity(), faults.clone()).unwrap();
        revise(&mut store);
        faults.0.store(step, Ordering::SeqCst);
        let ended = finish(&mut store);
        drop(store);
        assert_eq!(verify(folder.path()).unwrap().problems, [""; 0], "step {step}");

        let (mut store, opened) = open(folder.path()).unwrap();
        match opened.mark.finished {
            None => {
                unfinished += 1;
                assert_eq!(lines(folder.path()), [BEFORE, OTHER, REVISED], "step {step}");
                finish(&mut store).unwrap();
            }
            Some(_) => finished += 1,
        }
        store.close().unwrap();
        assert_eq!(lines(folder.path()), [OTHER, REVISED, NEVER], "step {step}");
        assert_eq!(verify(folder.path()).unwrap().problems, [""; 0], "step {step}");
        let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let rewritten = names.filter(|name| name.to_string_lossy().starts_with("pages.jsonl."));
        assert_eq!(rewritten.count(), 0, "step {step}");
        if ended.is_ok() {
            break;
        }
    }
    assert!(unfinished > 2 && finished > 1, "{unfinished} {finished}");
}

#[test]
fn after_a_step_has_failed_ending_can_be_tried_again() {
    for step in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let faults = Arc::new(Countdown(AtomicI64::new(i64::MAX)));
        let (mut store, _) = Store::open_with_faults(folder.path(), options(), &identity(), faults.clone()).unwrap();
        revise(&mut store);
        faults.0.store(step, Ordering::SeqCst);
        let ended = finish(&mut store);
        faults.0.store(i64::MAX, Ordering::SeqCst);
        store.reopen().unwrap();
        store.commit(Batch { totals: store.mark().totals, ..Batch::default() }).unwrap();
        finish(&mut store).unwrap();
        store.close().unwrap();
        assert_eq!(lines(folder.path()), [OTHER, REVISED, NEVER], "step {step}");
        assert_eq!(verify(folder.path()).unwrap().problems, [""; 0], "step {step}");
        if ended.is_ok() {
            break;
        }
    }
}
