//! *Which bytes did the server encode?* Undoes content codings and transfer codings.
//!
//! The codings of a message are one list over all of its lines, in the order in which they were applied (RFC 9110,
//! sections 5.3 and 8.4). Names come in any case, and some servers send names that mean nothing.

use std::io::{self, Read};

use flate2::Crc;
use flate2::bufread::{DeflateDecoder, ZlibDecoder};

/// Most codings of one body. Nobody needs more than two; each costs its time.
const MOST_CODINGS: usize = 5;
/// The largest window of zstd on the web is 8 MiB (RFC 9659, section 3).
const ZSTD_WINDOW_LOG: u32 = 23;
/// Buffer of the Brotli decoder in bytes.
const BROTLI_BUFFER: usize = 4096;
/// Bytes that are searched for signs of binary data (WHATWG MIME Sniffing, section 5.2).
const TEXT_HEAD: usize = 1445;

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// A coding that can be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Gzip,
    /// With the wrapper of zlib, as the standard has it, or without.
    Deflate,
    Brotli,
    Zstd,
}

impl Coding {
    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }

    /// Whether each body in this coding begins alike.
    fn is_marked(self) -> bool {
        matches!(self, Self::Gzip | Self::Zstd)
    }

    /// Whether bytes begin like this coding. Brotli and a deflate stream without wrapper have no beginning of their
    /// own.
    fn may_begin(self, body: &[u8]) -> bool {
        match self {
            Self::Gzip => body.starts_with(&GZIP),
            Self::Zstd => is_zstd(body),
            Self::Deflate | Self::Brotli => true,
        }
    }
}

/// The codings of a body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Codings {
    /// In the order in which they were applied.
    applied: Vec<Coding>,
    /// A name that is a coding which is not read, or no coding at all.
    unread: Option<Unread>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Unread {
    name: String,
    /// Whether it is registered (IANA, "HTTP Content Coding Registry").
    is_coding: bool,
}

/// A body without its codings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The bytes, at most as many as were asked for.
    pub body: Vec<u8>,
    /// Whether there were more, or would have been: the rest is over the limit or broken.
    pub is_cut: bool,
    /// Whether the encoded body ends too early. What came of it was read.
    pub is_incomplete: bool,
}

/// Why codings cannot be undone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodingError {
    /// The server used a coding that is not read.
    #[error("unknown content coding '{0}'")]
    Unread(String),
    /// More codings than anybody needs.
    #[error("{0} content codings in a row; at most {MOST_CODINGS} are undone")]
    TooMany(usize),
    /// The body has not the coding that the header names.
    #[error("the body is not {0}, although the header says so")]
    Mislabeled(&'static str),
    /// The body begins as it should and is broken later on.
    #[error("the {0} body is broken")]
    Broken(&'static str),
    /// The body ends too early.
    #[error("the {0} body ends too early")]
    Incomplete(&'static str),
}

/// How far a header is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// The header came with the body.
    Fresh,
    /// The header was archived, and the program that did it may have undone the codings. The part of a broken body
    /// that can be read is better than nothing.
    Archived,
}

impl Codings {
    /// Reads `Content-Encoding` and `Transfer-Encoding` of a header. The client, or the reader of the archive, has
    /// joined the chunks.
    pub fn of<'a>(header: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Self {
        let (mut of_content, mut of_transfer) = (Vec::new(), Vec::new());
        for (name, value) in header {
            if name.eq_ignore_ascii_case("content-encoding") {
                of_content.push(value);
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                of_transfer.push(value);
            }
        }
        let mut codings = Self::default();
        for value in of_content.into_iter().chain(of_transfer) {
            String::from_utf8_lossy(value).split(',').for_each(|name| codings.add(name));
        }
        codings
    }

    fn add(&mut self, name: &str) {
        let name = name.split(';').next().unwrap_or_default().trim().trim_matches('"').to_ascii_lowercase();
        let coding = match name.as_str() {
            // "none" is registered nowhere and frequent. "aws-chunked" is how a file was uploaded, not how it is sent.
            "" | "identity" | "none" | "chunked" | "aws-chunked" => return,
            "gzip" | "x-gzip" => Coding::Gzip,
            "deflate" | "x-deflate" => Coding::Deflate,
            "br" | "brotli" => Coding::Brotli,
            "zstd" => Coding::Zstd,
            _ => {
                let registered = ["compress", "x-compress", "exi", "pack200-gzip", "aes128gcm", "dcb", "dcz"];
                let is_coding = registered.contains(&name.as_str());
                self.unread.get_or_insert(Unread { name, is_coding });
                return;
            }
        };
        self.applied.push(coding);
    }

    /// Whether there is nothing to undo.
    pub fn are_none(&self) -> bool {
        self.applied.is_empty() && self.unread.is_none()
    }

    /// Whether no coding is undone, so that the body is as it was sent.
    pub fn are_all_unread(&self) -> bool {
        self.applied.is_empty()
    }

    /// Returns how many bytes of an encoded body may be of use, if `most` decoded ones are wanted.
    ///
    /// What cannot be compressed becomes longer by a small part of its length.
    pub fn most_encoded(&self, most: usize) -> usize {
        if self.applied.is_empty() { most } else { most.saturating_add(most / 64).saturating_add(64 * 1024) }
    }

    /// Undoes the codings. Keeps at most `most` bytes, and never unpacks much more.
    ///
    /// # Errors
    /// If the body cannot be read as what the header says it is.
    pub fn undo(&self, body: Vec<u8>, most: usize, label: Label) -> Result<Decoded, CodingError> {
        if self.applied.len() > MOST_CODINGS {
            return Err(CodingError::TooMany(self.applied.len()));
        }
        let mut decoded = Decoded { body, is_cut: false, is_incomplete: false };
        for (undone, coding) in self.applied.iter().rev().enumerate() {
            let is_last = undone + 1 == self.applied.len();
            let limit = if is_last { most } else { self.most_encoded(most) };
            // A coding that two programs wrote into the header was applied once.
            if undone > 0 && !coding.may_begin(&decoded.body) {
                break;
            }
            let inner = undo(*coding, &decoded.body, limit, label)?;
            decoded = Decoded {
                is_cut: inner.is_cut || decoded.is_cut,
                is_incomplete: inner.is_incomplete || decoded.is_incomplete,
                ..inner
            };
        }
        decoded.is_cut |= decoded.body.len() > most;
        decoded.body.truncate(most);
        match &self.unread {
            // A charset, a media type or the name of a program, where nothing was encoded.
            Some(Unread { name, is_coding }) if (*is_coding && label == Label::Fresh) || !is_text(&decoded.body) => {
                Err(CodingError::Unread(name.clone()))
            }
            _ => Ok(decoded),
        }
    }
}

