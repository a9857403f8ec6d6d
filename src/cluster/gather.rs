//! Makes an ordinary folder from a crawl of a cluster: report, export, clusters and the rest read it as they read any.
//!
//! The numbers of pages are those of the cluster, and so are the verdicts. The numbers of URLs, terms and archive files are
//! new.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use super::archive_files::archive_files;
use super::connection::Session;
use super::error::ClusterError;
use super::holder::arriving_of;
use super::host_rests::lasting_rests;
use super::mail::letters;
use super::schema::CrawlRow;
use super::slot_entry::SlotEntry;
use super::slot_log::SlotLogReader;
use super::slot_restore::SlotRestore;
use super::turn_body::{Arriving, TurnArrivals, TurnVerdicts};
use super::turn_log::turns_behind;
use crate::detect::{DecidedPage, Vocabulary};
use crate::model::{
    Batch, Digest, Discovery, Mailed, OwnSlots, PageId, PageInput, PageKind, PageLine, PageRow, RestRow, Sequence,
    Slot, TermOrder, UrlId, UrlRow, UrlState, WarcLocation,
};
use crate::store::Store;

/// Turns that are read at once.
const AT_ONCE: i64 = 16;
/// Pages of one commit.
const PAGES: usize = 1000;

/// What was gathered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// Links that were on their way between slots.
    pub mail: Vec<Mailed>,
    /// Rests of hosts that last.
    pub rests: Vec<RestRow>,
}

/// Gathers the crawl that the session uses into a new folder. `places` are folders in which to look for the archives of
/// workers, besides the places that these have told. `told` is called with the pages gathered so far.
///
/// Cost: reads the whole log once, copies all archives, and holds the rows of all pages in memory meanwhile.
///
/// # Errors
/// [`ClusterError::Folder`] if an archive is not found or the folder cannot be written.
pub async fn gather(
    session: &Session,
    crawl: &CrawlRow,
    store: &mut Store,
    places: &[PathBuf],
    told: impl Fn(u64),
) -> Result<Gathered, ClusterError> {
    let mut gathering =
        Gathering { store, files: HashMap::new(), pages: HashMap::new(), gathered: Gathered::default() };
    gathering.copy_archives(session, places).await?;
    let restore = gathering.urls(session, crawl).await?;
    gathering.pages(session, restore, told).await?;
    gathering.gathered.mail = letters(session).await?;
    gathering.gathered.rests = lasting_rests(session, crawl.slot_map().slots()).await?;
    Ok(gathering.gathered)
}

/// A folder that is being made.
struct Gathering<'a> {
    store: &'a mut Store,
    /// The number and the name here of each archive file, by its folder and its number there.
    files: HashMap<(String, u32), (u32, String)>,
    pages: HashMap<PageId, PageRow>,
    gathered: Gathered,
}

