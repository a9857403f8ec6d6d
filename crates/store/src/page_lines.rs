//! Reads `pages.jsonl`.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use memchr::memmem;

use ndcrawl_model::PageLine;

use super::error::{Error, Result};
use super::folder::OutputFolder;

/// Iterator over `pages.jsonl`, one line per URL. It skips an incomplete last line, left by a killed crawl, and
/// superseded lines of revised pages. Memory: proportional to the number of revised pages.
pub struct PageLines {
    path: PathBuf,
    file: BufReader<File>,
    text: Vec<u8>,
    number: u64,
    bytes: u64,
    length: u64,
    /// The valid line number of each revised page.
    revised: HashMap<String, u64>,
}

impl PageLines {
    /// Opens the file in this output folder.
    ///
    /// # Errors
    /// [`Error::NotACrawl`] if it does not exist, [`Error::Io`].
    pub fn open(folder: &Path) -> Result<Self> {
        let path = OutputFolder::new(folder).pages();
        let file = File::open(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::NotACrawl { folder: folder.to_owned() },
            _ => Error::io("open", &path, error),
        })?;
        let length = file.metadata().map_err(|error| Error::io("open", &path, error))?.len();
        let file = BufReader::with_capacity(64 * 1024, file);
        let revised = HashMap::new();
        let mut lines = Self { path, file, text: Vec::new(), number: 0, bytes: 0, length, revised };
        lines.find_revised()?;
        Ok(lines)
    }

    /// Reads the file once to find revised pages.
    fn find_revised(&mut self) -> Result<()> {
        while self.read_text()? {
            if memmem::find(&self.text, b"\"revised\":").is_some() {
                let line = self.parse()?;
                if line.revised.is_some() {
                    self.revised.insert(line.key().into_owned(), self.number);
                }
            }
        }
        (self.number, self.bytes) = (0, 0);
        self.file.rewind().map_err(|error| Error::io("read", &self.path, error))
    }

    /// Bytes read so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of the file.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Reads a complete line, if there is one.
    fn read_text(&mut self) -> Result<bool> {
        self.text.clear();
        let read = self.file.read_until(b'\n', &mut self.text);
        self.bytes += read.map_err(|error| Error::io("read", &self.path, error))? as u64;
        self.number += 1;
        Ok(self.text.last() == Some(&b'\n'))
    }

    fn parse(&self) -> Result<PageLine> {
        // The parser sees a single line, so its line number is useless.
        let why = |error: serde_json::Error| error.to_string().replace(" at line 1 column ", " at column ");
        let place = || format!("{}, line {}", self.path.display(), self.number);
        serde_json::from_slice(&self.text).map_err(|error| Error::corrupt(place(), why(error)))
    }

    /// Returns the offset of the last line read.
    pub fn began(&self) -> u64 {
        self.bytes - self.text.len() as u64
    }

    /// Returns the line at an offset from [`began`](Self::began). Do not mix with iteration.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`] if no whole line begins there.
    pub fn at(&mut self, byte: u64) -> Result<PageLine> {
        self.file.seek(SeekFrom::Start(byte)).map_err(|error| Error::io("read", &self.path, error))?;
        if self.read_text()? {
            return self.parse();
        }
        Err(Error::corrupt(format!("{}, byte {byte}", self.path.display()), "no line begins there"))
    }

    fn read(&mut self) -> Result<Option<PageLine>> {
        while self.read_text()? {
            let line = self.parse()?;
            if self.revised.get(&*line.key()).is_none_or(|&counts| counts == self.number) {
                return Ok(Some(line));
            }
        }
        Ok(None)
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
    use ndcrawl_model::OutcomeKind;

    #[test]
    fn whole_lines_are_read_and_a_broken_one_is_named() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(PageLines::open(folder.path()), Err(Error::NotACrawl { .. })));
        let good = "{\"url\":\"http://a.test/\",\"outcome\":\"stored\"}\n";
        std::fs::write(folder.path().join("pages.jsonl"), format!("{good}{good}{{\"url\":")).unwrap();
        let mut lines = PageLines::open(folder.path()).unwrap();
        assert_eq!(lines.by_ref().map(|line| line.unwrap().outcome).collect::<Vec<_>>(), [OutcomeKind::Stored; 2]);
        assert_eq!(lines.bytes(), lines.length());
        assert_eq!(lines.at(good.len() as u64).unwrap().url, "http://a.test/");
        assert!(lines.at(2 * good.len() as u64).is_err(), "a line without its end");
        std::fs::write(folder.path().join("pages.jsonl"), format!("{good}nonsense\n")).unwrap();
        let error = PageLines::open(folder.path()).unwrap().find_map(Result::err).unwrap();
        assert!(error.to_string().contains("pages.jsonl, line 2 is damaged"), "{error}");
    }

    #[test]
    fn of_a_page_that_was_judged_anew_the_last_word_counts() {
        let folder = tempfile::tempdir().unwrap();
        let line =
            |url: &str, outcome: &str, rest: &str| format!("{{\"url\":\"{url}\",\"outcome\":\"{outcome}\"{rest}}}\n");
        let revised = ",\"revised\":{\"outcome\":\"near-duplicate\",\"duplicate_of\":\"b\",\"score\":0.7}";
        let text = [line("a", "near-duplicate", ""), line("b", "stored", ""), line("a", "stored", revised)].concat();
        std::fs::write(folder.path().join("pages.jsonl"), text).unwrap();
        let lines = PageLines::open(folder.path()).unwrap().map(|line| line.unwrap());
        let found: Vec<_> = lines.map(|line| (line.url, line.outcome)).collect();
        assert_eq!(found, ["b", "a"].map(|url| (url.to_owned(), OutcomeKind::Stored)));
    }
}
