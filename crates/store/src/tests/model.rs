use super::super::verify;
use ndcrawl_model::seeded::SeededRng;

use super::support::{Model, open};
use ndcrawl_model::{Sequence, TermId, UrlId};

#[test]
fn three_hundred_batches_with_reopening_at_random_equal_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = SeededRng::new(1, "store");
    let mut model = Model::default();
    let (mut store, opened) = open(folder.path()).unwrap();
    assert!(opened.fresh);
    for number in 1..=300 {
        let batch = model.next_batch(&mut random, &store.archive());
        let mark = store.commit(batch.clone()).unwrap();
        assert_eq!(mark.number, number);
        model.apply(batch);
        if random.below(15) == 0 {
            if random.below(2) == 0 {
                store.close().unwrap()
            } else {
                drop(store)
            }
            let opened;
            (store, opened) = open(folder.path()).unwrap();
            assert_eq!((opened.fresh, &opened.mark), (false, &mark));
            assert_eq!(Model::read(folder.path(), &store.reader(), &mark), model);
        }
    }
    let reader = store.reader();
    for (id, row) in model.urls.iter().enumerate() {
        assert_eq!(reader.url(UrlId(id as u32)).unwrap().as_ref(), Some(row));
    }
    for (sequence, row) in model.pages.iter().enumerate().rev() {
        assert_eq!(reader.page(Sequence(sequence as u32)).unwrap().as_ref(), Some(row));
    }
    assert_eq!(reader.url(UrlId(model.urls.len() as u32)).unwrap(), None);
    assert_eq!(reader.urls(UrlId(700), 900).unwrap(), model.urls[700..1600]);
    assert_eq!(reader.terms(TermId(1234), 50).unwrap(), model.terms[1234..1284]);
    assert_eq!(reader.terms(TermId(model.terms.len() as u32 - 1), 50).unwrap().len(), 1);
    assert_eq!(reader.urls(UrlId(u32::MAX), 5).unwrap(), []);
    for row in model.pages.iter().filter(|row| row.verdict.is_unique()) {
        let body = store.archive().body(row.location.unwrap()).unwrap();
        assert_eq!(ndcrawl_model::Digest::of(&body), row.body_digest);
    }
    drop(reader);
    store.close().unwrap();

    let report = verify(folder.path()).unwrap();
    assert_eq!(report.problems, [""; 0]);
    assert_eq!(report.checked.pages, model.pages.len() as u64);
    let db = sled::open(folder.path().join("store")).unwrap();
    let entries = |tree: &str| db.open_tree(tree).unwrap().len();
    assert_eq!(entries("commit"), 2);
    assert!(entries("host") <= 2 * 5, "rows that were replaced stay no longer than one commit");
    assert!(report.checked.warc_files > 3 && report.checked.hosts == 5, "{report:?}");
}

#[test]
fn a_finished_crawl_has_its_deferred_lines_until_it_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let (mut random, mut model) = (SeededRng::new(2, "store"), Model::default());
    let (mut store, _) = open(folder.path()).unwrap();
    for _ in 0..5 {
        let batch = model.next_batch(&mut random, &store.archive());
        store.commit(batch.clone()).unwrap();
        model.apply(batch);
    }
    let outcomes = model.done.iter().filter(|row| matches!(row, super::super::DoneRow::Outcome(_))).count();
    let deferred = model.urls[outcomes..].iter();
    let lines =
        deferred.map(|row| Ok::<_, super::super::Error>(format!(r#"{{"url":"{}","outcome":"deferred"}}"#, row.url)));
    let mark = store.finish(lines).unwrap();
    assert_eq!(mark.finished, Some(model.page_lines.len() as u64));
    assert!(matches!(store.commit(Default::default()), Err(super::super::Error::Batch(_))));
    drop(store);
    assert_eq!(verify(folder.path()).unwrap().problems, [""; 0]);

    let (mut store, opened) = open(folder.path()).unwrap();
    assert_eq!(opened.mark, mark);
    assert_eq!(store.reopen().unwrap().finished, None);
    assert_eq!(Model::read(folder.path(), &store.reader(), &store.mark()), model);
    let batch = model.next_batch(&mut random, &store.archive());
    store.commit(batch.clone()).unwrap();
    model.apply(batch);
    drop(store);
    let (store, opened) = open(folder.path()).unwrap();
    assert_eq!(Model::read(folder.path(), &store.reader(), &opened.mark), model);
}

#[test]
fn lines_that_fail_leave_an_unfinished_crawl_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, _) = open(folder.path()).unwrap();
    let before = store.commit(Default::default()).unwrap();
    let lines = [Ok("{}".to_owned()), Err(super::super::Error::Batch("no more".into()))];
    assert!(store.finish(lines).is_err());
    assert_eq!(store.mark(), before);
    let batch = ndcrawl_model::Batch { error_lines: vec!["{}".into()], ..Default::default() };
    store.commit(batch).unwrap();
    assert_eq!(std::fs::read(folder.path().join("pages.jsonl")).unwrap(), b"");
}