/// Undoes one coding.
fn undo(coding: Coding, body: &[u8], most: usize, label: Label) -> Result<Decoded, CodingError> {
    // Redirects and errors name the coding of the body that they do not have.
    if body.is_empty() {
        return Ok(Decoded { body: Vec::new(), is_cut: false, is_incomplete: false });
    }
    if label == Label::Fresh {
        let Unpacked { body, is_over, end } = unpack(coding, body, most);
        return match end {
            Ok(()) => Ok(Decoded { body, is_cut: is_over, is_incomplete: false }),
            Err(_) if is_over => Ok(Decoded { body, is_cut: true, is_incomplete: false }),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && !body.is_empty() => {
                Ok(Decoded { body, is_cut: true, is_incomplete: true })
            }
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && coding.is_marked() => {
                Err(CodingError::Incomplete(coding.name()))
            }
            Err(_) if body.is_empty() => Err(CodingError::Mislabeled(coding.name())),
            Err(_) => Err(CodingError::Broken(coding.name())),
        };
    }
    undo_archived(coding, body, most)
}

/// Undoes a coding that may have been undone before, or may be another one.
fn undo_archived(coding: Coding, body: &[u8], most: usize) -> Result<Decoded, CodingError> {
    let marked = [Coding::Gzip, Coding::Zstd].into_iter().find(|coding| coding.may_begin(body));
    let marked = marked.or_else(|| (coding == Coding::Deflate && is_zlib(body)).then_some(coding));
    let is_unencoded = marked.is_none() && is_text(body) && std::str::from_utf8(body).is_ok();
    let candidates = match marked {
        Some(marked) => vec![marked],
        None if is_unencoded => Vec::new(),
        None if coding == Coding::Deflate => vec![coding, Coding::Brotli],
        None => vec![Coding::Brotli],
    };
    for candidate in candidates {
        let Unpacked { body, is_over, end } = unpack(candidate, body, most);
        let is_known = Some(candidate) == marked || candidate == coding;
        // Without a mark, half a body must at least be text: any bytes can begin like Brotli.
        if end.is_ok() || (is_known && !body.is_empty() && (marked.is_some() || is_text(&body))) {
            return Ok(Decoded { body, is_cut: is_over || end.is_err(), is_incomplete: false });
        }
    }
    match is_text(body) {
        true => {
            Ok(Decoded { body: body[..body.len().min(most)].to_vec(), is_cut: body.len() > most, is_incomplete: false })
        }
        false => Err(CodingError::Mislabeled(coding.name())),
    }
}

