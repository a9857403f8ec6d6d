//! Makes an ordinary folder from a crawl of a cluster: report, export, clusters and the rest read it as they read any.
//!
//! The numbers of pages are those of the cluster, and so are the verdicts. The numbers of URLs, terms and archive files are
//! new. The commits of the folder follow from the cut alone, so that a gathering that was interrupted goes on behind the
//! last one: it reads the logs of slots again, and neither copies nor commits anything twice.

use std::collections::HashMap;
use std::path::PathBuf;

use super::connection::Session;
use super::crawl_cut::CrawlCut;
use super::displaced_parts::DisplacedParts;
use super::error::ClusterError;
use super::hosts::known_hosts;
use super::schema::CrawlRow;
use super::slot_entry::SlotEntry;
use super::slot_log::SlotLogReader;
use super::slot_restore::SlotRestore;
use super::test_point::test_point;
use ndcrawl_model::{Batch, OwnSlots, PageId, PageLine, PageRow, Slot, WarcLocation};
use ndcrawl_store::Store;

/// What was gathered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gathered {
    /// URLs with an outcome.
    pub lines: u64,
    /// Decided pages.
    pub pages: u64,
    /// Of these, pages whose fetch was never completed: a worker was lost, and nobody has fetched them again yet.
    pub uncompleted: u64,
    /// Decided pages that could not be completed and left the index. Their rows have no content, so that nothing is
    /// compared with them.
    pub withdrawn: u64,
    /// Archive files.
    pub files: u64,
    /// Commits of the folder that are due to the crawl. What follows is up to the caller.
    pub commits: u64,
}

/// How far a gathering is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatherProgress {
    /// What is done at the moment.
    pub step: &'static str,
    /// How much of it.
    pub done: u64,
    /// Of how much.
    pub all: u64,
}

/// Gathers the crawl that the session uses into a folder: a new one, or one in which the same cut was gathered in part.
/// `places` are folders in which to look for the archives of workers, besides the places that these have told. `told` is
/// called with the progress.
///
/// Cost: reads the whole log once, copies all archives, and holds the rows of all pages in memory meanwhile.
///
/// # Errors
/// [`ClusterError::Folder`] if an archive is not found or the folder cannot be written.
pub async fn gather(
    session: &Session,
    crawl: &CrawlRow,
    cut: &CrawlCut,
    store: &mut Store,
    places: &[PathBuf],
    told: impl FnMut(GatherProgress),
) -> Result<Gathered, ClusterError> {
    let before = store.mark().number;
    let mut gathering = Gathering {
        store,
        cut,
        before,
        told,
        files: HashMap::new(),
        pages: HashMap::new(),
        displaced: DisplacedParts::default(),
        gathered: Gathered::default(),
    };
    gathering.hosts(session, crawl).await?;
    gathering.copy_archives(places)?;
    let restore = gathering.urls(session, crawl).await?;
    gathering.pages(session, restore).await?;
    Ok(gathering.gathered)
}

/// A folder that is being made.
pub(super) struct Gathering<'a, T> {
    pub store: &'a mut Store,
    pub cut: &'a CrawlCut,
    /// Commits that an interrupted gathering has left.
    before: u64,
    told: T,
    /// The number and the name here of each archive file, by its folder and its number there.
    files: HashMap<(String, u32), (u32, String)>,
    /// The rows of fetched pages.
    pub pages: HashMap<PageId, PageRow>,
    pub displaced: DisplacedParts,
    pub gathered: Gathered,
}

