//! The only writer: opens the folder, commits batches, ends the crawl.

use std::path::Path;
use std::sync::Arc;

use ndcrawl_model::{Batch, CommitMark, RestRow};

use super::archive::Archive;
use super::block::pack;
use super::check::{LogExtent, check};
use super::commit_marker::CommitMarker;
use super::compact_lines::{self, LastDepth};
use super::database::Database;
use super::disk::{Disk, Faults, free_space};
use super::error::{Error, Result};
use super::folder::OutputFolder;
use super::generations::CrawlVersion;
use super::host::HostWriter;
use super::log_file::LogFile;
use super::log_writer::LogWriter;
use super::moved::expect_here;
use super::options::{Identity, OpenedStore, Options};
use super::reader::{DoneRow, StoreReader};
use super::rebuilding::expect_whole_locked;
use super::rests::RestLog;
use super::shared::SharedStore;
use super::table::{Table, TableWriter};
use super::warc_files::WarcFiles;

/// Bytes of one write of lines of never leased URLs.
const LINES_BYTES: usize = 256 * 1024;

/// The folder of a crawl, held for writing.
///
/// Dropping it is as safe as a crash. [`Store::close`] also gives the last WARC file its final name.
pub struct Store {
    shared: Arc<SharedStore>,
    archive: Archive,
    disk: Disk,
    min_free: u64,
    page_lines: LogFile,
    error_lines: LogFile,
    hosts: HostWriter,
    witness: CommitMarker,
    /// The first rows whose keys are not reserved, of URLs, terms and pages.
    reserved: [u32; 3],
    /// Whether a failed commit left data above the mark.
    torn: bool,
}

impl Store {
    /// Opens or creates the folder and rolls it back to its last commit.
    ///
    /// A new crawl stores `identity`. Otherwise its format and rendering must match those of the folder; the caller
    /// compares the fingerprint.
    ///
    /// # Errors
    /// [`Error::InUse`], [`Error::Rebuilding`], [`Error::NotEmpty`], [`Error::Format`], [`Error::Rendering`],
    /// [`Error::Corrupt`], [`Error::Io`]. Nothing changes unless all of the folder was readable.
    pub fn open(folder: &Path, options: Options, identity: &Identity) -> Result<(Self, OpenedStore)> {
        Self::open_on(folder, options, identity, Disk::default(), expect_whole_locked)
    }

    /// As [`Store::open`], for a rebuild of the store.
    ///
    /// # Errors
    /// As [`Store::open`], without [`Error::Rebuilding`].
    pub fn open_to_rebuild(folder: &Path, options: Options, identity: &Identity) -> Result<(Self, OpenedStore)> {
        Self::open_on(folder, options, identity, Disk::default(), |_| Ok(()))
    }

    /// As [`Store::open`], with fault injection, for tests.
    pub fn open_with_faults(
        folder: &Path,
        options: Options,
        identity: &Identity,
        faults: Arc<dyn Faults>,
    ) -> Result<(Self, OpenedStore)> {
        Self::open_on(folder, options, identity, Disk::with_faults(faults), expect_whole_locked)
    }

