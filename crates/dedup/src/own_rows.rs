//! Gives the user's own rows back: those that are kept, or all of them with their verdicts.
//!
//! What a row became is read from `pages.jsonl`, and the input is read once more. So memory holds a verdict a row, and
//! never the rows themselves.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use xxhash_rust::xxh3::xxh3_128;

use super::input::{InputItem, Inputs, Options as InputOptions, RawRow};
use ndcrawl_store::PageLines;

mod arrow_rows;
mod parquet_rows;
mod text_rows;

use arrow_rows::ArrowRows;
use parquet_rows::ParquetRows;
use text_rows::{LineRows, TableRows};

/// Columns that say what became of a row.
const COLUMNS: [&str; 5] = ["dedup_outcome", "dedup_of", "dedup_score", "dedup_loses_words", "dedup_copies"];

/// Which rows are given back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnRows {
    /// Those that no other row makes superfluous.
    Kept(PathBuf),
    /// All, each with its verdict.
    Marked(PathBuf),
}

/// Why rows cannot be given back.
#[derive(Debug, thiserror::Error)]
pub enum OwnRowsError {
    /// The output, or the lines of the run, cannot be written or read.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Rows of two formats, or two tables of different columns, do not go into one file.
    #[error("{0}")]
    Mixed(String),
}

/// What became of a row.
#[derive(Clone, Debug, Default, PartialEq)]
struct RowVerdict {
    outcome: &'static str,
    of: Option<String>,
    score: Option<f64>,
    /// Words of a near-duplicate that the kept row has not.
    loses: Option<i64>,
    /// Rows that repeat a kept one.
    copies: Option<i64>,
}

/// The verdict on a row that is no document.
const WITHOUT_TEXT: RowVerdict = RowVerdict { outcome: "no-text", of: None, score: None, loses: None, copies: None };

const STORED: RowVerdict = RowVerdict { outcome: "stored", ..WITHOUT_TEXT };

impl RowVerdict {
    fn is_kept(&self) -> bool {
        self.outcome == "stored"
    }
}

/// How many rows were given back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowsGiven {
    /// Rows that were written.
    pub written: u64,
    /// Documents that are no rows: archives and pages.
    pub others: u64,
}

/// Where rows are written to.
trait RowSink {
    /// Takes the next row of the input. `verdict` is `None` for one that came before with the same URL.
    fn add(&mut self, row: RawRow, number: u64, verdict: Option<&RowVerdict>) -> Result<(), OwnRowsError>;
    /// Writes what is left.
    fn finish(self: Box<Self>) -> Result<u64, OwnRowsError>;
}

/// The file, compressed as its name says.
type RowFile = Box<dyn Write + Send>;

/// Reads the input once more and writes the rows of the run in `folder`.
///
/// # Errors
/// [`OwnRowsError`].
pub fn give_rows_back(
    wanted: &OwnRows,
    folder: &Path,
    inputs: &Inputs,
    options: &InputOptions,
) -> Result<RowsGiven, OwnRowsError> {
    let verdicts = read_verdicts(folder)?;
    write_rows(wanted, inputs, options, |row, is_read| if is_read { verdicts.get(&row) } else { Some(&WITHOUT_TEXT) })
}

/// Reads the input once more and writes the rows that are clean, those without text too.
pub(super) fn write_clean_rows(
    wanted: &OwnRows,
    inputs: &Inputs,
    options: &InputOptions,
    is_clean: impl Fn(u128) -> bool,
) -> Result<RowsGiven, OwnRowsError> {
    write_rows(wanted, inputs, options, |row, _| is_clean(row).then_some(&STORED))
}

