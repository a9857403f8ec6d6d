//! Parses tab-separated tables whose first line names the columns and begins with `#`.
//!
//! Columns are found by name, so a table may have other columns in any order. The parser skips a byte order mark, blank
//! lines and further lines that begin with `#`. It accepts CRLF.

use std::fs;
use std::path::Path;

/// Errors in a table of labels.
#[derive(Debug, thiserror::Error)]
pub enum LabelError {
    /// The file cannot be read.
    #[error("{file}: {source}")]
    File {
        /// The file.
        file: String,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// A line is malformed.
    #[error("{file}:{line}: {why}")]
    Line {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        why: String,
    },
}

/// A table with lines split into fields.
pub(super) struct TsvTable<'a> {
    file: &'a str,
    columns: Vec<&'a str>,
    rows: Vec<TsvRow<'a>>,
}

/// A line below the heading, with one field per column.
pub(super) struct TsvRow<'a> {
    pub(super) line: usize,
    fields: Vec<&'a str>,
}

/// The index of a column.
#[derive(Clone, Copy)]
pub(super) struct TsvColumn(usize);

/// Reads a file as UTF-8.
pub(super) fn read(file: &Path) -> Result<String, LabelError> {
    let name = file.display().to_string();
    let bytes = fs::read(file).map_err(|source| LabelError::File { file: name.clone(), source })?;
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + good.iter().filter(|&&byte| byte == b'\n').count();
        LabelError::Line { file: name, line, why: "not UTF-8".to_owned() }
    })
}

impl<'a> TsvTable<'a> {
    /// Parses `text`; `file` is used in errors only.
    pub(super) fn parse(file: &'a str, text: &'a str) -> Result<Self, LabelError> {
        let mut lines = (1..).zip(text.strip_prefix('\u{feff}').unwrap_or(text).lines());
        let (line, heading) = lines.find(|(_, line)| !line.trim().is_empty()).unwrap_or((1, ""));
        let mut table = Self { file, columns: Vec::new(), rows: Vec::new() };
        let Some(names) = heading.strip_prefix('#') else {
            return Err(table.error(line, "the first line must name the columns and begin with '#'"));
        };
        table.columns = names.split('\t').map(str::trim).collect();
        for (line, text) in lines.filter(|(_, text)| !text.trim().is_empty() && !text.starts_with('#')) {
            let fields: Vec<&str> = text.split('\t').collect();
            let (found, wanted) = (fields.len(), table.columns.len());
            if found != wanted {
                return Err(table.error(line, format!("{found} fields, but the heading names {wanted} columns")));
            }
            table.rows.push(TsvRow { line, fields });
        }
        Ok(table)
    }

    /// Returns the column of that name.
    pub(super) fn column(&self, name: &str) -> Result<TsvColumn, LabelError> {
        self.optional(name).ok_or_else(|| self.error(1, format!("the heading has no column '{name}'")))
    }

    /// Returns the column of that name, if any.
    pub(super) fn optional(&self, name: &str) -> Option<TsvColumn> {
        self.columns.iter().position(|column| *column == name).map(TsvColumn)
    }

    pub(super) fn rows(&self) -> &[TsvRow<'a>] {
        &self.rows
    }

    pub(super) fn error(&self, line: usize, why: impl Into<String>) -> LabelError {
        LabelError::Line { file: self.file.to_owned(), line, why: why.into() }
    }
}

impl<'a> TsvRow<'a> {
    pub(super) fn get(&self, column: TsvColumn) -> &'a str {
        self.fields[column.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name_past_marks_blanks_and_comments() {
        let table = TsvTable::parse("t.tsv", "\u{feff}\r\n#b\ta\r\n\r\n1\t2\r\n# remark\n3\t4").unwrap();
        let a = table.column("a").unwrap();
        let read: Vec<_> = table.rows().iter().map(|row| (row.line, row.get(a))).collect();
        assert_eq!(read, [(4, "2"), (6, "4")]);
        assert!(table.optional("c").is_none());
    }

    #[track_caller]
    fn assert_refused(text: &str, expected: &str) {
        let error = TsvTable::parse("t.tsv", text).and_then(|table| table.column("a")).err();
        assert_eq!(error.map(|error| error.to_string()).as_deref(), Some(expected));
    }

    #[test]
    fn what_is_no_table_is_named_with_its_line() {
        assert_refused("", "t.tsv:1: the first line must name the columns and begin with '#'");
        assert_refused("\na\tb\n", "t.tsv:2: the first line must name the columns and begin with '#'");
        assert_refused("#a\tb\n1\t2\n1\n", "t.tsv:3: 1 fields, but the heading names 2 columns");
        assert_refused("#a\n1\t2\n", "t.tsv:2: 2 fields, but the heading names 1 columns");
        assert_refused("#b\n1\n", "t.tsv:1: the heading has no column 'a'");
    }

    #[test]
    fn a_file_that_is_no_text_is_refused_at_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("odd.tsv");
        fs::write(&file, b"#a\nfine\n\xff\n").unwrap();
        assert!(read(&file).unwrap_err().to_string().ends_with("odd.tsv:3: not UTF-8"));
        assert!(matches!(read(&folder.path().join("none")), Err(LabelError::File { .. })));
    }
}
