//! Checks that an output folder is complete and consistent.
//!
//! Reads the whole folder as of its last commit and changes nothing. Data above the last commit, left by a crash, is
//! no problem: resuming removes it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use serde::Deserialize;
use xxhash_rust::xxh3::xxh3_128;

use ndcrawl_model::{
    EarlierVerdict, LinkKind, OutcomeKind, PageRow, Sequence, UrlId, UrlState, WarcLocation, capture_key, shown_url,
};

use super::commit_marker::CommitMarker;
use super::crawl_file::read_json_file;
use super::error::{Error, Result};
use super::folder::OutputFolder;
use super::generations::CrawlVersion;
use super::reader::{DoneRow, StoreReader};
use super::record_check::{ExpectedRecord, wrong_digests};
use super::warc_files;
use super::warc_reader::{WarcReader, WarcRecord};

/// Most problems that are listed. The others are counted.
const MOST_PROBLEMS: usize = 100;

const CACHE_BYTES: u64 = 64 * 1024 * 1024;

/// Numbers of checked items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct CheckedCounts {
    pub urls: u64,
    pub terms: u64,
    pub pages: u64,
    pub outcomes: u64,
    pub hosts: u64,
    pub page_lines: u64,
    pub error_lines: u64,
    pub warc_files: u64,
    pub warc_records: u64,
}

/// Result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Numbers of checked items.
    pub checked: CheckedCounts,
    /// The first problems, each with its place.
    pub problems: Vec<String>,
    /// Number of all problems, listed or not.
    pub problem_count: u64,
}

impl VerifyReport {
    /// Whether there is no problem.
    pub fn is_sound(&self) -> bool {
        self.problem_count == 0
    }

    fn problem(&mut self, text: impl Into<String>) {
        self.problem_count += 1;
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(text.into());
        }
    }

    /// Returns the value, or records its error as a problem.
    fn noted<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.problem(error.to_string())).ok()
    }
}

/// Checks the folder of a crawl that is not running.
///
/// # Errors
/// [`Error::NotACrawl`], [`Error::InUse`], [`Error::Rebuilding`], [`Error::Format`], and [`Error::Corrupt`] if the last
/// commit is unreadable. Everything else is a problem in the report.
pub fn verify(folder: &Path) -> Result<VerifyReport> {
    let (reader, opened) = StoreReader::open(folder, CACHE_BYTES)?;
    let mut verifier = Verifier {
        first_warc: CrawlVersion::last(folder)?.map_or(0, |generation| generation.next_warc),
        folder: OutputFolder::new(folder),
        reader,
        mark: opened.mark,
        report: VerifyReport::default(),
        ids: HashMap::new(),
        elsewhere: HashSet::new(),
        outcomes: Vec::new(),
        revised: HashSet::new(),
        last_lines: HashMap::new(),
        pages: HashMap::new(),
    };
    let witnessed = CommitMarker::of(&verifier.folder.store()).check(verifier.mark.number);
    verifier.report.noted(witnessed);
    for name in ["crawl.json", "status.json"] {
        verifier.report.noted(read_json_file(&folder.join(name)));
    }
    verifier.urls()?;
    verifier.terms()?;
    verifier.done()?;
    verifier.pages()?;
    verifier.hosts()?;
    verifier.page_lines();
    verifier.error_lines();
    verifier.archive();
    Ok(verifier.report)
}

struct Verifier {
    folder: OutputFolder,
    /// The first WARC file of this generation. Unchanged pages may refer to earlier files.
    first_warc: u32,
    reader: StoreReader,
    mark: ndcrawl_model::CommitMark,
    report: VerifyReport,
    /// The number of each URL, by the URL's hash.
    ids: HashMap<u128, UrlId>,
    /// URLs that have their outcomes in other slots.
    elsewhere: HashSet<UrlId>,
    /// The outcome of each URL, by number.
    outcomes: Vec<Option<OutcomeKind>>,
    /// URLs with a revised outcome.
    revised: HashSet<UrlId>,
    /// The last line of each of these, and its number, before the crawl has ended.
    last_lines: HashMap<UrlId, (u64, Line)>,
    /// The expected record at each location of the archive.
    pages: HashMap<(u32, u64), (Sequence, ExpectedRecord)>,
}

