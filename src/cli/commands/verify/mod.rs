//! The command `verify`: checks that an output folder is intact, or the log and the archives of a shared crawl.

mod findings;
mod loss;
#[cfg(feature = "cluster")]
mod shared;

use crate::cli::args::VerifyArguments;
use crate::cli::errors::{CliError, exit, opening_error};
use crate::cli::startup::defaults_with_log;
use crate::cli::terminal::write_stdout;
use crate::store::{self, CheckedCounts, VerifyReport};

use findings::Findings;

/// Checks an output folder or a shared crawl: 0 if it is intact, 1 if not.
pub(super) fn run(arguments: &VerifyArguments) -> Result<u8, CliError> {
    #[cfg(feature = "cluster")]
    if crate::cli::cluster_access::is_address(&arguments.dir) {
        return shared::run(arguments);
    }
    defaults_with_log(arguments.verbosity)?;
    let VerifyReport { checked, problems, problem_count, .. } = store::verify(&arguments.dir).map_err(opening_error)?;
    let name = arguments.dir.display().to_string();
    let mut findings = Findings { name, figures: figures(&checked).into(), problems, problem_count };
    if arguments.loss {
        loss::add(&mut findings, &arguments.dir)?;
    }
    tell(&findings, arguments.json)
}

/// Prints what was found, and returns the exit code.
fn tell(findings: &Findings, as_json: bool) -> Result<u8, CliError> {
    write_stdout(&if as_json { findings.json() } else { findings.text() })?;
    Ok(if findings.problem_count == 0 { exit::FINISHED } else { exit::NOTHING_FETCHED })
}

fn figures(checked: &CheckedCounts) -> [(&'static str, u64); 9] {
    [
        ("urls", checked.urls),
        ("terms", checked.terms),
        ("pages", checked.pages),
        ("outcomes", checked.outcomes),
        ("hosts", checked.hosts),
        ("lines of pages.jsonl", checked.page_lines),
        ("lines of errors.jsonl", checked.error_lines),
        ("WARC files", checked.warc_files),
        ("WARC records", checked.warc_records),
    ]
}
