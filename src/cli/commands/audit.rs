//! The command `audit`: what pages say of themselves beside the duplicates that were measured.

use std::fmt::Write as _;

use serde_json::json;

use crate::cli::args::AuditArguments;
use crate::cli::errors::{CliError, opening_error};
use crate::cli::format::{counted, thousands};
use crate::cli::output_dir::expect_whole;
use crate::cli::terminal::print;
use crate::cli::terminal_safe::terminal_safe;
use crate::report::Audit;
use crate::store::Error;

/// Pages named for each kind.
const NAMED: usize = 3;

/// Prints the findings, as text or JSON.
pub(super) fn run(arguments: &AuditArguments) -> Result<u8, CliError> {
    expect_whole(&arguments.dir)?;
    let audit = Audit::read(&arguments.dir).map_err(|error| match error {
        Error::NotACrawl { .. } => {
            CliError::usage(error.to_string()).with_hint("give the output folder of a crawl: ndcrawl audit DIR")
        }
        error => opening_error(error),
    })?;
    if arguments.json {
        return print(&format!("{}\n", json(&audit)));
    }
    print(&text(&audit))
}

fn json(audit: &Audit) -> serde_json::Value {
    let findings: Vec<_> = audit
        .findings
        .iter()
        .map(
            |(kind, pages)| json!({ "kind": kind, "meaning": kind.meaning(), "remedy": kind.remedy(), "pages": pages }),
        )
        .collect();
    json!({ "compared": audit.compared, "duplicates": audit.duplicates, "findings": findings })
}

fn text(audit: &Audit) -> String {
    let compared = counted(audit.compared, "page", "pages");
    let mut text = format!("{compared} compared, {} of them duplicates\n", thousands(audit.duplicates));
    if audit.findings.is_empty() {
        return text + "\nNothing that the pages say of themselves contradicts that.\n";
    }
    for (kind, pages) in &audit.findings {
        let count = thousands(pages.len() as u64);
        let _ = write!(text, "\n{count:>9}  {}\n           {}\n", kind.meaning(), kind.remedy());
        for page in pages.iter().take(NAMED) {
            let _ = writeln!(text, "  {}\n    -> {}", terminal_safe(&page.url), terminal_safe(&page.other));
        }
        if let Some(more) = pages.len().checked_sub(NAMED).filter(|more| *more > 0) {
            let _ = writeln!(text, "  and {}: --json has all", thousands(more as u64));
        }
    }
    text
}
