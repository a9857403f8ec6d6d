//! Undoes gzip (RFC 1952) and Zstandard (RFC 8878), one member or frame at a time.
//!
//! Both formats allow any number of members, one behind the other, and archives put each record into its own. So the
//! reader tells where a member ends, whether its checksum agrees, and goes on behind a damaged one: at the next bytes
//! that begin like a member. For that it keeps the bytes of the member that it is reading, up to [`MOST_KEPT`].
//!
//! Behind damage it looks for the format of the member before only: four bytes between gzip members that look like a
//! frame would take the next one for their content.

use std::io::{ErrorKind, Read};

use flate2::{Decompress, FlushDecompress, Status};
use memchr::memmem;
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

/// Bytes that are read or decoded at a time.
const CHUNK: usize = 128 * 1024;
/// Most bytes of a member that are kept, in case it turns out to be damaged.
const MOST_KEPT: usize = 16 * 1024 * 1024;
/// Longest dictionary, in bytes.
const MOST_DICTIONARY: usize = 64 * 1024 * 1024;
/// Bytes of damaged members that are searched again, at least. Beyond it: [`SEARCHED`] times what was read.
const LEAST_SEARCHED: u64 = 64 * 1024 * 1024;
const SEARCHED: u64 = 4;

const GZIP: [u8; 3] = [0x1f, 0x8b, 8];
const FRAME: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Any of 16 first bytes, then these.
const SKIPPABLE: [u8; 3] = [0x2a, 0x4d, 0x18];
/// The first byte of the skippable frame that holds a dictionary (draft of the IIPC, "WARC and Zstandard").
const DICTIONARY_FRAME: u8 = 0x5d;
/// The first bytes of a dictionary (RFC 8878, section 5).
const DICTIONARY: [u8; 4] = [0x37, 0xa4, 0x30, 0xec];

/// What the next call of [`Members::read`] brought.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Decoded bytes.
    Bytes,
    /// The end of a member whose checksum, if it has one, agrees.
    End {
        /// Whether it has one.
        is_checked: bool,
    },
    /// Damage, and what it is. Reading goes on behind it.
    Broken(String),
    /// The end of the input.
    Over,
}

/// Reads the members of a file, or a file that is not compressed.
pub(super) struct Members<'a> {
    raw: Raw<'a>,
    state: State,
    /// Whether a member came before.
    is_compressed: bool,
    /// The format of the last member.
    format: Option<MemberFormat>,
    dictionary: Vec<u8>,
    /// Bytes that were searched again so far.
    searched: u64,
    /// Whether the member that is being read gave any byte.
    has_output: bool,
    /// Whether the member has a checksum: a frame need not have one.
    has_checksum: bool,
    /// Whether the last member was damaged. Bytes that only look like a member are not told again then.
    is_searching: bool,
    /// A decoder between two frames.
    idle: Option<Decoder<'static>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MemberFormat {
    Gzip,
    Zstd,
}

impl MemberFormat {
    /// Returns the format of a member that begins like this.
    fn of(first: &[u8]) -> Option<Self> {
        match first {
            _ if first.starts_with(&GZIP) => Some(Self::Gzip),
            _ if first.starts_with(&FRAME) || is_skippable(first) => Some(Self::Zstd),
            _ => None,
        }
    }
}

enum State {
    /// Before a member.
    Between,
    /// The rest of the file is not compressed.
    Plain,
    Gzip(Box<Decompress>),
    Zstd(Decoder<'static>),
    /// Within a skippable frame, with so many bytes left.
    Skip(usize),
    Over,
}

impl<'a> Members<'a> {
    pub(super) fn new(input: impl Read + Send + 'a) -> Self {
        let raw = Raw { input: Box::new(input), bytes: Vec::new(), at: 0, begin: 0, read: 0, is_over: false };
        Self {
            raw,
            state: State::Between,
            is_compressed: false,
            format: None,
            dictionary: Vec::new(),
            searched: 0,
            has_output: false,
            has_checksum: false,
            is_searching: false,
            idle: None,
        }
    }

    /// Returns whether bytes begin like a member.
    pub(super) fn is_begin(first: &[u8]) -> bool {
        MemberFormat::of(first).is_some()
    }

    /// Returns whether the input is compressed, which is known after the first bytes.
    pub(super) fn is_compressed(&self) -> bool {
        self.is_compressed
    }

