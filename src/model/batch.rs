//! The values that one commit makes durable.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    Clue, Deferral, Digest, Discovery, Exclusion, FailureClass, JudgedPage, OutcomeKind, PageId, PageTerms, Relevance,
    Sequence, Term, TermOrder, UrlId, Verdict,
};

/// A URL at the moment it was first seen. Its [`UrlId`] is its position in the log of URLs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlRow {
    /// The canonical URL.
    pub url: String,
    /// The path by which it was first seen.
    pub discovery: Discovery,
    /// The frontier's decision at first sight.
    pub state: UrlState,
    /// The evidence on the naming page that the URL is on topic, in a focused crawl.
    pub clue: Option<Clue>,
}

/// The frontier's decision about a URL at first sight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UrlState {
    /// It waits to be fetched.
    Queued,
    /// Seen; it waits for a better path.
    Deferred(Deferral),
    /// Kept out by a rule, unless a better path turns up; the crawl writes its line at the end.
    Excluded(Exclusion),
}

/// A URL queued after its first sight: by a better path, or for a new verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requeue {
    /// The URL.
    pub url: UrlId,
    /// The better path.
    pub discovery: Discovery,
}

/// A term of the vocabulary. Its [`crate::model::TermId`] is its position in the log of terms.
pub type TermRow = Term;

/// Everything that is kept of a judged page, duplicates too. Its [`Sequence`] is its position in
/// the log of pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageRow {
    /// The page's URL.
    pub url: UrlId,
    /// Its deterministic name.
    pub page: PageId,
    /// Its group (its host), an opaque number to the decider.
    pub group: u32,
    /// When it was asked for, milliseconds since 1970 UTC.
    pub fetched_at: i64,
    /// Digest of the decoded body.
    pub body_digest: Digest,
    /// Digest of the visible text; `None` if there is none.
    pub text_digest: Option<Digest>,
    /// What the decider said.
    pub verdict: Verdict,
    /// The distinct terms, ascending by id, with their field counts.
    pub terms: PageTerms,
    /// Terms that weigh less, in hundredths, are not looked at: dynamic thresholding, as settled
    /// when the page was judged. 0 where there is none.
    pub least_weight: u32,
    /// The order of the terms, as far as the detector looks at it.
    pub order: TermOrder,
    /// The out-links, in order of appearance.
    pub links: Vec<UrlId>,
    /// Where the archive has it.
    pub location: Option<WarcLocation>,
    /// The same page as it was judged before, when it was taken for a near-duplicate.
    pub renews: Option<Sequence>,
    /// How much it has to do with the topic, in a focused crawl.
    pub relevance: Option<Relevance>,
}

impl PageRow {
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
        }
    }
}

/// Where a record lies in the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarcLocation {
    /// The file's serial number.
    pub file: u32,
    /// Offset of the gzip member.
    pub offset: u64,
    /// Length of the gzip member.
    pub length: u64,
}

/// A URL that has got its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeRow {
    /// The URL.
    pub url: UrlId,
    /// Its outcome, without the particulars that `pages.jsonl` has.
    pub kind: OutcomeKind,
}

/// What is remembered of an origin (scheme, host and port).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRow {
    /// scheme://host:port
    pub origin: String,
    /// Its robots.txt, if it was had.
    pub robots: Option<RobotsRow>,
    /// Requests made, pages and robots.txt alike.
    pub requests: u64,
    /// Requests that got no answer.
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

/// A robots.txt as it was had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RobotsRow {
    /// When, milliseconds since 1970 UTC.
    pub fetched_at: i64,
    /// The HTTP status of the last hop; 0 if it could not be reached.
    pub status: u16,
    /// The body, capped.
    pub body: Vec<u8>,
}

/// Counters of the whole crawl.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Totals {
    /// URLs by outcome.
    pub outcomes: BTreeMap<OutcomeKind, u64>,
    /// Requests made, robots.txt and probes included.
    pub requests: u64,
    /// Requests for addresses that do not exist, and the start pages they were compared with: made to
    /// learn what a site answers to wrong addresses. They have no lines.
    pub probes: u64,
    /// Pages that say no more than what their site answers to wrong addresses.
    pub soft_404s: u64,
    /// Bytes of decoded bodies.
    pub bytes: u64,
    /// Links that are no http or https URLs.
    pub links_dropped: u64,
    /// Links beyond the limit of links a page.
    pub links_over_limit: u64,
    /// Pages that were judged anew, since they were taken for near-duplicates too early.
    pub revised: u64,
    /// Time spent crawling over all runs, milliseconds.
    pub millis: u64,
}

/// Everything that one commit makes durable, handed over by the rooms as plain values.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// URLs first seen, in the order of their ids.
    pub urls: Vec<UrlRow>,
    /// URLs that were queued after all, or again.
    pub requeued: Vec<Requeue>,
    /// URLs that have got their outcome.
    pub outcomes: Vec<OutcomeRow>,
    /// Of these the duplicates, each with the URL that it repeats.
    pub repeats: Vec<(UrlId, UrlId)>,
    /// Pages that link to themselves, or to other editions of themselves, each with the URL of one.
    pub counterparts: Vec<(UrlId, UrlId)>,
    /// Terms first seen, in the order of their ids.
    pub terms: Vec<TermRow>,
    /// Judged pages, in the order of their sequence numbers.
    pub pages: Vec<PageRow>,
    /// Origins whose state has changed, whole.
    pub hosts: Vec<HostRow>,
    /// URLs on lease at this moment, each with how often it was handed out.
    pub leased: Vec<(UrlId, u32)>,
    /// Lines for `pages.jsonl`, without line ends.
    pub page_lines: Vec<String>,
    /// Lines for `errors.jsonl`, without line ends.
    pub error_lines: Vec<String>,
    /// The counters after this batch.
    pub totals: Totals,
}

/// How far the logs reach: what the last commit record names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitMark {
    /// The number of the commit, from 1; 0 before the first.
    pub number: u64,
    /// URLs in the log.
    pub urls: u32,
    /// Terms in the log.
    pub terms: u32,
    /// Judged pages in the log.
    pub pages: u32,
    /// Serial number of the archive file in work.
    pub warc_file: u32,
    /// Its length.
    pub warc_bytes: u64,
    /// Length of `pages.jsonl`.
    pub page_line_bytes: u64,
    /// Length of `errors.jsonl`.
    pub error_line_bytes: u64,
    /// URLs on lease, each with how often it was handed out.
    pub leased: Vec<(UrlId, u32)>,
    /// Counters.
    pub totals: Totals,
    /// If the crawl is over: length of `pages.jsonl` without the lines of URLs that were never
    /// leased.
    pub finished: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::LinkKind;

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
