//! Lists as CSV (RFC 4180), safe to open in a spreadsheet, with a bound on their length.

use ndcrawl_export::csv_cell;

/// Rows of one list. Beyond it, rows are counted only; `pages.jsonl` has them all.
const MOST_ROWS: u64 = 100_000;

/// A CSV file in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CsvList {
    text: String,
    rows: u64,
}

impl CsvList {
    /// Creates a list with this heading.
    pub fn new(heading: &[&str]) -> Self {
        let mut list = Self::default();
        list.write(heading);
        list
    }

    /// Adds a row, unless the list is full.
    pub fn push(&mut self, cells: &[&str]) {
        self.rows += 1;
        if self.rows <= MOST_ROWS {
            self.write(cells);
        }
    }

    /// The text, with line ends.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Rows that are not in the text.
    pub fn left_out(&self) -> u64 {
        self.rows.saturating_sub(MOST_ROWS)
    }

    fn write(&mut self, cells: &[&str]) {
        for (place, cell) in cells.iter().enumerate() {
            if place > 0 {
                self.text.push(',');
            }
            self.text.push_str(&csv_cell(cell));
        }
        self.text.push_str("\r\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_escaped_bounded_and_counted() {
        let mut list = CsvList::new(&["url", "why"]);
        list.push(&["=cmd()", "a, b"]);
        assert_eq!(list.text(), "url,why\r\n\"'=cmd()\",\"a, b\"\r\n");
        (0..MOST_ROWS + 4).for_each(|_| list.push(&["x", ""]));
        assert_eq!((list.text().lines().count() as u64, list.left_out()), (MOST_ROWS + 1, 5));
    }
}
