//! Text strings (ISO 32000-2, section 7.9.2.2): UTF-16 or UTF-8 with a mark, else PDFDocEncoding.

use encoding_rs::{UTF_8, UTF_16BE, UTF_16LE};

/// The characters of PDFDocEncoding from 0x18 on, where it differs from Latin-1 (annex D.2).
const FROM_18: [char; 8] = ['\u{2d8}', '\u{2c7}', '\u{2c6}', '\u{2d9}', '\u{2dd}', '\u{2db}', '\u{2da}', '\u{2dc}'];
/// Those from 0x80 on.
const FROM_80: [char; 33] = [
    '•', '†', '‡', '…', '—', '–', 'ƒ', '⁄', '‹', '›', '−', '‰', '„', '“', '”', '‘', '’', '‚', '™', 'ﬁ', 'ﬂ', 'Ł', 'Œ',
    'Š', 'Ÿ', 'Ž', 'ı', 'ł', 'œ', 'š', 'ž', '\u{fffd}', '€',
];

/// Returns the text of a string; `None` if it is empty.
pub(super) fn decoded(bytes: &[u8]) -> Option<String> {
    let text = match bytes {
        [0xfe, 0xff, rest @ ..] => UTF_16BE.decode_without_bom_handling(rest).0.into_owned(),
        [0xff, 0xfe, rest @ ..] => UTF_16LE.decode_without_bom_handling(rest).0.into_owned(),
        [0xef, 0xbb, 0xbf, rest @ ..] => UTF_8.decode_without_bom_handling(rest).0.into_owned(),
        bytes => bytes.iter().map(|byte| character(*byte)).collect(),
    };
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

fn character(byte: u8) -> char {
    match byte {
        0x18..=0x1f => FROM_18[usize::from(byte - 0x18)],
        0x80..=0xa0 => FROM_80[usize::from(byte - 0x80)],
        byte => char::from(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_read_in_all_three_encodings() {
        for (bytes, expected) in [
            (&b"Tide tables"[..], Some("Tide tables")),
            (b"caf\xe9 \x84 \xa0\x92", Some("café — €™")),
            (b"\xfe\xff\x04\x1f\x04\x40", Some("Пр")),
            (b"\xff\xfe\x1f\x04", Some("П")),
            (b"\xef\xbb\xbf\xd0\x9f", Some("П")),
            (b" \0", None),
            (b"\xfe\xff", None),
        ] {
            assert_eq!(decoded(bytes).as_deref(), expected, "{}", bytes.escape_ascii());
        }
    }
}
