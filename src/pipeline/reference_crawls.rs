//! Pages that earlier crawls have stored, to be compared with.
//!
//! A folder is read once, when a crawl is opened, and is free again before the first page is judged: other crawls
//! may go by it at the same time. Of each stored page the record, the digests, the URL and the time of fetch go into a
//! file without a name, which is gone when the program ends; bodies are not read. Its terms are numbered in the order
//! in which they come, before any term of the crawl itself, and stand first in the crawl's own log of terms: so the
//! numbers are the same at every opening.
//!
//! A detector that goes by what is known of a host learns from these pages too, in their order, as from unique pages
//! that arrived before the first one here.

use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::detect::{Decider, LoggedPage, RecordSource, Vocabulary};
use crate::model::{Digest, PageId, PageRow, PageTerms, TermId, TermOrder, TermRow};
use crate::store::{Error as StoreError, StoreReader};

use super::PipelineError;

/// Another crawl that begins may be reading the folder; one that runs there takes longer.
const PATIENCE: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(100);
const CACHE_BYTES: u64 = 16 * 1024 * 1024;

/// What earlier crawls have stored.
pub struct Against {
    folders: Vec<Folder>,
    vocabulary: Vocabulary,
    /// Where each page ends in the file.
    ends: Vec<u64>,
    file: Mutex<File>,
}

struct Folder {
    name: String,
    crawl: String,
    /// Pages that it had judged when it was read.
    judged: u32,
}

/// What is told of a page that is repeated.
pub(crate) struct EarlierPage {
    /// As it was fetched.
    pub url: String,
    /// When, milliseconds since 1970 UTC.
    pub fetched_at: i64,
    /// In which folder it stands, as that was named.
    pub folder: String,
}

/// A page in the file.
#[derive(Serialize, Deserialize)]
struct Row {
    folder: u32,
    url: String,
    fetched_at: i64,
    page: PageId,
    body_digest: Digest,
    text_digest: Option<Digest>,
    group: u32,
    terms: PageTerms,
    least_weight: u32,
    order: TermOrder,
}

/// Why an earlier crawl cannot be compared with.
#[derive(Debug, thiserror::Error)]
pub enum AgainstError {
    /// Its folder cannot be read.
    #[error("{}: pages of it cannot be compared with: {source}", folder.display())]
    Store {
        /// The folder.
        folder: PathBuf,
        /// Why.
        source: StoreError,
    },
    /// Its records were made in another way.
    #[error("{}: its pages were rendered differently ({theirs}; here: {ours}), so that they cannot be compared", folder.display())]
    Rendering {
        /// The folder.
        folder: PathBuf,
        /// How its records were made.
        theirs: String,
        /// How ours are made.
        ours: String,
    },
    /// Its detector sees other terms of a page.
    #[error("{}: the crawl in it has {key} = {was}, this one {is}: their records cannot be compared", folder.display())]
    Setting {
        /// The folder.
        folder: PathBuf,
        /// The setting.
        key: String,
        /// There.
        was: String,
        /// Here.
        is: String,
    },
    /// The file for the records.
    #[error("the records of earlier crawls cannot be kept in a temporary file: {0}")]
    Spool(#[from] std::io::Error),
    /// The crawl was begun with other pages.
    #[error("the pages of earlier crawls are not those with which this crawl was begun")]
    Changed,
}

impl Against {
    /// Reads what these folders hold, in this order. Their rendering must be `rendering`, and `differs` names a
    /// setting of a folder's fingerprint that stands in the way: key, value there, value here. Cost: reads their
    /// whole logs.
    ///
    /// # Errors
    /// If a folder holds no crawl, or one whose records cannot be compared, is in use, or is damaged.
    pub fn read(
        folders: &[PathBuf],
        rendering: &str,
        differs: impl Fn(&str) -> Option<(String, String, String)>,
    ) -> Result<Self, PipelineError> {
        let spool = |error: std::io::Error| PipelineError::from(AgainstError::from(error));
        let mut writer = Writer {
            vocabulary: Vocabulary::default(),
            out: BufWriter::new(tempfile::tempfile().map_err(spool)?),
            ends: Vec::new(),
        };
        let mut read = Vec::new();
        for folder in folders {
            let failed = |source| AgainstError::Store { folder: folder.clone(), source };
            let (reader, opened) = open(folder).map_err(failed)?;
            let theirs = opened.identity.rendering;
            if theirs != rendering {
                return Err(
                    AgainstError::Rendering { folder: folder.clone(), theirs, ours: rendering.to_owned() }.into()
                );
            }
            if let Some((key, was, is)) = differs(&opened.identity.fingerprint) {
                return Err(AgainstError::Setting { folder: folder.clone(), key, was, is }.into());
            }
            writer.take(read.len() as u32, &reader).map_err(|error| match error {
                PipelineError::Store(source) => failed(source).into(),
                other => other,
            })?;
            let name = folder.display().to_string();
            read.push(Folder { name, crawl: opened.identity.crawl, judged: opened.mark.pages });
        }
        let file = writer.out.into_inner().map_err(|error| spool(error.into_error()))?;
        Ok(Self { folders: read, vocabulary: writer.vocabulary, ends: writer.ends, file: Mutex::new(file) })
    }

