//! Restores the frontier and the rests of hosts from what earlier runs have stored.

use std::collections::{HashMap, HashSet};

use xxhash_rust::xxh3::xxh3_64;

use ndcrawl_fetch::Fetcher;
use ndcrawl_frontier::{self as frontier, EmbeddedFrontier};
use ndcrawl_model::{LinkKind, OutcomeKind, Relevance, UrlId};
use ndcrawl_store::{DoneRow, Store, StoreReader};

use super::CrawlError;
use super::outcomes::page_worth;
use super::queue_status::{self, RestingOrigin};
use super::redirect_chains::RedirectChains;
use super::taken_over::TakenOver;
use super::url_log::StoredUrls;

/// What the logs tell of the URLs of earlier runs.
pub(crate) struct RestoredUrls {
    pub frontier: EmbeddedFrontier<StoredUrls>,
    pub redirects: RedirectChains,
    /// Links of duplicates that were not followed and have no counterpart on the page that the duplicate repeats.
    pub unmatched: HashSet<UrlId>,
}

/// Restores the frontier of the last commit, and what belongs to it.
pub(crate) fn urls(options: frontier::Options, reader: &StoreReader, crawl: &str) -> Result<RestoredUrls, CrawlError> {
    // The name is random and stays the same for the whole crawl.
    let hash_seed = xxh3_64(crawl.as_bytes());
    let is_focused = options.focus.is_some();
    let frontier = EmbeddedFrontier::new(options, StoredUrls(reader.clone()), hash_seed);
    for row in reader.all_urls()? {
        frontier.restore_url(&row?.1)?;
    }
    let (mut done, mut revised, mut repeats) = (Vec::new(), HashSet::new(), HashMap::new());
    let mut unmatched = HashSet::new();
    for row in reader.all_done()? {
        match row? {
            DoneRow::Requeued(path) => {
                if path.discovery.kind == LinkKind::Revision {
                    revised.insert(path.url);
                }
                frontier.restore_requeue(&path)?;
            }
            DoneRow::Shortened(path) => frontier.restore_shorter_path(&path)?,
            DoneRow::Links(row) => frontier.restore_links(&row),
            DoneRow::Unmatched(urls) => unmatched.extend(urls),
            DoneRow::Counterpart(page, other) => frontier.restore_counterpart(page, other),
            DoneRow::Repeats(url, of) => {
                repeats.insert(url, of);
            }
            DoneRow::Outcome(outcome) => done.push((outcome, repeats.remove(&outcome.url))),
        }
    }
    let (mut unreachable, mut redirects) = (Vec::new(), RedirectChains::default());
    for (outcome, repeats) in done {
        if is_focused && matches!(outcome.kind, OutcomeKind::Failed | OutcomeKind::Excluded) {
            unreachable.push(outcome.url);
        }
        if let (OutcomeKind::Redirected, Some(to)) = (outcome.kind, repeats) {
            redirects.add(outcome.url, to);
        }
        frontier.restore_outcome(outcome.url, outcome.kind, repeats)?;
        // A URL that was requeued for a revision is done after its second outcome.
        if !revised.remove(&outcome.url) {
            frontier.restore_done(outcome.url, outcome.kind.is_page());
        }
    }
    if is_focused {
        for page in reader.all_pages()? {
            let (_, page) = page?;
            frontier.restore_worth(page.url, page.relevance.map(|relevance| page_worth(relevance, page.verdict)));
        }
        for outcome in unreachable {
            frontier.restore_worth(outcome, Some(Relevance::NONE));
        }
    }
    for (id, deliveries) in reader.mark().leased {
        frontier.restore_deliveries(id, deliveries);
    }
    frontier.restored();
    Ok(RestoredUrls { frontier, redirects, unmatched })
}

/// Restores the rests of hosts, and has new ones stored. Returns the origins that rest.
pub(super) fn rests(
    store: &Store,
    fetcher: &Fetcher,
    frontier: &EmbeddedFrontier<StoredUrls>,
    taken_over: Option<TakenOver<'_>>,
) -> Result<Vec<RestingOrigin>, CrawlError> {
    let (log, mut rests) = store.rests()?;
    match taken_over {
        Some(taken_over) => {
            rests.extend(taken_over.rests());
            let note = taken_over.note();
            fetcher.store_rests(move |rest| {
                log.note(rest);
                note(rest);
            });
        }
        None => fetcher.store_rests(move |rest| log.note(rest)),
    }
    let due = fetcher.restore_rests(&rests);
    // A worker that had such a lease would wait, and others could not use its place.
    due.iter().for_each(|(origin, due)| frontier.postpone(origin, *due));
    Ok(queue_status::resting(fetcher, due.into_iter().map(|(origin, _)| origin)))
}
