//! The stored pages of earlier crawls, with which a run compares its own pages (`--against`).
//!
//! Each folder is read once, when a run opens, and is free again before the first page is decided. So several runs
//! can use the same folder. Record, digests, URL, fetch time and links of each stored page go into an unnamed temporary
//! file, which the system deletes when the program ends. Bodies are not read.
//!
//! The terms of these pages get the first numbers, in the order of the pages, and stand first in the run's own log
//! of terms. So the numbers are the same each time the run is opened. A detector that learns from a host's pages
//! learns from these pages too, as from unique pages that came before the run's first page.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use ndcrawl_model::{
    Digest, PageId, PageRow, PageTerms, Sequence, TermId, TermOrder, TermRow, UrlRow, split_capture_key,
};
use ndcrawl_store::{Error as StoreError, StoreReader};
use neardup::detect::{Decider, LoggedPage, RecordSource, Vocabulary, Withdrawals};

use super::PipelineError;

/// How long to wait for another process that reads the folder. A crawl that runs there takes longer.
const PATIENCE: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(100);
const CACHE_BYTES: u64 = 16 * 1024 * 1024;

/// The stored pages of earlier crawls.
pub struct ReferenceCrawls {
    folders: Vec<ReferenceFolder>,
    vocabulary: Vocabulary,
    /// The end of each page in the file.
    ends: Vec<u64>,
    file: Mutex<File>,
}

struct ReferenceFolder {
    name: String,
    crawl: String,
    /// Pages that the crawl had decided when it was read.
    judged: u32,
    /// Of these, those that it stored.
    stored: u32,
}

/// The facts about a stored page that its duplicate's line names.
pub(super) struct ReferencePage {
    /// The URL as it was fetched.
    pub url: String,
    /// Fetch time, milliseconds since 1970 UTC.
    pub fetched_at: Option<i64>,
    /// The folder, as the user named it.
    pub folder: String,
    /// [Hashes](link_hash) of its links, ascending.
    pub links: Vec<u32>,
}

/// A page in the temporary file.
#[derive(Serialize, Deserialize)]
struct SpooledPage {
    folder: u32,
    url: String,
    fetched_at: Option<i64>,
    page: PageId,
    body_digest: Digest,
    text_digest: Option<Digest>,
    group: u32,
    terms: PageTerms,
    least_weight: u32,
    order: TermOrder,
    /// [Hashes](link_hash) of the links, ascending.
    links: Vec<u32>,
}

/// Why pages cannot be compared with an earlier crawl.
#[derive(Debug, thiserror::Error)]
pub enum ReferenceCrawlsError {
    /// The folder cannot be read.
    #[error("{}: cannot read the pages to compare with: {source}", folder.display())]
    Store {
        /// The folder.
        folder: PathBuf,
        /// The store's reason.
        source: StoreError,
    },
    /// The crawl rendered its pages with other options.
    #[error("{}: cannot compare with its pages, because they were rendered differently ({theirs}; here: {ours})", folder.display())]
    Rendering {
        /// The folder.
        folder: PathBuf,
        /// The rendering there.
        theirs: String,
        /// The rendering here.
        ours: String,
    },
    /// A setting of its detector differs.
    #[error("{}: cannot compare with its pages, because that crawl has {key} = {was} and this one has {is}", folder.display())]
    Setting {
        /// The folder.
        folder: PathBuf,
        /// The setting.
        key: String,
        /// The value there.
        was: String,
        /// The value here.
        is: String,
    },
    /// The temporary file failed.
    #[error(
        "cannot keep the records of earlier crawls in a temporary file: {0}; free some space or set TMPDIR to another folder"
    )]
    Spool(#[from] std::io::Error),
    /// The run was started with other pages.
    #[error("the pages of earlier crawls are not the pages with which this crawl was started")]
    Changed,
}

