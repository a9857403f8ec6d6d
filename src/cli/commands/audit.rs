//! The command `audit`: what pages say of themselves beside the duplicates that were measured.

use std::fmt::Write as _;

use serde_json::json;

use crate::cli::args::AuditArguments;
use crate::cli::errors::{CliError, report_error};
use crate::cli::format::{counted, thousands};
use crate::cli::output_dir::expect_whole;
use crate::cli::terminal::print;
use crate::cli::terminal_safe::terminal_safe;
use crate::report::{AlikePages, Audit, Mend, Report, ReportError, SiteChange};
use crate::store::Error;

/// Pages named for each kind.
const NAMED: usize = 3;
/// Changes shown.
const CHANGES: usize = 10;

/// Prints the findings, as text or JSON.
pub(super) fn run(arguments: &AuditArguments) -> Result<u8, CliError> {
    expect_whole(&arguments.dir)?;
    let audit = Report::audit(&arguments.dir).map_err(|error| match error {
        ReportError::Store(error @ Error::NotACrawl { .. }) => {
            CliError::usage(error.to_string()).with_hint("give the output folder of a crawl: ndcrawl audit DIR")
        }
        error => report_error(error),
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
    json!({ "compared": audit.compared, "duplicates": audit.duplicates, "changes": audit.changes, "left": audit.left, "alike": audit.alike, "frames": audit.frames, "findings": findings })
}

fn text(audit: &Audit) -> String {
    let compared = counted(audit.compared, "page", "pages");
    let mut text = format!("{compared} compared, {} of them duplicates\n", thousands(audit.duplicates));
    text += &changes(audit);
    text += &alike(audit);
    text += &frames(audit);
    if audit.findings.is_empty() {
        return text + "\nNothing that the pages say of themselves contradicts that.\n";
    }
    text += "\nWhat pages say of themselves, and what contradicts it:\n";
    for (kind, pages) in &audit.findings {
        let count = thousands(pages.len() as u64);
        let _ = write!(text, "\n{count:>9}  {}\n           {}\n", kind.meaning(), kind.remedy());
        for page in pages.iter().take(NAMED) {
            let count = page.count.map_or(String::new(), |count| format!(" ({})", thousands(count)));
            let _ = writeln!(text, "  {}{count}", terminal_safe(&page.url));
            let others = if page.hops.is_empty() { std::slice::from_ref(&page.other) } else { &page.hops[..] };
            for other in others.iter().filter(|other| !other.is_empty()) {
                let _ = writeln!(text, "    -> {}", terminal_safe(other));
            }
        }
        if let Some(more) = pages.len().checked_sub(NAMED).filter(|more| *more > 0) {
            let _ = writeln!(text, "  and {}: --json has all", thousands(more as u64));
        }
    }
    text
}

/// Returns the ranked list of changes.
fn changes(audit: &Audit) -> String {
    if audit.changes.is_empty() {
        return String::new();
    }
    let mut text = "\nWhat to change, what spares most first:\n".to_owned();
    audit.changes.iter().take(CHANGES).for_each(|one| text += &change(one));
    if let Some(more) = audit.changes.len().checked_sub(CHANGES).filter(|more| *more > 0) {
        let _ = writeln!(text, "\nand {} more: --json has all", thousands(more as u64));
    }
    if audit.changes.iter().any(|change| change.mend != Mend::Canonical) {
        let [before, after] = [(audit.duplicates, audit.compared), (audit.left.duplicates, audit.left.compared)]
            .map(|(part, whole)| part as f64 * 100.0 / whole.max(1) as f64);
        let compared = counted(audit.left.compared, "page", "pages");
        let _ = writeln!(
            text,
            "\nWith all these lines and redirects, {compared} are left, {after:.1}% of them duplicates\n(now {before:.1}%)."
        );
    }
    text
}

/// Returns the groups of unique pages that are much alike.
fn alike(audit: &Audit) -> String {
    if audit.alike.is_empty() {
        return String::new();
    }
    let mut text = "\nUnique pages of one pattern that are much alike, maybe a trap:\n\n".to_owned();
    for AlikePages { pattern, pages, alike, .. } in audit.alike.iter().take(CHANGES) {
        let _ = writeln!(
            text,
            "  {}\n    {} pages, {:.0}% alike",
            terminal_safe(pattern),
            thousands(*pages),
            alike * 100.0
        );
    }
    text
}

/// Returns how much of the unique pages their frame is.
fn frames(audit: &Audit) -> String {
    let Some(median) = audit.median_frame() else { return String::new() };
    let mut text = format!(
        "\nThe frame (what 9 in 10 pages of a host say) is {:.0}% of a unique page (median),\nand most on:\n\n",
        median.share() * 100.0
    );
    for page in audit.frames.iter().take(NAMED) {
        let (share, words) = (page.share() * 100.0, counted(page.words, "word", "words"));
        let _ = writeln!(text, "  {}\n    {share:.0}% of {words}", terminal_safe(&page.url));
    }
    text
}

fn change(change: &SiteChange) -> String {
    let pages = counted(change.pages, "page", "pages");
    // Pages from files have none.
    let requests = match change.requests {
        0 => String::new(),
        requests => format!(", {}", counted(requests, "request", "requests")),
    };
    let left_out = match change.left_out {
        0 => String::new(),
        urls => format!(", {} not fetched", counted(urls, "URL", "URLs")),
    };
    let mut text = format!("\n  {}\n    {pages}{requests}{left_out}\n", terminal_safe(&change.pattern));
    match &change.mend {
        Mend::Robots { origin, lines } => {
            let _ = writeln!(text, "    {}/robots.txt:", terminal_safe(origin));
            for line in lines {
                let _ = writeln!(text, "      {}", terminal_safe(line));
            }
        }
        Mend::Redirect { from, to } => {
            let _ =
                writeln!(text, "    redirect (301) {}\n             to   {}", terminal_safe(from), terminal_safe(to));
        }
        Mend::Canonical => text += "    a canonical tag on each page, to the page that it repeats\n",
    }
    match (&change.unique_example, &change.mend) {
        (Some(unique), _) => {
            let texts = counted(change.unique, "text", "texts");
            let _ =
                writeln!(text, "    no robots.txt: {texts} would be lost, such as\n      {}", terminal_safe(unique));
        }
        (None, Mend::Canonical) => {}
        (None, _) => text += "    safe: each of these pages repeats one that stays\n",
    }
    let _ = writeln!(
        text,
        "    e.g. {}\n      -> {}",
        terminal_safe(&change.example.url),
        terminal_safe(&change.example.other)
    );
    text
}
