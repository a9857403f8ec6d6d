//! The query of a link, in the character encoding of its page.
//!
//! WHATWG URL, "query state" and "percent-encode after encoding": path and fragment are UTF-8 always, the query is what a
//! form on that page would send. So a server of 2004 finds its own words again.

use std::borrow::Cow;
use std::fmt::Write;

use encoding_rs::{EncoderResult, Encoding, UTF_8};

/// Returns the reference with its query percent-encoded, so far as it is not ASCII.
pub(super) fn encoded<'a>(reference: &'a str, encoding: &'static Encoding) -> Cow<'a, str> {
    let encoding = encoding.output_encoding();
    if encoding == UTF_8 || reference.is_ascii() {
        return Cow::Borrowed(reference);
    }
    let fragment = reference.find('#').unwrap_or(reference.len());
    let Some(query) = reference[..fragment].find('?').filter(|at| !reference[*at..fragment].is_ascii()) else {
        return Cow::Borrowed(reference);
    };
    let mut text = String::with_capacity(reference.len() * 2);
    text.push_str(&reference[..query]);
    // Encoded run by run, since an encoder with states returns to ASCII before the next ASCII character.
    let mut rest = &reference[query..fragment];
    while !rest.is_empty() {
        let ascii = rest.find(|c: char| !c.is_ascii()).unwrap_or(rest.len());
        text.push_str(&rest[..ascii]);
        rest = &rest[ascii..];
        let run = rest.find(|c: char| c.is_ascii()).unwrap_or(rest.len());
        add_run(&mut text, &rest[..run], encoding);
        rest = &rest[run..];
    }
    text.push_str(&reference[fragment..]);
    Cow::Owned(text)
}

/// Adds characters beyond ASCII; one that the encoding lacks becomes its character reference.
fn add_run(text: &mut String, mut run: &str, encoding: &'static Encoding) {
    let mut encoder = encoding.new_encoder();
    let mut buffer = [0; 1024];
    loop {
        let (result, read, written) = encoder.encode_from_utf8_without_replacement(run, &mut buffer, true);
        buffer[..written].iter().for_each(|byte| add_byte(text, *byte));
        run = &run[read..];
        match result {
            EncoderResult::InputEmpty => return,
            EncoderResult::OutputFull => {}
            // Writing to a string cannot fail.
            EncoderResult::Unmappable(character) => {
                let _ = write!(text, "%26%23{}%3B", u32::from(character));
            }
        }
    }
}

/// Adds one byte: as it is unless it is in the "special-query percent-encode set".
fn add_byte(text: &mut String, byte: u8) {
    if matches!(byte, b'!' | b'$'..=b'&' | b'('..=b';' | b'=' | b'?'..=b'~') {
        text.push(char::from(byte));
    } else {
        let _ = write!(text, "%{byte:02X}");
    }
}

#[cfg(test)]
mod tests {
    use encoding_rs::{BIG5, GBK, ISO_2022_JP, SHIFT_JIS, UTF_16LE, WINDOWS_1251, WINDOWS_1252};

    use super::*;

    #[test]
    fn only_the_query_is_encoded_and_only_what_is_not_ascii() {
        for (encoding, reference, expected) in [
            (WINDOWS_1251, "/\u{438}?q=\u{438} x&r=%41#\u{438}", "/\u{438}?q=%E8 x&r=%41#\u{438}"),
            (WINDOWS_1252, "?q=\u{e9}", "?q=%E9"),
            (WINDOWS_1252, "?q=\u{438}", "?q=%26%231080%3B"),
            (WINDOWS_1252, "x#a?\u{e9}", "x#a?\u{e9}"),
            (GBK, "?q=\u{4e2d}\u{6587}", "?q=%D6%D0%CE%C4"),
            (BIG5, "?q=\u{529f}", "?q=%A5\\"),
            (SHIFT_JIS, "?q=\u{8868}", "?q=%95\\"),
            (ISO_2022_JP, "?q=\u{3042}&r", "?q=%1B$B$%22%1B(B&r"),
            (UTF_16LE, "?q=\u{e9}", "?q=\u{e9}"),
            (UTF_8, "?q=\u{e9}", "?q=\u{e9}"),
        ] {
            assert_eq!(encoded(reference, encoding), expected, "{}", encoding.name());
        }
    }

    #[test]
    fn a_long_query_is_encoded_to_its_end() {
        let reference = format!("?{}", "\u{4e2d}".repeat(5000));
        assert_eq!(encoded(&reference, GBK), format!("?{}", "%D6%D0".repeat(5000)));
    }
}
