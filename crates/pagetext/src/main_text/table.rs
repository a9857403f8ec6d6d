//! Tables of data, as opposed to those that lay out a page.

use crate::names::{HEADING, Name};

use super::tree::{Node, Tree};

/// Columns of the widest table that is written as one.
const MOST_COLUMNS: usize = 200;
/// Bytes of the longest cell of a table of data, white space included.
const LONGEST_CELL: usize = 2000;

/// Whether a table holds data: two columns or more of cells without tables, code blocks or headings in them.
pub(super) fn is_data_table(tree: &Tree<'_>, table: usize) -> bool {
    let nodes = &tree.nodes;
    if nodes[table].attribute("role").is_some_and(|role| matches!(role.trim(), "presentation" | "none")) {
        return false;
    }
    let inside = || table + 1..nodes[table].end;
    let lays_out = |at: usize| {
        use Name::{Article, BlockQuote, Form, Hr, Main, Pre, Section, Table};
        let name = nodes[at].name;
        name.is(HEADING) || matches!(name, Table | Pre | Article | Section | Main | BlockQuote | Form | Hr)
    };
    let is_cell = |at: usize| matches!(nodes[at].name, Name::Td | Name::Th);
    let mut rows = inside().filter(|&at| nodes[at].name == Name::Tr);
    let has_columns = rows.any(|row| tree.children(row).filter(|&at| is_cell(at)).count() > 1);
    let length = |cell: usize| nodes[cell..nodes[cell].end].iter().map(|node| node.text.len()).sum::<usize>();
    has_columns
        && !inside().any(lays_out)
        && inside().filter(|&at| is_cell(at)).all(|cell| length(cell) <= LONGEST_CELL)
}

/// The cells of a table, row by row.
#[derive(Debug, Default)]
pub(super) struct Grid {
    /// The node of the table.
    pub table: usize,
    caption: Option<String>,
    rows: Vec<Vec<String>>,
    /// Whether the first row holds headers.
    has_header: bool,
    /// What was written before the table, while a cell is.
    outer: String,
    spans: usize,
    is_caption: bool,
}

impl Grid {
    pub fn new(table: usize) -> Self {
        Self { table, ..Self::default() }
    }

    pub fn begin_row(&mut self) {
        self.rows.push(Vec::new());
    }

    /// Begins a cell, whose text is written by itself; `outer` is the text so far.
    pub fn begin_cell(&mut self, outer: String, cell: &Node<'_>) {
        self.outer = outer;
        self.is_caption = cell.name == Name::Caption;
        self.has_header |= cell.name == Name::Th && self.rows.len() == 1;
        let span = cell.attribute("colspan").and_then(|span| span.trim().parse().ok()).unwrap_or(1);
        self.spans = usize::clamp(span, 1, MOST_COLUMNS);
    }

    /// Ends a cell and returns the text before the table.
    pub fn end_cell(&mut self, text: String) -> String {
        if self.is_caption {
            self.caption = Some(text);
        } else if let Some(row) = self.rows.last_mut() {
            let more = (self.spans - 1).min(MOST_COLUMNS.saturating_sub(row.len()));
            row.push(text);
            row.extend(std::iter::repeat_n(String::new(), more));
        }
        std::mem::take(&mut self.outer)
    }

    /// Returns the lines of a plain table: cells are separated by tabs.
    pub fn plain(&self) -> Vec<String> {
        let rows = self.rows.iter().map(|row| row.join("\t").trim_end().to_owned());
        self.caption.iter().cloned().chain(rows).filter(|line| !line.is_empty()).collect()
    }

    /// Returns the lines of a table of Markdown, whose first row is its header; without headers it is empty.
    pub fn markdown(&self) -> Vec<String> {
        let rows: Vec<&Vec<String>> = self.rows.iter().filter(|row| row.iter().any(|cell| !cell.is_empty())).collect();
        let width = rows.iter().map(|row| row.len()).max().unwrap_or_default();
        let line = |row: &[String]| {
            let cells = (0..width).map(|at| row.get(at).map_or("", String::as_str));
            cells.fold("|".to_owned(), |line, cell| format!("{line} {cell} |"))
        };
        let mut lines: Vec<String> = self.caption.iter().filter(|caption| !caption.is_empty()).cloned().collect();
        if !lines.is_empty() {
            lines.push(String::new());
        }
        if width == 0 {
            return lines;
        }
        let rows = match rows.split_first() {
            Some((first, rest)) if self.has_header => {
                lines.push(line(first));
                rest.to_vec()
            }
            _ => {
                lines.push(line(&[]));
                rows
            }
        };
        lines.push(format!("|{}", " --- |".repeat(width)));
        lines.extend(rows.into_iter().map(|row| line(row)));
        lines
    }
}