    /// Appends the next bytes to `out`.
    pub(super) fn read(&mut self, out: &mut Vec<u8>) -> Piece {
        loop {
            let piece = match self.state {
                State::Over => return Piece::Over,
                State::Plain => return self.plain(out),
                State::Between => self.begin(),
                State::Skip(length) => self.skip(length),
                State::Gzip(_) | State::Zstd(_) => self.decode(out),
            };
            if let Some(piece) = piece {
                return piece;
            }
        }
    }

    fn plain(&mut self, out: &mut Vec<u8>) -> Piece {
        match self.raw.take_all(out) {
            Ok(0) => {
                self.state = State::Over;
                Piece::Over
            }
            Ok(_) => Piece::Bytes,
            Err(why) => self.failed(why),
        }
    }

    /// Ends the input: it cannot be read any further.
    fn failed(&mut self, why: String) -> Piece {
        self.state = State::Over;
        Piece::Broken(format!("{why}; the rest of the file is not read"))
    }

    /// Begins the next member; `None` if one was begun or skipped.
    fn begin(&mut self) -> Option<Piece> {
        self.raw.begin = self.raw.at;
        self.has_output = false;
        let first = match self.raw.peek(18) {
            Ok(first) => first,
            Err(why) => return Some(self.failed(why)),
        };
        self.has_checksum = first.starts_with(&GZIP) || first.get(4).is_some_and(|descriptor| descriptor & 4 != 0);
        self.format = MemberFormat::of(first).or(self.format);
        match first {
            [] => self.state = State::Over,
            _ if first.starts_with(&GZIP) => self.state = State::Gzip(Box::new(Decompress::new_gzip(15))),
            _ if first.starts_with(&FRAME) => {
                let idle = self.idle.take().map_or_else(|| decoder(&self.dictionary), Ok);
                match idle {
                    Ok(decoder) => self.state = State::Zstd(decoder),
                    Err(error) => return Some(self.failed(error.to_string())),
                }
            }
            _ if is_skippable(first) => {
                self.is_compressed = true;
                return self.begin_skippable();
            }
            _ if !self.is_compressed || first.starts_with(b"WARC/") => {
                self.state = State::Plain;
                return None;
            }
            // Tapes and downloads are padded.
            [0 | b'\r' | b'\n' | b' ', ..] => {
                self.raw.at += 1;
                return None;
            }
            _ => return self.broken("bytes that are no compressed member".to_owned()),
        }
        self.is_compressed = true;
        None
    }

    /// Begins a skippable frame (RFC 8878, section 3.1.2), or takes the dictionary in it.
    fn begin_skippable(&mut self) -> Option<Piece> {
        let (kind, length) = match self.raw.rest() {
            [kind, _, _, _, a, b, c, d, ..] => (*kind, u32::from_le_bytes([*a, *b, *c, *d]) as usize),
            _ => return self.broken("the file ends within a zstd frame".to_owned()),
        };
        self.raw.at += 8;
        if kind != DICTIONARY_FRAME || length > MOST_DICTIONARY {
            self.state = State::Skip(length);
            return None;
        }
        match self.raw.peek(length) {
            Ok(frame) if frame.len() == length => {}
            Ok(_) => return self.broken("the file ends within its zstd dictionary".to_owned()),
            Err(why) => return Some(self.failed(why)),
        }
        let made = dictionary(&self.raw.rest()[..length]).and_then(|dictionary| {
            // Others may use such a frame for something else.
            let Some(dictionary) = dictionary.filter(|dictionary| dictionary.starts_with(&DICTIONARY)) else {
                return Ok(None);
            };
            let decoder = decoder(&dictionary).map_err(|error| error.to_string())?;
            Ok(Some((dictionary, Some(decoder))))
        });
        self.raw.at += length;
        match made {
            Ok(None) => None,
            Ok(Some(made)) => {
                (self.dictionary, self.idle) = made;
                None
            }
            Err(why) => Some(Piece::Broken(format!("the zstd dictionary cannot be read: {why}"))),
        }
    }

    /// Skips so many bytes of a skippable frame.
    fn skip(&mut self, length: usize) -> Option<Piece> {
        let step = self.raw.rest().len().min(length);
        self.raw.at += step;
        self.state = if step == length { State::Between } else { State::Skip(length - step) };
        if step > 0 || length == 0 { None } else { self.starved("a skippable frame") }
    }