    fn open_on(
        folder: &Path,
        options: Options,
        identity: &Identity,
        disk: Disk,
        expect: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<(Self, OpenedStore)> {
        let folder = OutputFolder::new(folder);
        folder.create()?;
        let lock = folder.lock()?;
        expect(folder.root())?;
        expect_here(folder.root())?;
        let generation = CrawlVersion::last(folder.root())?;
        if !folder.store().exists() {
            folder.expect_no_output(generation.is_some())?;
        }
        let database = Database::open(&folder.store(), options.cache_bytes)?;
        let opened = identify(&folder, &database, identity, generation.is_some(), &disk)?;
        let mut mark = opened.mark.clone();
        let first_warc = generation.map_or(0, |generation| generation.next_warc);
        if mark.number == 0 {
            mark.warc_file = first_warc;
        }
        let witness = CommitMarker::of(&folder.store());
        witness.check(mark.number)?;
        compact_lines::settle(&folder, mark.number, &disk)?;
        let page_lines = LogFile::open(&folder.pages(), mark.page_line_bytes, &disk)?;
        let error_lines = LogFile::open(&folder.errors(), mark.error_line_bytes, &disk)?;
        let files = WarcFiles::open(&folder.warc(), &options, &opened.identity.crawl, &mark, disk.clone())?;
        database.trim(&mark, &disk)?;
        disk.sync_folder(folder.root()).map_err(|e| Error::io("sync", folder.root(), e))?;

        let shared = Arc::new(SharedStore::new(folder, options.cache_bytes, database, mark, lock));
        let archive = Archive::new(files, StoreReader::new(shared.clone()), options.warc, first_warc);
        let (min_free, hosts) = (options.min_free, HostWriter::default());
        let (reserved, torn) = ([0; 3], false);
        let store = Self { shared, archive, disk, min_free, page_lines, error_lines, hosts, witness, reserved, torn };
        Ok((store, opened))
    }

    /// Returns a reader of committed data, for any thread.
    pub fn reader(&self) -> StoreReader {
        StoreReader::new(self.shared.clone())
    }

    /// Returns the archive. Its pages are valid after the next commit.
    pub fn archive(&self) -> Archive {
        self.archive.clone()
    }

    /// Opens the rests of hosts and addresses, and returns those that last.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn rests(&self) -> Result<(RestLog, Vec<RestRow>)> {
        RestLog::open(self.shared.folder().root())
    }

    /// The last commit.
    pub fn mark(&self) -> CommitMark {
        self.shared.mark()
    }

    /// Whether the disk has the free space of the options. A crawl should stop if not.
    pub fn has_room(&self) -> Result<bool> {
        Ok(free_space(self.shared.folder().root())? >= self.min_free)
    }

    /// Makes a batch durable: all of it or, in effect, nothing.
    ///
    /// Blocks until it is on disk. After a failure the same batch, or another, may be committed: the store first removes
    /// the rest of the failed one. Pages in the archive stay until the folder is opened again.
    ///
    /// # Errors
    /// [`Error::Batch`] if the batch does not fit the logs, [`Error::DiskFull`], [`Error::Io`].
    pub fn commit(&mut self, batch: Batch) -> Result<CommitMark> {
        let before = self.shared.mark();
        let reach = check(&batch, &before)?;
        self.attempt(&before, |store| store.write(batch, &before, reach))
    }

    /// Ends the crawl. Appends the lines of never leased URLs, without line ends, to `pages.jsonl` and records their
    /// offset. Does nothing if the crawl has ended.
    ///
    /// # Errors
    /// As [`Store::commit`], and the first error among `lines`; then nothing has changed.
    pub fn finish<E: From<Error>>(
        &mut self,
        lines: impl IntoIterator<Item = Result<String, E>>,
    ) -> Result<CommitMark, E> {
        self.finish_with_depths(lines, None)
    }

    /// As [`Store::finish`]. `last_depth` returns the last depth of a URL, if lines may have earlier ones: they are
    /// corrected.
    ///
    /// # Errors
    /// As [`Store::finish`].
    pub fn finish_with_depths<E: From<Error>>(
        &mut self,
        lines: impl IntoIterator<Item = Result<String, E>>,
        last_depth: Option<LastDepth>,
    ) -> Result<CommitMark, E> {
        let before = self.shared.mark();
        if before.finished.is_some() {
            return Ok(before);
        }
        self.attempt(&before, |store| {
            if before.totals.revised > 0 || last_depth.is_some() {
                return store.finish_rewritten(lines, last_depth, &before);
            }
            append_lines(&mut store.page_lines, lines)?;
            let finished = Some(before.page_line_bytes);
            let mark = CommitMark { finished, page_line_bytes: store.page_lines.length(), ..before.clone() };
            Ok(store.write_mark(mark)?)
        })
    }

