//! The section on failures: by status, and each URL with the pages that link to it.

use std::collections::BTreeMap;

use super::listing::{Cell, Listing, Parts};
use crate::{FailedUrl, HostReport, Report};
use ndcrawl_html_writer::counted;
use ndcrawl_model::OutcomeKind;

/// Rows of the tables in the page.
const ROWS: usize = 200;

/// Returns failures by status, by URL and by host.
pub(super) fn section(report: &Report, parts: &mut Parts<'_>) -> String {
    let failed = report.lines.outcome(OutcomeKind::Failed);
    if failed == 0 {
        return "<p>No URL failed.</p>\n".to_owned();
    }
    let urls = &report.lines.failures.urls;
    let missing = match failed.saturating_sub(urls.len() as u64) {
        0 => String::new(),
        more => format!(" The last {} are in <code>errors.jsonl</code> only.", counted(more, "URL", "URLs")),
    };
    format!(
        "<p>{} failed. To mend a dead link, change the pages that link to it; <code>errors.jsonl</code> has the causes in full.{missing}</p>\n",
        counted(failed, "URL", "URLs")
    ) + &by_kind(urls, parts)
        + &by_url(urls, parts)
        + &by_host(report, parts)
}

fn by_kind(urls: &[FailedUrl], parts: &mut Parts<'_>) -> String {
    let mut kinds: BTreeMap<(String, &str), (u64, u64)> = BTreeMap::new();
    for failed in urls {
        let (count, links) = kinds.entry((failed.kind(), failed.meaning())).or_default();
        (*count, *links) = (*count + 1, *links + failed.links);
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    let row = |((kind, meaning), (count, links)): &((String, &str), (u64, u64))| {
        vec![Cell::Name(kind.clone()), Cell::Text((*meaning).to_owned()), Cell::Count(*count), Cell::Count(*links)]
    };
    let listing = Listing {
        file: "failures-by-status",
        caption: "Failures by status",
        heading: &["status", "meaning", "URLs", "links to them"],
        rows: kinds.iter().map(row).collect(),
        most: ROWS,
        what: "kinds",
    };
    listing.html(parts)
}

fn by_url(urls: &[FailedUrl], parts: &mut Parts<'_>) -> String {
    let mut urls: Vec<&FailedUrl> = urls.iter().collect();
    urls.sort_by_cached_key(|failed| (failed.kind(), std::cmp::Reverse(failed.links), failed.url.clone()));
    let row = |failed: &&FailedUrl| {
        vec![
            Cell::NameUrl(failed.url.clone()),
            Cell::Text(failed.kind()),
            Cell::Count(failed.links),
            Cell::Urls(failed.linked_from.clone()),
        ]
    };
    let listing = Listing {
        file: "failures",
        caption: "URLs that failed",
        heading: &["URL", "status", "links", "linked from"],
        rows: urls.iter().map(row).collect(),
        most: ROWS,
        what: "URLs",
    };
    // A row for each page that links to it.
    let rows = listing.rows.iter().flat_map(|cells| {
        let [others @ .., Cell::Urls(linked_from)] = &cells[..] else { return vec![cells.clone()] };
        let row = |url: Option<&String>| [others, &[Cell::Urls(url.cloned().into_iter().collect())]].concat();
        if linked_from.is_empty() { vec![row(None)] } else { linked_from.iter().map(|url| row(Some(url))).collect() }
    });
    listing.html_with_file(parts, listing.heading, &rows.collect::<Vec<_>>())
}

fn by_host(report: &Report, parts: &mut Parts<'_>) -> String {
    let mut sites: Vec<(&String, &HostReport)> =
        report.lines.sites.iter().filter(|(_, site)| site.failed() > 0).collect();
    if sites.len() < 2 {
        return String::new();
    }
    sites.sort_by_key(|(host, site)| (std::cmp::Reverse(site.failed()), *host));
    let row = |(host, site): &(&String, &HostReport)| {
        let classes: Vec<String> = classes(site).iter().map(|(name, count)| format!("{name} {count}")).collect();
        vec![Cell::Name((*host).clone()), Cell::Count(site.failed()), Cell::Text(classes.join(", "))]
    };
    let listing = Listing {
        file: "failures-by-host",
        caption: "Failures by host",
        heading: &["host", "failed", "by class"],
        rows: sites.iter().map(row).collect(),
        most: 50,
        what: "hosts",
    };
    let rows = sites.iter().flat_map(|(host, site)| {
        let row =
            |(class, count)| vec![Cell::Name((*host).clone()), Cell::Text(str::to_owned(class)), Cell::Count(count)];
        classes(site).into_iter().map(row)
    });
    listing.html_with_file(parts, &["host", "class", "failed"], &rows.collect::<Vec<_>>())
}

/// Returns the failures of a host by class, the most common first.
fn classes(site: &HostReport) -> Vec<(&'static str, u64)> {
    let mut classes: Vec<(&str, u64)> = site.failures.iter().map(|(class, count)| (class.name(), *count)).collect();
    classes.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    classes
}