impl Gathering<'_> {
    async fn copy_archives(&mut self, session: &Session, places: &[PathBuf]) -> Result<(), ClusterError> {
        for file in archive_files(session).await? {
            let path = file.find(places)?;
            let name = file.name.rsplit('/').next().unwrap_or(&file.name);
            let archive = self.store.archive();
            let number = tokio::task::block_in_place(|| archive.import(&path, name, file.bytes));
            let number = number.map_err(ClusterError::folder)?;
            let name = archive.file_name(number).unwrap_or_default();
            self.files.insert((file.folder, file.serial), (number, name));
            self.gathered.files += 1;
        }
        Ok(())
    }

    /// Commits all URLs, their outcomes and lines. Sets the pages aside.
    async fn urls(&mut self, session: &Session, crawl: &CrawlRow) -> Result<SlotRestore, ClusterError> {
        let map = crawl.slot_map();
        let mut restore = SlotRestore::new(OwnSlots::new(map, map.slots()));
        let mut reader = SlotLogReader::new(session, map.slots()).await?;
        loop {
            let commits = reader.next(session).await?;
            if commits.is_empty() {
                break;
            }
            for entries in commits {
                if let Some(batch) = restore.take_own(&entries)? {
                    self.commit(batch)?;
                }
            }
        }
        let mut reader = SlotLogReader::new(session, map.slots()).await?;
        let (mut page_lines, mut error_lines) = (Vec::new(), Vec::new());
        loop {
            let commits = reader.next(session).await?;
            if commits.is_empty() {
                return Ok(restore);
            }
            for mut entries in commits {
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
                    let (page_lines, error_lines) = (std::mem::take(&mut page_lines), std::mem::take(&mut error_lines));
                    self.commit(Batch { page_lines, error_lines, ..batch })?;
                }
            }
            // Lines wait for no batch: there may never be a full one.
            let (page_lines, error_lines) = (std::mem::take(&mut page_lines), std::mem::take(&mut error_lines));
            self.commit(Batch { page_lines, error_lines, totals: self.store.mark().totals, ..Batch::default() })?;
        }
    }

    /// Returns a line with the name that its archive file has here.
    fn line(&self, folder: &str, line: String) -> Result<String, ClusterError> {
        let mut line: PageLine = serde_json::from_str(&line)
            .map_err(|error| ClusterError::Damaged(format!("a line of the log: {error}")))?;
        let serial = line.warc_file.as_deref().and_then(crate::store::warc_serial);
        if let Some(serial) = serial {
            line.warc_file = self.files.get(&(folder.to_owned(), serial)).map(|(_, name)| name.clone());
        }
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

    /// Commits the pages in the order of their decisions.
    async fn pages(
        &mut self,
        session: &Session,
        mut restore: SlotRestore,
        told: impl Fn(u64),
    ) -> Result<(), ClusterError> {
        let (known, (rest, _, _)) = (restore.take_known(), restore.end());
        let totals = rest.totals.clone();
        self.commit(rest)?;
        let withdrawn = withdrawn_pages(session).await?;
        let (mut vocabulary, mut batch, mut last) = (Vocabulary::default(), Batch::default(), 0);
        loop {
            let turns = turns_behind(session, last, AT_ONCE).await?;
            for turn in &turns {
                let verdicts = TurnVerdicts::read(&turn.body)?;
                let arriving = arriving_of(session, &verdicts.ranges()).await?;
                let facts = arriving.iter().filter_map(|arriving| match arriving {
                    Arriving::Page(page) => Some(page.facts.clone()),
                    Arriving::Withdrawal(_) => None,
                });
                let facts: Vec<_> = facts.collect();
                let decided = verdicts.of(arriving.into_iter().collect::<TurnArrivals>())?;
                let mut facts = decided.answers.iter().zip(facts).filter(|(answer, _)| !answer.redelivered);
                let numbered = (decided.first.0..).map(Sequence).zip(decided.pages);
                for (number, DecidedPage { input, verdict, least_weight }) in numbered {
                    let Some((_, facts)) = facts.next() else {
                        return Err(ClusterError::Damaged(format!("turn {} has a page too many", turn.number)));
                    };
                    let completed = self.pages.remove(&input.page);
                    let is_withdrawn = withdrawn.contains(&number);
                    self.gathered.withdrawn += u64::from(is_withdrawn);
                    self.gathered.uncompleted += u64::from(completed.is_none() && !is_withdrawn);
                    self.gathered.pages += 1;
                    let input = if is_withdrawn { without_content(input) } else { input };
                    let row = match completed {
                        Some(row) => row,
                        None => {
                            let url = match known(&facts.url) {
                                Some(url) => url,
                                None => self.add_url(&mut batch, &facts.url)?,
                            };
                            uncompleted_row(url, &input, facts.fetched)
                        }
                    };
                    let (terms, new_terms, order) = vocabulary.intern_page(input.terms, input.order)?;
                    batch.terms.extend(new_terms);
                    batch.pages.push(PageRow { verdict, terms, order, least_weight, ..row });
                }
                last = turn.number;
            }
            if batch.pages.len() >= PAGES || turns.is_empty() {
                batch.totals = totals.clone();
                self.commit(std::mem::take(&mut batch))?;
                told(self.gathered.pages);
            }
            if turns.is_empty() {
                return Ok(());
            }
        }
    }

    /// Adds the URL of a page that was never completed and whose discovery was not committed either.
    fn add_url(&self, batch: &mut Batch, url: &str) -> Result<UrlId, ClusterError> {
        let number = self.store.mark().urls as usize + batch.urls.len();
        let id = u32::try_from(number).map_err(|_| ClusterError::Folder("more than 2^32 URLs".to_owned()))?;
        let (discovery, state) = (Discovery::SEED, UrlState::Queued);
        batch.urls.push(UrlRow { url: url.to_owned(), discovery, state, clue: None });
        Ok(UrlId(id))
    }

    fn commit(&mut self, batch: Batch) -> Result<(), ClusterError> {
        tokio::task::block_in_place(|| self.store.commit(batch)).map(drop).map_err(ClusterError::folder)
    }
}

/// Returns the pages that turns have withdrawn.
async fn withdrawn_pages(session: &Session) -> Result<HashSet<Sequence>, ClusterError> {
    let (mut withdrawn, mut last) = (HashSet::<Sequence>::new(), 0);
    loop {
        let turns = turns_behind(session, last, AT_ONCE).await?;
        let Some(turn) = turns.last() else { return Ok(withdrawn) };
        last = turn.number;
        for turn in &turns {
            withdrawn.extend(TurnVerdicts::read(&turn.body)?.withdrawn());
        }
    }
}

/// Returns a page that left the index, as the folder has it: nothing is like it.
fn without_content(input: PageInput) -> PageInput {
    let body_digest = Digest::of(format!("withdrawn {}", input.page.0).as_bytes());
    let order = TermOrder::default();
    PageInput { body_digest, text_digest: None, terms: Vec::new(), order, ..input }
}

/// The row of a page that nobody has completed: it has no place in an archive and no links.
fn uncompleted_row(url: UrlId, input: &crate::model::PageInput, fetched_at: Option<i64>) -> PageRow {
    PageRow {
        url,
        page: input.page,
        group: input.group,
        fetched_at,
        body_digest: input.body_digest,
        text_digest: input.text_digest,
        verdict: crate::model::Verdict::Unique,
        terms: crate::model::PageTerms::default(),
        least_weight: 0,
        order: TermOrder::default(),
        links: Vec::new(),
        location: None,
        renews: None,
        kind: PageKind::default(),
        relevance: None,
    }
}

fn taken_pages((slot, entry): &mut (Slot, SlotEntry)) -> (Slot, String, Vec<PageRow>) {
    (*slot, entry.folder.clone(), std::mem::take(&mut entry.pages))
}
