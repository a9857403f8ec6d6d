//! *May this folder be used, and what ran in it?* The output folder before and after a run.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::cli::args::RunFlags;
use crate::cli::config::http_values::mask_url;
use crate::cli::config::settings::{SettingDifference, Settings, fingerprint_difference};
use crate::cli::config::value_enums::EngineKind;
use crate::cli::errors::{CliError, Phase, exit, opening_error, store_error};
use crate::cli::format::counted;
use crate::cli::reference_crawls;
use crate::cli::rule_file;
use crate::cli::seeds::{Seed, Seeds};
use crate::cli::terminal::write_stderr;
use crate::model::{CanonicalUrl, Normalizer};
use crate::pipeline::ReferenceCrawls;
use crate::store::{self, CrawlVersion, EARLIER, MOVED, REBUILDING};

/// Everything that a run writes and a fresh start deletes. Other entries of a folder belong to the user, but for the
/// rests of hosts, which outlive every crawl.
const OURS: [&str; 16] = [
    "crawl.json",
    "status.json",
    "pages.jsonl",
    "errors.jsonl",
    "report.html",
    "report_files",
    "comparison.html",
    "comparison_files",
    "warc",
    "store",
    "parquet",
    "export",
    EARLIER,
    rule_file::FILE,
    REBUILDING,
    MOVED,
];

/// Prepares the folder for the flags.
///
/// `--resume` needs a crawl in it, `--fresh` an empty folder, `--recrawl` a finished crawl.
pub(super) fn prepare(folder: &Path, flags: RunFlags) -> Result<(), CliError> {
    expect_folder(folder)?;
    if !flags.fresh {
        expect_whole(folder)?;
    }
    store::complete(folder).map_err(opening_error)?;
    if flags.recrawl {
        return prepare_recrawl(folder);
    }
    if flags.resume && !folder.join("store").exists() {
        return Err(refused(folder, "nothing to resume", "leave out --resume to start a crawl there"));
    }
    if !flags.fresh {
        return expect_own(folder);
    }
    let occupied = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    if occupied && !flags.force {
        let hint = "delete the crawl in it with --fresh --force, or choose another folder with --out";
        return Err(refused(folder, "the folder is not empty", hint));
    }
    empty(folder, &found(folder))
}

/// Returns the error of a folder that the run cannot go on in.
fn refused(folder: &Path, why: impl std::fmt::Display, hint: &str) -> CliError {
    CliError::new(exit::NOT_RESUMABLE, format!("{}: {why}", folder.display())).with_hint(hint)
}

/// Rejects a folder whose store is incomplete because `reindex` was interrupted.
pub(super) fn expect_whole(folder: &Path) -> Result<(), CliError> {
    store::expect_whole(folder).map_err(opening_error)
}

/// Rejects an output folder that is a file, or lies below one.
fn expect_folder(folder: &Path) -> Result<(), CliError> {
    let Some(file) = folder.ancestors().find(|path| path.exists()).filter(|path| !path.is_dir()) else { return Ok(()) };
    let what = if file == folder { "it".to_owned() } else { file.display().to_string() };
    let hint = "name a folder with -o DIR; to write pages into one file, crawl first, then: ndcrawl export DIR -o FILE";
    Err(CliError::usage(format!("{}: {what} is a file, not a folder", folder.display())).with_hint(hint))
}

/// Rejects a folder that has entries but none of a run: it belongs to somebody. Hidden ones and that of a file system do
/// not count.
fn expect_own(folder: &Path) -> Result<(), CliError> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    let names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    let ours = || OURS.into_iter().chain([store::RESTS, store::LOCK]);
    let is_ours = |name: &&std::ffi::OsString| ours().any(|ours| name.as_os_str() == ours);
    let is_foreign = |name: &&std::ffi::OsString| !name.as_encoded_bytes().starts_with(b".") && *name != "lost+found";
    let Some(foreign) = names.iter().find(is_foreign).filter(|_| !names.iter().any(|name| is_ours(&name))) else {
        return Ok(());
    };
    let why = format!("the folder holds no crawl but '{}'", foreign.display());
    Err(refused(folder, why, "name a new folder, or an empty one, with -o DIR"))
}

