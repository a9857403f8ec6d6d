//! The columns of a Parquet file that make up documents.
//!
//! A column may be a field of a struct (found by its path), or a list of texts. A column of type null is like one that is
//! not there. Times are of any type that writers use: timestamp, date, INT96, number, text.

use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::reader::RowGroupReader;
use parquet::schema::types::ColumnDescriptor;

use super::date;
use super::field_path::FieldPath;

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;

/// A cell that is not null.
#[derive(Clone, Debug)]
pub(super) enum ParquetCell {
    Bytes(ByteArray),
    /// The texts of a list.
    List(Vec<ByteArray>),
    Integer(i64),
    Float(f64),
    /// Milliseconds since 1970 UTC.
    Time(i64),
    Other,
}

/// A column that was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct FoundColumn {
    place: usize,
    kind: ColumnKind,
}

/// What the values of a column mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColumnKind {
    Bytes,
    Uuid,
    Number,
    Unsigned,
    Days,
    /// Ticks since 1970, so many a second.
    Ticks(i64),
    Int96,
    Other,
}

/// What a column must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Text, or a list of texts.
    Text,
    /// A single value of any type.
    Single,
}

type Columns<'a> = &'a [std::sync::Arc<ColumnDescriptor>];

impl FoundColumn {
    /// Finds a field; `None` if there is none, or if it can hold nothing but null.
    ///
    /// # Errors
    /// If the field is not what is wanted.
    pub fn find(columns: Columns<'_>, field: &FieldPath, wanted: Wanted) -> Result<Option<Self>, ParquetError> {
        let Some(place) = Self::place(columns, field)? else { return Ok(None) };
        let column = &columns[place];
        if matches!(column.logical_type_ref(), Some(LogicalType::Unknown)) {
            return Ok(None);
        }
        let kind = kind(column);
        let is_right = match wanted {
            Wanted::Text => kind == ColumnKind::Bytes && column.max_rep_level() <= 1,
            Wanted::Single => column.max_rep_level() == 0,
        };
        let what = if wanted == Wanted::Text { "no text" } else { "no single value" };
        let refused = || ParquetError::General(format!("the column '{}' is {what}", field.plain));
        is_right.then_some(Some(Self { place, kind })).ok_or_else(refused)
    }

    /// Finds the one leaf of a field, by its plain name or else by its path.
    fn place(columns: Columns<'_>, field: &FieldPath) -> Result<Option<usize>, ParquetError> {
        for path in [std::slice::from_ref(&field.plain), &field.steps] {
            let mut places = (0..columns.len()).filter(|place| columns[*place].path().parts().starts_with(path));
            match (places.next(), places.next()) {
                (None, _) => {}
                (Some(place), None) => return Ok(Some(place)),
                _ => return Err(ParquetError::General(format!("the column '{}' has several fields", field.plain))),
            }
        }
        Ok(None)
    }
}

fn kind(column: &ColumnDescriptor) -> ColumnKind {
    let ticks = |unit: &TimeUnit| match unit {
        TimeUnit::MILLIS => 1_000,
        TimeUnit::MICROS => 1_000_000,
        TimeUnit::NANOS => 1_000_000_000,
    };
    match (column.physical_type(), column.logical_type_ref(), column.converted_type()) {
        (Physical::INT64, Some(LogicalType::Timestamp(time)), _) => ColumnKind::Ticks(ticks(&time.unit)),
        (Physical::INT64, _, ConvertedType::TIMESTAMP_MILLIS) => ColumnKind::Ticks(1_000),
        (Physical::INT64, _, ConvertedType::TIMESTAMP_MICROS) => ColumnKind::Ticks(1_000_000),
        (Physical::INT32, Some(LogicalType::Date), _) | (Physical::INT32, _, ConvertedType::DATE) => ColumnKind::Days,
        (Physical::INT32 | Physical::INT64, Some(LogicalType::Integer(int)), _) if !int.is_signed => {
            ColumnKind::Unsigned
        }
        (Physical::INT64, _, ConvertedType::UINT_64) | (Physical::INT32, _, ConvertedType::UINT_32) => {
            ColumnKind::Unsigned
        }
        (Physical::INT32 | Physical::INT64, Some(LogicalType::Decimal(_)), _) => ColumnKind::Other,
        (Physical::INT32 | Physical::INT64 | Physical::FLOAT | Physical::DOUBLE, ..) => ColumnKind::Number,
        (Physical::INT96, ..) => ColumnKind::Int96,
        (Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Uuid), _) => ColumnKind::Uuid,
        (Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Decimal(_)), _) => ColumnKind::Other,
        (Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY, ..) => ColumnKind::Bytes,
        (Physical::BOOLEAN, ..) => ColumnKind::Other,
    }
}

/// A column of one row group that is being read.
pub(super) struct OpenColumn {
    reader: ColumnReader,
    kind: ColumnKind,
    most_definition: i16,
    most_repetition: i16,
}

impl OpenColumn {
    pub fn open(group: &dyn RowGroupReader, found: FoundColumn) -> Result<Self, ParquetError> {
        let FoundColumn { place, kind } = found;
        let column = group.metadata().schema_descr().column(place);
        let (most_definition, most_repetition) = (column.max_def_level(), column.max_rep_level());
        Ok(Self { reader: group.get_column_reader(place)?, kind, most_definition, most_repetition })
    }

