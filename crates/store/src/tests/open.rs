use std::fs;

use super::super::{Error, FORMAT, Identity, Store, StoreReader, verify};
use super::support::{identity, open, options};
use ndcrawl_model::{Batch, Discovery, OutcomeKind, OutcomeRow, UrlId, UrlRow, UrlState};

fn refused(identity: &Identity, folder: &std::path::Path) -> Error {
    match Store::open(folder, options(), identity) {
        Err(error) => error,
        Ok(_) => panic!("opened"),
    }
}

#[test]
fn a_folder_of_another_format_or_rendering_is_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()).unwrap());
    fs::write(folder.path().join("pages.jsonl"), "above the mark").unwrap();

    let newer = Identity { format: FORMAT + 1, ..identity() };
    assert!(
        matches!(refused(&newer, folder.path()), Error::Format { found: FORMAT, known, .. } if known == FORMAT + 1)
    );
    let other = Identity { rendering: "r2".into(), ..identity() };
    let message = refused(&other, folder.path()).to_string();
    assert!(message.contains("'r1'") && message.contains("'r2'") && message.contains("--out"), "{message}");
    assert_eq!(fs::read(folder.path().join("pages.jsonl")).unwrap(), b"above the mark");
}

#[test]
fn a_store_made_by_a_newer_program_is_refused() {
    const NEWER: u32 = FORMAT + 1;
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()).unwrap());
    let db = sled::open(folder.path().join("store")).unwrap();
    db.open_tree("meta").unwrap().insert("format", NEWER.to_string().as_str()).unwrap();
    drop(db);
    assert!(matches!(refused(&identity(), folder.path()), Error::Format { found: NEWER, known: FORMAT, .. }));
    assert!(matches!(verify(folder.path()), Err(Error::Format { .. })));
}

#[test]
fn the_crawl_keeps_its_name_and_fingerprint() {
    let folder = tempfile::tempdir().unwrap();
    let first = open(folder.path()).unwrap().1;
    assert!(first.fresh);
    let again = Identity::new("r1", "f2");
    let (_, second) = Store::open(folder.path(), options(), &again).unwrap();
    assert_eq!((second.fresh, second.identity), (false, identity()));
}

#[test]
fn a_folder_in_use_is_refused_until_the_last_reader_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let (store, _) = open(folder.path()).unwrap();
    let reader = store.reader();
    assert!(matches!(refused(&identity(), folder.path()), Error::InUse { .. }));
    drop(store);
    assert!(matches!(verify(folder.path()), Err(Error::InUse { .. })));
    drop(reader);
    open(folder.path()).unwrap();
}

#[test]
fn a_closed_store_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, _) = open(folder.path()).unwrap();
    store.commit(Batch { urls: vec![url_row()], ..Batch::default() }).unwrap();
    let reader = store.reader();
    store.close().unwrap();
    assert!(matches!(reader.url(UrlId(0)), Err(Error::Closed(_))));
}

#[test]
fn a_folder_without_a_crawl_is_not_made_into_one_by_reading() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(verify(folder.path()), Err(Error::NotACrawl { .. })));
    assert!(matches!(StoreReader::open(&folder.path().join("missing"), 1 << 20), Err(Error::NotACrawl { .. })));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn output_of_another_program_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("pages.jsonl"), "mine").unwrap();
    assert!(matches!(refused(&identity(), folder.path()), Error::NotEmpty { .. }));
    assert_eq!(fs::read(folder.path().join("pages.jsonl")).unwrap(), b"mine");
}

#[test]
fn a_batch_that_names_what_is_not_there_is_refused_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, _) = open(folder.path()).unwrap();
    let outcome = OutcomeRow { url: UrlId(1), kind: OutcomeKind::Failed };
    let line = "{}".to_owned();
    let batches = [
        Batch { outcomes: vec![outcome], urls: vec![url_row()], ..Batch::default() },
        Batch { leased: vec![(UrlId(0), 1)], ..Batch::default() },
        Batch { page_lines: vec!["a\nb".into()], error_lines: vec![line], ..Batch::default() },
    ];
    for batch in batches {
        assert!(matches!(store.commit(batch), Err(Error::Batch(_))));
        assert_eq!(store.mark().number, 0);
    }
    assert_eq!(fs::read(folder.path().join("errors.jsonl")).unwrap(), b"");
}

fn url_row() -> UrlRow {
    let url = "http://a.test/".to_owned();
    UrlRow { url, discovery: Discovery::SEED, state: UrlState::Queued, clue: None }
}