    /// As [`Store::finish`], into a new file without superseded lines.
    fn finish_rewritten<E: From<Error>>(
        &mut self,
        lines: impl IntoIterator<Item = Result<String, E>>,
        last_depth: Option<LastDepth>,
        before: &CommitMark,
    ) -> Result<CommitMark, E> {
        let (folder, number) = (self.shared.folder().clone(), before.number + 1);
        let new = folder.rewritten(number);
        let (pages, length) = (folder.pages(), before.page_line_bytes);
        let mut new = compact_lines::without_superseded(&pages, length, &new, last_depth, &self.disk)?;
        let finished = Some(new.length());
        append_lines(&mut new, lines)?;
        self.disk.sync_folder(folder.root()).map_err(|e| Error::io("sync", folder.root(), e))?;
        let mark = self.write_mark(CommitMark { finished, page_line_bytes: new.length(), ..before.clone() })?;
        compact_lines::put_in_place(&folder, number, &self.disk)?;
        self.page_lines = LogFile::open(&folder.pages(), mark.page_line_bytes, &self.disk)?;
        Ok(mark)
    }

    /// Resumes a crawl that has ended: removes the lines that [`Store::finish`] appended. Does nothing otherwise.
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub fn reopen(&mut self) -> Result<CommitMark> {
        let before = self.shared.mark();
        let Some(page_line_bytes) = before.finished else { return Ok(before) };
        self.attempt(&before, |store| {
            let mark = store.write_mark(CommitMark { finished: None, page_line_bytes, ..before.clone() })?;
            // After a crash before this line, opening the folder does it.
            store.page_lines.cut(page_line_bytes)?;
            Ok(mark)
        })
    }

    /// Closes the store and gives the last WARC file its final name. Drops uncommitted pages of the archive.
    ///
    /// # Errors
    /// As [`Store::commit`]; committed data is safe nevertheless.
    pub fn close(mut self) -> Result<()> {
        let mark = self.shared.mark();
        if self.torn {
            self.mend(&mark)?;
        }
        self.archive.close(&mark)?;
        self.shared.close();
        Ok(())
    }

    /// Runs `write` on a store in the state `before`. After a failure the next attempt rolls back first.
    fn attempt<E: From<Error>>(
        &mut self,
        before: &CommitMark,
        write: impl FnOnce(&mut Self) -> Result<CommitMark, E>,
    ) -> Result<CommitMark, E> {
        if self.torn {
            self.mend(before)?;
        }
        self.torn = true;
        let mark = write(self)?;
        self.torn = false;
        Ok(mark)
    }

    fn write(&mut self, mut batch: Batch, before: &CommitMark, reach: LogExtent) -> Result<CommitMark> {
        let (warc_file, warc_bytes) = self.archive.sync()?;
        self.page_lines.append(joined(&batch.page_lines).as_bytes())?;
        self.error_lines.append(joined(&batch.error_lines).as_bytes())?;
        self.page_lines.sync()?;
        self.error_lines.sync()?;

        let database = self.shared.database()?;
        let number = before.number + 1;
        let [urls, terms, pages] = &mut self.reserved;
        LogWriter::new(&self.disk, &database.url, urls).append(before.urls, &batch.urls)?;
        LogWriter::new(&self.disk, &database.term, terms).append(before.terms, &batch.terms)?;
        LogWriter::new(&self.disk, &database.page, pages).append(before.pages, &batch.pages)?;
        self.write_done(&database.done, number, done_rows(&mut batch))?;
        self.hosts.write(&database, &batch.hosts, number, &self.disk)?;
        self.write_mark(CommitMark {
            number: before.number,
            urls: reach.urls,
            terms: reach.terms,
            pages: reach.pages,
            warc_file,
            warc_bytes,
            page_line_bytes: self.page_lines.length(),
            error_line_bytes: self.error_lines.length(),
            leased: batch.leased,
            totals: batch.totals,
            finished: None,
        })
    }

    fn write_done(&self, table: &Table, number: u64, rows: Vec<DoneRow>) -> Result<()> {
        let mut loader = TableWriter::new(&self.disk, table);
        for (chunk, (_, block)) in (0u32..).zip(pack(&rows).map_err(|e| Error::Batch(e.to_string()))?) {
            let key = [&number.to_be_bytes()[..], &chunk.to_be_bytes()].concat();
            loader.put(&key, &block)?;
        }
        loader.finish()
    }

