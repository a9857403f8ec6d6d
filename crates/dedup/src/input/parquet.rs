//! Parquet files: one row for each document.
//!
//! Only the columns of URL, id, source, text and time are read, a few rows at a time. So memory depends on the data pages
//! of the format, not on its row groups. A Parquet file has its directory at its end, so a stream cannot be read.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::record::reader::{ReaderIter, TreeBuilder};
use parquet::schema::types::{SchemaDescriptor, Type};
use serde_json::Value;

use super::field_path::{FieldPath, text_of};
use super::parquet_columns::{FoundColumn, OpenColumn, ParquetCell, Wanted};
use super::row::{InputRow, RawRow, RowFields, RowPlace, joined};
use super::{InputDamage, InputDocument, InputItem, Items, Options, damaged};

/// The first bytes of a file.
pub(super) const MAGIC: &[u8] = b"PAR1";
/// Rows that are read at a time.
const ROWS: usize = 32;

/// Returns whether a file begins like Parquet.
pub(super) fn is_parquet(path: &Path) -> io::Result<bool> {
    use std::io::Read;
    let mut begins = Vec::new();
    File::open(path)?.take(MAGIC.len() as u64).read_to_end(&mut begins)?;
    Ok(begins == MAGIC)
}

/// Reads the pages of a file in order. Counts bytes read in `bytes`, by row groups.
/// `place` is the name of the file in messages.
pub(super) fn rows<'a>(path: &Path, place: &str, options: &'a Options, bytes: &'a AtomicU64) -> Items<'a> {
    match Table::open(path, place, options, bytes) {
        Ok(table) => Box::new(table),
        Err(why) => damaged(place, &why),
    }
}

/// A file that is being read.
struct Table<'a> {
    file: Arc<str>,
    options: &'a Options,
    fields: RowFields,
    bytes: &'a AtomicU64,
    reader: SerializedFileReader<File>,
    columns: Columns,
    /// The columns that are carried through, if there are any.
    kept: Option<Arc<SchemaDescriptor>>,
    /// The file, if the rows are wanted as they are.
    own: Option<Arc<File>>,
    /// The next row group.
    group: usize,
    /// Rows that were read.
    row: u64,
    open: Option<Group>,
    ready: std::vec::IntoIter<InputItem>,
}

/// The columns that are read.
#[derive(Clone, Debug)]
struct Columns {
    /// URL, id, source, time, and the texts.
    found: Vec<Option<FoundColumn>>,
    /// Whether a text is found in the row as a whole: its path goes into a list.
    in_lists: Vec<bool>,
}

/// A reader of one row group.
struct Group {
    /// URL, id, source, time, and the texts.
    columns: Vec<Option<OpenColumn>>,
    kept: Option<ReaderIter>,
    /// Rows that are left.
    rows: usize,
}

/// The cells of one row: URL, id, source, time, and the texts; and what is carried through.
type Cells = (Vec<Option<ParquetCell>>, Option<Value>);

impl<'a> Table<'a> {
    fn open(path: &Path, place: &str, options: &'a Options, bytes: &'a AtomicU64) -> Result<Self, ParquetError> {
        let file = File::open(path)?;
        let own = options.keeps_rows.then(|| File::open(path).map(Arc::new)).transpose()?;
        let reader = unharmed(|| SerializedFileReader::new(file))?;
        let fields = RowFields::new(options);
        let schema = reader.metadata().file_metadata().schema_descr();
        let columns = Columns::find(schema, &fields, options)?;
        let kept = kept_schema(schema, &fields, &columns)?;
        let names: Vec<&str> = schema.root_schema().get_fields().iter().map(|field| field.name()).collect();
        options.seen.tell(names.iter().copied());
        for field in fields.all() {
            if [&field.plain, &field.steps[0]].iter().any(|name| names.contains(&name.as_str())) {
                options.seen.see(&field.plain);
            }
        }
        Ok(Self {
            file: place.into(),
            options,
            fields,
            bytes,
            reader,
            columns,
            kept,
            own,
            group: 0,
            row: 0,
            open: None,
            ready: Vec::new().into_iter(),
        })
    }

