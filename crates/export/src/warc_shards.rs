//! Exports the archived records of selected pages as a folder of WARC files, each of which is closed when it has a size.

use std::path::Path;

use super::error::Result;
use super::folder_output::FolderOutput;
use super::jsonl::Compression;
use super::output::{ExportCounts, Output};
use super::pages::ExportSource;
use super::sorting::ExternalSort;
use super::warc::{SelectedRecords, crawl_name, write_index};
use super::warc_file::WarcFile;

/// Writes the records of [`warc`](super::warc()) to `FOLDER/pages-00000.warc.gz` and so on, and one index of all files to
/// `FOLDER/pages.cdxj`. A file is closed with the page with which it reaches `size` bytes, and the records of a page stay
/// together. The folder must not exist, or be empty; it has the name `FOLDER.open` until it is complete.
///
/// Names do not tell how many files there are: the first record of a file has its name, before that is known.
///
/// # Errors
/// [`ExportError`](super::ExportError).
pub fn warc_shards(
    source: ExportSource<'_>,
    compression: Compression,
    folder: &Path,
    size: u64,
) -> Result<ExportCounts> {
    let target = FolderOutput::create(folder)?;
    let mut counts = ExportCounts::default();
    let mut selected = SelectedRecords::new(source.folder);
    let mut index = ExternalSort::default();
    let crawl = crawl_name(source.folder)?;
    let create = |number: usize| {
        let path = target.path().join(format!("pages-{number:05}.{}", extension(compression)));
        WarcFile::create(Output::file(&path)?, compression, &crawl)
    };
    let (mut open, mut finished, mut bytes) = (create(0)?, 0, 0);
    source.each(&mut counts, |line, counts| {
        let Some(page) = selected.of(&line, counts)? else { return Ok(()) };
        if open.bytes() >= size {
            finished += 1;
            bytes += std::mem::replace(&mut open, create(finished)?).finish()?;
        }
        open.add(&page, &mut index)
    })?;
    counts.bytes = bytes + open.finish()?;
    write_index(index, Output::file(&target.path().join("pages.cdxj"))?)?;
    target.finish()?;
    Ok(counts)
}

fn extension(compression: Compression) -> &'static str {
    match compression {
        Compression::None => "warc",
        Compression::Gzip => "warc.gz",
        Compression::Zstd => "warc.zst",
    }
}
