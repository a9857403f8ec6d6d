//! What a caller asks of one request.

use reqwest::header::{HeaderMap, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH};
use url::Url;

/// Which part of a response's body is read, and under which condition it is sent.
pub(super) struct RequestOptions {
    /// Most bytes of the decoded body that are kept.
    pub(super) max_body: usize,
    /// Whether the body is read for every media type.
    pub(super) any_type: bool,
    /// Most bytes of a body that may be a sitemap by its type.
    pub(super) sitemap_bytes: Option<usize>,
    /// The server sends no body while these still hold.
    pub(super) unless: Validators,
    /// The spelling to request, if it is not the canonical one.
    pub(super) spelling: Option<Url>,
}

/// What a crawl asks of the request for a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageRequest {
    /// The spelling to request, if it is not the canonical one.
    pub spelling: Option<Url>,
    /// The server sends no body while these still hold.
    pub unless: Validators,
    /// Whether the body is read for every media type.
    pub any_type: bool,
    /// Most bytes of a sitemap. If set, a body is read as far as that if it may be a sitemap by its type.
    pub sitemap_bytes: Option<usize>,
}

/// Validators of an earlier response (RFC 9110, section 8.8).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validators {
    /// `ETag`.
    pub etag: Option<String>,
    /// `Last-Modified`.
    pub last_modified: Option<String>,
}

impl Validators {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds the conditional headers (RFC 9110, sections 13.1.2 and 13.1.3). Leaves out a value that is no valid
    /// header value.
    pub(super) fn add_to(&self, headers: &mut HeaderMap) {
        for (name, value) in [(IF_NONE_MATCH, &self.etag), (IF_MODIFIED_SINCE, &self.last_modified)] {
            if let Some(value) = value.as_ref().and_then(|value| HeaderValue::from_str(value).ok()) {
                headers.insert(name, value);
            }
        }
    }
}
