//! The files of an input: what was read, while it waits for its verdicts, and then the verdicts and the kept pages.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cluster::test_point;
use crate::dedup::{ReadDocument, SharedInputReport, enter_verdict};
use crate::detect::TurnAnswer;
use crate::model::{PageLine, Sequence};

use super::error::BatchError;

/// A line of the verdicts: that of `pages.jsonl`, with the record.
#[derive(Serialize, Deserialize)]
struct VerdictLine {
    #[serde(flatten)]
    line: PageLine,
    /// The `WARC-Record-ID` of the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    record_id: Option<String>,
}

/// A line of the file of what was read.
#[derive(Serialize, Deserialize)]
struct ReadLine {
    line: PageLine,
    record_id: Option<String>,
    text: Option<String>,
    is_page: bool,
}

/// A page that is kept.
#[derive(Serialize)]
struct KeptPage<'a> {
    url: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    record_id: Option<&'a str>,
    title: Option<&'a str>,
    lang: Option<&'a str>,
    text: Option<&'a str>,
}

/// The files of one input.
pub(super) struct InputFiles {
    folder: PathBuf,
    number: i32,
    /// What names the temporary files of this process.
    mark: u32,
}

impl InputFiles {
    pub fn new(folder: &Path, number: i32) -> Self {
        Self { folder: folder.to_owned(), number, mark: std::process::id() }
    }

    fn temporary(&self, what: &str) -> PathBuf {
        self.folder.join(format!(".{:06}.{what}.{}.part", self.number, self.mark))
    }

    fn finished(&self, what: &str) -> PathBuf {
        self.folder.join(format!("{:06}.{what}.jsonl", self.number))
    }

    /// Begins the file of what is read. Removes what dead workers have left of the input.
    pub fn begin(&self) -> Result<ReadFile, BatchError> {
        let left = format!(".{:06}.", self.number);
        let entries = fs::read_dir(&self.folder).map_err(BatchError::output(&self.folder))?;
        for entry in entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(&left)) {
            // What cannot be removed is in nobody's way.
            let _ = fs::remove_file(entry.path());
        }
        let path = self.temporary("read");
        let file = File::create(&path).map_err(BatchError::output(&path))?;
        Ok(ReadFile { path, file: BufWriter::new(file) })
    }

    /// Writes the files of the input: `answers` has a decision on each page that was read, `originals` the URLs of the
    /// pages that they name. Counts the outcomes.
    pub fn write(
        &self,
        answers: &[TurnAnswer],
        originals: &HashMap<Sequence, String>,
        report: &mut SharedInputReport,
    ) -> Result<(), BatchError> {
        let paths = ["kept", "verdicts"].map(|what| (self.temporary(what), self.finished(what)));
        let [kept, verdicts] = &paths;
        self.fill((&kept.0, &verdicts.0), answers, originals, report)?;
        test_point("rename");
        for (from, to) in &paths {
            fs::rename(from, to).map_err(BatchError::output(to))?;
        }
        let folder = File::open(&self.folder).and_then(|folder| folder.sync_all());
        folder.map_err(BatchError::output(&self.folder))?;
        test_point("renamed");
        let read = self.temporary("read");
        fs::remove_file(&read).map_err(BatchError::output(&read))
    }

    fn fill(
        &self,
        (kept, verdicts): (&Path, &Path),
        answers: &[TurnAnswer],
        originals: &HashMap<Sequence, String>,
        report: &mut SharedInputReport,
    ) -> Result<(), BatchError> {
        let path = self.temporary("read");
        let failed = BatchError::output(&path);
        let read = BufReader::new(File::open(&path).map_err(&failed)?);
        let create = |path: &Path| File::create(path).map(BufWriter::new).map_err(BatchError::output(path));
        let (mut kept_file, mut verdict_file) = (create(kept)?, create(verdicts)?);
        let mut answers = answers.iter();
        for line in read.lines() {
            let line = line.map_err(&failed)?;
            let ReadLine { mut line, record_id, text, is_page } =
                serde_json::from_str(&line).map_err(|error| failed(error.into()))?;
            if is_page && let Some(answer) = answers.next() {
                if answer.redelivered {
                    report.repeated += 1;
                    continue;
                }
                let original = answer.verdict.duplicate_of().and_then(|of| originals.get(&of));
                enter_verdict(&mut line, answer.verdict, original.map(String::as_str));
                if answer.verdict.is_unique() {
                    let page = KeptPage {
                        url: &line.url,
                        id: line.id.as_deref(),
                        record_id: record_id.as_deref(),
                        title: line.title.as_deref(),
                        lang: line.lang.as_deref(),
                        text: text.as_deref(),
                    };
                    write_line(&mut kept_file, &page).map_err(BatchError::output(kept))?;
                }
            }
            *report.outcomes.entry(line.outcome.clone()).or_default() += 1;
            write_line(&mut verdict_file, &VerdictLine { line, record_id }).map_err(BatchError::output(verdicts))?;
        }
        for (file, path) in [(kept_file, kept), (verdict_file, verdicts)] {
            let file = file.into_inner().map_err(std::io::IntoInnerError::into_error);
            file.and_then(|file| file.sync_all()).map_err(BatchError::output(path))?;
        }
        Ok(())
    }
}

/// The file of what was read of an input.
pub(super) struct ReadFile {
    path: PathBuf,
    file: BufWriter<File>,
}

impl ReadFile {
    /// Adds a document.
    pub fn add(&mut self, document: &ReadDocument) -> Result<(), BatchError> {
        let line = ReadLine {
            line: document.line.clone(),
            record_id: document.record_id.clone(),
            text: document.text.clone(),
            is_page: document.page.is_some(),
        };
        write_line(&mut self.file, &line).map_err(BatchError::output(&self.path))
    }

    /// Ends the file.
    pub fn end(mut self) -> Result<(), BatchError> {
        self.file.flush().map_err(BatchError::output(&self.path))
    }
}

fn write_line(file: &mut impl Write, line: &impl Serialize) -> std::io::Result<()> {
    serde_json::to_writer(&mut *file, line)?;
    file.write_all(b"\n")
}
