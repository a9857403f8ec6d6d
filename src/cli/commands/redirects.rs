//! The command `redirects`: maps the pages of an earlier site to those of a later one.

use std::path::Path;
use std::sync::Arc;

use crate::cli::args::RedirectsArguments;
use crate::cli::errors::{CliError, exit, opening_error, reference_error, report_error};
use crate::cli::format::{counted, thousands};
use crate::cli::reference_crawls::read_folders;
use crate::cli::terminal::{print, write_stderr};
use crate::cli::{saved_settings, setup};
use crate::pipeline::counterparts;
use crate::report::{MatchedBy, RedirectMap};
use crate::store::StoreReader;

/// The block cache of the store, in bytes.
const CACHE_BYTES: u64 = 16 * 1024 * 1024;

/// Prints the map as CSV, and tells how many pages have no match.
pub(super) fn run(arguments: &RedirectsArguments) -> Result<u8, CliError> {
    let RedirectsArguments { old, new, .. } = arguments;
    let settings = saved_settings::settings(new)?;
    let crawls = read_folders(&[new.clone(), old.clone()], &settings, &rendering(new)?)?;
    let near = counterparts(&Arc::new(crawls), &setup::detect_options(&settings)).map_err(reference_error)?;
    let map = RedirectMap::read(old, new, near).map_err(report_error)?;
    match &arguments.out {
        Some(path) => std::fs::write(path, map.csv())
            .map_err(|error| CliError::new(exit::DISK_FULL, format!("{}: cannot write: {error}", path.display())))?,
        None => drop(print(&map.csv())?),
    }
    write_stderr(&summary(&map));
    Ok(if map.count(MatchedBy::None) == 0 { exit::FINISHED } else { exit::UNMATCHED })
}

fn rendering(folder: &Path) -> Result<String, CliError> {
    StoreReader::open(folder, CACHE_BYTES).map(|(_, opened)| opened.identity.rendering).map_err(opening_error)
}

fn summary(map: &RedirectMap) -> String {
    let [same_url, same_text, near, none] = [MatchedBy::SameUrl, MatchedBy::SameText, MatchedBy::Near, MatchedBy::None]
        .map(|how| thousands(map.count(how)));
    format!(
        "{}: {same_url} with the same URL, {same_text} with the same text elsewhere,\n{near} with nearly the same, {none} without a match",
        counted(map.0.len() as u64, "page", "pages")
    )
}
