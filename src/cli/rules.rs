//! The rules by which a crawl foretells duplicates: `rules.jsonl` in its folder, and the command `rules`.

use std::fs::File;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};

use super::arguments::RulesArguments;
use super::error::{CliError, exit};
use super::output_dir::{Phase, expect_whole, store_error};
use super::settings::Settings;
use super::table::aligned;
use super::terminal::{terminal_safe, write_stderr, write_stdout};
use crate::dust::{ListedRule, ListingError, RuleConfidence, RuleState};
use crate::store;

/// The file in an output folder.
pub(super) const FILE: &str = "rules.jsonl";

/// The rules of the files that the settings name, if they are proven or switched off.
pub(super) fn given(settings: &Settings) -> Result<Vec<ListedRule>, CliError> {
    let mut rules = Vec::new();
    for path in &settings.dust.rules {
        let found = read(path)?.ok_or_else(|| CliError::usage(format!("{}: there is no such file", path.display())))?;
        rules.extend(
            found.into_iter().filter(|rule| matches!(rule.confidence.state, RuleState::Proven | RuleState::Off)),
        );
    }
    Ok(rules)
}

/// The rules to begin or go on with: those that were given, and those that were switched off in this folder, of which
/// the folder has the last word. A new generation also begins with what the one before has proven. The folder must be
/// held: who switches a rule needs it, too.
pub(super) fn to_begin_with(
    mut rules: Vec<ListedRule>,
    dir: &Path,
    is_new_generation: bool,
) -> Result<Vec<ListedRule>, CliError> {
    let own = read(&dir.join(FILE))?.unwrap_or_default();
    let is_on =
        |rule: &ListedRule| own.iter().any(|own| !own.off && own.rule == rule.rule && own.context == rule.context);
    rules.retain(|rule| !rule.off || !is_on(rule));
    rules.extend(
        own.into_iter().filter(|rule| rule.off || (is_new_generation && rule.confidence.state == RuleState::Proven)),
    );
    for rule in rules.iter_mut().filter(|rule| rule.off) {
        // What it was tested on is in the log, if it was here.
        rule.confidence = RuleConfidence { state: RuleState::Off, ..RuleConfidence::default() };
    }
    Ok(rules)
}

/// Writes the rules that a crawl has learned into its folder, at once.
pub(super) fn keep(dir: &Path, rules: &[ListedRule]) -> Result<(), CliError> {
    let path = dir.join(FILE);
    if rules.is_empty() && !path.exists() {
        return Ok(());
    }
    let failed = |error: std::io::Error| CliError::new(exit::DISK_FULL, format!("{}: {error}", path.display()));
    let mut file = tempfile::NamedTempFile::new_in(dir).map_err(failed)?;
    file.write_all(lines(rules)?.as_bytes()).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(&path).map_err(|error| failed(error.error))?;
    Ok(())
}

fn lines(rules: &[ListedRule]) -> Result<String, CliError> {
    let lines = rules.iter().map(|rule| serde_json::to_string(rule).map(|line| line + "\n"));
    Ok(lines.collect::<Result<String, _>>().map_err(anyhow::Error::from)?)
}

/// `None` if there is no such file.
fn read(path: &Path) -> Result<Option<Vec<ListedRule>>, CliError> {
    let failed = |error: ListingError| {
        CliError::usage(format!("{}: {error}", path.display()))
            .with_hint("a file of rules is the rules.jsonl of a crawl, or what 'ndcrawl rules DIR -o FILE' writes")
    };
    match File::open(path) {
        Ok(file) => ListedRule::read(BufReader::new(file)).map(Some).map_err(failed),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error.into())),
    }
}

/// Lists rules, switches them off and on, and exports them.
pub fn run(arguments: &RulesArguments) -> Result<u8, CliError> {
    let dir = &arguments.dir;
    expect_whole(dir)?;
    if !dir.join("crawl.json").exists() {
        return Err(CliError::usage(format!("{}: no crawl is in this folder", dir.display())));
    }
    let switched = arguments.off.iter().map(|&number| (number, true));
    let switched: Vec<_> = switched.chain(arguments.on.iter().map(|&number| (number, false))).collect();
    // A crawl that is at work has read its rules, and writes its own when it ends.
    let _held = if switched.is_empty() { None } else { store::hold(dir).map_err(held)? };
    let mut rules = read(&dir.join(FILE))?.unwrap_or_default();
    switch(&mut rules, &switched)?;
    if !switched.is_empty() {
        keep(dir, &rules)?;
        write_stderr("note: this holds from when the crawl goes on, by the command that began it, or is crawled again");
    }
    match &arguments.out {
        Some(path) => export(path, &rules)?,
        None if arguments.json => write_stdout(&lines(&rules)?)?,
        None => write_stdout(&text(&rules))?,
    }
    Ok(exit::FINISHED)
}

fn held(error: store::Error) -> CliError {
    let is_in_use = matches!(error, store::Error::InUse { .. });
    let error = store_error(error, Phase::Opening);
    let hint = "a crawl that is at work writes its rules when it ends: stop it with Ctrl-C, switch them, and go on";
    if is_in_use { error.with_hint(hint) } else { error }
}

/// Switches rules off or on, by their numbers from 1.
fn switch(rules: &mut [ListedRule], switched: &[(usize, bool)]) -> Result<(), CliError> {
    let count = rules.len();
    for &(number, off) in switched {
        let rule = number.checked_sub(1).and_then(|place| rules.get_mut(place));
        let rule = rule.ok_or_else(|| {
            CliError::usage(format!("{number}: no rule has this number, there are {count}"))
                .with_hint("'ndcrawl rules DIR' lists them with their numbers")
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

/// The rules for people, numbered.
fn text(rules: &[ListedRule]) -> String {
    if rules.is_empty() {
        return "no rules: a crawl writes them when it ends or is stopped, if URLs of pages that repeat each other \
                differ in a way that others share\n"
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
