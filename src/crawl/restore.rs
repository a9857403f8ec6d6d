//! From the logs of an earlier run to the state in memory.

use xxhash_rust::xxh3::xxh3_64;

use crate::detect::{self, EmbeddedDecider};
use crate::frontier::{self, EmbeddedFrontier};
use crate::record::UrlId;
use crate::store::{DoneRow, StoreReader};

use super::CrawlError;
use super::judge::is_page;
use super::log_access::{Records, Urls};

/// The frontier as it was at the last commit, for the crawl of this name.
pub(super) fn frontier(
    options: frontier::Options,
    reader: &StoreReader,
    crawl: &str,
) -> Result<EmbeddedFrontier<Urls>, CrawlError> {
    // Drawn once for a crawl: its name is.
    let hash_seed = xxh3_64(crawl.as_bytes());
    let frontier = EmbeddedFrontier::new(options, Urls(reader.clone()), hash_seed);
    for row in reader.all_urls()? {
        frontier.restore_url(&row?.1)?;
    }
    let mut done = Vec::new();
    for row in reader.all_done()? {
        match row? {
            DoneRow::Requeued(path) => frontier.restore_requeue(&path)?,
            DoneRow::Outcome(outcome) => done.push(outcome),
        }
    }
    for outcome in done {
        frontier.restore_done(outcome.url, is_page(outcome.kind));
    }
    for (id, deliveries) in reader.mark().leased {
        frontier.restore_deliveries(id, deliveries);
    }
    frontier.restored();
    Ok(frontier)
}

/// The decider as it was at the last commit, and the URL of each judged page.
pub(super) fn decider(
    options: detect::Options,
    reader: &StoreReader,
) -> Result<(EmbeddedDecider<Records>, Vec<UrlId>), CrawlError> {
    let mut decider = EmbeddedDecider::new(options, Records(reader.clone()));
    for term in reader.all_terms()? {
        decider.restore_term(&term?.1)?;
    }
    let mut page_urls = Vec::new();
    for page in reader.all_pages()? {
        let (sequence, page) = page?;
        decider.restore_page(sequence, page.group, &page)?;
        page_urls.push(page.url);
    }
    Ok((decider, page_urls))
}