/// Writes the rows by their verdicts, which are asked for with the hash of a row and whether it has a text.
fn write_rows<'v>(
    wanted: &OwnRows,
    inputs: &Inputs,
    options: &InputOptions,
    verdict_on: impl Fn(u128, bool) -> Option<&'v RowVerdict>,
) -> Result<RowsGiven, OwnRowsError> {
    let (OwnRows::Kept(path) | OwnRows::Marked(path)) = wanted;
    let is_marked = matches!(wanted, OwnRows::Marked(_));
    let options = InputOptions { keeps_rows: true, seen: Arc::default(), ..options.clone() };
    let failed = |source| OwnRowsError::File { path: path.clone(), source };
    let (file, temporary) = create(path).map_err(failed)?;
    let mut file = Some(file);
    let mut sink: Option<Box<dyn RowSink>> = None;
    let (bytes, mut given) = (AtomicU64::new(0), RowsGiven::default());
    for item in inputs.items(&options, &bytes, &|| false) {
        let InputItem::Answer(document) = item else { continue };
        let (Some(raw), Some(row)) = (document.raw, document.row) else {
            given.others += 1;
            continue;
        };
        let verdict = verdict_on(row_hash(&row.file, row.number), !document.fetched.body.is_empty());
        let sink = match &mut sink {
            Some(sink) => sink,
            none => none.insert(new_sink(&raw, file.take(), path, is_marked)),
        };
        sink.add(raw, row.number, verdict)?;
    }
    if let Some(sink) = sink {
        given.written = sink.finish()?;
    }
    if let Some(temporary) = temporary {
        std::fs::rename(&temporary, path).map_err(failed)?;
    }
    Ok(given)
}

fn new_sink(first: &RawRow, file: Option<RowFile>, path: &Path, is_marked: bool) -> Box<dyn RowSink> {
    let file = file.unwrap_or_else(|| Box::new(io::sink()));
    let place = path.to_owned();
    match first {
        RawRow::Object { .. } => Box::new(LineRows::new(file, place, is_marked)),
        RawRow::Cells { .. } => Box::new(TableRows::new(file, place, is_marked)),
        RawRow::Arrow(_) => Box::new(ArrowRows::new(file, place, is_marked)),
        RawRow::Parquet(_) => Box::new(ParquetRows::new(file, place, is_marked)),
    }
}

/// Creates the file beside its place, or takes standard output.
fn create(path: &Path) -> io::Result<(RowFile, Option<PathBuf>)> {
    if path.as_os_str() == "-" {
        return Ok((Box::new(BufWriter::new(io::stdout())), None));
    }
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".open");
    let temporary = PathBuf::from(temporary);
    let file = BufWriter::new(File::create(&temporary)?);
    let file: RowFile = match path.extension().and_then(|ending| ending.to_str()) {
        Some("gz") => Box::new(flate2::write::GzEncoder::new(file, flate2::Compression::default())),
        Some("zst") => Box::new(zstd::Encoder::new(file, 0)?.auto_finish()),
        _ => Box::new(file),
    };
    Ok((file, Some(temporary)))
}

pub(super) fn row_hash(file: &str, number: u64) -> u128 {
    xxh3_128(format!("{file}#{number}").as_bytes())
}

fn read_verdicts(folder: &Path) -> Result<HashMap<u128, RowVerdict>, OwnRowsError> {
    let failed = |error| OwnRowsError::File { path: folder.join("pages.jsonl"), source: io::Error::other(error) };
    let (mut verdicts, mut copies) = (HashMap::new(), HashMap::<u128, i64>::new());
    let mut kept = Vec::new();
    for line in PageLines::open(folder).map_err(failed)? {
        let line = line.map_err(failed)?;
        if let Some(of) = line.original_key().filter(|_| line.duplicate_in.is_none()) {
            *copies.entry(xxh3_128(of.as_bytes())).or_default() += 1;
        }
        if let (Some(file), Some(number)) = (&line.file, line.line) {
            let row = row_hash(file, number);
            if line.is_kept() {
                kept.push((row, xxh3_128(line.key().as_bytes())));
            }
            let (outcome, loses) = (line.outcome.name(), line.loses_words.map(i64::from));
            verdicts.insert(row, RowVerdict { outcome, of: line.duplicate_of, score: line.score, loses, copies: None });
        }
    }
    for (row, name) in kept {
        let copies = copies.get(&name).copied().unwrap_or(0);
        verdicts.entry(row).and_modify(|verdict| verdict.copies = Some(copies));
    }
    Ok(verdicts)
}

/// Says that rows do not go into one file.
fn mixed(path: &Path, what: &str) -> OwnRowsError {
    OwnRowsError::Mixed(format!("{}: {what}; give the rows of one kind of file at a time", path.display()))
}
