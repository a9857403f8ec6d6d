//! Undoes bzip2, xz and LZ4: compressions whose damage nothing is read behind.

use std::io::{self, BufRead, BufReader, Read};

use bzip2::read::MultiBzDecoder;
use lz4_flex::frame::FrameDecoder;
use lzma_rust2::XzReader;

/// Bytes by which a compression is known.
pub(super) const LOOK: usize = 10;

/// A compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layer {
    Bzip2,
    Xz,
    Lz4,
}

impl Layer {
    /// Returns the compression of what begins like this.
    pub(super) fn of(first: &[u8]) -> Option<Self> {
        match first {
            [b'B', b'Z', b'h', b'1'..=b'9', rest @ ..] if is_block(rest) => Some(Self::Bzip2),
            _ if first.starts_with(b"\xfd7zXZ\0") => Some(Self::Xz),
            _ if first.starts_with(b"\x04\x22\x4d\x18") => Some(Self::Lz4),
            _ => None,
        }
    }

    /// Returns what the input holds. Several streams behind each other are one text.
    pub(super) fn undo<'a>(self, input: impl Read + Send + 'a) -> Box<dyn Read + Send + 'a> {
        match self {
            Self::Bzip2 => Box::new(MultiBzDecoder::new(input)),
            Self::Xz => Box::new(XzReader::new(input, true)),
            Self::Lz4 => {
                Box::new(Lz4Frames { frame: Some(FrameDecoder::new(BufReader::new(Tail { input, last: [0; 8] }))) })
            }
        }
    }
}

/// Whether a stream goes on with a block, or ends without one.
fn is_block(rest: &[u8]) -> bool {
    rest.starts_with(b"1AY&SY") || rest.starts_with(b"\x17\x72\x45\x38\x50\x90")
}

/// The frames of LZ4 of an input, one behind the other.
struct Lz4Frames<R: Read> {
    frame: Option<FrameDecoder<BufReader<Tail<R>>>>,
}

/// Knows the last bytes of its input. The decoder takes an input that ends between two blocks for a whole one.
struct Tail<R> {
    input: R,
    last: [u8; 8],
}

impl<R> Tail<R> {
    /// Whether the end of a frame came last: a block of no length, with or without a checksum behind it.
    fn is_end(&self) -> bool {
        self.last[4..] == [0; 4] || self.last[..4] == [0; 4]
    }
}

impl<R: Read> Read for Tail<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        let new = read.min(8);
        self.last.rotate_left(new);
        self.last[8 - new..].copy_from_slice(&buffer[read - new..read]);
        Ok(read)
    }
}

impl<R: Read> Read for Lz4Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(frame) = &mut self.frame else { return Ok(0) };
            let read = frame.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            // A frame has ended; the next one begins, or the input is over.
            if frame.get_mut().fill_buf()?.is_empty() {
                let is_whole = frame.get_ref().get_ref().is_end();
                self.frame = None;
                if !is_whole {
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file ends within a frame of LZ4"));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::super::stream::Stream;
    use super::super::stream::tests::gzip;
    use super::*;

    fn bzip2(text: &[u8]) -> Vec<u8> {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn lz4(text: &[u8]) -> Vec<u8> {
        let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn read(bytes: &[u8]) -> (String, usize) {
        let (mut stream, mut text, mut damaged) = (Stream::new(bytes), Vec::new(), 0);
        while stream.read_to_end(&mut text).is_err() {
            damaged += 1;
        }
        (String::from_utf8_lossy(&text).into_owned(), damaged)
    }

    #[test]
    fn what_is_compressed_is_read_in_one_part_or_several_and_within_each_other() {
        // `xz -0` of "one" and of "two".
        let xz = |word: &str| match word {
            "one" => include_bytes!("../../../../tests/data/xz/one.xz").to_vec(),
            _ => include_bytes!("../../../../tests/data/xz/two.xz").to_vec(),
        };
        for make in [&bzip2 as &dyn Fn(&[u8]) -> Vec<u8>, &lz4] {
            let (one, two) = (make(b"one"), make(b"two"));
            assert_eq!(read(&one), ("one".to_owned(), 0));
            assert_eq!(read(&[&one[..], &two].concat()), ("onetwo".to_owned(), 0));
            assert_eq!(read(&gzip(&one)), ("one".to_owned(), 0));
            assert_eq!(read(&make(&gzip(b"one"))), ("one".to_owned(), 0));
            assert_eq!(read(&one[..one.len() - 2]).1, 1, "a cut file is told");
        }
        assert_eq!(read(&[xz("one"), xz("two")].concat()), ("onetwo".to_owned(), 0));
        assert_eq!(read(&xz("one")[..40]).1, 1);
        assert_eq!(read(b"BZhang wrote this"), ("BZhang wrote this".to_owned(), 0));
    }
}
