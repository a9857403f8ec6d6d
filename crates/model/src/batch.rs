//! The values that one commit makes durable.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    Clue, Deferral, Digest, Discovery, Exclusion, FailureClass, JudgedPage, LinkKind, OutcomeKind, PageId, PageInput,
    PageKind, PageTerms, Relevance, Sequence, Term, TermOrder, UrlId, Verdict,
};

/// A URL at its discovery. Its [`UrlId`] is its position in the log of URLs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlRow {
    /// The canonical URL.
    pub url: String,
    /// How it was discovered.
    pub discovery: Discovery,
    /// The frontier's decision at its discovery.
    pub state: UrlState,
    /// Evidence on the referring page that the URL is on topic, in a focused crawl.
    pub clue: Option<Clue>,
}

/// The frontier's decision about a URL at its discovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UrlState {
    /// Waits to be fetched.
    Queued,
    /// Not fetched, unless a better path turns up.
    Deferred(Deferral),
    /// Excluded by a rule, unless a better path turns up. The crawl writes its line at the end.
    Excluded(Exclusion),
    /// Belongs to another slot and has its outcome there. If set, the link to it is not followed, for this reason.
    Elsewhere(Option<Deferral>),
}

/// A URL queued after its discovery: by a better path, or for a new verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requeue {
    /// The URL.
    pub url: UrlId,
    /// The better path.
    pub discovery: Discovery,
}

/// The links of one kind of a page, along which the frontier hands on a shorter path; or what a sitemap lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageLinksRow {
    /// The page, or the redirect.
    pub page: UrlId,
    /// How it names the URLs.
    pub kind: LinkKind,
    /// Whether it redirects to the URL. A redirect does not count as a step.
    pub is_redirect: bool,
    /// The URLs, ascending. Those that can have no shorter path by this page are left out, but not of a sitemap.
    pub links: Vec<UrlId>,
}

/// A term of the vocabulary. Its [`crate::TermId`] is its position in the log of terms.
pub type TermRow = Term;

/// Everything stored about a decided page, duplicates too. Its [`Sequence`] is its position in the log of pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageRow {
    /// The page's URL.
    pub url: UrlId,
    /// Its deterministic id.
    pub page: PageId,
    /// Its group (its host), an opaque number to the decider.
    pub group: u32,
    /// Time of the request, milliseconds since 1970 UTC. `None` if a file did not tell.
    pub fetched_at: Option<i64>,
    /// Digest of the decoded body.
    pub body_digest: Digest,
    /// Digest of the visible text; `None` if there is none.
    pub text_digest: Option<Digest>,
    /// The decider's verdict.
    pub verdict: Verdict,
    /// The distinct terms, ascending by id, with their field counts.
    pub terms: PageTerms,
    /// Weight in hundredths below which terms are ignored: the dynamic threshold at the time of the decision. 0 if there
    /// is none.
    pub least_weight: u32,
    /// The order of the terms, as far as the detector uses it.
    pub order: TermOrder,
    /// The out-links, in order of appearance.
    pub links: Vec<UrlId>,
    /// Its record in the archive.
    pub location: Option<WarcLocation>,
    /// The earlier decision that this one revises.
    pub renews: Option<Sequence>,
    /// What the page is: of two copies the better one should be stored.
    pub kind: PageKind,
    /// Its relevance to the topic, in a focused crawl.
    pub relevance: Option<Relevance>,
}

impl PageRow {
    /// Returns the row of a page before its decision, without terms, links and a place in the archive.
    pub fn undecided(url: UrlId, input: &PageInput, fetched_at: Option<i64>) -> Self {
        Self {
            url,
            page: input.page,
            group: input.group,
            fetched_at,
            body_digest: input.body_digest,
            text_digest: input.text_digest,
            verdict: Verdict::Unique,
            terms: PageTerms::default(),
            least_weight: 0,
            order: TermOrder::default(),
            links: Vec::new(),
            location: None,
            renews: input.renews,
            kind: PageKind::of_rank(input.rank),
            relevance: None,
        }
    }

    /// Returns what the decider needs of the row.
    pub fn judged(&self) -> JudgedPage<'_> {
        JudgedPage {
            page: self.page,
            group: self.group,
            body_digest: self.body_digest,
            text_digest: self.text_digest,
            verdict: self.verdict,
            terms: &self.terms,
            least_weight: self.least_weight,
            order: &self.order,
            renews: self.renews,
            rank: self.kind.rank(),
        }
    }
}

/// Location of a record in the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarcLocation {
    /// The file's serial number.
    pub file: u32,
    /// Offset of the gzip member.
    pub offset: u64,
    /// Length of the gzip member.
    pub length: u64,
}

/// The outcome of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeRow {
    /// The URL.
    pub url: UrlId,
    /// Its outcome. `pages.jsonl` has the details.
    pub kind: OutcomeKind,
}

