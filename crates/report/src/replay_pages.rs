//! The pages of a log that are decided again, decoded once.

use std::sync::{Arc, Mutex, PoisonError};

use ndcrawl_engine::pipeline::PageRecordError;
use ndcrawl_model::{PageRow, Sequence};
use neardup::detect::{LoggedPage, RecordSource};

/// The rows of the replayed pages, in the order of the replay. Threads share them.
#[derive(Clone)]
pub(super) struct ReplayPages(Arc<Vec<PageRow>>);

impl ReplayPages {
    /// Takes these rows. Their links are not needed.
    pub fn new(rows: Vec<PageRow>) -> Self {
        Self(Arc::new(rows))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn get(&self, place: usize) -> Option<&PageRow> {
        self.0.get(place)
    }
}

/// The places of the pages that a replay has decided, by sequence number. A page decided again has two.
pub(super) type DecidedPlaces = Arc<Mutex<Vec<usize>>>;

/// The records of replayed pages under the sequence numbers of the replay.
pub(super) struct ReplayRecords {
    pub pages: ReplayPages,
    pub places: DecidedPlaces,
}

impl RecordSource for ReplayRecords {
    type Error = PageRecordError;

    fn page(&self, page: Sequence) -> Result<LoggedPage, PageRecordError> {
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let place = places.get(page.index()).copied();
        drop(places);
        let row = place.and_then(|place| self.pages.get(place)).ok_or(PageRecordError::Missing(page))?;
        let PageRow { group, terms, least_weight, order, .. } = row;
        Ok(LoggedPage { group: *group, terms: terms.clone(), least_weight: *least_weight, order: order.clone() })
    }
}
