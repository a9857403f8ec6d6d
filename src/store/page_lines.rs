//! Reading `pages.jsonl`.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use crate::record::PageLine;

use super::error::{Error, Result};
use super::folder::Folder;

/// The lines of a crawl's `pages.jsonl`, one after the other. A last line without its end, as a crawl
/// that was killed may leave, is passed over.
pub struct PageLines {
    path: PathBuf,
    file: BufReader<File>,
    text: Vec<u8>,
    number: u64,
    octets: u64,
    length: u64,
}

impl PageLines {
    /// Opens the file in this output folder.
    ///
    /// # Errors
    /// [`Error::NotACrawl`] if it is not there, [`Error::Io`].
    pub fn open(folder: &Path) -> Result<Self> {
        let path = Folder::new(folder).pages();
        let file = File::open(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::NotACrawl { folder: folder.to_owned() },
            _ => Error::io("open", &path, error),
        })?;
        let length = file.metadata().map_err(|error| Error::io("open", &path, error))?.len();
        let file = BufReader::with_capacity(64 * 1024, file);
        Ok(Self { path, file, text: Vec::new(), number: 0, octets: 0, length })
    }

    /// Octets read so far.
    pub fn octets(&self) -> u64 {
        self.octets
    }

    /// Octets of the file.
    pub fn length(&self) -> u64 {
        self.length
    }

    fn read(&mut self) -> Result<Option<PageLine>> {
        self.text.clear();
        let read = self.file.read_until(b'\n', &mut self.text);
        self.octets += read.map_err(|error| Error::io("read", &self.path, error))? as u64;
        if self.text.last() != Some(&b'\n') {
            return Ok(None);
        }
        self.number += 1;
        let line = serde_json::from_slice(&self.text);
        // The parser counts the lines of what it was given, which is one.
        let why = |error: serde_json::Error| error.to_string().replace(" at line 1 column ", " at column ");
        let place = || format!("{}, line {}", self.path.display(), self.number);
        line.map(Some).map_err(|error| Error::corrupt(place(), why(error)))
    }
}

impl Iterator for PageLines {
    type Item = Result<PageLine>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_lines_are_read_and_a_broken_one_is_named() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(PageLines::open(folder.path()), Err(Error::NotACrawl { .. })));
        let good = "{\"url\":\"http://a.test/\",\"outcome\":\"stored\"}\n";
        std::fs::write(folder.path().join("pages.jsonl"), format!("{good}{good}{{\"url\":")).unwrap();
        let mut lines = PageLines::open(folder.path()).unwrap();
        assert_eq!(lines.by_ref().map(|line| line.unwrap().outcome).collect::<Vec<_>>(), ["stored", "stored"]);
        assert_eq!(lines.octets(), lines.length());
        std::fs::write(folder.path().join("pages.jsonl"), format!("{good}nonsense\n")).unwrap();
        let error = PageLines::open(folder.path()).unwrap().find_map(Result::err).unwrap();
        assert!(error.to_string().contains("pages.jsonl, line 2 is damaged"), "{error}");
    }
}
