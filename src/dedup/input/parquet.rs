//! Parquet files: one row for each page.
//!
//! Only the columns of URL, source, text and time are read, a few rows at a time. So memory depends on the data pages of
//! the format, not on its row groups. A Parquet file has its directory at its end, so a stream cannot be read.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use parquet::basic::{LogicalType, TimeUnit, Type as Physical};
use parquet::column::reader::{ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::schema::types::ColumnDescriptor;

use super::row::InputRow;
use super::{InputDamage, InputItem, Items, Options};

/// The first bytes of a file.
pub(super) const MAGIC: &[u8] = b"PAR1";
/// Rows that are read at a time.
const ROWS: usize = 32;
/// The column with the fetch time in our own exports.
const FETCHED_AT: &str = "fetched_at";

/// Returns whether a file begins like Parquet.
pub(super) fn is_parquet(path: &Path) -> io::Result<bool> {
    use std::io::Read;
    let mut begins = Vec::new();
    File::open(path)?.take(MAGIC.len() as u64).read_to_end(&mut begins)?;
    Ok(begins == MAGIC)
}

/// Reads the pages of a file in order. Counts bytes read in `bytes`, by row groups.
pub(super) fn rows<'a>(path: &'a Path, options: &'a Options, bytes: &'a AtomicU64) -> Items<'a> {
    match Table::open(path, options, bytes) {
        Ok(table) => Box::new(table),
        Err(why) => Box::new(std::iter::once(InputItem::Damaged(InputDamage {
            place: path.display().to_string(),
            why: why.to_string(),
        }))),
    }
}

/// A file that is being read.
struct Table<'a> {
    place: String,
    options: &'a Options,
    bytes: &'a AtomicU64,
    reader: SerializedFileReader<File>,
    columns: Columns,
    /// The next row group.
    group: usize,
    /// Rows of the row groups before it.
    row: u64,
    open: Option<Group>,
    ready: std::vec::IntoIter<InputItem>,
}

/// The columns that are read.
#[derive(Clone, Copy, Debug)]
struct Columns {
    url: usize,
    html: Option<usize>,
    text: Option<usize>,
    /// And how many of its units are a second.
    fetched_at: Option<(usize, i64)>,
}

/// A reader of one row group.
struct Group {
    url: Column<ByteArrayType>,
    html: Option<Column<ByteArrayType>>,
    text: Option<Column<ByteArrayType>>,
    fetched_at: Option<(Column<Int64Type>, i64)>,
}

struct Column<T: DataType> {
    reader: ColumnReaderImpl<T>,
    is_optional: bool,
}

impl<'a> Table<'a> {
    fn open(path: &Path, options: &'a Options, bytes: &'a AtomicU64) -> Result<Self, ParquetError> {
        let file = File::open(path)?;
        let reader = unharmed(|| SerializedFileReader::new(file))?;
        let columns = Columns::find(reader.metadata().file_metadata().schema_descr().columns(), options)?;
        let place = path.display().to_string();
        Ok(Self { place, options, bytes, reader, columns, group: 0, row: 0, open: None, ready: Vec::new().into_iter() })
    }

    /// Reads the next rows; none at the end.
    fn read(&mut self) -> Result<Vec<InputItem>, ParquetError> {
        loop {
            if let Some(group) = &mut self.open {
                let rows = group.read()?;
                if !rows.is_empty() {
                    return Ok(rows.into_iter().map(|row| self.item(&row)).collect());
                }
                self.open = None;
            }
            if self.group == self.reader.num_row_groups() {
                return Ok(Vec::new());
            }
            self.group += 1;
            let group = self.reader.get_row_group(self.group - 1)?;
            let bytes = group.metadata().compressed_size();
            self.bytes.fetch_add(u64::try_from(bytes).unwrap_or_default(), Ordering::Relaxed);
            self.open = Some(Group::open(&*group, self.columns)?);
        }
    }

