//! The kept pages of an input, in one of the formats.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::PathBuf;

use serde::Serialize;

use ndcrawl_export::{ExportRow, Output, RowFile};
use ndcrawl_model::PageLine;

use super::error::BatchError;
use super::json_line::write_line;
use super::output::{InputPaths, KeptFormat};

/// A page that is kept.
pub(super) struct KeptPage<'a> {
    pub line: &'a PageLine,
    pub record_id: Option<&'a str>,
    pub text: Option<String>,
    /// Bytes of its record in the file of records.
    pub record_bytes: u64,
}

/// A line of the kept pages.
#[derive(Serialize)]
struct KeptLine<'a> {
    url: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    record_id: Option<&'a str>,
    title: Option<&'a str>,
    lang: Option<&'a str>,
    text: Option<&'a str>,
}

/// The file of the kept pages, while they are added.
pub(super) enum KeptFile {
    Lines(Output),
    Rows(Box<RowFile>),
    Records(RecordCopies),
}

/// Copies some of the records that were read.
pub(super) struct RecordCopies {
    path: PathBuf,
    read: BufReader<File>,
    output: Output,
}

impl KeptFile {
    pub fn create(paths: &InputPaths) -> Result<Self, BatchError> {
        Ok(match paths.output().kept {
            KeptFormat::Jsonl => Self::Lines(paths.lines("kept")?),
            KeptFormat::Parquet => Self::Rows(Box::new(paths.rows("kept", true)?)),
            KeptFormat::Warc => {
                let path = paths.temporary("records");
                let read = BufReader::new(File::open(&path).map_err(BatchError::output(&path))?);
                Self::Records(RecordCopies { path, read, output: paths.lines("kept")? })
            }
        })
    }

    /// Adds a page, the next one that was read.
    pub fn add(&mut self, page: KeptPage<'_>) -> Result<(), BatchError> {
        let KeptPage { line, record_id, text, record_bytes } = page;
        match self {
            Self::Lines(output) => {
                let kept = KeptLine {
                    url: &line.url,
                    id: line.id.as_deref(),
                    record_id,
                    title: line.title.as_deref(),
                    lang: line.lang.as_deref(),
                    text: text.as_deref(),
                };
                write_line(output, &kept).map_err(BatchError::output(output.path()))
            }
            Self::Rows(rows) => {
                let record_id = Some(record_id.map(str::to_owned));
                Ok(rows.add(ExportRow { text, record_id, ..ExportRow::of(line.clone()) })?)
            }
            Self::Records(copies) => copies.copy(record_bytes),
        }
    }

    /// Passes over a page that is not kept, the next one that was read.
    pub fn pass(&mut self, record_bytes: u64) -> Result<(), BatchError> {
        let Self::Records(copies) = self else { return Ok(()) };
        // A record in memory has fewer bytes than this can say.
        let by = i64::try_from(record_bytes).unwrap_or(i64::MAX);
        copies.read.seek_relative(by).map_err(BatchError::output(&copies.path))
    }

    pub fn finish(self) -> Result<(), BatchError> {
        match self {
            Self::Lines(output) | Self::Records(RecordCopies { output, .. }) => output.finish()?,
            Self::Rows(rows) => rows.finish()?,
        };
        Ok(())
    }
}

impl RecordCopies {
    fn copy(&mut self, bytes: u64) -> Result<(), BatchError> {
        let copied = io::copy(&mut Read::take(&mut self.read, bytes), &mut self.output);
        match copied.map_err(BatchError::output(&self.path))? {
            copied if copied == bytes => Ok(()),
            _ => Err(BatchError::output(&self.path)(io::ErrorKind::UnexpectedEof.into())),
        }
    }
}
