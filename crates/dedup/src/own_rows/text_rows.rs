//! Rows of text: lines of JSON, and tables with separators.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use super::{COLUMNS, OwnRowsError, RawRow, RowFile, RowSink, RowVerdict, mixed};

/// Lines of JSON, or an array.
pub(super) struct LineRows {
    file: RowFile,
    path: PathBuf,
    is_marked: bool,
    /// Whether the first row stood in an array: then all are written as one.
    is_array: bool,
    written: u64,
}

impl LineRows {
    pub fn new(file: RowFile, path: PathBuf, is_marked: bool) -> Self {
        Self { file, path, is_marked, is_array: false, written: 0 }
    }

    fn write(&mut self, text: &[u8]) -> Result<(), OwnRowsError> {
        self.file.write_all(text).map_err(|source| OwnRowsError::File { path: self.path.clone(), source })
    }
}

impl RowSink for LineRows {
    fn add(&mut self, row: RawRow, _: u64, verdict: Option<&RowVerdict>) -> Result<(), OwnRowsError> {
        let RawRow::Object { text: mut object, is_element } = row else {
            return Err(mixed(&self.path, "JSON and other rows"));
        };
        if !self.is_marked && !verdict.is_some_and(RowVerdict::is_kept) {
            return Ok(());
        }
        self.is_array = if self.written == 0 { is_element } else { self.is_array };
        if !self.is_array {
            // A line end within an object stands between its parts: in a text it is escaped.
            object.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
        }
        if self.is_marked {
            mark(&mut object, verdict);
        }
        let (before, after) = match (self.is_array, self.written) {
            (false, _) => ("", "\n"),
            (true, 0) => ("[\n", ""),
            (true, _) => (",\n", ""),
        };
        self.written += 1;
        self.write(&[before.as_bytes(), &object, after.as_bytes()].concat())
    }

    fn finish(mut self: Box<Self>) -> Result<u64, OwnRowsError> {
        if self.is_array {
            self.write(b"\n]\n")?;
        }
        self.file.flush().map_err(|source| OwnRowsError::File { path: self.path.clone(), source })?;
        Ok(self.written)
    }
}

/// Adds the verdict behind the last field.
fn mark(object: &mut Vec<u8>, verdict: Option<&RowVerdict>) {
    let verdict = verdict.cloned().unwrap_or_else(repeated);
    while object.last().is_some_and(|byte| byte.is_ascii_whitespace() || matches!(byte, b'}' | b',')) {
        if object.pop() == Some(b'}') {
            break;
        }
    }
    let end = object.trim_ascii_end().len();
    object.truncate(end);
    if !matches!(object.last(), Some(b'{' | b',')) {
        object.push(b',');
    }
    let [outcome, of, score, loses, copies] = COLUMNS;
    let marks = json!({
        outcome: verdict.outcome, of: verdict.of, score: verdict.score, loses: verdict.loses, copies: verdict.copies
    });
    let marks = marks.to_string();
    object.extend_from_slice(&marks.as_bytes()[1..]);
}

/// The verdict on a row whose URL came before.
pub(super) fn repeated() -> RowVerdict {
    RowVerdict { outcome: "repeated", ..RowVerdict::default() }
}

/// A table with separators.
pub(super) struct TableRows {
    file: Option<RowFile>,
    writer: Option<csv::Writer<RowFile>>,
    names: Arc<[Vec<u8>]>,
    path: PathBuf,
    is_marked: bool,
    written: u64,
}

impl TableRows {
    pub fn new(file: RowFile, path: PathBuf, is_marked: bool) -> Self {
        Self { file: Some(file), writer: None, names: Arc::from([]), path, is_marked, written: 0 }
    }

    fn error(&self, error: csv::Error) -> OwnRowsError {
        OwnRowsError::File { path: self.path.clone(), source: error.into() }
    }
}

impl RowSink for TableRows {
    fn add(&mut self, row: RawRow, _: u64, verdict: Option<&RowVerdict>) -> Result<(), OwnRowsError> {
        let RawRow::Cells { names, mut cells, style } = row else {
            return Err(mixed(&self.path, "tables with separators and other rows"));
        };
        if let Some(mut file) = self.file.take() {
            if style.has_mark {
                let mark = file.write_all("\u{feff}".as_bytes());
                mark.map_err(|source| OwnRowsError::File { path: self.path.clone(), source })?;
            }
            let quotes = if style.is_quoted { csv::QuoteStyle::Necessary } else { csv::QuoteStyle::Never };
            let mut builder = csv::WriterBuilder::new();
            let ending = if style.has_crlf { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') };
            builder.delimiter(style.separator).quote_style(quotes).terminator(ending).flexible(true);
            let mut writer = builder.from_writer(file);
            let marks = COLUMNS.iter().filter(|_| self.is_marked).map(|name| name.as_bytes());
            let heading = writer.write_record(names.iter().map(Vec::as_slice).chain(marks));
            heading.map_err(|error| self.error(error))?;
            (self.writer, self.names) = (Some(writer), names.clone());
        }
        if names != self.names {
            return Err(mixed(&self.path, "tables of different columns"));
        }
        if !self.is_marked && !verdict.is_some_and(RowVerdict::is_kept) {
            return Ok(());
        }
        if self.is_marked {
            let RowVerdict { outcome, of, score, loses, copies } = verdict.cloned().unwrap_or_else(repeated);
            cells.resize(names.len(), Vec::new());
            let score = score.map_or_else(String::new, |score| score.to_string());
            let [loses, copies] =
                [loses, copies].map(|count| count.map_or_else(String::new, |count| count.to_string()));
            cells.extend([outcome.to_owned(), of.unwrap_or_default(), score, loses, copies].map(String::into_bytes));
        }
        self.written += 1;
        match self.writer.as_mut().map(|writer| writer.write_record(&cells)) {
            Some(Err(error)) => Err(self.error(error)),
            _ => Ok(()),
        }
    }

    fn finish(mut self: Box<Self>) -> Result<u64, OwnRowsError> {
        match self.writer.take().map(|mut writer| writer.flush()) {
            Some(Err(source)) => Err(OwnRowsError::File { path: self.path.clone(), source }),
            _ => Ok(self.written),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_stands_behind_the_last_field() {
        let near = RowVerdict {
            outcome: "near-duplicate",
            of: Some("a \"b\"".into()),
            score: Some(0.9),
            loses: Some(2),
            copies: None,
        };
        for (object, expected) in [
            (
                "{}",
                r#"{"dedup_copies":null,"dedup_loses_words":2,"dedup_of":"a \"b\"","dedup_outcome":"near-duplicate","dedup_score":0.9}"#,
            ),
            (
                r#"{"a": "}"  }"#,
                r#"{"a": "}","dedup_copies":null,"dedup_loses_words":2,"dedup_of":"a \"b\"","dedup_outcome":"near-duplicate","dedup_score":0.9}"#,
            ),
            (
                r#"{"a": {"b": 1},}"#,
                r#"{"a": {"b": 1},"dedup_copies":null,"dedup_loses_words":2,"dedup_of":"a \"b\"","dedup_outcome":"near-duplicate","dedup_score":0.9}"#,
            ),
        ] {
            let mut marked = object.as_bytes().to_vec();
            mark(&mut marked, Some(&near));
            assert_eq!(String::from_utf8(marked).unwrap(), expected);
        }
    }
}
