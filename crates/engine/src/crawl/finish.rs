//! The result of a crawl, and the lines of URLs that it did not fetch.

use std::collections::BTreeMap;

use url::Url;

use crate::pipeline::{PipelineError, StopReason, unleased_line};
use ndcrawl_dust::ListedRule;
use ndcrawl_frontier::{self as frontier, EmbeddedFrontier, HeldBack, Prediction};
use ndcrawl_model::{
    Batch, Deferral, Exclusion, FrontierCounts, HostRow, Mailed, Outcome, PageLine, Requeue, Totals, UrlId, UrlRow,
    UrlState,
};
use ndcrawl_store::{LastDepth, Store, StoreReader};

use super::queue_status::RestingOrigin;
use super::url_log::StoredUrls;
use super::{CrawlError, restore};

/// The result of a crawl.
#[derive(Debug)]
pub struct CrawlEnding {
    /// Why the crawl ended.
    pub reason: StopReason,
    /// Whether URLs were not fetched because a page budget was used up.
    pub budget_used_up: bool,
    /// The totals of all runs.
    pub totals: Totals,
    /// Counters by origin.
    pub hosts: Vec<HostRow>,
    /// Sizes of the frontier at the end.
    pub frontier: FrontierCounts,
    /// Requests saved by host: URLs that were not fetched because only duplicates name them.
    pub saved: BTreeMap<String, u64>,
    /// Deferred URLs, by reason. In a crawl that was stopped, URLs in a queue do not count.
    pub deferred: BTreeMap<&'static str, u64>,
    /// In a crawl that finished: URLs out of scope, which were not fetched.
    pub out_of_scope: u64,
    /// Whether no page of this run has a word of the topic, in a focused crawl.
    pub is_topic_absent: bool,
    /// URLs of trap patterns, which were not fetched.
    pub repeating: u64,
    /// Predicted duplicates, which were not fetched, by host.
    pub predicted: BTreeMap<String, u64>,
    /// The URL rules that were learned and tested. Rules that saved most requests come first.
    pub rules: Vec<ListedRule>,
    /// Seeds that could not be fetched, each with the reason.
    pub failed_seeds: Vec<(String, String)>,
    /// Origins that were in trouble for too long.
    pub given_up: Vec<String>,
    /// What is special about pages of seeds that name few links, each with its URL.
    pub seed_notes: Vec<(String, String)>,
    /// URLs that were never fetched because of a rule, by the rule.
    pub left_out: BTreeMap<&'static str, u64>,
    /// In a crawl that was stopped: origins that rest although URLs of theirs are queued, the longest rest first.
    pub resting: Vec<RestingOrigin>,
}

/// Completes a folder that was made from a crawl of several processes: takes in the links that were on their way between
/// them and, if the crawl is over, writes the lines of URLs that were never fetched.
pub fn finish_folder(
    options: frontier::Options,
    store: &mut Store,
    crawl: &str,
    mail: Vec<Mailed>,
    is_over: bool,
) -> Result<(), CrawlError> {
    let reader = store.reader();
    let frontier = restore::urls(options, &reader, crawl)?.frontier;
    frontier.deliver(mail)?;
    let changes = frontier.take_changes();
    let queued = changes.adopted.into_iter().filter(|(_, row)| row.state == UrlState::Queued);
    let mut requeued = changes.requeued;
    requeued.extend(queued.map(|(url, row)| Requeue { url, discovery: row.discovery }));
    let totals = store.mark().totals;
    let mark = store.commit(Batch {
        urls: changes.urls,
        requeued,
        shortened: changes.shortened,
        links: changes.links,
        counterparts: changes.counterparts,
        totals,
        ..Batch::default()
    })?;
    frontier.committed(mark.urls);
    if is_over { Unfetched::finish(store, &reader, &frontier).map(drop) } else { Ok(()) }
}

/// URLs that were seen and not fetched.
#[derive(Default)]
pub(super) struct Unfetched {
    pub saved: BTreeMap<String, u64>,
    pub deferred: BTreeMap<&'static str, u64>,
    pub out_of_scope: u64,
    pub left_out: BTreeMap<&'static str, u64>,
    pub repeating: u64,
    pub predicted: BTreeMap<String, u64>,
}

