//! A file of rows, added one by one.

use super::columns::TextColumns;
use super::error::Result;
use super::jsonl::{Compression, JsonLines};
use super::output::Output;
use super::parquet::ParquetFile;
use super::row::ExportRow;

/// The format of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardFormat {
    /// Parquet files.
    Parquet,
    /// Files of JSON lines.
    Jsonl(Compression),
}

/// A file of rows while they are added. It appears when it is [finished](Self::finish).
pub struct RowFile(Rows);

enum Rows {
    Parquet(Box<ParquetFile>),
    Jsonl(Box<JsonLines>),
}

impl RowFile {
    /// Begins a file with these columns. A row group of Parquet is closed when it has `size` bytes, if that is sooner.
    ///
    /// # Errors
    /// [`ExportError`](super::ExportError).
    pub fn create(output: Output, columns: TextColumns, format: ShardFormat, size: u64) -> Result<Self> {
        Ok(Self(match format {
            ShardFormat::Parquet => {
                let file = ParquetFile::create(output, columns)?;
                Rows::Parquet(Box::new(file.with_groups_of(usize::try_from(size).unwrap_or(usize::MAX))))
            }
            ShardFormat::Jsonl(compression) => Rows::Jsonl(Box::new(JsonLines::create(compression, output)?)),
        }))
    }

    /// Returns the bytes so far, without what is held back.
    pub(super) fn bytes(&self) -> u64 {
        match &self.0 {
            Rows::Parquet(file) => file.bytes(),
            Rows::Jsonl(lines) => lines.bytes(),
        }
    }

    /// Adds a row, which has the columns of the file.
    ///
    /// # Errors
    /// [`ExportError`](super::ExportError).
    pub fn add(&mut self, row: ExportRow) -> Result<()> {
        match &mut self.0 {
            Rows::Parquet(file) => file.add(row),
            Rows::Jsonl(lines) => lines.add(&row),
        }
    }

    /// Writes what is left, gives the file its name and returns its length.
    ///
    /// # Errors
    /// [`ExportError`](super::ExportError); then no file is left.
    pub fn finish(self) -> Result<u64> {
        match self.0 {
            Rows::Parquet(file) => file.finish(),
            Rows::Jsonl(lines) => lines.finish(),
        }
    }
}
