//! A page for the archive.

use std::sync::Arc;

use super::{Digest, Fetched, PageId, Verdict, WarcLocation};

/// A page for the archive.
#[derive(Clone, Debug)]
pub struct PutPage {
    /// The deterministic id of the page.
    pub page: PageId,
    /// The exchange with the server.
    pub fetched: Arc<Fetched>,
    /// The row of a file that the page was, if it was one.
    pub row: Option<RowName>,
    /// Digest of the body.
    pub body_digest: Digest,
    /// Digest of the body as the archive spells it: `sha1:` and base 32.
    pub payload_digest: String,
    /// The decider's verdict.
    pub verdict: Verdict,
    /// For a duplicate: the stored page's URL, and when it was fetched (milliseconds since 1970), if that is known.
    pub original: Option<(String, Option<i64>)>,
    /// Whether the archive keeps the body of a duplicate too.
    pub keep_body: bool,
    /// The text of a document, or of a near-duplicate whose text is kept and the body is not.
    pub text: Option<String>,
    /// The archived response of an earlier crawl, if the page has not changed since.
    pub unchanged: Option<Unchanged>,
}

/// The row of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowName {
    /// The file.
    pub file: String,
    /// The number of the line, row or element, from 1.
    pub number: u64,
    /// Its own id, as given.
    pub id: Option<String>,
}

/// A page in the archive of an earlier crawl of the site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unchanged {
    /// Location of the response.
    pub location: WarcLocation,
    /// Its `WARC-Target-URI`.
    pub target: String,
    /// Its `WARC-Record-ID`.
    pub record_id: String,
    /// Its `WARC-Date`.
    pub fetched_at: String,
    /// How that is known.
    pub known_by: KnownUnchanged,
}

/// How it is known that a page is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownUnchanged {
    /// The server answered with status 304.
    Status,
    /// The server sent the same body again.
    Body,
    /// The server was not asked.
    NotRequested,
}