    /// Decodes some bytes of a member; `None` if nothing came of it.
    fn decode(&mut self, out: &mut Vec<u8>) -> Option<Piece> {
        let before = out.len();
        out.reserve(CHUNK);
        let decoded = match &mut self.state {
            State::Gzip(gzip) => gunzip(gzip, self.raw.rest(), out),
            State::Zstd(zstd) => unzstd(zstd, self.raw.rest(), out),
            _ => return None,
        };
        self.has_output |= out.len() > before;
        match decoded {
            Err(why) => self.broken(why),
            Ok((used, true)) => {
                self.raw.at += used;
                self.end();
                Some(Piece::End { is_checked: self.has_checksum })
            }
            Ok((used, false)) => {
                self.raw.at += used;
                if out.len() > before {
                    return Some(Piece::Bytes);
                }
                let what = if matches!(self.state, State::Gzip(_)) { "a gzip member" } else { "a zstd frame" };
                if used > 0 { None } else { self.starved(what) }
            }
        }
    }

    /// Reads more bytes, of which `what` needs some.
    fn starved(&mut self, what: &str) -> Option<Piece> {
        match self.raw.fill() {
            Ok(true) => None,
            Ok(false) => self.broken(format!("the file ends within {what}")),
            Err(why) => Some(self.failed(why)),
        }
    }

    fn end(&mut self) {
        self.is_searching = false;
        if let State::Zstd(mut decoder) = std::mem::replace(&mut self.state, State::Between) {
            // It keeps its dictionary.
            self.idle = decoder.reinit().is_ok().then_some(decoder);
        }
    }

    /// Searches for the next member: behind the beginning of the damaged one, while that is not too much work.
    fn broken(&mut self, why: String) -> Option<Piece> {
        let again = (self.raw.at - self.raw.begin) as u64;
        if self.searched + again <= LEAST_SEARCHED + SEARCHED * self.raw.read {
            self.searched += again;
            self.raw.at = self.raw.begin;
        }
        self.raw.at = (self.raw.at + 1).min(self.raw.bytes.len());
        self.state = State::Between;
        let is_told = self.has_output || !std::mem::replace(&mut self.is_searching, true);
        match self.search() {
            Ok(true) => {}
            Ok(false) => self.state = State::Over,
            Err(why) => return Some(self.failed(why)),
        }
        is_told.then_some(Piece::Broken(why))
    }

    /// Moves to the next bytes that begin like a member. Returns whether there are any.
    fn search(&mut self) -> Result<bool, String> {
        loop {
            if let Some(next) = next_member(self.raw.rest(), self.format) {
                self.raw.at += next;
                return Ok(true);
            }
            // The last bytes may be the first ones of a member.
            self.raw.at = self.raw.bytes.len().saturating_sub(9).max(self.raw.at);
            self.raw.begin = self.raw.at;
            if !self.raw.fill()? {
                return Ok(false);
            }
        }
    }
}

fn is_skippable(first: &[u8]) -> bool {
    matches!(first, [0x50..=0x5f, rest @ ..] if rest.starts_with(&SKIPPABLE))
}

/// Returns where the next bytes stand that begin like a member, looking at more than their first bytes.
fn next_member(bytes: &[u8], format: Option<MemberFormat>) -> Option<usize> {
    // In steps: where many bytes look like a member, all others need not be looked at each time.
    (0..bytes.len()).step_by(CHUNK).find_map(|begin| {
        let end = (begin + CHUNK + GZIP.len()).min(bytes.len());
        let part = &bytes[begin..end];
        let gzip = (format != Some(MemberFormat::Zstd))
            .then(|| memmem::find_iter(part, &GZIP).map(|at| begin + at).find(|at| is_likely_gzip(&bytes[*at..])));
        let frame = (format != Some(MemberFormat::Gzip))
            .then(|| memmem::find_iter(part, &FRAME).map(|at| begin + at).find(|at| is_likely_frame(&bytes[*at..])));
        [gzip, frame].into_iter().flatten().flatten().min()
    })
}

/// Reserved flags are 0, and few levels and systems are known (RFC 1952, section 2.3.1).
fn is_likely_gzip(bytes: &[u8]) -> bool {
    matches!(bytes, [_, _, _, flags, _, _, _, _, level, system, ..]
        if flags & 0xe0 == 0 && [0, 2, 4].contains(level) && (*system <= 13 || *system == 255))
}

/// The reserved bit of the descriptor is 0 (RFC 8878, section 3.1.1.1.1.4).
fn is_likely_frame(bytes: &[u8]) -> bool {
    matches!(bytes, [_, _, _, _, descriptor, ..] if descriptor & 8 == 0)
}

/// Returns how many bytes were used, and whether the member has ended.
fn gunzip(gzip: &mut Decompress, input: &[u8], out: &mut Vec<u8>) -> Result<(usize, bool), String> {
    let before = gzip.total_in();
    let status = gzip.decompress_vec(input, out, FlushDecompress::None);
    let used = (gzip.total_in() - before) as usize;
    match status {
        Ok(Status::StreamEnd) => Ok((used, true)),
        Ok(Status::Ok | Status::BufError) => Ok((used, false)),
        Err(error) => Err(match error.message() {
            Some(message) => format!("the gzip member is damaged: {message}"),
            None => "the gzip member is damaged".to_owned(),
        }),
    }
}

/// As [`gunzip`], for a frame.
fn unzstd(zstd: &mut Decoder<'static>, input: &[u8], out: &mut Vec<u8>) -> Result<(usize, bool), String> {
    let mut input = InBuffer::around(input);
    let begin = out.len();
    let mut output = OutBuffer::around_pos(out, begin);
    match zstd.run(&mut input, &mut output) {
        Ok(0) => Ok((input.pos(), true)),
        Ok(_) => Ok((input.pos(), false)),
        Err(error) if error.to_string().contains("too much memory") => {
            Err(format!("the window of the zstd frame is longer than 2^{WINDOW_LOG} bytes, which is the limit"))
        }
        Err(error) => Err(format!("the zstd frame is damaged: {error}")),
    }
}

/// The longest window that a frame may have on systems of 64 bits, as a power of two: `--long=31`.
const WINDOW_LOG: u32 = if cfg!(target_pointer_width = "64") { 31 } else { 30 };

/// Returns a decoder of frames of any window: the file is the user's own.
fn decoder(dictionary: &[u8]) -> std::io::Result<Decoder<'static>> {
    let mut decoder = Decoder::with_dictionary(dictionary)?;
    decoder.set_parameter(DParameter::WindowLogMax(WINDOW_LOG))?;
    Ok(decoder)
}

