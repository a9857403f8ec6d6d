//! The texts of URLs: on disk, but for those not yet committed and a few read ahead.

use std::collections::VecDeque;
use std::error::Error;

use hashbrown::HashMap;

use super::FrontierError;
use ndcrawl_model::{UrlId, UrlRow};

/// Rows to read at a time: the crawl mostly fetches together what a page names together.
const READ_AHEAD: u32 = 32;
/// Blocks of [`READ_AHEAD`] rows to cache: about 1 MiB.
const BLOCKS_KEPT: usize = 256;

/// The log of URLs, for reading back. A URL's number is its place in the log.
pub trait UrlLog: Send + Sync {
    /// Why rows cannot be read.
    type Error: Error + Send + Sync + 'static;

    /// Reads at most `count` committed rows, without a gap, from `first` on; fewer if the log ends.
    fn read(&self, first: UrlId, count: usize) -> Result<Vec<UrlRow>, Self::Error>;
}

/// All rows: the committed ones through the log, the others from memory.
pub(super) struct Rows<L> {
    log: L,
    /// Rows from number `committed` on, which are not known to be in the log.
    pending: VecDeque<UrlRow>,
    committed: u32,
    /// Rows below this number were taken for a commit.
    taken: u32,
    blocks: HashMap<u32, Vec<UrlRow>>,
    /// The cached blocks, oldest first.
    order: VecDeque<u32>,
}

impl<L: UrlLog> Rows<L> {
    pub(super) fn new(log: L) -> Self {
        Self { log, pending: VecDeque::new(), committed: 0, taken: 0, blocks: HashMap::new(), order: VecDeque::new() }
    }

    /// Returns the bytes in use. Costs a look at each row in memory.
    pub(super) fn bytes(&self) -> usize {
        let texts = self.pending.iter().chain(self.blocks.values().flatten()).map(|row| row.url.capacity());
        let kept = self.blocks.values().map(|rows| rows.capacity() * size_of::<UrlRow>());
        texts.sum::<usize>() + kept.sum::<usize>() + self.pending.capacity() * size_of::<UrlRow>()
    }

    /// Adds the next row.
    pub(super) fn push(&mut self, row: UrlRow) {
        self.pending.push_back(row);
    }

    /// Counts a row that an earlier run has written to the log.
    pub(super) fn skip(&mut self) {
        self.committed += 1;
        self.taken += 1;
    }

    /// Takes the rows since the last call.
    pub(super) fn take(&mut self) -> Vec<UrlRow> {
        let rows: Vec<UrlRow> = self.pending.range((self.taken - self.committed) as usize..).cloned().collect();
        self.taken += rows.len() as u32;
        rows
    }

    /// Forgets rows that the log has. Ignores rows that were never taken.
    pub(super) fn forget_below(&mut self, urls: u32) {
        let gone = urls.min(self.taken).saturating_sub(self.committed);
        self.pending.drain(..gone as usize);
        self.committed += gone;
        if self.pending.is_empty() {
            self.pending.shrink_to(1024);
        }
    }

    /// Returns the row of a URL. Costs a read of [`READ_AHEAD`] rows if it is neither pending nor cached.
    pub(super) fn get(&mut self, id: UrlId) -> Result<UrlRow, FrontierError> {
        if let Some(place) = id.0.checked_sub(self.committed) {
            return self.pending.get(place as usize).cloned().ok_or(FrontierError::Missing(id));
        }
        let (block, place) = (id.0 / READ_AHEAD, (id.0 % READ_AHEAD) as usize);
        if let Some(row) = self.blocks.get(&block).and_then(|rows| rows.get(place)) {
            return Ok(row.clone());
        }
        let rows = self.read_block(block).map_err(|error| FrontierError::Log { id, source: Box::new(error) })?;
        let row = rows.get(place).cloned().ok_or(FrontierError::Missing(id));
        self.keep(block, rows);
        row
    }

    fn read_block(&self, block: u32) -> Result<Vec<UrlRow>, L::Error> {
        self.log.read(UrlId(block * READ_AHEAD), READ_AHEAD as usize)
    }

    /// Caches a block. Replaces one that was read while the log ended in it.
    fn keep(&mut self, block: u32, rows: Vec<UrlRow>) {
        if self.blocks.insert(block, rows).is_some() {
            return;
        }
        self.order.push_back(block);
        if self.order.len() > BLOCKS_KEPT
            && let Some(oldest) = self.order.pop_front()
        {
            self.blocks.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{MemoryLog, row};
    use super::*;

    #[test]
    fn a_row_is_found_before_and_after_its_commit() {
        let log = MemoryLog::default();
        let mut rows = Rows::new(log.clone());
        for n in 0..100 {
            rows.push(row(n));
        }
        assert_eq!(rows.get(UrlId(40)).unwrap(), row(40));
        let taken = rows.take();
        assert_eq!(taken.len(), 100);
        log.append(&taken[..40]);
        rows.forget_below(40);
        assert_eq!(rows.get(UrlId(39)).unwrap(), row(39));
        log.append(&taken[40..]);
        rows.forget_below(100);
        // The block was read and kept when the log ended in it.
        assert_eq!(rows.get(UrlId(50)).unwrap(), row(50));
        assert!(matches!(rows.get(UrlId(100)), Err(FrontierError::Missing(UrlId(100)))));
        assert!(rows.take().is_empty());
    }

    #[test]
    fn rows_that_were_never_taken_stay_whatever_is_said_of_commits() {
        let mut rows = Rows::new(MemoryLog::default());
        rows.push(row(0));
        rows.forget_below(1);
        assert_eq!(rows.take(), [row(0)]);
    }
}
