//! An aligned table: a text column that shrinks, then columns of figures.

use crate::cli::text_width::{shortened, width};

/// Renders rows under a heading within `most` columns.
///
/// The first column is text and is shortened if needed; the others are right-aligned.
pub fn aligned(heading: &[&str], rows: &[Vec<String>], most: usize) -> String {
    const GAP: usize = 2;
    const LEAST_TEXT: usize = 12;
    let widths: Vec<usize> = (0..heading.len())
        .map(|column| {
            let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell));
            cells.chain([width(heading[column])]).max().unwrap_or_default()
        })
        .collect();
    let figures: usize = widths[1..].iter().map(|width| width + GAP).sum();
    let text = widths[0].min(most.saturating_sub(figures).max(LEAST_TEXT));
    let line = |cells: Vec<&str>| {
        let name = shortened(cells[0], text);
        let mut line = format!("{name}{:1$}", "", text.saturating_sub(width(&name)));
        for (cell, width) in cells[1..].iter().zip(&widths[1..]) {
            line.push_str(&format!("  {cell:>width$}"));
        }
        format!("{}\n", line.trim_end())
    };
    let rows = rows.iter().map(|row| line(row.iter().map(String::as_str).collect()));
    std::iter::once(line(heading.to_vec())).chain(rows).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_right_and_text_gives_way() {
        let rows = vec![
            vec!["a.example".to_owned(), "1".to_owned()],
            vec!["very-long-name.example".to_owned(), "1,000".to_owned()],
        ];
        insta::assert_snapshot!(aligned(&["site", "pages"], &rows, 24), @r"
        site               pages
        a.example              1
        very-long-name.e…  1,000
        ");
    }
}
