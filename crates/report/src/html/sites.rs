//! The sections on duplicate rates by host and on duplicates between hosts.

use super::listing::{Cell, Listing, Parts};
use super::{MOST_TITLE, share};
use crate::{HostReport, Report};
use ndcrawl_html_writer::plot::{self, Bar};
use ndcrawl_html_writer::{figure, shortened, thousands};

/// Maximum hosts of the plot.
const PLOTTED: usize = 20;
/// Rows of a table in the page.
const ROWS: usize = 100;
/// Maximum characters of a host in a plot.
const NAME: usize = 26;

/// Returns duplicate rates by host.
pub(super) fn section(report: &Report, parts: &mut Parts<'_>) -> String {
    let mut sites: Vec<(&String, &HostReport)> =
        report.lines.sites.iter().filter(|(_, site)| site.judged() > 0).collect();
    sites.sort_by_key(|(host, site)| (std::cmp::Reverse(site.judged()), *host));
    if sites.is_empty() {
        return "<p>No page was compared.</p>\n".to_owned();
    }
    let bars = |(host, site): &(&String, &HostReport)| {
        let bar = Bar {
            name: shortened(host, MOST_TITLE),
            value: rate(site),
            whisker: None,
            style: 0,
            label: share(site.copies(), site.judged()),
        };
        (shortened(host, NAME), vec![bar])
    };
    let groups: Vec<(String, Vec<Bar>)> = sites.iter().take(PLOTTED).map(bars).collect();
    let svg = plot::bars("Share of duplicates among compared pages by host", &groups, 1.0);
    let heading = ["host", "compared", "unique", "near", "exact", "duplicates", "not fetched", "failed"];
    let listing = Listing {
        file: "hosts",
        caption: "Pages by host",
        heading: &heading,
        rows: sites.iter().map(|(host, site)| row(host, site)).collect(),
        most: ROWS,
        what: "hosts",
    };
    let mut html = "<p>Share of a host’s compared pages that duplicate a page kept earlier, from any host. Where links of duplicates or \
                    predicted duplicates were not fetched, more of the host is repetition than that.</p>\n"
        .to_owned();
    html += &format!("<div class=\"plots\">{}</div>\n", figure("Share of duplicates", &svg));
    html + &listing.html(parts)
}

fn rate(site: &HostReport) -> f64 {
    site.copies() as f64 / site.judged().max(1) as f64
}

fn row(host: &str, site: &HostReport) -> Vec<Cell> {
    let mut cells = vec![Cell::Name(host.to_owned())];
    cells.extend([site.judged(), site.stored, site.near, site.exact].map(Cell::Count));
    cells.push(Cell::Heat(Some(rate(site))));
    cells.extend([site.skipped + site.predicted, site.failed()].map(Cell::Count));
    cells
}

/// Returns which host repeats which; empty if no page repeats one of another host.
pub(super) fn between(report: &Report, parts: &mut Parts<'_>) -> String {
    let between = &report.lines.between;
    let own: u64 = between.iter().filter(|((copy, of), _)| copy == of).map(|(_, count)| count).sum();
    let all: u64 = between.values().sum();
    if all == own {
        return String::new();
    }
    let mut pairs: Vec<(&(String, String), &u64)> = between.iter().collect();
    pairs.sort_by_key(|(pair, count)| (std::cmp::Reverse(**count), *pair));
    let row = |((copy, of), count): &(&(String, String), &u64)| {
        let judged = report.lines.sites.get(copy).map_or(0, HostReport::judged);
        vec![
            Cell::Name(copy.clone()),
            Cell::Text(of.clone()),
            Cell::Shaded(**count, **count as f64 / judged.max(1) as f64),
            Cell::Share(**count, judged),
        ]
    };
    let listing = Listing {
        file: "between-hosts",
        caption: "Duplicates by host of the copy and host of the page kept",
        heading: &["host of the copies", "host of the pages kept", "copies", "share of the host"],
        rows: pairs.iter().map(row).collect(),
        most: ROWS,
        what: "pairs",
    };
    format!(
        "<p>Of {} duplicates, {} copy a page of their own host and {} a page of another host. The shade shows the share of the copying \
         host’s compared pages.</p>\n{}",
        thousands(all),
        thousands(own),
        thousands(all - own),
        listing.html(parts)
    )
}
