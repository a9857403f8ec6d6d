//! Exports rows as a folder of files, each of which is closed when it has a size.

use std::fs;
use std::path::{Path, PathBuf};

use super::columns::TextColumns;
use super::error::{ExportError, Result};
use super::folder_output::FolderOutput;
use super::jsonl::Compression;
use super::output::{ExportCounts, Output};
use super::pages::ExportSource;
use super::row::ExportRow;
use super::row_file::{RowFile, ShardFormat};
use super::row_reader::RowReader;

/// Writes the rows of [`parquet`](super::parquet()) or [`jsonl`](super::jsonl()) to `FOLDER/pages-00000-of-00002.parquet` and
/// so on. A file is closed with the row with which it reaches `size` bytes; one of Parquet, with the row group. The folder
/// must not exist, or be empty; it has the name `FOLDER.open` until it is complete.
///
/// # Errors
/// [`ExportError`].
pub fn shards(
    source: ExportSource<'_>,
    columns: TextColumns,
    format: ShardFormat,
    folder: &Path,
    size: u64,
) -> Result<ExportCounts> {
    let target = FolderOutput::create(folder)?;
    let mut counts = ExportCounts::default();
    let mut rows = RowReader::learn(source, columns)?;
    let mut shards = Shards::create(target.path().join("pages"), columns, format, size)?;
    source.each(&mut counts, |line, counts| shards.add(rows.read(line, counts)?))?;
    counts.bytes = shards.finish()?;
    target.finish()?;
    Ok(counts)
}

/// The files while they are written.
pub(super) struct Shards {
    /// The beginning of their paths: `FOLDER/pages`.
    stem: PathBuf,
    columns: TextColumns,
    format: ShardFormat,
    size: u64,
    open: RowFile,
    /// Bytes of the files that are finished, and how many there are.
    bytes: u64,
    finished: usize,
}

impl Shards {
    pub(super) fn create(stem: PathBuf, columns: TextColumns, format: ShardFormat, size: u64) -> Result<Self> {
        let open = RowFile::create(Output::file(&path(&stem, &number(0), format))?, columns, format, size)?;
        Ok(Self { stem, columns, format, size, open, bytes: 0, finished: 0 })
    }

    pub(super) fn add(&mut self, row: ExportRow) -> Result<()> {
        if self.open.bytes() >= self.size {
            let next = path(&self.stem, &number(self.finished + 1), self.format);
            let next = RowFile::create(Output::file(&next)?, self.columns, self.format, self.size)?;
            self.bytes += std::mem::replace(&mut self.open, next).finish()?;
            self.finished += 1;
        }
        self.open.add(row)
    }

    /// Finishes the last file, and says in each name how many there are. Returns the bytes of all.
    pub(super) fn finish(self) -> Result<u64> {
        let (bytes, shards) = (self.bytes + self.open.finish()?, self.finished + 1);
        for shard in 0..shards {
            let of = path(&self.stem, &format!("{}-of-{}", number(shard), number(shards)), self.format);
            let moved = fs::rename(path(&self.stem, &number(shard), self.format), &of);
            moved.map_err(|source| ExportError::Write { path: of, source })?;
        }
        Ok(bytes)
    }
}

fn number(shard: usize) -> String {
    format!("{shard:05}")
}

fn path(stem: &Path, number: &str, format: ShardFormat) -> PathBuf {
    let extension = match format {
        ShardFormat::Parquet => "parquet",
        ShardFormat::Jsonl(Compression::None) => "jsonl",
        ShardFormat::Jsonl(Compression::Gzip) => "jsonl.gz",
        ShardFormat::Jsonl(Compression::Zstd) => "jsonl.zst",
    };
    let stem_name = stem.file_name().unwrap_or_default().to_string_lossy();
    stem.with_file_name(format!("{stem_name}-{number}.{extension}"))
}
