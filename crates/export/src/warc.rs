//! Exports the archived records of selected pages as a WARC file.

use std::path::Path;

use url::Url;

use ndcrawl_model::PageLine;
use ndcrawl_store::{self as store, ArchiveReader, WarcRecord};

use super::error::Result;
use super::jsonl::Compression;
use super::output::{ExportCounts, Output};
use super::pages::ExportSource;
use super::sorting::ExternalSort;
use super::warc_file::{ArchivedRecords, WarcFile};

/// Copies the records of the selected pages after a new `warcinfo` record: each in a gzip member, as in the archive, in
/// a zstd frame, or as it is.
///
/// Writes a [CDXJ](super::cdxj()) index to `index`. A duplicate has a metadata record, and its body only if the crawl
/// kept it.
///
/// # Errors
/// [`ExportError`](super::ExportError); then neither file is left.
pub fn warc(
    source: ExportSource<'_>,
    compression: Compression,
    output: Output,
    index: Option<Output>,
) -> Result<ExportCounts> {
    let mut counts = ExportCounts::default();
    let mut selected = SelectedRecords::new(source.folder);
    let mut sorting = ExternalSort::default();
    let mut file = WarcFile::create(output, compression, &crawl_name(source.folder)?)?;
    source.each(&mut counts, |line, counts| match selected.of(&line, counts)? {
        Some(page) => file.add(&page, &mut sorting),
        None => Ok(()),
    })?;
    if let Some(index) = index {
        write_index(sorting, index)?;
    }
    counts.bytes = file.finish()?;
    Ok(counts)
}

/// Writes the lines of an index in their order.
pub(super) fn write_index(lines: ExternalSort, mut index: Output) -> Result<()> {
    lines.write(|line| std::io::Write::write_all(&mut index, line.as_bytes()).map_err(|error| index.error(error)))?;
    index.finish().map(drop)
}

/// Reads the records of selected pages from the archive.
pub(super) struct SelectedRecords {
    archive: ArchiveReader,
}

impl SelectedRecords {
    pub(super) fn new(folder: &Path) -> Self {
        Self { archive: ArchiveReader::new(folder) }
    }

    /// Returns the records of a page, and counts it; `None` if the archive has none.
    pub(super) fn of(&mut self, line: &PageLine, counts: &mut ExportCounts) -> Result<Option<ArchivedRecords>> {
        let records = records(&mut self.archive, line)?;
        let (Some(first), Some(last), Some(file)) = (records.first(), records.last(), &line.warc_file) else {
            counts.count_body(line, false);
            return Ok(None);
        };
        counts.count_body(line, first.kind() == "response");
        let length = last.offset + last.length - first.offset;
        let members = self.archive.member(file, first.offset, length)?;
        Ok(Some(ArchivedRecords { records, members }))
    }
}

/// Returns the ID of the crawl in this folder.
pub(super) fn crawl_name(folder: &Path) -> Result<String> {
    let file = store::read_json_file(&folder.join("crawl.json"))?;
    let name = file.as_ref().and_then(|file| file["crawl"].as_str());
    Ok(name.unwrap_or("unknown").to_owned())
}

/// Whether a record is one of the line's URL.
fn is_of(record: &WarcRecord, line: &PageLine) -> bool {
    let Some(address) = line.address() else { return false };
    let target = record.field("WARC-Target-URI").unwrap_or_default();
    let is_spelling = || Url::parse(target).is_ok_and(|spelling| address.may_be_spelled(&spelling));
    target == address.as_str() || (line.is_respelled() && is_spelling())
}

/// Returns the records of a page, which are adjacent; the line names the first.
///
/// A stored page has a response and its request. A duplicate has a metadata record, too.
fn records(archive: &mut ArchiveReader, line: &PageLine) -> Result<Vec<WarcRecord>> {
    let (Some(file), Some(offset)) = (&line.warc_file, line.warc_offset) else { return Ok(Vec::new()) };
    let most = if line.is_kept() { 2 } else { 3 };
    let mut found: Vec<WarcRecord> = Vec::new();
    for record in archive.records_from(file, offset)?.take(most) {
        let damaged = |reason: String| store::Error::Corrupt { place: file.clone(), reason };
        let record = record.map_err(|error| damaged(error.to_string()))?;
        match found.first() {
            None if !is_of(&record, line) => {
                return Err(damaged(format!("offset {offset}: no record of {}", line.url)).into());
            }
            Some(first) if record.field("WARC-Concurrent-To") != first.field("WARC-Record-ID") => break,
            _ => found.push(record),
        }
    }
    match found.is_empty() {
        true => {
            Err(store::Error::Corrupt { place: file.clone(), reason: format!("the file ends before offset {offset}") }
                .into())
        }
        false => Ok(found),
    }
}