impl<T: FnMut(GatherProgress)> Gathering<'_, T> {
    /// Commits the hosts, first of all: an interrupted gathering finds them as they were.
    async fn hosts(&mut self, session: &Session, crawl: &CrawlRow) -> Result<(), ClusterError> {
        let hosts =
            if self.is_committed() { Vec::new() } else { known_hosts(session, crawl.slot_map().slots()).await? };
        self.commit(Batch { hosts, ..Batch::default() })
    }

    fn copy_archives(&mut self, places: &[PathBuf]) -> Result<(), ClusterError> {
        let all = self.cut.files.iter().map(|file| file.bytes).sum();
        let mut done = 0;
        for (number, file) in (0..).zip(&self.cut.files) {
            let archive = self.store.archive();
            if !self.is_committed() {
                let path = file.find(places)?;
                let name = file.name.rsplit('/').next().unwrap_or(&file.name);
                let copied = tokio::task::block_in_place(|| archive.import(&path, name, file.bytes));
                let copied = copied.map_err(ClusterError::folder)?;
                if copied != number {
                    return Err(ClusterError::Folder(format!("archive file {number} has got the number {copied}")));
                }
                test_point("gather-copied");
            }
            // A file that is part of no commit is copied again.
            self.commit(Batch::default())?;
            let name = archive.file_name(number).unwrap_or_default();
            self.files.insert((file.folder.clone(), file.serial), (number, name));
            self.gathered.files += 1;
            done += file.bytes;
            self.tell("archives", done, all);
        }
        Ok(())
    }

    /// Commits all URLs, their outcomes and lines. Sets the pages aside.
    async fn urls(&mut self, session: &Session, crawl: &CrawlRow) -> Result<SlotRestore, ClusterError> {
        let map = crawl.slot_map();
        let mut restore = SlotRestore::new(OwnSlots::new(map, map.slots()));
        let mut reader = SlotLogReader::seen(session, map.slots(), Some(self.cut.snapshot().to_owned())).await?;
        loop {
            let commits = reader.next(session).await?;
            if commits.is_empty() {
                break;
            }
            for entries in commits {
                self.displaced.note_lines(entries.iter().flat_map(|(_, entry)| &entry.page_lines))?;
                if let Some(batch) = restore.take_own(&entries)? {
                    self.commit(batch)?;
                }
            }
            self.tell("URLs", reader.done(), reader.all());
        }
        let mut reader = SlotLogReader::seen(session, map.slots(), Some(self.cut.snapshot().to_owned())).await?;
        let (mut page_lines, mut error_lines) = (Vec::new(), Vec::new());
        loop {
            let commits = reader.next(session).await?;
            if commits.is_empty() {
                return Ok(restore);
            }
            for mut entries in commits {
                if restore.must_cut_before(&entries)? {
                    self.commit(with_lines(restore.taken(), &mut page_lines, &mut error_lines))?;
                }
                for (_, entry) in &mut entries {
                    for line in std::mem::take(&mut entry.page_lines) {
                        page_lines.push(self.line(&entry.folder, line)?);
                        self.gathered.lines += 1;
                    }
                    error_lines.append(&mut entry.error_lines);
                }
                let pages: Vec<(Slot, String, Vec<PageRow>)> = entries.iter_mut().map(taken_pages).collect();
                let batch = restore.take_rest(entries)?;
                for (slot, folder, rows) in pages {
                    for row in rows {
                        let row = self.page(&restore, slot, &folder, row)?;
                        self.pages.insert(row.page, row);
                    }
                }
                if let Some(batch) = batch {
                    self.commit(with_lines(batch, &mut page_lines, &mut error_lines))?;
                }
            }
            // Lines wait for no batch: there may never be a full one.
            let batch = Batch { totals: self.store.mark().totals, ..Batch::default() };
            self.commit(with_lines(batch, &mut page_lines, &mut error_lines))?;
            self.tell("outcomes", reader.done(), reader.all());
        }
    }

    /// Returns a line with the name that its archive file has here.
    fn line(&mut self, folder: &str, line: String) -> Result<String, ClusterError> {
        let mut line: PageLine = serde_json::from_str(&line)
            .map_err(|error| ClusterError::Damaged(format!("a line of the log: {error}")))?;
        let serial = line.warc_file.as_deref().and_then(ndcrawl_store::warc_serial);
        if let Some(serial) = serial {
            line.warc_file = self.files.get(&(folder.to_owned(), serial)).map(|(_, name)| name.clone());
        }
        let line = self.displaced.completed_line(line);
        serde_json::to_string(&line).map_err(|error| ClusterError::Damaged(format!("a line of the log: {error}")))
    }

    /// Returns the row of a page with the numbers that count here.
    fn page(&self, restore: &SlotRestore, slot: Slot, folder: &str, row: PageRow) -> Result<PageRow, ClusterError> {
        let links = row.links.iter().map(|url| restore.url(slot, *url)).collect::<Result<_, _>>()?;
        let location = row.location.and_then(|location| {
            let (file, _) = self.files.get(&(folder.to_owned(), location.file))?;
            Some(WarcLocation { file: *file, ..location })
        });
        Ok(PageRow { url: restore.url(slot, row.url)?, links, location, ..row })
    }

    /// Whether an interrupted gathering has left the next commit.
    pub(super) fn is_committed(&self) -> bool {
        self.gathered.commits < self.before
    }

    /// Commits a batch, unless it is committed already.
    pub(super) fn commit(&mut self, batch: Batch) -> Result<(), ClusterError> {
        let is_committed = self.is_committed();
        self.gathered.commits += 1;
        if is_committed {
            return Ok(());
        }
        tokio::task::block_in_place(|| self.store.commit(batch)).map_err(ClusterError::folder)?;
        test_point("gather-commit");
        Ok(())
    }

    pub(super) fn tell(&mut self, step: &'static str, done: u64, all: u64) {
        (self.told)(GatherProgress { step, done, all });
    }
}

/// Returns a batch with all lines that wait.
fn with_lines(batch: Batch, page_lines: &mut Vec<String>, error_lines: &mut Vec<String>) -> Batch {
    Batch { page_lines: std::mem::take(page_lines), error_lines: std::mem::take(error_lines), ..batch }
}

fn taken_pages((slot, entry): &mut (Slot, SlotEntry)) -> (Slot, String, Vec<PageRow>) {
    (*slot, entry.folder.clone(), std::mem::take(&mut entry.pages))
}
