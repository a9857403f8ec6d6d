//! A decoded stream that can be looked at before it is taken, and that tells where its members end.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read};

use super::layers::{self, Layer};
use super::members::{Members, Piece};

/// Bytes that are taken before their room is used again.
const ROOM: usize = 256 * 1024;
/// Compressions inside each other that are undone.
const MOST_LAYERS: usize = 3;
/// Most faults behind which rows or objects are looked for: a disk that cannot be read has no end of them.
pub(super) const MOST_FAULTS: u32 = 1000;

/// What stands between two bytes of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// A member ended.
    End {
        /// Whether it has a checksum, which agrees.
        is_checked: bool,
    },
    /// Something is missing or wrong before the next byte.
    Broken(String),
}

/// The decoded bytes of a file, in order.
///
/// As a [`BufRead`] it tells each damage once, as an error, and can be read on behind it; the end of a member does not
/// show.
pub(super) struct Stream<'a> {
    members: Members<'a>,
    bytes: Vec<u8>,
    /// The next byte in `bytes`.
    at: usize,
    /// Number of bytes before `bytes`.
    before: u64,
    /// Marks that are not passed, each with the number of bytes before it.
    marks: VecDeque<(u64, Mark)>,
    /// Whether a layer was undone that has no members of its own.
    is_compressed: bool,
}

impl<'a> Stream<'a> {
    /// Undoes the compression of a file, and that of its content if it is compressed as well.
    pub(super) fn new(input: impl Read + Send + 'a) -> Self {
        let mut stream = Self::of(input);
        for _ in 1..MOST_LAYERS {
            stream = match Layer::of(stream.peek(layers::LOOK)) {
                Some(layer) => {
                    let mut decoded = Self::of(layer.undo(stream));
                    decoded.is_compressed = true;
                    decoded
                }
                None if stream.members.is_compressed() && Members::is_begin(stream.peek(4)) => Self::of(stream),
                None => break,
            };
        }
        stream
    }

    fn of(input: impl Read + Send + 'a) -> Self {
        Self {
            members: Members::new(input),
            bytes: Vec::new(),
            at: 0,
            before: 0,
            marks: VecDeque::new(),
            is_compressed: false,
        }
    }

    /// Returns whether the stream was compressed.
    pub(super) fn is_compressed(&self) -> bool {
        self.is_compressed || self.members.is_compressed()
    }