impl Unfetched {
    /// Ends a crawl with nothing left to do: counts these URLs and writes their lines.
    pub fn finish(
        store: &mut Store,
        reader: &StoreReader,
        frontier: &EmbeddedFrontier<StoredUrls>,
    ) -> Result<Self, CrawlError> {
        let mut unfetched = Self::default();
        let last_depth = |url: &str| frontier.depth(frontier.find(url)?);
        let last_depth: Option<LastDepth> = if frontier.has_outdated_depths() { Some(&last_depth) } else { None };
        let lines = frontier.unfinished().map(|(id, held_back)| {
            let row = row(reader, id)?;
            let row = UrlRow { discovery: frontier.better_path(id).unwrap_or(row.discovery), ..row };
            let mut prediction = None;
            let outcome = match (held_back, row.state) {
                (HeldBack::Deferred(reason), _) => {
                    unfetched.count(&row, reason);
                    Outcome::Deferred(reason)
                }
                (HeldBack::Excluded, UrlState::Excluded(rule)) => {
                    unfetched.out_of_scope += u64::from(rule == Exclusion::Scope);
                    *unfetched.left_out.entry(rule.name()).or_default() += 1;
                    Outcome::Excluded(rule)
                }
                (HeldBack::Closed, _) => {
                    unfetched.repeating += 1;
                    Outcome::Excluded(Exclusion::Pattern)
                }
                (HeldBack::Predicted, _) => {
                    *unfetched.predicted.entry(host(&row)).or_default() += 1;
                    let lost = PipelineError::Lost { what: "the predicted original of URL", id: id.0 };
                    prediction = Some(frontier.prediction(id).ok_or(lost)?);
                    Outcome::PredictedDuplicate { of: prediction.as_ref().map_or(id, |prediction| prediction.of) }
                }
                (HeldBack::Excluded, _) => {
                    return Err(PipelineError::Lost { what: "the rule that excluded URL", id: id.0 });
                }
            };
            let referrer = row.discovery.referrer.map(|id| self::row(reader, id)).transpose()?.map(|row| row.url);
            let pattern = (held_back == HeldBack::Closed).then(|| frontier.closed_pattern(&row.url)).flatten();
            let mut line = PageLine { pattern, ..unleased_line(&row, referrer, &outcome) };
            if let Some(Prediction { of, rule, context, validity, carried }) = prediction {
                line.duplicate_of = Some(self::row(reader, of)?.url);
                (line.rule, line.rule_context, line.validity) = (Some(rule), Some(context), Some(validity));
                line.rule_carried = carried;
            }
            Ok(serde_json::to_string(&line)?)
        });
        store.finish_with_depths::<PipelineError>(lines, last_depth)?;
        Ok(unfetched)
    }

    /// Counts these URLs in a crawl that will be resumed. URLs in a queue are not deferred.
    pub fn so_far(reader: &StoreReader, frontier: &EmbeddedFrontier<StoredUrls>) -> Result<Self, CrawlError> {
        let mut unfetched = Self::default();
        for (id, held_back) in frontier.unfinished() {
            unfetched.repeating += u64::from(held_back == HeldBack::Closed);
            if held_back == HeldBack::Predicted {
                *unfetched.predicted.entry(host(&row(reader, id)?)).or_default() += 1;
            }
            let HeldBack::Deferred(reason) = held_back else { continue };
            match reason {
                Deferral::Budget => {}
                Deferral::HostTrouble => unfetched.add(reason),
                Deferral::DuplicateLink => unfetched.count(&row(reader, id)?, reason),
                Deferral::Depth | Deferral::NoFollow | Deferral::NotAsked | Deferral::NotInSitemap => {
                    unfetched.add(reason);
                }
            }
        }
        Ok(unfetched)
    }

    fn count(&mut self, row: &UrlRow, reason: Deferral) {
        self.add(reason);
        if reason == Deferral::DuplicateLink {
            *self.saved.entry(host(row)).or_default() += 1;
        }
    }

    fn add(&mut self, reason: Deferral) {
        *self.deferred.entry(reason.name()).or_default() += 1;
    }
}

fn host(row: &UrlRow) -> String {
    Url::parse(&row.url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
}

fn row(reader: &StoreReader, id: UrlId) -> Result<UrlRow, PipelineError> {
    reader.url(id)?.ok_or(PipelineError::Lost { what: "URL", id: id.0 })
}
