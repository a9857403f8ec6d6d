//! Generations: earlier crawls in the same output folder.
//!
//! | place | holds |
//! |---|---|
//! | `earlier/1/`, `earlier/2/`, … | lines, report, settings and logs of one generation |
//! | `warc/` | the pages of all generations; serial numbers continue |
//!
//! Files move into `earlier/N.part` first, which is renamed when complete. An interrupted move is completed before
//! anything else happens in the folder.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::crawl_file::write_json_file;
use super::disk::Disk;
use super::error::{Error, Result};
use super::folder::OutputFolder;
use super::page_lines::PageLines;
use super::warc_files;

/// The folder of generations.
pub const EARLIER: &str = "earlier";
/// Files that move. The logs come last, because they mark a crawl that can be resumed.
const MOVED: [&str; 6] = ["report.html", "status.json", "errors.jsonl", "pages.jsonl", "crawl.json", "store"];
const NOTE: &str = "generation.json";
const PART: &str = "part";

/// Metadata of a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CrawlVersionNote {
    /// The serial number of the first WARC file of the next generation.
    next_warc: u32,
}

/// An earlier generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrawlVersion {
    /// Its number, from 1.
    pub number: u32,
    /// The folder of its lines and logs.
    pub folder: PathBuf,
    /// The serial number of the first later WARC file.
    pub next_warc: u32,
}

impl CrawlVersion {
    /// Returns the last earlier generation. `None` if this is the first crawl in the folder.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`] if its metadata is unreadable.
    pub fn last(folder: &Path) -> Result<Option<Self>> {
        let Some(number) = numbers(folder)?.into_iter().max() else { return Ok(None) };
        let generation = place(folder, number);
        let path = generation.join(NOTE);
        let text = fs::read(&path).map_err(|error| Error::io("read", &path, error))?;
        let note: CrawlVersionNote =
            serde_json::from_slice(&text).map_err(|error| Error::corrupt(path.display().to_string(), error))?;
        Ok(Some(Self { number, folder: generation, next_warc: note.next_warc }))
    }

    /// Returns the readable lines of its `errors.jsonl`.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn error_lines(&self) -> Result<Vec<String>> {
        let path = OutputFolder::new(&self.folder).errors();
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            read => read.map_err(|error| Error::io("read", &path, error))?,
        };
        let lines =
            bytes.split(|byte| *byte == b'\n').filter(|line| serde_json::from_slice::<IgnoredAny>(line).is_ok());
        Ok(lines.map(|line| String::from_utf8_lossy(line).into_owned()).collect())
    }
}

/// Moves the crawl of this folder into `earlier/`, so that the next generation can start. Closes an unfinished WARC
/// file after its last complete record.
///
/// # Errors
/// [`Error::InUse`], [`Error::Io`]; a second call completes the move.
pub fn set_aside(folder: &Path) -> Result<()> {
    let _lock = OutputFolder::new(folder).lock()?;
    complete_locked(folder)?;
    set_aside_locked(folder)
}

/// Returns the number of the next generation.
pub(crate) fn next_number(folder: &Path) -> Result<u32> {
    Ok(numbers(folder)?.into_iter().max().unwrap_or_default() + 1)
}

/// Returns the folder of an earlier generation.
pub(crate) fn place(folder: &Path, number: u32) -> PathBuf {
    folder.join(EARLIER).join(number.to_string())
}

/// Deletes the files that would move with a generation.
pub(crate) fn delete_what_is_moved(folder: &Path) -> Result<()> {
    for path in MOVED.iter().map(|name| folder.join(name)).filter(|path| path.exists()) {
        let deleted = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        deleted.map_err(|error| Error::io("delete", &path, error))?;
    }
    Ok(())
}

/// As [`set_aside`], for a locked folder without an interrupted move.
pub(crate) fn set_aside_locked(folder: &Path) -> Result<()> {
    let number = next_number(folder)?;
    let part = folder.join(EARLIER).join(format!("{number}.{PART}"));
    fs::create_dir_all(&part).map_err(|error| Error::io("make", &part, error))?;
    let last_named = last_named(folder);
    let files = warc_files::close_all(&folder.join("warc"), |name| last_named.get(name).copied().unwrap_or_default())?;
    let note = CrawlVersionNote { next_warc: files.last().map_or(0, |(serial, _)| serial + 1) };
    write_json_file(&part.join(NOTE), &serde_json::json!(note))?;
    complete_locked(folder)
}

