//! The report as HTML: one page with an answer, sections of plots and tables, and the parts beside it.

mod answer;
mod audit;
mod causes;
mod clusters;
pub(super) mod comparison;
mod failures;
mod growth;
mod left_out;
pub(super) mod listing;
mod map;
mod rule_words;
mod servers;
mod similarity;
mod sites;
mod skip_cost;
#[cfg(test)]
mod tests;

use std::io;
use std::time::Duration;

use data_encoding::BASE64;
use sha2::{Digest as _, Sha256};

use super::Report;
use listing::Parts;
use ndcrawl_html_writer::{
    TABLES_SCRIPT, byte_size, card, counted, escaped, folded, link, report_page, shortened, span, thousands,
};
use ndcrawl_model::OutcomeKind;

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

/// Returns the page. Gives the name and the text of each part to `write`; the page refers to them by `folder`, and
/// they to the page by `home`.
pub(super) fn html(
    report: &Report,
    (home, folder): (&str, &str),
    write: &mut dyn FnMut(&str, &str) -> io::Result<()>,
) -> io::Result<String> {
    let mut parts = Parts::new(folder, write);
    let is_crawl = report.facts.inputs.is_none();
    let of_crawl = |html: String| if is_crawl { html } else { String::new() };
    let sections: Vec<Section> = [
        ("sites", "Hosts", sites::section(report, &mut parts)),
        ("map", "Map of directories", map::section(report, &mut parts)),
        ("causes", "Causes of duplicates", causes::section(report, &mut parts)),
        ("audit", "What to change", of_crawl(audit::section(report, &mut parts))),
        ("clusters", "Clusters", clusters::section(report, &mut parts, home)),
        ("between", "Duplicates between hosts", sites::between(report, &mut parts)),
        ("failures", "Failures", of_crawl(failures::section(report, &mut parts))),
        ("left-out", "URLs left out", left_out::section(report, &mut parts)),
        ("links", "Requests saved", of_crawl(skip_cost::section(report, &mut parts))),
        ("scores", "Similarity of near-duplicates", similarity::histogram(report)),
        ("thresholds", "Threshold curve", similarity::curve(report, &mut parts)),
        (
            "growth",
            if is_crawl { "Unique pages by requests" } else { "Unique pages by responses" },
            growth::section(report),
        ),
        ("servers", "Requests and politeness", of_crawl(servers::section(report, &mut parts))),
        ("settings", "Settings", settings(report)),
    ]
    .into_iter()
    .filter(|(_, _, html)| !html.is_empty())
    .collect();
    parts.finish()?;
    let contents: String =
        sections.iter().map(|(id, name, _)| format!("<a href=\"#{id}\">{}</a>", escaped(name))).collect();
    let mut body = head(report);
    body += &cards(report);
    body += &format!("<nav aria-label=\"Contents\">{contents}</nav>\n");
    for (id, name, html) in sections {
        body +=
            &format!("<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{}</h2>\n{html}</section>\n", escaped(name));
    }
    Ok(frame(&format!("{}: {}", kind(report), title(report)), &body))
}

/// Returns a page with the script, which it allows by its digest.
fn frame(title: &str, body: &str) -> String {
    report_page(title, &BASE64.encode(&Sha256::digest(TABLES_SCRIPT)), body)
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
    let spent = if facts.inputs.is_some() {
        String::new()
    } else {
        format!("crawl time {}; ", span(Duration::from_millis(report.totals.millis)))
    };
    let stopped = facts.stopped.as_deref().map_or(String::new(), |why| format!(", stopped: {}", escaped(why)));
    let title = title(report);
    format!(
        "<header><h1>{}: {}</h1>\n<p class=\"answer\">{}</p>\n\
         <p class=\"soft\">{} to {} UTC{stopped}; {spent}ndcrawl {}</p></header>\n",
        kind(report),
        escaped(&title),
        escaped(&answer::answer(report, &title)),
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
    let main = [
        (rate, "of compared pages are duplicates"),
        (thousands(stored), "unique pages, kept"),
        (thousands(near), "near-duplicates"),
        (thousands(exact), "exact duplicates"),
    ];
    let cards: String = main.iter().map(|(value, what)| card(value, what)).collect();
    format!("<div class=\"cards\">{cards}</div>\n{}", folded("More figures", &more_figures(report)))
}

fn more_figures(report: &Report) -> String {
    let outcome = |kind| report.lines.outcome(kind);
    let of_crawls = [
        ("requests, robots.txt included", thousands(report.totals.requests)),
        ("pages received", byte_size(report.totals.bytes)),
        ("failed", thousands(outcome(OutcomeKind::Failed))),
        ("deferred, not fetched", thousands(outcome(OutcomeKind::Deferred))),
    ];
    let of_others = [("error responses", thousands(outcome(OutcomeKind::Failed)))];
    let all = [
        ("redirected", thousands(outcome(OutcomeKind::Redirected))),
        ("excluded by rules", thousands(outcome(OutcomeKind::Excluded))),
        ("predicted duplicates, not fetched", thousands(outcome(OutcomeKind::PredictedDuplicate))),
        ("verdicts revised at the end", thousands(report.totals.revised)),
    ];
    let own = if report.facts.inputs.is_none() { &of_crawls[..] } else { &of_others[..] };
    let item = |(name, value): &(&str, String)| format!("<dt>{}</dt><dd>{}</dd>", escaped(name), escaped(value));
    format!("<dl>{}</dl>\n", own.iter().chain(&all).map(item).collect::<String>())
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
    let items: String = items.map(|item| format!("<li class=\"mono\">{}</li>", link(item))).collect();
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

/// `12.3 %`.
fn share(part: u64, whole: u64) -> String {
    if whole == 0 { "–".to_owned() } else { format!("{:.1} %", part as f64 * 100.0 / whole as f64) }
}
