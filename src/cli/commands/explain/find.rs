//! Finds lines of `pages.jsonl` by URL.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use xxhash_rust::xxh3::xxh3_64;

use super::nearest::{Nearest, Suggestions};
use crate::cli::errors::{CliError, opening_error};
use crate::model::{ErrorLine, PageLine};
use crate::store::PageLines;

/// The offset of each URL's line; 16 bytes per line.
pub(super) struct LineIndex {
    folder: PathBuf,
    lines: PageLines,
    /// Hashes of URLs with offsets, ascending. Collisions are resolved when the lines are read.
    offsets: Vec<(u64, u64)>,
}

/// The part of a line of `errors.jsonl` that identifies it.
#[derive(Deserialize)]
struct NamedLine<'a> {
    #[serde(borrow)]
    url: Cow<'a, str>,
}

impl LineIndex {
    /// Reads the whole file once.
    pub fn index(folder: &Path) -> Result<Self, CliError> {
        let mut lines = PageLines::open(folder).map_err(opening_error)?;
        let mut offsets = Vec::new();
        while let Some(line) = lines.next().transpose().map_err(opening_error)? {
            offsets.push((xxh3_64(line.url.as_bytes()), lines.began()));
        }
        offsets.sort_unstable();
        Ok(Self { folder: folder.to_owned(), lines, offsets })
    }

    pub fn has(&self, url: &str) -> bool {
        !self.of_hash(url).is_empty()
    }

    /// Returns the line of a URL.
    pub fn get(&mut self, url: &str) -> Result<Option<PageLine>, CliError> {
        for (_, offset) in self.of_hash(url).to_vec() {
            let line = self.lines.at(offset).map_err(opening_error)?;
            if line.url == url {
                return Ok(Some(line));
            }
        }
        Ok(None)
    }

    /// Returns the line of a URL in `errors.jsonl`.
    pub fn error(&self, url: &str) -> Result<Option<ErrorLine>, CliError> {
        let path = self.folder.join("errors.jsonl");
        let unreadable = |error: std::io::Error| CliError::usage(format!("{}: {error}", path.display()));
        for line in BufReader::new(File::open(&path).map_err(unreadable)?).lines() {
            let line = line.map_err(unreadable)?;
            let is_it = serde_json::from_str::<NamedLine<'_>>(&line).is_ok_and(|named| named.url == url);
            if is_it {
                return Ok(serde_json::from_str(&line).ok());
            }
        }
        Ok(None)
    }

    /// Returns the URLs that a text may mean: those whose paths end alike, else those of similar paths.
    pub fn nearest(&self, typed: &str) -> Result<Suggestions, CliError> {
        let mut nearest = Nearest::new(typed);
        for line in PageLines::open(&self.folder).map_err(opening_error)? {
            nearest.add(line.map_err(opening_error)?.url);
        }
        Ok(nearest.suggestions())
    }

    fn of_hash(&self, url: &str) -> &[(u64, u64)] {
        let hash = xxh3_64(url.as_bytes());
        let from = self.offsets.partition_point(|(other, _)| *other < hash);
        let to = self.offsets.partition_point(|(other, _)| *other <= hash);
        &self.offsets[from..to]
    }
}
