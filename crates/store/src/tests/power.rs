//! What is left when the power fails: of what was written and not yet made durable each sector may be
//! there or not, and so may new names in a folder.
//!
//! `NDCRAWL_POWER_ROUNDS` asks for more than one outcome of each failure.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use super::super::{DiskStep, Error, Faults, Options, Result, Store, verify};
use ndcrawl_model::seeded::SeededRng;

use super::support::{Model, identity, open, options};

/// What a disk writes at once.
const SECTOR: usize = 512;

/// What a disk holds: what files contain, by their number, and what stands in each folder.
#[derive(Clone, Default)]
struct Image {
    contents: BTreeMap<u64, Vec<u8>>,
    names: BTreeMap<PathBuf, BTreeMap<PathBuf, u64>>,
}

impl Image {
    /// All that is in a folder.
    fn of(folder: &Path) -> Self {
        let mut image = Self::default();
        image.read(folder);
        image
    }

    fn read(&mut self, path: &Path) {
        if path.is_dir() {
            self.read_names(path);
            fs::read_dir(path).unwrap().for_each(|entry| self.read(&entry.unwrap().path()));
        } else {
            self.contents.insert(number(path), fs::read(path).unwrap());
        }
    }

    fn read_names(&mut self, folder: &Path) {
        let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        self.names.insert(folder.to_owned(), paths.map(|path| (path.clone(), number(&path))).collect());
    }
}

fn number(path: &Path) -> u64 {
    fs::metadata(path).unwrap().ino()
}

/// A disk that has power for so many steps, and remembers what would outlast its failure. What happens
/// later is of no account.
struct Supply {
    folder: PathBuf,
    left: AtomicI64,
    durable: Mutex<Image>,
    /// What programs saw at the moment of the failure.
    seen: OnceLock<Image>,
}

impl Supply {
    fn new(folder: &Path, steps: i64) -> Arc<Self> {
        let (left, durable, seen) = (AtomicI64::new(steps), Mutex::default(), OnceLock::new());
        Arc::new(Self { folder: folder.to_owned(), left, durable, seen })
    }

    fn has_failed(&self) -> bool {
        self.seen.get().is_some()
    }
}

impl Faults for Supply {
    fn before(&self, _: DiskStep) -> io::Result<()> {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 0 {
            self.seen.get_or_init(|| Image::of(&self.folder));
        }
        Ok(())
    }

    fn durable(&self, path: &Path) {
        if self.has_failed() {
            return;
        }
        let mut durable = self.durable.lock().unwrap();
        match path {
            // The database sees to its own names.
            database if database == Path::new("store") => durable.read(&self.folder.join(database)),
            folder if folder.is_dir() => durable.read_names(folder),
            file => durable.read(file),
        }
    }
}

/// How much of what was not durable is lost.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Loss {
    All,
    Nothing,
    Some,
}

/// Makes a folder as it may look after the failure. Each folder has its names of before or those of after.
fn lose(from: &Path, durable: &Image, seen: &Image, is_lost: &mut impl FnMut() -> bool, to: &Path) {
    fs::create_dir_all(to).unwrap();
    let names = if is_lost() { &durable.names } else { &seen.names };
    for (path, number) in names.get(from).into_iter().flatten() {
        let target = to.join(path.file_name().unwrap());
        if seen.names.contains_key(path) {
            lose(path, durable, seen, is_lost, &target);
        } else {
            let old = durable.contents.get(number).map_or(&[][..], Vec::as_slice);
            let new = seen.contents.get(number).map_or(old, Vec::as_slice);
            fs::write(target, torn(old, new, is_lost)).unwrap();
        }
    }
}

/// Each sector is as it was or as it should be; where there was none, there may be zeros.
fn torn(old: &[u8], new: &[u8], is_lost: &mut impl FnMut() -> bool) -> Vec<u8> {
    let length = if is_lost() { old.len() } else { new.len() };
    let mut bytes: Vec<u8> = new.iter().copied().chain(std::iter::repeat(0)).take(length).collect();
    for (number, sector) in bytes.chunks_mut(SECTOR).enumerate() {
        let begin = number * SECTOR;
        let before = |place: usize| old.get(begin + place).copied().unwrap_or(0);
        if sector.iter().enumerate().any(|(place, byte)| before(place) != *byte) && is_lost() {
            sector.iter_mut().enumerate().for_each(|(place, byte)| *byte = before(place));
        }
    }
    bytes
}

