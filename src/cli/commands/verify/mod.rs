//! The command `verify`: checks that an output folder is intact, or the log and the archives of a shared crawl.

#[cfg(feature = "cluster")]
mod shared;

use std::path::Path;

use crate::cli::args::VerifyArguments;
use crate::cli::errors::{CliError, exit, opening_error};
use crate::cli::startup::defaults_with_log;
use crate::cli::terminal::write_stdout;
use crate::cli::terminal_safe::terminal_safe;
use crate::store::{self, CheckedCounts, VerifyReport};

/// Checks an output folder or a shared crawl: 0 if it is intact, 1 if not.
pub(super) fn run(arguments: &VerifyArguments) -> Result<u8, CliError> {
    #[cfg(feature = "cluster")]
    if crate::cli::cluster_access::is_address(&arguments.dir) {
        return shared::run(arguments);
    }
    defaults_with_log(arguments.verbosity)?;
    let report = store::verify(&arguments.dir).map_err(opening_error)?;
    write_stdout(&if arguments.json { json(&report) } else { text(&report, &arguments.dir) })?;
    Ok(if report.is_sound() { exit::FINISHED } else { exit::NOTHING_FETCHED })
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

fn json(report: &VerifyReport) -> String {
    let figures: serde_json::Map<_, _> =
        figures(&report.checked).iter().map(|(name, count)| ((*name).to_owned(), (*count).into())).collect();
    let object = serde_json::json!({
        "sound": report.is_sound(), "checked": figures,
        "problems": report.problems, "problem_count": report.problem_count,
    });
    format!("{object}\n")
}

fn text(report: &VerifyReport, folder: &Path) -> String {
    let mut text: String =
        figures(&report.checked).iter().map(|(name, count)| format!("{count:>12} {name}\n")).collect();
    for problem in &report.problems {
        text += &format!("problem: {}\n", terminal_safe(problem));
    }
    text + &match report.problem_count {
        0 => format!("{} is intact\n", folder.display()),
        many => format!("{} has {many} problems\n", folder.display()),
    }
}
