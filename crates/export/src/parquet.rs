//! Exports rows as a Parquet file.
//!
//! A row group is written when its rows hold [`GROUP_BYTES`] of text, so memory does not grow with the number of rows.
//! Columns are written directly, without Arrow in between.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::ColumnPath;

use super::columns::TextColumns;
use super::error::{ExportError, Result};
use super::output::{ExportCounts, Output};
use super::pages::ExportSource;
use super::parquet_schema;
use super::row::{ExportRow, ProvenanceFields};
use super::row_reader::RowReader;

/// Bytes of text that close a row group.
const GROUP_BYTES: usize = 32 * 1024 * 1024;

/// Columns with mostly distinct values, for which a dictionary is useless.
const UNIQUE: [&str; 11] =
    ["url", "id", "record_id", "title", "text", "full_text", "markdown", "html", "cluster", "digest", "text_digest"];
/// Columns whose minimum and maximum help no query.
const LONG: [&str; 4] = ["text", "full_text", "markdown", "html"];

/// Writes one row per [`ExportRow`], with these columns of text.
///
/// # Errors
/// [`ExportError`].
pub fn parquet(source: ExportSource<'_>, columns: TextColumns, output: Output) -> Result<ExportCounts> {
    let mut counts = ExportCounts::default();
    let mut rows = RowReader::learn(source, columns)?;
    let mut file = ParquetFile::create(output, columns)?;
    source.each(&mut counts, |line, counts| file.add(rows.read(line, counts)?))?;
    counts.bytes = file.finish()?;
    Ok(counts)
}

/// A file while rows are added. Without rows it is a table that has its columns.
pub(super) struct ParquetFile {
    writer: SerializedFileWriter<Output>,
    path: PathBuf,
    columns: TextColumns,
    group: Vec<ExportRow>,
    group_bytes: usize,
    group_limit: usize,
}

impl ParquetFile {
    pub(super) fn create(output: Output, columns: TextColumns) -> Result<Self> {
        let path = output.path().to_owned();
        let error = |error: ParquetError| ExportError::Write { path: path.clone(), source: io_error(error) };
        let schema = parquet_schema::of(columns).map_err(error)?;
        let writer = SerializedFileWriter::new(output, Arc::new(schema), Arc::new(properties())).map_err(error)?;
        Ok(Self { writer, path, columns, group: Vec::new(), group_bytes: 0, group_limit: GROUP_BYTES })
    }

    /// Closes row groups when they have so many bytes in memory, if that is sooner.
    pub(super) fn with_groups_of(self, bytes: usize) -> Self {
        Self { group_limit: self.group_limit.min(bytes), ..self }
    }

    pub(super) fn add(&mut self, row: ExportRow) -> Result<()> {
        self.group_bytes += weight(&row);
        self.group.push(row);
        if self.group_bytes >= self.group_limit { self.write_group() } else { Ok(()) }
    }

    /// Returns the bytes written; the open row group is not among them.
    pub(super) fn bytes(&self) -> u64 {
        self.writer.bytes_written() as u64
    }

    /// Writes what is left, gives the file its name and returns its length.
    pub(super) fn finish(mut self) -> Result<u64> {
        if !self.group.is_empty() {
            self.write_group()?;
        }
        let path = self.path;
        let output = self.writer.into_inner();
        output.map_err(|error| ExportError::Write { path, source: io_error(error) })?.finish()
    }

    fn write_group(&mut self) -> Result<()> {
        self.group_bytes = 0;
        write_group(&mut self.writer, std::mem::take(&mut self.group), self.columns)
            .map_err(|error| ExportError::Write { path: self.path.clone(), source: io_error(error) })
    }
}

fn properties() -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(concat!("ndcrawl ", env!("CARGO_PKG_VERSION")).to_owned());
    for column in UNIQUE {
        properties = properties.set_column_dictionary_enabled(ColumnPath::from(column), false);
    }
    for column in LONG {
        properties = properties.set_column_statistics_enabled(ColumnPath::from(column), EnabledStatistics::None);
    }
    properties.build()
}

/// Returns the approximate size of a row in memory.
fn weight(row: &ExportRow) -> usize {
    let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let more = [&row.full_text, &row.markdown, &row.html].into_iter().flatten();
    size_of::<ExportRow>() + 512 + length(&row.text) + more.map(length).sum::<usize>()
}

