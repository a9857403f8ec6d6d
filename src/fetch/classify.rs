//! From the errors of the HTTP client to classes of failure.
//!
//! The client wraps what happened several times over; the chain of sources has it.

use std::error::Error;
use std::io::{self, ErrorKind};

use super::FetchFailure;
use super::resolver::ResolveError;
use crate::model::FailureClass;

/// Classifies an error of a request to an https (`tls`) or http URL.
pub(super) fn classify(error: &reqwest::Error, tls: bool) -> FetchFailure {
    if let Some(error) = find::<ResolveError>(error) {
        return unresolved(error);
    }
    let detail = innermost(error);
    if error.is_timeout() {
        let what = if error.is_connect() { "no connection in time" } else { "no answer in time" };
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
            FetchFailure::lasting(FailureClass::Protocol, format!("this is no HTTP: {detail}"))
        }
        Some(error) if error.is_incomplete_message() => incomplete(),
        None if error.is_decode() => {
            FetchFailure::lasting(FailureClass::Decode, format!("the content coding cannot be undone: {detail}"))
        }
        _ => FetchFailure::passing(FailureClass::Protocol, detail),
    }
}

/// The failure of a host without an address to connect to.
pub(super) fn unresolved(error: &ResolveError) -> FetchFailure {
    match error {
        ResolveError::Private { .. } => FetchFailure::lasting(FailureClass::PrivateAddress, error.to_string()),
        ResolveError::NoAddress(_) => FetchFailure::lasting(FailureClass::Dns, error.to_string()),
        ResolveError::Lookup(..) => FetchFailure::passing(FailureClass::Dns, error.to_string()),
    }
}

/// Fewer bytes came than were announced.
pub(super) fn incomplete() -> FetchFailure {
    FetchFailure::passing(FailureClass::Protocol, "incomplete: the server closed the connection too early")
}

fn unconnected(error: &reqwest::Error, tls: bool, detail: String) -> FetchFailure {
    // Over TLS, what is no failure of TCP is one of the handshake.
    let tcp = chain(error).any(|source| source.to_string().starts_with("tcp "));
    if tls && !tcp {
        // A certificate that does not fit today will not fit in a minute; a broken handshake may pass.
        let certificate = detail.contains("certificate");
        return FetchFailure { class: FailureClass::Tls, detail, retryable: !certificate };
    }
    FetchFailure::passing(FailureClass::Connect, detail)
}

fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        // An io::Error passes over the error it wraps when asked for its source.
        Some(inner) => Some(inner as &(dyn Error + 'static)),
        None => error.source(),
    })
}

fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    // The innermost of its kind: an outer io::Error is often only a wrapper.
    chain(error).filter_map(|source| source.downcast_ref::<E>()).last()
}

fn innermost(error: &(dyn Error + 'static)) -> String {
    chain(error).last().map(ToString::to_string).unwrap_or_default()
}
