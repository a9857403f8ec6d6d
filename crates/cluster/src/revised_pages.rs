//! Which pages of a slot are to be fetched once more. They keep their places in the limit of pages.

use std::collections::HashSet;

use super::slot_entry::SlotEntry;
use ndcrawl_model::{LinkKind, UrlId};

/// Pages that are to be fetched once more, by their numbers in the log of their slot.
#[derive(Clone, Debug, Default)]
pub(super) struct RevisedPages(HashSet<UrlId>);

impl RevisedPages {
    /// Notes what a commit says.
    pub fn add(&mut self, entry: &SlotEntry) {
        let revised = entry.requeued.iter().filter(|requeue| requeue.discovery.kind == LinkKind::Revision);
        self.0.extend(revised.map(|requeue| requeue.url));
        for outcome in &entry.outcomes {
            self.0.remove(&outcome.url);
        }
    }

    /// Returns how many they are.
    pub fn count(&self) -> i64 {
        self.0.len() as i64
    }
}
