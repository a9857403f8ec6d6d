//! Reads WARC files with one gzip member per record.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::GzDecoder;
use url::Url;

use ndcrawl_model::{CanonicalUrl, Fetched, Header, WarcLocation};

use super::warc::Kind;

/// Most bytes of a record header, and of a line in it.
const MOST_HEADER_BYTES: u64 = 256 * 1024;

/// Most bytes of a block.
const MOST_BLOCK_BYTES: u64 = 1024 * 1024 * 1024;

/// A record of a WARC file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarcRecord {
    /// Offset of the gzip member in the file.
    pub offset: u64,
    /// Length of the gzip member.
    pub length: u64,
    /// The named fields in order.
    pub fields: Vec<(String, String)>,
    /// The block.
    pub block: Vec<u8>,
}

/// An unreadable record. Reading cannot continue after it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("offset {offset}: {reason}")]
pub struct WarcRecordError {
    /// Offset of the gzip member.
    pub offset: u64,
    /// The reason.
    pub reason: String,
}

/// The head of an archived HTTP response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpHead {
    /// The HTTP status.
    pub status: u16,
    /// The header lines in order.
    pub headers: Vec<Header>,
}

impl WarcRecord {
    /// Returns the first field of that name, ignoring case.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// `WARC-Type`.
    pub fn kind(&self) -> &str {
        self.field("WARC-Type").unwrap_or_default()
    }

    /// Returns the body of the HTTP message in the block. `None` without a message.
    pub fn http_body(&self) -> Option<&[u8]> {
        let is_http = self.field("Content-Type").is_some_and(|kind| kind.starts_with("application/http"));
        let head = is_http.then(|| find(&self.block, b"\r\n\r\n"))??;
        Some(&self.block[head + 4..])
    }

    /// Returns the head of the HTTP response in the block. `None` without one. Skips lines without a colon.
    pub fn http_head(&self) -> Option<HttpHead> {
        let body = self.http_body()?;
        let mut lines = self.block[..self.block.len() - body.len()].split(|&byte| byte == b'\n');
        let status = String::from_utf8_lossy(lines.next()?);
        let mut status = status.strip_prefix("HTTP/")?.split_ascii_whitespace().skip(1);
        let status = status.next()?.parse().ok()?;
        let header = |line: &[u8]| {
            let colon = line.iter().position(|&byte| byte == b':')?;
            let name = std::str::from_utf8(&line[..colon]).ok()?;
            Some((name.trim().to_owned(), line[colon + 1..].trim_ascii().to_owned()))
        };
        Some(HttpHead { status, headers: lines.filter_map(header).collect() })
    }

    /// Returns the archived response of a URL. `None` if the record is not a response of this URL. `is_respelled`: the
    /// URL was requested in another spelling, which the record names.
    pub fn response(&self, url: &CanonicalUrl, is_respelled: bool) -> Option<Fetched> {
        let target = self.field("WARC-Target-URI")?;
        let spelling = if target == url.as_str() { None } else { Some(Url::parse(target).ok()?) };
        let is_it = self.kind() == Kind::Response.name()
            && spelling.as_ref().is_none_or(|spelling| is_respelled && url.may_be_spelled(spelling));
        let head = self.http_head().filter(|_| is_it)?;
        let date = self.field("WARC-Date").and_then(|date| date.parse::<jiff::Timestamp>().ok());
        Some(Fetched {
            spelling,
            status: head.status,
            reason: String::new(),
            headers: head.headers,
            truncated: self.field("WARC-Truncated").is_some(),
            started_at: date.map(jiff::Timestamp::as_millisecond),
            ..Fetched::of_file(url.clone(), "", self.http_body()?.to_owned())
        })
    }

    /// Returns the location of the record in the file with this serial number.
    pub fn location(&self, file: u32) -> WarcLocation {
        WarcLocation { file, offset: self.offset, length: self.length }
    }
}

/// Iterator over records.
pub struct WarcReader<R> {
    input: Counted<R>,
    broken: bool,
}

impl<R: Read> WarcReader<BufReader<R>> {
    /// Creates a reader at the start of a file, or of the member at `offset`.
    pub fn new(input: R, offset: u64) -> Self {
        Self { input: Counted { input: BufReader::with_capacity(64 * 1024, input), position: offset }, broken: false }
    }
}

impl<R: BufRead> Iterator for WarcReader<R> {
    type Item = Result<WarcRecord, WarcRecordError>;

    /// Returns the next record. Ends after an error, since the next member cannot be found.
    fn next(&mut self) -> Option<Self::Item> {
        let offset = self.input.position;
        let record = match self.input.fill_buf() {
            _ if self.broken => return None,
            Ok([]) => return None,
            Ok(_) => read_member(&mut self.input),
            Err(error) => Err(error),
        };
        self.broken = record.is_err();
        Some(match record {
            Ok((fields, block)) => Ok(WarcRecord { offset, length: self.input.position - offset, fields, block }),
            Err(error) => Err(WarcRecordError { offset, reason: error.to_string() }),
        })
    }
}

