//! Rows of Arrow, as a stream or, with a name that says so, a file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use arrow_select::concat::concat_batches;

use super::text_rows::repeated;
use super::{COLUMNS, OwnRowsError, RawRow, RowFile, RowSink, RowVerdict, mixed};

/// Rows of a batch.
const BATCH: usize = 1000;

enum Writer {
    File(Box<FileWriter<RowFile>>),
    Stream(Box<StreamWriter<RowFile>>),
}

/// A table of Arrow.
pub(super) struct ArrowRows {
    file: Option<RowFile>,
    writer: Option<Writer>,
    schema: Option<SchemaRef>,
    waiting: Vec<RecordBatch>,
    path: PathBuf,
    is_marked: bool,
    written: u64,
}

impl ArrowRows {
    pub fn new(file: RowFile, path: PathBuf, is_marked: bool) -> Self {
        Self { file: Some(file), writer: None, schema: None, waiting: Vec::new(), path, is_marked, written: 0 }
    }

    fn open(&mut self, schema: &SchemaRef) -> Result<(), ArrowError> {
        let Some(file) = self.file.take() else { return Ok(()) };
        self.writer = Some(match is_stream(&self.path) {
            true => Writer::Stream(Box::new(StreamWriter::try_new(file, schema)?)),
            false => Writer::File(Box::new(FileWriter::try_new(file, schema)?)),
        });
        self.schema = Some(schema.clone());
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ArrowError> {
        let (Some(schema), Some(writer)) = (&self.schema, &mut self.writer) else { return Ok(()) };
        if self.waiting.is_empty() {
            return Ok(());
        }
        let batch = concat_batches(schema, &std::mem::take(&mut self.waiting))?;
        match writer {
            Writer::File(writer) => writer.write(&batch),
            Writer::Stream(writer) => writer.write(&batch),
        }
    }

    fn error(&self, error: ArrowError) -> OwnRowsError {
        OwnRowsError::File { path: self.path.clone(), source: std::io::Error::other(error) }
    }
}

/// Whether a table is written as a stream, as `datasets` saves it: standard output, and `.arrow`.
fn is_stream(path: &Path) -> bool {
    path.as_os_str() == "-" || path.extension().is_some_and(|ending| ending == "arrow")
}

impl RowSink for ArrowRows {
    fn add(&mut self, row: RawRow, _: u64, verdict: Option<&RowVerdict>) -> Result<(), OwnRowsError> {
        let RawRow::Arrow(row) = row else { return Err(mixed(&self.path, "Arrow and other rows")) };
        let row = if self.is_marked { marked(&row, verdict).map_err(|error| self.error(error))? } else { row };
        self.open(&row.schema()).map_err(|error| self.error(error))?;
        if self.schema.as_ref().is_some_and(|schema| schema.fields() != row.schema().fields()) {
            return Err(mixed(&self.path, "tables of different columns"));
        }
        if self.is_marked || verdict.is_some_and(RowVerdict::is_kept) {
            self.written += 1;
            self.waiting.push(row);
        }
        if self.waiting.len() < BATCH { Ok(()) } else { self.flush().map_err(|error| self.error(error)) }
    }

    fn finish(mut self: Box<Self>) -> Result<u64, OwnRowsError> {
        let ended = self.flush().and_then(|()| match &mut self.writer {
            Some(Writer::File(writer)) => writer.finish(),
            Some(Writer::Stream(writer)) => writer.finish(),
            None => Ok(()),
        });
        ended.map_err(|error| self.error(error))?;
        Ok(self.written)
    }
}

fn marked(row: &RecordBatch, verdict: Option<&RowVerdict>) -> Result<RecordBatch, ArrowError> {
    let RowVerdict { outcome, of, score, loses, copies } = verdict.cloned().unwrap_or_else(repeated);
    let kinds = [DataType::Utf8, DataType::Utf8, DataType::Float64, DataType::Int64, DataType::Int64];
    let marks: [ArrayRef; 5] = [
        Arc::new(StringArray::from(vec![Some(outcome)])),
        Arc::new(StringArray::from(vec![of])),
        Arc::new(Float64Array::from(vec![score])),
        Arc::new(Int64Array::from(vec![loses])),
        Arc::new(Int64Array::from(vec![copies])),
    ];
    let schema = row.schema();
    let fields = COLUMNS.iter().zip(kinds).map(|(name, kind)| Arc::new(Field::new(*name, kind, true)));
    let fields: Vec<_> = schema.fields().iter().cloned().chain(fields).collect();
    let schema = Schema::new_with_metadata(fields, schema.metadata().clone());
    RecordBatch::try_new(Arc::new(schema), row.columns().iter().cloned().chain(marks).collect())
}
