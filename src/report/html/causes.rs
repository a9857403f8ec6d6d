//! The section on the causes of duplicates.

use super::{MOST_URL, share};
use crate::html_writer::{TableCell, TableRow, counted, shortened, table, thousands, words};
use crate::model::{Exclusion, OutcomeKind};
use crate::report::{CausePattern, Report};

/// Maximum patterns per cause.
const PATTERNS: usize = 5;

/// Returns the causes, each with its most common patterns.
pub(super) fn section(report: &Report) -> String {
    let ranked = report.lines.causes.ranked(PATTERNS);
    let soft_404s = soft_404s(report);
    if ranked.is_empty() {
        return format!("<p>No duplicates.</p>\n{soft_404s}");
    }
    let all: u64 = ranked.iter().map(|(_, count, ..)| count).sum();
    let mut rows = Vec::new();
    for (cause, count, patterns, kinds) in &ranked {
        let mut cells = vec![TableCell::Name(cause.name().to_owned()), TableCell::Figure(thousands(*count))];
        cells.push(TableCell::Figure(share(*count, all)));
        cells.push(TableCell::Text(if *kinds == 1 {
            String::new()
        } else {
            format!("{} patterns", thousands(*kinds as u64))
        }));
        rows.push(TableRow { class: "first whole", cells });
        rows.extend(patterns.iter().map(|pattern| row(pattern, all)));
    }
    let heading = ["copy → page kept", "copies", "share", "example: copy, page kept"];
    format!(
        "<p>How the URL of a copy differs from the URL of the page kept. A mirror host has the same path on another host. A replaced \
         path segment is usually a version or a language.</p>\n{}",
        table("Copies by difference of URLs", &words(&heading), 1, &rows)
    ) + &soft_404s
}

/// Returns a note on soft 404s, which are excluded and not counted as copies.
fn soft_404s(report: &Report) -> String {
    match report.lines.reason(OutcomeKind::Excluded, Exclusion::Soft404.name()) {
        0 => String::new(),
        pages => format!(
            "<p>Excluded: {} that answered 200 instead of 404 (soft 404). Their links were not followed.</p>\n",
            counted(pages, "page", "pages")
        ),
    }
}

fn row(pattern: &CausePattern, all: u64) -> TableRow {
    let (copy, original) = &pattern.example;
    vec![
        TableCell::Text(shortened(&pattern.difference.pattern, 60)),
        TableCell::Figure(thousands(pattern.count)),
        TableCell::Figure(share(pattern.count, all)),
        TableCell::Urls([copy, original].map(|url| shortened(url, MOST_URL)).to_vec()),
    ]
    .into()
}
