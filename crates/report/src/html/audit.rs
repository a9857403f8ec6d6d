//! The section on what pages say of themselves beside what was measured.

use super::listing::{Cell, Listing, Parts};
use crate::{AlikePages, Mend, PageFrame, Report, SiteChange};
use ndcrawl_html_writer::{escaped, folded, thousands};

/// Rows of the table in the page.
const ROWS: usize = 10;

/// Returns the changes by pattern, the findings, and all pages that have one.
pub(super) fn section(report: &Report, parts: &mut Parts<'_>) -> String {
    changes(report, parts) + &alike(report, parts) + &findings(report, parts) + &frames(report, parts)
}

/// Returns what to change, ranked.
fn changes(report: &Report, parts: &mut Parts<'_>) -> String {
    let audit = &report.audit;
    if audit.changes.is_empty() {
        return String::new();
    }
    let left = audit.left;
    let html = format!(
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
            "change",
            "example, and the page that stays",
            "pages",
            "requests",
            "not fetched",
            "texts lost",
        ],
        rows: audit.changes.iter().map(row).collect(),
        most: ROWS,
        what: "changes",
    };
    let rows: Vec<Vec<Cell>> = audit.changes.iter().flat_map(file_rows).collect();
    html + &listing.html_with_file(parts, &FILE, &rows)
}

fn row(change: &SiteChange) -> Vec<Cell> {
    let mend = match &change.mend {
        Mend::Robots { lines, .. } => [&["robots.txt:".to_owned()], &lines[..]].concat(),
        Mend::Redirect { from, to } => vec![format!("301 {from}"), format!("to {to}")],
        Mend::Canonical => vec!["canonical tags".to_owned()],
    };
    let mut cells = vec![
        Cell::Name(change.pattern.clone()),
        Cell::Lines(mend),
        Cell::Urls(vec![change.example.url.clone(), change.example.other.clone()]),
    ];
    cells.extend([change.pages, change.requests, change.left_out, change.unique].map(Cell::Count));
    cells
}

/// The columns of the file of changes.
const FILE: [&str; 11] = [
    "pattern",
    "pages",
    "requests",
    "not fetched",
    "unique texts lost",
    "change",
    "robots txt line",
    "redirect from",
    "redirect to",
    "example",
    "page that stays",
];

/// Returns the rows of a change in the file: one for each line of robots.txt. Only the first has the figures, so that
/// their sums are right.
fn file_rows(change: &SiteChange) -> Vec<Vec<Cell>> {
    let mends: Vec<[&str; 4]> = match &change.mend {
        Mend::Robots { lines, .. } => lines.iter().map(|line| ["robots.txt", line, "", ""]).collect(),
        Mend::Redirect { from, to } => vec![["redirect", "", from, to]],
        Mend::Canonical => vec![["canonical", "", "", ""]],
    };
    let figures = [change.pages, change.requests, change.left_out, change.unique];
    let row = |(place, mend): (usize, &[&str; 4])| {
        let figure = |count: &u64| if place == 0 { Cell::Count(*count) } else { Cell::Figure(String::new()) };
        let mut cells = vec![Cell::Name(change.pattern.clone())];
        cells.extend(figures.iter().map(figure));
        cells.extend(mend.map(|text| Cell::Text(text.to_owned())));
        cells.extend([&change.example.url, &change.example.other].map(|url| Cell::NameUrl(url.clone())));
        cells
    };
    mends.iter().enumerate().map(row).collect()
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
        let row = |page: &crate::FoundPage| {
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
        heading: &["finding", "page", "the other one", "count"],
        rows: rows.collect(),
        most: ROWS,
        what: "findings",
    };
    html + &listing.html(parts) + &hops(report, parts)
}

/// Returns the redirects with a finding, hop by hop.
fn hops(report: &Report, parts: &mut Parts<'_>) -> String {
    let redirects = report.audit.findings.values().flatten().filter(|page| !page.hops.is_empty());
    let rows = redirects.flat_map(|page| {
        let from = std::iter::once(&page.url).chain(&page.hops);
        page.hops.iter().zip(from).enumerate().map(|(place, (to, from))| {
            let urls = [from, to].map(|url| Cell::Urls(vec![url.clone()]));
            let mut cells = vec![Cell::NameUrl(page.url.clone()), Cell::Count(place as u64 + 1)];
            cells.extend(urls);
            cells
        })
    });
    let listing = Listing {
        file: "redirects",
        caption: "Redirects with a finding, hop by hop",
        heading: &["redirect", "hop", "from", "to"],
        rows: rows.collect(),
        most: ROWS,
        what: "hops",
    };
    if listing.rows.is_empty() { String::new() } else { folded("Redirects, hop by hop", &listing.html(parts)) }
}

/// Returns how much of each unique page its frame is.
fn frames(report: &Report, parts: &mut Parts<'_>) -> String {
    let Some(median) = report.audit.median_frame() else { return String::new() };
    let row = |page: &PageFrame| {
        vec![
            Cell::NameUrl(page.url.clone()),
            Cell::Count(page.words),
            Cell::Count(page.frame_words),
            Cell::Heat(Some(page.share())),
        ]
    };
    let listing = Listing {
        file: "frames",
        caption: "The share of the frame in each unique page",
        heading: &["page", "words", "words of the frame", "share"],
        rows: report.audit.frames.iter().map(row).collect(),
        most: ROWS,
        what: "pages",
    };
    format!(
        "<p>The frame is what 9 in 10 pages of a host say, such as menus. It is {:.1} % of the words of a unique page (median).</p>\n{}",
        median.share() * 100.0,
        folded("The frame, by page", &listing.html(parts))
    )
}
