//! A database tree with checksums, whose long values are split into chunks.
//!
//! A key whose value is empty is reserved (see [`LogWriter`](super::log_writer::LogWriter)). It is no entry.

use super::disk::Disk;
use super::error::{Error, Result};
use super::value_chunk::{self, PIECE_BYTES};

/// Limits of a batch. Beyond them the memory of sled grows tenfold.
const MOST_ENTRIES: usize = 200;
const MOST_BYTES: usize = 256 * 1024;

/// A key and its complete value.
pub(crate) type TableEntry = (Vec<u8>, Vec<u8>);

/// A tree with keys of one length.
#[derive(Clone)]
pub(crate) struct Table {
    name: &'static str,
    key_bytes: usize,
    tree: sled::Tree,
}

impl Table {
    pub(crate) fn open(db: &sled::Db, name: &'static str, key_bytes: usize) -> Result<Self> {
        let tree = db.open_tree(name).map_err(|e| Error::sled("open", name, e))?;
        Ok(Self { name, key_bytes, tree })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tree.is_empty()
    }

    /// Returns the value of `key`.
    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        match self.tree.get(key).map_err(|e| self.failed(e))?.filter(|head| !head.is_empty()) {
            Some(head) => self.assemble(key, &head, |table, key| {
                table.tree.get(key).map(|piece| piece.map(|piece| piece.to_vec())).map_err(|e| table.failed(e))
            }),
            None => return Ok(None),
        }
        .map(Some)
    }

    /// Returns the entry with the greatest key not above `key`.
    pub(crate) fn floor(&self, key: &[u8]) -> Result<Option<TableEntry>> {
        let mut below = self.tree.range(..=key).rev();
        let Some(found) = below.find(|entry| !is_reserved(entry)) else { return Ok(None) };
        let (found, _) = found.map_err(|e| self.failed(e))?;
        // The last chunk of a long value comes first.
        let head = found.get(..self.key_bytes).ok_or_else(|| self.damaged(&found, "its key is too short"))?;
        let value = self.get(head)?.ok_or_else(|| self.damaged(&found, "its first piece is missing"))?;
        Ok(Some((head.to_vec(), value)))
    }

    /// Returns the entry with the greatest key.
    pub(crate) fn last(&self) -> Result<Option<TableEntry>> {
        self.floor(&vec![0xff; self.key_bytes + 3])
    }

    /// Returns all entries from `key` on, sorted by key.
    pub(crate) fn entries(&self, key: &[u8]) -> TableEntries {
        TableEntries { table: self.clone(), pieces: self.tree.range(key.to_vec()..) }
    }

    /// Returns the keys of all chunks, from `key` on.
    pub(crate) fn piece_keys(&self, key: &[u8]) -> impl Iterator<Item = Result<Vec<u8>>> {
        let entries = self.tree.range(key.to_vec()..).filter(|entry| !is_reserved(entry));
        entries.map(|entry| entry.map(|(key, _)| key.to_vec()).map_err(|e| self.failed(e)))
    }

    /// Returns the keys of all chunks that begin with `prefix`.
    pub(crate) fn piece_keys_of(&self, prefix: &[u8]) -> impl Iterator<Item = Result<Vec<u8>>> {
        self.tree.scan_prefix(prefix).map(|entry| entry.map(|(key, _)| key.to_vec()).map_err(|e| self.failed(e)))
    }

    /// Splits a value into chunks, each with its key.
    pub(crate) fn pieces(&self, key: &[u8], value: &[u8]) -> Result<impl Iterator<Item = TableEntry>> {
        debug_assert_eq!(key.len(), self.key_bytes);
        let pieces = value.len().div_ceil(PIECE_BYTES).max(1);
        let count = u16::try_from(pieces).map_err(|_| Error::Batch(format!("a row of {} bytes", value.len())))?;
        Ok((0..count).map(move |number| {
            let start = usize::from(number) * PIECE_BYTES;
            let key = value_chunk::key(key, number);
            let bytes = &value[start..value.len().min(start + PIECE_BYTES)];
            let piece = value_chunk::seal(self.name, &key, u32::from(count), bytes);
            (key, piece)
        }))
    }

    /// Creates an error that names tree and key.
    pub(crate) fn damaged(&self, key: &[u8], reason: impl ToString) -> Error {
        let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
        Error::corrupt(format!("tree '{}', key {hex}", self.name), reason)
    }

    fn failed(&self, error: sled::Error) -> Error {
        Error::sled("read", &format!("tree '{}'", self.name), error)
    }

    fn assemble(
        &self,
        key: &[u8],
        head: &[u8],
        mut next: impl FnMut(&Self, &[u8]) -> Result<Option<Vec<u8>>>,
    ) -> Result<Vec<u8>> {
        let (pieces, first) = value_chunk::open(self.name, key, head).map_err(|reason| self.damaged(key, reason))?;
        let mut value = first.to_vec();
        for number in 1..pieces {
            let number = u16::try_from(number).map_err(|_| self.damaged(key, "it has too many pieces"))?;
            let key = value_chunk::key(key, number);
            let piece = next(self, &key)?.ok_or_else(|| self.damaged(&key, "the piece is missing"))?;
            let (_, bytes) = value_chunk::open(self.name, &key, &piece).map_err(|reason| self.damaged(&key, reason))?;
            value.extend(bytes);
        }
        Ok(value)
    }
}

/// Returns whether a key has no value yet.
fn is_reserved(entry: &sled::Result<(sled::IVec, sled::IVec)>) -> bool {
    entry.as_ref().is_ok_and(|(_, value)| value.is_empty())
}