/// Rejects seeds of another site in the folder of a crawl, which would join the two silently.
///
/// Seeds may be named beside those of the crawl, or be added with `--add`.
pub(super) fn expect_related_seeds(settings: &Settings, seeds: &Seeds, flags: RunFlags) -> Result<(), CliError> {
    if flags.add || flags.fresh || seeds.seeds.is_empty() || !settings.out.dir.is_dir() {
        return Ok(());
    }
    let earlier = EarlierRun::read(settings)?;
    let Some(first) = earlier.seeds.first().filter(|_| !earlier.is_fruitless) else { return Ok(()) };
    if earlier.seeds.iter().any(|old| seeds.seeds.iter().any(|new| is_same_seed(old, new))) {
        return Ok(());
    }
    let others = match earlier.seeds.len() - 1 {
        0 => String::new(),
        others => format!(" and {}", counted(others as u64, "other seed", "other seeds")),
    };
    let first = mask_url(first.url.as_str());
    let why = format!("the folder holds the crawl of {first}{others}, which this command does not name");
    let hint = "crawl into another folder with -o DIR; --add adds these seeds to the crawl in this folder";
    Err(refused(&settings.out.dir, why, hint))
}

/// Whether two seeds mean the same URL; a seed without scheme means `https` and `http`.
fn is_same_seed(one: &Seed, other: &Seed) -> bool {
    one.url == other.url || one.fallback.as_ref() == Some(&other.url) || other.fallback.as_ref() == Some(&one.url)
}

/// Adds the seeds of the crawl in the folder to those of this run.
///
/// Those of a run that fetched nothing are kept only if no others are named.
pub(super) fn with_earlier_seeds(mut seeds: Seeds, earlier: &EarlierRun, flags: RunFlags) -> Seeds {
    if earlier.is_fruitless && !seeds.seeds.is_empty() && !flags.add {
        return seeds;
    }
    let known: HashSet<CanonicalUrl> = seeds.seeds.iter().map(|seed| seed.url.clone()).collect();
    seeds.seeds.extend(earlier.seeds.iter().filter(|seed| !known.contains(&seed.url)).cloned());
    seeds
}

/// Sets a finished crawl aside. An unfinished one is resumed.
fn prepare_recrawl(folder: &Path) -> Result<(), CliError> {
    if !folder.join("store").exists() {
        if CrawlVersion::last(folder).map_err(opening_error)?.is_some() {
            return Ok(());
        }
        return Err(refused(folder, "no crawl to repeat", "leave out --recrawl the first time"));
    }
    let crawl = store::read_json_file(&folder.join("crawl.json")).map_err(opening_error)?.unwrap_or_default();
    let ended_with = |code: u8| crawl["exit_code"] == json!(code);
    if crawl["command"] == DEDUP || ended_with(exit::NOTHING_FETCHED) {
        // `dedup` is rejected later. A crawl that fetched nothing left nothing to set aside.
        return Ok(());
    }
    if [exit::FINISHED, exit::TOO_MANY_FAILURES, exit::TOO_MANY_DUPLICATES].into_iter().any(ended_with) {
        return store::set_aside(folder).map_err(opening_error);
    }
    write_stderr(&format!(
        "note: the crawl in {} had not finished: resuming it; repeat --recrawl after that",
        folder.display()
    ));
    Ok(())
}

/// What `crawl.json` says about the crawl in the folder; empty without one.
///
/// Before a new generation starts, it holds the seeds of the generation before.
#[derive(Default)]
pub(super) struct EarlierRun {
    pub seeds: Vec<Seed>,
    /// When it started.
    pub started: Option<String>,
    /// Whether it fetched no page from any seed.
    is_fruitless: bool,
}

