//! Parses the HTTP answer in a WARC record of any program, with or without its transfer coding.
//!
//! Archives hold what servers sent, and servers are a little wrong: line ends of several kinds, an empty line before the
//! first, a name in lower case, two spaces. All of this is read as browsers read it.

use ndcrawl_fetch::{Codings, Label};
use ndcrawl_model::Header;

/// Most header lines. Further lines are dropped.
const MOST_HEADERS: usize = 1000;
/// Most interim answers before the final one.
const MOST_INTERIM: usize = 20;
/// Most empty lines before an answer.
const MOST_EMPTY: usize = 8;

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

/// The status line and the header lines of an answer.
struct Head {
    version: &'static str,
    status: u16,
    reason: String,
    headers: Vec<Header>,
}

/// Parses a block. Decodes the body and truncates it to `most` bytes.
pub(super) fn answer(block: &[u8], most: usize) -> Result<Answer, String> {
    let (Head { version, status, reason, mut headers }, body) = final_head(block)?;
    let header = || headers.iter().map(|(name, value)| (name.as_str(), value.as_slice()));
    let is_chunked = header().any(|(name, value)| {
        name.eq_ignore_ascii_case("transfer-encoding") && value.to_ascii_lowercase().ends_with(b"chunked")
    });
    // Many archives keep the header lines although they have decoded the body.
    let (body, is_short) = match if is_chunked { without_chunks(body) } else { None } {
        Some(joined) => joined,
        None => (body.to_vec(), false),
    };
    let decoded = Codings::of(header()).undo(body, most, Label::Archived).map_err(|error| error.to_string())?;
    headers.retain(|(name, _)| {
        !["transfer-encoding", "content-encoding", "content-length"].iter().any(|gone| name.eq_ignore_ascii_case(gone))
    });
    Ok(Answer { status, version, reason, headers, body: decoded.body, truncated: decoded.is_cut || is_short })
}

/// Parses the head of the final answer, and returns it with what follows. Skips interim answers (RFC 9110, section
/// 15.2) and that of a proxy which opened a tunnel.
fn final_head(block: &[u8]) -> Result<(Head, &[u8]), String> {
    let (mut head, mut rest) = read_head(block)?;
    for _ in 0..MOST_INTERIM {
        let is_interim = matches!(head.status, 100 | 102..=199)
            || (head.status == 200 && head.reason.eq_ignore_ascii_case("connection established"));
        match is_interim.then(|| read_head(rest)) {
            Some(Ok(next)) => (head, rest) = next,
            _ => break,
        }
    }
    Ok((head, rest))
}

/// Parses one head, and returns it with what follows its empty line.
fn read_head(block: &[u8]) -> Result<(Head, &[u8]), String> {
    let mut rest = block;
    // A client should ignore an empty line before the first (RFC 9112, section 2.2).
    for _ in 0..MOST_EMPTY {
        rest = rest.strip_prefix(b"\r\n").or(rest.strip_prefix(b"\n")).unwrap_or(rest);
    }
    let mut lines = Lines::new(rest);
    let (version, status, reason) = status_line(lines.next().unwrap_or_default())?;
    let mut headers: Vec<Header> = Vec::new();
    for line in &mut lines {
        // A folded line goes on with the line before (RFC 9112, section 5.2).
        if line.starts_with(b" ") || line.starts_with(b"\t") {
            if let Some((_, value)) = headers.last_mut() {
                if !value.is_empty() {
                    value.push(b' ');
                }
                value.extend_from_slice(line.trim_ascii());
            }
        } else if headers.len() < MOST_HEADERS {
            headers.extend(header(line));
        }
    }
    let body = lines.body.ok_or("the header of the answer does not end")?;
    Ok((Head { version, status, reason, headers }, body))
}

/// The lines of a head, up to the empty one.
struct Lines<'a> {
    rest: &'a [u8],
    /// The byte that ends each line.
    end: u8,
    /// What follows the empty line.
    body: Option<&'a [u8]>,
}