/// The checked fields of a line.
#[derive(Deserialize)]
struct Line {
    url: String,
    capture: Option<u32>,
    outcome: OutcomeKind,
    duplicate_of: Option<String>,
    revised: Option<EarlierVerdict>,
}

impl Verifier {
    fn urls(&mut self) -> Result<()> {
        for row in self.reader.all_urls()? {
            let Some((id, row)) = self.report.noted(row) else { continue };
            self.report.checked.urls += 1;
            if matches!(row.state, UrlState::Elsewhere(_)) {
                self.elsewhere.insert(id);
            }
            if let Some(other) = self.ids.insert(xxh3_128(shown_url(&row.url).as_bytes()), id) {
                self.report.problem(format!("URL {id} is URL {other} again: {}", row.url));
            }
        }
        self.outcomes = vec![None; self.mark.urls as usize];
        Ok(())
    }

    fn terms(&mut self) -> Result<()> {
        for row in self.reader.all_terms()? {
            self.report.checked.terms += u64::from(self.report.noted(row).is_some());
        }
        Ok(())
    }

    fn done(&mut self) -> Result<()> {
        let mut queued_again = HashSet::new();
        for row in self.reader.all_done()? {
            let row = match self.report.noted(row) {
                Some(DoneRow::Outcome(row)) => row,
                Some(DoneRow::Requeued(path)) if path.discovery.kind == LinkKind::Revision => {
                    queued_again.insert(path.url);
                    continue;
                }
                _ => continue,
            };
            self.report.checked.outcomes += 1;
            match self.outcomes.get_mut(row.url.index()) {
                Some(None) if self.elsewhere.contains(&row.url) => {
                    self.report.problem(format!("URL {} has an outcome and belongs to another slot", row.url));
                }
                Some(outcome @ None) => *outcome = Some(row.kind),
                Some(outcome @ Some(_)) if queued_again.remove(&row.url) => {
                    *outcome = Some(row.kind);
                    self.revised.insert(row.url);
                }
                Some(Some(_)) => self.report.problem(format!("URL {} has two outcomes", row.url)),
                None => self.report.problem(format!("URL {} has an outcome and is not in the log", row.url)),
            }
        }
        let mut counted: BTreeMap<OutcomeKind, u64> = BTreeMap::new();
        self.outcomes.iter().flatten().for_each(|kind| *counted.entry(*kind).or_default() += 1);
        let said = |kind| self.mark.totals.outcomes.get(&kind).copied().unwrap_or_default();
        // The log has no row for a deferred URL.
        for kind in OutcomeKind::ALL.into_iter().filter(|kind| *kind != OutcomeKind::Deferred) {
            let count = counted.get(&kind).copied().unwrap_or_default();
            if count != said(kind) {
                let (name, said) = (kind.name(), said(kind));
                self.report.problem(format!("{count} URLs have the outcome {name}, the totals say {said}"));
            }
        }
        Ok(())
    }

    fn pages(&mut self) -> Result<()> {
        let mut unique = vec![false; self.mark.pages as usize];
        for row in self.reader.all_pages()? {
            let Some((sequence, row)) = self.report.noted(row) else { continue };
            self.report.checked.pages += 1;
            unique[sequence.index()] = row.verdict.is_unique();
            // Pages of an earlier crawl are not in this log.
            if let Some(of) = row.verdict.duplicate_of().filter(|of| of.as_earlier().is_none())
                && (of >= sequence || !unique[of.index()])
            {
                self.report.problem(format!("page {sequence} repeats page {of}, which is not a stored page before it"));
            }
            if row.url.0 >= self.mark.urls {
                self.report.problem(format!("page {sequence} has URL {}, which is not in the log", row.url));
            }
            self.expect(sequence, &row);
        }
        Ok(())
    }

    fn expect(&mut self, sequence: Sequence, row: &PageRow) {
        let Some(WarcLocation { file, offset, length }) = row.location else { return };
        let (page, body_digest, is_unique) = (row.page, row.body_digest, row.verdict.is_unique());
        let expected = (sequence, ExpectedRecord { page, body_digest, is_unique, length });
        // A page that was decided again without being fetched has the record of its first decision.
        if let Some((last, _)) = self.pages.get_mut(&(file, offset)).filter(|(last, _)| row.renews == Some(*last)) {
            *last = sequence;
            return;
        }
        if let Some((other, _)) = self.pages.insert((file, offset), expected) {
            self.report.problem(format!("pages {other} and {sequence} have the same place in the archive"));
        }
    }

