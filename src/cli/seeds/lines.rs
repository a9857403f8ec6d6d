//! From the bytes of a seed file to its lines: UTF-8 or UTF-16, and line ends of any system.

/// A line of a seed file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Its number, from 1.
    pub number: usize,
    /// Its text without line end. If it is damaged: what can be read of it, and the reason.
    pub text: Result<String, (String, &'static str)>,
}

/// How characters are written.
#[derive(Clone, Copy)]
enum Form {
    Utf8,
    Utf16(fn([u8; 2]) -> u16),
}

/// Returns the lines, empty ones included. Lines end with LF, CR LF or CR.
pub(super) fn lines(bytes: &[u8]) -> Vec<Line> {
    let (form, bytes) = form_of(bytes);
    let read: Vec<_> = match form {
        Form::Utf8 => split(bytes, b'\r', b'\n').map(utf_8).collect(),
        Form::Utf16(unit) => {
            let (pairs, rest) = bytes.as_chunks::<2>();
            let mut units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
            // Half a character is as damaged as half of a pair.
            units.extend(rest.first().map(|_| 0xd800));
            split(&units, u16::from(b'\r'), u16::from(b'\n')).map(utf_16).collect()
        }
    };
    (1..).zip(read).map(|(number, text)| Line { number, text }).collect()
}

/// Whether these are characters. A text has no NUL.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    const BEGINNING: usize = 8 << 10;
    !matches!(form_of(bytes), (Form::Utf8, text) if text[..text.len().min(BEGINNING)].contains(&0))
}

/// Tells the form by the byte order mark, which is left out, or by the zero bytes that Latin letters have in UTF-16.
fn form_of(bytes: &[u8]) -> (Form, &[u8]) {
    match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => (Form::Utf8, rest),
        [0xff, 0xfe, rest @ ..] => (Form::Utf16(u16::from_le_bytes), rest),
        [0xfe, 0xff, rest @ ..] => (Form::Utf16(u16::from_be_bytes), rest),
        [1..=255, 0, 1..=255, 0, ..] => (Form::Utf16(u16::from_le_bytes), bytes),
        [0, 1..=255, 0, 1..=255, ..] => (Form::Utf16(u16::from_be_bytes), bytes),
        _ => (Form::Utf8, bytes),
    }
}

/// Splits at line ends; CR LF is one.
fn split<T: Copy + PartialEq>(all: &[T], cr: T, lf: T) -> impl Iterator<Item = &[T]> {
    let mut rest = Some(all);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(end) = text.iter().position(|unit| *unit == cr || *unit == lf) else { return rest.take() };
        let length = if text[end..].starts_with(&[cr, lf]) { 2 } else { 1 };
        rest = Some(&text[end + length..]);
        Some(&text[..end])
    })
}

fn utf_8(line: &[u8]) -> Result<String, (String, &'static str)> {
    let text = std::str::from_utf8(line).map(str::to_owned);
    text.map_err(|_| (String::from_utf8_lossy(line).into_owned(), "not UTF-8"))
}

fn utf_16(line: &[u16]) -> Result<String, (String, &'static str)> {
    String::from_utf16(line).map_err(|_| (String::from_utf16_lossy(line), "not UTF-16"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(bytes: &[u8]) -> Vec<String> {
        let texts = lines(bytes).into_iter().map(|line| match line.text {
            Ok(text) => text,
            Err((text, why)) => format!("{text}: {why}"),
        });
        texts.collect()
    }

    #[test]
    fn lines_end_as_on_any_system() {
        for text in ["a\nb\n\nc", "a\rb\r\rc", "a\r\nb\r\n\r\nc", "a\rb\n\r\nc", "\u{feff}a\nb\n\nc"] {
            assert_eq!(texts(text.as_bytes()), ["a", "b", "", "c"], "{text:?}");
        }
        assert_eq!(lines(b"a\r\nb")[1].number, 2);
        assert_eq!(texts(b"a\n"), ["a", ""]);
    }

    #[test]
    fn utf_16_is_read_with_and_without_its_mark() {
        let text = "http://a.test/é\r\nhttp://b.test/\u{1f600}\rx";
        let expected = ["http://a.test/é", "http://b.test/\u{1f600}", "x"];
        for mark in [true, false] {
            let units = || mark.then_some(0xfeff).into_iter().chain(text.encode_utf16());
            assert_eq!(texts(&units().flat_map(u16::to_le_bytes).collect::<Vec<u8>>()), expected);
            assert_eq!(texts(&units().flat_map(u16::to_be_bytes).collect::<Vec<u8>>()), expected);
        }
    }

    #[test]
    fn a_damaged_line_leaves_the_others() {
        assert_eq!(texts(b"a\nb\xff\nc"), ["a", "b\u{fffd}: not UTF-8", "c"]);
        assert_eq!(texts(b"\xff\xfea\0\n\0\x00\xd8\n\0c\0"), ["a", "\u{fffd}: not UTF-16", "c"]);
        assert_eq!(texts(b"\xff\xfea\0\n\0c\0d"), ["a", "c\u{fffd}: not UTF-16"]);
    }
}
