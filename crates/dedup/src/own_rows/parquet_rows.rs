//! Rows of Parquet. Columns are copied one by one with their levels, so that every type comes through as it is.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnDescriptor, Type, TypePtr};

use super::text_rows::repeated;
use super::{COLUMNS, OwnRowsError, RawRow, RowFile, RowSink, RowVerdict, mixed};

/// A table of Parquet.
pub(super) struct ParquetRows {
    file: Option<RowFile>,
    writer: Option<SerializedFileWriter<RowFile>>,
    schema: Option<TypePtr>,
    path: PathBuf,
    is_marked: bool,
    written: u64,
    /// The file whose rows come, and their verdicts so far.
    current: Option<(Arc<File>, Vec<Option<RowVerdict>>)>,
}

/// What is written of a row group: which rows, and their verdicts if they are marked.
struct Chosen<'a> {
    rows: &'a [Option<RowVerdict>],
    is_marked: bool,
}

impl Chosen<'_> {
    fn has(&self, row: usize) -> bool {
        self.is_marked || self.rows.get(row).and_then(Option::as_ref).is_some_and(RowVerdict::is_kept)
    }
}

impl ParquetRows {
    pub fn new(file: RowFile, path: PathBuf, is_marked: bool) -> Self {
        Self { file: Some(file), writer: None, schema: None, path, is_marked, written: 0, current: None }
    }

    fn error(&self, error: ParquetError) -> OwnRowsError {
        OwnRowsError::File { path: self.path.clone(), source: std::io::Error::other(error) }
    }

    /// Copies the rows of the file whose verdicts are known.
    fn copy(&mut self) -> Result<(), OwnRowsError> {
        let Some((file, verdicts)) = self.current.take() else { return Ok(()) };
        let file = file.try_clone().map_err(|source| OwnRowsError::File { path: self.path.clone(), source })?;
        let reader = SerializedFileReader::new(file).map_err(|error| self.error(error))?;
        let schema = reader.metadata().file_metadata().schema_descr().root_schema_ptr();
        if self.schema.as_ref().is_some_and(|first| first.get_fields() != schema.get_fields()) {
            return Err(mixed(&self.path, "tables of different columns"));
        }
        if let Some(output) = self.file.take() {
            self.writer = Some(self.open(output, &reader, &schema).map_err(|error| self.error(error))?);
            self.schema = Some(schema);
        }
        let mut begin = 0;
        for group in 0..reader.num_row_groups() {
            let rows = usize::try_from(reader.metadata().row_group(group).num_rows()).unwrap_or_default();
            let known = verdicts.get(begin..).unwrap_or_default();
            let chosen = Chosen { rows: &known[..known.len().min(rows)], is_marked: self.is_marked };
            begin += rows;
            let Some(writer) = &mut self.writer else { return Ok(()) };
            let copied = copy_group(&reader, group, &chosen, rows, writer);
            self.written += copied.map_err(|error| self.error(error))?;
        }
        Ok(())
    }

    fn open(
        &self,
        output: RowFile,
        reader: &SerializedFileReader<File>,
        schema: &TypePtr,
    ) -> Result<SerializedFileWriter<RowFile>, ParquetError> {
        let mut fields = schema.get_fields().to_vec();
        if self.is_marked {
            fields.extend_from_slice(marks()?.get_fields());
        }
        let schema = Type::group_type_builder(schema.name()).with_fields(fields).build()?;
        let about = reader.metadata().file_metadata().key_value_metadata().cloned();
        // Arrow's own schema names the columns: with more it would be another one.
        let about = about
            .map(|pairs| pairs.into_iter().filter(|pair| !(self.is_marked && pair.key == "ARROW:schema")).collect());
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_key_value_metadata(about)
            .build();
        SerializedFileWriter::new(output, Arc::new(schema), Arc::new(properties))
    }
}

fn marks() -> Result<Type, ParquetError> {
    let [outcome, of, score, loses, copies] = COLUMNS;
    parse_message_type(&format!(
        "message marks {{ OPTIONAL BYTE_ARRAY {outcome} (STRING); OPTIONAL BYTE_ARRAY {of} (STRING); OPTIONAL DOUBLE {score}; \
         OPTIONAL INT64 {loses}; OPTIONAL INT64 {copies}; }}"
    ))
}

