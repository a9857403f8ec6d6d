//! What can go wrong: settings that make no client, and requests that get no answer.

use crate::model::FailureClass;

/// Why no [`Fetcher`](super::Fetcher) can be made of the options.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The proxy's URL is of no use.
    #[error("'{0}' is not a proxy: give http://HOST:PORT or https://HOST:PORT")]
    Proxy(String),
    /// A request header has characters that no header may have.
    #[error("the request header '{0}' cannot be sent: names are tokens, values have no line breaks or NUL")]
    Header(String),
    /// The HTTP client cannot be set up.
    #[error("the HTTP client cannot be set up")]
    Client(#[source] reqwest::Error),
}

/// Why a request got no whole answer. A page that fails is an outcome to record, not a reason to
/// stop.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {detail}", class.name())]
pub struct FetchFailure {
    /// The kind of failure.
    pub class: FailureClass,
    /// What happened, in words.
    pub detail: String,
    /// Whether it may pass when asked again.
    pub retryable: bool,
}

impl FetchFailure {
    /// A failure that may pass.
    pub(super) fn passing(class: FailureClass, detail: impl Into<String>) -> Self {
        Self { class, detail: detail.into(), retryable: true }
    }

    /// A failure that will be the same next time.
    pub(super) fn lasting(class: FailureClass, detail: impl Into<String>) -> Self {
        Self { class, detail: detail.into(), retryable: false }
    }
}
