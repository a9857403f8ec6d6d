//! Exports rows as JSON lines.

use std::io::{self, Write};

use flate2::write::GzEncoder;

use super::columns::TextColumns;
use super::content::Contents;
use super::error::Result;
use super::host_blocks::HostBlocks;
use super::output::{ExportCounts, Output};
use super::pages::ExportSource;
use super::row::ExportRow;

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
    let mut contents = Contents::new(source.folder);
    let hosts = HostBlocks::learn(source, columns, &mut contents)?;
    let path = output.path().to_owned();
    let error = |source| super::ExportError::Write { path: path.clone(), source };
    let mut lines = Lines::new(compression, output).map_err(error)?;
    source.each(&mut counts, |line, counts| {
        let row = ExportRow::read(line, columns, &hosts, &mut contents, counts)?;
        let written = serde_json::to_writer(&mut lines, &row).map_err(io::Error::from);
        written.and_then(|()| lines.write_all(b"\n")).map_err(error)
    })?;
    counts.bytes = lines.finish().map_err(error)?.finish()?;
    Ok(counts)
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