impl EarlierRun {
    pub fn read(settings: &Settings) -> Result<Self, CliError> {
        let hint = "it holds seeds and settings only: move it away and name the seeds again";
        let read = |folder: &Path| {
            let read = store::read_json_file(&folder.join("crawl.json"));
            read.map_err(|error| opening_error(error).with_hint(hint))
        };
        if let Some(crawl) = read(&settings.out.dir)? {
            return Self::of(settings, &crawl);
        }
        let before = CrawlVersion::last(&settings.out.dir).map_err(opening_error)?;
        match before.map(|generation| read(&generation.folder)).transpose()?.flatten() {
            Some(crawl) => Ok(Self { seeds: Self::of(settings, &crawl)?.seeds, ..Self::default() }),
            None => Ok(Self::default()),
        }
    }

    /// Returns what this `crawl.json` says.
    pub fn of(settings: &Settings, crawl: &Value) -> Result<Self, CliError> {
        if crawl["command"] == DEDUP {
            let hint = "choose another folder for the crawl with --out";
            return Err(refused(&settings.out.dir, "the folder holds the results of dedup", hint));
        }
        let normalizer = Normalizer::new(settings.normalise_options());
        let seed = |text: &str| {
            let url = normalizer.absolute(text).ok()?;
            let fallback = crawl["seed_fallbacks"][text].as_str().and_then(|text| normalizer.absolute(text).ok());
            Some(Seed { line: "crawl.json".to_owned(), url, fallback })
        };
        Ok(Self {
            seeds: crawl["seeds"].as_array().into_iter().flatten().filter_map(Value::as_str).filter_map(seed).collect(),
            started: crawl["started"].as_str().map(str::to_owned),
            is_fruitless: crawl["program"] == "ndcrawl" && crawl["exit_code"] == json!(exit::NOTHING_FETCHED),
        })
    }
}

/// Empties the folder of a run that fetched nothing, so that the next one starts over.
pub(super) fn empty_fruitless(folder: &Path, earlier: &EarlierRun) -> Result<(), CliError> {
    if !earlier.is_fruitless {
        return Ok(());
    }
    let mut found = found(folder);
    // Disabled rules stay disabled: this run learned nothing.
    found.retain(|path| !path.ends_with(rule_file::FILE));
    if folder.join(EARLIER).exists() {
        // The WARC files also belong to earlier generations.
        found.retain(|path| ![EARLIER, "warc"].iter().any(|name| path.ends_with(name)));
    }
    empty(folder, &found)
}

/// The value of `command` in `crawl.json` in a folder of `dedup`.
pub(super) const DEDUP: &str = "dedup";

/// Rejects the folder of a crawl. Returns when the run in it started, if there was one.
pub(super) fn expect_dedup(folder: &Path) -> Result<Option<String>, CliError> {
    let read = store::read_json_file(&folder.join("crawl.json"));
    let Some(file) = read.map_err(opening_error)? else { return Ok(None) };
    if file["command"] != DEDUP {
        let hint = "choose another folder with --out, or delete the crawl in it with --fresh --force";
        return Err(refused(folder, "the folder holds a crawl", hint));
    }
    Ok(file["started"].as_str().map(str::to_owned))
}

/// Returns the entries that a run wrote into this folder.
fn found(folder: &Path) -> Vec<PathBuf> {
    OURS.iter().map(|name| folder.join(name)).filter(|path| path.exists()).collect()
}

/// Deletes what a run wrote, unless a run is active.
fn empty(folder: &Path, found: &[PathBuf]) -> Result<(), CliError> {
    if found.is_empty() {
        return Ok(());
    }
    store::delete_crawl(folder, found).map_err(opening_error)
}

