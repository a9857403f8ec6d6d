//! The output folder before and after a crawl: is it ours, may it be emptied, what ran in it?

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::cli::args::RunFlags;
use crate::cli::config::settings::{Settings, fingerprint_difference};
use crate::cli::config::value_enums::EngineKind;
use crate::cli::errors::{CliError, Phase, exit, opening_error, store_error};
use crate::cli::reference_crawls;
use crate::cli::rule_file;
use crate::cli::seeds::{Seed, Seeds};
use crate::cli::terminal::write_stderr;
use crate::model::Normaliser;
use crate::pipeline::Against;
use crate::store::{self, EARLIER, Generation, REBUILDING};

/// What a crawl writes; all else in a folder is somebody else's.
const OURS: [&str; 13] = [
    "crawl.json",
    "status.json",
    "pages.jsonl",
    "errors.jsonl",
    "report.html",
    "warc",
    "store",
    "links.jsonl",
    "parquet",
    "export",
    EARLIER,
    rule_file::FILE,
    REBUILDING,
];

/// Prepares the folder as the flags ask: `--resume` wants a crawl in it, `--fresh` none, and `--recrawl` one that is
/// over.
pub(super) fn prepare(folder: &Path, flags: RunFlags) -> Result<(), CliError> {
    if !flags.fresh {
        expect_whole(folder)?;
    }
    store::complete(folder).map_err(opening_error)?;
    if flags.recrawl {
        return prepare_again(folder);
    }
    if flags.resume && !folder.join("store").exists() {
        let error = CliError::new(exit::NOT_RESUMABLE, format!("{}: nothing to resume", folder.display()));
        return Err(error.with_hint("leave out --resume to start a crawl there"));
    }
    if !flags.fresh {
        return Ok(());
    }
    let occupied = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    if occupied && !flags.force {
        let error = CliError::new(exit::NOT_RESUMABLE, format!("{}: the folder is not empty", folder.display()));
        return Err(error.with_hint("delete the crawl in it with --fresh --force, or choose another folder with --out"));
    }
    empty(folder, &found(folder))
}

/// Refuses a folder whose store is in part, because reindex was interrupted in it.
pub(super) fn expect_whole(folder: &Path) -> Result<(), CliError> {
    store::expect_whole(folder).map_err(opening_error)
}

/// Sets the crawl aside that is over. One that is not goes on.
fn prepare_again(folder: &Path) -> Result<(), CliError> {
    if !folder.join("store").exists() {
        if Generation::last(folder).map_err(opening_error)?.is_some() {
            return Ok(());
        }
        let error = CliError::new(exit::NOT_RESUMABLE, format!("{}: no crawl to repeat", folder.display()));
        return Err(error.with_hint("leave out --recrawl the first time"));
    }
    let crawl = store::read_json_file(&folder.join("crawl.json")).map_err(opening_error)?.unwrap_or_default();
    let ended_with = |code: u8| crawl["exit_code"] == json!(code);
    if crawl["command"] == DEDUP || ended_with(exit::NOTHING_FETCHED) {
        // The first is told later, and the second left nothing behind that could be set aside.
        return Ok(());
    }
    if ended_with(exit::FINISHED) || ended_with(exit::TOO_MANY_FAILURES) {
        return store::set_aside(folder).map_err(opening_error);
    }
    write_stderr(&format!(
        "note: the crawl in {} had not finished: resuming it; repeat --recrawl after that",
        folder.display()
    ));
    Ok(())
}

/// What `crawl.json` tells of the crawl in the folder; nothing if there is none. Of a generation that is yet to
/// begin, the seeds of the one before.
#[derive(Default)]
pub(super) struct Earlier {
    pub seeds: Vec<Seed>,
    /// When it was begun.
    pub started: Option<String>,
    /// Whether it fetched nothing from any seed.
    is_fruitless: bool,
}

impl Earlier {
    pub fn read(settings: &Settings) -> Result<Self, CliError> {
        let hint = "it holds seeds and settings only: move it away and name the seeds again";
        let read = |folder: &Path| {
            let read = store::read_json_file(&folder.join("crawl.json"));
            read.map_err(|error| opening_error(error).with_hint(hint))
        };
        if let Some(crawl) = read(&settings.out.dir)? {
            return Self::of(settings, &crawl);
        }
        let before = Generation::last(&settings.out.dir).map_err(opening_error)?;
        match before.map(|generation| read(&generation.folder)).transpose()?.flatten() {
            Some(crawl) => Ok(Self { seeds: Self::of(settings, &crawl)?.seeds, ..Self::default() }),
            None => Ok(Self::default()),
        }
    }

