//! Detects and undoes the compression of a stream.

use std::io::{self, BufRead, BufReader};

use flate2::bufread::MultiGzDecoder;

const GZIP: [u8; 2] = [0x1f, 0x8b];
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Decompresses a stream that begins like gzip (one member or several) or zstd.
pub(super) fn decoded<'a>(mut input: impl BufRead + Send + 'a) -> io::Result<Box<dyn BufRead + Send + 'a>> {
    let first = beginning(&mut input)?;
    if first.starts_with(&GZIP) {
        return Ok(Box::new(BufReader::with_capacity(256 * 1024, MultiGzDecoder::new(input))));
    }
    if first.starts_with(&ZSTD) {
        return Ok(Box::new(BufReader::with_capacity(256 * 1024, zstd::stream::read::Decoder::with_buffer(input)?)));
    }
    Ok(Box::new(input))
}

/// Skips white space but tabs, and byte order marks, and returns the next bytes without taking them. Returns none only at the end.
pub(super) fn beginning(input: &mut impl BufRead) -> io::Result<&[u8]> {
    loop {
        let buffer = input.fill_buf()?;
        if buffer.starts_with(BYTE_ORDER_MARK) {
            input.consume(BYTE_ORDER_MARK.len());
            continue;
        }
        // A tab may begin a table whose first column has no name.
        let is_space = |byte: &u8| byte.is_ascii_whitespace() && *byte != b'\t';
        let space = buffer.iter().take_while(|byte| is_space(byte)).count();
        if buffer.is_empty() || space < buffer.len() {
            input.consume(space);
            break;
        }
        input.consume(space);
    }
    input.fill_buf()
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    fn text(bytes: &[u8]) -> String {
        let mut text = String::new();
        decoded(bytes).unwrap().read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn what_is_compressed_is_told_by_its_first_bytes() {
        let gzip = |text: &str| {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(text.as_bytes()).unwrap();
            encoder.finish().unwrap()
        };
        assert_eq!(text(b" plain"), "plain");
        assert_eq!(text(&[gzip("one "), gzip("two")].concat()), "one two");
        assert_eq!(text(&zstd::encode_all(&b"three"[..], 1).unwrap()), "three");
        assert_eq!(text(b""), "");
    }
}