impl RowSink for ParquetRows {
    fn add(&mut self, row: RawRow, number: u64, verdict: Option<&RowVerdict>) -> Result<(), OwnRowsError> {
        let RawRow::Parquet(file) = row else { return Err(mixed(&self.path, "Parquet and other rows")) };
        if !self.current.as_ref().is_some_and(|(current, _)| Arc::ptr_eq(current, &file)) {
            self.copy()?;
            self.current = Some((file, Vec::new()));
        }
        if let Some((_, verdicts)) = &mut self.current {
            let at = usize::try_from(number).unwrap_or(usize::MAX);
            verdicts.resize(verdicts.len().max(at), None);
            verdicts[at - 1] = Some(verdict.cloned().unwrap_or_else(repeated));
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<u64, OwnRowsError> {
        self.copy()?;
        let mut output = match self.writer.take().map(SerializedFileWriter::into_inner) {
            Some(Ok(output)) => output,
            Some(Err(error)) => return Err(self.error(error)),
            None => return Ok(self.written),
        };
        output.flush().map_err(|source| OwnRowsError::File { path: self.path.clone(), source })?;
        Ok(self.written)
    }
}

/// Copies the chosen rows of a row group. Returns how many there are.
fn copy_group(
    reader: &SerializedFileReader<File>,
    number: usize,
    chosen: &Chosen<'_>,
    rows: usize,
    writer: &mut SerializedFileWriter<RowFile>,
) -> Result<u64, ParquetError> {
    let count = (0..rows).filter(|row| chosen.has(*row)).count();
    if count == 0 {
        return Ok(0);
    }
    let group = reader.get_row_group(number)?;
    let mut output = writer.next_row_group()?;
    let schema = group.metadata().schema_descr();
    for at in 0..schema.num_columns() {
        let column = schema.column(at);
        match group.get_column_reader(at)? {
            ColumnReader::BoolColumnReader(reader) => copy_column(reader, &column, chosen, rows, &mut output)?,
            ColumnReader::Int32ColumnReader(reader) => copy_column(reader, &column, chosen, rows, &mut output)?,
            ColumnReader::Int64ColumnReader(reader) => copy_column(reader, &column, chosen, rows, &mut output)?,
            ColumnReader::Int96ColumnReader(reader) => copy_column(reader, &column, chosen, rows, &mut output)?,
            ColumnReader::FloatColumnReader(reader) => copy_column(reader, &column, chosen, rows, &mut output)?,
            ColumnReader::DoubleColumnReader(reader) => copy_column(reader, &column, chosen, rows, &mut output)?,
            ColumnReader::ByteArrayColumnReader(reader) => copy_column(reader, &column, chosen, rows, &mut output)?,
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                copy_column(reader, &column, chosen, rows, &mut output)?;
            }
        }
    }
    if chosen.is_marked {
        write_marks(chosen, rows, &mut output)?;
    }
    output.close()?;
    Ok(count as u64)
}

fn copy_column<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    column: &ColumnDescriptor,
    chosen: &Chosen<'_>,
    rows: usize,
    output: &mut SerializedRowGroupWriter<'_, RowFile>,
) -> Result<(), ParquetError> {
    let (most_definition, most_repetition) = (column.max_def_level(), column.max_rep_level());
    let (mut definitions, mut repetitions, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let mut done = 0;
    while done < rows {
        let defined = (most_definition > 0).then_some(&mut definitions);
        let repeated = (most_repetition > 0).then_some(&mut repetitions);
        let (read, ..) = reader.read_records(rows - done, defined, repeated, &mut values)?;
        if read == 0 {
            return Err(ParquetError::General("its columns differ in length".to_owned()));
        }
        done += read;
    }
    let levels = if most_definition > 0 { definitions.len() } else { values.len() };
    let (mut kept_definitions, mut kept_repetitions, mut kept) = (Vec::new(), Vec::new(), Vec::new());
    let (mut row, mut values) = (0usize, values.into_iter());
    for level in 0..levels {
        let repetition = repetitions.get(level).copied().unwrap_or(0);
        row += usize::from(repetition == 0 && level > 0);
        let definition = definitions.get(level).copied().unwrap_or(most_definition);
        let value = if definition == most_definition { values.next() } else { None };
        if chosen.has(row) {
            kept_definitions.push(definition);
            kept_repetitions.push(repetition);
            kept.extend(value);
        }
    }
    write(
        output,
        &kept,
        (most_definition > 0).then_some(&kept_definitions[..]),
        (most_repetition > 0).then_some(&kept_repetitions[..]),
        std::marker::PhantomData::<T>,
    )
}

fn write_marks(
    chosen: &Chosen<'_>,
    rows: usize,
    output: &mut SerializedRowGroupWriter<'_, RowFile>,
) -> Result<(), ParquetError> {
    let verdict = |row: usize| chosen.rows.get(row).and_then(Option::as_ref);
    let text = |text: String| ByteArray::from(text.into_bytes());
    let mut marks = Marks { rows: (0..rows).map(verdict).collect(), output };
    marks.write::<ByteArrayType>(|verdict| Some(text(verdict.outcome.to_owned())))?;
    marks.write::<ByteArrayType>(|verdict| verdict.of.clone().map(text))?;
    marks.write::<DoubleType>(|verdict| verdict.score)?;
    marks.write::<Int64Type>(|verdict| verdict.loses)?;
    marks.write::<Int64Type>(|verdict| verdict.copies)
}

/// Writes columns of verdicts.
struct Marks<'a, 'b> {
    rows: Vec<Option<&'a RowVerdict>>,
    output: &'a mut SerializedRowGroupWriter<'b, RowFile>,
}

impl Marks<'_, '_> {
    fn write<T: DataType>(&mut self, value: impl Fn(&RowVerdict) -> Option<T::T>) -> Result<(), ParquetError> {
        let column: Vec<Option<T::T>> = self.rows.iter().map(|row| row.and_then(&value)).collect();
        let levels: Vec<i16> = column.iter().map(|value| i16::from(value.is_some())).collect();
        let values: Vec<T::T> = column.into_iter().flatten().collect();
        write(self.output, &values, Some(&levels), None, std::marker::PhantomData::<T>)
    }
}

fn write<T: DataType>(
    output: &mut SerializedRowGroupWriter<'_, RowFile>,
    values: &[T::T],
    definitions: Option<&[i16]>,
    repetitions: Option<&[i16]>,
    _: std::marker::PhantomData<T>,
) -> Result<(), ParquetError> {
    let column = output.next_column()?;
    let mut column = column.ok_or_else(|| ParquetError::General("more columns than the schema has".to_owned()))?;
    column.typed::<T>().write_batch(values, definitions, repetitions)?;
    column.close()
}
