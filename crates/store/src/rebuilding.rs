//! Marks a folder whose store is being rebuilt.
//!
//! `rebuilding.json` is durable before anything moves, and is removed when the new store is complete. Until then the
//! folder is refused. The file names the source generation: if that is in `earlier/`, the folder holds a part of the
//! new store; if not, nothing has moved yet.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::crawl_file::{read_json_file, write_json_file};
use super::disk::Disk;
use super::error::{Error, Result};
use super::folder::{FolderLock, OutputFolder};
use super::generations;

/// Name of the marker file.
pub const REBUILDING: &str = "rebuilding.json";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct RebuildMark {
    /// The number of the source generation.
    generation: u32,
}

/// Refuses a folder whose store is incomplete after an interrupted rebuild.
///
/// # Errors
/// [`Error::Rebuilding`], or [`Error::InUse`] during the rebuild.
pub fn expect_whole(folder: &Path) -> Result<()> {
    if !folder.join(REBUILDING).exists() {
        return Ok(());
    }
    let _lock = OutputFolder::new(folder).lock()?;
    expect_whole_locked(folder)
}

/// Locks an output folder for reading. A read-only folder needs no lock: no crawl can run there.
///
/// # Errors
/// [`Error::InUse`], [`Error::Rebuilding`], [`Error::Io`].
pub fn hold(folder: &Path) -> Result<Option<FolderLock>> {
    let lock = match OutputFolder::new(folder).lock() {
        Err(Error::Io { source, .. })
            if matches!(source.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) =>
        {
            None
        }
        lock => Some(lock?),
    };
    expect_whole_locked(folder)?;
    Ok(lock)
}

/// As [`expect_whole`], for a folder locked by this process.
pub(crate) fn expect_whole_locked(folder: &Path) -> Result<()> {
    if folder.join(REBUILDING).exists() { Err(Error::Rebuilding { folder: folder.to_owned() }) } else { Ok(()) }
}

/// Removes the part of an interrupted rebuild and returns the source folder. If nothing had moved, that is the folder
/// itself, which is then refused no longer.
///
/// # Errors
/// [`Error::InUse`], [`Error::Io`], [`Error::Corrupt`] if `rebuilding.json` is unreadable; a second call continues.
pub fn take_back(folder: &Path) -> Result<PathBuf> {
    let _lock = OutputFolder::new(folder).lock()?;
    generations::complete_locked(folder)?;
    match set_aside_before(folder)? {
        None => {
            // Nothing has moved: the store is intact.
            if folder.join(REBUILDING).exists() {
                rebuilt(folder)?;
            }
            Ok(folder.to_owned())
        }
        Some(generation) => {
            generations::delete_what_is_moved(folder)?;
            Ok(generation)
        }
    }
}

/// Moves the source crawl into `earlier/`, unless that is done. From here on [`expect_whole`] refuses the folder.
///
/// # Errors
/// As [`set_aside`](super::set_aside).
pub fn set_aside_to_rebuild(folder: &Path) -> Result<()> {
    let _lock = OutputFolder::new(folder).lock()?;
    if set_aside_before(folder)?.is_some() {
        return Ok(());
    }
    let mark = RebuildMark { generation: generations::next_number(folder)? };
    write_json_file(&folder.join(REBUILDING), &serde_json::json!(mark))?;
    sync(folder)?;
    generations::set_aside_locked(folder)
}

/// Removes the marker. The new store must be complete and durable.
///
/// # Errors
/// [`Error::Io`].
pub fn rebuilt(folder: &Path) -> Result<()> {
    // New file names must be durable before the marker is removed.
    sync(folder)?;
    let path = folder.join(REBUILDING);
    fs::remove_file(&path).map_err(|error| Error::io("remove", &path, error))?;
    sync(folder)
}

