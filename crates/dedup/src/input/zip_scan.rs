//! Finds the files of a zip file that has lost its directory, by the header before each (APPNOTE.TXT, section 4.3.7).

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

const LOCAL: [u8; 4] = *b"PK\x03\x04";
const DESCRIPTOR: [u8; 4] = *b"PK\x07\x08";
const DIRECTORY: [u8; 4] = *b"PK\x01\x02";
/// Bytes of a local header before the name.
const HEADER: usize = 30;
/// Most files that are looked for.
const MOST: usize = 100_000;
/// Flags of a header: the content is encrypted; its length stands behind it.
const ENCRYPTED: u16 = 1;
const LENGTH_BEHIND: u16 = 8;
const DEFLATE: u16 = 8;

/// A file in a zip file.
pub(super) struct Entry {
    pub(super) name: String,
    /// Where its bytes begin; an error says why they cannot be read.
    pub(super) begin: Result<u64, String>,
    /// The number of its bytes in the zip file.
    pub(super) length: u64,
    pub(super) is_deflated: bool,
    /// The checksum of its content, where it is known.
    pub(super) checksum: Option<u32>,
    /// Whether it tells about the archives of a WACZ.
    pub(super) is_index: bool,
}

/// Finds files up to the first bytes that are no header.
pub(super) fn entries(path: &Path) -> io::Result<Vec<Entry>> {
    let mut input = BufReader::new(File::open(path)?);
    let (mut entries, mut at) = (Vec::new(), 0);
    while entries.len() < MOST {
        input.seek(SeekFrom::Start(at))?;
        let Some((mut entry, begin, is_length_behind)) = header(&mut input, at)? else { break };
        if is_length_behind {
            entry.length = length_to_next(&mut input)?;
        }
        at = begin.saturating_add(entry.length);
        if is_length_behind {
            // Behind the content its checksum and lengths may stand.
            at = next_header(&mut input, at)?;
        }
        if !entry.name.ends_with('/') {
            entries.push(entry);
        }
    }
    Ok(entries)
}

/// Reads the header at `at`. Returns the file, where its bytes begin, and whether their number is not known.
fn header(input: &mut impl Read, at: u64) -> io::Result<Option<(Entry, u64, bool)>> {
    let mut bytes = Vec::new();
    input.take(HEADER as u64).read_to_end(&mut bytes)?;
    if bytes.len() < HEADER || !bytes.starts_with(&LOCAL) {
        return Ok(None);
    }
    let short = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let long = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let (flags, method, name, extra) = (short(6), short(8), short(26), short(28));
    let mut rest = Vec::new();
    input.take(u64::from(name) + u64::from(extra)).read_to_end(&mut rest)?;
    let (name, extra) = rest.split_at(usize::from(name).min(rest.len()));
    let begin = at + HEADER as u64 + rest.len() as u64;
    let length = if long(18) == u32::MAX { large_length(extra) } else { Some(u64::from(long(18))) };
    let is_length_behind = flags & LENGTH_BEHIND != 0 && length.is_none_or(|length| length == 0);
    let readable = match method {
        _ if flags & ENCRYPTED != 0 => Err("it is encrypted".to_owned()),
        0 | DEFLATE => Ok(begin),
        other => Err(format!("its compression is not read: method {other}")),
    };
    let entry = Entry {
        name: String::from_utf8_lossy(name).into_owned(),
        begin: readable,
        length: length.unwrap_or(0),
        is_deflated: method == DEFLATE,
        checksum: (!is_length_behind).then(|| long(14)),
        is_index: false,
    };
    Ok(Some((entry, begin, is_length_behind)))
}

/// Returns the packed length in the extra field of large files (section 4.5.3).
fn large_length(mut extra: &[u8]) -> Option<u64> {
    while let [a, b, c, d, rest @ ..] = extra {
        let (id, length) = (u16::from_le_bytes([*a, *b]), usize::from(u16::from_le_bytes([*c, *d])));
        let field = rest.get(..length)?;
        if id == 1 {
            return Some(u64::from_le_bytes(field.get(8..16)?.try_into().ok()?));
        }
        extra = &rest[length..];
    }
    None
}

/// Returns the number of bytes up to the next descriptor, header or directory, or the end.
fn length_to_next(input: &mut impl BufRead) -> io::Result<u64> {
    distance(input, &[DESCRIPTOR, LOCAL, DIRECTORY])
}

/// Returns where the next header or directory begins behind `at`, or the file ends.
fn next_header(input: &mut (impl BufRead + Seek), at: u64) -> io::Result<u64> {
    input.seek(SeekFrom::Start(at))?;
    Ok(at + distance(input, &[LOCAL, DIRECTORY])?)
}

/// Returns the number of bytes before the first of these marks, or the end.
fn distance(input: &mut impl BufRead, marks: &[[u8; 4]]) -> io::Result<u64> {
    let (mut last, mut passed) = (0u32, 0u64);
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(passed);
        }
        for (at, byte) in buffer.iter().enumerate() {
            last = last << 8 | u32::from(*byte);
            let seen = passed + at as u64 + 1;
            if seen >= 4 && marks.contains(&last.to_be_bytes()) {
                return Ok(seen - 4);
            }
        }
        let count = buffer.len();
        passed += count as u64;
        input.consume(count);
    }
}
