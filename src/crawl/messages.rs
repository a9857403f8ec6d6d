//! What workers hand to the judge.

use std::sync::Arc;

use tokio::sync::oneshot;

use crate::focus::Appraisal;
use crate::model::{CanonicalUrl, Digest, Exclusion, FailureClass, Fetched, Lease, Rendered, RobotsRow, Unchanged};
use crate::pipeline::Attempts;

/// What came of a lease.
#[derive(Debug)]
pub(super) enum Found {
    /// A page, fetched and rendered.
    Page(Box<FoundPage>),
    /// A page that says no more than the answer to this wrong address.
    NotThere { page: Box<FoundPage>, probe: CanonicalUrl },
    /// A sitemap and what it names.
    Sitemap { fetched: Arc<Fetched>, urls: Vec<CanonicalUrl>, sitemaps: Vec<CanonicalUrl> },
    /// The server names another URL.
    Redirect { fetched: Arc<Fetched>, to: CanonicalUrl },
    /// A rule keeps the page out; if it was asked for, the answer.
    Excluded { rule: Exclusion, fetched: Option<Arc<Fetched>> },
    /// The page could not be had; if the server answered, the answer.
    Failed { class: FailureClass, detail: String, fetched: Option<Arc<Fetched>> },
}

/// A page, fetched and rendered.
#[derive(Debug)]
pub(super) struct FoundPage {
    pub fetched: Arc<Fetched>,
    pub rendered: Box<Rendered>,
    pub body_digest: Digest,
    /// As the archive and `pages.jsonl` spell it.
    pub payload_digest: String,
    /// If the page is as it was: where it is archived, and the answer that says so, as received.
    pub unchanged: Option<(Unchanged, Arc<Fetched>)>,
    /// How it compares with what is looked for, in a focused crawl.
    pub appraisal: Option<Appraisal>,
    /// Whether it has too little to do with that.
    pub is_off_topic: bool,
    /// Whether this is what its scripts have drawn.
    pub is_drawn: bool,
}

/// A message to the judge.
#[derive(Debug)]
pub(super) enum Message {
    /// A lease has ended, with these requests, if any.
    Arrival { lease: Lease, found: Box<Found>, attempts: Option<Attempts> },
    /// Requests were made, and the lease goes back.
    Attempts(Attempts),
    /// A robots.txt was had; it names sitemaps.
    Robots { origin: String, row: RobotsRow, sitemaps: Vec<CanonicalUrl> },
    /// Nothing is queued or on lease: are there verdicts to look at again? The answer is whether there
    /// are, and their URLs are queued.
    Idle(oneshot::Sender<bool>),
}
