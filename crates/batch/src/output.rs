//! Where the files of an input go: a folder, or the objects below an address.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ndcrawl_cluster::test_point;
use ndcrawl_export::{ExportError, Output, RowFile, ShardFormat, TextColumns};
use ndcrawl_model::named;
use ndcrawl_objects::ObjectUrl;
use ndcrawl_store::free_space;

use super::error::BatchError;

/// Bytes that close a row group.
const GROUP: u64 = 32 * 1024 * 1024;

named! {
    /// The format of the kept pages.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum KeptFormat {
        /// JSON lines with the main text.
        #[default]
        Jsonl = "jsonl",
        /// The rows of an export, with the main text and the id of the record.
        Parquet = "parquet",
        /// The WARC records of the input, as they are.
        Warc = "warc",
    }
}

named! {
    /// The format of the verdicts.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum VerdictFormat {
        /// The lines of `pages.jsonl`, with the id of the record.
        #[default]
        Jsonl = "jsonl": "The lines of pages.jsonl",
        /// The rows of an export without text, with the id of the record.
        Parquet = "parquet": "The rows of an export, without text",
    }
}

/// The place of the output, and its formats.
#[derive(Clone, Debug)]
pub struct BatchOutput {
    /// A folder on this machine, which exists: the output itself, or for temporary files.
    folder: Arc<Path>,
    /// What the finished files are uploaded to.
    upload: Option<ObjectUrl>,
    /// The format of the kept pages.
    pub kept: KeptFormat,
    /// The format of the verdicts.
    pub verdicts: VerdictFormat,
    /// Free bytes of the disk with which what was read of an input is kept until the second look.
    pub spare: u64,
}

impl BatchOutput {
    /// Creates the output of a folder that exists.
    pub fn folder(folder: &Path, (kept, verdicts): (KeptFormat, VerdictFormat)) -> Self {
        Self { folder: folder.into(), upload: None, kept, verdicts, spare: 0 }
    }

    /// Returns a folder on this machine.
    pub fn local_folder(&self) -> &Path {
        &self.folder
    }

    /// Creates the output of objects below an address. Files are made in `scratch`, which exists.
    pub fn objects(url: ObjectUrl, scratch: &Path, (kept, verdicts): (KeptFormat, VerdictFormat)) -> Self {
        Self { folder: scratch.into(), upload: Some(url), kept, verdicts, spare: 0 }
    }

    /// Whether the disk has the [spare](Self::spare) bytes.
    pub(super) fn has_room(&self) -> bool {
        free_space(&self.folder).is_ok_and(|free| free >= self.spare)
    }

    /// Removes what dead workers have left of an input.
    pub(super) fn clean(&self, input: i32) {
        // What cannot be removed is in nobody's way.
        let _ = fs::remove_dir_all(self.scratch(input));
    }

    /// Returns the folder of the files of an input that are not finished.
    fn scratch(&self, input: i32) -> PathBuf {
        self.folder.join(format!(".{input:06}.parts"))
    }
}

/// The paths of the files of one input.
#[derive(Clone, Debug)]
pub(super) struct InputPaths {
    output: BatchOutput,
    number: i32,
    /// What names the temporary files of this process.
    mark: u32,
}

impl InputPaths {
    pub fn new(output: &BatchOutput, number: i32) -> Self {
        Self { output: output.clone(), number, mark: std::process::id() }
    }

    pub fn output(&self) -> &BatchOutput {
        &self.output
    }

    /// Returns the path of a file that is not finished.
    pub fn temporary(&self, what: &str) -> PathBuf {
        self.output.scratch(self.number).join(format!("{what}.{}", self.mark))
    }

    /// Begins with no file that is not finished: removes what dead workers have left.
    pub fn begin(&self) -> Result<(), BatchError> {
        self.output.clean(self.number);
        let folder = self.output.scratch(self.number);
        fs::create_dir_all(&folder).map_err(BatchError::output(&folder))
    }

    /// Removes files that are not finished.
    pub fn remove(&self, files: &[&str]) {
        for file in files {
            // What is not there is in nobody's way.
            let _ = fs::remove_file(self.temporary(file));
        }
        // A folder with files of another process stays.
        let _ = fs::remove_dir(self.output.scratch(self.number));
    }

    /// Has the kept pages and the verdicts appear, in this order: where there are verdicts, all is there. `may_go_on` is
    /// asked before each.
    ///
    /// # Errors
    /// That of `may_go_on`, among others.
    pub fn publish(&self, may_go_on: impl Fn() -> Result<(), BatchError>) -> Result<(), BatchError> {
        let kept = match self.output.kept {
            KeptFormat::Warc => "warc.gz",
            rows => rows.name(),
        };
        let verdicts = self.output.verdicts.name();
        test_point("rename");
        for (what, ending) in [("kept", kept), ("verdicts", verdicts)] {
            let (from, name) = (self.temporary(what), format!("{:06}.{what}.{ending}", self.number));
            may_go_on()?;
            self.publish_file(&from, &name)?;
            if what == "kept" {
                test_point("kept");
            }
        }
        if self.output.upload.is_none() {
            let folder = &self.output.folder;
            File::open(folder).and_then(|folder| folder.sync_all()).map_err(BatchError::output(folder))?;
        }
        test_point("renamed");
        Ok(())
    }

    fn publish_file(&self, from: &Path, name: &str) -> Result<(), BatchError> {
        let Some(url) = &self.output.upload else {
            let to = self.output.folder.join(name);
            return fs::rename(from, &to).map_err(BatchError::output(&to));
        };
        Output::object(&url.join(name)).and_then(|object| object.copy_of(from)).map_err(BatchError::from)?;
        fs::remove_file(from).map_err(BatchError::output(from))
    }

    /// Begins a file of rows.
    pub fn rows(&self, what: &str, has_text: bool) -> Result<RowFile, BatchError> {
        let columns = TextColumns { main: has_text, record_id: true, ..TextColumns::default() };
        let output = Output::file(&self.temporary(what))?;
        Ok(RowFile::create(output, columns, ShardFormat::Parquet, GROUP)?)
    }

    /// Begins a file of lines.
    pub fn lines(&self, what: &str) -> Result<Output, BatchError> {
        Ok(Output::file(&self.temporary(what))?)
    }
}

impl From<ExportError> for BatchError {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Write { path, source } => Self::Output { path, source },
            // No crawl is read here.
            ExportError::Crawl(error) => {
                Self::Output { path: PathBuf::new(), source: std::io::Error::other(error.to_string()) }
            }
        }
    }
}
