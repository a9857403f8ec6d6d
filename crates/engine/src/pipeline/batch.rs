//! A batch on its way from the decision stage to the committer, and when it is full.
//!
//! The stage builds one batch while the committer commits the batch before. A kill of a crawl costs at most these
//! two, the messages that wait for the stage and the fetches in flight: some 250 pages.

use ndcrawl_model::{Batch, PageLine, PutPage, Verdict};
use ndcrawl_store::Archive;
use pagetext::PageReader;

use super::reference_crawls::ReferenceCrawls;
use super::{PipelineError, SharedChanges};

/// Most decided pages in one batch.
const PAGES: usize = 100;
/// Bytes of bodies after which a batch is full.
const BYTES: usize = 16 << 20;
/// URLs with a new state after which a batch is full.
const URLS: usize = 50_000;

/// A line of `pages.jsonl` that waits for its page's place in the archive.
#[derive(Debug)]
pub struct PendingLine {
    pub line: PageLine,
    /// Index into [`SealedBatch::puts`].
    pub put: Option<usize>,
}

/// A batch on its way to the committer.
#[derive(Debug, Default)]
pub struct SealedBatch {
    /// What becomes durable in one step.
    pub batch: Batch,
    /// Lines of `pages.jsonl`; places in the archive are entered when it is known.
    pub lines: Vec<PendingLine>,
    /// Pages for the archive, each with the index of its row in `batch.pages`.
    pub puts: Vec<(usize, PutPage)>,
    /// What other processes need to know.
    pub shared: SharedChanges,
    /// Bytes of the bodies.
    pub bytes: usize,
    /// URLs that were first seen, requeued or given their outcome.
    pub urls: usize,
}

impl SealedBatch {
    /// Begins the first batch of a run. The terms of earlier crawls come first in the log; `logged` of them are there.
    pub fn first(against: Option<&ReferenceCrawls>, logged: u32) -> Self {
        let mut sealed = Self::default();
        sealed.batch.terms = against.map_or(Vec::new(), |against| against.terms().skip(logged as usize).collect());
        sealed
    }

    /// Returns whether a later run would miss nothing without this batch.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
            && self.batch.urls.is_empty()
            && self.batch.requeued.is_empty()
            && self.batch.shortened.is_empty()
            && self.batch.links.is_empty()
            && self.batch.counterparts.is_empty()
            && self.batch.unmatched.is_empty()
            && self.batch.terms.is_empty()
            && self.batch.hosts.is_empty()
            && self.shared.is_empty()
    }

    /// Writes the pages to the archive, with the text of near-duplicates if there is a `reader` of it. Returns the batch
    /// with their places.
    pub fn archive(self, archive: &Archive, reader: Option<&PageReader>) -> Result<Batch, PipelineError> {
        let Self { mut batch, lines, mut puts, .. } = self;
        let mut locations = Vec::with_capacity(puts.len());
        for (row, page) in &mut puts {
            page.text = archived_text(page, reader);
            let location = archive.put_page(page)?;
            batch.pages[*row].location = location;
            locations.push(location);
        }
        for PendingLine { mut line, put } in lines {
            if let Some(location) = put.and_then(|put| locations.get(put).copied().flatten()) {
                line.warc_file = archive.file_name(location.file);
                line.warc_offset = Some(location.offset);
            }
            batch.page_lines.push(serde_json::to_string(&line)?);
        }
        Ok(batch)
    }

    /// Returns whether the batch should be committed now.
    pub fn is_full(&self) -> bool {
        self.batch.pages.len() >= PAGES || self.bytes >= BYTES || self.urls >= URLS
    }
}

/// Returns the text that the archive keeps of a page: that of a document beside its body, and that of a near-duplicate
/// in place of its body, if there is a `reader` of it.
fn archived_text(page: &mut PutPage, reader: Option<&PageReader>) -> Option<String> {
    let of_document = page.text.take();
    if page.keep_body || page.verdict.is_unique() {
        return of_document;
    }
    let reader = reader.filter(|_| matches!(page.verdict, Verdict::NearDuplicate { .. }))?;
    of_document.or_else(|| Some(reader.reading(&*page.fetched)?.text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndcrawl_model::{Discovery, Requeue, UrlId};

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
