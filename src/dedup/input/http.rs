//! Parses the HTTP answer in a WARC record of any program, with or without its transfer coding.

use std::io::Read;

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use memchr::memmem;

use crate::model::Header;

/// Most header lines. Further lines are dropped.
const MOST_HEADERS: usize = 1000;

/// A parsed answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub status: u16,
    pub version: &'static str,
    pub reason: String,
    pub headers: Vec<Header>,
    pub body: Vec<u8>,
    pub truncated: bool,
}

/// Parses a block. Decodes the body and truncates it to `most` bytes.
pub(super) fn answer(block: &[u8], most: usize) -> Result<Answer, String> {
    let (head, body) = parted(block).ok_or("the header of the answer does not end")?;
    let mut lines = head.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let (version, status, reason) = status_line(lines.next().unwrap_or_default())?;
    let mut headers: Vec<Header> = lines.filter_map(header).take(MOST_HEADERS).collect();
    let value = |name: &str| {
        let found = headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        found.map(|(_, value)| String::from_utf8_lossy(value).trim().to_ascii_lowercase()).unwrap_or_default()
    };
    // Many archives keep the header lines although they have decoded the body.
    let unchunked = if value("transfer-encoding").contains("chunked") { without_chunks(body) } else { None };
    let body = unchunked.as_deref().unwrap_or(body);
    let (body, truncated) = decoded(body, &value("content-encoding"), most)?;
    headers.retain(|(name, _)| {
        !["transfer-encoding", "content-encoding", "content-length"].iter().any(|gone| name.eq_ignore_ascii_case(gone))
    });
    Ok(Answer { status, version, reason, headers, body, truncated })
}

/// Splits a block into header and body.
fn parted(block: &[u8]) -> Option<(&[u8], &[u8])> {
    let strict = memmem::find(block, b"\r\n\r\n").map(|at| (at, at + 4));
    let loose = memmem::find(block, b"\n\n").map(|at| (at, at + 2));
    let (end, begin) = [strict, loose].into_iter().flatten().min()?;
    Some((&block[..end], &block[begin..]))
}

fn status_line(line: &[u8]) -> Result<(&'static str, u16, String), String> {
    let text = String::from_utf8_lossy(line);
    let mut words = text.splitn(3, ' ');
    let version = match words.next().unwrap_or_default() {
        "HTTP/1.0" => "HTTP/1.0",
        version if version.starts_with("HTTP/2") || version.starts_with("HTTP/3") => "HTTP/2",
        version if version.starts_with("HTTP/") => "HTTP/1.1",
        _ => return Err(format!("no status line: {:?}", text.chars().take(40).collect::<String>())),
    };
    let status =
        words.next().and_then(|status| status.trim().parse().ok()).filter(|status| (100..1000).contains(status));
    let status = status.ok_or_else(|| format!("no status in {:?}", text.chars().take(40).collect::<String>()))?;
    Ok((version, status, words.next().unwrap_or_default().trim().to_owned()))
}

fn header(line: &[u8]) -> Option<Header> {
    let colon = memchr::memchr(b':', line)?;
    let name = std::str::from_utf8(&line[..colon]).ok()?.trim();
    (!name.is_empty()).then(|| (name.to_owned(), line[colon + 1..].trim_ascii().to_vec()))
}

/// Decodes a chunked body (RFC 9112, section 7.1); `None` if it is not chunked. Keeps the rest of a truncated last
/// chunk.
fn without_chunks(mut body: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::with_capacity(body.len());
    loop {
        let end = memchr::memchr(b'\n', body)?;
        let line = std::str::from_utf8(&body[..end]).ok()?;
        let length = usize::from_str_radix(line.split(';').next().unwrap_or_default().trim(), 16).ok()?;
        body = &body[end + 1..];
        if length == 0 {
            return Some(whole);
        }
        whole.extend_from_slice(&body[..length.min(body.len())]);
        let Some(rest) = body.get(length..) else { return Some(whole) };
        body = rest.strip_prefix(b"\r\n").or(rest.strip_prefix(b"\n")).unwrap_or(rest);
        if body.is_empty() {
            return Some(whole);
        }
    }
}

