use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use super::super::{DiskStep, Error, Faults, Store, verify};
use ndcrawl_model::seeded::SeededRng;

use super::support::{Model, identity, open, options};

/// Lets so many steps happen; then all fail, or one.
struct Countdown {
    left: AtomicI64,
    once: bool,
}

impl Countdown {
    fn new(once: bool) -> Arc<Self> {
        Arc::new(Self { left: AtomicI64::new(i64::MAX), once })
    }

    fn fail_after(&self, steps: i64) {
        self.left.store(steps, Ordering::SeqCst);
    }
}

impl Faults for Countdown {
    fn before(&self, _: DiskStep) -> io::Result<()> {
        let left = self.left.fetch_sub(1, Ordering::SeqCst);
        let fails = if self.once { left == 0 } else { left <= 0 };
        if fails { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

/// A store with some commits in it, and what it holds.
fn prepared(folder: &Path, faults: Arc<Countdown>) -> (Store, Model, SeededRng) {
    let (mut store, _) = Store::open_with_faults(folder, options(), &identity(), faults).unwrap();
    let (mut random, mut model) = (SeededRng::new(7, "store"), Model::default());
    for _ in 0..6 {
        let batch = model.next_batch(&mut random, &store.archive());
        store.commit(batch.clone()).unwrap();
        model.apply(batch);
    }
    (store, model, random)
}

#[test]
fn a_crash_at_any_step_of_a_commit_leaves_the_state_before_it_or_after_it() {
    let (mut before_count, mut after_count) = (0, 0);
    for step in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let faults = Countdown::new(false);
        let (mut store, before, mut random) = prepared(folder.path(), faults.clone());
        let batch = before.big_batch(&mut random, &store.archive());
        let mut after = before.clone();
        after.apply(batch.clone());

        faults.fail_after(step);
        let failed = store.commit(batch).is_err();
        drop(store);
        if !failed {
            break;
        }
        let (store, opened) = open(folder.path()).unwrap();
        let found = Model::read(folder.path(), &store.reader(), &opened.mark);
        drop(store);
        assert!(found == before || found == after, "step {step}");
        if found == before {
            before_count += 1
        } else {
            after_count += 1
        }
        assert_eq!(verify(folder.path()).unwrap().problems, [""; 0], "step {step}");
        goes_on_with_other_batches(folder.path(), found, step as u64);
    }
    // The flush is the one step behind the commit record.
    assert!(before_count > 8 && after_count == 1, "{before_count} before, {after_count} after");
}

/// Nothing of the batch that failed may show through when others come in its place.
fn goes_on_with_other_batches(folder: &Path, mut model: Model, seed: u64) {
    let (mut store, _) = open(folder).unwrap();
    let mut random = SeededRng::new(1000 + seed, "store");
    for _ in 0..10 {
        let batch = model.next_batch(&mut random, &store.archive());
        store.commit(batch.clone()).unwrap();
        model.apply(batch);
    }
    assert_eq!(Model::read(folder, &store.reader(), &store.mark()), model, "seed {seed}");
    store.close().unwrap();
    assert_eq!(verify(folder).unwrap().problems, [""; 0], "seed {seed}");
}

#[test]
fn after_a_step_has_failed_the_same_batch_can_be_committed() {
    for step in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let faults = Countdown::new(true);
        let (mut store, mut model, mut random) = prepared(folder.path(), faults.clone());
        let batch = model.next_batch(&mut random, &store.archive());

        faults.fail_after(step);
        let result = store.commit(batch.clone());
        faults.fail_after(i64::MAX);
        if let Err(error) = &result {
            assert!(matches!(error, Error::DiskFull { .. }), "{error}");
            store.commit(batch.clone()).unwrap();
        }
        model.apply(batch);
        for _ in 0..2 {
            let batch = model.next_batch(&mut random, &store.archive());
            store.commit(batch.clone()).unwrap();
            model.apply(batch);
        }
        assert_eq!(Model::read(folder.path(), &store.reader(), &store.mark()), model, "step {step}");
        store.close().unwrap();
        assert_eq!(verify(folder.path()).unwrap().problems, [""; 0], "step {step}");
        if result.is_ok() {
            break;
        }
    }
}

#[test]
fn after_a_step_has_failed_other_batches_can_be_committed() {
    for step in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let faults = Countdown::new(true);
        let (mut store, mut model, mut random) = prepared(folder.path(), faults.clone());
        let batch = model.big_batch(&mut random, &store.archive());
        faults.fail_after(step);
        let result = store.commit(batch);
        faults.fail_after(i64::MAX);
        if result.is_ok() {
            break;
        }
        for _ in 0..10 {
            let batch = model.next_batch(&mut random, &store.archive());
            store.commit(batch.clone()).unwrap();
            model.apply(batch);
            assert_eq!(Model::read(folder.path(), &store.reader(), &store.mark()), model, "step {step}");
        }
    }
}

#[test]
fn a_crash_at_any_step_of_archiving_ending_and_closing_is_mended_by_opening() {
    for step in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let faults = Countdown::new(false);
        let (mut store, before, mut random) = prepared(folder.path(), faults.clone());
        faults.fail_after(step);
        // Bodies of 7 kB, so that files are closed and begun.
        let put = (0..20).try_for_each(|page| {
            let body: Vec<u8> = (0..7000).map(|_| random.below(256) as u8).collect();
            let fetched = super::support::fetched("http://a.test/", &body);
            store
                .archive()
                .put_page(&super::support::put(page, fetched, ndcrawl_model::Verdict::Unique, None))
                .map(drop)
        });
        let ended = put.and_then(|()| {
            store.finish::<Error>([])?;
            store.reopen()?;
            store.close()
        });
        faults.fail_after(i64::MAX);
        assert_eq!(
            verify(folder.path()).unwrap().problems.len().min(1),
            deferred_lines_missing(folder.path()),
            "step {step}"
        );
        let (mut store, _) = open(folder.path()).unwrap();
        store.reopen().unwrap();
        assert_eq!(Model::read(folder.path(), &store.reader(), &store.mark()), before, "step {step}");
        store.close().unwrap();
        assert_eq!(verify(folder.path()).unwrap().problems, [""; 0], "step {step}");
        if ended.is_ok() {
            assert!(step > 10);
            break;
        }
    }
}

/// 1 if the crawl was ended (without any lines, so that they are missing), else 0.
fn deferred_lines_missing(folder: &Path) -> usize {
    let (reader, _) = super::super::StoreReader::open(folder, 1 << 20).unwrap();
    usize::from(reader.mark().finished.is_some())
}

#[test]
fn a_crash_at_any_step_of_opening_is_mended_by_the_next_opening() {
    for step in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let faults = Countdown::new(false);
        let (mut store, before, mut random) = prepared(folder.path(), faults.clone());
        let batch = before.next_batch(&mut random, &store.archive());
        // All but the commit record: as much as there can be to mend.
        faults.fail_after(8);
        store.commit(batch).unwrap_err();
        drop(store);
        faults.fail_after(step);
        let opened = Store::open_with_faults(folder.path(), options(), &identity(), faults.clone()).map(drop);
        let (store, found) = open(folder.path()).unwrap();
        assert_eq!(Model::read(folder.path(), &store.reader(), &found.mark), before, "step {step}");
        if opened.is_ok() {
            break;
        }
    }
}
