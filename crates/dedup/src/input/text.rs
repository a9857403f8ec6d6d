//! Turns text with a byte order mark, or in UTF-16, into UTF-8.

use std::io::{self, BufRead, Read};

use encoding_rs::{CoderResult, Decoder, Encoding, UTF_16BE, UTF_16LE};

use super::stream::Stream;

/// Room for decoded text, in bytes.
const ROOM: usize = 64 * 1024;

/// The encoding of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextEncoding {
    /// UTF-8 or anything like it, behind a mark of so many bytes.
    Bytes(usize),
    /// UTF-16, behind a mark of so many bytes.
    Utf16(&'static Encoding, usize),
}

impl TextEncoding {
    /// Returns the encoding of a text that begins like this. Without a mark, UTF-16 shows by its zeros.
    pub(super) fn of(first: &[u8]) -> Self {
        match first {
            [0xef, 0xbb, 0xbf, ..] => Self::Bytes(3),
            [0xff, 0xfe, ..] => Self::Utf16(UTF_16LE, 2),
            [0xfe, 0xff, ..] => Self::Utf16(UTF_16BE, 2),
            [a, 0, b, 0, c, 0, ..] if [a, b, c].iter().all(|byte| is_text(**byte)) => Self::Utf16(UTF_16LE, 0),
            [0, a, 0, b, 0, c, ..] if [a, b, c].iter().all(|byte| is_text(**byte)) => Self::Utf16(UTF_16BE, 0),
            _ => Self::Bytes(0),
        }
    }

    /// Whether a byte order mark begins the text.
    pub(super) fn has_mark(self) -> bool {
        !matches!(self, Self::Bytes(0) | Self::Utf16(_, 0))
    }

    /// Returns the beginning of a text in UTF-8.
    pub(super) fn decoded(self, first: &[u8]) -> Vec<u8> {
        match self {
            Self::Bytes(mark) => first[mark..].to_vec(),
            Self::Utf16(encoding, mark) => {
                encoding.decode_without_bom_handling(&first[mark..]).0.into_owned().into_bytes()
            }
        }
    }

    /// Returns the stream without its mark.
    pub(super) fn unmarked(self, mut stream: Stream<'_>) -> Stream<'_> {
        let (Self::Bytes(mark) | Self::Utf16(_, mark)) = self;
        stream.peek(mark);
        stream.advance(mark);
        stream
    }

    /// Returns the whole text in UTF-8, without its mark.
    pub(super) fn reader(self, stream: Stream<'_>) -> Utf8<'_> {
        let decoder = match self {
            Self::Bytes(_) => None,
            Self::Utf16(encoding, _) => Some(encoding.new_decoder_without_bom_handling()),
        };
        Utf8 { stream: self.unmarked(stream), decoder, text: String::new(), at: 0 }
    }
}

fn is_text(byte: u8) -> bool {
    byte.is_ascii_graphic() || byte.is_ascii_whitespace()
}

/// A text in UTF-8. Tells damage as [`Stream`] does.
pub(super) struct Utf8<'a> {
    stream: Stream<'a>,
    /// `None` for text that is in UTF-8.
    decoder: Option<Decoder>,
    text: String,
    at: usize,
}

impl Read for Utf8<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let ready = self.fill_buf()?;
        let count = ready.len().min(buffer.len());
        buffer[..count].copy_from_slice(&ready[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Utf8<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let Some(decoder) = &mut self.decoder else { return self.stream.fill_buf() };
        while self.at == self.text.len() {
            let bytes = self.stream.fill_buf()?;
            if bytes.is_empty() {
                break;
            }
            self.text.clear();
            self.at = 0;
            self.text.reserve(ROOM);
            let (result, read, _) = decoder.decode_to_string(bytes, &mut self.text, false);
            debug_assert!(read > 0 || result == CoderResult::OutputFull);
            self.stream.consume(read);
        }
        Ok(&self.text.as_bytes()[self.at..])
    }

    fn consume(&mut self, count: usize) {
        match self.decoder {
            Some(_) => self.at += count,
            None => self.stream.consume(count),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_taken_off_and_utf_16_is_undone() {
        let text = "{\"text\":\"Grüße, 世界 🦀\"}\n".repeat(9000);
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for bytes in [
            text.clone().into_bytes(),
            [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            [b"\xff\xfe", &little[..]].concat(),
            [b"\xfe\xff", &big[..]].concat(),
            little,
            big,
        ] {
            let encoding = TextEncoding::of(&bytes);
            assert!(encoding.decoded(&bytes[..200]).starts_with(b"{\"text\":"));
            let mut read = String::new();
            encoding.reader(Stream::new(&bytes[..])).read_to_string(&mut read).unwrap();
            assert!(read == text, "{encoding:?}");
        }
    }
}