    /// Which pages these are: the same as long as the folders are the same, in the same order, and nothing was
    /// crawled into them.
    pub fn signature(&self) -> String {
        let folders: Vec<String> =
            self.folders.iter().map(|folder| format!("{} ({} pages)", folder.crawl, folder.judged)).collect();
        folders.join(", ")
    }

    /// How many pages there are.
    pub fn len(&self) -> u32 {
        self.ends.len() as u32
    }

    /// Whether none of the folders has any.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The terms, in the order of their numbers.
    pub(super) fn terms(&self) -> impl Iterator<Item = TermRow> + '_ {
        (0..self.vocabulary.len()).filter_map(|id| self.vocabulary.term(TermId(id as u32)).map(Into::into))
    }

    /// Has all pages taken in by a decider that knows the terms.
    pub(super) fn seed<S: RecordSource>(&self, decider: &mut Decider<S>) -> Result<(), PipelineError> {
        for number in 0..self.len() {
            let row = self.row(number)?;
            let (page, body_digest, text_digest) = (row.page, row.body_digest, row.text_digest);
            decider.seed(page, body_digest, text_digest, row.logged())?;
        }
        Ok(())
    }

    /// What is logged of a page.
    pub(super) fn logged(&self, number: u32) -> Result<LoggedPage, AgainstError> {
        self.row(number).map(Row::logged)
    }

    /// Where a page stands and what its address is.
    pub(crate) fn page(&self, number: u32) -> Result<EarlierPage, AgainstError> {
        let Row { folder, url, fetched_at, .. } = self.row(number)?;
        let folder = self.folders.get(folder as usize).map(|folder| folder.name.clone()).unwrap_or_default();
        Ok(EarlierPage { url, fetched_at, folder })
    }

    fn row(&self, number: u32) -> Result<Row, AgainstError> {
        let place = number as usize;
        let end = *self.ends.get(place).ok_or(AgainstError::Changed)?;
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        let mut bytes = vec![0; (end - start) as usize];
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut bytes)?;
        postcard::from_bytes(&bytes).map_err(|error| AgainstError::Spool(std::io::Error::other(error)))
    }
}

impl Row {
    fn logged(self) -> LoggedPage {
        let Self { group, terms, least_weight, order, .. } = self;
        LoggedPage { group, terms, least_weight, order }
    }
}

/// Waits for a crawl that reads the folder just now.
fn open(folder: &Path) -> Result<(StoreReader, crate::store::OpenedStore), StoreError> {
    let began = Instant::now();
    loop {
        match StoreReader::open(folder, CACHE_BYTES) {
            Err(StoreError::InUse { .. }) if began.elapsed() < PATIENCE => std::thread::sleep(PAUSE),
            opened => return opened,
        }
    }
}

/// Writes the pages of one folder after the other.
struct Writer {
    vocabulary: Vocabulary,
    out: BufWriter<File>,
    ends: Vec<u64>,
}

impl Writer {
    fn take(&mut self, folder: u32, reader: &StoreReader) -> Result<(), PipelineError> {
        let names: Vec<TermRow> = reader.all_terms()?.map(|row| Ok(row?.1)).collect::<Result<_, StoreError>>()?;
        for row in reader.all_pages()? {
            let (_, row) = row?;
            if row.verdict.is_unique() {
                let url = reader.url(row.url)?.ok_or(PipelineError::Lost { what: "URL", id: row.url.0 })?.url;
                let row = self.renumbered(folder, url, row, &names)?;
                let bytes =
                    postcard::to_stdvec(&row).map_err(|error| AgainstError::Spool(std::io::Error::other(error)))?;
                self.out.write_all(&bytes).map_err(AgainstError::from)?;
                let end = self.ends.last().copied().unwrap_or(0) + bytes.len() as u64;
                self.ends.push(end);
            }
        }
        Ok(())
    }

    /// The page, its terms by our numbers.
    fn renumbered(&mut self, folder: u32, url: String, row: PageRow, names: &[TermRow]) -> Result<Row, PipelineError> {
        let mut known = |term: TermId| {
            let name = names.get(term.index()).ok_or(PipelineError::Lost { what: "term", id: term.0 })?;
            Ok::<_, PipelineError>(self.vocabulary.intern(name)?.0)
        };
        let PageRow { fetched_at, page, body_digest, text_digest, group, least_weight, mut order, .. } = row;
        let mut terms = Vec::with_capacity(row.terms.len());
        for (term, counts) in row.terms.iter() {
            terms.push((known(term)?, counts));
        }
        let terms = PageTerms::new(terms);
        for term in order.sentences.iter_mut().flatten() {
            *term = known(TermId(*term))?.0;
        }
        Ok(Row { folder, url, fetched_at, page, body_digest, text_digest, group, terms, least_weight, order })
    }
}

/// Whether a term of a crawl's own log is the one that these numbers begin with.
pub(super) fn is_begun_with(against: &Against, id: TermId, term: &str) -> bool {
    id.index() >= against.vocabulary.len() || against.vocabulary.term(id) == Some(term)
}