impl ReferenceCrawls {
    /// Reads the stored pages of these folders, in this order. Cost: reads their whole logs.
    ///
    /// Their rendering must be `rendering`. `differs` takes a folder's fingerprint and returns a setting that
    /// prevents the comparison: key, value there, value here.
    ///
    /// # Errors
    /// If a folder holds no crawl, is in use or damaged, or holds records that cannot be compared.
    pub fn read(
        folders: &[PathBuf],
        rendering: &str,
        differs: impl Fn(&str) -> Option<(String, String, String)>,
    ) -> Result<Self, PipelineError> {
        let spool = |error: std::io::Error| PipelineError::from(ReferenceCrawlsError::from(error));
        let mut writer = SpoolWriter {
            vocabulary: Vocabulary::default(),
            out: BufWriter::new(tempfile::tempfile().map_err(spool)?),
            ends: Vec::new(),
        };
        let mut read = Vec::new();
        for folder in folders {
            let failed = |source| ReferenceCrawlsError::Store { folder: folder.clone(), source };
            let (reader, opened) = open(folder).map_err(failed)?;
            let theirs = opened.identity.rendering;
            if theirs != rendering {
                return Err(ReferenceCrawlsError::Rendering {
                    folder: folder.clone(),
                    theirs,
                    ours: rendering.to_owned(),
                }
                .into());
            }
            if let Some((key, was, is)) = differs(&opened.identity.fingerprint) {
                return Err(ReferenceCrawlsError::Setting { folder: folder.clone(), key, was, is }.into());
            }
            let before = writer.ends.len();
            writer.take(read.len() as u32, &reader).map_err(|error| match error {
                PipelineError::Store(source) => failed(source).into(),
                other => other,
            })?;
            let name = folder.display().to_string();
            let stored = (writer.ends.len() - before) as u32;
            read.push(ReferenceFolder { name, crawl: opened.identity.crawl, judged: opened.mark.pages, stored });
        }
        let file = writer.out.into_inner().map_err(|error| spool(error.into_error()))?;
        Ok(Self { folders: read, vocabulary: writer.vocabulary, ends: writer.ends, file: Mutex::new(file) })
    }

    /// Returns a text that names these pages: it changes with the folders, their order and their number of pages.
    pub fn signature(&self) -> String {
        let folders: Vec<String> =
            self.folders.iter().map(|folder| format!("{} ({} pages)", folder.crawl, folder.judged)).collect();
        folders.join(", ")
    }

    /// Returns the number of pages.
    pub fn len(&self) -> u32 {
        self.ends.len() as u32
    }

    /// Returns the number of pages of the first folder, which are the first pages.
    pub(super) fn pages_of_first(&self) -> u32 {
        self.folders.first().map_or(0, |folder| folder.stored)
    }

    /// Returns whether there are no pages.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the terms in the order of their numbers.
    pub(super) fn terms(&self) -> impl Iterator<Item = TermRow> + '_ {
        (0..self.vocabulary.len()).filter_map(|id| self.vocabulary.term(TermId(id as u32)).map(Into::into))
    }

    /// Adds all pages to a decider that knows the terms.
    pub(super) fn seed<S: RecordSource>(&self, decider: &mut Decider<S>) -> Result<(), PipelineError> {
        for number in 0..self.len() {
            let row = self.row(number)?;
            let (page, body_digest, text_digest) = (row.page, row.body_digest, row.text_digest);
            decider.seed(page, body_digest, text_digest, row.logged())?;
        }
        Ok(())
    }

    /// Returns the record of a page.
    pub(super) fn logged(&self, number: u32) -> Result<LoggedPage, ReferenceCrawlsError> {
        self.row(number).map(SpooledPage::logged)
    }

    /// Returns folder, URL, fetch time and links of a page.
    pub(super) fn page(&self, number: u32) -> Result<ReferencePage, ReferenceCrawlsError> {
        let SpooledPage { folder, url, fetched_at, links, .. } = self.row(number)?;
        let folder = self.folders.get(folder as usize).map(|folder| folder.name.clone()).unwrap_or_default();
        Ok(ReferencePage { url, fetched_at, folder, links })
    }

    fn row(&self, number: u32) -> Result<SpooledPage, ReferenceCrawlsError> {
        let place = number as usize;
        let end = *self.ends.get(place).ok_or(ReferenceCrawlsError::Changed)?;
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        let mut bytes = vec![0; (end - start) as usize];
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut bytes)?;
        postcard::from_bytes(&bytes).map_err(|error| ReferenceCrawlsError::Spool(std::io::Error::other(error)))
    }
}

impl SpooledPage {
    fn logged(self) -> LoggedPage {
        let Self { group, terms, least_weight, order, .. } = self;
        LoggedPage { group, terms, least_weight, order }
    }
}