impl<'a> Lines<'a> {
    fn new(block: &'a [u8]) -> Self {
        // Whether lines end with CR alone can be seen by the first.
        let first = memchr::memchr2(b'\r', b'\n', block);
        let is_cr =
            first.is_some_and(|at| block[at] == b'\r' && !matches!(block.get(at + 1), None | Some(b'\r' | b'\n')));
        Self { rest: block, end: if is_cr { b'\r' } else { b'\n' }, body: None }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.body.is_some() {
            return None;
        }
        let at = memchr::memchr(self.end, self.rest)?;
        let line = &self.rest[..at];
        self.rest = &self.rest[at + 1..];
        // Programs that treat bytes as text double the CR.
        let ends = line.iter().rev().take_while(|byte| **byte == b'\r').count();
        let line = &line[..line.len() - ends];
        if line.is_empty() {
            self.body = Some(self.rest);
            return None;
        }
        Some(line)
    }
}

/// Parses a status line: the name in any case, with or without a version, and white space of any kind.
fn status_line(line: &[u8]) -> Result<(&'static str, u16, String), String> {
    let text = String::from_utf8_lossy(line);
    let shown = || text.chars().take(40).collect::<String>();
    let (name, rest) = text.split_once([' ', '\t']).ok_or_else(|| format!("no status line: {:?}", shown()))?;
    let version = match name.to_ascii_uppercase().as_str() {
        "HTTP/1.0" => "HTTP/1.0",
        name if name.starts_with("HTTP/2") || name.starts_with("HTTP/3") => "HTTP/2",
        name if name == "HTTP" || name == "ICY" || name.starts_with("HTTP/") => "HTTP/1.1",
        _ => return Err(format!("no status line: {:?}", shown())),
    };
    let rest = rest.trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let status = rest[..digits].parse().ok().filter(|status| digits == 3 && (100..1000).contains(status));
    let status = status.ok_or_else(|| format!("no status in {:?}", shown()))?;
    Ok((version, status, rest[digits..].trim().to_owned()))
}

fn header(line: &[u8]) -> Option<Header> {
    let colon = memchr::memchr(b':', line)?;
    let name = std::str::from_utf8(&line[..colon]).ok()?.trim();
    (!name.is_empty()).then(|| (name.to_owned(), line[colon + 1..].trim_ascii().to_vec()))
}

/// Joins the chunks of a body (RFC 9112, section 7.1); `None` if it is not chunked. Says whether chunks are missing.
fn without_chunks(mut body: &[u8]) -> Option<(Vec<u8>, bool)> {
    let mut whole = Vec::with_capacity(body.len());
    let mut is_first = true;
    loop {
        let Some((length, rest)) = chunk_size(body) else { return (!is_first).then_some((whole, true)) };
        if length == 0 {
            return Some((whole, false));
        }
        whole.extend_from_slice(&rest[..length.min(rest.len())]);
        let Some(rest) = rest.get(length..) else { return Some((whole, true)) };
        body = rest.strip_prefix(b"\r\n").or(rest.strip_prefix(b"\n")).unwrap_or(rest);
        is_first = false;
    }
}

