//! The report as one HTML page: sections of plots, each with a table of its data.

mod causes;
mod clusters;
mod growth;
mod servers;
mod similarity;
mod sites;
mod skip_cost;
#[cfg(test)]
mod tests;

use super::Report;
use crate::html_writer::{card, counted, escaped, folded, page, shortened, thousands};
use crate::model::OutcomeKind;

/// Maximum rows of a table of hosts.
const MOST_HOSTS: usize = 100;
/// Maximum characters of a URL.
const MOST_URL: usize = 160;
/// Maximum characters of a title or host.
const MOST_TITLE: usize = 120;
/// Maximum seeds listed.
const MOST_SEEDS: usize = 20;

/// A section: ID, heading, and HTML.
type Section = (&'static str, &'static str, String);

/// Returns the whole page.
pub(super) fn html(report: &Report) -> String {
    let is_crawl = report.facts.inputs.is_none();
    let sections: Vec<Section> = [
        ("sites", "Hosts", sites::section(report)),
        ("causes", "Causes of duplicates", causes::section(report)),
        ("between", "Duplicates between hosts", sites::matrix(report)),
        ("scores", "Similarity of near-duplicates", similarity::histogram(report)),
        ("thresholds", "Threshold curve", similarity::curve(report)),
        (
            "growth",
            if is_crawl { "Unique pages by requests" } else { "Unique pages by responses" },
            growth::section(report),
        ),
        ("clusters", "Largest clusters", clusters::section(report)),
        ("links", "Links of duplicates", if is_crawl { skip_cost::section(report) } else { String::new() }),
        ("servers", "Failures and politeness", if is_crawl { servers::section(report) } else { String::new() }),
        ("settings", "Settings", settings(report)),
    ]
    .into_iter()
    .filter(|(_, _, html)| !html.is_empty())
    .collect();
    let contents: String =
        sections.iter().map(|(id, name, _)| format!("<a href=\"#{id}\">{}</a>", escaped(name))).collect();
    let mut body = head(report);
    body += &cards(report);
    body += &format!("<nav aria-label=\"Contents\">{contents}</nav>\n");
    for (id, name, html) in sections {
        body +=
            &format!("<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{}</h2>\n{html}</section>\n", escaped(name));
    }
    page(&format!("{}: {}", kind(report), title(report)), &body)
}

fn kind(report: &Report) -> &'static str {
    if report.facts.inputs.is_none() { "Crawl report" } else { "Duplicates report" }
}

fn title(report: &Report) -> String {
    let sites = report.lines.sites.iter().filter(|(_, site)| site.judged() > 0);
    let mut sites: Vec<(&String, u64)> = sites.map(|(host, site)| (host, site.judged())).collect();
    sites.sort_by_key(|(host, judged)| (std::cmp::Reverse(*judged), *host));
    match &sites[..] {
        [] => "no pages".to_owned(),
        [(only, _)] => shortened(only, MOST_TITLE),
        [(largest, _), others @ ..] => {
            let others = counted(others.len() as u64, "more host", "more hosts");
            format!("{} and {others}", shortened(largest, MOST_TITLE))
        }
    }
}

fn head(report: &Report) -> String {
    let facts = &report.facts;
    let day =
        |time: &Option<String>| time.as_deref().map_or("?".to_owned(), |time| escaped(time.get(..19).unwrap_or(time)));
    let spent =
        if facts.inputs.is_some() { String::new() } else { format!("crawl time {}; ", span(report.totals.millis)) };
    let stopped = facts.stopped.as_deref().map_or(String::new(), |why| format!(", stopped: {}", escaped(why)));
    format!(
        "<header><h1>{}: {}</h1>\n<p class=\"soft\">{} to {} UTC{stopped}; {spent}ndcrawl {}</p></header>\n",
        kind(report),
        escaped(&title(report)),
        day(&facts.started),
        day(&facts.ended),
        escaped(&facts.version)
    )
}