/// How far a crawl has come.
#[derive(Default)]
struct Progress {
    committed: Model,
    /// What the store holds if the commit that is under way succeeds.
    under_way: Option<Model>,
}

/// A crawl of some batches, one of them of many blocks, that ends, goes on and is closed.
fn crawl(folder: &Path, faults: &Arc<Supply>, progress: &mut Progress) -> Result<()> {
    let small = Options { warc_size: 3000, ..options() };
    let (mut store, _) = Store::open_with_faults(folder, small, &identity(), faults.clone())?;
    let mut random = SeededRng::new(17, "store");
    for number in 0..7 {
        let model = &progress.committed;
        let archive = store.archive();
        let batch =
            if number == 4 { model.big_batch(&mut random, &archive) } else { model.next_batch(&mut random, &archive) };
        let mut next = model.clone();
        next.apply(batch.clone());
        progress.under_way = Some(next.clone());
        store.commit(batch)?;
        if faults.has_failed() {
            break;
        }
        *progress = Progress { committed: next, under_way: None };
    }
    store.finish::<Error>([])?;
    store.reopen()?;
    store.close()
}

/// One failure after so many steps, and one of its outcomes. Gives false if the crawl came to its end before.
fn fails_after(steps: i64, loss: Loss, random: &mut SeededRng) -> bool {
    let before = tempfile::tempdir().unwrap();
    let supply = Supply::new(before.path(), steps);
    let mut progress = Progress::default();
    crawl(before.path(), &supply, &mut progress).unwrap();
    let what = format!("step {steps}, {loss:?} lost");
    if !supply.has_failed() {
        return false;
    }
    let after = tempfile::tempdir().unwrap();
    let mut is_lost = || match loss {
        Loss::All => true,
        Loss::Nothing => false,
        Loss::Some => random.below(2) == 0,
    };
    let (durable, seen) = (supply.durable.lock().unwrap(), supply.seen.get().unwrap());
    lose(before.path(), &durable, seen, &mut is_lost, after.path());

    let (mut store, _) = open(after.path()).unwrap_or_else(|error| panic!("{what}: {error}"));
    store.reopen().unwrap();
    let found = Model::read(after.path(), &store.reader(), &store.mark());
    let is_known = found == progress.committed || Some(&found) == progress.under_way.as_ref();
    assert!(is_known, "{what}: neither the state before the failure nor the one that was to be");
    let batch = found.next_batch(&mut SeededRng::new(steps as u64, "store"), &store.archive());
    let mut model = found.clone();
    model.apply(batch.clone());
    store.commit(batch).unwrap();
    assert_eq!(Model::read(after.path(), &store.reader(), &store.mark()), model, "{what}");
    store.close().unwrap();
    assert_eq!(verify(after.path()).unwrap().problems, [""; 0], "{what}");
    true
}

#[test]
fn a_power_failure_at_any_step_loses_nothing_that_was_committed() {
    let rounds: u64 = std::env::var("NDCRAWL_POWER_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut random = SeededRng::new(23, "store");
    let mut failures = 0;
    for step in 0.. {
        let losses: Vec<Loss> = match rounds {
            0 => vec![[Loss::All, Loss::Some, Loss::Nothing, Loss::Some][step as usize % 4]],
            _ => [Loss::All, Loss::Nothing].into_iter().chain((0..rounds).map(|_| Loss::Some)).collect(),
        };
        let came: Vec<bool> = losses.into_iter().map(|loss| fails_after(step, loss, &mut random)).collect();
        if came.contains(&false) {
            break;
        }
        failures += came.len();
    }
    println!("{failures} power failures");
    assert!(failures > 60, "{failures}");
}
