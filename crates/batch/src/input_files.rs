//! The files of an input: what was read, while it waits for its verdicts, and then the verdicts and the kept pages.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use zstd::{Decoder, Encoder};

use ndcrawl_dedup::{ReadDocument, SharedInputReport};
use ndcrawl_model::{PageLine, Sequence};
use ndcrawl_store::Gzip;

use super::error::BatchError;
use super::final_decision::FinalDecision;
use super::json_line::write_line;
use super::kept_file::{KeptFile, KeptPage};
use super::output::{BatchOutput, InputPaths, KeptFormat};
use super::verdict_file::VerdictFile;

/// The level of compression of kept records.
const GZIP_LEVEL: u32 = 6;
/// The level of compression of what waits to be written.
const SPOOL_LEVEL: i32 = 1;

/// A line of the file of what was read.
#[derive(Serialize, Deserialize)]
struct ReadLine {
    line: PageLine,
    record_id: Option<String>,
    text: Option<String>,
    is_page: bool,
    /// Bytes of its record in the file of records.
    #[serde(default)]
    record_bytes: u64,
}

/// The files of one input.
pub(super) struct InputFiles {
    paths: InputPaths,
}

impl InputFiles {
    pub fn new(output: &BatchOutput, number: i32) -> Self {
        Self { paths: InputPaths::new(output, number) }
    }

    /// Begins the file of what is read. Removes what dead workers have left of the input.
    pub fn begin(&self) -> Result<ReadFile, BatchError> {
        self.paths.begin()?;
        let create = |what: &str| {
            let path = self.paths.temporary(what);
            let file = File::create(&path).map_err(BatchError::output(&path))?;
            Ok::<_, BatchError>((path, BufWriter::new(file)))
        };
        let records = (self.paths.output().kept == KeptFormat::Warc).then(|| create("records")).transpose()?;
        let records = records.map(|(path, file)| RecordSpool { path, file, gzip: Gzip::new(GZIP_LEVEL) });
        let (path, file) = create("read")?;
        let file = Encoder::new(file, SPOOL_LEVEL).map_err(BatchError::output(&path))?;
        Ok(ReadFile { path, file, records })
    }

    /// Writes the files of the input: `decisions` has one on each page that was read, `originals` the URLs of the
    /// pages that they name. Counts the outcomes. `may_go_on` is asked before a file appears.
    pub fn write(
        &self,
        decisions: &[FinalDecision],
        originals: &HashMap<Sequence, String>,
        report: &mut SharedInputReport,
        may_go_on: impl Fn() -> Result<(), BatchError>,
    ) -> Result<(), BatchError> {
        self.fill(decisions, originals, report)?;
        self.paths.publish(may_go_on)
    }

    /// Removes the files of what was read.
    pub fn remove_read(&self) {
        self.paths.remove(&["records", "read"]);
    }

    fn fill(
        &self,
        decisions: &[FinalDecision],
        originals: &HashMap<Sequence, String>,
        report: &mut SharedInputReport,
    ) -> Result<(), BatchError> {
        let path = self.paths.temporary("read");
        let failed = BatchError::output(&path);
        let read = File::open(&path).and_then(Decoder::new).map_err(&failed)?;
        let (mut kept, mut verdicts) = (KeptFile::create(&self.paths)?, VerdictFile::create(&self.paths)?);
        let mut decisions = decisions.iter();
        for line in BufReader::new(read).lines() {
            let line = line.map_err(&failed)?;
            let ReadLine { mut line, record_id, text, is_page, record_bytes } =
                serde_json::from_str(&line).map_err(|error| failed(error.into()))?;
            let mut is_kept = false;
            if is_page && let Some(decision) = decisions.next() {
                if decision.is_repeated() {
                    report.repeated += 1;
                    kept.pass(record_bytes)?;
                    continue;
                }
                decision.enter(&mut line, originals);
                is_kept = decision.is_kept();
                report.revised += u64::from(decision.is_revised());
            }
            match is_kept {
                true => kept.add(KeptPage { line: &line, record_id: record_id.as_deref(), text, record_bytes })?,
                false => kept.pass(record_bytes)?,
            }
            *report.outcomes.entry(line.outcome.name().to_owned()).or_default() += 1;
            verdicts.add(line, record_id)?;
        }
        kept.finish()?;
        verdicts.finish()
    }
}

/// The file of what was read of an input.
pub(super) struct ReadFile {
    path: PathBuf,
    file: Encoder<'static, BufWriter<File>>,
    records: Option<RecordSpool>,
}

/// The records of the pages of an input, each in a gzip member.
struct RecordSpool {
    path: PathBuf,
    file: BufWriter<File>,
    gzip: Gzip,
}

impl ReadFile {
    /// Adds a document.
    pub fn add(&mut self, document: &ReadDocument) -> Result<(), BatchError> {
        let record_bytes = match (&mut self.records, &document.record) {
            (Some(records), Some(record)) => records.add(record)?,
            _ => 0,
        };
        let line = ReadLine {
            line: document.line.clone(),
            record_id: document.record_id.clone(),
            text: document.text.clone(),
            is_page: document.page.is_some(),
            record_bytes,
        };
        write_line(&mut self.file, &line).map_err(BatchError::output(&self.path))
    }

    /// Ends the file.
    pub fn end(self) -> Result<(), BatchError> {
        if let Some(RecordSpool { path, mut file, .. }) = self.records {
            file.flush().map_err(BatchError::output(&path))?;
        }
        self.file.finish().and_then(|mut file| file.flush()).map_err(BatchError::output(&self.path))
    }
}

impl RecordSpool {
    /// Adds a record. Returns its bytes in the file.
    fn add(&mut self, record: &[u8]) -> Result<u64, BatchError> {
        // What stands behind a record may differ between makers; this is what the standard says.
        let member = self.gzip.member(&[record, b"\r\n\r\n"]);
        self.file.write_all(&member).map_err(BatchError::output(&self.path))?;
        Ok(member.len() as u64)
    }
}
