//! The three seams behind which a remote engine can stand: frontier, decider and page store.
//!
//! All three are asynchronous, shaped in batches and idempotent: what is delivered twice meets its
//! own trace and changes nothing.

use std::future::Future;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{
    CanonicalUrl, Clue, Deferral, Digest, Exclusion, Expectation, Fetched, Foretelling, OutcomeKind, PageId, PageTerms,
    Relevance, Sequence, TermCounts, TermOrder, TermRow, UrlId, Verdict, WarcLocation,
};

/// How a URL was named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LinkKind {
    /// By the user. Seeds are never out of scope.
    Seed,
    /// By a robots.txt, as a sitemap: it is read for its links. Never out of scope.
    SitemapFile,
    /// By a sitemap.
    Sitemap,
    /// By a page.
    Page,
    /// By a page that is a duplicate.
    Duplicate,
    /// By a redirect.
    Redirect,
    /// By this crawl, which took the page for a near-duplicate when it knew less of its host.
    Revision,
}

/// A URL that is offered to the frontier.
#[derive(Clone, Debug)]
pub struct Link {
    /// Where it leads.
    pub url: CanonicalUrl,
    /// Links from a seed.
    pub depth: u16,
    /// The page or redirect that names it.
    pub referrer: Option<UrlId>,
    /// How it is named.
    pub kind: LinkKind,
    /// Redirect hops in a row, this one included.
    pub hops: u8,
    /// Queue order before depth: 0 for most links, 1 for links that are to be fetched last.
    pub rank: u8,
    /// If set, the URL is only marked as seen, for this reason. A later offer without it queues it.
    pub only_seen: Option<Deferral>,
    /// What the page that names it lets one expect, in a focused crawl.
    pub clue: Option<Clue>,
}

/// What the frontier did with an offered link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// New, or deferred until now: it is queued.
    Queued,
    /// It was queued, leased or done before.
    Seen,
    /// It is on record and not queued.
    Deferred(Deferral),
    /// It is new and a rule keeps it out.
    Excluded(Exclusion),
}

/// The answer to one offered link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offered {
    /// The URL's number.
    pub id: UrlId,
    /// What was done with it.
    pub disposition: Disposition,
}

/// A URL to fetch now.
#[derive(Clone, Debug)]
pub struct Lease {
    /// The URL's number.
    pub id: UrlId,
    /// The URL.
    pub url: CanonicalUrl,
    /// Links from a seed.
    pub depth: u16,
    /// The page that named it.
    pub referrer: Option<UrlId>,
    /// How it was named.
    pub kind: LinkKind,
    /// Redirect hops that led to it in a row.
    pub hops: u8,
    /// See [`Link::rank`].
    pub rank: u8,
    /// How often it was handed out, this time included.
    pub deliveries: u32,
    /// Requests made for it so far.
    pub attempts: u32,
    /// The best clues to it, in a focused crawl.
    pub clue: Option<Clue>,
    /// What was expected of it, in a focused crawl.
    pub expectation: Option<Expectation>,
    /// What was foretold of it, if it was, and it is fetched all the same.
    pub foretelling: Option<Box<Foretelling>>,
}

/// What to wait for when there are fewer leases than asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Nothing is queued and no lease is alive: the crawl is over.
    Done,
    /// Something queued becomes due at this moment.
    Until(Instant),
    /// Only an ack, a nak or an offer can change anything.
    Event,
}

/// The answer to a request for leases.
#[derive(Clone, Debug)]
pub struct LeaseAnswer {
    /// At most as many as asked for.
    pub leases: Vec<Lease>,
    /// What to wait for before asking again.
    pub wait: Wait,
}

/// The end of a lease: the URL has its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// The URL.
    pub id: UrlId,
    /// Its outcome; pages count against the budgets.
    pub kind: OutcomeKind,
    /// The URL of the page that it repeats, or the target of the redirect.
    pub repeats: Option<UrlId>,
    /// What was found there, in a focused crawl; `None` if that says nothing of what lies near it.
    pub worth: Option<Relevance>,
}

/// Sizes of the frontier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrontierCounts {
    /// URLs ever seen.
    pub seen: u64,
    /// URLs that wait in a queue.
    pub queued: u64,
    /// Leases alive.
    pub leased: u64,
    /// URLs on record that are not queued.
    pub deferred: u64,
    /// URLs that a rule kept out at first sight.
    pub excluded: u64,
    /// URLs that rules foretell to be duplicates.
    #[serde(default)]
    pub predicted: u64,
    /// Origins with something queued or leased.
    pub origins: u64,
    /// Pages fetched so far, as the budgets count them.
    pub pages: u64,
}

