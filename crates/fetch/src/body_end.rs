//! How a body ends: by its framing, by a limit, or too early.

use std::time::Duration;

use reqwest::{Response, Version};

/// How long a connection may be silent behind the end of a document whose length nobody has said.
const AFTER_DOCUMENT: Duration = Duration::from_secs(1);

/// How the transfer of a body ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BodyEnd {
    /// All of it came.
    Whole,
    /// As far as it is wanted, or as it will ever come.
    Cut,
    /// Too early: why, in words.
    BrokenOff(String),
}

/// What marks the end of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// A length, a last chunk or an end of the stream.
    Marked,
    /// The end of the connection (RFC 9112, section 6.3).
    Connection,
}

impl Framing {
    pub(super) fn of(response: &Response) -> Self {
        let has_length = response.content_length().is_some();
        let is_chunked = response.headers().get_all(reqwest::header::TRANSFER_ENCODING).iter().any(is_chunked);
        match response.version() {
            Version::HTTP_10 | Version::HTTP_11 if !has_length && !is_chunked => Self::Connection,
            _ => Self::Marked,
        }
    }

    /// Whether the connection ends with the body, so that any end of it is the body's: a TLS connection without notice
    /// of its end, too. Browsers and curl bear with that.
    pub(super) fn ends_with_connection(self) -> bool {
        self == Self::Connection
    }

    /// Returns how long the connection may be silent after what came of the body. Some servers forget to close it.
    pub(super) fn patience(self, body: &[u8]) -> Duration {
        if self == Self::Connection && is_document_over(body) { AFTER_DOCUMENT } else { Duration::MAX }
    }
}

fn is_chunked(value: &reqwest::header::HeaderValue) -> bool {
    String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase().contains("chunked")
}

/// Whether an HTML document has come to its end tag.
pub(super) fn is_document_over(body: &[u8]) -> bool {
    const END: &[u8] = b"</html>";
    let body = body.trim_ascii_end();
    body.len() >= END.len() && body[body.len() - END.len()..].eq_ignore_ascii_case(END)
}
