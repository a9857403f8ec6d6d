//! The section on failures and politeness.

use super::{MOST_HOSTS, MOST_TITLE, and_more, byte_size, share, span};
use crate::html_writer::{TableCell, TableRow, counted, folded, shortened, table, thousands, words};
use crate::model::{HostRow, OutcomeKind};
use crate::report::{HostReport, Report};

/// Returns failures by host, exclusions by reason, and requests by origin.
pub(super) fn section(report: &Report) -> String {
    failures(report) + &exclusions(report) + &origins(report)
}

fn failures(report: &Report) -> String {
    let mut sites: Vec<(&String, &HostReport)> =
        report.lines.sites.iter().filter(|(_, site)| site.failed() > 0).collect();
    if sites.is_empty() {
        return "<p>No URL failed.</p>\n".to_owned();
    }
    sites.sort_by_key(|(host, site)| (std::cmp::Reverse(site.failed()), *host));
    let row = |(host, site): &(&String, &HostReport)| -> TableRow {
        let mut classes: Vec<(&String, &u64)> = site.failures.iter().collect();
        classes.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), *name));
        let classes: Vec<String> =
            classes.iter().map(|(name, count)| format!("{name} {}", thousands(**count))).collect();
        vec![
            TableCell::Name(shortened(host, MOST_TITLE)),
            TableCell::Figure(thousands(site.failed())),
            TableCell::Text(classes.join(", ")),
        ]
        .into()
    };
    let rows: Vec<TableRow> = sites.iter().take(MOST_HOSTS).map(row).collect();
    let failed = report.lines.outcome(OutcomeKind::Failed);
    format!(
        "<p>{} failed; <code>errors.jsonl</code> lists each with its error.</p>\n{}{}",
        counted(failed, "URL", "URLs"),
        table("Failures by host", &words(&["host", "failed", "by error class"]), 1, &rows),
        and_more(sites.len(), MOST_HOSTS, "hosts")
    )
}

fn exclusions(report: &Report) -> String {
    let kinds = [OutcomeKind::Excluded, OutcomeKind::Deferred];
    let reasons =
        report.lines.reasons.iter().filter(|((outcome, _), _)| kinds.iter().any(|kind| kind.name() == outcome));
    let rows: Vec<TableRow> = reasons
        .map(|((outcome, reason), count)| {
            vec![
                TableCell::Name(outcome.clone()),
                TableCell::Text(reason.clone()),
                TableCell::Figure(thousands(*count)),
            ]
            .into()
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    table("Excluded and deferred URLs by reason", &words(&["outcome", "reason", "URLs"]), 2, &rows)
}

fn origins(report: &Report) -> String {
    let mut hosts: Vec<&HostRow> = report.hosts.iter().filter(|host| host.requests > 0).collect();
    hosts.sort_by_key(|host| std::cmp::Reverse(host.requests));
    let rows: Vec<TableRow> = hosts.iter().take(MOST_HOSTS).map(|host| origin(report, host)).collect();
    let heading = [
        "origin",
        "requests",
        "unanswered",
        "received",
        "mean response time",
        "median gap",
        "shortest gap",
        "robots.txt",
        "disallowed",
    ];
    let listed =
        table("Requests by origin", &words(&heading), 1, &rows) + &and_more(hosts.len(), MOST_HOSTS, "origins");
    format!(
        "<p>A gap is the time between the starts of two page requests to a host, without retries. Hosts with parallel requests have \
         gaps near 0.</p>\n{}",
        if hosts.len() > 30 { folded(&counted(hosts.len() as u64, "origin", "origins"), &listed) } else { listed }
    )
}

fn origin(report: &Report, host: &HostRow) -> TableRow {
    let name = super::super::line_stats::host(&host.origin);
    let site = report.lines.sites.get(&name);
    let gaps = site.and_then(HostReport::gaps);
    let gap =
        |gap: Option<i64>| TableCell::Figure(gap.map_or("–".to_owned(), |gap| span(u64::try_from(gap).unwrap_or(0))));
    let answered = host.requests.saturating_sub(host.unanswered);
    let response = host.response_micros.checked_div(answered).map(|micros| match micros {
        0..1000 => "<1 ms".to_owned(),
        _ => span(micros / 1000),
    });
    let robots = match &host.robots {
        None => "–".to_owned(),
        Some(robots) if robots.status == 0 => "unreachable".to_owned(),
        Some(robots) => robots.status.to_string(),
    };
    let forbidden = site.and_then(|site| site.excluded.get("robots")).copied().unwrap_or(0);
    vec![
        TableCell::Name(shortened(&host.origin, MOST_TITLE)),
        TableCell::Figure(thousands(host.requests)),
        TableCell::Figure(share(host.unanswered, host.requests)),
        TableCell::Figure(byte_size(host.bytes)),
        TableCell::Figure(response.unwrap_or_else(|| "–".to_owned())),
        gap(gaps.map(|(_, median)| median)),
        gap(gaps.map(|(least, _)| least)),
        TableCell::Figure(robots),
        TableCell::Figure(thousands(forbidden)),
    ]
    .into()
}
