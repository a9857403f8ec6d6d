//! The section on what pages say of themselves beside what was measured.

use super::listing::{Cell, Listing, Parts};
use crate::html_writer::{escaped, thousands};
use crate::report::{AlikePages, Mend, Report, SiteChange};

/// Rows of the table in the page.
const ROWS: usize = 10;

/// Returns the changes by pattern, the findings, and all pages that have one.
pub(super) fn section(report: &Report, parts: &mut Parts<'_>) -> String {
    changes(report, parts) + &alike(report, parts) + &findings(report, parts)
}

/// Returns what to change, ranked.
fn changes(report: &Report, parts: &mut Parts<'_>) -> String {
    let audit = &report.audit;
    if audit.changes.is_empty() {
        return String::new();
    }
    let left = audit.left;
    let mut html = format!(
        "<p>Redirects and lines of robots.txt stand here only if each page that they take away repeats one that stays. With all of \
         them, {} pages are left, {} of them duplicates (now {} of {}).</p>\n",
        thousands(left.compared),
        thousands(left.duplicates),
        thousands(audit.duplicates),
        thousands(audit.compared)
    );
    let listing = Listing {
        file: "changes",
        caption: "What to change, by pattern",
        heading: &[
            "URLs",
            "pages",
            "requests",
            "not fetched",
            "change",
            "unique texts lost",
            "example",
            "the page that stays",
        ],
        rows: audit.changes.iter().map(row).collect(),
        most: ROWS,
        what: "changes",
    };
    html += &listing.html(parts);
    html
}

fn row(change: &SiteChange) -> Vec<Cell> {
    let mend = match &change.mend {
        Mend::Robots { lines, .. } => format!("robots.txt: {}", lines.join("; ")),
        Mend::Redirect { from, to } => format!("301: {from} to {to}"),
        Mend::Canonical => "canonical tags".to_owned(),
    };
    vec![
        Cell::Name(change.pattern.clone()),
        Cell::Count(change.pages),
        Cell::Count(change.requests),
        Cell::Count(change.left_out),
        Cell::Text(mend),
        Cell::Count(change.unique),
        Cell::Urls(vec![change.example.url.clone()]),
        Cell::Urls(vec![change.example.other.clone()]),
    ]
}

/// Returns the groups of unique pages that are much alike.
fn alike(report: &Report, parts: &mut Parts<'_>) -> String {
    let groups = &report.audit.alike;
    if groups.is_empty() {
        return String::new();
    }
    let row = |group: &AlikePages| {
        vec![
            Cell::Name(group.pattern.clone()),
            Cell::Count(group.pages),
            Cell::Heat(Some(group.alike)),
            Cell::Urls(vec![group.example.clone()]),
        ]
    };
    let listing = Listing {
        file: "alike",
        caption: "Unique pages that are much alike, by URL pattern",
        heading: &["pattern", "unique pages", "alike", "example"],
        rows: groups.iter().map(row).collect(),
        most: ROWS,
        what: "patterns",
    };
    "<p>Many unique pages of one pattern that are much alike may be a trap, or one page with a parameter that only a link or a form \
     repeats.</p>\n"
        .to_owned()
        + &listing.html(parts)
}

fn findings(report: &Report, parts: &mut Parts<'_>) -> String {
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
                Cell::Urls(Some(page.other.clone()).filter(|url| !url.is_empty()).into_iter().collect()),
                Cell::Figure(page.count.map_or(String::new(), |count| count.to_string())),
            ]
        };
        pages.iter().map(row)
    });
    let listing = Listing {
        file: "audit",
        caption: "Pages with a finding",
        heading: &["finding", "page", "the other one", "links or words"],
        rows: rows.collect(),
        most: ROWS,
        what: "findings",
    };
    html + &listing.html(parts)
}
