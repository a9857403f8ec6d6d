//! Reads committed data, from any thread, while the writer writes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use ndcrawl_model::{
    CommitMark, HostRow, OutcomeRow, PageKind, PageLinksRow, PageRow, Requeue, RestRow, Sequence, TermId, TermRow,
    UrlId, UrlRow,
};

use super::archive_reader::ArchiveReader;
use super::block::Block;
use super::cache::BlockCache;
use super::commit_marker::CommitMarker;
use super::database::Database;
use super::error::{Error, Result};
use super::folder::OutputFolder;
use super::host;
use super::line_index::LineIndex;
use super::line_texts::line_texts;
use super::options::OpenedStore;
use super::rebuilding::{expect_whole, expect_whole_locked};
use super::rests;
use super::shared::SharedStore;
use super::table::{Table, TableEntries};
use super::warc_files;

/// An event of a URL after its discovery. Within a commit the order is: requeued URLs, shorter paths, links,
/// counterparts, unmatched links, duplicate pairs, outcomes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DoneRow {
    /// A deferred or excluded URL was requeued.
    Requeued(Requeue),
    /// A URL got its outcome.
    Outcome(OutcomeRow),
    /// The first URL is a duplicate of the second.
    Repeats(UrlId, UrlId),
    /// The page of the first URL links to the second, another edition of it by its looks or in fact.
    Counterpart(UrlId, UrlId),
    /// A shorter path to a URL turned up.
    Shortened(Requeue),
    /// A page has links along which a shorter path is handed on.
    Links(PageLinksRow),
    /// Duplicates link to these URLs, which are not followed. The pages that they repeat have no such links.
    Unmatched(Vec<UrlId>),
}

/// Reads committed data of a store. Clones are cheap and share a small cache.
#[derive(Clone)]
pub struct StoreReader {
    shared: Arc<SharedStore>,
}

impl StoreReader {
    pub(crate) fn new(shared: Arc<SharedStore>) -> Self {
        Self { shared }
    }

    /// Opens a folder read-only. Cuts and removes nothing, and hides data above the last commit.
    ///
    /// # Errors
    /// [`Error::NotACrawl`], [`Error::InUse`], [`Error::Rebuilding`], [`Error::Format`], [`Error::Corrupt`].
    pub fn open(folder: &Path, cache_bytes: u64) -> Result<(Self, OpenedStore)> {
        let folder = OutputFolder::new(folder);
        expect_whole(folder.root())?;
        if !folder.store().is_dir() {
            return Err(Error::NotACrawl { folder: folder.root().to_owned() });
        }
        let lock = folder.lock()?;
        expect_whole_locked(folder.root())?;
        let database = Database::open(&folder.store(), cache_bytes)?;
        let Some(identity) = database.identity(&folder.store())? else {
            CommitMarker::of(&folder.store()).check(0)?;
            return Err(Error::NotACrawl { folder: folder.root().to_owned() });
        };
        let mark = database.mark()?;
        let opened = OpenedStore { mark: mark.clone(), identity, fresh: false };
        Ok((Self::new(Arc::new(SharedStore::new(folder, cache_bytes, database, mark, lock))), opened))
    }

    /// The last commit.
    pub fn mark(&self) -> CommitMark {
        self.shared.mark()
    }

    /// Returns the committed URL with this number.
    pub fn url(&self, id: UrlId) -> Result<Option<UrlRow>> {
        let known = self.shared.with_mark(|mark| mark.urls);
        self.row(id.0, known, &self.shared.url_blocks, |database| &database.url)
    }

    /// Returns the committed page with this number.
    pub fn page(&self, sequence: Sequence) -> Result<Option<PageRow>> {
        let known = self.shared.with_mark(|mark| mark.pages);
        self.row(sequence.0, known, &self.shared.page_blocks, |database| &database.page)
    }

    /// Returns what a page is: of one that a rule has chosen, what it was before.
    pub fn kind_of(&self, row: &PageRow) -> Result<PageKind> {
        let (mut kind, mut renews) = (row.kind, row.renews);
        while let (PageKind::Chosen, Some(earlier)) = (kind, renews) {
            let Some(row) = self.page(earlier)? else { break };
            (kind, renews) = (row.kind, row.renews);
        }
        Ok(kind)
    }

    /// Returns at most `count` URLs from `first` on.
    pub fn urls(&self, first: UrlId, count: usize) -> Result<Vec<UrlRow>> {
        let known = self.shared.with_mark(|mark| mark.urls);
        self.rows(first.0, known, |database| &database.url)?.take(count).map(|row| row.map(|(_, row)| row)).collect()
    }