    fn item(&mut self, row: &Cells) -> InputItem {
        self.row += 1;
        let page = row.as_row().and_then(|row| row.page(self.options));
        page.map_or_else(|why| self.damaged(why), |page| InputItem::Answer(Box::new(page)))
    }

    fn damaged(&self, why: String) -> InputItem {
        InputItem::Damaged(InputDamage { place: format!("{}, row {}", self.place, self.row), why })
    }
}

impl Iterator for Table<'_> {
    type Item = InputItem;

    fn next(&mut self) -> Option<InputItem> {
        if let Some(item) = self.ready.next() {
            return Some(item);
        }
        match unharmed(|| self.read()) {
            Ok(items) => self.ready = items.into_iter(),
            Err(error) => {
                // Later row groups can still be read.
                self.open = None;
                return Some(self.damaged(format!("{error}; the rest of its row group is not read")));
            }
        }
        self.ready.next()
    }
}

/// Runs the decoder. Turns a panic into an error: the decoder panics on some damaged files. Drops its state then.
fn unharmed<T>(decode: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    let decoded = std::panic::catch_unwind(std::panic::AssertUnwindSafe(decode));
    decoded.unwrap_or_else(|_| Err(ParquetError::General("the file is damaged".to_owned())))
}

impl Columns {
    fn find(columns: &[std::sync::Arc<ColumnDescriptor>], options: &Options) -> Result<Self, ParquetError> {
        let place = |name: &str| columns.iter().position(|column| column.path().parts() == [name]);
        let text = |name: &str| -> Result<Option<usize>, ParquetError> {
            let Some(place) = place(name) else { return Ok(None) };
            let is_text = columns[place].physical_type() == Physical::BYTE_ARRAY && columns[place].max_rep_level() == 0;
            is_text
                .then_some(Some(place))
                .ok_or_else(|| ParquetError::General(format!("the column '{name}' is no text")))
        };
        let Options { url_field, html_field, text_field, .. } = options;
        let missing = |what: String| ParquetError::General(format!("no column {what}"));
        let url = text(url_field)?.ok_or_else(|| missing(format!("'{url_field}', which --url-field names")))?;
        let (html, text) = (text(html_field)?, text(text_field)?);
        if html.is_none() && text.is_none() {
            return Err(missing(format!("'{html_field}' (--html-field) or '{text_field}' (--text-field)")));
        }
        let time = |place: usize| Some((place, units_a_second(&columns[place])?));
        Ok(Self { url, html, text, fetched_at: place(FETCHED_AT).and_then(time) })
    }
}

/// Returns the unit of a column of times.
fn units_a_second(column: &ColumnDescriptor) -> Option<i64> {
    if column.physical_type() != Physical::INT64 || column.max_rep_level() > 0 {
        return None;
    }
    match column.logical_type_ref()? {
        LogicalType::Timestamp(time) => Some(match time.unit {
            TimeUnit::MILLIS => 1_000,
            TimeUnit::MICROS => 1_000_000,
            TimeUnit::NANOS => 1_000_000_000,
        }),
        _ => None,
    }
}

impl Group {
    fn open(group: &dyn RowGroupReader, columns: Columns) -> Result<Self, ParquetError> {
        let text = |place: Option<usize>| place.map(|place| Column::open(group, place)).transpose();
        let time = |(place, units)| Column::open(group, place).map(|column| (column, units));
        Ok(Self {
            url: Column::open(group, columns.url)?,
            html: text(columns.html)?,
            text: text(columns.text)?,
            fetched_at: columns.fetched_at.map(time).transpose()?,
        })
    }