    /// Reads the next `rows` cells, or fewer at the end.
    pub fn read(&mut self, rows: usize) -> Result<Vec<Option<ParquetCell>>, ParquetError> {
        let levels = (self.most_definition, self.most_repetition);
        let kind = self.kind;
        let integer = |value: i64| match kind {
            ColumnKind::Days => value.checked_mul(DAY_MILLIS).map_or(ParquetCell::Other, ParquetCell::Time),
            ColumnKind::Ticks(a_second) => {
                ParquetCell::Time((i128::from(value) * 1000).div_euclid(i128::from(a_second)) as i64)
            }
            ColumnKind::Unsigned if value < 0 => {
                ParquetCell::Bytes(value.cast_unsigned().to_string().into_bytes().into())
            }
            ColumnKind::Other => ParquetCell::Other,
            _ => ParquetCell::Integer(value),
        };
        let small = |value: i32| match kind {
            ColumnKind::Unsigned => ParquetCell::Integer(i64::from(value.cast_unsigned())),
            _ => integer(i64::from(value)),
        };
        let bytes = |value: ByteArray| match kind {
            ColumnKind::Other => ParquetCell::Other,
            ColumnKind::Uuid => ParquetCell::Bytes(uuid(value.data()).into_bytes().into()),
            _ => ParquetCell::Bytes(value),
        };
        match &mut self.reader {
            ColumnReader::ByteArrayColumnReader(reader) if self.most_repetition > 0 => lists(reader, levels, rows),
            ColumnReader::ByteArrayColumnReader(reader) => cells(reader, levels, rows, bytes),
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                cells(reader, levels, rows, |value| bytes(value.into()))
            }
            ColumnReader::Int32ColumnReader(reader) => cells(reader, levels, rows, small),
            ColumnReader::Int64ColumnReader(reader) => cells(reader, levels, rows, integer),
            ColumnReader::Int96ColumnReader(reader) => {
                cells(reader, levels, rows, |value| ParquetCell::Time(value.to_millis()))
            }
            ColumnReader::FloatColumnReader(reader) => {
                cells(reader, levels, rows, |value| ParquetCell::Float(f64::from(value)))
            }
            ColumnReader::DoubleColumnReader(reader) => cells(reader, levels, rows, ParquetCell::Float),
            ColumnReader::BoolColumnReader(reader) => cells(reader, levels, rows, |_| ParquetCell::Other),
        }
    }
}

/// Definition levels, repetition levels and values.
type Read<T> = (Vec<i16>, Vec<i16>, Vec<T>);

fn read<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    (definition, repetition): (i16, i16),
    rows: usize,
) -> Result<Read<T::T>, ParquetError> {
    let (mut definitions, mut repetitions, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let mut done = 0;
    while done < rows {
        let defined = (definition > 0).then_some(&mut definitions);
        let repeated = (repetition > 0).then_some(&mut repetitions);
        let (read, ..) = reader.read_records(rows - done, defined, repeated, &mut values)?;
        if read == 0 {
            break;
        }
        done += read;
    }
    Ok((definitions, repetitions, values))
}

/// Reads single values.
fn cells<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    levels: (i16, i16),
    rows: usize,
    cell: impl Fn(T::T) -> ParquetCell,
) -> Result<Vec<Option<ParquetCell>>, ParquetError> {
    let (definitions, _, values) = read(reader, levels, rows)?;
    let mut values = values.into_iter().map(cell);
    if levels.0 == 0 {
        return Ok(values.map(Some).collect());
    }
    Ok(definitions.into_iter().map(|level| if level == levels.0 { values.next() } else { None }).collect())
}

/// Reads lists.
fn lists(
    reader: &mut ColumnReaderImpl<parquet::data_type::ByteArrayType>,
    levels: (i16, i16),
    rows: usize,
) -> Result<Vec<Option<ParquetCell>>, ParquetError> {
    let (definitions, repetitions, values) = read(reader, levels, rows)?;
    let mut values = values.into_iter();
    let mut lists: Vec<Vec<ByteArray>> = Vec::new();
    for (at, repetition) in repetitions.iter().enumerate() {
        if *repetition == 0 {
            lists.push(Vec::new());
        }
        let is_there = definitions.get(at).is_none_or(|level| *level == levels.0);
        if let (Some(list), true) = (lists.last_mut(), is_there) {
            list.extend(values.next());
        }
    }
    Ok(lists.into_iter().map(|list| (!list.is_empty()).then_some(ParquetCell::List(list))).collect())
}

fn uuid(bytes: &[u8]) -> String {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    match hex.len() {
        32 => format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]),
        _ => hex,
    }
}

impl ParquetCell {
    /// Returns the value as a name: a text or number.
    pub fn name(&self) -> Option<String> {
        match self {
            Self::Bytes(bytes) => Some(String::from_utf8_lossy(bytes.data()).into_owned()),
            Self::Integer(number) => Some(number.to_string()),
            Self::Float(number) => Some(number.to_string()),
            Self::List(_) | Self::Time(_) | Self::Other => None,
        }
    }

    /// Returns the bytes of a text. The texts of a list stand on lines of their own.
    pub fn bytes(&self) -> Option<std::borrow::Cow<'_, [u8]>> {
        match self {
            Self::Bytes(bytes) => Some(bytes.data().into()),
            Self::List(texts) => {
                let texts: Vec<&[u8]> = texts.iter().map(ByteArray::data).collect();
                Some(texts.join(&b'\n').into())
            }
            _ => None,
        }
    }

    /// Returns the value as a time, in milliseconds since 1970.
    pub fn millis(&self) -> Option<i64> {
        match self {
            Self::Time(millis) => jiff::Timestamp::from_millisecond(*millis).is_ok().then_some(*millis),
            Self::Integer(number) => date::from_number(*number as f64),
            Self::Float(number) => date::from_number(*number),
            Self::Bytes(bytes) => date::millis(std::str::from_utf8(bytes.data()).ok()?),
            Self::List(_) | Self::Other => None,
        }
    }
}
