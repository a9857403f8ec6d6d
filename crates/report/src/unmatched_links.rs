//! Counts the links of duplicates that `--duplicate-links unmatched` would have followed.

use std::collections::HashSet;

use super::ReportError;
use ndcrawl_model::{Deferral, UrlId, UrlState};
use ndcrawl_store::{DoneRow, StoreReader};

/// Counts the URLs that were not fetched although a duplicate links to them and the page that it repeats has no such
/// link. Cost: reads the log of outcomes once, and the row of each such URL.
///
/// # Errors
/// If the logs cannot be read.
pub(super) fn count(reader: &StoreReader) -> Result<u64, ReportError> {
    let mut unmatched: HashSet<UrlId> = HashSet::new();
    let mut requeued: HashSet<UrlId> = HashSet::new();
    for row in reader.all_done()? {
        match row? {
            DoneRow::Unmatched(urls) => unmatched.extend(urls),
            DoneRow::Requeued(path) => {
                requeued.insert(path.url);
            }
            _ => {}
        }
    }
    let mut unmatched: Vec<UrlId> = unmatched.difference(&requeued).copied().collect();
    // Rows of one block come together.
    unmatched.sort_unstable();
    let mut count = 0;
    for id in unmatched {
        let state = reader.url(id)?.map(|row| row.state);
        count += u64::from(state == Some(UrlState::Deferred(Deferral::DuplicateLink)));
    }
    Ok(count)
}
