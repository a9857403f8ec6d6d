//! Exports the archived records of selected pages as a WARC file.

use std::io::{self, Read, Write};
use std::path::Path;

use flate2::bufread::GzDecoder;
use url::Url;

use crate::model::PageLine;
use crate::store::{self, ArchiveReader, WarcRecord, warcinfo_member};

use super::error::{ExportError, Result};
use super::index::CdxEntry;
use super::jsonl::{Compression, ZSTD_LEVEL};
use super::output::{ExportCounts, Output};
use super::pages::ExportSource;
use super::sorting::ExternalSort;

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
    mut output: Output,
    index: Option<Output>,
) -> Result<ExportCounts> {
    let mut counts = ExportCounts::default();
    let mut archive = ArchiveReader::new(source.folder);
    let name = file_name(output.path());
    let mut sorting = ExternalSort::default();
    let first = warcinfo_member(&crawl_name(source.folder)?, &name, &INFO);
    write(&mut output, &first, compression)?;
    source.each(&mut counts, |line, counts| {
        let records = records(&mut archive, &line)?;
        let (Some(first), Some(last), Some(file)) = (records.first(), records.last(), &line.warc_file) else {
            counts.count_body(&line, false);
            return Ok(());
        };
        counts.count_body(&line, first.kind() == "response");
        let length = last.offset + last.length - first.offset;
        let members = archive.member(file, first.offset, length)?;
        let (mut rest, offset) = (&members[..], output.bytes());
        for (number, record) in records.iter().enumerate() {
            let (member, others) = rest.split_at((record.length as usize).min(rest.len()));
            rest = others;
            write(&mut output, member, compression)?;
            if let (0, Some(entry)) = (number, CdxEntry::of(first)) {
                sorting.add(entry.at(output.bytes() - offset, offset, &name).line())?;
            }
        }
        Ok(())
    })?;
    if let Some(mut index) = index {
        sorting.write(|line| index.write_all(line.as_bytes()).map_err(|error| index.error(error)))?;
        index.finish()?;
    }
    counts.bytes = output.finish()?;
    Ok(counts)
}

/// Writes a record, which is in a gzip member.
fn write(output: &mut Output, member: &[u8], compression: Compression) -> Result<()> {
    let written = match compression {
        Compression::Gzip => output.write_all(member),
        Compression::None => io::copy(&mut GzDecoder::new(member), output).map(drop),
        Compression::Zstd => frame(member).and_then(|frame| output.write_all(&frame)),
    };
    written.map_err(|source| ExportError::Write { path: output.path().to_owned(), source })
}

fn frame(member: &[u8]) -> io::Result<Vec<u8>> {
    let mut record = Vec::new();
    GzDecoder::new(member).read_to_end(&mut record)?;
    let mut encoder = zstd::Encoder::new(Vec::new(), ZSTD_LEVEL)?;
    encoder.include_checksum(true)?;
    encoder.set_pledged_src_size(Some(record.len() as u64))?;
    encoder.write_all(&record)?;
    encoder.finish()
}

const INFO: [(&str, &str); 3] = [
    ("software", concat!("ndcrawl/", env!("CARGO_PKG_VERSION"))),
    ("format", "WARC file version 1.1"),
    ("conformsTo", "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"),
];

/// Returns the ID of the crawl in this folder.
fn crawl_name(folder: &Path) -> Result<String> {
    let file = store::read_json_file(&folder.join("crawl.json"))?;
    let name = file.as_ref().and_then(|file| file["crawl"].as_str());
    Ok(name.unwrap_or("unknown").to_owned())
}

/// Returns the last component of a path.
pub(super) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
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
