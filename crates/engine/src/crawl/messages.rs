//! Messages from the workers and the scheduler to the dispatcher.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::oneshot;
use url::Url;

use crate::focus::Appraisal;
use crate::pipeline::{Letter, RenderedPage, RequestCounts};
use ndcrawl_fetch::Robots;
use ndcrawl_model::{
    CanonicalUrl, Digest, Exclusion, FailureClass, Fetched, Lease, Normalizer, PageContent, RobotsRow, TextError,
    Unchanged,
};
use pagetext::SitemapDate;

/// The dates of pages, as a sitemap has them.
pub(super) type SitemapDates = HashMap<CanonicalUrl, SitemapDate>;

/// The result of a lease.
#[derive(Debug)]
pub(super) enum FetchOutcome {
    /// A page, fetched and rendered.
    Page(Box<FetchedPage>),
    /// A soft 404: the page says no more than the answer to this probe.
    Soft404 { page: Box<FetchedPage>, probe: CanonicalUrl },
    /// A sitemap and the URLs in it, on any host, with their dates.
    Sitemap { fetched: Arc<Fetched>, urls: Vec<CanonicalUrl>, sitemaps: Vec<CanonicalUrl>, dates: SitemapDates },
    /// A redirect to another URL. `hops` counts the redirects to other spellings of the URL before.
    Redirect { fetched: Arc<Fetched>, to: CanonicalUrl, hops: u8 },
    /// A rule excludes the page. Has the answer if a request was made.
    Excluded { rule: Exclusion, fetched: Option<Arc<Fetched>> },
    /// The fetch failed. Has the answer if there was one.
    Failed { class: FailureClass, detail: String, fetched: Option<Arc<Fetched>> },
}

/// A page, fetched and rendered.
#[derive(Debug)]
pub(super) struct FetchedPage {
    pub fetched: Arc<Fetched>,
    pub rendered: Box<PageContent>,
    pub body_digest: Digest,
    /// The digest as the archive and `pages.jsonl` spell it.
    pub payload_digest: String,
    /// Text that was read from a document.
    pub document_text: Option<String>,
    /// Why a document has no text, or a part of it only.
    pub text_error: Option<TextError>,
    /// If the page is unchanged: where its body is archived, and the answer as it was received.
    pub unchanged: Option<(Unchanged, Arc<Fetched>)>,
    /// Its relevance and that of its links, in a focused crawl.
    pub appraisal: Option<Appraisal>,
    /// The rule by which its text is not wanted.
    pub unwanted: Option<Exclusion>,
    /// Whether a browser ran its scripts.
    pub is_headless: bool,
}

impl FetchedPage {
    /// A page that is not yet compared with anything.
    pub fn new(fetched: Arc<Fetched>, content: RenderedPage) -> Self {
        let RenderedPage { rendered, body_digest, payload_digest, document_text, text_error, .. } = content;
        Self {
            fetched,
            rendered,
            body_digest,
            payload_digest,
            document_text,
            text_error,
            unchanged: None,
            appraisal: None,
            unwanted: None,
            is_headless: false,
        }
    }

    /// Returns the rule for which the decider does not see the page. Its links are used.
    pub fn exclusion(&self) -> Option<Exclusion> {
        self.unwanted.or(self.rendered.robots.noindex.then_some(Exclusion::NoIndex))
    }
}

/// The sitemaps that a robots.txt names.
#[derive(Clone, Debug)]
pub(super) struct NamedSitemaps {
    pub host: String,
    pub sitemaps: Vec<CanonicalUrl>,
}

impl NamedSitemaps {
    /// The sitemaps that the robots.txt of this URL's origin names; `None` if it names none, or if it does not count.
    pub fn of(url: &CanonicalUrl, robots: &Robots, normalizer: &Normalizer) -> Option<Self> {
        let sitemaps = normalizer.all(robots.sitemaps().iter().map(Url::as_str));
        (!sitemaps.is_empty()).then(|| Self { host: url.host().to_owned(), sitemaps })
    }
}

/// What comes next when nothing is queued or leased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WhenIdle {
    /// Something was queued again.
    GoOn,
    /// Other processes may mail more work.
    Wait,
    /// The crawl is over.
    End,
}

/// A message to the dispatcher.
#[derive(Debug)]
pub(super) enum DispatchMessage {
    /// A lease has ended. Has the requests, if any were made.
    Arrival { lease: Box<Lease>, outcome: Box<FetchOutcome>, requests: Option<RequestCounts> },
    /// Requests were made, and the lease goes back to the frontier.
    Requests(RequestCounts),
    /// A worker has fetched a robots.txt.
    Robots { origin: String, row: RobotsRow },
    /// The robots.txt of a host whose pages are fetched names these sitemaps.
    Sitemaps(NamedSitemaps),
    /// Links that other slots have mailed, in a crawl of several processes.
    Mail(Vec<Letter>),
    /// Nothing is queued or leased. The dispatcher looks for verdicts to revise, queues their URLs and replies what
    /// comes next.
    Idle(oneshot::Sender<WhenIdle>),
}