/// Parses the line before a chunk. Returns the length of the chunk, and what follows the line.
fn chunk_size(body: &[u8]) -> Option<(usize, &[u8])> {
    let end = memchr::memchr(b'\n', body)?;
    let line = std::str::from_utf8(&body[..end]).ok()?;
    let length = usize::from_str_radix(line.split(';').next().unwrap_or_default().trim(), 16).ok()?;
    Some((length, &body[end + 1..]))
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

    /// Status, media type and body.
    fn read(block: &str) -> (u16, String, String) {
        let block: Vec<u8> = block.chars().map(|c| c as u8).collect();
        let found = answer(&block, MOST).unwrap_or_else(|why| panic!("{why}: {}", block.escape_ascii()));
        let kind = found.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let kind = kind.map(|(_, value)| String::from_utf8_lossy(value).into_owned()).unwrap_or_default();
        (found.status, kind, String::from_utf8(found.body).unwrap())
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
        assert!(answer(&coded("br", &[0x8b, 0xff, 0xfe, 0]), MOST).is_err());
        let long = answer(&coded("gzip", &gzipped(&"x".repeat(5000))), MOST).unwrap();
        assert_eq!((long.body.len(), long.truncated), (MOST, true));
    }

    #[test]
    fn heads_that_are_a_little_wrong_are_read() {
        let html = |status: u16| (status, "text/html".to_owned(), "body".to_owned());
        for head in [
            "http/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n",
            "HTTP/1.1  200  OK\r\nContent-Type: text/html\r\n\r\n",
            "HTTP/1.1\t200\tOK\r\ncontent-type:text/html\r\n\r\n",
            "HTTP/1.1 200\r\nContent-Type: text/html\r\n\r\n",
            "HTTP 200 OK\r\nContent-Type: text/html\r\n\r\n",
            "ICY 200 OK\r\nContent-Type: text/html\r\n\r\n",
            "HTTP/1.1 200,OK\r\nContent-Type: text/html\r\n\r\n",
            "HTTP/3 200 \r\ncontent-type: text/html\r\n\r\n",
            "HTTP/1.1 200 OK\nContent-Type: text/html\r\nX: y\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\nX: y\r\n\n",
            "HTTP/1.1 200 OK\r\r\nContent-Type: text/html\r\r\n\r\r\n",
            "HTTP/1.1 200 OK\rContent-Type: text/html\r\r",
            "\r\n\nHTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Type : text/html\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Type:\r\n text/html\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX-Autor: Jos\u{e9}\r\nContent-Type: text/html\r\n\r\n",
            "HTTP/1.1 200 OK\r\nHTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n",
        ] {
            assert_eq!(read(&format!("{head}body")), html(200), "{head:?}");
        }
        let folded = "HTTP/1.1 200 OK\r\nContent-Type: text/html;\r\n\tcharset=utf-8;\r\n  a=b\r\nX: y\r\n\r\n";
        assert_eq!(read(folded).1, "text/html; charset=utf-8; a=b");
        assert_eq!(read("HTTP/1.1 200 OK\r\n folded\r\n\r\n").1, "");
    }

    #[test]
    fn interim_answers_are_skipped() {
        let last = "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\n\r\nbody";
        let expected = (404, "text/plain".to_owned(), "body".to_owned());
        for before in [
            "HTTP/1.1 100 Continue\r\n\r\n",
            "HTTP/1.1 100 Continue\n\nHTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n",
            "HTTP/1.1 102 Processing\r\n\r\n\r\n",
            "HTTP/1.0 200 Connection established\r\nProxy-Agent: x\r\n\r\n",
        ] {
            assert_eq!(read(&format!("{before}{last}")), expected, "{before:?}");
        }
        assert_eq!(read("HTTP/1.1 100 Continue\r\n\r\n").0, 100);
        assert_eq!(read("HTTP/1.1 101 Switching Protocols\r\n\r\nHTTP/1.1 200 OK\r\n\r\n").0, 101);
        // A page about HTTP is no answer.
        let page = read("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 404 Not Found\r\n\r\n");
        assert_eq!((page.0, &*page.2), (200, "HTTP/1.1 404 Not Found\r\n\r\n"));
    }

    #[test]
    fn codings_of_all_lines_are_undone_and_transfer_codings_before_them() {
        let twice = |header: &str, body: &[u8]| {
            body.iter().fold(header.to_owned(), |block, byte| block + &char::from(*byte).to_string())
        };
        let packed = gzipped("text");
        let chunked = |body: &[u8]| {
            let (first, second) = body.split_at(5);
            let mut whole = format!("{:x}\r\n", first.len()).into_bytes();
            whole.extend([first, b"\r\n", format!("{:X};a=b\r\n", second.len()).as_bytes(), second].concat());
            whole.extend(b"\r\n0\r\nTrailer: x\r\n\r\n");
            whole
        };
        for (lines, body) in [
            ("Transfer-Encoding: gzip, chunked\r\n", chunked(&packed)),
            ("Transfer-Encoding: gzip\r\nTransfer-Encoding: Chunked\r\n", chunked(&packed)),
            ("Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", chunked(&packed)),
            ("Transfer-Encoding: gzip, chunked\r\n", packed.clone()),
            ("Transfer-Encoding: gzip, chunked\r\n", b"text".to_vec()),
        ] {
            let head = format!("HTTP/1.1 200 OK\r\n{lines}\r\n");
            assert_eq!(read(&twice(&head, &body)).2, "text", "{lines:?}");
        }
    }

    #[test]
    fn a_chunked_body_that_ends_early_is_marked() {
        let read = |body: &str| {
            answer(format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}").as_bytes(), MOST).unwrap()
        };
        for (body, expected, truncated) in [
            ("3\r\nabc\r\n0\r\n\r\n", "abc", false),
            ("3\r\nabc\r\n", "abc", true),
            ("9\r\nabc", "abc", true),
            ("3\r\nabc\r\nno size\r\n", "abc", true),
            ("no chunks", "no chunks", false),
        ] {
            let found = read(body);
            assert_eq!((String::from_utf8(found.body).unwrap(), found.truncated), (expected.to_owned(), truncated));
        }
    }
}