/// What came out of a decoder.
struct Unpacked {
    body: Vec<u8>,
    /// Whether the limit was reached.
    is_over: bool,
    /// How the encoded bytes ended.
    end: io::Result<()>,
}

fn unpack(coding: Coding, body: &[u8], most: usize) -> Unpacked {
    let mut unpacked = Vec::new();
    let end = match coding {
        Coding::Gzip => gunzip(body, most, &mut unpacked),
        Coding::Deflate if is_zlib(body) => read_to(ZlibDecoder::new(body), most, &mut unpacked),
        Coding::Deflate => read_to(DeflateDecoder::new(body), most, &mut unpacked),
        Coding::Brotli => {
            let reader = brotli_decompressor::Decompressor::new(body, BROTLI_BUFFER);
            read_to(reader, most, &mut unpacked)
        }
        Coding::Zstd => zstd::stream::read::Decoder::with_buffer(body).and_then(|mut reader| {
            reader.window_log_max(ZSTD_WINDOW_LOG)?;
            read_to(reader, most, &mut unpacked)
        }),
    };
    let is_over = unpacked.len() > most;
    unpacked.truncate(most);
    Unpacked { body: unpacked, is_over, end }
}

/// Reads to the end, or to one byte more than `most`.
fn read_to(reader: impl Read, most: usize, unpacked: &mut Vec<u8>) -> io::Result<()> {
    let room = (most as u64).saturating_add(1).saturating_sub(unpacked.len() as u64);
    reader.take(room).read_to_end(unpacked).map(drop)
}

/// Reads the members of a gzip stream (RFC 1952).
///
/// Bytes behind the last member are ignored, and so is a missing checksum: browsers do so, and there are servers that
/// send such.
fn gunzip(body: &[u8], most: usize, unpacked: &mut Vec<u8>) -> io::Result<()> {
    let mut rest = body;
    let mut decoder = DeflateDecoder::new(&b""[..]);
    loop {
        let Some(member) = without_gzip_header(rest) else {
            return match (rest.starts_with(&GZIP), rest.len() < body.len()) {
                (true, _) => Err(io::ErrorKind::UnexpectedEof.into()),
                (false, true) => Ok(()),
                (false, false) => Err(io::ErrorKind::InvalidData.into()),
            };
        };
        decoder.reset(member);
        let start = unpacked.len();
        read_to(&mut decoder, most, unpacked)?;
        if unpacked.len() > most {
            return Ok(());
        }
        let Some((trailer, next)) = decoder.get_ref().split_first_chunk::<8>() else { return Ok(()) };
        let mut checksum = Crc::new();
        checksum.update(&unpacked[start..]);
        if trailer[..4] != checksum.sum().to_le_bytes() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        if next.is_empty() {
            return Ok(());
        }
        rest = next;
    }
}

/// Skips the header of a gzip member (RFC 1952, section 2.3); `None` if there is none, or not all of it.
fn without_gzip_header(member: &[u8]) -> Option<&[u8]> {
    const DEFLATE: u8 = 8;
    let (head, mut rest) = member.split_first_chunk::<10>()?;
    if !head.starts_with(&GZIP) || head[2] != DEFLATE {
        return None;
    }
    let [has_checksum, has_extra, has_name, has_comment] = [2, 4, 8, 16].map(|bit| head[3] & bit != 0);
    if has_extra {
        let (length, after) = rest.split_first_chunk::<2>()?;
        rest = after.get(usize::from(u16::from_le_bytes(*length))..)?;
    }
    for _ in 0..u8::from(has_name) + u8::from(has_comment) {
        rest = &rest[memchr::memchr(0, rest)? + 1..];
    }
    if has_checksum { rest.get(2..) } else { Some(rest) }
}

/// Whether bytes begin like the wrapper of zlib (RFC 1950, section 2.2).
fn is_zlib(body: &[u8]) -> bool {
    matches!(body, [first, second, ..] if first & 0x0f == 8 && (u32::from(*first) * 256 + u32::from(*second)) % 31 == 0)
}

