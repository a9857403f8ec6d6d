//! Pages that a folder has queued to be decided again and has not decided when it is moved, since it was stopped then.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::error::ClusterError;
use super::question::Found;
use super::sealed::seal;
use super::turn_body::{TurnArrivals, TurnVerdicts};
use ndcrawl_model::{Sequence, UrlId};
use ndcrawl_store::StoreReader;

/// Returns the body of a turn that names the last decided pages of these URLs as a round of questions does, so that workers
/// know which decisions they make again. None without URLs.
///
/// Cost: a read of the rows of all pages, if there are any such URLs.
pub(super) fn pending_round(folder: &StoreReader, urls: &HashSet<UrlId>) -> Result<Option<Vec<u8>>, ClusterError> {
    if urls.is_empty() {
        return Ok(None);
    }
    let mut last = HashMap::<UrlId, Sequence>::new();
    for row in folder.all_pages().map_err(ClusterError::folder)? {
        let (number, row) = row.map_err(ClusterError::folder)?;
        if urls.contains(&row.url) {
            last.insert(row.url, number);
        }
    }
    let pages: BTreeSet<Sequence> = last.into_values().collect();
    let found = Found::Revisions(pages.into_iter().collect());
    Ok(Some(seal(&TurnVerdicts::body(&[], &TurnArrivals::default(), &[], &[found])?)?))
}
