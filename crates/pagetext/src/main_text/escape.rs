//! Characters that Markdown would take for marks.

/// Adds a word so that Markdown shows it as it is. Only what would be a mark is escaped.
///
/// `is_first`: the word begins a line. `in_table`: it stands in a cell.
pub(super) fn push(out: &mut String, word: &str, is_first: bool, in_table: bool) {
    if is_first && begins_a_block(word) {
        out.push('\\');
    }
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    if is_first && digits > 0 && matches!(&word[digits..], "." | ")") {
        out.push_str(&word[..digits]);
        out.push('\\');
        return out.push_str(&word[digits..]);
    }
    let mut before = out.chars().next_back();
    let mut rest = word.chars().peekable();
    while let Some(c) = rest.next() {
        let next = rest.peek().copied();
        let is_inner = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let is_mark = match c {
            '\\' => next.is_none_or(|next| next.is_ascii_punctuation()),
            '*' | '`' => true,
            '_' => !(is_inner(before) && is_inner(next)),
            '~' => next == Some('~') || before == Some('~'),
            '<' => next.is_some_and(|next| next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?')),
            '&' => next.is_some_and(|next| next.is_ascii_alphabetic() || next == '#'),
            '[' => before == Some('!'),
            ']' => matches!(next, Some('(' | '[' | ':')),
            '|' => in_table,
            _ => false,
        };
        if is_mark {
            out.push('\\');
        }
        out.push(c);
        before = Some(c);
    }
}

/// Whether a word at the start of a line would begin a heading, an item, a quotation or a rule.
fn begins_a_block(word: &str) -> bool {
    match word.as_bytes() {
        [b'#' | b'=' | b'-', ..] => word.bytes().all(|byte| byte == word.as_bytes()[0]),
        [b'>', ..] | [b'+'] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(word: &str) -> String {
        let mut out = String::new();
        push(&mut out, word, true, false);
        out
    }

    #[test]
    fn only_marks_are_escaped() {
        for (word, expected) in [
            ("snake_case_name", "snake_case_name"),
            ("_private", "\\_private"),
            ("a*b", "a\\*b"),
            ("[1]", "[1]"),
            ("[x](y)", "[x\\](y)"),
            ("a<b", "a\\<b"),
            ("1<2", "1<2"),
            ("AT&T", "AT\\&T"),
            ("C:\\dir", "C:\\dir"),
            ("#", "\\#"),
            ("#1", "#1"),
            ("-", "\\-"),
            ("-x", "-x"),
            ("1.", "1\\."),
            ("1.5", "1.5"),
            ("a|b", "a|b"),
        ] {
            assert_eq!(escaped(word), expected);
        }
        let mut cell = String::new();
        push(&mut cell, "a|b", false, true);
        assert_eq!(cell, "a\\|b");
    }
}
