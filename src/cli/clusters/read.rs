//! Reads `pages.jsonl`, line by line.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use crate::cli::error::{CliError, exit};
use crate::record::{OutcomeKind, PageLine, Threshold};

/// The name of the file in the output folder.
const PAGES_FILE: &str = "pages.jsonl";

/// A stored page and those that repeat it, with the numbers of their lines.
pub(super) struct Group {
    pub representative: String,
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
    let path = folder.join(PAGES_FILE);
    let mut groups = HashMap::<String, Group>::new();
    let mut compared = 0;
    read(&path, |number, line| {
        let Some(of) = &line.duplicate_of else {
            compared += u64::from(line.outcome == OutcomeKind::Stored.name());
            return;
        };
        compared += 1;
        if reaches(&line, least) {
            let new = || Group { representative: of.clone(), lines: Vec::new() };
            groups.entry(of.clone()).or_insert_with(new).lines.push((number, line));
        }
    })?;
    if !groups.is_empty() {
        read(&path, |number, line| {
            if line.outcome == OutcomeKind::Stored.name()
                && let Some(group) = groups.get_mut(&line.url)
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

/// Hands out the lines with their numbers. The last one may be half written if a crawl runs.
fn read(path: &Path, mut take: impl FnMut(u64, PageLine)) -> Result<(), CliError> {
    let failed = |error: std::io::Error| {
        CliError::usage(format!("{}: {error}", path.display()))
            .with_hint("give the output folder of a crawl: ndcrawl clusters DIR")
    };
    let mut file = BufReader::with_capacity(64 * 1024, File::open(path).map_err(failed)?);
    let mut text = Vec::new();
    for number in 1.. {
        text.clear();
        if file.read_until(b'\n', &mut text).map_err(failed)? == 0 {
            break;
        }
        match serde_json::from_slice(&text) {
            Ok(line) => take(number, line),
            Err(_) if text.last() != Some(&b'\n') => break,
            Err(error) => return Err(unreadable(path, number, &error)),
        }
    }
    Ok(())
}

fn unreadable(path: &Path, number: u64, error: &serde_json::Error) -> CliError {
    // The parser counts the lines of what it was given, which is one.
    let what = error.to_string().replace(" at line 1 column ", " at column ");
    CliError::new(exit::CORRUPT, format!("{}, line {number}: {what}", path.display()))
        .with_hint("ndcrawl verify tells what else is damaged")
}
