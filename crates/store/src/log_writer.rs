//! Writes rows to a log so that sled hardly writes a byte twice.
//!
//! sled splits a leaf of its tree after 16 entries, and writes both halves whole. A log grows at its end only, so each
//! value would be written about five times, and sled frees a segment only when half of it is dead: the file would be 1.6
//! times as long as its contents. So a key goes ahead of its value: it is *reserved* by an empty value, the leaf is split
//! while it is nearly empty, and the value is written when [`AHEAD`] more keys stand behind it, in a leaf that nobody
//! splits any more.

use std::collections::VecDeque;

use serde::Serialize;

use super::block::pack;
use super::disk::Disk;
use super::error::{Error, Result};
use super::table::{Table, TableEntry, TableWriter};

/// Keys that stand behind a value when it is written: more than a leaf has.
const AHEAD: u32 = 17;
/// Values that are written together: as many as a leaf has after its split.
const TOGETHER: usize = 8;

/// Appends the blocks of one commit to one log. The key of a block is the number of its first row.
pub(crate) struct LogWriter<'a> {
    table: &'a Table,
    writer: TableWriter<'a>,
    /// The first row whose key is not reserved. From the end of the log up to it all are.
    reserved: &'a mut u32,
    /// Chunks whose keys are reserved.
    waiting: VecDeque<TableEntry>,
}

impl<'a> LogWriter<'a> {
    /// `reserved` is what the writer before left, or 0.
    pub(crate) fn new(disk: &'a Disk, table: &'a Table, reserved: &'a mut u32) -> Self {
        Self { table, writer: TableWriter::new(disk, table), reserved, waiting: VecDeque::new() }
    }

    /// Appends rows to a log that ends before row `end`, and reserves keys for those of the next commit.
    pub(crate) fn append<T: Serialize>(self, end: u32, rows: &[T]) -> Result<()> {
        let blocks = pack(rows).map_err(|e| Error::Batch(e.to_string()))?;
        // The check of the batch made sure that all ids fit.
        self.append_blocks(
            blocks.into_iter().map(|(index, block)| (end + index as u32, block)),
            end + rows.len() as u32,
        )
    }

    /// Writes blocks, which begin with these rows. The log ends before row `end` then.
    fn append_blocks(mut self, blocks: impl IntoIterator<Item = (u32, Vec<u8>)>, end: u32) -> Result<()> {
        let mut new = Vec::new();
        for (first, block) in blocks {
            for (key, piece) in self.table.pieces(&first.to_be_bytes(), &block)? {
                if first >= *self.reserved || key.len() > size_of::<u32>() {
                    new.push(key.clone());
                }
                self.waiting.push_back((key, piece));
            }
            while self.waiting.len() >= AHEAD as usize + TOGETHER {
                self.reserve(std::mem::take(&mut new))?;
                self.write_some()?;
            }
        }
        let last = end.saturating_add(AHEAD);
        new.extend((end.max(*self.reserved)..last).map(|row| row.to_be_bytes().to_vec()));
        self.reserve(new)?;
        while !self.waiting.is_empty() {
            self.write_some()?;
        }
        *self.reserved = last;
        Ok(())
    }

    fn reserve(&mut self, keys: Vec<Vec<u8>>) -> Result<()> {
        keys.into_iter().try_for_each(|key| self.writer.put_piece(key, Vec::new()))?;
        self.writer.apply()
    }

    fn write_some(&mut self) -> Result<()> {
        let count = self.waiting.len().min(TOGETHER);
        self.waiting.drain(..count).try_for_each(|(key, piece)| self.writer.put_piece(key, piece))?;
        self.writer.apply()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log of 4,000 blocks of 2,400 bytes, in commits of `each`.
    fn log(folder: &std::path::Path, each: u32) -> (sled::Db, Table) {
        let db = sled::Config::new().path(folder).flush_every_ms(None).open().unwrap();
        let table = Table::open(&db, "page", 4).unwrap();
        let (disk, mut reserved) = (Disk::default(), 0);
        for first in (0..4000).step_by(each as usize) {
            // Every other row begins a block.
            let blocks = (first..first + each).map(|row| (row * 2, block(row)));
            LogWriter::new(&disk, &table, &mut reserved).append_blocks(blocks, (first + each) * 2).unwrap();
            db.flush().unwrap();
        }
        (db, table)
    }

    /// Bytes that nobody can compress.
    fn block(row: u32) -> Vec<u8> {
        (0..300u64)
            .flat_map(|at| (at + u64::from(row) * 300).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes())
            .collect()
    }

    #[test]
    fn a_log_takes_little_more_than_its_contents() {
        for (each, most) in [(400, 1.25), (80, 1.35), (20, 1.6)] {
            let folder = tempfile::tempdir().unwrap();
            let (db, table) = log(folder.path(), each);
            let entries: Result<Vec<TableEntry>> = table.entries(&[]).collect();
            let entries = entries.unwrap();
            assert_eq!(entries.len(), 4000);
            assert!(
                entries
                    .iter()
                    .zip(0..)
                    .all(|((key, value), row)| key[..] == u32::to_be_bytes(row * 2) && *value == block(row))
            );
            let times = db.size_on_disk().unwrap() as f64 / (4000.0 * 2404.0);
            assert!(times < most, "{times} times, in commits of {each}");
        }
    }

    #[test]
    fn reserved_keys_are_no_entries() {
        let folder = tempfile::tempdir().unwrap();
        let (_db, table) = log(folder.path(), 4000);
        assert_eq!(table.get(&1u32.to_be_bytes()).unwrap(), None);
        assert_eq!(table.get(&8000u32.to_be_bytes()).unwrap(), None);
        for row in [7998u32, 7999, 8000, 8016, u32::MAX] {
            assert_eq!(
                table.floor(&row.to_be_bytes()).unwrap().unwrap(),
                (7998u32.to_be_bytes().to_vec(), block(3999))
            );
        }
        assert_eq!(table.last().unwrap().unwrap().0, 7998u32.to_be_bytes());
        assert_eq!(table.piece_keys(&8000u32.to_be_bytes()).count(), 0);
        assert_eq!(table.entries(&8000u32.to_be_bytes()).count(), 0);
    }

    #[test]
    fn long_blocks_come_back_whole_though_keys_stand_ahead() {
        let folder = tempfile::tempdir().unwrap();
        let db = sled::Config::new().path(folder.path()).flush_every_ms(None).open().unwrap();
        let table = Table::open(&db, "page", 4).unwrap();
        let (disk, mut reserved) = (Disk::default(), 0);
        let blocks: Vec<Vec<u8>> = (0..60).map(|row| vec![row; usize::from(row) * 1000]).collect();
        for commit in 0..6 {
            let own = (commit * 10..commit * 10 + 10).map(|row| (row, blocks[row as usize].clone()));
            LogWriter::new(&disk, &table, &mut reserved).append_blocks(own, commit * 10 + 10).unwrap();
        }
        let found: Result<Vec<TableEntry>> = table.entries(&[]).collect();
        assert!(found.unwrap().into_iter().map(|(_, value)| value).eq(blocks));
    }
}