    /// Reads the next rows; none at the end.
    fn read(&mut self) -> Result<Vec<InputItem>, ParquetError> {
        loop {
            if let Some(group) = &mut self.open {
                let rows = group.read()?;
                if !rows.is_empty() {
                    return Ok(rows.into_iter().map(|row| self.item(row)).collect());
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
            self.open = Some(Group::open(&*group, &self.columns, self.kept.clone())?);
        }
    }

    fn item(&mut self, cells: Cells) -> InputItem {
        self.row += 1;
        match self.document(cells) {
            Ok(document) => InputItem::Answer(Box::new(document)),
            Err(why) => InputItem::Damaged(self.damage(why)),
        }
    }

    fn document(&self, (cells, kept): Cells) -> Result<InputDocument, String> {
        let [url, id, html, fetched_at, texts @ ..] = &cells[..] else { return Err("no columns".to_owned()) };
        let text = |at: usize| match self.columns.in_lists[at] {
            true => kept.as_ref().and_then(|row| text_of(&self.fields.texts[at].find(row)?)).map(Cow::Owned),
            false => texts[at].as_ref().and_then(ParquetCell::bytes).map(lossy),
        };
        let name = |cell: &Option<ParquetCell>| cell.as_ref().and_then(ParquetCell::name).map(Cow::Owned);
        let row = InputRow {
            url: name(url),
            id: name(id),
            html: html.as_ref().and_then(ParquetCell::bytes),
            text: joined((0..texts.len()).map(text)),
            fetched_at: fetched_at.as_ref().and_then(ParquetCell::millis),
            columns: self.fields.kept(self.fields.columns.iter().map(|field| field.find(kept.as_ref()?))),
            raw: self.own.clone().map(RawRow::Parquet),
        };
        row.document(RowPlace { file: &self.file, number: self.row }, self.options)
    }

    fn damage(&self, why: String) -> InputDamage {
        InputDamage::new(format!("{}, row {}", self.file, self.row), why)
    }
}

fn lossy(bytes: Cow<'_, [u8]>) -> Cow<'_, str> {
    match bytes {
        Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

/// Returns the part of the schema that is carried through.
fn kept_schema(
    schema: &SchemaDescriptor,
    fields: &RowFields,
    columns: &Columns,
) -> Result<Option<Arc<SchemaDescriptor>>, ParquetError> {
    let root = schema.root_schema();
    let in_lists = fields.texts.iter().zip(&columns.in_lists).filter(|(_, is_in_list)| **is_in_list);
    let names: BTreeSet<&str> = fields
        .columns
        .iter()
        .chain(in_lists.map(|(field, _)| field))
        .flat_map(|field| [Some(field.plain.as_str()), field.steps.first().map(String::as_str)])
        .flatten()
        .collect();
    let kept: Vec<_> = root.get_fields().iter().filter(|field| names.contains(field.name())).cloned().collect();
    if kept.is_empty() {
        return Ok(None);
    }
    let kept = Type::group_type_builder(root.name()).with_fields(kept).build()?;
    Ok(Some(Arc::new(SchemaDescriptor::new(Arc::new(kept)))))
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
                let why = format!("{error}; the rest of its row group is not read");
                return Some(InputItem::Damaged(InputDamage { breaks_off: true, ..self.damage(why) }));
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
    fn find(schema: &SchemaDescriptor, fields: &RowFields, options: &Options) -> Result<Self, ParquetError> {
        let find = |field: &FieldPath, wanted| FoundColumn::find(schema.columns(), field, wanted);
        let missing = |what: String| ParquetError::General(format!("no column {what}"));
        // Whoever names a column wants that one. A column that only has the usual name may be something else.
        let named = |field: &FieldPath, usual: &str, flag: &str| match find(field, Wanted::Single) {
            Ok(None) if field.plain != usual => Err(missing(format!("'{}', which {flag} names", field.plain))),
            Err(error) if field.plain != usual => Err(error),
            found => Ok(found.unwrap_or_default()),
        };
        let (url, id) = (named(&fields.url, "url", "--url-field")?, named(&fields.id, "id", "--id-field")?);
        let html = find(&fields.html, Wanted::Text);
        let mut texts: Vec<_> = fields.texts.iter().map(|field| find(field, Wanted::Text)).collect();
        let root = schema.root_schema();
        let has = |field: &FieldPath| root.get_fields().iter().any(|column| column.name() == field.steps[0]);
        let is_in_list =
            |(field, found): (&FieldPath, &_)| field.steps.len() > 1 && has(field) && !matches!(found, Ok(Some(_)));
        let in_lists: Vec<bool> = fields.texts.iter().zip(&texts).map(is_in_list).collect();
        in_lists.iter().zip(&mut texts).filter(|(is_in_list, _)| **is_in_list).for_each(|(_, found)| *found = Ok(None));
        let there = || {
            let names: Vec<&str> = root.get_fields().iter().map(|field| field.name()).collect();
            format!("; there are: {}", names.join(", "))
        };
        let has_text = in_lists.contains(&true) || texts.iter().any(|found| matches!(found, Ok(Some(_))));
        let has_html = matches!(html, Ok(Some(_)));
        let is_wanted = |field: &FieldPath, usual: &str| field.plain != usual || !(has_html || has_text);
        if let (Err(error), true) = (&html, is_wanted(&fields.html, "html")) {
            return Err(ParquetError::General(error.to_string()));
        }
        for (field, found) in fields.texts.iter().zip(&texts) {
            if let (Err(error), true) = (found, is_wanted(field, "text")) {
                return Err(ParquetError::General(error.to_string()));
            }
        }
        if !has_html && !has_text {
            let (html_field, text_field) = (&options.html_field, options.text_fields.join(","));
            return Err(missing(format!("'{html_field}' (--html-field) or '{text_field}' (--text-field){}", there())));
        }
        // A time that is no single value is not known.
        let fetched_at = find(&fields.fetched_at, Wanted::Single).unwrap_or_default();
        let found = [url, id, html.unwrap_or_default(), fetched_at].into_iter();
        let found = found.chain(texts.into_iter().map(Result::unwrap_or_default)).collect();
        Ok(Self { found, in_lists })
    }
}

impl Group {
    fn open(
        group: &dyn RowGroupReader,
        columns: &Columns,
        kept: Option<Arc<SchemaDescriptor>>,
    ) -> Result<Self, ParquetError> {
        let open = |column: Option<FoundColumn>| column.map(|found| OpenColumn::open(group, found)).transpose();
        Ok(Self {
            columns: columns.found.iter().map(|found| open(*found)).collect::<Result<_, _>>()?,
            kept: kept.map(|schema| TreeBuilder::new().as_iter(schema, group)).transpose()?,
            rows: usize::try_from(group.metadata().num_rows()).unwrap_or_default(),
        })
    }

    /// Reads the next rows; none at the end.
    fn read(&mut self) -> Result<Vec<Cells>, ParquetError> {
        let rows = self.rows.min(ROWS);
        self.rows -= rows;
        let mut columns = Vec::with_capacity(self.columns.len());
        for column in &mut self.columns {
            let cells = column.as_mut().map_or_else(|| Ok(vec![None; rows]), |column| column.read(rows))?;
            if cells.len() != rows {
                return Err(ParquetError::General("its columns differ in length".to_owned()));
            }
            columns.push(cells.into_iter());
        }
        let mut found = Vec::with_capacity(rows);
        for _ in 0..rows {
            let cells = columns.iter_mut().map(|column| column.next().flatten()).collect();
            let kept = self.kept.as_mut().and_then(Iterator::next).transpose()?;
            found.push((cells, kept.map(|row| row.to_json_value())));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use parquet::basic::Compression;
    use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type, Int96, Int96Type};
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
        rows(&path, "input", &options(), &AtomicU64::new(0)).collect()
    }

    #[test]
    fn rows_of_all_groups_are_pages_by_their_source_or_else_by_their_text() {
        let items = read(&file(100));
        assert_eq!(items.len(), 200);
        for (number, item) in items.iter().enumerate() {
            let InputItem::Answer(document) = item else { panic!("{item:?}") };
            let page = &document.fetched;
            let (media_type, body) = match number % 3 {
                0 => ("text/html", format!("<p>{number}")),
                _ => ("text/plain", format!("n {number}")),
            };
            assert_eq!(page.url.as_str(), format!("http://a.test/{number}"));
            assert_eq!((page.media_type().as_str(), page.body.as_slice()), (media_type, body.as_bytes()));
            assert_eq!(page.started_at, Some(number as i64 * 1000));
        }
    }

    /// The values of a column, with their definition and repetition levels.
    enum Values<'a> {
        Text(&'a [&'a str], &'a [i16], &'a [i16]),
        Small(&'a [i32], &'a [i16]),
        Large(&'a [i64], &'a [i16]),
        Int96(&'a [Int96], &'a [i16]),
    }

    fn table(schema: &str, columns: &[Values<'_>]) -> Vec<u8> {
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let properties = WriterProperties::builder().set_compression(Compression::LZ4_RAW).build();
        let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
        let mut group = writer.next_row_group().unwrap();
        for values in columns {
            let mut column = group.next_column().unwrap().unwrap();
            match values {
                Values::Text(texts, levels, repeats) => {
                    let texts: Vec<ByteArray> = texts.iter().map(|text| text.as_bytes().to_vec().into()).collect();
                    let repeats = (!repeats.is_empty()).then_some(*repeats);
                    column.typed::<ByteArrayType>().write_batch(&texts, Some(levels), repeats).unwrap();
                }
                Values::Small(values, levels) => {
                    column.typed::<Int32Type>().write_batch(values, Some(levels), None).unwrap();
                }
                Values::Large(values, levels) => {
                    column.typed::<Int64Type>().write_batch(values, Some(levels), None).unwrap();
                }
                Values::Int96(values, levels) => {
                    column.typed::<Int96Type>().write_batch(values, Some(levels), None).unwrap();
                }
            }
            column.close().unwrap();
        }
        group.close().unwrap();
        writer.into_inner().unwrap()
    }

    fn read_with(bytes: &[u8], options: &Options) -> Vec<InputDocument> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pages.parquet");
        std::fs::write(&path, bytes).unwrap();
        let document = |item| match item {
            InputItem::Answer(document) => *document,
            other => panic!("{other:?}"),
        };
        rows(&path, "pages.parquet", options, &AtomicU64::new(0)).map(document).collect()
    }

    fn bodies(documents: &[InputDocument]) -> Vec<(String, String)> {
        let told = |document: &InputDocument| {
            let shown = document.fetched.url.shown().into_owned();
            let shown = shown.rsplit_once('/').map_or(shown.clone(), |(_, end)| end.to_owned());
            (shown, String::from_utf8_lossy(&document.fetched.body).into_owned())
        };
        documents.iter().map(told).collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(name, body)| ((*name).to_owned(), (*body).to_owned())).collect()
    }

    #[test]
    fn nested_null_and_list_columns_are_read() {
        let schema = "message page {
            OPTIONAL INT64 id;
            OPTIONAL INT32 html (UNKNOWN);
            OPTIONAL group metadata { OPTIONAL BYTE_ARRAY url (STRING); OPTIONAL INT32 length; }
            OPTIONAL group text (LIST) { REPEATED group list { OPTIONAL BYTE_ARRAY element (STRING); } }
        }";
        let file = table(
            schema,
            &[
                Values::Large(&[7, 8], &[1, 0, 1]),
                Values::Small(&[], &[0, 0, 0]),
                Values::Text(&["http://a.test/1"], &[2, 1, 0], &[]),
                Values::Small(&[5], &[2, 1, 0]),
                Values::Text(&["one", "two", "three", "four"], &[3, 3, 3, 2, 3], &[0, 1, 0, 1, 0]),
            ],
        );
        assert_eq!(
            bodies(&read_with(&file, &options())),
            pairs(&[("7", "one\ntwo"), ("pages.parquet#2", "three"), ("8", "four")])
        );
        let by_path = Options {
            url_field: "metadata.url".into(),
            keep_columns: vec!["metadata.length".into(), "metadata".into()],
            ..options()
        };
        let documents = read_with(&file, &by_path);
        assert_eq!(documents[0].fetched.url.as_str(), "http://a.test/1");
        let columns = documents[0].row.as_ref().unwrap().columns.clone().unwrap();
        assert_eq!(
            Value::Object(columns),
            serde_json::json!({"metadata.length": 5, "metadata": {"url": "http://a.test/1", "length": 5}})
        );
        assert_eq!(documents[0].row.as_ref().unwrap().id.as_deref(), Some("7"));
    }

    #[test]
    fn times_are_read_from_any_type_and_null_is_none() {
        let mut noon = Int96::new();
        // 2016-09-19 as a Julian day, and 12:00:00 in nanoseconds.
        let nanos = 12 * 3_600_000_000_000u64;
        noon.set_data(nanos as u32, (nanos >> 32) as u32, 2_457_651);
        let texts = |texts: &'static [&'static str]| Values::Text(texts, &[1, 1], &[]);
        for (kind, values, expected) in [
            ("INT96 fetched_at", Values::Int96(&[noon], &[1, 0]), Some(1_474_286_400_000)),
            ("INT32 fetched_at (DATE)", Values::Small(&[17_063], &[1, 0]), Some(1_474_243_200_000)),
            (
                "INT64 fetched_at (TIMESTAMP(NANOS,true))",
                Values::Large(&[1_474_305_624_000_000_000], &[1, 0]),
                Some(1_474_305_624_000),
            ),
            (
                "INT64 fetched_at (TIMESTAMP_MILLIS)",
                Values::Large(&[1_474_305_624_000], &[1, 0]),
                Some(1_474_305_624_000),
            ),
            ("INT64 fetched_at", Values::Large(&[1_474_305_624], &[1, 0]), Some(1_474_305_624_000)),
            ("INT64 fetched_at", Values::Large(&[0], &[1, 0]), None),
            ("BYTE_ARRAY fetched_at (STRING)", Values::Text(&["2016-09-19"], &[1, 0], &[]), Some(1_474_243_200_000)),
            ("BYTE_ARRAY fetched_at (STRING)", Values::Text(&["soon"], &[1, 0], &[]), None),
        ] {
            let schema = format!("message page {{ OPTIONAL BYTE_ARRAY text (STRING); OPTIONAL {kind}; }}");
            let documents = read_with(&table(&schema, &[texts(&["a", "b"]), values]), &options());
            let times: Vec<Option<i64>> = documents.iter().map(|document| document.fetched.started_at).collect();
            assert_eq!(times, [expected, None], "{kind}");
        }
    }

