//! Earlier crawls to compare with (`--against`).

use std::path::PathBuf;
use std::sync::Arc;

use crate::cli::config::settings::{SettingDifference, Settings, fingerprint_difference};
use crate::cli::errors::{CliError, reference_error};
use crate::pipeline::ReferenceCrawls;

/// Their line in the fingerprint of a crawl. Paths may change; the pages in them may not.
const LINE: &str = "dedup.against = ";

/// Settings that must equal those of the earlier crawls, because records depend on them. Others may differ.
const OF_RECORDS: [&str; 5] =
    ["dedup.detector", "dedup.thresholding", "dedup.synonyms", "dedup.min_terms", "render.stemming"];

/// Reads the earlier crawls, if any are given.
pub(super) fn read(settings: &Settings, rendering: &str) -> Result<Option<Arc<ReferenceCrawls>>, CliError> {
    let folders = &settings.dedup.against;
    if folders.is_empty() {
        return Ok(None);
    }
    let own = settings.out.dir.canonicalize().ok();
    if let Some(folder) = folders.iter().find(|folder| own.is_some() && folder.canonicalize().ok() == own) {
        return Err(settings
            .refuse("dedup.against", format!("{} is the output folder itself", folder.display()))
            .with_hint("a crawl always compares with its own pages"));
    }
    read_folders(folders, settings, rendering).map(|against| Some(Arc::new(against)))
}

/// Reads these crawls, whose records must be comparable with these settings.
pub(super) fn read_folders(
    folders: &[PathBuf],
    settings: &Settings,
    rendering: &str,
) -> Result<ReferenceCrawls, CliError> {
    let ours = of_records(&settings.fingerprint());
    let differs = |fingerprint: &str| {
        let difference = fingerprint_difference(&of_records(fingerprint), &ours)?;
        Some((difference.key, difference.was, difference.is))
    };
    ReferenceCrawls::read(folders, rendering, differs).map_err(reference_error)
}

fn of_records(fingerprint: &str) -> String {
    let is_wanted = |line: &&str| OF_RECORDS.iter().any(|key| line.split(" = ").next() == Some(*key));
    fingerprint.lines().filter(is_wanted).map(|line| format!("{line}\n")).collect()
}

/// Returns their line for a fingerprint; empty without any.
pub(super) fn line(against: Option<&ReferenceCrawls>) -> String {
    against.map_or(String::new(), |against| format!("{LINE}{}\n", against.signature()))
}

/// Returns the line in an earlier fingerprint.
pub(super) fn of_fingerprint(fingerprint: &str) -> String {
    let line = fingerprint.lines().find(|line| line.starts_with(LINE));
    line.map_or(String::new(), |line| format!("{line}\n"))
}

/// Returns the difference between two such lines.
pub(super) fn difference(earlier: String, now: &str) -> SettingDifference {
    let value = |line: &str| match line.trim_end().strip_prefix(LINE) {
        Some(crawls) => format!("the crawls {crawls}"),
        None => "none".to_owned(),
    };
    SettingDifference { key: "dedup.against".to_owned(), was: value(&earlier), is: value(now) }
}
