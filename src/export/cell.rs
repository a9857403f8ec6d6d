//! Cells of CSV that nothing can be smuggled through.

use std::borrow::Cow;

/// A text as a cell (RFC 4180). Control characters become spaces, and before a text that a spreadsheet
/// would take for a formula an apostrophe is put.
pub fn cell(text: &str) -> Cow<'_, str> {
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
        assert_eq!(cell("a.test"), "a.test");
        assert_eq!(cell("a, \"b\""), "\"a, \"\"b\"\"\"");
        assert_eq!(cell("=HYPERLINK(\"x\")"), "\"'=HYPERLINK(\"\"x\"\")\"");
        for start in ["+1", "-1", "@x", "\t=1", "\r\n=1"] {
            assert!(cell(start).starts_with("\"'"), "{start}");
        }
        assert_eq!(cell("a\r\nb\u{1b}[31m"), "\"a  b [31m\"");
    }
}
