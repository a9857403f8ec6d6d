//! Finds the lines of kept pages in `pages.jsonl` by their URLs.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use xxhash_rust::xxh3::xxh3_128;

use ndcrawl_model::{PageLine, capture_key};

use super::error::{Error, Result};
use super::folder::OutputFolder;

/// Where the lines of a growing `pages.jsonl` begin. Reads on from where it stopped. Memory: some 40 bytes a URL.
#[derive(Debug)]
pub struct LineIndex {
    path: PathBuf,
    /// The offset of the last line of each URL, by its hash.
    offsets: HashMap<u128, u64>,
    /// Bytes that were read.
    read: u64,
}

/// The fields that name a line.
#[derive(Deserialize)]
struct LineKey {
    url: String,
    capture: Option<u32>,
}

impl LineIndex {
    /// Creates the index for an output folder, without reading.
    pub fn new(folder: &Path) -> Self {
        Self { path: OutputFolder::new(folder).pages(), offsets: HashMap::new(), read: 0 }
    }

    /// Returns the last line of a URL, as the store spells it, within the first `length` bytes; `None` if there is none.
    ///
    /// Cost: reading what came since the last call.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`].
    pub fn line(&mut self, url: &str, length: u64) -> Result<Option<PageLine>> {
        let io = |error| Error::io("read", &self.path, error);
        let mut file = BufReader::new(File::open(&self.path).map_err(io)?);
        file.seek(SeekFrom::Start(self.read)).map_err(io)?;
        let mut text = Vec::new();
        while self.read < length {
            text.clear();
            let bytes = file.read_until(b'\n', &mut text).map_err(|error| Error::io("read", &self.path, error))?;
            let key: LineKey = parse(&self.path, self.read, &text)?;
            self.offsets.insert(xxh3_128(capture_key(&key.url, key.capture.unwrap_or(1)).as_bytes()), self.read);
            self.read += bytes as u64;
        }
        let Some(&offset) = self.offsets.get(&xxh3_128(url.as_bytes())) else { return Ok(None) };
        let io = |error| Error::io("read", &self.path, error);
        file.seek(SeekFrom::Start(offset)).map_err(io)?;
        text.clear();
        file.read_until(b'\n', &mut text).map_err(io)?;
        parse(&self.path, offset, &text).map(Some)
    }
}

fn parse<'a, T: Deserialize<'a>>(path: &Path, offset: u64, text: &'a [u8]) -> Result<T> {
    serde_json::from_slice(text)
        .map_err(|e| Error::corrupt(format!("{}, byte {offset}", path.display()), e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_of_a_url_is_found_while_the_file_grows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pages.jsonl");
        let line =
            |url: &str, title: &str| format!("{{\"url\":\"{url}\",\"outcome\":\"stored\",\"title\":\"{title}\"}}\n");
        let mut text = line("http://h.test/a", "1") + &line("http://h.test/b", "2");
        std::fs::write(&path, &text).unwrap();
        let mut index = LineIndex::new(folder.path());
        let mut title = |url: &str, length: usize| {
            let found = index.line(url, length as u64).unwrap();
            found.and_then(|line| line.title)
        };
        let first = text.find('\n').unwrap() + 1;
        assert_eq!(title("http://h.test/b", first), None, "not committed yet");
        assert_eq!(title("http://h.test/b", text.len()).as_deref(), Some("2"));
        text += &line("http://h.test/a", "3");
        std::fs::write(&path, &text).unwrap();
        assert_eq!(title("http://h.test/a", text.len()).as_deref(), Some("3"));
        std::fs::write(&path, text.clone() + "{}\n").unwrap();
        assert!(index.line("http://h.test/a", text.len() as u64 + 3).is_err());
    }
}