    fn hosts(&mut self) -> Result<()> {
        for row in self.reader.all_hosts()? {
            self.report.checked.hosts += u64::from(self.report.noted(row).is_some());
        }
        Ok(())
    }

    fn page_lines(&mut self) {
        let (path, length) = (self.folder.pages_as_of(self.mark.number), self.mark.page_line_bytes);
        let end = self.mark.finished.unwrap_or(length);
        let mut seen = vec![false; self.outcomes.len()];
        let mut position = 0;
        for line in lines(&path, length, &mut self.report) {
            self.report.checked.page_lines += 1;
            self.page_line(&line, position >= end, &mut seen);
            position += line.len() as u64 + 1;
        }
        for (id, (number, line)) in std::mem::take(&mut self.last_lines) {
            self.check_line(number, id, &line, false, &mut seen);
        }
        let finished = self.mark.finished.is_some();
        for (id, (seen, outcome)) in seen.iter().zip(&self.outcomes).enumerate() {
            let is_elsewhere = self.elsewhere.contains(&UrlId(id as u32));
            if !seen && !is_elsewhere && (finished || outcome.is_some()) {
                self.report.problem(format!("URL {id} has no line in pages.jsonl"));
            }
        }
    }

    fn page_line(&mut self, text: &[u8], is_unfetched: bool, seen: &mut [bool]) {
        let number = self.report.checked.page_lines;
        let line: Line = match serde_json::from_slice(text) {
            Ok(line) => line,
            Err(error) => return self.report.problem(format!("pages.jsonl, line {number}: {error}")),
        };
        let key = capture_key(&line.url, line.capture.unwrap_or(1));
        let Some(id) = self.ids.get(&xxh3_128(key.as_bytes())).copied() else {
            return self.report.problem(format!("pages.jsonl, line {number}: {} is not in the log", line.url));
        };
        if self.revised.contains(&id) && self.mark.finished.is_none() {
            // The superseded lines stay until the crawl ends.
            if line.revised.is_some() {
                self.last_lines.insert(id, (number, line));
            }
            return;
        }
        self.check_line(number, id, &line, is_unfetched, seen);
    }

    fn check_line(&mut self, number: u64, id: UrlId, line: &Line, is_unfetched: bool, seen: &mut [bool]) {
        if self.elsewhere.contains(&id) {
            self.report.problem(format!("pages.jsonl, line {number}: {} belongs to another slot", line.url));
        }
        if std::mem::replace(&mut seen[id.index()], true) {
            self.report.problem(format!("pages.jsonl, line {number}: a second line for {}", line.url));
        }
        let outcome = self.outcomes[id.index()];
        let agrees = match outcome {
            Some(kind) => !is_unfetched && kind == line.outcome,
            None => is_unfetched && UNFETCHED.contains(&line.outcome),
        };
        if !agrees {
            let said = outcome.map_or("none", OutcomeKind::name);
            self.report.problem(format!("pages.jsonl, line {number}: {}, the log says {said}", line.outcome.name()));
        }
        if line.outcome == OutcomeKind::PredictedDuplicate
            && let Err(reason) = self.check_prediction(line.duplicate_of.as_deref())
        {
            self.report.problem(format!("pages.jsonl, line {number}: {} is predicted to repeat {reason}", line.url));
        }
    }

    /// Checks that the original of a predicted duplicate is stored. Only the line names it: the log has no row of a page
    /// that was not fetched.
    fn check_prediction(&self, of: Option<&str>) -> Result<(), String> {
        let Some(of) = of else { return Err("no page".to_owned()) };
        let Some(id) = self.ids.get(&xxh3_128(of.as_bytes())) else {
            return Err(format!("{of}, which is not in the log"));
        };
        match self.outcomes[id.index()] {
            Some(kind) if kind.is_kept() => Ok(()),
            Some(kind) => Err(format!("{of}, which is no stored page: the log says {}", kind.name())),
            None => Err(format!("{of}, which is no stored page: the log has no outcome of it")),
        }
    }