/// What next, and what was seen.
///
/// URLs are partitioned by registrable domain; order within is host queues (politeness) times
/// priority (rank, depth, arrival).
pub trait Frontier: Send + Sync {
    /// Why an operation failed.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Seen-check and enqueue in one step. Answers in the order of the links.
    fn offer(&self, links: Vec<Link>) -> impl Future<Output = Result<Vec<Offered>, Self::Error>> + Send;

    /// Hands out at most `most` URLs that are due at `now`. A lease that is neither acked nor naked
    /// within `ttl` goes back to its queue (a remote engine's care; embedded, leases die with the
    /// process).
    fn lease(
        &self,
        most: usize,
        now: Instant,
        ttl: Duration,
    ) -> impl Future<Output = Result<LeaseAnswer, Self::Error>> + Send;

    /// Ends leases whose URLs have got their outcome.
    fn ack(&self, done: Vec<Ack>) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Gives a lease back: the URL is due again at `not_before`. `lease.attempts` is remembered.
    fn nak(&self, lease: Lease, not_before: Instant) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Queues URLs again that had their outcome: what was found there is to be judged anew
    /// ([`LinkKind::Revision`]). Their earlier pages do not count against the budgets any more.
    fn revise(&self, urls: Vec<UrlId>) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Nothing of this origin (scheme://host:port) is due before `not_before`.
    fn postpone(&self, origin: &str, not_before: Instant) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Sizes.
    fn counts(&self) -> FrontierCounts;
}

/// A rendered page as the decider sees it: it knows no URL, clock or runtime.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The page's deterministic name.
    pub page: PageId,
    /// The page's group (its host), an opaque number.
    pub group: u32,
    /// Digest of the body.
    pub body_digest: Digest,
    /// Digest of the visible text; `None` if there is none.
    pub text_digest: Option<Digest>,
    /// The distinct terms and their field counts.
    pub terms: Vec<TermCounts>,
    /// The order of the terms, as far as the detector looks at it.
    pub order: TermOrder,
    /// The near-duplicate that this page was taken for when it was judged first. What inherited that
    /// verdict by its bytes or text inherits it no longer.
    pub renews: Option<Sequence>,
}

/// The decider's answer for one page.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The page's place in the order of judgement.
    pub sequence: Sequence,
    /// Unique or what it repeats.
    pub verdict: Verdict,
    /// The record for the log: terms ascending by id, with field counts.
    pub terms: PageTerms,
    /// The order of the terms, for the log.
    pub order: TermOrder,
    /// See [`PageRow::least_weight`](super::PageRow::least_weight).
    pub least_weight: u32,
    /// Terms that appeared for the first time on this page, in the order of their ids.
    pub new_terms: Vec<TermRow>,
    /// Whether this page was delivered before; then nothing but the verdict is new to nobody.
    pub redelivered: bool,
}

/// Have we kept this text before?
///
/// Verdicts are given in the order of the candidates, and a unique page is in the index before the
/// next one is looked at.
pub trait Decider: Send {
    /// Why a batch could not be decided.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Decides a batch, in order.
    fn decide(&mut self, batch: Vec<Candidate>) -> impl Future<Output = Result<Vec<Judged>, Self::Error>> + Send;
}

/// A page for the archive.
#[derive(Clone, Debug)]
pub struct PutPage {
    /// The page's deterministic name.
    pub page: PageId,
    /// The exchange with the server.
    pub fetched: std::sync::Arc<Fetched>,
    /// Digest of the body.
    pub body_digest: Digest,
    /// Digest of the body as the archive spells it: `sha1:` and base 32.
    pub payload_digest: String,
    /// What the decider said.
    pub verdict: Verdict,
    /// For a duplicate: the stored page's URL, and when that was fetched (milliseconds since 1970).
    pub original: Option<(String, i64)>,
    /// Whether the body of a duplicate is kept too.
    pub keep_body: bool,
    /// Where the page is archived already, if it is as it was when the site was crawled before.
    pub unchanged: Option<Unchanged>,
}

/// A page as an earlier generation of the crawl has archived it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unchanged {
    /// Where the response is.
    pub location: WarcLocation,
    /// Its `WARC-Record-ID`.
    pub record_id: String,
    /// Its `WARC-Date`.
    pub fetched_at: String,
    /// Whether the server said so (status 304); if not, its answer had the same body.
    pub by_status: bool,
}

/// Where pages are kept.
pub trait PageStore: Send {
    /// Why an operation failed.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Appends pages and says where each lies. Durable with the commit that names them.
    fn put(
        &mut self,
        pages: Vec<PutPage>,
    ) -> impl Future<Output = Result<Vec<Option<WarcLocation>>, Self::Error>> + Send;

    /// Reads the body of a stored page back.
    fn get(&self, location: WarcLocation) -> impl Future<Output = Result<Vec<u8>, Self::Error>> + Send;
}