/// Returns what a frame holds, which may be compressed itself; `None` if that cannot be a dictionary.
fn dictionary(frame: &[u8]) -> Result<Option<Vec<u8>>, String> {
    if !frame.starts_with(&FRAME) {
        return Ok(frame.starts_with(&DICTIONARY).then(|| frame.to_vec()));
    }
    let mut dictionary = Vec::new();
    let decoder = zstd::stream::read::Decoder::with_buffer(frame);
    let read = decoder.and_then(|decoder| decoder.take(MOST_DICTIONARY as u64).read_to_end(&mut dictionary));
    read.map(|_| Some(dictionary)).map_err(|error| error.to_string())
}

/// The bytes of the file as they are.
struct Raw<'a> {
    input: Box<dyn Read + Send + 'a>,
    bytes: Vec<u8>,
    /// The next byte.
    at: usize,
    /// The first byte of the member, or as much of its end as is kept.
    begin: usize,
    /// Bytes read so far.
    read: u64,
    is_over: bool,
}

impl Raw<'_> {
    fn rest(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    /// Returns up to `count` of the next bytes without taking them; fewer only at the end.
    fn peek(&mut self, count: usize) -> Result<&[u8], String> {
        while self.rest().len() < count && self.fill()? {}
        let rest = self.rest();
        Ok(&rest[..rest.len().min(count)])
    }

    /// Reads more bytes. Returns whether there were any.
    fn fill(&mut self) -> Result<bool, String> {
        if self.at - self.begin > MOST_KEPT {
            self.begin = self.at - MOST_KEPT / 2;
        }
        if self.begin >= CHUNK || self.begin == self.bytes.len() {
            self.bytes.drain(..self.begin);
            self.at -= self.begin;
            self.begin = 0;
        }
        let end = self.bytes.len();
        self.bytes.resize(end + CHUNK, 0);
        let read = self.read_into(end);
        self.bytes.truncate(end + *read.as_ref().unwrap_or(&0));
        Ok(read? > 0)
    }

    fn read_into(&mut self, end: usize) -> Result<usize, String> {
        while !self.is_over {
            match self.input.read(&mut self.bytes[end..]) {
                Ok(0) => self.is_over = true,
                Ok(read) => {
                    self.read += read as u64;
                    return Ok(read);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.is_over = true;
                    return Err(error.to_string());
                }
            }
        }
        Ok(0)
    }

    /// Appends bytes to `out` as they are. Returns how many.
    fn take_all(&mut self, out: &mut Vec<u8>) -> Result<usize, String> {
        if self.rest().is_empty() {
            self.begin = self.at;
            self.fill()?;
        }
        let count = self.rest().len();
        out.extend_from_slice(self.rest());
        self.at += count;
        self.begin = self.at;
        Ok(count)
    }
}