    /// Returns at most `count` terms from `first` on.
    pub fn terms(&self, first: TermId, count: usize) -> Result<Vec<TermRow>> {
        let known = self.shared.with_mark(|mark| mark.terms);
        self.rows(first.0, known, |database| &database.term)?.take(count).map(|row| row.map(|(_, row)| row)).collect()
    }

    /// Returns all URLs in order, read block by block.
    pub fn all_urls(&self) -> Result<impl Iterator<Item = Result<(UrlId, UrlRow)>> + use<>> {
        let known = self.shared.with_mark(|mark| mark.urls);
        Ok(self.rows(0, known, |database| &database.url)?.map(|row| row.map(|(id, row)| (UrlId(id), row))))
    }

    /// Returns all terms from `first` on, in order.
    pub fn terms_from(&self, first: TermId) -> Result<impl Iterator<Item = Result<(TermId, TermRow)>> + use<>> {
        let known = self.shared.with_mark(|mark| mark.terms);
        Ok(self.rows(first.0, known, |database| &database.term)?.map(|row| row.map(|(id, row)| (TermId(id), row))))
    }

    /// Returns all terms, in order.
    pub fn all_terms(&self) -> Result<impl Iterator<Item = Result<(TermId, TermRow)>> + use<>> {
        self.terms_from(TermId(0))
    }

    /// Returns all decided pages from `first` on, in order.
    pub fn pages_from(&self, first: Sequence) -> Result<impl Iterator<Item = Result<(Sequence, PageRow)>> + use<>> {
        let known = self.shared.with_mark(|mark| mark.pages);
        Ok(self.rows(first.0, known, |database| &database.page)?.map(|row| row.map(|(id, row)| (Sequence(id), row))))
    }

    /// Returns all decided pages, in order.
    pub fn all_pages(&self) -> Result<impl Iterator<Item = Result<(Sequence, PageRow)>> + use<>> {
        self.pages_from(Sequence(0))
    }

    /// Returns all [`DoneRow`]s, in the order of the commits.
    pub fn all_done(&self) -> Result<impl Iterator<Item = Result<DoneRow>> + use<>> {
        let last = self.shared.with_mark(|mark| mark.number);
        let table = self.shared.database()?.done;
        let above = last.saturating_add(1).to_be_bytes();
        let entries =
            table.entries(&[]).take_while(move |entry| entry.as_ref().map_or(true, |(key, _)| key[..8] < above[..]));
        Ok(entries.flat_map(move |entry| match entry.and_then(|(key, value)| rows_of(&table, &key, value)) {
            Ok(rows) => rows.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        }))
    }

    /// Returns all origins, in no particular order.
    pub fn all_hosts(&self) -> Result<impl Iterator<Item = Result<HostRow>> + use<>> {
        let last = self.shared.with_mark(|mark| mark.number);
        Ok(host::hosts(&self.shared.database()?, last))
    }

    /// Returns the lines of `pages.jsonl` that have outcomes, in the order of these, as they are.
    pub fn page_line_texts(&self) -> Result<impl Iterator<Item = Result<String>> + use<>> {
        let mark = self.mark();
        line_texts(self.shared.folder().pages_as_of(mark.number), mark.finished.unwrap_or(mark.page_line_bytes))
    }

    /// Returns the lines of `errors.jsonl`, in the order of the failures, as they are.
    pub fn error_line_texts(&self) -> Result<impl Iterator<Item = Result<String>> + use<>> {
        line_texts(self.shared.folder().errors(), self.mark().error_line_bytes)
    }

    /// Returns the files of the archive: the number, the name relative to the folder, and the committed bytes of each.
    pub fn archive_files(&self) -> Result<Vec<(u32, String, u64)>> {
        let (folder, mark) = (self.shared.folder().warc(), self.mark());
        let mut files = Vec::new();
        for (serial, name) in warc_files::list(&folder)?.into_iter().filter(|(serial, _)| *serial <= mark.warc_file) {
            let path = folder.join(&name);
            let length = std::fs::metadata(&path).map_err(|error| Error::io("read", &path, error))?.len();
            let bytes = if serial == mark.warc_file { mark.warc_bytes } else { length };
            let name = name.strip_suffix(warc_files::OPEN).unwrap_or(&name);
            files.push((serial, format!("warc/{name}"), bytes));
        }
        Ok(files)
    }