/// Writes the columns in the order of the schema.
fn write_group(
    writer: &mut SerializedFileWriter<Output>,
    rows: Vec<ExportRow>,
    texts: TextColumns,
) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    let mut columns = Columns { group: &mut group, rows };
    columns.required::<ByteArrayType>(|row| text(std::mem::take(&mut row.url)))?;
    columns.text(|row| row.id.take())?;
    if texts.record_id {
        columns.text(|row| row.record_id.take().flatten())?;
    }
    columns.text(|row| row.file.take())?;
    columns.optional::<Int64Type>(|row| row.line.map(whole))?;
    columns.text(|row| row.final_url.take())?;
    columns.optional::<Int64Type>(|row| row.fetched_at.as_deref().and_then(millis))?;
    columns.optional::<Int32Type>(|row| row.status.map(i32::from))?;
    columns.text(|row| row.media_type.take())?;
    columns.text(|row| row.charset.take())?;
    columns.text(|row| row.charset_declared.take())?;
    columns.text(|row| row.lang.take())?;
    columns.text(|row| row.lang_detected.take())?;
    columns.optional::<DoubleType>(|row| row.lang_confidence)?;
    columns.text(|row| row.title.take())?;
    columns.text(|row| row.license.take())?;
    columns.list(|row| std::mem::take(&mut row.robots))?;
    columns
        .required::<ByteArrayType>(|row| text(serde_json::json!(std::mem::take(&mut row.preferences)).to_string()))?;
    columns.text(|row| row.text.take())?;
    if texts.has_full_text() {
        columns.text(|row| row.full_text.take().flatten())?;
    }
    if texts.markdown {
        columns.text(|row| row.markdown.take().flatten())?;
    }
    if texts.html {
        columns.text(|row| row.html.take().flatten())?;
    }
    columns.required::<ByteArrayType>(|row| text(row.outcome.name().to_owned()))?;
    columns.text(|row| row.duplicate_of.take())?;
    columns.optional::<DoubleType>(|row| row.score)?;
    columns.text(|row| row.detector.take())?;
    columns.text(|row| row.decided_by.take())?;
    columns.text(|row| row.cluster.take())?;
    columns.optional::<Int64Type>(|row| row.copies.map(whole))?;
    columns.optional::<Int64Type>(|row| row.copy_hosts.map(whole))?;
    columns.optional::<Int64Type>(|row| row.first_seen.as_deref().and_then(millis))?;
    columns.text(|row| row.digest.take())?;
    columns.text(|row| row.text_digest.take())?;
    columns.optional::<Int64Type>(|row| row.bytes.map(whole))?;
    columns.required::<BoolType>(|row| row.truncated)?;
    columns.origin(|origin| origin.who.take())?;
    columns.origin(|origin| origin.who_from.map(str::to_owned))?;
    columns.origin(|origin| origin.when.take())?;
    columns.origin(|origin| origin.when_from.map(str::to_owned))?;
    columns.origin(|origin| origin.place.take())?;
    columns.origin(|origin| origin.why.take())?;
    columns.origin(|origin| origin.why_from.map(str::to_owned))?;
    columns.origin(|origin| origin.how.take())?;
    columns.origin(|origin| origin.markup.map(str::to_owned))?;
    columns.text(|row| row.warc_file.take())?;
    columns.optional::<Int64Type>(|row| row.warc_offset.map(whole))?;
    columns.text(|row| row.columns.take().map(|columns| serde_json::Value::Object(columns).to_string()))?;
    group.close().map(drop)
}

/// Writes the columns one after the other. It moves values out of the rows, so none is held twice.
struct Columns<'a, 'b> {
    group: &'a mut SerializedRowGroupWriter<'b, Output>,
    rows: Vec<ExportRow>,
}

impl Columns<'_, '_> {
    fn required<T: DataType>(&mut self, value: impl Fn(&mut ExportRow) -> T::T) -> Result<(), ParquetError> {
        let values: Vec<T::T> = self.rows.iter_mut().map(value).collect();
        self.write::<T>(&values, None)
    }

    fn optional<T: DataType>(&mut self, value: impl Fn(&mut ExportRow) -> Option<T::T>) -> Result<(), ParquetError> {
        let found: Vec<Option<T::T>> = self.rows.iter_mut().map(value).collect();
        let levels: Vec<i16> = found.iter().map(|value| i16::from(value.is_some())).collect();
        let values: Vec<T::T> = found.into_iter().flatten().collect();
        self.write::<T>(&values, Some(&levels))
    }

    fn text(&mut self, value: impl Fn(&mut ExportRow) -> Option<String>) -> Result<(), ParquetError> {
        self.optional::<ByteArrayType>(|row| value(row).map(text))
    }

    /// Writes a list of texts, which may be empty.
    fn list(&mut self, value: impl Fn(&mut ExportRow) -> Vec<String>) -> Result<(), ParquetError> {
        let (mut values, mut levels, mut repeats) = (Vec::new(), Vec::new(), Vec::new());
        for row in &mut self.rows {
            let found = value(row);
            // An empty list has one entry, without a value.
            levels.extend(std::iter::repeat_n(i16::from(!found.is_empty()), found.len().max(1)));
            repeats.extend((0..found.len().max(1)).map(|at| i16::from(at > 0)));
            values.extend(found.into_iter().map(text));
        }
        self.write_levels::<ByteArrayType>(&values, Some(&levels), Some(&repeats))
    }

    /// Writes a field of the provenance group, which is optional as a whole.
    fn origin(&mut self, value: impl Fn(&mut ProvenanceFields) -> Option<String>) -> Result<(), ParquetError> {
        let mut levels = Vec::with_capacity(self.rows.len());
        let mut values = Vec::new();
        for row in &mut self.rows {
            let found = row.provenance.as_mut().map(&value);
            levels.push(found.as_ref().map_or(0, |found| 1 + i16::from(found.is_some())));
            values.extend(found.flatten().map(text));
        }
        self.write::<ByteArrayType>(&values, Some(&levels))
    }

    fn write<T: DataType>(&mut self, values: &[T::T], levels: Option<&[i16]>) -> Result<(), ParquetError> {
        self.write_levels::<T>(values, levels, None)
    }

    fn write_levels<T: DataType>(
        &mut self,
        values: &[T::T],
        levels: Option<&[i16]>,
        repeats: Option<&[i16]>,
    ) -> Result<(), ParquetError> {
        let column = self.group.next_column()?;
        let mut column = column.ok_or_else(|| ParquetError::General("more columns than the schema has".to_owned()))?;
        column.typed::<T>().write_batch(values, levels, repeats)?;
        column.close()
    }
}

fn text(text: String) -> ByteArray {
    ByteArray::from(text.into_bytes())
}

/// Converts a length or offset, which is far below the limit.
fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn millis(time: &str) -> Option<i64> {
    time.parse::<Timestamp>().ok().map(Timestamp::as_millisecond)
}

/// Returns the I/O error inside a Parquet error, if any.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(inner) => *inner,
            Err(inner) => io::Error::other(inner),
        },
        other => io::Error::other(other),
    }
}