    /// Returns the bytes that are decoded and not taken.
    pub(super) fn buffered(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    /// Decodes more. Returns false at the end.
    pub(super) fn more(&mut self) -> bool {
        if self.at > ROOM || self.at == self.bytes.len() {
            self.bytes.drain(..self.at);
            self.before += self.at as u64;
            self.at = 0;
        }
        let mark = match self.members.read(&mut self.bytes) {
            Piece::Bytes => return true,
            Piece::Over => return false,
            Piece::End { is_checked } => Mark::End { is_checked },
            Piece::Broken(why) => Mark::Broken(why),
        };
        self.marks.push_back((self.before + self.bytes.len() as u64, mark));
        true
    }

    /// Returns up to `count` of the next bytes without taking them; fewer only at the end.
    pub(super) fn peek(&mut self, count: usize) -> &[u8] {
        while self.buffered().len() < count && self.more() {}
        let next = self.buffered();
        &next[..next.len().min(count)]
    }

    /// Returns the number of decoded bytes before the next one.
    pub(super) fn position(&self) -> u64 {
        self.before + self.at as u64
    }

    /// Returns how many marks stand before `ahead` of the next bytes.
    pub(super) fn marks_before(&self, ahead: usize) -> usize {
        let place = self.position().saturating_add(ahead as u64);
        self.marks.partition_point(|(other, _)| *other < place)
    }

    /// Returns the mark of this number that is not passed, with the number of bytes before it.
    pub(super) fn mark_at(&self, number: usize) -> Option<(usize, &Mark)> {
        let (place, mark) = self.marks.get(number)?;
        Some((place.saturating_sub(self.position()) as usize, mark))
    }

    /// Returns the first mark behind `ahead` of the next bytes.
    pub(super) fn mark_behind(&self, ahead: usize) -> Option<(usize, &Mark)> {
        self.mark_at(self.marks_before(ahead))
    }

    /// Takes bytes, and the marks before and between them. Marks right behind them stay.
    pub(super) fn advance(&mut self, count: usize) {
        self.at += count.min(self.buffered().len());
        let position = self.position();
        while self.marks.front().is_some_and(|(place, _)| *place < position) {
            self.marks.pop_front();
        }
    }

    /// Takes the first mark, if it stands before the next byte.
    pub(super) fn take_mark(&mut self) -> Option<Mark> {
        let position = self.position();
        let is_here = self.marks.front().is_some_and(|(place, _)| *place == position);
        if is_here { self.marks.pop_front().map(|(_, mark)| mark) } else { None }
    }
}

impl Read for Stream<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let ready = self.fill_buf()?;
        let count = ready.len().min(buffer.len());
        buffer[..count].copy_from_slice(&ready[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Stream<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        loop {
            match self.mark_behind(0) {
                Some((0, _)) => {
                    if let Some(Mark::Broken(why)) = self.take_mark() {
                        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
                    }
                }
                Some((ahead, _)) => return Ok(&self.bytes[self.at..self.at + ahead]),
                None if !self.buffered().is_empty() => return Ok(&self.bytes[self.at..]),
                None => {
                    if !self.more() {
                        return Ok(&[]);
                    }
                }
            }
        }
    }

    fn consume(&mut self, count: usize) {
        self.advance(count);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Write;

    use super::super::InputItem;
    use super::*;

    pub(in super::super) fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    pub(in super::super) fn zstd(text: &[u8]) -> Vec<u8> {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.include_checksum(true).unwrap();
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    pub(in super::super) fn skippable(kind: u8, content: &[u8]) -> Vec<u8> {
        let length = (content.len() as u32).to_le_bytes();
        [&[kind, 0x2a, 0x4d, 0x18], &length[..], content].concat()
    }

    /// Checks what is read of rows 0 to 119 with these texts, of which those from 40 on are damaged: all before and, from
    /// `again` on, all behind.
    pub(in super::super) fn assert_read_on(
        items: impl IntoIterator<Item = InputItem>,
        text: impl Fn(u32) -> String,
        again: u32,
    ) {
        let (mut read, mut faults) = (Vec::new(), 0);
        for item in items {
            match item {
                InputItem::Answer(document) => {
                    let id = document.row.as_ref().unwrap().id.clone().unwrap().parse().unwrap();
                    assert_eq!(document.fetched.body, text(id).into_bytes());
                    read.push(id);
                }
                InputItem::Damaged(damage) => {
                    assert!(!damage.breaks_off, "{damage:?}");
                    faults += 1;
                }
                other => panic!("{other:?}"),
            }
        }
        assert!(read.starts_with(&(0..40).collect::<Vec<_>>()) && faults >= 1, "{read:?}");
        assert!(read.ends_with(&(again..120).collect::<Vec<_>>()), "{read:?}");
    }

    /// The text between damages, and how many of these there are.
    fn read(bytes: &[u8]) -> (String, usize) {
        let (mut stream, mut text, mut damaged) = (Stream::new(bytes), Vec::new(), 0);
        loop {
            match stream.read_to_end(&mut text) {
                Ok(_) => return (String::from_utf8_lossy(&text).into_owned(), damaged),
                Err(_) => damaged += 1,
            }
        }
    }

    #[test]
    fn what_is_compressed_is_told_by_its_first_bytes() {
        let cases: [(Vec<u8>, &str); 9] = [
            (b" plain".to_vec(), " plain"),
            (Vec::new(), ""),
            ([gzip(b"one "), gzip(b""), gzip(b"two")].concat(), "one two"),
            (zstd(b"three"), "three"),
            ([zstd(b"one "), zstd(b"two")].concat(), "one two"),
            ([skippable(0x50, b"made by hand"), zstd(b"one "), skippable(0x5f, b""), zstd(b"two")].concat(), "one two"),
            ([gzip(b"one "), vec![0; 512], gzip(b"two"), vec![0; 700]].concat(), "one two"),
            (gzip(&zstd(&gzip(b"deep"))), "deep"),
            ([gzip(b"a "), zstd(b"b")].concat(), "a b"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(read(&bytes), (expected.to_owned(), 0), "{bytes:?}");
        }
    }

    #[test]
    fn reading_goes_on_behind_a_damaged_member() {
        for make in [gzip, zstd] {
            let words: String = (0..400).map(|word| format!("{word} ")).collect();
            let (first, second, third) = (make(b"first "), make(words.as_bytes()), make(b"third"));
            let mut flipped = second.clone();
            let end = flipped.len() - 2;
            flipped[end] ^= 1;
            let (text, damaged) = read(&[&first[..], &flipped, &third].concat());
            assert!(text.starts_with("first ") && text.ends_with("third"), "{text}");
            assert_eq!(damaged, 1);
            for cut in 1..second.len() {
                let (text, damaged) = read(&[&first[..], &second[..cut], &third].concat());
                assert!(text.starts_with("first ") && text.ends_with("third"), "{cut}: {text}");
                assert!((1..=2).contains(&damaged), "{cut}: {damaged}");
                let (text, damaged) = read(&[&first[..], &second[..cut]].concat());
                assert!(text.starts_with("first "), "{cut}: {text}");
                assert_eq!(damaged, 1, "{cut}");
            }
            let (text, damaged) = read(&[&first[..], b"junk", &third].concat());
            assert_eq!((text.as_str(), damaged), ("first third", 1));
        }
    }

    #[test]
    fn junk_between_members_that_looks_like_a_frame_takes_no_member() {
        let junk = b"\x08\0\0W\x28\xb5\x2f\xfd\0";
        assert_eq!(read(&[&gzip(b"one "), &junk[..], &gzip(b"two")].concat()), ("one two".to_owned(), 1));
        assert_eq!(read(&[&zstd(b"one "), &junk[..4], &zstd(b"two")].concat()), ("one two".to_owned(), 1));
    }

    #[test]
    fn a_dictionary_is_taken_as_it_is_or_compressed_and_a_later_one_replaces_it() {
        let encode = |dictionary: &[u8], text: &[u8]| {
            let mut encoder = zstd::Encoder::with_dictionary(Vec::new(), 3, dictionary).unwrap();
            encoder.include_checksum(true).unwrap();
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        };
        // Trained on records of two sites.
        let one = include_bytes!("../../../../tests/data/zstd/dictionary-one");
        let two = include_bytes!("../../../../tests/data/zstd/dictionary-two");
        let record = |site: &str| {
            format!("WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://{site}.test/").into_bytes()
        };
        let file = [
            skippable(0x50, b"before"),
            skippable(0x5d, one),
            encode(one, &record("one")),
            encode(one, b" beta gamma "),
            skippable(0x5d, &zstd(two)),
            encode(two, &record("two")),
            skippable(0x5d, b"of another program"),
            skippable(0x5d, &zstd(b"of another program")),
            encode(two, b"end"),
        ];
        let expected = [&record("one")[..], b" beta gamma ", &record("two"), b"end"].concat();
        assert_eq!(read(&file.concat()), (String::from_utf8(expected).unwrap(), 0));
        assert_eq!(read(&[encode(one, &record("one")), zstd(b"plain")].concat()), ("plain".to_owned(), 1));
        // Magic number and nothing behind it.
        let unusable = skippable(0x5d, &[0x37, 0xa4, 0x30, 0xec, 1, 2, 3, 4, 5]);
        assert_eq!(read(&[unusable, zstd(b"plain")].concat()), ("plain".to_owned(), 1));
        assert_eq!(read(&skippable(0x5d, one)[..20]).1, 1);
    }
}