    fn error_lines(&mut self) {
        for line in lines(&self.folder.errors(), self.mark.error_line_bytes, &mut self.report) {
            self.report.checked.error_lines += 1;
            if let Err(error) = serde_json::from_slice::<serde_json::Value>(&line) {
                let number = self.report.checked.error_lines;
                self.report.problem(format!("errors.jsonl, line {number}: {error}"));
            }
        }
    }

    fn archive(&mut self) {
        let files = self.report.noted(warc_files::list(&self.folder.warc())).unwrap_or_default();
        let mut ids = HashSet::new();
        let mut revisited = Vec::new();
        for (serial, name) in files {
            let length = match serial.cmp(&self.mark.warc_file) {
                std::cmp::Ordering::Less => u64::MAX,
                std::cmp::Ordering::Equal => self.mark.warc_bytes,
                std::cmp::Ordering::Greater => continue,
            };
            self.report.checked.warc_files += 1;
            let path = self.folder.warc().join(&name);
            let mut next = Some(0);
            while let Some(begin) = next {
                let opened = from(&path, begin).map_err(|e| Error::io("read", &path, e));
                next = None;
                let Some(file) = self.report.noted(opened) else { continue };
                for record in WarcReader::new(file.take(length.saturating_sub(begin)), begin) {
                    match record {
                        Ok(record) => self.record(serial, &name, &record, &mut ids, &mut revisited),
                        Err(error) => {
                            next = self.page_behind(serial, error.offset);
                            self.report.problem(format!("warc/{name}, {error}"));
                        }
                    }
                }
            }
        }
        for (place, original) in revisited {
            if !ids.contains(&original) {
                self.report.problem(format!("{place}: the record that it refers to is not in the archive"));
            }
        }
        let mut missing: Vec<_> = self.pages.iter().map(|(place, (page, _))| (*page, *place)).collect();
        missing.sort();
        for (sequence, (file, offset)) in missing {
            self.report.problem(format!("page {sequence} has no record in WARC file {file:05} at offset {offset}"));
        }
    }

    /// Returns the offset of the next page after an unreadable record, whose length is unknown.
    fn page_behind(&self, serial: u32, offset: u64) -> Option<u64> {
        let behind = self.pages.keys().filter(|(file, at)| *file == serial && *at > offset);
        behind.map(|(_, at)| *at).min()
    }

    fn record(
        &mut self,
        serial: u32,
        name: &str,
        record: &WarcRecord,
        ids: &mut HashSet<u128>,
        revisited: &mut Vec<(String, u128)>,
    ) {
        self.report.checked.warc_records += 1;
        let place = format!("warc/{name}, offset {}", record.offset);
        for reason in wrong_digests(record) {
            self.report.problem(format!("{place}: {reason}"));
        }
        let id = record.field("WARC-Record-ID").unwrap_or_default();
        if !ids.insert(xxh3_128(id.as_bytes())) {
            self.report.problem(format!("{place}: {id} is there twice"));
        }
        if let Some(original) = record.field("WARC-Refers-To") {
            revisited.push((place.clone(), xxh3_128(original.as_bytes())));
        }
        // Records of an earlier generation have other names.
        if let Some((page, expected)) = self.pages.remove(&(serial, record.offset))
            && let Err(reason) = expected.agrees(record, serial >= self.first_warc)
        {
            self.report.problem(format!("{place}: {reason}, page {page}"));
        }
    }
}

/// The outcomes of URLs that were never leased: they get their lines when the crawl ends.
const UNFETCHED: [OutcomeKind; 3] = [OutcomeKind::Deferred, OutcomeKind::Excluded, OutcomeKind::PredictedDuplicate];

/// Opens the file at this offset.
fn from(path: &Path, offset: u64) -> io::Result<File> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    Ok(file)
}

/// Returns the lines in the first `length` bytes of a file, without line ends.
fn lines(path: &Path, length: u64, report: &mut VerifyReport) -> impl Iterator<Item = Vec<u8>> + use<> {
    let opened = File::open(path).and_then(|file| Ok((file.metadata()?.len(), file)));
    let file = report.noted(opened.map_err(|e| Error::io("open", path, e))).map(|(found, file)| {
        if found < length {
            report.problem(format!("{} has {found} bytes, the last commit says {length}", path.display()));
        }
        BufReader::new(file.take(length)).split(b'\n')
    });
    file.into_iter().flatten().map_while(std::result::Result::ok)
}
