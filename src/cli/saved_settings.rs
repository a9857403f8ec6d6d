//! The settings of an earlier crawl, read from its `crawl.json`.

use std::path::Path;

use serde_json::Value;

use crate::cli::config::merge;
#[cfg(feature = "cluster")]
use crate::cli::config::schema::Owner;
use crate::cli::config::schema::{self, Key};
use crate::cli::config::settings::Settings;
use crate::cli::config::source::{GivenValue, Source};
use crate::cli::errors::{CliError, exit, opening_error};
use crate::cli::output_dir::expect_whole;
use crate::store;

/// The file of settings and seeds.
const FILE: &str = "crawl.json";

/// Tables that concern which pages were fetched and how they were decided. Other settings keep their defaults; some
/// are masked in the file.
const TABLES: [&str; 7] = ["browser.", "dedup.", "render.", "normalise.", "scope.", "politeness.", "identity.robots_"];

/// Returns the settings of the crawl in this folder that concern pages and verdicts.
///
/// Unknown keys are ignored. Missing keys have their defaults.
pub(super) fn settings(folder: &Path) -> Result<Settings, CliError> {
    expect_whole(folder)?;
    of_file(folder)
}

/// Like [`settings`], even if the store of the folder is incomplete.
pub(super) fn of_file(folder: &Path) -> Result<Settings, CliError> {
    wanted(folder, &file_of(folder)?, |key| TABLES.iter().any(|table| key.name.starts_with(table)))
}

/// Returns all settings of a crawl, from its `crawl.json`, that several processes would share, but for which of several
/// matches is named: processes name the best one.
#[cfg(feature = "cluster")]
pub(super) fn of_crawl(folder: &Path, file: &Value) -> Result<Settings, CliError> {
    wanted(folder, file, |key| key.owner == Owner::Crawl && key.name != "dedup.matching")
}

/// Returns the `crawl.json` of a folder, which must be there.
pub(super) fn file_of(folder: &Path) -> Result<Value, CliError> {
    let file = store::read_json_file(&folder.join(FILE)).map_err(opening_error)?;
    file.ok_or_else(|| {
        let error = CliError::usage(format!("{}: {FILE} not found", folder.display()));
        error.with_hint("give the output folder of a crawl")
    })
}

/// Returns the settings of a file whose names are wanted.
fn wanted(folder: &Path, file: &Value, is_wanted: impl Fn(&Key) -> bool) -> Result<Settings, CliError> {
    let path = folder.join(FILE);
    let settings = file["settings"].as_object().into_iter().flatten();
    let given = settings.filter_map(|(name, value)| {
        let source = Source::File(path.display().to_string(), 0);
        Some(GivenValue::from_json(schema::find(name).filter(|key| is_wanted(key))?, value, source))
    });
    merge::merge(given.collect()).map_err(|error| {
        match file["format"].as_u64().and_then(|found| found.try_into().ok()) {
            // Another version's settings may have other values.
            Some(found) if found != store::FORMAT => {
                opening_error(store::Error::Format { store: folder.join("store"), found, known: store::FORMAT })
            }
            _ => CliError::new(exit::CORRUPT, error.message),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::config::merge::tests::settings as given;
    use crate::cli::setup::detect_options;

    #[test]
    fn the_options_of_a_crawl_are_read_back_from_its_file() {
        for pairs in [
            &[][..],
            &[("dedup.second_check", "none"), ("dedup.threshold", "0.93"), ("dedup.matching", "best")],
            &[("dedup.detector", "provenance"), ("dedup.min_terms", "7"), ("http.headers", "Cookie: abc")],
            &[("dedup.detector", "fuzzy"), ("dedup.query", "a, b"), ("scope.exclude", "a,b"), ("scope.max_time", "2s")],
        ] {
            let folder = tempfile::tempdir().unwrap();
            let settings = given(pairs);
            let file = serde_json::json!({"settings": settings.to_json(), "later": {"x.y": 1}});
            std::fs::write(folder.path().join("crawl.json"), file.to_string()).unwrap();
            let read = super::settings(folder.path()).unwrap();
            assert_eq!(detect_options(&read), detect_options(&settings), "{pairs:?}");
            assert_eq!(read.fingerprint(), settings.fingerprint(), "{pairs:?}");
        }
    }

    #[test]
    fn a_folder_without_a_crawl_is_a_usage_error() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(settings(folder.path()).unwrap_err().code, exit::USAGE);
    }
}
