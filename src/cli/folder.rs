//! The output folder before and after a crawl: is it ours, may it be emptied, what ran in it?

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::arguments::RunFlags;
use super::error::{CliError, exit};
use super::seeds::{Seed, Seeds};
use super::settings::{Settings, fingerprint_difference};
use crate::record::Normaliser;
use crate::store;

/// What a crawl writes; all else in a folder is somebody else's.
const OURS: [&str; 8] =
    ["crawl.json", "status.json", "pages.jsonl", "errors.jsonl", "report.html", "warc", "store", "links.jsonl"];

/// Prepares the folder as the flags ask: `--resume` wants a crawl in it, `--fresh` none.
pub(super) fn prepare(folder: &Path, flags: RunFlags) -> Result<(), CliError> {
    let found: Vec<PathBuf> = OURS.iter().map(|name| folder.join(name)).filter(|path| path.exists()).collect();
    if flags.resume && !folder.join("store").exists() {
        let error = CliError::new(exit::NOT_RESUMABLE, format!("{}: nothing to resume", folder.display()));
        return Err(error.with_hint("leave out --resume to begin a crawl there"));
    }
    if !flags.fresh {
        return Ok(());
    }
    let occupied = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    if occupied && !flags.force {
        let error = CliError::new(exit::NOT_RESUMABLE, format!("{}: the folder is not empty", folder.display()));
        return Err(error.with_hint("--fresh --force deletes the crawl in it, or choose another folder with --out"));
    }
    empty(folder, &found)
}

/// A run that fetched nothing from any seed leaves nothing to resume: the next one begins anew.
pub(super) fn forget_fruitless(folder: &Path) -> Result<(), CliError> {
    let earlier = read_crawl_file(folder)?;
    let fruitless = earlier.as_ref().is_some_and(|crawl| crawl["exit_code"] == json!(exit::NOTHING_FETCHED));
    if !fruitless {
        return Ok(());
    }
    let found: Vec<PathBuf> = OURS.iter().map(|name| folder.join(name)).filter(|path| path.exists()).collect();
    empty(folder, &found)
}

/// Deletes what a crawl wrote, unless a crawl is at work.
fn empty(folder: &Path, found: &[PathBuf]) -> Result<(), CliError> {
    if found.is_empty() {
        return Ok(());
    }
    store::delete_crawl(folder, found).map_err(|error| store_error(error, Phase::Opening))
}

/// Refuses to go on with a crawl that was begun with other settings than these.
pub(super) fn compare(settings: &Settings, opened: &store::Opened) -> Result<(), CliError> {
    if opened.fresh {
        return Ok(());
    }
    match fingerprint_difference(&opened.identity.fingerprint, &settings.fingerprint()) {
        None => Ok(()),
        Some(difference) => {
            let message = format!(
                "{}: the crawl in it was begun with {} = {}, this run has {}",
                settings.out.dir.display(),
                difference.key,
                difference.was,
                difference.is
            );
            let hint = "use the same value to go on, --out for another folder, or --fresh --force to start anew";
            Err(CliError::new(exit::NOT_RESUMABLE, message).with_hint(hint))
        }
    }
}

/// The seeds of the crawl in the folder.
pub(super) fn earlier_seeds(settings: &Settings) -> Result<Vec<Seed>, CliError> {
    let Some(crawl) = read_crawl_file(&settings.out.dir)? else { return Ok(Vec::new()) };
    let normaliser = Normaliser::new(settings.normalise_options());
    let urls = crawl["seeds"].as_array().cloned().unwrap_or_default();
    let urls = urls.iter().filter_map(Value::as_str).filter_map(|text| normaliser.absolute(text).ok());
    Ok(urls.map(|url| Seed { line: "crawl.json".to_owned(), url, fallback: None }).collect())
}

fn read_crawl_file(folder: &Path) -> Result<Option<Value>, CliError> {
    store::read_json_file(&folder.join("crawl.json")).map_err(|error| store_error(error, Phase::Opening))
}

/// `crawl.json`: what runs in this folder.
pub(super) struct CrawlFile {
    folder: PathBuf,
    value: Value,
}

impl CrawlFile {
    /// Writes what is known at the start.
    pub fn begin(settings: &Settings, seeds: &Seeds, crawl: &str) -> Result<Self, CliError> {
        let value = json!({
            "program": "ndcrawl",
            "version": env!("CARGO_PKG_VERSION"),
            "format": store::FORMAT,
            "crawl": crawl,
            "settings": settings.to_json(),
            "origins_of_settings": settings.sources_to_json(),
            "seeds": seeds.seeds.iter().map(|seed| seed.url.as_str()).collect::<Vec<_>>(),
            "started": jiff::Timestamp::now().to_string(),
        });
        let file = Self { folder: settings.out.dir.clone(), value };
        file.write()?;
        Ok(file)
    }

    /// Adds how it ended.
    pub fn end(mut self, stopped: Option<&str>, code: u8) -> Result<(), CliError> {
        self.value["ended"] = json!(jiff::Timestamp::now().to_string());
        self.value["stopped"] = json!(stopped);
        self.value["exit_code"] = json!(code);
        self.write()
    }

    fn write(&self) -> Result<(), CliError> {
        store::write_crawl_file(&self.folder, &self.value).map(drop).map_err(|error| store_error(error, Phase::Running))
    }
}

/// When an error of the store came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Opening,
    Running,
}

/// The exit code that an error of the store asks for.
pub(super) fn store_error(error: store::Error, phase: Phase) -> CliError {
    let code = match &error {
        store::Error::InUse { .. } => exit::IN_USE,
        store::Error::NotEmpty { .. } | store::Error::Format { .. } | store::Error::Rendering { .. } => {
            exit::NOT_RESUMABLE
        }
        store::Error::Corrupt { .. } => exit::CORRUPT,
        store::Error::DiskFull { .. } => exit::DISK_FULL,
        store::Error::NotACrawl { .. } => exit::USAGE,
        store::Error::Io { .. } if phase == Phase::Opening => exit::USAGE,
        store::Error::Io { .. } => exit::DISK_FULL,
        _ => exit::INTERNAL,
    };
    CliError::new(code, error.to_string())
}
