//! An index of the crawl's own archive.

use std::io::Write;
use std::path::Path;

use crate::store::ArchiveReader;

use super::error::Result;
use super::index::Entry;
use super::output::{Output, Tally};
use super::pages::Source;
use super::sorting::Sorting;
use super::warc::file_name;

/// Writes an index of the selected pages' responses and revisits where they lie in the crawl's own WARC
/// files: one line each (key, time, JSON), sorted, the same that `cdxj-indexer --sort` writes. Files
/// are named without their folder.
///
/// # Errors
/// [`ExportError`](super::ExportError).
pub fn cdxj(source: Source<'_>, mut output: Output) -> Result<Tally> {
    let mut tally = Tally::default();
    let mut archive = ArchiveReader::new(source.folder);
    let mut sorting = Sorting::default();
    source.each(&mut tally, |line, tally| {
        let entry = match (&line.warc_file, line.warc_offset) {
            (Some(file), Some(offset)) => {
                let record = archive.record(file, offset)?;
                Entry::of(&record).map(|entry| entry.at(offset, &file_name(Path::new(file))))
            }
            _ => None,
        };
        match entry {
            Some(entry) => sorting.add(entry.line()),
            None => {
                tally.pages -= 1;
                Ok(())
            }
        }
    })?;
    sorting.write(|line| output.write_all(line.as_bytes()).map_err(|error| output.error(error)))?;
    tally.bytes = output.finish()?;
    Ok(tally)
}