/// Whether bytes begin like a frame of zstd, or like one to skip (RFC 8878, section 3.1).
fn is_zstd(body: &[u8]) -> bool {
    body.starts_with(&ZSTD) || matches!(body, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// Whether bytes look like text in some encoding (WHATWG MIME Sniffing, section 7.2).
fn is_text(body: &[u8]) -> bool {
    let has_mark = body.starts_with(b"\xfe\xff") || body.starts_with(b"\xff\xfe");
    let head = &body[..body.len().min(TEXT_HEAD)];
    has_mark || !head.iter().any(|byte| matches!(byte, 0x00..=0x08 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f))
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::*;

    const MOST: usize = 10_000;
    /// "A page. " ten times, and then "The end.", by the reference encoder of Brotli.
    const BROTLI: &[u8] = b"\x1b\x57\x00\xf8\x1d\x07\x6e\x2c\xcd\x5b\x6e\xc2\xf1\x50\x09\x12\x04\xd7\x2e\x64\x65\x67\x2a\xcc\x2d\x05\x11\xe5\x9f\x72\xa0\xa5\x71\x76\xa0\x60\xab\x00";

    pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    pub(crate) fn raw_deflate(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zlib(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zstandard(bytes: &[u8]) -> Vec<u8> {
        zstd::encode_all(bytes, 3).unwrap()
    }

    fn page() -> Vec<u8> {
        ["A page. ".repeat(10).as_bytes(), b"The end."].concat()
    }

    fn codings(lines: &[&str]) -> Codings {
        Codings::of(lines.iter().map(|line| ("Content-Encoding", line.as_bytes())))
    }

    fn undone(lines: &[&str], body: &[u8], label: Label) -> Result<(Vec<u8>, bool), CodingError> {
        codings(lines).undo(body.to_vec(), MOST, label).map(|Decoded { body, is_cut, .. }| (body, is_cut))
    }

    #[test]
    fn names_are_a_list_over_all_lines_in_any_case() {
        let twice = gzip(&gzip(&page()));
        for (lines, body) in [
            (&["GZIP"][..], gzip(&page())),
            (&["x-gzip"], gzip(&page())),
            (&["\"gzip\""], gzip(&page())),
            (&["gzip;q=1.0"], gzip(&page())),
            (&["Gzip , X-GZip"], twice.clone()),
            (&["gzip", "gzip"], twice),
            (&["identity, gzip,"], gzip(&page())),
            (&["none"], page()),
            (&["", ", ,"], page()),
            (&["aws-chunked"], page()),
            (&["gzip,aws-chunked"], gzip(&page())),
            (&["deflate"], zlib(&page())),
            (&["deflate"], raw_deflate(&page())),
            (&["Br"], BROTLI.to_vec()),
            (&["ZSTD"], zstandard(&page())),
            (&["br, gzip"], gzip(BROTLI)),
            (&["zstd", "deflate, gzip"], gzip(&zlib(&zstandard(&page())))),
        ] {
            for label in [Label::Fresh, Label::Archived] {
                assert_eq!(undone(lines, &body, label), Ok((page(), false)), "{lines:?} {label:?}");
            }
        }
    }

    #[test]
    fn transfer_codings_are_undone_before_content_codings() {
        let header = [("transfer-encoding", &b"gzip, chunked"[..]), ("content-encoding", b"br")];
        let found = Codings::of(header);
        assert_eq!(found.undo(gzip(BROTLI), MOST, Label::Fresh).unwrap().body, page());
        assert!(Codings::of([("Transfer-Encoding", &b"chunked"[..])]).are_none());
    }

    #[test]
    fn a_name_that_is_no_coding_counts_for_nothing_if_the_body_is_text() {
        for name in ["UTF-8", "windows-1251", "8bit", "text/html", "gzip, utf-8"] {
            let body = if name.starts_with("gzip") { gzip(&page()) } else { page() };
            assert_eq!(undone(&[name], &body, Label::Fresh), Ok((page(), false)), "{name}");
        }
        assert_eq!(undone(&["lzma"], b"]\0\0\x80\0", Label::Fresh), Err(CodingError::Unread("lzma".to_owned())));
        // A real coding that is not read is no lie.
        assert_eq!(undone(&["compress"], &page(), Label::Fresh), Err(CodingError::Unread("compress".to_owned())));
        assert_eq!(undone(&["compress"], &page(), Label::Archived), Ok((page(), false)));
    }

    #[test]
    fn a_fresh_body_that_is_not_what_the_header_says_is_refused() {
        for (name, coding) in [("gzip", "gzip"), ("br", "br"), ("zstd", "zstd")] {
            assert_eq!(undone(&[name], &page(), Label::Fresh), Err(CodingError::Mislabeled(coding)));
        }
        assert_eq!(undone(&["gzip"], BROTLI, Label::Fresh), Err(CodingError::Mislabeled("gzip")));
        assert!(undone(&["deflate"], &page(), Label::Fresh).is_err());
        assert_eq!(undone(&[&["gzip"; 6].join(",")], &page(), Label::Fresh), Err(CodingError::TooMany(6)));
        assert_eq!(undone(&["gzip"], b"", Label::Fresh), Ok((Vec::new(), false)));
    }

    #[test]
    fn what_two_programs_name_and_one_applied_is_undone_once() {
        for label in [Label::Fresh, Label::Archived] {
            assert_eq!(undone(&["gzip", "gzip"], &gzip(&page()), label), Ok((page(), false)), "{label:?}");
        }
    }

    #[test]
    fn an_archived_body_tells_by_itself_what_it_is() {
        let cyrillic = b"\xdd\xf2\xee \xf2\xe5\xea\xf1\xf2".repeat(9);
        for (name, body, expected) in [
            ("gzip", page(), page()),
            ("br", page(), page()),
            ("zstd", cyrillic.clone(), cyrillic.clone()),
            ("gzip", BROTLI.to_vec(), page()),
            ("deflate", BROTLI.to_vec(), page()),
            ("br", gzip(&page()), page()),
            ("deflate", gzip(&page()), page()),
            ("gzip", zstandard(&page()), page()),
        ] {
            assert_eq!(undone(&[name], &body, Label::Archived), Ok((expected, false)), "{name}");
        }
        let picture = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0";
        assert_eq!(undone(&["gzip"], picture, Label::Archived), Err(CodingError::Mislabeled("gzip")));
    }

    #[test]
    fn a_body_that_ends_too_early_gives_what_came_before_and_a_broken_one_fails() {
        let long: Vec<u8> = (0..2000u32).flat_map(|n| format!("line {n}\n").into_bytes()).collect();
        // Half a block of zstd gives nothing.
        let body = zstandard(&long);
        assert!(matches!(undone(&["zstd"], &body[..body.len() / 2], Label::Fresh), Err(CodingError::Incomplete(_))));
        for (name, body) in [("gzip", gzip(&long)), ("deflate", zlib(&long))] {
            let half = &body[..body.len() / 2];
            let read = codings(&[name]).undo(half.to_vec(), MOST, Label::Fresh).unwrap();
            assert!(read.is_incomplete && read.is_cut && long.starts_with(&read.body), "{name}");
        }
        let body = gzip(&long);
        let (read, is_cut) = undone(&["gzip"], &body[..body.len() / 2], Label::Archived).unwrap();
        assert!(is_cut && !read.is_empty() && long.starts_with(&read));
        let mut flipped = gzip(&page());
        let checksum = flipped.len() - 8;
        flipped[checksum] ^= 1;
        assert_eq!(undone(&["gzip"], &flipped, Label::Fresh), Err(CodingError::Broken("gzip")));
    }

    #[test]
    fn the_end_of_a_gzip_stream_is_read_as_browsers_read_it() {
        let whole = gzip(&page());
        let cases = [whole[..whole.len() - 8].to_vec(), [&whole[..], &[0; 32]].concat(), [&whole[..], b"x"].concat()];
        for body in cases {
            assert_eq!(undone(&["gzip"], &body, Label::Fresh), Ok((page(), false)));
        }
        let two = [gzip(b"A page. "), gzip(&page()[8..])].concat();
        assert_eq!(undone(&["gzip"], &two, Label::Fresh), Ok((page(), false)));
        let mut encoder =
            flate2::GzBuilder::new().filename("a").comment("b").extra(b"cd").write(Vec::new(), Compression::fast());
        encoder.write_all(&page()).unwrap();
        assert_eq!(undone(&["gzip"], &encoder.finish().unwrap(), Label::Fresh), Ok((page(), false)));
    }

    #[test]
    fn a_bomb_is_never_unpacked_much_beyond_the_limit() {
        let zeros = vec![b' '; 8 << 20];
        for (name, body) in [
            ("gzip", gzip(&zeros)),
            ("gzip, gzip, gzip", gzip(&gzip(&gzip(&zeros)))),
            ("deflate", raw_deflate(&zeros)),
            ("zstd, gzip", gzip(&zstandard(&zeros))),
        ] {
            let (read, is_cut) = undone(&[name], &body, Label::Fresh).unwrap();
            assert_eq!((read.len(), is_cut), (MOST, true), "{name}");
        }
        // Unpacks to much that unpacks to nothing.
        let nothing = gzip(&gzip(b"").repeat(100_000));
        assert_eq!(undone(&["gzip, gzip"], &nothing, Label::Fresh), Ok((Vec::new(), true)));
        assert_eq!(undone(&["gzip"], &gzip(&zeros[..MOST]), Label::Fresh), Ok((zeros[..MOST].to_vec(), false)));
    }
}
