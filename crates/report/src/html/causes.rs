//! The section on the causes of duplicates.

use super::listing::{Cell, Listing, Parts};
use crate::{CausePattern, DuplicateCause, Report};
use ndcrawl_html_writer::counted;
use ndcrawl_model::{Exclusion, Reason};

/// Rows in the page.
const ROWS: usize = 40;

/// Returns the causes with their patterns.
pub(super) fn section(report: &Report, parts: &mut Parts<'_>) -> String {
    let ranked = report.lines.causes.ranked(usize::MAX);
    let soft_404s = soft_404s(report);
    if ranked.is_empty() {
        return format!("<p>No duplicates.</p>\n{soft_404s}");
    }
    let all: u64 = ranked.iter().map(|(_, count, ..)| count).sum();
    let by_cause = Listing {
        file: "causes",
        caption: "Copies by difference of URLs",
        heading: &["difference", "copies", "share", "patterns"],
        rows: ranked
            .iter()
            .map(|(cause, count, _, patterns)| {
                vec![
                    Cell::Name(cause.name().to_owned()),
                    Cell::Count(*count),
                    Cell::Share(*count, all),
                    Cell::Count(*patterns as u64),
                ]
            })
            .collect(),
        most: ROWS,
        what: "causes",
    };
    let mut patterns: Vec<(DuplicateCause, &CausePattern)> =
        ranked.iter().flat_map(|(cause, _, patterns, _)| patterns.iter().map(|pattern| (*cause, pattern))).collect();
    patterns.sort_by_key(|(_, pattern)| std::cmp::Reverse(pattern.count));
    let by_pattern = Listing {
        file: "patterns",
        caption: "The most common patterns",
        heading: &["pattern", "difference", "copies", "share", "example: copy, page kept"],
        rows: patterns.iter().map(|(cause, pattern)| row(*cause, pattern, all)).collect(),
        most: ROWS,
        what: "patterns",
    };
    let file = patterns.iter().map(|(cause, pattern)| {
        let mut cells = row(*cause, pattern, all);
        cells.push(Cell::Urls(vec![pattern.example.1.clone()]));
        cells
    });
    let heading = ["pattern", "difference", "copies", "share", "example copy", "example page kept"];
    "<p>How the URL of a copy differs from the URL of the page kept. A mirror host has the same path on another host. A replaced path \
     segment is usually a version or a language.</p>\n"
        .to_owned()
        + &by_cause.html(parts)
        + &by_pattern.html_with_file(parts, &heading, &file.collect::<Vec<_>>())
        + &soft_404s
}

fn row(cause: DuplicateCause, pattern: &CausePattern, all: u64) -> Vec<Cell> {
    let (copy, original) = pattern.example.clone();
    vec![
        Cell::Name(pattern.difference.pattern.clone()),
        Cell::Text(cause.name().to_owned()),
        Cell::Count(pattern.count),
        Cell::Share(pattern.count, all),
        Cell::Urls(vec![copy, original]),
    ]
}

/// Returns a note on soft 404s, which are excluded and not counted as copies.
fn soft_404s(report: &Report) -> String {
    match report.lines.reason(Reason::Excluded(Exclusion::Soft404)) {
        0 => String::new(),
        pages => format!(
            "<p>Excluded: {} that answered 200 instead of 404 (soft 404). Their links were not followed.</p>\n",
            counted(pages, "page", "pages")
        ),
    }
}
