//! CSV cells that are safe to open in a spreadsheet.

use std::borrow::Cow;

/// Formats text as a CSV cell (RFC 4180).
///
/// Control characters become spaces. An apostrophe precedes text that a spreadsheet would take for a formula.
pub fn csv_cell(text: &str) -> Cow<'_, str> {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    let is_plain = |c: char| !c.is_control() && !matches!(c, '"' | ',' | ';');
    if !is_formula && text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut cell = String::with_capacity(text.len() + 4);
    cell.push('"');
    if is_formula {
        cell.push('\'');
    }
    for c in text.chars() {
        match c {
            '"' => cell.push_str("\"\""),
            c if c.is_control() => cell.push(' '),
            c => cell.push(c),
        }
    }
    cell.push('"');
    Cow::Owned(cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_one_cell_and_no_formula() {
        assert_eq!(csv_cell("a.test"), "a.test");
        assert_eq!(csv_cell("a, \"b\""), "\"a, \"\"b\"\"\"");
        assert_eq!(csv_cell("=HYPERLINK(\"x\")"), "\"'=HYPERLINK(\"\"x\"\")\"");
        for start in ["+1", "-1", "@x", "\t=1", "\r\n=1"] {
            assert!(csv_cell(start).starts_with("\"'"), "{start}");
        }
        assert_eq!(csv_cell("a\r\nb\u{1b}[31m"), "\"a  b [31m\"");
    }
}