/// Persistent state of an origin (scheme, host and port).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRow {
    /// scheme://host:port
    pub origin: String,
    /// Its robots.txt, if downloaded.
    pub robots: Option<RobotsRow>,
    /// Requests sent, robots.txt included.
    pub requests: u64,
    /// Requests without a response.
    pub unanswered: u64,
    /// Bytes of decoded bodies.
    pub bytes: u64,
    /// Sum of response times in microseconds.
    pub response_micros: u64,
    /// URLs by outcome.
    pub outcomes: BTreeMap<OutcomeKind, u64>,
    /// URLs that failed, by class.
    pub failures: BTreeMap<FailureClass, u64>,
}

/// A downloaded robots.txt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RobotsRow {
    /// Time of the download, milliseconds since 1970 UTC.
    pub fetched_at: i64,
    /// The HTTP status of the last hop. 0 without a response.
    pub status: u16,
    /// The body, cut at the limit.
    pub body: Vec<u8>,
}

/// Counters of the whole crawl.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Totals {
    /// URLs by outcome.
    pub outcomes: BTreeMap<OutcomeKind, u64>,
    /// Requests sent, robots.txt and probes included.
    pub requests: u64,
    /// Soft-404 probes: requests for made-up addresses, and for the start pages they are compared with. They have no
    /// lines.
    pub probes: u64,
    /// Pages recognized as soft 404s.
    pub soft_404s: u64,
    /// PDFs whose text was read.
    pub documents: u64,
    /// PDFs without text, or with a part of it only, by the reason.
    pub text_errors: BTreeMap<String, u64>,
    /// Bytes of decoded bodies.
    pub bytes: u64,
    /// Links that are not http or https URLs.
    pub links_dropped: u64,
    /// Links beyond the limit per page.
    pub links_over_limit: u64,
    /// Revised pages: near-duplicates that were decided too early and then decided again.
    pub revised: u64,
    /// Time spent crawling over all runs, milliseconds.
    pub millis: u64,
}

/// Everything that one commit makes durable, as plain values.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Discovered URLs, in the order of their ids.
    pub urls: Vec<UrlRow>,
    /// Requeued URLs.
    pub requeued: Vec<Requeue>,
    /// Shorter paths to URLs that are queued, leased, done or too deep.
    pub shortened: Vec<Requeue>,
    /// Links of pages.
    pub links: Vec<PageLinksRow>,
    /// Outcomes of URLs.
    pub outcomes: Vec<OutcomeRow>,
    /// Duplicates among them, each with the URL of its original.
    pub repeats: Vec<(UrlId, UrlId)>,
    /// Pages that link to themselves or to another edition of themselves, each with that URL.
    pub counterparts: Vec<(UrlId, UrlId)>,
    /// Links of duplicates that are not followed although the pages that these repeat have no such link.
    pub unmatched: Vec<UrlId>,
    /// New terms, in the order of their ids.
    pub terms: Vec<TermRow>,
    /// Decided pages, in the order of their sequence numbers.
    pub pages: Vec<PageRow>,
    /// Complete rows of changed origins.
    pub hosts: Vec<HostRow>,
    /// Leased URLs, each with its number of leases.
    pub leased: Vec<(UrlId, u32)>,
    /// Lines for `pages.jsonl`, without line ends.
    pub page_lines: Vec<String>,
    /// Lines for `errors.jsonl`, without line ends.
    pub error_lines: Vec<String>,
    /// The counters after this batch.
    pub totals: Totals,
}

/// Commit record: the lengths of all logs and files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitMark {
    /// The number of the commit, from 1; 0 before the first.
    pub number: u64,
    /// URLs in the log.
    pub urls: u32,
    /// Terms in the log.
    pub terms: u32,
    /// Decided pages in the log.
    pub pages: u32,
    /// Serial number of the current archive file.
    pub warc_file: u32,
    /// Its length.
    pub warc_bytes: u64,
    /// Length of `pages.jsonl`.
    pub page_line_bytes: u64,
    /// Length of `errors.jsonl`.
    pub error_line_bytes: u64,
    /// Leased URLs, each with its number of leases.
    pub leased: Vec<(UrlId, u32)>,
    /// Counters.
    pub totals: Totals,
    /// For a finished crawl: length of `pages.jsonl` without the lines of never leased URLs.
    pub finished: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_discovery_is_stored_as_its_fields_in_a_row() {
        let discovery =
            Discovery { depth: 300, referrer: Some(UrlId(200)), kind: LinkKind::Redirect, hops: 2, rank: 1 };
        let fields = [0xac, 0x02, 1, 0xc8, 0x01, 5, 2, 1];
        let row = UrlRow { url: "http://a.test/".to_owned(), discovery, state: UrlState::Queued, clue: None };
        let stored = [&[14], row.url.as_bytes(), &fields, &[0, 0]].concat();
        assert_eq!(postcard::to_stdvec(&row).unwrap(), stored);
        let requeue = Requeue { url: UrlId(7), discovery };
        assert_eq!(postcard::to_stdvec(&requeue).unwrap(), [&[7], &fields[..]].concat());
    }
}
