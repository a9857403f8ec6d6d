//! Hosts: how much of each is repetition, and whom each repeats.

use super::{MOST_HOSTS, MOST_TITLE, and_more, share};
use crate::eval::Estimate;
use crate::html_writer::plot::{self, Bar};
use crate::html_writer::{Cell, Row, figure, shortened, table, thousands, words};
use crate::report::{Report, Site};

/// Hosts of the plot, and of the matrix.
const PLOTTED: usize = 20;
const MATRIX: usize = 12;
/// Characters of a host in a plot.
const NAME: usize = 26;

/// Duplicate rates by host.
pub(super) fn section(report: &Report) -> String {
    let mut sites: Vec<(&String, &Site)> = report.gathered.sites.iter().filter(|(_, site)| site.judged() > 0).collect();
    sites.sort_by_key(|(host, site)| (std::cmp::Reverse(site.judged()), *host));
    if sites.is_empty() {
        return "<p>No page was compared.</p>\n".to_owned();
    }
    let bars = |(host, site): &(&String, &Site)| {
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
    let svg = plot::bars("The share of duplicates among the pages compared, by host, with its interval", &groups, 1.0);
    let rows: Vec<Row> = sites.iter().take(MOST_HOSTS).map(|(host, site)| row(host, site)).collect();
    let heading =
        ["host", "compared", "unique", "near", "exact", "duplicates", "95 % interval", "not fetched", "failed"];
    let mut html = "<p>Of the pages of a host that were compared, how many repeat a page kept before, of whichever host. Intervals are \
                    Wilson’s, 95 %: where the rate of the whole site lies if these pages are a fair sample of it.</p>\n"
        .to_owned();
    html += &format!("<div class=\"plots\">{}</div>\n", figure("Share of duplicates, and its interval", &svg));
    html += &table("Pages by host", &words(&heading), 1, &rows);
    html + &and_more(sites.len(), MOST_HOSTS, "hosts")
}

fn rate(site: &Site) -> Estimate {
    let number = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    Estimate::share(number(site.copies()), number(site.judged()))
}

fn row(host: &str, site: &Site) -> Row {
    let interval = rate(site).interval.map(|(low, high)| format!("{:.1}–{:.1} %", low * 100.0, high * 100.0));
    let mut cells = vec![Cell::Name(shortened(host, MOST_TITLE))];
    cells.extend([site.judged(), site.stored, site.near, site.exact].map(|count| Cell::Figure(thousands(count))));
    cells.push(Cell::Heat(rate(site).value));
    cells.push(Cell::Figure(interval.unwrap_or_default()));
    cells.extend([site.skipped + site.predicted, site.failed()].map(|count| Cell::Figure(thousands(count))));
    cells.into()
}

/// Which hosts repeat which.
pub(super) fn matrix(report: &Report) -> String {
    let between = &report.gathered.between;
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
    let row = |copy: &&str| -> Row {
        let judged = report.gathered.sites.get(*copy).map_or(0, Site::judged);
        let cell = |of: &&str| match between.get(&((*copy).to_owned(), (*of).to_owned())) {
            Some(count) => Cell::HeatCount(thousands(*count), *count as f64 / judged.max(1) as f64),
            None => Cell::Text(String::new()),
        };
        std::iter::once(Cell::Name(shortened(copy, NAME))).chain(shown.iter().map(cell)).collect::<Vec<_>>().into()
    };
    let rows: Vec<Row> = shown.iter().map(row).collect();
    let heading: Vec<String> =
        std::iter::once("host ↓ repeats →".to_owned()).chain(shown.iter().map(|host| shortened(host, NAME))).collect();
    let own: u64 = between.iter().filter(|((copy, of), _)| copy == of).map(|(_, count)| count).sum();
    let all: u64 = between.values().sum();
    let mut html = format!(
        "<p>Of {} duplicates {} repeat a page of their own host, {} one of another. Each row is a host whose pages repeat \
         pages of the hosts in the columns; the shade is the share of the row’s pages.</p>\n",
        thousands(all),
        thousands(own),
        thousands(all - own)
    );
    html += &table("Duplicates by their host and the host that they repeat", &heading, 1, &rows);
    html + &and_more(hosts.len(), MATRIX, "hosts")
}
