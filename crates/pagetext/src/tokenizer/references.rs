//! Character references: WHATWG HTML, section 13.2.5.72 and following, with the table of 13.5 from
//! the crate that the tree builder uses.

use std::borrow::Cow;

use memchr::memchr;
use web_atoms::{C1_REPLACEMENTS, NAMED_ENTITIES};

use crate::byte_search;

/// Bytes of the longest name that is valid without semicolon.
const LONGEST_BARE: usize = 6;
/// Bytes of the longest name.
const LONGEST: usize = 32;

/// Passes a text on piece by piece, with its references replaced.
pub(crate) fn in_text(text: &str, mut piece: impl FnMut(&str)) {
    let mut rest = text;
    while let Some(at) = byte_search::find(b'&', rest.as_bytes()) {
        match read(&rest[at + 1..], false) {
            Some((found, length)) => {
                if at > 0 {
                    piece(&rest[..at]);
                }
                found.encoded(&mut piece);
                rest = &rest[at + 1 + length..];
            }
            None => {
                piece(&rest[..=at]);
                rest = &rest[at + 1..];
            }
        }
    }
    if !rest.is_empty() {
        piece(rest);
    }
}

/// Returns the value of an attribute, with references and NUL characters replaced.
pub(crate) fn in_attribute(value: &str) -> Cow<'_, str> {
    if byte_search::find(b'&', value.as_bytes()).is_none() {
        return if byte_search::find(0, value.as_bytes()).is_none() {
            Cow::Borrowed(value)
        } else {
            Cow::Owned(value.replace('\0', "\u{fffd}"))
        };
    }
    let value = value.replace('\0', "\u{fffd}");
    let mut decoded = String::with_capacity(value.len());
    let mut rest = value.as_str();
    while let Some(at) = memchr(b'&', rest.as_bytes()) {
        decoded.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match read(rest, true) {
            Some((found, length)) => {
                found.encoded(&mut |piece| decoded.push_str(piece));
                rest = &rest[length..];
            }
            None => decoded.push('&'),
        }
    }
    decoded.push_str(rest);
    Cow::Owned(decoded)
}

/// One or two characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Found(char, Option<char>);

impl Found {
    fn encoded(self, piece: &mut impl FnMut(&str)) {
        piece(self.0.encode_utf8(&mut [0; 4]));
        if let Some(second) = self.1 {
            piece(second.encode_utf8(&mut [0; 4]));
        }
    }
}

/// Reads the reference behind an ampersand; returns its length too.
fn read(text: &str, attribute: bool) -> Option<(Found, usize)> {
    // Nearly all references are one of these.
    for (name, c) in [("nbsp;", '\u{a0}'), ("lt;", '<'), ("gt;", '>'), ("amp;", '&'), ("quot;", '"')] {
        if text.starts_with(name) {
            return Some((Found(c, None), name.len()));
        }
    }
    match text.as_bytes().first()? {
        b'#' => numeric(text),
        first if first.is_ascii_alphanumeric() => named(text, attribute),
        _ => None,
    }
}

fn named(text: &str, attribute: bool) -> Option<(Found, usize)> {
    let bytes = text.as_bytes();
    let length =
        bytes.iter().take(LONGEST + 1).position(|b| !b.is_ascii_alphanumeric()).unwrap_or(bytes.len().min(LONGEST));
    // With a semicolon the longest name counts.
    if bytes.get(length) == Some(&b';')
        && let Some(found) = look_up(&text[..=length])
    {
        return Some((found, length + 1));
    }
    let (found, length) = (2..=length.min(LONGEST_BARE)).rev().find_map(|n| Some((look_up(&text[..n])?, n)))?;
    // So "?a=b&copy=1" stays as it is.
    let goes_on = bytes.get(length).is_some_and(|next| *next == b'=' || next.is_ascii_alphanumeric());
    (!attribute || !goes_on).then_some((found, length))
}

fn look_up(name: &str) -> Option<Found> {
    match NAMED_ENTITIES.get(name)? {
        // The table also holds prefixes of names.
        (0, _) => None,
        (first, second) => {
            Some(Found(char::from_u32(*first)?, char::from_u32(*second).filter(|second| *second != '\0')))
        }
    }
}

fn numeric(text: &str) -> Option<(Found, usize)> {
    let (digits, base) = match text.as_bytes().get(1)? {
        b'x' | b'X' => (2, 16),
        _ => (1, 10),
    };
    let mut number = 0_u32;
    let mut end = digits;
    for digit in text[digits..].chars().map_while(|c| c.to_digit(base)) {
        number = number.saturating_mul(base).saturating_add(digit);
        end += 1;
    }
    if end == digits {
        return None;
    }
    end += usize::from(text.as_bytes().get(end) == Some(&b';'));
    Some((Found(character(number), None), end))
}

/// The "numeric character reference end state".
fn character(number: u32) -> char {
    const REPLACED: char = '\u{fffd}';
    match number {
        0 => REPLACED,
        0x80..=0x9f => C1_REPLACEMENTS[number as usize - 0x80].or(char::from_u32(number)).unwrap_or(REPLACED),
        _ => char::from_u32(number).unwrap_or(REPLACED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: &str) -> String {
        let mut text = String::new();
        in_text(source, |piece| text.push_str(piece));
        text
    }

    #[test]
    fn the_longest_name_counts_and_old_ones_need_no_semicolon() {
        assert_eq!(text("&notin; &notit; &not &amp&ampx &AMP; &;&& &x"), "∉ ¬it; ¬ &&x & &;&& &x");
        assert_eq!(text("&NotEqualTilde;&CounterClockwiseContourIntegral;"), "≂\u{338}∳");
        assert_eq!(text("&uuml;&uumlaut;&hellip &hellip;"), "üüaut;&hellip …");
    }

    #[test]
    fn numbers_that_are_no_characters_are_replaced() {
        assert_eq!(
            text("&#65;&#x42&#X43;&#128;&#0;&#xd800;&#x110000;&#99999999999;"),
            "ABC€\u{fffd}\u{fffd}\u{fffd}\u{fffd}"
        );
        assert_eq!(text("&#;&#x;&#xg;&#&#x81;"), "&#;&#x;&#xg;&#\u{81}");
    }

    #[test]
    fn in_attributes_an_old_name_must_end() {
        assert_eq!(in_attribute("?a=b&copy=1&copyx&copy;&copy &amp;\0"), "?a=b&copy=1&copyx©© &\u{fffd}");
        assert!(matches!(in_attribute("plain"), Cow::Borrowed(_)));
    }
}
