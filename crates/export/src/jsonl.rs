//! Exports rows as JSON lines.

use std::io::{self, Write};
use std::path::PathBuf;

use flate2::write::GzEncoder;

use super::columns::TextColumns;
use super::error::{ExportError, Result};
use super::output::{ExportCounts, Output};
use super::pages::ExportSource;
use super::row::ExportRow;
use super::row_reader::RowReader;

/// Compression of an output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// No compression.
    #[default]
    None,
    /// gzip, in one member, or one for each archived record.
    Gzip,
    /// Zstandard, in one frame with a checksum, or one for each archived record.
    Zstd,
}

/// The default level of the zstd command.
pub(super) const ZSTD_LEVEL: i32 = 3;

/// Writes one [`ExportRow`] per line, with these columns of text.
///
/// # Errors
/// [`ExportError`](super::ExportError).
pub fn jsonl(
    source: ExportSource<'_>,
    columns: TextColumns,
    compression: Compression,
    output: Output,
) -> Result<ExportCounts> {
    let mut counts = ExportCounts::default();
    let mut rows = RowReader::learn(source, columns)?;
    let mut lines = JsonLines::create(compression, output)?;
    source.each(&mut counts, |line, counts| lines.add(&rows.read(line, counts)?))?;
    counts.bytes = lines.finish()?;
    Ok(counts)
}

/// A file while rows are added.
pub(super) struct JsonLines {
    lines: Lines,
    path: PathBuf,
}

impl JsonLines {
    pub(super) fn create(compression: Compression, output: Output) -> Result<Self> {
        let path = output.path().to_owned();
        match Lines::new(compression, output) {
            Ok(lines) => Ok(Self { lines, path }),
            Err(source) => Err(ExportError::Write { path, source }),
        }
    }

    /// Returns the number of bytes written so far. A compression may hold some back.
    pub(super) fn bytes(&self) -> u64 {
        self.lines.output().bytes()
    }

    pub(super) fn add(&mut self, row: &ExportRow) -> Result<()> {
        let written = serde_json::to_writer(&mut self.lines, row).map_err(io::Error::from);
        let written = written.and_then(|()| self.lines.write_all(b"\n"));
        written.map_err(|source| ExportError::Write { path: self.path.clone(), source })
    }

    /// Writes what is left, gives the file its name and returns its length.
    pub(super) fn finish(self) -> Result<u64> {
        let Self { lines, path } = self;
        lines.finish().map_err(|source| ExportError::Write { path, source })?.finish()
    }
}

enum Lines {
    Plain(Output),
    Gzip(GzEncoder<Output>),
    Zstd(zstd::Encoder<'static, Output>),
}

impl Lines {
    fn new(compression: Compression, output: Output) -> io::Result<Self> {
        Ok(match compression {
            Compression::None => Lines::Plain(output),
            Compression::Gzip => Lines::Gzip(GzEncoder::new(output, flate2::Compression::default())),
            Compression::Zstd => {
                let mut encoder = zstd::Encoder::new(output, ZSTD_LEVEL)?;
                encoder.include_checksum(true)?;
                Lines::Zstd(encoder)
            }
        })
    }

    fn output(&self) -> &Output {
        match self {
            Lines::Plain(output) => output,
            Lines::Gzip(encoder) => encoder.get_ref(),
            Lines::Zstd(encoder) => encoder.get_ref(),
        }
    }

    fn finish(self) -> io::Result<Output> {
        match self {
            Lines::Plain(output) => Ok(output),
            Lines::Gzip(encoder) => encoder.finish(),
            Lines::Zstd(encoder) => encoder.finish(),
        }
    }
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Lines::Plain(output) => output.write(bytes),
            Lines::Gzip(encoder) => encoder.write(bytes),
            Lines::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
