//! From the logs of an earlier run to the state in memory.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use crate::detect::{self, Decider};
use crate::frontier::{self, EmbeddedFrontier};
use crate::model::{LinkKind, OutcomeKind, Relevance, Sequence, TermId};
use crate::store::{DoneRow, StoreReader};

use super::CrawlError;
use super::index_snapshot::{self, State};
use super::outcomes::worth;
use super::reference_crawls::{Against, AgainstError, is_begun_with};
use super::store_sources::{Records, Urls};

/// The frontier as it was at the last commit, for the crawl of this name.
pub(crate) fn frontier(
    options: frontier::Options,
    reader: &StoreReader,
    crawl: &str,
) -> Result<EmbeddedFrontier<Urls>, CrawlError> {
    // Drawn once for a crawl: its name is.
    let hash_seed = xxh3_64(crawl.as_bytes());
    let is_focused = options.focus.is_some();
    let frontier = EmbeddedFrontier::new(options, Urls(reader.clone()), hash_seed);
    for row in reader.all_urls()? {
        frontier.restore_url(&row?.1)?;
    }
    let (mut done, mut revised, mut repeats) = (Vec::new(), HashSet::new(), HashMap::new());
    for row in reader.all_done()? {
        match row? {
            DoneRow::Requeued(path) => {
                if path.discovery.kind == LinkKind::Revision {
                    revised.insert(path.url);
                }
                frontier.restore_requeue(&path)?;
            }
            DoneRow::Counterpart(page, other) => frontier.restore_counterpart(page, other),
            DoneRow::Repeats(url, of) => {
                repeats.insert(url, of);
            }
            DoneRow::Outcome(outcome) => done.push((outcome, repeats.remove(&outcome.url))),
        }
    }
    let mut unreachable = Vec::new();
    for (outcome, repeats) in done {
        if is_focused && matches!(outcome.kind, OutcomeKind::Failed | OutcomeKind::Excluded) {
            unreachable.push(outcome.url);
        }
        frontier.restore_outcome(outcome.url, outcome.kind, repeats)?;
        // The first outcome of a URL that was queued again does not end it.
        if !revised.remove(&outcome.url) {
            frontier.restore_done(outcome.url, outcome.kind.is_page());
        }
    }
    if is_focused {
        for page in reader.all_pages()? {
            let (_, page) = page?;
            frontier.restore_worth(page.url, page.relevance.map(|relevance| worth(relevance, page.verdict)));
        }
        for outcome in unreachable {
            frontier.restore_worth(outcome, Some(Relevance::NONE));
        }
    }
    for (id, deliveries) in reader.mark().leased {
        frontier.restore_deliveries(id, deliveries);
    }
    frontier.restored();
    Ok(frontier)
}

/// The decider as it was at the last commit, the URL of each judged page, and how many of them came
/// from a snapshot. Cost: reads the snapshot, about a second for a million records, and from the
/// logs what is not in it, some microseconds a term and page.
/// Pages of earlier crawls come before all others; their terms are the first of the log.
/// `memory` bounds the index from the first record on, as it did while the pages were judged.
pub(crate) fn decider(
    options: &detect::Options,
    memory: Option<u64>,
    reader: &StoreReader,
    against: Option<&Arc<Against>>,
) -> Result<(State, u32), CrawlError> {
    let new = || {
        let mut decider = Decider::new(options.clone(), Records::with(reader.clone(), against.cloned()));
        if let Some(bytes) = memory {
            decider.set_memory_budget(usize::try_from(bytes).unwrap_or(usize::MAX));
        }
        decider
    };
    let signature = index_snapshot::signature(options, against.map(Arc::as_ref));
    let seeds = against.map_or(0, |against| against.len());
    let restored = index_snapshot::load(reader, &signature, new(), seeds);
    let is_restored = restored.is_some();
    let (mut decider, mut page_urls) = restored.unwrap_or_else(|| (new(), Vec::new()));
    let covered = page_urls.len() as u32;
    for term in reader.terms_from(TermId(decider.vocabulary().len() as u32))? {
        let (id, term) = term?;
        if against.is_some_and(|against| !is_begun_with(against, id, &term)) {
            return Err(AgainstError::Changed.into());
        }
        decider.restore_term(&term)?;
    }
    if let Some(against) = against.filter(|_| !is_restored) {
        // Nothing is committed yet: the first commit will have these terms.
        for term in against.terms().skip(decider.vocabulary().len()) {
            decider.restore_term(&term)?;
        }
        against.seed(&mut decider)?;
    }
    for page in reader.pages_from(Sequence(covered))? {
        let (sequence, page) = page?;
        decider.restore_page(sequence, page.group, &page.judged())?;
        page_urls.push(page.url);
    }
    Ok(((decider, page_urls), covered))
}