    #[test]
    fn a_plain_name_with_a_dot_comes_before_a_path() {
        let schema = "message page {
            OPTIONAL group a { OPTIONAL BYTE_ARRAY b (STRING); }
            OPTIONAL BYTE_ARRAY a.b (STRING);
            OPTIONAL INT32 id (UINT_32);
        }";
        let columns =
            [Values::Text(&["nested"], &[2], &[]), Values::Text(&["plain"], &[1], &[]), Values::Small(&[-1], &[1])];
        let options = Options { text_fields: vec!["a.b".into()], ..options() };
        assert_eq!(bodies(&read_with(&table(schema, &columns), &options)), pairs(&[("4294967295", "plain")]));
    }

    #[test]
    fn a_file_without_the_columns_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pages.parquet");
        std::fs::write(&path, file(3)).unwrap();
        let refused = |change: fn(&mut Options)| {
            let mut options = options();
            change(&mut options);
            let [InputItem::Damaged(damage)] =
                &rows(&path, "input", &options, &AtomicU64::new(0)).collect::<Vec<_>>()[..]
            else {
                panic!("not refused")
            };
            damage.why.clone()
        };
        assert!(refused(|options| options.url_field = "address".into()).contains("'address', which --url-field names"));
        assert!(refused(|options| options.html_field = "length".into()).contains("the column 'length' is no text"));
        let neither =
            |options: &mut Options| (options.html_field, options.text_fields) = ("a".into(), vec!["b".into()]);
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