    /// Writes the commit record, the last write of a commit. Keeps one earlier record, in case the disk loses this one.
    fn write_mark(&mut self, mark: CommitMark) -> Result<CommitMark> {
        let mark = CommitMark { number: mark.number + 1, ..mark };
        let database = self.shared.database()?;
        let value = postcard::to_stdvec(&mark).map_err(|e| Error::Batch(e.to_string()))?;
        let kept = (mark.number - 1).to_be_bytes();
        let mut loader = TableWriter::new(&self.disk, &database.commit);
        for key in database.commit.piece_keys(&[]) {
            let key = key?;
            if key[..] < kept[..] {
                loader.remove(key)?;
            }
        }
        loader.put(&mark.number.to_be_bytes(), &value)?;
        loader.finish()?;
        database.flush(&self.disk)?;
        self.witness.note(mark.number);
        self.shared.set_mark(mark.clone());
        self.archive.committed();
        Ok(mark)
    }

    /// Rolls the folder back to `mark` after a failure.
    fn mend(&mut self, mark: &CommitMark) -> Result<()> {
        self.hosts.forget();
        self.reserved = [0; 3];
        if compact_lines::settle(self.shared.folder(), mark.number, &self.disk)? {
            self.page_lines = LogFile::open(&self.shared.folder().pages(), mark.page_line_bytes, &self.disk)?;
        }
        self.page_lines.cut(mark.page_line_bytes)?;
        self.error_lines.cut(mark.error_line_bytes)?;
        // sled refuses all writes after a failed one, until it is reopened.
        let mended = self
            .shared
            .database()
            .and_then(|database| database.trim(mark, &self.disk).and_then(|()| database.flush(&self.disk)));
        if mended.is_err() {
            let database = self.shared.reopen()?;
            database.trim(mark, &self.disk)?;
            database.flush(&self.disk)?;
        }
        self.torn = false;
        Ok(())
    }
}

/// Compares identities, or stores a new one.
fn identify(
    folder: &OutputFolder,
    database: &Database,
    identity: &Identity,
    has_earlier: bool,
    disk: &Disk,
) -> Result<OpenedStore> {
    let store = folder.store();
    let Some(found) = database.identity(&store)? else {
        CommitMarker::of(&store).check(0)?;
        folder.expect_no_output(has_earlier)?;
        database.set_identity(identity, disk)?;
        return Ok(OpenedStore { mark: CommitMark::default(), identity: identity.clone(), fresh: true });
    };
    if found.format != identity.format {
        return Err(Error::Format { store, found: found.format, known: identity.format });
    }
    if found.rendering != identity.rendering {
        return Err(Error::Rendering { store, found: found.rendering, wanted: identity.rendering.clone() });
    }
    Ok(OpenedStore { mark: database.mark()?, identity: found, fresh: false })
}

/// Appends lines and makes them durable.
fn append_lines<E: From<Error>>(
    file: &mut LogFile,
    lines: impl IntoIterator<Item = Result<String, E>>,
) -> Result<(), E> {
    let mut buffer = String::new();
    for line in lines {
        buffer.push_str(&line?);
        buffer.push('\n');
        if buffer.len() >= LINES_BYTES {
            file.append(buffer.as_bytes())?;
            buffer.clear();
        }
    }
    file.append(buffer.as_bytes())?;
    Ok(file.sync()?)
}

/// Takes the rows of a batch for the log `done`.
fn done_rows(batch: &mut Batch) -> Vec<DoneRow> {
    let requeued = std::mem::take(&mut batch.requeued).into_iter().map(DoneRow::Requeued);
    let counterparts = std::mem::take(&mut batch.counterparts).into_iter();
    let counterparts = counterparts.map(|(page, other)| DoneRow::Counterpart(page, other));
    let repeats = std::mem::take(&mut batch.repeats).into_iter().map(|(url, of)| DoneRow::Repeats(url, of));
    let outcomes = std::mem::take(&mut batch.outcomes).into_iter().map(DoneRow::Outcome);
    let shortened = std::mem::take(&mut batch.shortened).into_iter().map(DoneRow::Shortened);
    let links = std::mem::take(&mut batch.links).into_iter().map(DoneRow::Links);
    let unmatched = Some(std::mem::take(&mut batch.unmatched)).filter(|links| !links.is_empty());
    let unmatched = unmatched.into_iter().map(DoneRow::Unmatched);
    let events = requeued.chain(shortened).chain(links).chain(counterparts).chain(unmatched);
    events.chain(repeats).chain(outcomes).collect()
}

fn joined(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [line, "\n"]).collect()
}
