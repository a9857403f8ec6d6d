//! Checks that the archives have the pages that the logs say.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::archive_files::{ArchiveFile, archive_files};
use super::connection::Session;
use super::error::ClusterError;
use super::revisions::renewal_name;
use super::sample::Sample;
use super::schema::CrawlRow;
use super::slot_log::SlotLogReader;
use ndcrawl_model::{PageId, WarcLocation};
use ndcrawl_store::{ExpectedRecord, WarcReader, wrong_digests};

/// Problems that are named. The others are counted.
const NAMED: usize = 100;

/// What a check of the archives has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchiveCheck {
    /// Archive files that were looked into.
    pub files: u64,
    /// Records that the logs name.
    pub records: u64,
    /// Of these, records that were read.
    pub checked: u64,
    /// Some of the problems, each with its place.
    pub problems: Vec<String>,
    /// All problems.
    pub problem_count: u64,
}

impl ArchiveCheck {
    fn problem(&mut self, text: String) {
        self.problem_count += 1;
        if self.problems.len() < NAMED {
            self.problems.push(text);
        }
    }
}

/// The records that are to be read in one file, by offset.
type Expected = BTreeMap<u64, ExpectedRecord>;

/// Checks the records that the logs of all slots name, as far as they are in the sample. `places` are folders in which to
/// look for the archives of workers, besides the places that these have told.
///
/// Cost: reads the logs of all slots and each record of the sample, with some 150 bytes of memory for one.
///
/// # Errors
/// [`ClusterError::Damaged`] if a log cannot be read. What is wrong with archives is in the result.
pub async fn check_archives(
    session: &Session,
    crawl: &CrawlRow,
    places: &[PathBuf],
    sample: Sample,
) -> Result<ArchiveCheck, ClusterError> {
    let mut check = ArchiveCheck::default();
    let mut expected = expected_records(session, crawl, sample, &mut check).await?;
    for file in archive_files(session).await? {
        let records = expected.remove(&(file.folder.clone(), file.serial)).unwrap_or_default();
        match file.find(places) {
            Ok(path) => tokio::task::block_in_place(|| check_file(&file, &path, &records, &mut check)),
            Err(error) => check.problem(error.to_string()),
        }
    }
    for ((folder, serial), records) in expected {
        check.problem(format!("{} of {folder} are in file {serial}, which no worker has told of", records.len()));
    }
    Ok(check)
}

async fn expected_records(
    session: &Session,
    crawl: &CrawlRow,
    sample: Sample,
    check: &mut ArchiveCheck,
) -> Result<HashMap<(String, u32), Expected>, ClusterError> {
    let mut expected: HashMap<(String, u32), Expected> = HashMap::new();
    let mut reader = SlotLogReader::new(session, crawl.slot_map().slots()).await?;
    loop {
        let commits = reader.next(session).await?;
        if commits.is_empty() {
            return Ok(expected);
        }
        for (_, entry) in commits.into_iter().flatten() {
            for page in entry.pages {
                let Some(WarcLocation { file, offset, length }) = page.location else { continue };
                check.records += 1;
                if !sample.has(&page.page.0.to_be_bytes()) {
                    continue;
                }
                let (name, is_unique) = (page.page, page.verdict.is_unique());
                let record = ExpectedRecord { page: name, body_digest: page.body_digest, is_unique, length };
                let records = expected.entry((entry.folder.clone(), file)).or_default();
                // A page that gave its place away has the record of its first decision.
                if records.get(&offset).is_some_and(|first| name == renewal_name(first.page)) {
                    continue;
                }
                if let Some(other) = records.insert(offset, record).filter(|other| other.page != name) {
                    let (one, other) = (hex(name), hex(other.page));
                    check.problem(format!("{}, file {file}: pages {one} and {other} are at one offset", entry.folder));
                }
            }
        }
    }
}

fn check_file(file: &ArchiveFile, path: &Path, records: &Expected, check: &mut ArchiveCheck) {
    check.files += 1;
    let shown = path.display();
    let opened = File::open(path).and_then(|opened| Ok((opened.metadata()?.len(), opened)));
    let mut opened = match opened {
        Ok((length, opened)) => {
            if length < file.bytes {
                check.problem(format!("{shown} has {length} bytes, and {} were committed", file.bytes));
            }
            opened
        }
        Err(error) => return check.problem(format!("{shown}: {error}")),
    };
    for (offset, expected) in records {
        check.checked += 1;
        for reason in wrong_at(&mut opened, *offset, file.bytes, expected) {
            check.problem(format!("{shown}, offset {offset}: {reason}, page {}", hex(expected.page)));
        }
    }
}

/// Returns what is wrong with the record at this offset.
fn wrong_at(file: &mut File, offset: u64, end: u64, expected: &ExpectedRecord) -> Vec<String> {
    if offset.saturating_add(expected.length) > end {
        return vec!["the record was never committed".to_owned()];
    }
    match read_at(file, offset, expected.length) {
        Err(error) => vec![error.to_string()],
        Ok(bytes) => match WarcReader::new(&bytes[..], offset).next() {
            None => vec!["there is no record".to_owned()],
            Some(Err(error)) => vec![error.reason],
            Some(Ok(record)) => {
                let mut wrong = wrong_digests(&record);
                wrong.extend(expected.agrees(&record, true).err().map(str::to_owned));
                wrong
            }
        },
    }
}

fn read_at(file: &mut File, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

fn hex(page: PageId) -> String {
    format!("{:032x}", page.0)
}