/// Returns the source generation of an interrupted rebuild.
fn set_aside_before(folder: &Path) -> Result<Option<PathBuf>> {
    let path = folder.join(REBUILDING);
    let Some(mark) = read_json_file(&path)? else { return Ok(None) };
    let mark: RebuildMark =
        serde_json::from_value(mark).map_err(|error| Error::corrupt(path.display().to_string(), error))?;
    Ok(Some(generations::place(folder, mark.generation)).filter(|generation| generation.exists()))
}

fn sync(folder: &Path) -> Result<()> {
    Disk::default().sync_folder(folder).map_err(|error| Error::io("sync", folder, error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Identity, Options, Store, StoreReader, hold, set_aside};

    fn crawled(folder: &Path) {
        fs::create_dir_all(folder.join("store")).unwrap();
        for name in ["crawl.json", "pages.jsonl", "store/db"] {
            fs::write(folder.join(name), name).unwrap();
        }
    }

    fn is_old(folder: &Path) -> bool {
        ["crawl.json", "pages.jsonl", "store/db"]
            .into_iter()
            .all(|name| fs::read_to_string(folder.join(name)).is_ok_and(|text| text == name))
    }

    #[test]
    fn what_was_made_is_taken_away_and_what_it_is_made_of_stays() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        crawled(folder);
        assert_eq!(take_back(folder).unwrap(), folder);
        set_aside_to_rebuild(folder).unwrap();
        for _ in 0..3 {
            // As far as it may have come, its part of the store differs from the old one.
            fs::create_dir_all(folder.join("store")).unwrap();
            for name in ["crawl.json", "pages.jsonl", "store/db"] {
                fs::write(folder.join(name), "a part").unwrap();
            }
            let source = take_back(folder).unwrap();
            assert_eq!(source, folder.join("earlier/1"));
            assert!(is_old(&source) && !folder.join("store").exists() && !folder.join("crawl.json").exists());
            set_aside_to_rebuild(folder).unwrap();
            assert!(folder.join(REBUILDING).exists() && !folder.join("earlier/2").exists());
        }
        crawled(folder);
        rebuilt(folder).unwrap();
        expect_whole(folder).unwrap();
        assert_eq!(take_back(folder).unwrap(), folder);
        assert!(is_old(folder));
    }

    #[test]
    fn a_store_that_was_not_set_aside_yet_is_not_taken_for_a_part() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        crawled(folder);
        set_aside(folder).unwrap();
        crawled(folder);
        let mark = || fs::write(folder.join(REBUILDING), "{\"generation\":2}").unwrap();
        mark();
        assert_eq!(take_back(folder).unwrap(), folder);
        assert!(is_old(folder));
        expect_whole(folder).unwrap();
        // Killed while it was moved.
        mark();
        fs::create_dir_all(folder.join("earlier/2.part")).unwrap();
        fs::write(folder.join("earlier/2.part/generation.json"), "{\"next_warc\":0}").unwrap();
        fs::rename(folder.join("store"), folder.join("earlier/2.part/store")).unwrap();
        assert_eq!(take_back(folder).unwrap(), folder.join("earlier/2"));
        assert!(is_old(&folder.join("earlier/2")));
    }

    #[test]
    fn a_folder_in_part_is_refused_by_all_but_the_one_who_makes_it() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let identity = Identity::new(String::new(), "");
        let (store, _) = Store::open(folder, Options::default(), &identity).unwrap();
        store.close().unwrap();
        set_aside_to_rebuild(folder).unwrap();
        let (store, _) = Store::open_to_rebuild(folder, Options::default(), &identity).unwrap();
        assert!(matches!(expect_whole(folder), Err(Error::InUse { .. })));
        store.close().unwrap();
        let refused = [
            Store::open(folder, Options::default(), &identity).map(drop),
            StoreReader::open(folder, 1 << 20).map(drop),
            hold(folder).map(drop),
            expect_whole(folder),
            crate::verify(folder).map(drop),
        ];
        for refused in refused {
            let error = refused.unwrap_err();
            assert!(matches!(&error, Error::Rebuilding { folder: named } if named == folder), "{error}");
        }
        rebuilt(folder).unwrap();
        StoreReader::open(folder, 1 << 20).unwrap();
    }
}
