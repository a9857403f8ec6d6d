//! Reads an archive by the names and offsets of `pages.jsonl`.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

use super::error::{Error, Result};
use super::warc::{Kind, TEXT_LINE};
use super::warc_reader::{WarcReader, WarcRecord, WarcRecordError};

/// Most records between a page's record and that of its text.
const MOST_BETWEEN: usize = 1;

/// Reads records of a crawl's archive. Keeps one file open.
pub struct ArchiveReader {
    folder: PathBuf,
    /// The last file read.
    open: Option<(String, PathBuf, File)>,
}

impl ArchiveReader {
    /// Creates a reader of the archive in this output folder.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), open: None }
    }

    /// Returns the record at this offset of a file, named relative to the output folder.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if there is no such file or no whole record, [`Error::Io`].
    pub fn record(&mut self, name: &str, offset: u64) -> Result<WarcRecord> {
        match self.records_from(name, offset)?.next() {
            Some(Ok(record)) => Ok(record),
            Some(Err(error)) => Err(Error::corrupt(name, error)),
            None => Err(Error::corrupt(name, format!("it ends before offset {offset}"))),
        }
    }

    /// Returns the records of a file from this offset on.
    ///
    /// # Errors
    /// As [`ArchiveReader::record`], for the file.
    pub fn records_from(
        &mut self,
        name: &str,
        offset: u64,
    ) -> Result<impl Iterator<Item = Result<WarcRecord, WarcRecordError>> + use<'_>> {
        Ok(WarcReader::new(self.file(name, offset)?, offset))
    }

    /// Returns the text that the archive keeps of the duplicate or document whose record is at this offset; `None` if it
    /// keeps none.
    ///
    /// # Errors
    /// As [`ArchiveReader::record`], for the record at the offset.
    pub fn kept_text(&mut self, name: &str, offset: u64) -> Result<Option<String>> {
        let mut records = self.records_from(name, offset)?;
        let first = match records.next() {
            Some(Ok(record)) => record,
            Some(Err(error)) => return Err(Error::corrupt(name, error)),
            None => return Err(Error::corrupt(name, format!("it ends before offset {offset}"))),
        };
        let is_text = |record: &WarcRecord| {
            record.kind() == Kind::Text.name() && record.field("WARC-Refers-To") == first.field("WARC-Record-ID")
        };
        // The request of a response stands between them.
        let mut behind = records.by_ref().take(MOST_BETWEEN + 1).map_while(std::result::Result::ok);
        let block = behind.find(is_text).and_then(|record| String::from_utf8(record.block).ok());
        let line = |line: &str| Some(line.strip_prefix(TEXT_LINE)?.strip_prefix(": ")?.to_owned());
        let lines = |block: String| block.split_terminator("\r\n").map(line).collect::<Option<Vec<String>>>();
        Ok(block.and_then(lines).map(|lines| lines.join("\n")))
    }

    /// Returns the compressed bytes of a record.
    ///
    /// # Errors
    /// As [`ArchiveReader::record`].
    pub fn member(&mut self, name: &str, offset: u64, length: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = self.file(name, offset)?.take(length).read_to_end(&mut bytes);
        read.map_err(|error| Error::io("read", &self.folder.join(name), error))?;
        if bytes.len() as u64 == length {
            Ok(bytes)
        } else {
            Err(Error::corrupt(name, format!("it ends within the record at offset {offset}")))
        }
    }

    /// Returns the file, positioned at this offset.
    fn file(&mut self, name: &str, offset: u64) -> Result<&mut File> {
        let opened = match self.open.take() {
            Some(open) if open.0 == name => open,
            _ => self.find(name)?,
        };
        let (_, path, file) = self.open.insert(opened);
        file.seek(SeekFrom::Start(offset)).map_err(|error| Error::io("read", path, error))?;
        Ok(file)
    }

    /// Finds a file, with or without the suffix of a growing file. Refuses a name that leaves the folder.
    fn find(&self, name: &str) -> Result<(String, PathBuf, File)> {
        let is_inside = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        let paths = [name.to_owned(), format!("{name}.open")].map(|name| self.folder.join(name));
        let found = paths.into_iter().filter(|_| is_inside).find(|path| path.is_file());
        let path = found.ok_or_else(|| Error::corrupt(name, "there is no such file in the output folder"))?;
        let file = File::open(&path).map_err(|error| Error::io("open", &path, error))?;
        Ok((name.to_owned(), path, file))
    }
}