fn cards(report: &Report) -> String {
    let outcome = |kind| report.lines.outcome(kind);
    let (stored, near, exact) =
        (report.lines.kept(), outcome(OutcomeKind::NearDuplicate), outcome(OutcomeKind::ExactDuplicate));
    let rate = share(near + exact, stored + near + exact);
    let cards = [
        (thousands(stored), "unique pages, kept"),
        (rate, "of compared pages are duplicates"),
        (thousands(near), "near-duplicates"),
        (thousands(exact), "exact duplicates"),
        (thousands(outcome(OutcomeKind::Redirected)), "redirected"),
        (thousands(outcome(OutcomeKind::Excluded)), "excluded by rules"),
    ];
    let of_crawls = [
        (thousands(report.totals.requests), "requests, robots.txt included"),
        (byte_size(report.totals.bytes), "of pages received"),
        (thousands(outcome(OutcomeKind::Failed)), "failed"),
        (thousands(outcome(OutcomeKind::Deferred)), "deferred, not fetched"),
    ];
    let of_others = [(thousands(outcome(OutcomeKind::Failed)), "error responses")];
    let others = if report.facts.inputs.is_none() { &of_crawls[..] } else { &of_others[..] };
    let predicted = outcome(OutcomeKind::PredictedDuplicate);
    let predicted = (predicted > 0).then(|| (thousands(predicted), "predicted duplicates, not fetched"));
    let revised = report.totals.revised;
    let revised = (revised > 0).then(|| (thousands(revised), "verdicts revised at the end"));
    let cards: String =
        cards.iter().chain(others).chain(&predicted).chain(&revised).map(|(value, what)| card(value, what)).collect();
    format!("<div class=\"cards\">{cards}</div>\n")
}

fn settings(report: &Report) -> String {
    let facts = &report.facts;
    let mut html =
        "<p>Settings that differ from the default; <code>crawl.json</code> lists all settings.</p>\n<dl>".to_owned();
    for (name, value) in &facts.settings {
        html += &format!("<dt><code>{}</code></dt><dd>{}</dd>", escaped(name), escaped(&shortened(value, MOST_URL)));
    }
    html += "</dl>\n";
    let (begun_with, [one, many]) = match &facts.inputs {
        Some(inputs) => (inputs, ["input", "inputs"]),
        None => (&facts.seeds, ["seed", "seeds"]),
    };
    let items = begun_with.iter().take(MOST_SEEDS);
    let items: String = items.map(|item| format!("<li class=\"mono\">{}</li>", url(item))).collect();
    html + &folded(
        &counted(begun_with.len() as u64, one, many),
        &format!("<ul class=\"plain\">{items}</ul>\n{}", and_more(begun_with.len(), MOST_SEEDS, many)),
    )
}

/// Returns `… and 7 more hosts`, or an empty string.
fn and_more(all: usize, shown: usize, what: &str) -> String {
    match all.checked_sub(shown) {
        Some(more @ 1..) => format!("<p class=\"soft\">… and {} more {what}</p>\n", thousands(more as u64)),
        _ => String::new(),
    }
}

/// Returns a URL as markup, shortened if it is long.
fn url(url: &str) -> String {
    escaped(&shortened(url, MOST_URL))
}

/// `12.3 %`.
fn share(part: u64, whole: u64) -> String {
    if whole == 0 { "–".to_owned() } else { format!("{:.1} %", part as f64 * 100.0 / whole as f64) }
}

/// `1.5 MiB`.
fn byte_size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let steps = (0..5).take_while(|step| bytes as f64 / 1024f64.powi(*step) >= 1023.95).count();
    let places = usize::from(steps > 0);
    format!("{:.places$} {}", bytes as f64 / 1024f64.powi(steps as i32), UNITS[steps])
}

/// `1 h 5 min`, `2 min 3 s`, `1.2 s`, `120 ms`.
fn span(millis: u64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0 => format!("{millis} ms"),
        1..=59 => format!("{:.1} s", millis as f64 / 1000.0),
        60..=3599 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}
