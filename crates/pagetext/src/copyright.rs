//! The copyright holder: the line of a text such as `© 2019-2023 Jane Roe`.

use memchr::memchr3_iter;

use super::metadata::name;
use neardup::text::FieldedText;

/// Bytes at the end of a page that are searched: such lines stand at the end.
const TAIL: usize = 4096;
/// Bytes of the longest name: a longer line is a sentence.
const LONGEST: usize = 100;
/// Signs that may follow each other: `Copyright © (c)`.
const MOST_SIGNS: u32 = 3;
/// Signs that begin such a line.
const SIGNS: [&str; 3] = ["©", "(c)", "copyright"];
/// Words before a name that are no part of it.
const BEFORE: [&str; 5] = ["by", "present", "now", "today", "and"];
/// Words after a name, in lower case.
const BEHIND: [&str; 11] =
    ["©", "|", "•", "·", "(", ";", "all rights", "alle rechte", "tous droits", "licensed under", "powered by"];

/// Returns the name in the last such line of the visible text.
///
/// A line has `©`; or, before a year or another sign, `(c)` or `Copyright`. The word in lower case is mostly prose, so
/// it makes no line.
pub(super) fn holder(text: &FieldedText) -> Option<String> {
    let all = text.as_str();
    let from = boundary(all, all.len().saturating_sub(TAIL));
    let tail = &all[from..];
    let mut last = None;
    // One pass for the first bytes of all signs; the first byte of "©" is rare in any text.
    for at in memchr3_iter(0xc2, b'(', b'C', tail.as_bytes()) {
        if sign(&tail[at..]).is_some()
            && let Some((line, next)) = text.visible_from(from + at)
        {
            last = named(line, next).or(last);
        }
    }
    last
}

/// Returns the sign with which a text begins.
fn sign(text: &str) -> Option<&'static str> {
    let begins = |sign: &&&str| text.get(..sign.len()).is_some_and(|start| start.eq_ignore_ascii_case(sign));
    SIGNS.iter().find(begins).copied()
}

/// Returns the name in a line that begins with a sign, or else in the next line.
fn named(line: &str, mut next: Option<&str>) -> Option<String> {
    let mut rest = line;
    let (mut certain, mut signs) = (false, 0);
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || ",:.-–—/".contains(c));
        if let Some(sign) = sign(rest).filter(|_| signs < MOST_SIGNS) {
            rest = &rest[sign.len()..];
            signs += 1;
            certain |= sign == SIGNS[0] || signs > 1;
        } else if let Some(behind) = behind_year(rest) {
            rest = behind;
            certain = true;
        } else if let Some(behind) = behind_word(rest) {
            rest = behind;
        } else if rest.is_empty()
            && let Some(line) = next.take()
        {
            rest = line;
        } else {
            break;
        }
    }
    let text = rest.trim_end();
    // The end of a name that is too long does not matter.
    let text = &text[..boundary(text, text.len().min(2 * LONGEST))];
    let text = &text[..end_of_name(text)];
    name(text.trim_end_matches(|c: char| c.is_whitespace() || ",.-–—".contains(c)))
        .filter(|name| certain && name.len() <= LONGEST)
}

/// Returns the rest of a text behind the year with which it begins.
fn behind_year(text: &str) -> Option<&str> {
    let (year, rest) = text.split_at_checked(4)?;
    let is_year = (year.starts_with("19") || year.starts_with("20")) && year.bytes().all(|byte| byte.is_ascii_digit());
    (is_year && !rest.starts_with(|c: char| c.is_ascii_alphanumeric())).then_some(rest)
}

/// Returns the rest of a text behind the word of [`BEFORE`] with which it begins.
fn behind_word(text: &str) -> Option<&str> {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    BEFORE.iter().any(|known| word.eq_ignore_ascii_case(known)).then_some(rest)
}

/// Returns the end of a name: before a year, before a word that follows names, at the end of a sentence.
fn end_of_name(text: &str) -> usize {
    let lower = text.to_ascii_lowercase();
    let ends = BEHIND.iter().filter_map(|end| lower.find(end));
    let words = text.match_indices(' ').map(|(at, _)| at);
    let years = words.clone().find(|at| behind_year(&text[at + 1..]).is_some());
    // The full stop of an initial does not end a name.
    let sentence = words.clone().find(|&at| {
        let before = text[..at].rsplit(' ').next().unwrap_or_default();
        before.len() > 2 && before.ends_with('.')
    });
    // An address follows some names.
    let address =
        text.match_indices(", ").map(|(at, _)| at).find(|at| text[at + 2..].starts_with(|c: char| c.is_ascii_digit()));
    ends.chain(years).chain(sentence).chain(address).min().unwrap_or(text.len())
}

/// Returns the end of the character before this position, or the position itself.
fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::Field;

    /// Lines of a text; what stands behind a stroke is of another field.
    fn found(lines: &[&str]) -> Option<String> {
        let mut text = FieldedText::default();
        for line in lines {
            text.break_line();
            for (at, piece) in line.split('/').enumerate() {
                text.push(if at % 2 == 0 { Field::Body } else { Field::AnchorSameSite }, piece);
            }
        }
        holder(&text)
    }

    #[test]
    fn lines_of_all_kinds_name_the_holder() {
        for line in [
            "© Jane Roe",
            "© 2019 Jane Roe",
            "© Copyright 2019-2023, Jane Roe.",
            "Copyright (c) 2019 – 2023 Jane Roe, all rights reserved",
            "Copyright © 2019, 2021 by Jane Roe. All rights reserved.",
            "COPYRIGHT 2019 Jane Roe",
            "(C) 2019-present Jane Roe | Imprint",
            "Copyright © Jane Roe 2019",
            "© 2019 /Jane Roe/. All rights reserved.",
            "Some text. © 2019 Jane Roe · Powered by something",
        ] {
            assert_eq!(found(&["first", line, "Contact us"]).as_deref(), Some("Jane Roe"), "{line}");
        }
        assert_eq!(found(&["© 2019 Roe Ltd, 12 Some Street"]).as_deref(), Some("Roe Ltd"));
        assert_eq!(found(&["© /Copyright/ 2001-2026, Jane Roe.", "This page"]).as_deref(), Some("Jane Roe"));
        assert_eq!(found(&["© 2019 J. R. Roe"]).as_deref(), Some("J. R. Roe"));
        assert_eq!(found(&["© 2019 Société Générale"]).as_deref(), Some("Société Générale"));
        assert_eq!(found(&["© 2001 Photo Agency", "text", "© 2019 Jane Roe"]).as_deref(), Some("Jane Roe"));
    }

    #[test]
    fn other_lines_name_nobody() {
        for line in [
            "",
            "©",
            "© 2019",
            "Copyright policy",
            "Copyright law is a matter of (c) and (d)",
            "(c) the third case",
            "the copyright of 2019 was Jane's",
            "(c) 20190 things",
        ] {
            assert_eq!(found(&[line]), None, "{line}");
        }
        assert_eq!(found(&[&format!("© 2019 {}", "word ".repeat(40))]), None);
        assert_eq!(found(&["© Jane Roe", &"word ".repeat(1000)]), None);
    }

    #[test]
    fn what_a_reader_does_not_see_names_nobody() {
        let mut text = FieldedText::default();
        text.push_hidden(Field::Description, "© 2019 Jane Roe");
        assert_eq!(holder(&text), None);
    }

    proptest! {
        #[test]
        fn any_text_is_read(pieces in prop::collection::vec("(©|\\(c\\)|Copyright|2019|\\PC{0,8}| |[.|-])", 0..12)) {
            found(&[&pieces.concat()]);
        }
    }
}
