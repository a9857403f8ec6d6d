//! From a row of a table, or an object of JSON, to a document.

use std::borrow::Cow;
use std::sync::Arc;

use ndcrawl_model::{CanonicalUrl, Fetched};

use super::field_path::FieldPath;
use super::{InputDocument, Options, RowSource};

/// Longest id that names a document, in bytes. A document with a longer one is known by its file and line.
const MOST_ID: usize = 2048;

/// The fields that are read of each row, in this order.
#[derive(Clone, Debug)]
pub(super) struct RowFields {
    pub url: FieldPath,
    pub id: FieldPath,
    pub html: FieldPath,
    pub fetched_at: FieldPath,
    /// Those that make up the text.
    pub texts: Vec<FieldPath>,
    /// Those that are carried through.
    pub columns: Vec<FieldPath>,
}

impl RowFields {
    pub fn new(options: &Options) -> Self {
        Self {
            url: FieldPath::new(&options.url_field),
            id: FieldPath::new(&options.id_field),
            html: FieldPath::new(&options.html_field),
            fetched_at: FieldPath::new(&options.time_field),
            texts: options.text_fields.iter().map(|name| FieldPath::new(name)).collect(),
            columns: options.keep_columns.iter().map(|name| FieldPath::new(name)).collect(),
        }
    }

    pub fn all(&self) -> impl Iterator<Item = &FieldPath> {
        [&self.url, &self.id, &self.html, &self.fetched_at].into_iter().chain(&self.texts).chain(&self.columns)
    }

    /// Gives the kept columns their names.
    pub fn kept(
        &self,
        values: impl IntoIterator<Item = Option<serde_json::Value>>,
    ) -> Option<serde_json::Map<String, serde_json::Value>> {
        let named = self.columns.iter().zip(values);
        let kept = named.map(|(path, value)| (path.plain.clone(), value.unwrap_or_default()));
        (!self.columns.is_empty()).then(|| kept.collect())
    }
}

/// The cells of a row that make up a document.
#[derive(Clone, Debug, Default)]
pub(super) struct InputRow<'a> {
    pub url: Option<Cow<'a, str>>,
    pub id: Option<Cow<'a, str>>,
    /// In UTF-8, or in the encoding that the source itself declares.
    pub html: Option<Cow<'a, [u8]>>,
    pub text: Option<Cow<'a, str>>,
    /// Milliseconds since 1970, if the time is known.
    pub fetched_at: Option<i64>,
    pub columns: Option<serde_json::Map<String, serde_json::Value>>,
    /// The row as it is, if that is wanted.
    pub raw: Option<RawRow>,
}

/// A row as its file has it.
#[derive(Clone, Debug)]
pub enum RawRow {
    /// An object of JSON.
    Object {
        text: Vec<u8>,
        /// Whether it stands in an array.
        is_element: bool,
    },
    /// The cells of a table, below its names.
    Cells {
        /// The cells of the heading.
        names: Arc<[Vec<u8>]>,
        cells: Vec<Vec<u8>>,
        style: CellStyle,
    },
    /// A row of a batch of Arrow.
    Arrow(arrow_array::RecordBatch),
    /// The row of a Parquet file, which a reader of columns finds by its number.
    Parquet(Arc<std::fs::File>),
}

/// How a table with separators is written.
#[derive(Clone, Copy, Debug)]
pub struct CellStyle {
    pub separator: u8,
    /// Whether quotes stand around cells. Text between tabs often knows no quoting (`text/tab-separated-values`).
    pub is_quoted: bool,
    /// Whether lines end in CR LF.
    pub has_crlf: bool,
    /// Whether a byte order mark begins the file.
    pub has_mark: bool,
}

/// Joins the texts that are there, each on lines of its own.
pub(super) fn joined<'a>(texts: impl Iterator<Item = Option<Cow<'a, str>>>) -> Option<Cow<'a, str>> {
    texts.flatten().filter(|text| !text.is_empty()).reduce(|joined, text| joined + "\n" + text)
}

/// Where a row stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowPlace<'a> {
    pub file: &'a Arc<str>,
    /// From 1.
    pub number: u64,
}