    /// Reads the next rows; none at the end.
    fn read(&mut self) -> Result<Vec<Cells>, ParquetError> {
        let urls = self.url.read()?;
        let rows = urls.len();
        let mut html = cells(self.html.as_mut(), rows)?;
        let mut text = cells(self.text.as_mut(), rows)?;
        let (times, units) = match &mut self.fetched_at {
            Some((column, units)) => (cells(Some(column), rows)?, *units),
            None => (vec![None; rows], 1),
        };
        let cell = |(number, url): (usize, Option<ByteArray>)| Cells {
            url,
            html: html[number].take(),
            text: text[number].take(),
            fetched_at: times[number].map_or(0, |time| (i128::from(time) * 1000 / i128::from(units)) as i64),
        };
        Ok(urls.into_iter().enumerate().map(cell).collect())
    }
}

/// Returns one cell for each row; empty cells if there is no such column.
fn cells<T: DataType>(column: Option<&mut Column<T>>, rows: usize) -> Result<Vec<Option<T::T>>, ParquetError> {
    let Some(column) = column else { return Ok(vec![None; rows]) };
    let cells = column.read()?;
    if cells.len() == rows {
        return Ok(cells);
    }
    Err(ParquetError::General("its columns differ in length".to_owned()))
}

impl<T: DataType> Column<T> {
    fn open(group: &dyn RowGroupReader, place: usize) -> Result<Self, ParquetError> {
        let is_optional = group.metadata().schema_descr().column(place).max_def_level() > 0;
        Ok(Self { reader: get_typed_column_reader(group.get_column_reader(place)?), is_optional })
    }

    /// Reads the next [`ROWS`] cells.
    fn read(&mut self) -> Result<Vec<Option<T::T>>, ParquetError> {
        let (mut levels, mut values) = (Vec::new(), Vec::new());
        let mut rows = 0;
        while rows < ROWS {
            let levels = self.is_optional.then_some(&mut levels);
            let (read, ..) = self.reader.read_records(ROWS - rows, levels, None, &mut values)?;
            if read == 0 {
                break;
            }
            rows += read;
        }
        let mut values = values.into_iter();
        if !self.is_optional {
            return Ok(values.map(Some).collect());
        }
        Ok(levels.into_iter().map(|level| if level > 0 { values.next() } else { None }).collect())
    }
}

/// The cells of a row.
struct Cells {
    url: Option<ByteArray>,
    html: Option<ByteArray>,
    text: Option<ByteArray>,
    fetched_at: i64,
}

impl Cells {
    fn as_row(&self) -> Result<InputRow<'_>, String> {
        fn text(cell: &Option<ByteArray>) -> Result<Option<&str>, String> {
            let text = |cell| std::str::from_utf8(cell).map_err(|error| error.to_string());
            cell.as_ref().map(|cell| text(cell.data())).transpose()
        }
        Ok(InputRow {
            url: text(&self.url)?,
            html: text(&self.html)?,
            text: text(&self.text)?,
            fetched_at: self.fetched_at,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parquet::basic::Compression;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::super::files::tests::options;
    use super::*;

    const SCHEMA: &str = "message page {
        REQUIRED BYTE_ARRAY url (STRING);
        OPTIONAL INT64 length;
        OPTIONAL BYTE_ARRAY html;
        OPTIONAL BYTE_ARRAY text (STRING);
        OPTIONAL INT64 fetched_at (TIMESTAMP(MICROS,true));
    }";

    /// Two row groups of so many rows; every third row has a source, the others have a text.
    fn file(rows: usize) -> Vec<u8> {
        let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
        for group in 0..2 {
            let numbers = group * rows..(group + 1) * rows;
            let mut open = writer.next_row_group().unwrap();
            let mut texts = |levels: Option<&[i16]>, values: Vec<String>| {
                let values: Vec<ByteArray> = values.into_iter().map(|text| text.into_bytes().into()).collect();
                let mut column = open.next_column().unwrap().unwrap();
                column.typed::<ByteArrayType>().write_batch(&values, levels, None).unwrap();
                column.close().unwrap();
            };
            let has_html: Vec<i16> = numbers.clone().map(|number| i16::from(number % 3 == 0)).collect();
            let has_text: Vec<i16> = has_html.iter().map(|level| 1 - level).collect();
            texts(None, numbers.clone().map(|number| format!("http://a.test/{number}")).collect());
            let mut column = open.next_column().unwrap().unwrap();
            column.typed::<Int64Type>().write_batch(&[], Some(&vec![0; rows]), None).unwrap();
            column.close().unwrap();
            let mut texts = |levels: &[i16], values: Vec<String>| {
                let values: Vec<ByteArray> = values.into_iter().map(|text| text.into_bytes().into()).collect();
                let mut column = open.next_column().unwrap().unwrap();
                column.typed::<ByteArrayType>().write_batch(&values, Some(levels), None).unwrap();
                column.close().unwrap();
            };
            texts(
                &has_html,
                numbers.clone().filter(|number| number % 3 == 0).map(|number| format!("<p>{number}")).collect(),
            );
            texts(
                &has_text,
                numbers.clone().filter(|number| number % 3 != 0).map(|number| format!("n {number}")).collect(),
            );
            let times: Vec<i64> = numbers.map(|number| number as i64 * 1_000_000).collect();
            let mut column = open.next_column().unwrap().unwrap();
            column.typed::<Int64Type>().write_batch(&times, Some(&vec![1; rows]), None).unwrap();
            column.close().unwrap();
            open.close().unwrap();
        }
        writer.into_inner().unwrap()
    }

    fn read(bytes: &[u8]) -> Vec<InputItem> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pages.parquet");
        std::fs::write(&path, bytes).unwrap();
        assert!(is_parquet(&path).unwrap());
        rows(&path, &options(), &AtomicU64::new(0)).collect()
    }

