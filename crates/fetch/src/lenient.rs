//! Servers whose header the HTTP client refuses although browsers read it.
//!
//! Such a server gets its requests over a connection whose header is mended before the client sees it: a `Content-Length`
//! that is no number counts as none (WHATWG Fetch, "extract a length"), `identity` is no transfer coding, and blanks or NUL
//! are left out. Numbers that differ stay: nobody can tell where such a body ends (RFC 9112, section 6.3). Only plain http
//! without a proxy.

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use hyper_util::rt::TokioIo;
use reqwest::header::{CONNECTION, HOST, HeaderMap, HeaderValue};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use url::{Position, Url};

/// Longest header that is mended, in bytes.
const LONGEST: usize = 256 * 1024;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Whether the words of a failed request are about a header that may be mended.
pub(super) fn may_help(detail: &str) -> bool {
    ["content-length", "transfer-encoding", "HTTP header parsed", "HTTP status-code"]
        .iter()
        .any(|sign| detail.contains(sign))
}

/// Sends a request over a connection of its own.
pub(super) async fn send(address: SocketAddr, url: &Url, headers: &HeaderMap) -> Result<reqwest::Response, Failure> {
    let stream =
        MendedStream { inner: TcpStream::connect(address).await?, head: Vec::new(), served: 0, is_mended: false };
    let mut builder = hyper::client::conn::http1::Builder::new();
    builder
        .allow_obsolete_multiline_headers_in_responses(true)
        .allow_spaces_after_header_name_in_responses(true)
        .ignore_invalid_headers_in_responses(true);
    let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let host = url.host_str().unwrap_or_default();
    let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    let mut request =
        hyper::Request::get(&url[Position::BeforePath..Position::AfterQuery]).body(reqwest::Body::default())?;
    request.headers_mut().extend(headers.clone());
    request.headers_mut().insert(HOST, HeaderValue::from_str(&host)?);
    request.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    let response = sender.send_request(request).await?;
    Ok(reqwest::Response::from(response.map(reqwest::Body::wrap)))
}

/// A connection that mends the header of its response.
struct MendedStream {
    inner: TcpStream,
    /// The header, and what came with it.
    head: Vec<u8>,
    served: usize,
    is_mended: bool,
}

impl AsyncRead for MendedStream {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        while !self.is_mended {
            let mut bytes = [0; 8192];
            let mut read = ReadBuf::new(&mut bytes);
            ready!(Pin::new(&mut self.inner).poll_read(context, &mut read))?;
            let is_end = read.filled().is_empty() || self.head.len() > LONGEST;
            self.head.extend_from_slice(read.filled());
            let end = memchr::memmem::find(&self.head, b"\r\n\r\n");
            if let Some(end) = end {
                let rest = self.head.split_off(end + 4);
                self.head = mended(&self.head[..end]);
                self.head.extend(rest);
            }
            self.is_mended = is_end || end.is_some();
        }
        if self.served < self.head.len() {
            let count = out.remaining().min(self.head.len() - self.served);
            out.put_slice(&self.head[self.served..self.served + count]);
            self.served += count;
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.inner).poll_read(context, out)
    }
}

impl AsyncWrite for MendedStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

/// Returns a header as the client bears it, with its empty last line.
fn mended(head: &[u8]) -> Vec<u8> {
    let head: Vec<u8> = head.iter().copied().filter(|&byte| byte != 0).collect();
    let text = |line: &[u8]| String::from_utf8_lossy(line).to_ascii_lowercase();
    let lines: Vec<&[u8]> =
        head.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect();
    let is_chunked =
        lines.iter().any(|line| text(line).starts_with("transfer-encoding:") && text(line).contains("chunked"));
    let lengths: Vec<Option<u64>> = lines
        .iter()
        .filter_map(|line| text(line).strip_prefix("content-length:").map(str::to_owned))
        .flat_map(|value| value.split(',').map(|number| number.trim().parse().ok()).collect::<Vec<_>>())
        .collect();
    let numbers: BTreeSet<u64> = lengths.iter().copied().flatten().collect();
    let length = numbers.first().copied().filter(|_| lengths.iter().all(Option::is_some));
    let mut mended = Vec::with_capacity(head.len());
    for (place, line) in lines.into_iter().enumerate() {
        let name = text(line);
        let is_identity = name.starts_with("transfer-encoding:") && !name.contains("chunked");
        match place {
            0 => mended.extend(name_of_status(line).bytes()),
            _ if (name.starts_with("content-length:") && numbers.len() < 2) || is_identity => continue,
            _ => mended.extend_from_slice(line),
        }
        mended.extend_from_slice(b"\r\n");
    }
    if let Some(length) = length.filter(|_| !is_chunked && numbers.len() < 2) {
        mended.extend(format!("Content-Length: {length}\r\n").bytes());
    }
    mended.extend_from_slice(b"\r\n");
    mended
}

/// Returns the status line with single blanks.
fn name_of_status(line: &[u8]) -> String {
    String::from_utf8_lossy(line).split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_counts_if_it_is_a_number_and_the_only_one() {
        let mend =
            |lines: &str| String::from_utf8(mended(format!("HTTP/1.1  200   OK\r\n{lines}").as_bytes())).unwrap();
        for (lines, kept) in [
            ("Content-Length: 5", "Content-Length: 5\r\n"),
            ("Content-Length: 5\0", "Content-Length: 5\r\n"),
            ("Content-Length: 5\r\nContent-Length: 5", "Content-Length: 5\r\n"),
            ("content-length: 5, 5", "Content-Length: 5\r\n"),
            ("Content-Length: 5\r\nContent-Length: 6", "Content-Length: 5\r\nContent-Length: 6\r\n"),
            ("Content-Length: ", ""),
            ("Content-Length: -1", ""),
            ("Content-Length: 5 bytes", ""),
            ("Transfer-Encoding: identity\r\nContent-Length: 5", "Content-Length: 5\r\n"),
            ("X: y\r\nContent-Length: many", "X: y\r\n"),
            ("Transfer-Encoding: chunked\r\nContent-Length: x", "Transfer-Encoding: chunked\r\n"),
        ] {
            assert_eq!(mend(lines), format!("HTTP/1.1 200 OK\r\n{kept}\r\n"), "{lines:?}");
        }
    }
}