/// Refuses to resume a crawl that was started with other settings or other reference crawls.
pub(super) fn compare(
    settings: &Settings,
    opened: &store::OpenedStore,
    against: Option<&ReferenceCrawls>,
) -> Result<(), CliError> {
    if opened.fresh {
        return Ok(());
    }
    let (earlier, now) =
        (reference_crawls::of_fingerprint(&opened.identity.fingerprint), reference_crawls::line(against));
    let others = || (earlier != now).then(|| reference_crawls::difference(earlier, &now));
    let difference = fingerprint_difference(&opened.identity.fingerprint, &settings.fingerprint());
    let Some(SettingDifference { key, was, is }) = difference.or_else(others) else { return Ok(()) };
    let why = format!("its crawl was started with {key} = {was}, this run has {is}");
    let hint = "use the same value, choose another folder with --out, or start over with --fresh --force";
    Err(refused(&settings.out.dir, why, hint))
}

/// The hint for a crawl that cannot be resumed.
pub(super) const START_OVER: &str = "start over with --fresh --force, or choose another folder with --out";

/// Refuses to resume a crawl of the engine spider, whose queue was only in memory.
pub(super) fn expect_resumable(settings: &Settings, opened: &store::OpenedStore) -> Result<(), CliError> {
    if opened.fresh || settings.engine != EngineKind::Spider {
        return Ok(());
    }
    Err(refused(&settings.out.dir, "the engine spider cannot resume the crawl in this folder", START_OVER))
}

/// The file `crawl.json`, which describes the run in a folder.
pub(super) struct CrawlFile {
    folder: PathBuf,
    value: Value,
}

impl CrawlFile {
    /// Writes the file at the start. `started` is set if the run is resumed.
    pub fn begin(settings: &Settings, seeds: &Seeds, crawl: &str, started: Option<&str>) -> Result<Self, CliError> {
        let file = Self::new(settings, seeds, crawl, started)?;
        file.write()?;
        Ok(file)
    }

    /// As [`begin`](Self::begin), of a run of `dedup` on these inputs.
    pub fn begin_dedup(
        settings: &Settings,
        inputs: &[PathBuf],
        crawl: &str,
        started: Option<&str>,
    ) -> Result<Self, CliError> {
        let mut file = Self::new(settings, &Seeds::default(), crawl, started)?;
        file.value["command"] = json!(DEDUP);
        file.value["inputs"] = json!(inputs.iter().map(|path| path.display().to_string()).collect::<Vec<_>>());
        file.write()?;
        Ok(file)
    }

    fn new(settings: &Settings, seeds: &Seeds, crawl: &str, started: Option<&str>) -> Result<Self, CliError> {
        let now = jiff::Timestamp::now().to_string();
        let fallbacks: Map<String, Value> = seeds
            .seeds
            .iter()
            .filter_map(|seed| Some((seed.url.to_string(), seed.fallback.as_ref()?.as_str().into())))
            .collect();
        let before = CrawlVersion::last(&settings.out.dir).map_err(opening_error)?;
        let generation = before.map_or(1, |generation| generation.number + 1);
        let value = json!({
            "program": "ndcrawl",
            "version": env!("CARGO_PKG_VERSION"),
            "format": store::FORMAT,
            "crawl": crawl,
            "generation": generation,
            "settings": settings.to_json(),
            "origins_of_settings": settings.sources_to_json(),
            "seeds": seeds.seeds.iter().map(|seed| seed.url.as_str()).collect::<Vec<_>>(),
            "seed_fallbacks": fallbacks,
            "started": started.unwrap_or(&now),
            "resumed": started.map(|_| &now),
        });
        Ok(Self { folder: settings.out.dir.clone(), value })
    }

    /// Adds the end of the run.
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
        let url = |text: &str| Normalizer::default().absolute(text).unwrap();
        let seed = |text: &str, fallback| Seed { line: String::new(), url: url(text), fallback };
        let seeds = vec![seed("https://a.test/", Some(url("http://a.test/"))), seed("https://b.test/", None)];
        let seeds = Seeds { seeds, ..Seeds::default() };
        let mut began = CrawlFile::begin(&settings, &seeds, "name", Some("2026-01-02T03:04:05Z")).unwrap();
        began.end(None, exit::NOTHING_FETCHED).unwrap();