/// Waits for a crawl that reads the folder just now.
fn open(folder: &Path) -> Result<(StoreReader, ndcrawl_store::OpenedStore), StoreError> {
    let began = Instant::now();
    loop {
        match StoreReader::open(folder, CACHE_BYTES) {
            Err(StoreError::InUse { .. }) if began.elapsed() < PATIENCE => std::thread::sleep(PAUSE),
            opened => return opened,
        }
    }
}

/// Returns the stored pages that gave their place to others. Cost: a pass over the log, if any page was revised.
fn displaced_pages(reader: &StoreReader) -> Result<HashSet<Sequence>, PipelineError> {
    let mut displaced = HashSet::new();
    if reader.mark().totals.revised > 0 {
        let mut withdrawals = Withdrawals::default();
        for row in reader.all_pages()? {
            displaced.extend(withdrawals.add(&row?.1.judged()));
        }
    }
    Ok(displaced)
}

/// Writes the pages of the folders to the temporary file.
struct SpoolWriter {
    vocabulary: Vocabulary,
    out: BufWriter<File>,
    ends: Vec<u64>,
}

impl SpoolWriter {
    fn take(&mut self, folder: u32, reader: &StoreReader) -> Result<(), PipelineError> {
        let names: Vec<TermRow> = reader.all_terms()?.map(|row| Ok(row?.1)).collect::<Result<_, StoreError>>()?;
        let hash = |row: Result<(_, UrlRow), StoreError>| row.map(|(_, row)| link_hash(&row.url));
        let hashes: Vec<u32> = reader.all_urls()?.map(hash).collect::<Result<_, StoreError>>()?;
        let displaced = displaced_pages(reader)?;
        for row in reader.all_pages()? {
            let (number, row) = row?;
            if row.verdict.is_unique() && !displaced.contains(&number) {
                let named = reader.url(row.url)?.ok_or(PipelineError::Lost { what: "URL", id: row.url.0 })?;
                let url = split_capture_key(&named.url).0.to_owned();
                let mut links: Vec<u32> = row.links.iter().filter_map(|id| hashes.get(id.index())).copied().collect();
                links.sort_unstable();
                links.dedup();
                let (terms, order) = self.renumbered(&row, &names)?;
                let PageRow { fetched_at, page, body_digest, text_digest, group, least_weight, .. } = row;
                let row = SpooledPage {
                    folder,
                    url,
                    fetched_at,
                    page,
                    body_digest,
                    text_digest,
                    group,
                    terms,
                    least_weight,
                    order,
                    links,
                };
                let bytes = postcard::to_stdvec(&row)
                    .map_err(|error| ReferenceCrawlsError::Spool(std::io::Error::other(error)))?;
                self.out.write_all(&bytes).map_err(ReferenceCrawlsError::from)?;
                let end = self.ends.last().copied().unwrap_or(0) + bytes.len() as u64;
                self.ends.push(end);
            }
        }
        Ok(())
    }

    /// Returns terms and order of a page, with our term numbers in place of the folder's.
    fn renumbered(&mut self, row: &PageRow, names: &[TermRow]) -> Result<(PageTerms, TermOrder), PipelineError> {
        let mut known = |term: TermId| {
            let name = names.get(term.index()).ok_or(PipelineError::Lost { what: "term", id: term.0 })?;
            Ok::<_, PipelineError>(self.vocabulary.intern(name)?.0)
        };
        let mut terms = Vec::with_capacity(row.terms.len());
        for (term, counts) in row.terms.iter() {
            terms.push((known(term)?, counts));
        }
        let mut order = row.order.clone();
        for term in order.sentences.iter_mut().flatten() {
            *term = known(TermId(*term))?.0;
        }
        Ok((PageTerms::new(terms), order))
    }
}

/// Returns the hash by which a link of an earlier crawl's page is known. A page has few links, so that 32 bits tell them
/// apart.
pub fn link_hash(url: &str) -> u32 {
    xxh3_64(url.as_bytes()) as u32
}

/// Returns whether a term of a run's own log has the same number in the earlier crawls, if it has one there.
pub(super) fn has_same_term(against: &ReferenceCrawls, id: TermId, term: &str) -> bool {
    id.index() >= against.vocabulary.len() || against.vocabulary.term(id) == Some(term)
}
