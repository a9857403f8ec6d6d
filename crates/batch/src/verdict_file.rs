//! The verdicts of an input, in one of the formats.

use serde::Serialize;

use ndcrawl_export::{ExportRow, Output, RowFile};
use ndcrawl_model::PageLine;

use super::error::BatchError;
use super::json_line::write_line;
use super::output::{InputPaths, VerdictFormat};

/// A line of the verdicts: that of `pages.jsonl`, with the record.
#[derive(Serialize)]
struct VerdictLine {
    #[serde(flatten)]
    line: PageLine,
    /// The `WARC-Record-ID` of the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    record_id: Option<String>,
}

/// The file of the verdicts, while they are added.
pub(super) enum VerdictFile {
    Lines(Output),
    Rows(Box<RowFile>),
}

impl VerdictFile {
    pub fn create(paths: &InputPaths) -> Result<Self, BatchError> {
        Ok(match paths.output().verdicts {
            VerdictFormat::Jsonl => Self::Lines(paths.lines("verdicts")?),
            VerdictFormat::Parquet => Self::Rows(Box::new(paths.rows("verdicts", false)?)),
        })
    }

    pub fn add(&mut self, line: PageLine, record_id: Option<String>) -> Result<(), BatchError> {
        match self {
            Self::Lines(output) => {
                let written = write_line(output, &VerdictLine { line, record_id });
                written.map_err(BatchError::output(output.path()))
            }
            Self::Rows(rows) => Ok(rows.add(ExportRow { record_id: Some(record_id), ..ExportRow::of(line) })?),
        }
    }

    pub fn finish(self) -> Result<(), BatchError> {
        match self {
            Self::Lines(output) => output.finish()?,
            Self::Rows(rows) => rows.finish()?,
        };
        Ok(())
    }
}