    #[test]
    fn rows_of_all_groups_are_pages_by_their_source_or_else_by_their_text() {
        let items = read(&file(100));
        assert_eq!(items.len(), 200);
        for (number, item) in items.iter().enumerate() {
            let InputItem::Answer(page) = item else { panic!("{item:?}") };
            let (media_type, body) = match number % 3 {
                0 => ("text/html", format!("<p>{number}")),
                _ => ("text/plain", format!("n {number}")),
            };
            assert_eq!(page.url.as_str(), format!("http://a.test/{number}"));
            assert_eq!((page.media_type().as_str(), page.body.as_slice()), (media_type, body.as_bytes()));
            assert_eq!(page.started_at, number as i64 * 1000);
        }
    }

    #[test]
    fn a_file_without_the_columns_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pages.parquet");
        std::fs::write(&path, file(3)).unwrap();
        let refused = |change: fn(&mut Options)| {
            let mut options = options();
            change(&mut options);
            let [InputItem::Damaged(damage)] = &rows(&path, &options, &AtomicU64::new(0)).collect::<Vec<_>>()[..]
            else {
                panic!("not refused")
            };
            damage.why.clone()
        };
        assert!(refused(|options| options.url_field = "address".into()).contains("'address', which --url-field names"));
        assert!(refused(|options| options.html_field = "length".into()).contains("the column 'length' is no text"));
        let neither = |options: &mut Options| (options.html_field, options.text_field) = ("a".into(), "b".into());
        assert!(refused(neither).contains("--html-field"));
    }

    #[test]
    fn a_damaged_file_is_an_item_that_says_so_and_never_a_crash() {
        let whole = file(40);
        let mut damaged = 0;
        for place in 4..whole.len() {
            let mut bytes = whole.clone();
            bytes[place] ^= 1 << (place % 8);
            damaged += usize::from(read(&bytes).iter().any(|item| matches!(item, InputItem::Damaged(_))));
        }
        for end in (4..whole.len()).step_by(7) {
            assert!(matches!(read(&whole[..end])[..], [InputItem::Damaged(_)]), "cut at {end}");
        }
        assert!(damaged > whole.len() / 10, "{damaged} of {}", whole.len());
    }
}
