//! The section on requests and politeness.

use super::listing::{Cell, Listing, Parts};
use crate::{HostReport, Report};
use ndcrawl_model::{Exclusion, HostRow, shown_origin};

/// Rows in the page.
const ROWS: usize = 100;

/// Returns requests by origin.
pub(super) fn section(report: &Report, parts: &mut Parts<'_>) -> String {
    let mut hosts: Vec<&HostRow> = report.hosts.iter().filter(|host| host.requests > 0).collect();
    if hosts.is_empty() {
        return String::new();
    }
    hosts.sort_by_key(|host| std::cmp::Reverse(host.requests));
    let heading = [
        "origin",
        "requests",
        "unanswered",
        "received",
        "mean response time",
        "median gap",
        "shortest gap",
        "status of robots.txt",
        "disallowed",
    ];
    let listing = Listing {
        file: "origins",
        caption: "Requests by origin",
        heading: &heading,
        rows: hosts.iter().map(|host| origin(report, host)).collect(),
        most: ROWS,
        what: "origins",
    };
    "<p>A gap is the time between the starts of two page requests to a host, without retries. Hosts with parallel requests have gaps \
     near 0.</p>\n"
        .to_owned()
        + &listing.html(parts)
}

fn origin(report: &Report, host: &HostRow) -> Vec<Cell> {
    let name = super::super::line_stats::host(&host.origin);
    let site = report.lines.sites.get(&name);
    let gaps = site.and_then(HostReport::gaps);
    let millis = |gap: Option<i64>| Cell::Millis(gap.and_then(|gap| u64::try_from(gap).ok()));
    let answered = host.requests.saturating_sub(host.unanswered);
    let response = host.response_micros.checked_div(answered).map(|micros| micros.div_ceil(1000));
    let robots = match &host.robots {
        None => String::new(),
        Some(robots) if robots.status == 0 => "unreachable".to_owned(),
        Some(robots) => robots.status.to_string(),
    };
    let forbidden = site.and_then(|site| site.excluded.get(&Exclusion::Robots)).copied().unwrap_or(0);
    vec![
        Cell::NameUrl(shown_origin(&host.origin).to_owned()),
        Cell::Count(host.requests),
        Cell::Share(host.unanswered, host.requests),
        Cell::Bytes(host.bytes),
        Cell::Millis(response),
        millis(gaps.map(|(_, median)| median)),
        millis(gaps.map(|(least, _)| least)),
        Cell::Figure(robots),
        Cell::Count(forbidden),
    ]
}
