//! An aligned table: a text column that shrinks, then columns of figures.

/// Renders rows under a heading within `width` characters.
///
/// The first column is text and is shortened if needed; the others are right-aligned.
pub fn aligned(heading: &[&str], rows: &[Vec<String>], width: usize) -> String {
    const GAP: usize = 2;
    const LEAST_TEXT: usize = 12;
    let length = |text: &str| text.chars().count();
    let widths: Vec<usize> = (0..heading.len())
        .map(|column| {
            let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| length(cell));
            cells.chain([length(heading[column])]).max().unwrap_or_default()
        })
        .collect();
    let figures: usize = widths[1..].iter().map(|width| width + GAP).sum();
    let text = widths[0].min(width.saturating_sub(figures).max(LEAST_TEXT));
    let line = |cells: Vec<&str>| {
        let mut line = format!("{:<text$}", shortened(cells[0], text));
        for (cell, width) in cells[1..].iter().zip(&widths[1..]) {
            line.push_str(&format!("  {cell:>width$}"));
        }
        format!("{}\n", line.trim_end())
    };
    let rows = rows.iter().map(|row| line(row.iter().map(String::as_str).collect()));
    std::iter::once(line(heading.to_vec())).chain(rows).collect()
}

/// Returns the text, shortened to `most` characters with an ellipsis.
pub fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{kept}…")
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

    #[test]
    fn a_cut_text_is_as_long_as_allowed() {
        assert_eq!(shortened("abcdef", 4), "abc…");
        assert_eq!(shortened("abcd", 4), "abcd");
    }
}
