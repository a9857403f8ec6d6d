//! The section on what pages say of themselves beside what was measured.

use super::listing::{Cell, Listing, Parts};
use crate::html_writer::{escaped, thousands};
use crate::report::Report;

/// Rows of the table in the page.
const ROWS: usize = 10;

/// Returns the findings, and all pages that have one.
pub(super) fn section(report: &Report, parts: &mut Parts<'_>) -> String {
    let findings = &report.audit.findings;
    if findings.is_empty() {
        return "<p>Nothing that the pages say of themselves contradicts what was measured.</p>\n".to_owned();
    }
    let mut html = "<p>What pages say of themselves (canonical page, title, URL) beside the duplicates that were measured.</p>\n<ul>\n".to_owned();
    for (kind, pages) in findings {
        let count = thousands(pages.len() as u64);
        html += &format!("<li><b>{count}</b> {}: {}</li>\n", escaped(kind.meaning()), escaped(kind.remedy()));
    }
    html += "</ul>\n";
    let rows = findings.iter().flat_map(|(kind, pages)| {
        let row = |page: &crate::report::FoundPage| {
            vec![
                Cell::Text(kind.name().to_owned()),
                Cell::NameUrl(page.url.clone()),
                Cell::Urls(vec![page.other.clone()]),
            ]
        };
        pages.iter().map(row)
    });
    let listing = Listing {
        file: "audit",
        caption: "Pages with a finding",
        heading: &["finding", "page", "the other one"],
        rows: rows.collect(),
        most: ROWS,
        what: "findings",
    };
    html + &listing.html(parts)
}