    fn of(settings: &Settings, crawl: &Value) -> Result<Self, CliError> {
        if crawl["command"] == DEDUP {
            let message = format!("{}: the folder holds the results of dedup", settings.out.dir.display());
            let error = CliError::new(exit::NOT_RESUMABLE, message);
            return Err(error.with_hint("choose another folder for the crawl with --out"));
        }
        let normaliser = Normaliser::new(settings.normalise_options());
        let seed = |text: &str| {
            let url = normaliser.absolute(text).ok()?;
            let fallback = crawl["seed_fallbacks"][text].as_str().and_then(|text| normaliser.absolute(text).ok());
            Some(Seed { line: "crawl.json".to_owned(), url, fallback })
        };
        Ok(Self {
            seeds: crawl["seeds"].as_array().into_iter().flatten().filter_map(Value::as_str).filter_map(seed).collect(),
            started: crawl["started"].as_str().map(str::to_owned),
            is_fruitless: crawl["program"] == "ndcrawl" && crawl["exit_code"] == json!(exit::NOTHING_FETCHED),
        })
    }
}

/// A run that fetched nothing from any seed leaves nothing to resume: the next one begins anew.
pub(super) fn forget_fruitless(folder: &Path, earlier: &Earlier) -> Result<(), CliError> {
    if !earlier.is_fruitless {
        return Ok(());
    }
    let mut found = found(folder);
    // What was switched off stays so: nothing was learned here.
    found.retain(|path| !path.ends_with(rule_file::FILE));
    if folder.join(EARLIER).exists() {
        // The archive is that of the generations before, too.
        found.retain(|path| ![EARLIER, "warc"].iter().any(|name| path.ends_with(name)));
    }
    empty(folder, &found)
}

/// What `crawl.json` says of a folder that `dedup` wrote.
pub(super) const DEDUP: &str = "dedup";

/// Refuses the folder of a crawl. Gives when the run in it was begun, if there was one.
pub(super) fn expect_dedup(folder: &Path) -> Result<Option<String>, CliError> {
    let read = store::read_json_file(&folder.join("crawl.json"));
    let Some(file) = read.map_err(opening_error)? else { return Ok(None) };
    if file["command"] != DEDUP {
        let error = CliError::new(exit::NOT_RESUMABLE, format!("{}: the folder holds a crawl", folder.display()));
        return Err(error.with_hint("choose another folder with --out, or delete the crawl in it with --fresh --force"));
    }
    Ok(file["started"].as_str().map(str::to_owned))
}

/// What a crawl wrote in this folder.
fn found(folder: &Path) -> Vec<PathBuf> {
    OURS.iter().map(|name| folder.join(name)).filter(|path| path.exists()).collect()
}

/// Deletes what a crawl wrote, unless a crawl is at work.
fn empty(folder: &Path, found: &[PathBuf]) -> Result<(), CliError> {
    if found.is_empty() {
        return Ok(());
    }
    store::delete_crawl(folder, found).map_err(opening_error)
}

/// Refuses to go on with a crawl that was begun with other settings than these, or against other pages.
pub(super) fn compare(settings: &Settings, opened: &store::Opened, against: Option<&Against>) -> Result<(), CliError> {
    if opened.fresh {
        return Ok(());
    }
    let (earlier, now) =
        (reference_crawls::of_fingerprint(&opened.identity.fingerprint), reference_crawls::line(against));
    let others = || (earlier != now).then(|| reference_crawls::difference(earlier, &now));
    match fingerprint_difference(&opened.identity.fingerprint, &settings.fingerprint()).or_else(others) {
        None => Ok(()),
        Some(difference) => {
            let message = format!(
                "{}: its crawl was started with {} = {}, this run has {}",
                settings.out.dir.display(),
                difference.key,
                difference.was,
                difference.is
            );
            let hint = "use the same value, choose another folder with --out, or start over with --fresh --force";
            Err(CliError::new(exit::NOT_RESUMABLE, message).with_hint(hint))
        }
    }
}

/// What can be done about a crawl that can't go on.
pub(super) const START_OVER: &str = "start over with --fresh --force, or choose another folder with --out";

/// Refuses a crawl of spider's that was begun before: what it had yet to ask for, spider alone knew.
pub(super) fn expect_resumable(settings: &Settings, opened: &store::Opened) -> Result<(), CliError> {
    if opened.fresh || settings.engine != EngineKind::Spider {
        return Ok(());
    }
    let message = format!("{}: the engine spider cannot resume the crawl in this folder", settings.out.dir.display());
    Err(CliError::new(exit::NOT_RESUMABLE, message).with_hint(START_OVER))
}

