//! One spelling for percent-encoded bytes (RFC 3986, sections 2.1, 2.3 and 6.2.2).

use std::borrow::Cow;

/// Unescapes unreserved bytes (`A-Z a-z 0-9 - . _ ~`) and writes all other escapes in upper case.
///
/// Bytes that unescaping brings together are checked again (`%%300` is `%00`), so that the result is its own normal form. A
/// `%` that begins no escape stays. Linear: every look-back shortens the text.
pub(super) fn normalise(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        out.push(character);
        while let Some(byte) = trailing_escape(&out) {
            let start = out.len() - 3;
            if !is_unreserved(byte) {
                out[start..].make_ascii_uppercase();
                break;
            }
            out.truncate(start);
            out.push(char::from(byte));
        }
    }
    Cow::Owned(out)
}

/// Returns the byte that the last three characters encode, if they are an escape.
fn trailing_escape(text: &str) -> Option<u8> {
    let [.., b'%', high, low] = text.as_bytes() else { return None };
    Some(hex_value(*high)? << 4 | hex_value(*low)?)
}

fn hex_value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

#[cfg(test)]
mod tests {
    use super::normalise;

    #[test]
    fn unreserved_bytes_are_unescaped_and_all_others_keep_their_escape() {
        for (text, expected) in [
            ("/%7Ea%2db", "/~a-b"),
            ("/%2f%3a%c3%a9", "/%2F%3A%C3%A9"),
            ("/%zz%4", "/%zz%4"),
            ("/%%300", "/%00"),
            ("/%25%34%31", "/%2541"),
            ("/%%%343431", "/%C431"),
        ] {
            assert_eq!(normalise(text), expected, "{text}");
        }
    }
}
