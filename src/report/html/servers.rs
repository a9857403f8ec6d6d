//! How servers answered, and how they were spared.

use super::{MOST_HOSTS, MOST_TITLE, and_more, byte_size, share, span};
use crate::html_writer::{Cell, Row, counted, folded, shortened, table, thousands, words};
use crate::model::{HostRow, OutcomeKind};
use crate::report::{Report, Site};

/// Failures by host, then requests by origin.
pub(super) fn section(report: &Report) -> String {
    failures(report) + &exclusions(report) + &origins(report)
}

fn failures(report: &Report) -> String {
    let mut sites: Vec<(&String, &Site)> = report.gathered.sites.iter().filter(|(_, site)| site.failed() > 0).collect();
    if sites.is_empty() {
        return "<p>No URL failed.</p>\n".to_owned();
    }
    sites.sort_by_key(|(host, site)| (std::cmp::Reverse(site.failed()), *host));
    let row = |(host, site): &(&String, &Site)| -> Row {
        let mut classes: Vec<(&String, &u64)> = site.failures.iter().collect();
        classes.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), *name));
        let classes: Vec<String> =
            classes.iter().map(|(name, count)| format!("{name} {}", thousands(**count))).collect();
        vec![
            Cell::Name(shortened(host, MOST_TITLE)),
            Cell::Figure(thousands(site.failed())),
            Cell::Text(classes.join(", ")),
        ]
        .into()
    };
    let rows: Vec<Row> = sites.iter().take(MOST_HOSTS).map(row).collect();
    let failed = report.gathered.outcome(OutcomeKind::Failed);
    format!(
        "<p>{} failed; <code>errors.jsonl</code> says how.</p>\n{}{}",
        counted(failed, "URL", "URLs"),
        table("Failures by host", &words(&["host", "failed", "by class"]), 1, &rows),
        and_more(sites.len(), MOST_HOSTS, "hosts")
    )
}

fn exclusions(report: &Report) -> String {
    let kinds = [OutcomeKind::Excluded, OutcomeKind::Deferred];
    let reasons =
        report.gathered.reasons.iter().filter(|((outcome, _), _)| kinds.iter().any(|kind| kind.name() == outcome));
    let rows: Vec<Row> = reasons
        .map(|((outcome, reason), count)| {
            vec![Cell::Name(outcome.clone()), Cell::Text(reason.clone()), Cell::Figure(thousands(*count))].into()
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    table("URLs kept out or left, by reason", &words(&["outcome", "reason", "URLs"]), 2, &rows)
}

fn origins(report: &Report) -> String {
    let mut hosts: Vec<&HostRow> = report.hosts.iter().filter(|host| host.requests > 0).collect();
    hosts.sort_by_key(|host| std::cmp::Reverse(host.requests));
    let rows: Vec<Row> = hosts.iter().take(MOST_HOSTS).map(|host| origin(report, host)).collect();
    let heading = [
        "origin",
        "requests",
        "without answer",
        "received",
        "mean response",
        "gap, median",
        "gap, least",
        "robots.txt",
        "forbidden",
    ];
    let listed =
        table("Requests by origin", &words(&heading), 1, &rows) + &and_more(hosts.len(), MOST_HOSTS, "origins");
    format!(
        "<p>Gaps are between the starts of requests for pages of a host, without repeated ones; a host that was asked several at a time \
         has gaps of nearly nothing.</p>\n{}",
        if hosts.len() > 30 { folded(&counted(hosts.len() as u64, "origin", "origins"), &listed) } else { listed }
    )
}

fn origin(report: &Report, host: &HostRow) -> Row {
    let name = super::super::gather::host(&host.origin);
    let site = report.gathered.sites.get(&name);
    let gaps = site.and_then(Site::gaps);
    let gap = |gap: Option<i64>| Cell::Figure(gap.map_or("–".to_owned(), |gap| span(u64::try_from(gap).unwrap_or(0))));
    let answered = host.requests.saturating_sub(host.unanswered);
    let response = host.response_micros.checked_div(answered).map(|micros| match micros {
        0..1000 => "<1 ms".to_owned(),
        _ => span(micros / 1000),
    });
    let robots = match &host.robots {
        None => "–".to_owned(),
        Some(robots) if robots.status == 0 => "not reached".to_owned(),
        Some(robots) => robots.status.to_string(),
    };
    let forbidden = site.and_then(|site| site.excluded.get("robots")).copied().unwrap_or(0);
    vec![
        Cell::Name(shortened(&host.origin, MOST_TITLE)),
        Cell::Figure(thousands(host.requests)),
        Cell::Figure(share(host.unanswered, host.requests)),
        Cell::Figure(byte_size(host.bytes)),
        Cell::Figure(response.unwrap_or_else(|| "–".to_owned())),
        gap(gaps.map(|(_, median)| median)),
        gap(gaps.map(|(least, _)| least)),
        Cell::Figure(robots),
        Cell::Figure(thousands(forbidden)),
    ]
    .into()
}
