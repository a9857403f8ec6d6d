//! Exports a CDXJ index of the crawl's own archive.

use std::io::Write;
use std::path::Path;

use ndcrawl_store::ArchiveReader;

use super::error::Result;
use super::index::CdxEntry;
use super::output::{ExportCounts, Output};
use super::pages::ExportSource;
use super::sorting::ExternalSort;
use super::warc_file::file_name;

/// Writes a sorted CDXJ index of the selected responses and revisits in the crawl's own WARC files.
///
/// Each line has a key, a time and a JSON object, as `cdxj-indexer --sort` writes them. File names have no folder.
///
/// # Errors
/// [`ExportError`](super::ExportError).
pub fn cdxj(source: ExportSource<'_>, mut output: Output) -> Result<ExportCounts> {
    let mut counts = ExportCounts::default();
    let mut archive = ArchiveReader::new(source.folder);
    let mut sorting = ExternalSort::default();
    source.each(&mut counts, |line, counts| {
        let entry = match (&line.warc_file, line.warc_offset) {
            (Some(file), Some(offset)) => {
                let record = archive.record(file, offset)?;
                CdxEntry::of(&record).map(|entry| entry.at(record.length, offset, &file_name(Path::new(file))))
            }
            _ => None,
        };
        match entry {
            Some(entry) => sorting.add(entry.line()),
            None => {
                counts.pages -= 1;
                Ok(())
            }
        }
    })?;
    sorting.write(|line| output.write_all(line.as_bytes()).map_err(|error| output.error(error)))?;
    counts.bytes = output.finish()?;
    Ok(counts)
}
