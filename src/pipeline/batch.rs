//! A batch on its way from the decision stage to the committer, and when it is full.
//!
//! One batch is built while the one before is committed. A kill costs at most these two and the
//! messages that wait for the decision stage, some 250 pages in all, besides the fetches in flight.

use crate::model::{Batch, PageLine, PutPage};
use crate::store::Archive;

use super::PipelineError;
use super::reference_crawls::Against;

/// Judged pages in one batch.
const PAGES: usize = 100;
/// Bytes of bodies in one batch, the last body not counted.
const BYTES: usize = 16 << 20;
/// URLs with a new state in one batch, those of the last page not counted.
const URLS: usize = 50_000;

/// A line of `pages.jsonl` whose place in the archive is not yet known.
#[derive(Debug)]
pub(crate) struct Line {
    pub line: PageLine,
    /// Index into [`SealedBatch::puts`].
    pub put: Option<usize>,
}

/// A batch on its way to the committer.
#[derive(Debug, Default)]
pub(crate) struct SealedBatch {
    pub batch: Batch,
    pub lines: Vec<Line>,
    /// Pages for the archive, each with the index of its row in `batch.pages`.
    pub puts: Vec<(usize, PutPage)>,
    /// Bytes of the bodies.
    pub bytes: usize,
    /// URLs that were first seen, queued again or have got their outcome.
    pub urls: usize,
}

impl SealedBatch {
    /// The first batch of a run. The terms of earlier crawls come first in the log, which has so many terms.
    pub fn begun(against: Option<&Against>, logged: u32) -> Self {
        let mut sealed = Self::default();
        sealed.batch.terms = against.map_or(Vec::new(), |against| against.terms().skip(logged as usize).collect());
        sealed
    }

    /// Whether there is nothing in it that a later start would miss.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
            && self.batch.urls.is_empty()
            && self.batch.requeued.is_empty()
            && self.batch.counterparts.is_empty()
            && self.batch.terms.is_empty()
            && self.batch.hosts.is_empty()
    }

    /// Puts its pages into the archive, and gives the batch with their places.
    pub fn archived(self, archive: &Archive) -> Result<Batch, PipelineError> {
        let Self { mut batch, lines, puts, .. } = self;
        let mut locations = Vec::with_capacity(puts.len());
        for (row, page) in &puts {
            let location = archive.put_page(page)?;
            batch.pages[*row].location = location;
            locations.push(location);
        }
        for Line { mut line, put } in lines {
            if let Some(location) = put.and_then(|put| locations.get(put).copied().flatten()) {
                line.warc_file = archive.file_name(location.file);
                line.warc_offset = Some(location.offset);
            }
            batch.page_lines.push(serde_json::to_string(&line)?);
        }
        Ok(batch)
    }

    /// Whether it is to be committed without waiting for more.
    pub fn is_full(&self) -> bool {
        self.batch.pages.len() >= PAGES || self.bytes >= BYTES || self.urls >= URLS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Discovery, Requeue, UrlId};

    #[test]
    fn a_url_that_was_queued_again_is_reason_enough_for_a_commit() {
        let mut sealed = SealedBatch::default();
        assert!(sealed.is_empty());
        let again = Requeue { url: UrlId(0), discovery: Discovery::SEED };
        sealed.batch.requeued.push(again);
        assert!(!sealed.is_empty());
    }

    #[test]
    fn a_batch_is_full_of_urls_or_bytes_though_it_has_few_pages() {
        assert!(!SealedBatch { urls: URLS - 1, bytes: BYTES - 1, ..SealedBatch::default() }.is_full());
        assert!(SealedBatch { urls: URLS, ..SealedBatch::default() }.is_full());
        assert!(SealedBatch { bytes: BYTES, ..SealedBatch::default() }.is_full());
    }
}
