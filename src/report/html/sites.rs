//! The sections on duplicate rates by host and on duplicates between hosts.

use super::{MOST_HOSTS, MOST_TITLE, and_more, share};
use crate::eval::Estimate;
use crate::html_writer::plot::{self, Bar};
use crate::html_writer::{TableCell, TableRow, figure, shortened, table, thousands, words};
use crate::report::{HostReport, Report};

/// Maximum hosts of the plot.
const PLOTTED: usize = 20;
/// Maximum hosts of the matrix.
const MATRIX: usize = 12;
/// Maximum characters of a host in a plot.
const NAME: usize = 26;

/// Returns duplicate rates by host.
pub(super) fn section(report: &Report) -> String {
    let mut sites: Vec<(&String, &HostReport)> =
        report.lines.sites.iter().filter(|(_, site)| site.judged() > 0).collect();
    sites.sort_by_key(|(host, site)| (std::cmp::Reverse(site.judged()), *host));
    if sites.is_empty() {
        return "<p>No page was compared.</p>\n".to_owned();
    }
    let bars = |(host, site): &(&String, &HostReport)| {
        let Estimate { value, interval } = rate(site);
        let bar = Bar {
            name: shortened(host, MOST_TITLE),
            value: value.unwrap_or(0.0),
            whisker: interval,
            style: 0,
            label: share(site.copies(), site.judged()),
        };
        (shortened(host, NAME), vec![bar])
    };
    let groups: Vec<(String, Vec<Bar>)> = sites.iter().take(PLOTTED).map(bars).collect();
    let svg = plot::bars("Share of duplicates among compared pages by host, with 95% interval", &groups, 1.0);
    let rows: Vec<TableRow> = sites.iter().take(MOST_HOSTS).map(|(host, site)| row(host, site)).collect();
    let heading =
        ["host", "compared", "unique", "near", "exact", "duplicates", "95% interval", "not fetched", "failed"];
    let mut html = "<p>Share of a host’s compared pages that duplicate a page kept earlier, from any host. The interval (Wilson, 95%) holds \
                    the rate of the whole host if these pages are a random sample of it.</p>\n"
        .to_owned();
    html += &format!("<div class=\"plots\">{}</div>\n", figure("Share of duplicates, with 95% interval", &svg));
    html += &table("Pages by host", &words(&heading), 1, &rows);
    html + &and_more(sites.len(), MOST_HOSTS, "hosts")
}

fn rate(site: &HostReport) -> Estimate {
    let number = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    Estimate::share(number(site.copies()), number(site.judged()))
}

fn row(host: &str, site: &HostReport) -> TableRow {
    let interval = rate(site).interval.map(|(low, high)| format!("{:.1}–{:.1} %", low * 100.0, high * 100.0));
    let mut cells = vec![TableCell::Name(shortened(host, MOST_TITLE))];
    cells.extend([site.judged(), site.stored, site.near, site.exact].map(|count| TableCell::Figure(thousands(count))));
    cells.push(TableCell::Heat(rate(site).value));
    cells.push(TableCell::Figure(interval.unwrap_or_default()));
    cells.extend([site.skipped + site.predicted, site.failed()].map(|count| TableCell::Figure(thousands(count))));
    cells.into()
}

/// Returns the matrix of duplicates between hosts.
pub(super) fn matrix(report: &Report) -> String {
    let between = &report.lines.between;
    if between.is_empty() {
        return String::new();
    }
    let mut weights = std::collections::HashMap::<&str, u64>::new();
    for ((copy, of), count) in between {
        *weights.entry(copy).or_default() += count;
        if copy != of {
            *weights.entry(of).or_default() += count;
        }
    }
    let mut hosts: Vec<(&str, u64)> = weights.into_iter().collect();
    hosts.sort_by_key(|(host, weight)| (std::cmp::Reverse(*weight), *host));
    let shown: Vec<&str> = hosts.iter().take(MATRIX).map(|(host, _)| *host).collect();
    let row = |copy: &&str| -> TableRow {
        let judged = report.lines.sites.get(*copy).map_or(0, HostReport::judged);
        let cell = |of: &&str| match between.get(&((*copy).to_owned(), (*of).to_owned())) {
            Some(count) => TableCell::HeatCount(thousands(*count), *count as f64 / judged.max(1) as f64),
            None => TableCell::Text(String::new()),
        };
        std::iter::once(TableCell::Name(shortened(copy, NAME))).chain(shown.iter().map(cell)).collect::<Vec<_>>().into()
    };
    let rows: Vec<TableRow> = shown.iter().map(row).collect();
    let heading: Vec<String> = std::iter::once("copy on ↓, page kept on →".to_owned())
        .chain(shown.iter().map(|host| shortened(host, NAME)))
        .collect();
    let own: u64 = between.iter().filter(|((copy, of), _)| copy == of).map(|(_, count)| count).sum();
    let all: u64 = between.values().sum();
    let mut html = format!(
        "<p>Of {} duplicates, {} copy a page of their own host and {} a page of another host. Rows are hosts of copies, columns \
         hosts of the pages kept. The shade shows the share of the row host’s compared pages.</p>\n",
        thousands(all),
        thousands(own),
        thousands(all - own)
    );
    html += &table("Duplicates by host of the copy and host of the page kept", &heading, 1, &rows);
    html + &and_more(hosts.len(), MATRIX, "hosts")
}
