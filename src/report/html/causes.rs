//! Where duplicates come from.

use super::{MOST_URL, share};
use crate::html_writer::{Cell, Row, counted, shortened, table, thousands, words};
use crate::model::{Exclusion, OutcomeKind};
use crate::report::{Pattern, Report};

/// Patterns of each cause.
const PATTERNS: usize = 5;

/// Causes, each with its most common patterns.
pub(super) fn section(report: &Report) -> String {
    let ranked = report.gathered.causes.ranked(PATTERNS);
    let soft_404s = soft_404s(report);
    if ranked.is_empty() {
        return format!("<p>No page repeats another.</p>\n{soft_404s}");
    }
    let all: u64 = ranked.iter().map(|(_, count, ..)| count).sum();
    let mut rows = Vec::new();
    for (cause, count, patterns, kinds) in &ranked {
        let mut cells = vec![Cell::Name(cause.name().to_owned()), Cell::Figure(thousands(*count))];
        cells.push(Cell::Figure(share(*count, all)));
        cells.push(Cell::Text(if *kinds == 1 {
            String::new()
        } else {
            format!("{} patterns", thousands(*kinds as u64))
        }));
        cells.push(Cell::Text(String::new()));
        rows.push(Row { class: "first whole", cells });
        rows.extend(patterns.iter().map(|pattern| row(pattern, all)));
    }
    let heading = ["in the copy → in the page kept", "copies", "share", "a copy, and the page kept"];
    format!(
        "<p>What the URL of a copy has that the URL of the page kept has not. A mirror is another host with the same path; a part of \
         the path that is replaced is most often a version or a language.</p>\n{}",
        table("Copies by how their URLs differ from those of the pages kept", &words(&heading), 1, &rows)
    ) + &soft_404s
}

/// What is not among the copies, since it is no page.
fn soft_404s(report: &Report) -> String {
    match report.gathered.reason(OutcomeKind::Excluded, Exclusion::Soft404.name()) {
        0 => String::new(),
        pages => format!(
            "<p>Not among them: {} with the status 200 in place of 404 (soft 404), left out with all links.</p>\n",
            counted(pages, "answer", "answers")
        ),
    }
}

fn row(pattern: &Pattern, all: u64) -> Row {
    let (copy, original) = &pattern.example;
    vec![
        Cell::Text(shortened(&pattern.difference.pattern, 60)),
        Cell::Figure(thousands(pattern.count)),
        Cell::Figure(share(pattern.count, all)),
        Cell::Urls([copy, original].map(|url| shortened(url, MOST_URL)).to_vec()),
    ]
    .into()
}