type Parts = (Vec<(String, String)>, Vec<u8>);

fn read_member(input: &mut impl BufRead) -> io::Result<Parts> {
    let mut member = BufReader::new(GzDecoder::new(input));
    let fields = read_header(&mut member)?;
    let length = fields.iter().find(|(name, _)| name.eq_ignore_ascii_case("Content-Length"));
    let length: u64 = length.and_then(|(_, value)| value.parse().ok()).ok_or_else(|| bad("no Content-Length"))?;
    if length > MOST_BLOCK_BYTES {
        return Err(bad("the block is too long"));
    }
    let mut block = Vec::new();
    (&mut member).take(length).read_to_end(&mut block)?;
    if (block.len() as u64) < length {
        return Err(bad("the block is shorter than Content-Length"));
    }
    let mut end = Vec::new();
    // Reading to the end of the member also checks its CRC.
    (&mut member).take(5).read_to_end(&mut end)?;
    if end == b"\r\n\r\n" { Ok((fields, block)) } else { Err(bad("the record does not end behind its block")) }
}

fn read_header(member: &mut impl BufRead) -> io::Result<Vec<(String, String)>> {
    let mut header = member.take(MOST_HEADER_BYTES);
    let mut version = Vec::new();
    header.read_until(b'\n', &mut version)?;
    if version != b"WARC/1.1\r\n" && version != b"WARC/1.0\r\n" {
        return Err(bad("no WARC version line"));
    }
    let mut fields = Vec::new();
    loop {
        let mut line = Vec::new();
        header.read_until(b'\n', &mut line)?;
        let line = line.strip_suffix(b"\r\n").ok_or_else(|| bad("the header has no end"))?;
        if line.is_empty() {
            return Ok(fields);
        }
        let line = std::str::from_utf8(line).map_err(|_| bad("the header is not UTF-8"))?;
        let (name, value) = line.split_once(':').ok_or_else(|| bad("a header line has no colon"))?;
        fields.push((name.trim().to_owned(), value.trim().to_owned()));
    }
}

fn bad(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// Reader that counts its bytes.
struct Counted<R> {
    input: R,
    position: u64,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.position += read as u64;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.input.consume(count);
        self.position += count as u64;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::gzip::Gzip;
    use super::super::tests::support::fetched;
    use super::super::warc::{Draft, payload_digest};
    use super::*;
    use ndcrawl_model::PageId;

    fn file() -> Vec<u8> {
        let pages = [fetched("http://a.test/", b"first"), fetched("http://a.test/b", &[b'x'; 100_000])];
        pages
            .iter()
            .zip(1..)
            .flat_map(|(page, id)| {
                Draft::response(PageId(id), page, &payload_digest(&page.body)).to_member(&mut Gzip::new(1))
            })
            .collect()
    }

    #[test]
    fn records_are_read_one_by_one_with_their_places() {
        let bytes = file();
        let records: Vec<_> = WarcReader::new(&bytes[..], 0).map(Result::unwrap).collect();
        assert_eq!(records.len(), 2);
        assert_eq!(records[0].http_body(), Some(&b"first"[..]));
        assert_eq!(records[1].http_body().map(<[u8]>::len), Some(100_000));
        assert_eq!(records[1].offset, records[0].length);
        assert_eq!(records[1].offset + records[1].length, bytes.len() as u64);
        let offset = records[1].offset;
        assert_eq!(WarcReader::new(&bytes[offset as usize..], offset).next(), Some(Ok(records[1].clone())));
    }

    #[test]
    fn a_file_cut_anywhere_gives_its_whole_records_and_one_error() {
        let bytes = file();
        let first = WarcReader::new(&bytes[..], 0).next().unwrap().unwrap().length as usize;
        for cut in (1..bytes.len()).step_by(7) {
            let records: Vec<_> = WarcReader::new(&bytes[..cut], 0).collect();
            assert_eq!(records.iter().filter(|record| record.is_ok()).count(), usize::from(cut >= first), "{cut}");
            assert_eq!(records.last().unwrap().is_err(), cut != first, "{cut}");
        }
    }

    proptest! {
        #[test]
        fn flipped_bytes_never_pass_unnoticed(at in any::<prop::sample::Index>(), flip in 1u8..) {
            let mut bytes = file();
            let at = at.index(bytes.len());
            bytes[at] ^= flip;
            // The bytes of the gzip head (time, system) are not covered by anything.
            let (before, after): (Vec<_>, Vec<_>) = (WarcReader::new(&file()[..], 0).collect(), WarcReader::new(&bytes[..], 0).collect());
            prop_assert!(after.iter().any(Result::is_err) || after == before);
        }
    }
}