        let earlier = EarlierRun::read(&settings).unwrap();
        let found: Vec<_> = earlier.seeds.iter().map(|seed| (&seed.url, &seed.fallback)).collect();
        let given: Vec<_> = seeds.seeds.iter().map(|seed| (&seed.url, &seed.fallback)).collect();
        assert_eq!(found, given);
        assert_eq!(earlier.started.as_deref(), Some("2026-01-02T03:04:05Z"));

        empty_fruitless(folder.path(), &earlier).unwrap();
        assert!(EarlierRun::read(&settings).unwrap().seeds.is_empty());
    }

    #[test]
    fn seeds_of_another_site_are_refused_unless_they_are_added() {
        let folder = tempfile::tempdir().unwrap();
        let settings = settings(&[("out.dir", folder.path().to_str().unwrap())]);
        let seed = |text: &str, fallback: Option<&str>| {
            let url = |text: &str| Normalizer::default().absolute(text).unwrap();
            Seed { line: String::new(), url: url(text), fallback: fallback.map(url) }
        };
        let seeds = |seeds: Vec<Seed>| Seeds { seeds, ..Seeds::default() };
        let old = seeds(vec![seed("https://a.test/", Some("http://a.test/")), seed("https://b.test/", None)]);
        let mut file = CrawlFile::begin(&settings, &old, "name", None).unwrap();
        let other = seeds(vec![seed("https://c.test/", None)]);
        let flags = RunFlags::default();
        let is_taken = |seeds: &Seeds, flags| expect_related_seeds(&settings, seeds, flags);

        let error = is_taken(&other, flags).unwrap_err();
        assert_eq!(error.code, exit::NOT_RESUMABLE);
        assert!(error.message.contains("https://a.test/ and 1 other seed,"), "{error}");
        assert!(error.hint.as_ref().is_some_and(|hint| hint.contains("--add") && hint.contains("-o DIR")), "{error}");
        is_taken(&other, RunFlags { add: true, ..flags }).unwrap();
        is_taken(&other, RunFlags { fresh: true, ..flags }).unwrap();
        is_taken(&Seeds::default(), flags).unwrap();
        is_taken(&seeds(vec![seed("https://c.test/", None), seed("https://b.test/", None)]), flags).unwrap();
        is_taken(&seeds(vec![seed("http://a.test/", None)]), flags).unwrap();

        file.end(None, exit::NOTHING_FETCHED).unwrap();
        is_taken(&other, flags).unwrap();
        let earlier = EarlierRun::read(&settings).unwrap();
        let urls = |seeds: Seeds| seeds.seeds.iter().map(|seed| seed.url.to_string()).collect::<Vec<_>>();
        assert_eq!(urls(with_earlier_seeds(other.clone(), &earlier, flags)), ["https://c.test/"]);
        assert_eq!(urls(with_earlier_seeds(Seeds::default(), &earlier, flags)), ["https://a.test/", "https://b.test/"]);
    }

    #[test]
    fn a_file_is_no_output_folder() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = prepare(file.path(), RunFlags::default()).unwrap_err();
        assert!(error.message.ends_with(": it is a file, not a folder") && error.code == exit::USAGE, "{error}");
        let error = prepare(&file.path().join("out"), RunFlags::default()).unwrap_err();
        assert!(
            error.message.ends_with(&format!("/out: {} is a file, not a folder", file.path().display())),
            "{error}"
        );
        assert!(error.hint.is_some_and(|hint| hint.contains("ndcrawl export")));
    }

    #[test]
    fn a_run_that_goes_on_forgets_that_the_one_before_was_fruitless() {
        let folder = tempfile::tempdir().unwrap();
        let settings = settings(&[("out.dir", folder.path().to_str().unwrap())]);
        let begin = || CrawlFile::begin(&settings, &Seeds::default(), "name", None).unwrap();
        begin().end(None, exit::NOTHING_FETCHED).unwrap();
        drop(begin());
        empty_fruitless(folder.path(), &EarlierRun::read(&settings).unwrap()).unwrap();
        assert!(folder.path().join("crawl.json").exists());
    }
}
