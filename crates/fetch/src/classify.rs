//! Maps errors of the HTTP client to failure classes.
//!
//! The client wraps the cause several times, so the chain of sources is searched.

use std::error::Error;
use std::io::{self, ErrorKind};

use super::FetchFailure;
use super::resolver::ResolveError;
use super::tls_failure::tls_failure;
use ndcrawl_model::FailureClass;

/// Classifies an error of a request to an https (`tls`) or http URL.
pub(super) fn classify(error: &reqwest::Error, tls: bool) -> FetchFailure {
    if let Some(error) = find::<ResolveError>(error) {
        return unresolved(error);
    }
    let detail = innermost(error);
    if let Some(error) = find::<rustls::Error>(error).filter(|_| tls) {
        return tls_failure(error, detail);
    }
    if error.is_timeout() {
        let what = if error.is_connect() {
            "no connection within the time limit"
        } else {
            "no response within the time limit"
        };
        return FetchFailure::passing(FailureClass::Timeout, what);
    }
    if error.is_connect() {
        return unconnected(error, tls, detail);
    }
    if let Some(kind) = find::<io::Error>(error).map(io::Error::kind) {
        match kind {
            ErrorKind::UnexpectedEof => return incomplete(),
            ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => {
                return FetchFailure::passing(FailureClass::Connect, format!("connection reset: {detail}"));
            }
            _ => {}
        }
    }
    match find::<hyper::Error>(error) {
        Some(error) if error.is_parse_too_large() => {
            FetchFailure::lasting(FailureClass::TooLarge, "the response's header is too large")
        }
        Some(error) if error.is_parse() => {
            FetchFailure::lasting(FailureClass::Protocol, format!("the response is not HTTP: {detail}"))
        }
        Some(error) if error.is_incomplete_message() => incomplete(),
        _ => FetchFailure::passing(FailureClass::Protocol, detail),
    }
}

/// Whether the server has certainly not processed a request that failed, so that it may be sent again at once.
///
/// A server that closes an HTTP/2 connection or is busy says which requests it has not seen (RFC 9113, section 8.7). A
/// request that was canceled never left the queue of a closed connection.
pub(super) fn is_unprocessed(error: &reqwest::Error) -> bool {
    let by_server = find::<h2::Error>(error).is_some_and(|error| {
        let is_closing = error.is_go_away() && error.reason() == Some(h2::Reason::NO_ERROR);
        let is_refused = error.is_reset() && error.reason() == Some(h2::Reason::REFUSED_STREAM);
        error.is_remote() && (is_closing || is_refused)
    });
    by_server || find::<hyper::Error>(error).is_some_and(hyper::Error::is_canceled)
}

/// What a failed request says of the server's HTTP/2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Http2 {
    /// Nothing bad.
    Sound,
    /// The server wants HTTP/1.1 for this request, which it has not processed (RFC 9113, section 7).
    Unwanted,
    /// One side calls what it got from the other malformed. Browsers go on with HTTP/1.1.
    Broken,
}

impl Http2 {
    /// Judges the server by an error.
    pub(super) fn judge(error: &reqwest::Error) -> Self {
        use h2::Reason;
        let Some(error) = find::<h2::Error>(error) else { return Self::Sound };
        match error.reason() {
            Some(Reason::HTTP_1_1_REQUIRED) => Self::Unwanted,
            Some(
                Reason::PROTOCOL_ERROR
                | Reason::INTERNAL_ERROR
                | Reason::FLOW_CONTROL_ERROR
                | Reason::STREAM_CLOSED
                | Reason::FRAME_SIZE_ERROR
                | Reason::COMPRESSION_ERROR
                | Reason::INADEQUATE_SECURITY,
            ) => Self::Broken,
            _ => Self::Sound,
        }
    }
}

/// Whether the connection has ended where more was expected, without a reset. TLS says so if it ends without notice.
pub(super) fn is_end_of_file(error: &reqwest::Error) -> bool {
    find::<io::Error>(error).is_some_and(|error| error.kind() == ErrorKind::UnexpectedEof)
}

/// Whether what came is against the rules of HTTP, and did not just end too early.
pub(super) fn is_violation(error: &reqwest::Error) -> bool {
    let is_invalid = |error: &io::Error| matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::InvalidInput);
    find::<io::Error>(error).is_some_and(is_invalid)
        || find::<hyper::Error>(error).is_some_and(|error| error.is_parse() || error.is_parse_too_large())
}

/// The failure of a host without a permitted address.
pub(super) fn unresolved(error: &ResolveError) -> FetchFailure {
    match error {
        ResolveError::Private { .. } => FetchFailure::lasting(FailureClass::PrivateAddress, error.to_string()),
        ResolveError::NoAddress(_) => FetchFailure::lasting(FailureClass::Dns, error.to_string()),
        ResolveError::Lookup(..) => FetchFailure::passing(FailureClass::Dns, error.to_string()),
    }
}

/// The body is shorter than announced.
pub(super) fn incomplete() -> FetchFailure {
    FetchFailure::passing(FailureClass::Protocol, "incomplete: the server closed the connection early")
}

fn unconnected(error: &reqwest::Error, tls: bool, detail: String) -> FetchFailure {
    // Over TLS, a connect error that is not from TCP is from the handshake.
    let tcp = chain(error).any(|source| source.to_string().starts_with("tcp "));
    if tls && !tcp {
        return FetchFailure::passing(FailureClass::Tls, detail);
    }
    FetchFailure::passing(FailureClass::Connect, detail)
}

fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        // `io::Error::source` skips the error it wraps.
        Some(inner) => Some(inner as &(dyn Error + 'static)),
        None => error.source(),
    })
}

fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    // The innermost one: an outer io::Error is often only a wrapper.
    chain(error).filter_map(|source| source.downcast_ref::<E>()).last()
}

fn innermost(error: &(dyn Error + 'static)) -> String {
    chain(error).last().map(ToString::to_string).unwrap_or_default()
}
