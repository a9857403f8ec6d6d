//! The name of the cluster that a page is in.

use ndcrawl_model::{Digest, PageLine};

/// Returns the cluster of a page: named by the stored page that it is or repeats.
pub(super) fn cluster_of(line: &PageLine) -> Option<Digest> {
    let representative = line.original_key().or_else(|| line.is_kept().then(|| line.key()))?;
    Some(match &line.duplicate_in {
        None => Digest::of(representative.as_bytes()),
        Some(folder) => Digest::of(format!("{folder}\n{representative}").as_bytes()),
    })
}
