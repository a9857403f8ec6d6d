//! One WARC file of an export, and its lines of the index.

use std::io::{self, Read, Write};
use std::path::Path;

use flate2::bufread::GzDecoder;

use ndcrawl_store::{WarcRecord, warcinfo_member};

use super::error::{ExportError, Result};
use super::index::CdxEntry;
use super::jsonl::{Compression, ZSTD_LEVEL};
use super::output::Output;
use super::sorting::ExternalSort;

const INFO: [(&str, &str); 3] = [
    ("software", concat!("ndcrawl/", env!("CARGO_PKG_VERSION"))),
    ("format", "WARC file version 1.1"),
    ("conformsTo", "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"),
];

/// The records of a page, and their compressed bytes.
pub(super) struct ArchivedRecords {
    pub(super) records: Vec<WarcRecord>,
    pub(super) members: Vec<u8>,
}

/// Returns the last component of a path.
pub(super) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// A WARC file while it is written.
pub(super) struct WarcFile {
    output: Output,
    compression: Compression,
    name: String,
}

impl WarcFile {
    /// Begins a file with its `warcinfo` record. `crawl` is the ID of the crawl.
    pub(super) fn create(output: Output, compression: Compression, crawl: &str) -> Result<Self> {
        let name = file_name(output.path());
        let first = warcinfo_member(crawl, &name, &INFO);
        let mut file = Self { output, compression, name };
        file.write(&first)?;
        Ok(file)
    }

    /// Returns the bytes so far.
    pub(super) fn bytes(&self) -> u64 {
        self.output.bytes()
    }

    /// Adds the records of a page, and the line of the first to the index.
    pub(super) fn add(&mut self, page: &ArchivedRecords, index: &mut ExternalSort) -> Result<()> {
        let offset = self.output.bytes();
        let mut rest = &page.members[..];
        for (number, record) in page.records.iter().enumerate() {
            let (member, others) = rest.split_at((record.length as usize).min(rest.len()));
            rest = others;
            self.write(member)?;
            if let (0, Some(entry)) = (number, CdxEntry::of(record)) {
                index.add(entry.at(self.output.bytes() - offset, offset, &self.name).line())?;
            }
        }
        Ok(())
    }

    /// Finishes the file. Returns its bytes.
    pub(super) fn finish(self) -> Result<u64> {
        self.output.finish()
    }

    /// Writes a record, which is in a gzip member.
    fn write(&mut self, member: &[u8]) -> Result<()> {
        let output = &mut self.output;
        let written = match self.compression {
            Compression::Gzip => output.write_all(member),
            Compression::None => io::copy(&mut GzDecoder::new(member), output).map(drop),
            Compression::Zstd => frame(member).and_then(|frame| output.write_all(&frame)),
        };
        written.map_err(|source| ExportError::Write { path: output.path().to_owned(), source })
    }
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
