//! Compacts `pages.jsonl` to one line per URL at the end of a crawl.
//!
//! During a crawl a revised page has several lines, and the last one, with the field `revised`, counts. A line may also
//! have a depth that was right when the line was written. At the end the file is rewritten without the earlier lines
//! and with the last depths, under a name with the number of the next commit. Once that commit is
//! durable, the new file replaces the old one. After a crash, opening the folder does this.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;
use xxhash_rust::xxh3::xxh3_128;

use ndcrawl_model::capture_key;

use super::disk::Disk;
use super::error::{Error, Result};
use super::folder::OutputFolder;
use super::log_file::LogFile;
use ndcrawl_model::PageLine;

/// Bytes of one write.
const AT_ONCE: usize = 256 * 1024;

/// The fields of a line that are read.
#[derive(Deserialize)]
struct Line {
    url: String,
    #[serde(default)]
    depth: u16,
    capture: Option<u32>,
    revised: Option<IgnoredAny>,
}

impl Line {
    fn hash(&self) -> u128 {
        xxh3_128(capture_key(&self.url, self.capture.unwrap_or(1)).as_bytes())
    }
}

/// Returns the last depth of a URL.
pub type LastDepth<'a> = &'a dyn Fn(&str) -> Option<u16>;

/// Writes the lines of the first `length` bytes of `from` to a new file, without superseded ones and with the depths
/// that `last_depth` returns.
pub(super) fn without_superseded(
    from: &Path,
    length: u64,
    to: &Path,
    last_depth: Option<LastDepth>,
    disk: &Disk,
) -> Result<LogFile> {
    // The number of the line that counts of each revised page.
    let mut revised = HashMap::new();
    each_line(from, length, |number, _, line| {
        if line.revised.is_some() {
            revised.insert(line.hash(), number);
        }
        Ok(())
    })?;
    let mut file = LogFile::open(to, 0, disk)?;
    let mut buffer = Vec::new();
    each_line(from, length, |number, text, line| {
        if revised.get(&line.hash()).is_none_or(|counts| *counts == number) {
            match last_depth.and_then(|depth| depth(&line.url)).filter(|depth| *depth < line.depth) {
                Some(depth) => buffer.extend(with_depth(text, depth).map_err(|e| Error::corrupt(line.url.clone(), e))?),
                None => buffer.extend_from_slice(text),
            }
        }
        if buffer.len() >= AT_ONCE {
            file.append(&buffer)?;
            buffer.clear();
        }
        Ok(())
    })?;
    file.append(&buffer)?;
    Ok(file)
}

/// Returns a line with another depth.
fn with_depth(text: &[u8], depth: u16) -> serde_json::Result<Vec<u8>> {
    let line: PageLine = serde_json::from_slice(text)?;
    let mut text = serde_json::to_vec(&PageLine { depth, ..line })?;
    text.push(b'\n');
    Ok(text)
}

/// Installs the file of the last commit and deletes those of commits that did not happen. Returns whether it
/// installed one.
pub(super) fn settle(folder: &OutputFolder, number: u64, disk: &Disk) -> Result<bool> {
    let mut is_replaced = false;
    let entries = fs::read_dir(folder.root()).map_err(|e| Error::io("read", folder.root(), e))?;
    for entry in entries {
        let path = entry.map_err(|e| Error::io("read", folder.root(), e))?.path();
        match folder.rewritten_for(&path) {
            Some(made_for) if made_for == number => {
                put_in_place(folder, number, disk)?;
                is_replaced = true;
            }
            Some(_) => disk.remove(&path).map_err(|e| Error::io("delete", &path, e))?,
            None => {}
        }
    }
    Ok(is_replaced)
}

/// Installs the file of a commit.
pub(super) fn put_in_place(folder: &OutputFolder, number: u64, disk: &Disk) -> Result<()> {
    let (from, to) = (folder.rewritten(number), folder.pages());
    disk.rename(&from, &to).map_err(|e| Error::io("rename", &from, e))?;
    disk.sync_folder(folder.root()).map_err(|e| Error::io("sync", folder.root(), e))
}

fn each_line(path: &Path, length: u64, mut take: impl FnMut(u64, &[u8], &Line) -> Result<()>) -> Result<()> {
    let read = |e| Error::io("read", path, e);
    let mut lines = BufReader::new(File::open(path).map_err(|e| Error::io("open", path, e))?.take(length));
    let (mut text, mut number) = (Vec::new(), 0u64);
    while lines.read_until(b'\n', &mut text).map_err(read)? > 0 {
        number += 1;
        let damaged =
            |e: serde_json::Error| Error::corrupt(format!("{}, line {number}", path.display()), e.to_string());
        take(number, &text, &serde_json::from_slice(&text).map_err(damaged)?)?;
        text.clear();
    }
    Ok(())
}