    /// Returns the rests of hosts and addresses that last.
    pub fn lasting_rests(&self) -> Result<Vec<RestRow>> {
        rests::lasting_rests(self.shared.folder().root())
    }

    /// Returns a reader of the archive.
    pub fn archive(&self) -> ArchiveReader {
        ArchiveReader::new(self.shared.folder().root())
    }

    /// Returns an index of `pages.jsonl`.
    pub fn line_index(&self) -> LineIndex {
        LineIndex::new(self.shared.folder().root())
    }

    pub(super) fn snapshot_path(&self) -> PathBuf {
        self.shared.folder().store().join("index.snapshot")
    }

    fn row<T: DeserializeOwned>(
        &self,
        id: u32,
        known: u32,
        cache: &BlockCache,
        table: impl FnOnce(&Database) -> &Table,
    ) -> Result<Option<T>> {
        if id >= known {
            return Ok(None);
        }
        if let Some((first, block)) = cache.get(id) {
            let place = |reason| Error::corrupt(format!("row {id}"), reason);
            return block.row((id - first) as usize).map(Some).map_err(place);
        }
        let database = self.shared.database()?;
        let table = table(&database);
        let key = id.to_be_bytes();
        let (found, value) = table.floor(&key)?.ok_or_else(|| table.damaged(&key, "it is missing"))?;
        let first = first_of(table, &found)?;
        let block = Arc::new(Block::new(value).map_err(|reason| table.damaged(&found, reason))?);
        if (id - first) as usize >= block.len() {
            return Err(table.damaged(&key, "it is missing"));
        }
        cache.put(first, block.clone());
        block.row((id - first) as usize).map(Some).map_err(|reason| table.damaged(&found, reason))
    }

    fn rows<T: DeserializeOwned>(
        &self,
        first: u32,
        known: u32,
        table: impl FnOnce(&Database) -> &Table,
    ) -> Result<RowIter<T>> {
        let database = self.shared.database()?;
        let table = table(&database);
        // The block that has the row may begin before it.
        let start = match table.floor(&first.to_be_bytes())? {
            Some((key, _)) if first < known => key,
            _ => first.to_be_bytes().to_vec(),
        };
        Ok(RowIter {
            entries: table.entries(&start),
            table: table.clone(),
            block: None,
            next: first,
            known,
            row: std::marker::PhantomData,
        })
    }
}

fn first_of(table: &Table, key: &[u8]) -> Result<u32> {
    let id = key.first_chunk().ok_or_else(|| table.damaged(key, "its key is too short"))?;
    Ok(u32::from_be_bytes(*id))
}

fn rows_of<T: DeserializeOwned>(table: &Table, key: &[u8], value: Vec<u8>) -> Result<Vec<T>> {
    let block = Block::new(value).map_err(|reason| table.damaged(key, reason))?;
    (0..block.len()).map(|row| block.row(row).map_err(|reason| table.damaged(key, reason))).collect()
}

/// Iterator over numbered rows, in order, without gaps. Ends after the first error.
struct RowIter<T> {
    entries: TableEntries,
    table: Table,
    block: Option<(u32, Block)>,
    next: u32,
    known: u32,
    row: std::marker::PhantomData<T>,
}

impl<T: DeserializeOwned> RowIter<T> {
    fn next_row(&mut self) -> Result<(u32, T)> {
        let id = self.next;
        let key = id.to_be_bytes();
        let (first, block) = match self.block.take() {
            Some((first, block)) if (id - first) as usize == block.len() => self.next_block(id)?,
            Some(block) => block,
            None => self.next_block(id)?,
        };
        let row = block.row((id - first) as usize).map_err(|reason| self.table.damaged(&key, reason))?;
        self.block = Some((first, block));
        self.next += 1;
        Ok((id, row))
    }

    /// Reads the next block, which must contain row `id`.
    fn next_block(&mut self, id: u32) -> Result<(u32, Block)> {
        let missing = || self.table.damaged(&id.to_be_bytes(), "it is missing");
        let (key, value) = self.entries.next().ok_or_else(missing)??;
        let first = first_of(&self.table, &key)?;
        let block = Block::new(value).map_err(|reason| self.table.damaged(&key, reason))?;
        let has_row = first <= id && ((id - first) as usize) < block.len();
        if has_row { Ok((first, block)) } else { Err(missing()) }
    }
}

impl<T: DeserializeOwned> Iterator for RowIter<T> {
    type Item = Result<(u32, T)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.known {
            return None;
        }
        let row = self.next_row();
        if row.is_err() {
            self.known = 0;
        }
        Some(row)
    }
}