impl InputRow<'_> {
    /// Returns the document, from its source or else from its text. An error says what is missing.
    pub fn document(self, place: RowPlace<'_>, options: &Options) -> Result<InputDocument, String> {
        let Options { html_field, .. } = options;
        let html = self.html.filter(|html| !html.is_empty());
        let text = self.text.filter(|text| !text.is_empty());
        let (content_type, body) = match (&html, &text) {
            (Some(html), _) if std::str::from_utf8(html).is_ok() => ("text/html; charset=utf-8", html.as_ref()),
            // The source declares its encoding, or it is guessed.
            (Some(html), _) => ("text/html", html.as_ref()),
            (None, Some(text)) => ("text/plain; charset=utf-8", text.as_bytes()),
            // Where rows are given back, one without text is a row, too.
            (None, None) if options.keeps_rows => ("text/plain", &[][..]),
            (None, None) => {
                let text_field = options.text_fields.join(",");
                return Err(format!("no text in '{html_field}' (--html-field) or '{text_field}' (--text-field)"));
            }
        };
        let [given, id] = [self.url, self.id].map(|cell| cell.filter(|cell| !cell.trim().is_empty()));
        let url = name(given.as_deref().or(id.as_deref()), place, options)?;
        // An address that is none is the row's own name.
        let own_name = given.filter(|_| url.file().is_some());
        let most = options.max_text;
        Ok(InputDocument {
            fetched: Fetched {
                truncated: body.len() > most,
                started_at: self.fetched_at,
                ..Fetched::of_file(url, content_type, body[..body.len().min(most)].to_vec())
            },
            row: Some(RowSource {
                file: place.file.clone(),
                number: place.number,
                id: id.or(own_name).map(Cow::into_owned),
                columns: self.columns.map(|columns| with_path(columns, place.file, options)),
            }),
            record_id: None,
            is_digest_other: false,
            record: None,
            raw: self.raw,
            is_own: true,
        })
    }
}

/// Takes columns that a row does not have from the path of its file: `lang=de/year=2024/part-0.parquet`.
fn with_path(
    mut columns: serde_json::Map<String, serde_json::Value>,
    file: &str,
    options: &Options,
) -> serde_json::Map<String, serde_json::Value> {
    if !file.contains('=') {
        return columns;
    }
    for part in file.split('/').rev().skip(1) {
        let Some((name, value)) = part.split_once('=') else { continue };
        if let Some(column) = columns.get_mut(name) {
            options.seen.see(name);
            if column.is_null() && value != "__HIVE_DEFAULT_PARTITION__" {
                *column = percent_decoded(value).into();
            }
        }
    }
    columns
}

/// Undoes what writers escape in the names of folders.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let digits = behind.get(..2).filter(|_| first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => {
                bytes.push(first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Names a document: by its URL, by its id as given, or by its place.
fn name(given: Option<&str>, place: RowPlace<'_>, options: &Options) -> Result<CanonicalUrl, String> {
    let by_place = || {
        let named = CanonicalUrl::of_row_number(place.file, place.number);
        named.ok_or_else(|| "its file has no name".to_owned())
    };
    let Some(given) = given else { return by_place() };
    // A URL that is only too long is still a URL: no id may look like one.
    let spelt = || CanonicalUrl::from_canonical(given).ok().filter(|url| url.file().is_none());
    if let Some(url) = options.normalizer.absolute(given).ok().or_else(spelt) {
        return Ok(url);
    }
    if given.len() > MOST_ID || given == format!("{}#{}", place.file, place.number) {
        return by_place();
    }
    CanonicalUrl::of_row_id(place.file, given).map_or_else(by_place, Ok)
}

#[cfg(test)]
mod tests {
    use super::super::files::tests::options;
    use super::*;

    fn document(row: InputRow<'_>) -> InputDocument {
        row.document(RowPlace { file: &Arc::from("f"), number: 7 }, &options()).unwrap()
    }

    #[test]
    fn a_document_is_known_by_url_id_or_place() {
        let long = format!("http://a.test/{}", "x".repeat(5000));
        let long_id = "x".repeat(5000);
        for (url, id, shown, kept_id) in [
            (Some("HTTP://A.test"), Some("doc-1"), "http://a.test/", Some("doc-1")),
            (Some(""), Some("doc-1"), "doc-1", Some("doc-1")),
            (None, Some("0"), "0", Some("0")),
            (None, None, "f#7", None),
            (Some("docs/1.md"), None, "docs/1.md", Some("docs/1.md")),
            (Some("urn:isbn:1"), Some("2"), "urn:isbn:1", Some("2")),
            (Some("n.test/1"), None, "n.test/1", Some("n.test/1")),
            (Some("http://"), None, "http://", Some("http://")),
            (Some("row://f?id=1"), None, "row://f?id=1", Some("row://f?id=1")),
            (None, Some("http://a.test/x"), "http://a.test/x", Some("http://a.test/x")),
            (None, Some("f#7"), "f#7", Some("f#7")),
            (Some(&*long), None, &*long, None),
            (None, Some(&*long_id), "f#7", Some(&*long_id)),
        ] {
            let [url, id] = [url, id].map(|cell| cell.map(Cow::Borrowed));
            let document = document(InputRow { url, id, text: Some("x".into()), ..InputRow::default() });
            assert_eq!(document.fetched.url.shown(), shown);
            let row = document.row.unwrap();
            assert_eq!((row.id.as_deref(), row.number, &*row.file), (kept_id, 7, "f"), "{shown}");
        }
    }

    #[test]
    fn a_source_in_another_encoding_is_read_by_what_it_declares() {
        let of_bytes = |html: &'static [u8]| {
            document(InputRow { html: Some(Cow::Borrowed(html)), ..InputRow::default() }).fetched.header("content-type")
        };
        assert_eq!(of_bytes("<p>é".as_bytes()).as_deref(), Some("text/html; charset=utf-8"));
        assert_eq!(of_bytes(b"<meta charset=latin1><p>\xe9").as_deref(), Some("text/html"));
    }
}
