//! The file `rules.jsonl`: rules that predict duplicate URLs.

use std::fs::File;
use std::io::{BufReader, Write};
use std::path::Path;

use crate::cli::config::settings::Settings;
use crate::cli::errors::{CliError, exit};
use crate::dust::{ListedRule, ListingError, RuleConfidence, RuleState};

/// Its name in an output folder.
pub(super) const FILE: &str = "rules.jsonl";

/// Reads the proven and the disabled rules of the files given with `--rules`.
pub(super) fn read_given(settings: &Settings) -> Result<Vec<ListedRule>, CliError> {
    let mut rules = Vec::new();
    for path in &settings.dust.rules {
        let refused = |error: ListingError| {
            CliError::usage(format!("{}: {error}", path.display()))
                .with_hint("--rules takes the rules.jsonl of a crawl, or a file from 'ndcrawl rules DIR -o FILE'")
        };
        let absent = || CliError::usage(format!("{}: no such file", path.display()));
        let found = read(path).map_err(refused)?.ok_or_else(absent)?;
        rules.extend(
            found.into_iter().filter(|rule| matches!(rule.confidence.state, RuleState::Proven | RuleState::Off)),
        );
    }
    Ok(rules)
}

/// Returns the rules to start or resume with: those given, and those disabled in this folder, which take precedence.
///
/// A new generation also starts with the proven rules of the one before. The caller must hold the folder, because
/// `ndcrawl rules` changes the file.
pub(super) fn initial_rules(
    mut rules: Vec<ListedRule>,
    dir: &Path,
    is_new_generation: bool,
) -> Result<Vec<ListedRule>, CliError> {
    let own = read_own(dir)?;
    let is_on =
        |rule: &ListedRule| own.iter().any(|own| !own.off && own.rule == rule.rule && own.context == rule.context);
    rules.retain(|rule| !rule.off || !is_on(rule));
    rules.extend(
        own.into_iter().filter(|rule| rule.off || (is_new_generation && rule.confidence.state == RuleState::Proven)),
    );
    for rule in rules.iter_mut().filter(|rule| rule.off) {
        // If it was tested in this crawl, the log has the tests.
        rule.confidence = RuleConfidence { state: RuleState::Off, ..RuleConfidence::default() };
    }
    Ok(rules)
}

/// Writes the learned rules of a crawl into its folder, atomically.
pub(super) fn save(dir: &Path, rules: &[ListedRule]) -> Result<(), CliError> {
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

pub(super) fn lines(rules: &[ListedRule]) -> Result<String, CliError> {
    let lines = rules.iter().map(|rule| serde_json::to_string(rule).map(|line| line + "\n"));
    Ok(lines.collect::<Result<String, _>>().map_err(anyhow::Error::from)?)
}

/// Reads the rules of a crawl from its folder.
pub(super) fn read_own(dir: &Path) -> Result<Vec<ListedRule>, CliError> {
    let path = dir.join(FILE);
    let damaged = |error: ListingError| {
        CliError::new(exit::CORRUPT, format!("{}: {error}", path.display()))
            .with_hint("remove the file: rules are learned again, and those that were switched off are not known then")
    };
    Ok(read(&path).map_err(damaged)?.unwrap_or_default())
}

/// Reads a file of rules; `None` if it does not exist.
fn read(path: &Path) -> Result<Option<Vec<ListedRule>>, ListingError> {
    match File::open(path) {
        Ok(file) => ListedRule::read(BufReader::new(file)).map(Some),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}
