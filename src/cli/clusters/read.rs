//! Reads `pages.jsonl`, line by line.

use std::collections::HashMap;
use std::path::Path;

use crate::cli::errors::{CliError, Phase, store_error};
use crate::cli::output_dir::expect_whole;
use crate::model::{PageLine, Threshold};
use crate::store::{Error, PageLines};

/// A stored page and those that repeat it, with the numbers of their lines.
pub(super) struct Group {
    pub representative: String,
    /// Where it stands, if that is not this folder.
    pub folder: Option<String>,
    pub lines: Vec<(u64, PageLine)>,
}

impl Group {
    /// The line that stands first in the file.
    pub fn first(&self) -> u64 {
        self.lines.iter().map(|(number, _)| *number).min().unwrap_or_default()
    }
}

/// What the file holds.
pub(super) struct Groups {
    pub groups: Vec<Group>,
    /// Pages that were compared.
    pub compared: u64,
}

/// Gathers each stored page that is repeated and those that repeat it. The file is read twice, so that stored
/// pages that nobody repeats, of which there may be many, need not be kept.
pub(super) fn groups(folder: &Path, least: Option<Threshold>) -> Result<Groups, CliError> {
    // A page of an earlier crawl may have the address of one of this crawl and be another one.
    let mut groups = HashMap::<(Option<String>, String), Group>::new();
    let mut compared = 0;
    read(folder, |number, line| {
        // What a rule foretells was not compared.
        let Some(of) = line.duplicate_of.as_ref().filter(|_| line.rule.is_none()) else {
            compared += u64::from(line.is_kept());
            return;
        };
        compared += 1;
        if reaches(&line, least) {
            let key = (line.duplicate_in.clone(), of.clone());
            let new = || Group { representative: of.clone(), folder: key.0.clone(), lines: Vec::new() };
            groups.entry(key.clone()).or_insert_with(new).lines.push((number, line));
        }
    })?;
    if !groups.is_empty() {
        read(folder, |number, line| {
            if line.is_kept()
                && let Some(group) = groups.get_mut(&(None, line.url.clone()))
            {
                group.lines.push((number, line));
            }
        })?;
    }
    Ok(Groups { groups: groups.into_values().collect(), compared })
}

/// Whether a duplicate is similar enough. Scores are printed in millionths, in which they are compared.
fn reaches(line: &PageLine, least: Option<Threshold>) -> bool {
    let least = least.map_or(0.0, |least| f64::from(least.millionths()));
    line.score.is_none_or(|score| (score * f64::from(Threshold::ONE)).round() >= least)
}

/// Hands out the lines with their places among all.
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
