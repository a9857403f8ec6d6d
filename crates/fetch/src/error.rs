//! Errors: invalid settings, and requests without a complete response.

use std::path::PathBuf;

use ndcrawl_model::FailureClass;

/// Why the options give no [`Fetcher`](super::Fetcher).
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The proxy is not a usable URL.
    #[error("'{0}' is not a proxy: give http://HOST:PORT or https://HOST:PORT")]
    Proxy(String),
    /// A request header has invalid characters.
    #[error("the request header '{0}' cannot be sent: names are tokens, values have no line breaks or NUL")]
    Header(String),
    /// The file of trusted certificates cannot be used.
    #[error("the certificates in '{}' cannot be used: {why}; --ca-file takes the certificates of issuers", path.display())]
    CaFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The HTTP client cannot be set up.
    #[error("the HTTP client cannot be set up")]
    Client(#[source] reqwest::Error),
}

/// Why a request got no complete response. The crawl records it as an outcome and goes on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {detail}", class.name())]
pub struct FetchFailure {
    /// The kind of failure.
    pub class: FailureClass,
    /// The cause, in words.
    pub detail: String,
    /// Whether a retry may succeed.
    pub retryable: bool,
}

impl FetchFailure {
    /// A failure that a retry may cure.
    pub(super) fn passing(class: FailureClass, detail: impl Into<String>) -> Self {
        Self { class, detail: detail.into(), retryable: true }
    }

    /// A failure that a retry will not cure.
    pub(super) fn lasting(class: FailureClass, detail: impl Into<String>) -> Self {
        Self { class, detail: detail.into(), retryable: false }
    }
}