/// Returns the offset of the last record of each WARC file named by readable lines.
fn last_named(folder: &Path) -> HashMap<String, u64> {
    let mut last = HashMap::new();
    for line in PageLines::open(folder).into_iter().flatten().flatten() {
        if let (Some(name), Some(offset)) = (line.warc_file, line.warc_offset) {
            let end: &mut u64 = last.entry(name.trim_start_matches("warc/").to_owned()).or_default();
            *end = offset.max(*end);
        }
    }
    last
}

/// Completes an interrupted move, if there is one.
///
/// # Errors
/// As [`set_aside`].
pub fn complete(folder: &Path) -> Result<()> {
    if part(folder)?.is_none() {
        return Ok(());
    }
    let _lock = OutputFolder::new(folder).lock()?;
    complete_locked(folder)
}

pub(crate) fn complete_locked(folder: &Path) -> Result<()> {
    let Some(part) = part(folder)? else { return Ok(()) };
    if !part.join(NOTE).exists() {
        // Nothing has moved yet; the metadata may be incomplete.
        return fs::remove_dir_all(&part).map_err(|error| Error::io("remove", &part, error));
    }
    for name in MOVED {
        let (from, to) = (folder.join(name), part.join(name));
        if from.exists() {
            fs::rename(&from, &to).map_err(|error| Error::io("move", &from, error))?;
        }
    }
    let done = part.with_extension("");
    fs::rename(&part, &done).map_err(|error| Error::io("rename", &part, error))?;
    for folder in [done.as_path(), &folder.join(EARLIER), folder] {
        Disk::default().sync_folder(folder).map_err(|error| Error::io("sync", folder, error))?;
    }
    Ok(())
}

fn part(folder: &Path) -> Result<Option<PathBuf>> {
    Ok(entries(folder)?.into_iter().find(|path| path.extension().is_some_and(|extension| extension == PART)))
}

fn numbers(folder: &Path) -> Result<Vec<u32>> {
    Ok(entries(folder)?.iter().filter_map(|path| path.file_name()?.to_str()?.parse().ok()).collect())
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let earlier = folder.join(EARLIER);
    if !earlier.exists() {
        return Ok(Vec::new());
    }
    let list = fs::read_dir(&earlier).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    list.map_err(|error| Error::io("list", &earlier, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crawled(folder: &Path) {
        fs::create_dir_all(folder.join("store")).unwrap();
        fs::create_dir_all(folder.join("warc")).unwrap();
        for name in ["crawl.json", "pages.jsonl", "store/db", "warc/NDCRAWL-20260101000000-00006-h.warc.gz"] {
            fs::write(folder.join(name), name).unwrap();
        }
    }

    fn is_set_aside(folder: &Path, number: u32) {
        let last = CrawlVersion::last(folder).unwrap().unwrap();
        assert_eq!((last.number, last.next_warc), (number, 7));
        for name in ["crawl.json", "pages.jsonl", "store/db"] {
            assert_eq!(fs::read_to_string(last.folder.join(name)).unwrap(), name);
            assert!(!folder.join(name).exists(), "{name}");
        }
        assert_eq!(warc_files::list(&folder.join("warc")).unwrap().len(), 1);
    }

    #[test]
    fn a_crawl_is_set_aside_under_the_next_number_and_its_archive_stays() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(CrawlVersion::last(folder.path()).unwrap(), None);
        for number in 1..4 {
            crawled(folder.path());
            set_aside(folder.path()).unwrap();
            is_set_aside(folder.path(), number);
        }
    }

    #[test]
    fn a_move_that_was_interrupted_anywhere_is_made_good() {
        for moved in 0..=MOVED.len() {
            let folder = tempfile::tempdir().unwrap();
            crawled(folder.path());
            let part = folder.path().join(EARLIER).join("1.part");
            fs::create_dir_all(&part).unwrap();
            fs::write(part.join(NOTE), "{\"next_warc\":7}").unwrap();
            for name in MOVED.iter().take(moved).filter(|name| folder.path().join(name).exists()) {
                fs::rename(folder.path().join(name), part.join(name)).unwrap();
            }
            complete(folder.path()).unwrap();
            is_set_aside(folder.path(), 1);
        }
    }

    #[test]
    fn a_move_that_had_not_begun_leaves_the_crawl_where_it_is() {
        let folder = tempfile::tempdir().unwrap();
        crawled(folder.path());
        fs::create_dir_all(folder.path().join(EARLIER).join("1.part")).unwrap();
        complete(folder.path()).unwrap();
        assert_eq!(CrawlVersion::last(folder.path()).unwrap(), None);
        assert!(folder.path().join("store/db").exists());
    }
}