/// `crawl.json`: what runs in this folder.
pub(super) struct CrawlFile {
    folder: PathBuf,
    value: Value,
}

impl CrawlFile {
    /// Writes what is known at the start. `started` is given if the crawl was begun before.
    pub fn begin(settings: &Settings, seeds: &Seeds, crawl: &str, started: Option<&str>) -> Result<Self, CliError> {
        let now = jiff::Timestamp::now().to_string();
        let fallbacks: Map<String, Value> = seeds
            .seeds
            .iter()
            .filter_map(|seed| Some((seed.url.to_string(), seed.fallback.as_ref()?.as_str().into())))
            .collect();
        let before = Generation::last(&settings.out.dir).map_err(opening_error)?;
        let generation = before.map_or(1, |generation| generation.number + 1);
        let value = json!({
            "program": "ndcrawl",
            "version": env!("CARGO_PKG_VERSION"),
            "format": store::FORMAT,
            "crawl": crawl,
            "generation": generation,
            "settings": settings.to_stored_json(),
            "origins_of_settings": settings.stored_sources_to_json(),
            "seeds": seeds.seeds.iter().map(|seed| seed.url.as_str()).collect::<Vec<_>>(),
            "seed_fallbacks": fallbacks,
            "started": started.unwrap_or(&now),
            "resumed": started.map(|_| &now),
        });
        let file = Self { folder: settings.out.dir.clone(), value };
        file.write()?;
        Ok(file)
    }

    /// Notes that it judges what these hold, and crawls nothing.
    pub fn of_dedup(mut self, inputs: &[PathBuf]) -> Result<Self, CliError> {
        self.value["command"] = json!(DEDUP);
        self.value["inputs"] = json!(inputs.iter().map(|path| path.display().to_string()).collect::<Vec<_>>());
        self.write()?;
        Ok(self)
    }

    /// Adds how it ended.
    pub fn end(&mut self, stopped: Option<&str>, code: u8) -> Result<(), CliError> {
        self.value["ended"] = json!(jiff::Timestamp::now().to_string());
        self.value["stopped"] = json!(stopped);
        self.value["exit_code"] = json!(code);
        self.write()
    }

    fn write(&self) -> Result<(), CliError> {
        store::write_crawl_file(&self.folder, &self.value).map(drop).map_err(|error| store_error(error, Phase::Running))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::config::merge::tests::settings;

    #[test]
    fn a_later_run_learns_the_start_the_seeds_and_whether_it_was_fruitless() {
        let folder = tempfile::tempdir().unwrap();
        let settings = settings(&[("out.dir", folder.path().to_str().unwrap())]);
        let url = |text: &str| Normaliser::default().absolute(text).unwrap();
        let seed = |text: &str, fallback| Seed { line: String::new(), url: url(text), fallback };
        let seeds = vec![seed("https://a.test/", Some(url("http://a.test/"))), seed("https://b.test/", None)];
        let seeds = Seeds { seeds, ..Seeds::default() };
        let mut began = CrawlFile::begin(&settings, &seeds, "name", Some("2026-01-02T03:04:05Z")).unwrap();
        began.end(None, exit::NOTHING_FETCHED).unwrap();

        let earlier = Earlier::read(&settings).unwrap();
        let found: Vec<_> = earlier.seeds.iter().map(|seed| (&seed.url, &seed.fallback)).collect();
        let given: Vec<_> = seeds.seeds.iter().map(|seed| (&seed.url, &seed.fallback)).collect();
        assert_eq!(found, given);
        assert_eq!(earlier.started.as_deref(), Some("2026-01-02T03:04:05Z"));

        forget_fruitless(folder.path(), &earlier).unwrap();
        assert!(Earlier::read(&settings).unwrap().seeds.is_empty());
    }

    #[test]
    fn a_run_that_goes_on_forgets_that_the_one_before_was_fruitless() {
        let folder = tempfile::tempdir().unwrap();
        let settings = settings(&[("out.dir", folder.path().to_str().unwrap())]);
        let begin = || CrawlFile::begin(&settings, &Seeds::default(), "name", None).unwrap();
        begin().end(None, exit::NOTHING_FETCHED).unwrap();
        drop(begin());
        forget_fruitless(folder.path(), &Earlier::read(&settings).unwrap()).unwrap();
        assert!(folder.path().join("crawl.json").exists());
    }
}
