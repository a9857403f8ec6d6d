//! Reads the clusters of `pages.jsonl`.

use std::collections::HashMap;
use std::path::Path;

use crate::cli::errors::{CliError, Phase, store_error};
use crate::cli::output_dir::expect_whole;
use crate::model::{PageLine, Threshold};
use crate::store::{Error, PageLines};

/// A stored page and its duplicates, with their line numbers.
pub(super) struct Group {
    pub representative: String,
    /// Its folder, if it belongs to an earlier crawl.
    pub folder: Option<String>,
    pub lines: Vec<(u64, PageLine)>,
}

impl Group {
    /// Returns the number of the first line.
    pub fn first(&self) -> u64 {
        self.lines.iter().map(|(number, _)| *number).min().unwrap_or_default()
    }
}

/// The clusters of a file.
pub(super) struct Groups {
    pub groups: Vec<Group>,
    /// Pages compared.
    pub compared: u64,
}

/// Groups duplicates with their stored pages.
///
/// Reads the file twice, so that stored pages without duplicates need no memory.
pub(super) fn groups(folder: &Path, least: Option<Threshold>) -> Result<Groups, CliError> {
    // A page of an earlier crawl may have the URL of a different page of this crawl. A URL may have several captures.
    let mut groups = HashMap::<(Option<String>, String), Group>::new();
    let mut compared = 0;
    read(folder, |number, line| {
        // Predicted duplicates were not compared.
        let (Some(of), Some(key)) = (&line.duplicate_of, line.original_key().filter(|_| line.rule.is_none())) else {
            compared += u64::from(line.is_kept());
            return;
        };
        compared += 1;
        if reaches(&line, least) {
            let key = (line.duplicate_in.clone(), key.into_owned());
            let new = || Group { representative: of.clone(), folder: key.0.clone(), lines: Vec::new() };
            groups.entry(key.clone()).or_insert_with(new).lines.push((number, line.clone()));
        }
    })?;
    if !groups.is_empty() {
        read(folder, |number, line| {
            if line.is_kept()
                && let Some(group) = groups.get_mut(&(None, line.key().into_owned()))
            {
                group.lines.push((number, line));
            }
        })?;
    }
    Ok(Groups { groups: groups.into_values().collect(), compared })
}

/// Returns whether a duplicate is similar enough, compared in millionths as printed.
fn reaches(line: &PageLine, least: Option<Threshold>) -> bool {
    let least = least.map_or(0.0, |least| f64::from(least.millionths()));
    line.score.is_none_or(|score| (score * f64::from(Threshold::ONE)).round() >= least)
}

/// Calls back with each line and its number.
fn read(folder: &Path, mut take: impl FnMut(u64, PageLine)) -> Result<(), CliError> {
    let failed = |error: Error| match &error {
        Error::NotACrawl { .. } => {
            CliError::usage(error.to_string()).with_hint("give the output folder of a crawl: ndcrawl clusters DIR")
        }
        _ => store_error(error, Phase::Opening).with_hint("ndcrawl verify lists all damage"),
    };
    expect_whole(folder)?;
    for (number, line) in (0..).zip(PageLines::open(folder).map_err(failed)?) {
        take(number, line.map_err(failed)?);
    }
    Ok(())
}
