//! The command `rules`: lists, exports, disables and enables the rules of a crawl.

use std::path::PathBuf;

use crate::cli::args::RulesArguments;
use crate::cli::errors::{CliError, exit, rules_in_use_error};
use crate::cli::output_dir::expect_whole;
use crate::cli::rule_file::{self, lines};
use crate::cli::table::aligned;
use crate::cli::terminal::{write_stderr, write_stdout};
use crate::cli::terminal_safe::terminal_safe;
use crate::dust::{ListedRule, RuleConfidence, RuleState};
use crate::store;

/// Changes rules, then lists or exports them.
pub(super) fn run(arguments: &RulesArguments) -> Result<u8, CliError> {
    let dir = &arguments.dir;
    expect_whole(dir)?;
    if !dir.join("crawl.json").exists() {
        return Err(CliError::usage(format!("{}: the folder holds no crawl", dir.display())));
    }
    let switched = arguments.off.iter().map(|&number| (number, true));
    let switched: Vec<_> = switched.chain(arguments.on.iter().map(|&number| (number, false))).collect();
    // A running crawl has read its rules, and overwrites the file when it ends.
    let _held = if switched.is_empty() { None } else { store::hold(dir).map_err(rules_in_use_error)? };
    let mut rules = rule_file::read_own(dir)?;
    switch(&mut rules, &switched)?;
    if !switched.is_empty() {
        rule_file::save(dir, &rules)?;
        write_stderr("note: the change applies when the crawl is resumed or repeated");
    }
    match &arguments.out {
        Some(path) => export(path, &rules)?,
        None if arguments.json => write_stdout(&lines(&rules)?)?,
        None => write_stdout(&text(&rules))?,
    }
    Ok(exit::FINISHED)
}

/// Disables or enables rules by their numbers from 1.
fn switch(rules: &mut [ListedRule], switched: &[(usize, bool)]) -> Result<(), CliError> {
    let count = rules.len();
    for &(number, off) in switched {
        let rule = number.checked_sub(1).and_then(|place| rules.get_mut(place));
        let rule = rule.ok_or_else(|| {
            CliError::usage(format!("{number}: no such rule; there are {count}"))
                .with_hint("'ndcrawl rules DIR' lists the rules with their numbers")
        })?;
        rule.off = off;
        rule.confidence.carried = false;
        rule.confidence.state = if off { RuleState::Off } else { RuleState::Candidate };
    }
    Ok(())
}

fn export(path: &PathBuf, rules: &[ListedRule]) -> Result<(), CliError> {
    let text = lines(rules)?;
    if path.as_os_str() == "-" {
        return write_stdout(&text);
    }
    std::fs::write(path, text).map_err(|error| CliError::usage(format!("{}: {error}", path.display())))
}

/// Renders a numbered table of rules.
fn text(rules: &[ListedRule]) -> String {
    if rules.is_empty() {
        return "no rules: a crawl writes them when it ends or is stopped, if it found a URL pattern of duplicates\n"
            .to_owned();
    }
    let heading = ["rule", "state", "saved", "tests", "hits", "validity", "interval", "pairs"];
    let rows: Vec<Vec<String>> = rules
        .iter()
        .enumerate()
        .map(|(place, rule)| {
            let RuleConfidence { tests, hits, support, state, carried, .. } = rule.confidence;
            let (low, high) = rule.interval;
            vec![
                terminal_safe(&format!("{:>3} {}, {}", place + 1, rule.text, rule.context)).into_owned(),
                if carried { "carried over" } else { state.name() }.to_owned(),
                rule.saved.to_string(),
                tests.to_string(),
                hits.to_string(),
                format!("{:.1} %", 100.0 * rule.share),
                format!("{:.1}-{:.1}", 100.0 * low, 100.0 * high),
                support.to_string(),
            ]
        })
        .collect();
    aligned(&heading, &rows, usize::MAX)
}