/// Iterator over entries, sorted by key. Ends after an error.
pub(crate) struct TableEntries {
    table: Table,
    pieces: sled::Iter,
}

impl TableEntries {
    fn next_piece(&mut self) -> Result<Option<(sled::IVec, sled::IVec)>> {
        self.pieces.find(|entry| !is_reserved(entry)).transpose().map_err(|e| self.table.failed(e))
    }

    fn next_entry(&mut self) -> Result<Option<TableEntry>> {
        let Some((key, head)) = self.next_piece()? else { return Ok(None) };
        if key.len() != self.table.key_bytes {
            return Err(self.table.damaged(&key, "a piece without its first"));
        }
        let table = self.table.clone();
        let value = table.assemble(&key, &head, |_, wanted| {
            let found = self.next_piece()?;
            Ok(found.filter(|(key, _)| key == wanted).map(|(_, piece)| piece.to_vec()))
        })?;
        Ok(Some((key.to_vec(), value)))
    }
}

impl Iterator for TableEntries {
    type Item = Result<TableEntry>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_entry().transpose()
    }
}

/// Writes entries to one table, in batches that suit sled.
pub(crate) struct TableWriter<'a> {
    disk: &'a Disk,
    table: &'a Table,
    batch: sled::Batch,
    entries: usize,
    bytes: usize,
}

impl<'a> TableWriter<'a> {
    pub(crate) fn new(disk: &'a Disk, table: &'a Table) -> Self {
        Self { disk, table, batch: sled::Batch::default(), entries: 0, bytes: 0 }
    }

    /// Writes a value.
    pub(crate) fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let table = self.table;
        table.pieces(key, value)?.try_for_each(|(key, piece)| self.put_piece(key, piece))
    }

    /// Writes a chunk. An empty one reserves the key.
    pub(crate) fn put_piece(&mut self, key: Vec<u8>, piece: Vec<u8>) -> Result<()> {
        self.make_room(key.len() + piece.len())?;
        self.batch.insert(key, piece);
        Ok(())
    }

    /// Removes one chunk.
    pub(crate) fn remove(&mut self, piece_key: Vec<u8>) -> Result<()> {
        self.make_room(piece_key.len())?;
        self.batch.remove(piece_key);
        Ok(())
    }

    /// Writes the last batch.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.apply()
    }

    fn make_room(&mut self, bytes: usize) -> Result<()> {
        if self.entries + 1 > MOST_ENTRIES || self.bytes + bytes > MOST_BYTES {
            self.apply()?;
        }
        self.entries += 1;
        self.bytes += bytes;
        Ok(())
    }

    /// Writes what waits.
    pub(crate) fn apply(&mut self) -> Result<()> {
        if self.entries == 0 {
            return Ok(());
        }
        (self.entries, self.bytes) = (0, 0);
        let batch = std::mem::take(&mut self.batch);
        let place = format!("tree '{}'", self.table.name);
        self.disk.apply(&self.table.tree, batch).map_err(|e| Error::sled("write", &place, e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(folder: &tempfile::TempDir) -> Table {
        let db = sled::Config::new().path(folder.path()).flush_every_ms(None).open().unwrap();
        Table::open(&db, "url", 4).unwrap()
    }

    fn put(table: &Table, number: u32, value: &[u8]) {
        let disk = Disk::default();
        let mut loader = TableWriter::new(&disk, table);
        loader.put(&number.to_be_bytes(), value).unwrap();
        loader.finish().unwrap();
    }

    #[test]
    fn long_values_come_back_whole_by_key_by_floor_and_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let table = table(&folder);
        let values: Vec<Vec<u8>> =
            [0, 1, PIECE_BYTES, PIECE_BYTES + 1, 40 * PIECE_BYTES].map(|length| vec![7; length]).to_vec();
        for (index, value) in values.iter().enumerate() {
            put(&table, index as u32 * 10, value);
        }
        for (index, value) in values.iter().enumerate() {
            let number = index as u32 * 10;
            assert_eq!(table.get(&number.to_be_bytes()).unwrap().as_ref(), Some(value));
            let (key, found) = table.floor(&(number + 5).to_be_bytes()).unwrap().unwrap();
            assert_eq!((key, &found), (number.to_be_bytes().to_vec(), value));
        }
        let all: Result<Vec<TableEntry>> = table.entries(&[]).collect();
        assert!(all.unwrap().iter().map(|(_, value)| value).eq(&values));
        assert_eq!(table.last().unwrap().unwrap().0, 40u32.to_be_bytes());
    }

    #[test]
    fn a_flipped_byte_is_an_error_that_names_tree_and_key() {
        let folder = tempfile::tempdir().unwrap();
        let table = table(&folder);
        put(&table, 258, b"value");
        let mut bytes = table.tree.get(258u32.to_be_bytes()).unwrap().unwrap().to_vec();
        bytes[15] ^= 1;
        table.tree.insert(258u32.to_be_bytes(), bytes).unwrap();
        let message = table.get(&258u32.to_be_bytes()).unwrap_err().to_string();
        assert!(message.contains("tree 'url', key 00000102 is damaged"), "{message}");
        assert!(table.entries(&[]).next().unwrap().is_err());
    }

    #[test]
    fn a_missing_piece_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let table = table(&folder);
        put(&table, 1, &vec![0; 3 * PIECE_BYTES]);
        put(&table, 2, b"next");
        table.tree.remove(value_chunk::key(&1u32.to_be_bytes(), 1)).unwrap();
        assert!(table.get(&1u32.to_be_bytes()).is_err());
        assert!(table.entries(&[]).next().unwrap().is_err());
    }
}