/// Undoes the content coding, if the body has it. Returns at most `most` bytes, and whether there were more.
fn decoded(body: &[u8], coding: &str, most: usize) -> Result<(Vec<u8>, bool), String> {
    let mut reader: Box<dyn Read + '_> = match coding {
        "gzip" | "x-gzip" if body.starts_with(&[0x1f, 0x8b]) => Box::new(MultiGzDecoder::new(body)),
        "deflate" if is_zlib(body) => Box::new(ZlibDecoder::new(body)),
        // Some servers omit the zlib wrapper; text does not begin like this.
        "deflate" if !body.first().is_some_and(|first| first.is_ascii_graphic() || first.is_ascii_whitespace()) => {
            Box::new(DeflateDecoder::new(body))
        }
        "zstd" if body.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) => {
            Box::new(zstd::stream::read::Decoder::with_buffer(body).map_err(|error| error.to_string())?)
        }
        "br" if std::str::from_utf8(body).is_err() => return Err("content coding br is not read".to_owned()),
        _ => Box::new(body),
    };
    let mut decoded = Vec::new();
    // A browser would show what came before the fault.
    let failed = reader.by_ref().take(most as u64 + 1).read_to_end(&mut decoded).is_err();
    let truncated = failed || decoded.len() > most;
    decoded.truncate(most);
    if failed && decoded.is_empty() { Err(format!("the body is not {coding}")) } else { Ok((decoded, truncated)) }
}

fn is_zlib(body: &[u8]) -> bool {
    matches!(body, [first, second, ..] if first & 0x0f == 8 && (u32::from(*first) * 256 + u32::from(*second)) % 31 == 0)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const MOST: usize = 1000;

    fn body(block: &[u8]) -> String {
        String::from_utf8(answer(block, MOST).unwrap().body).unwrap()
    }

    fn gzipped(text: &str) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn an_answer_is_taken_apart() {
        let read = answer(b"HTTP/1.0 404 Not Found\r\nA: b \r\nno colon\r\nContent-Length: 9\r\n\r\nx", MOST).unwrap();
        assert_eq!((read.version, read.status, &*read.reason, read.truncated), ("HTTP/1.0", 404, "Not Found", false));
        assert_eq!(read.headers, [("A".to_owned(), b"b".to_vec())]);
        assert_eq!(read.body, b"x");
        assert_eq!(answer(b"HTTP/2 200\n\nx", MOST).unwrap().status, 200);
        for nonsense in [&b""[..], b"GET / HTTP/1.1\r\n\r\n", b"HTTP/1.1 two\r\n\r\n", b"HTTP/1.1 200 OK\r\n"] {
            assert!(answer(nonsense, MOST).is_err(), "{nonsense:?}");
        }
    }

    #[test]
    fn codings_are_undone_if_they_are_there() {
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(body(format!("{chunked}3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n").as_bytes()), "abcde");
        assert_eq!(body(format!("{chunked}<p>not in chunks").as_bytes()), "<p>not in chunks");
        assert_eq!(body(format!("{chunked}9\r\nabc").as_bytes()), "abc");
        let coded = |coding: &str, body: &[u8]| {
            [format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n\r\n").as_bytes(), body].concat()
        };
        assert_eq!(body(&coded("gzip", &gzipped("text"))), "text");
        assert_eq!(body(&coded("gzip", b"<p>decoded before")), "<p>decoded before");
        assert_eq!(body(&coded("br", b"<p>decoded before")), "<p>decoded before");
        assert!(answer(&coded("br", &[0x8b, 0xff, 0xfe]), MOST).is_err());
        let long = answer(&coded("gzip", &gzipped(&"x".repeat(5000))), MOST).unwrap();
        assert_eq!((long.body.len(), long.truncated), (MOST, true));
    }
}
