//! Renders the page of the dashboard.

use jiff::Timestamp;

use super::ShownStatus;
use super::history::{History, Sample};
use crate::cli::format::{byte_size, percent, span};
use crate::cli::status_file::{RecentLine, RunState, StatusFile, WaitingOrigin};
use crate::crawl::WaitReason;
use crate::html_writer::plot::{self, Axes, PlotLine, curves};
use crate::html_writer::{
    DataTable, TableCell, TableRow, card, counted, escaped, figure, folded, live_page, table, thousands, words,
};

/// The path of the script.
pub(super) const SCRIPT_PATH: &str = "/live.js";
/// Without script, the browser reloads the page after this many seconds.
const REFRESH: u32 = 5;
/// Rows of the table beside the plots.
const MOST_MOMENTS: usize = 12;
const MEBIBYTE: f64 = 1_048_576.0;

/// Renders the page as of `now`. `buttons` is markup.
pub(super) fn page(shown: &ShownStatus, buttons: &str, now: Timestamp) -> String {
    let ShownStatus { status, history } = shown;
    let title = format!("ndcrawl: {:.1} pages/s, {} queued", status.pages_per_second, thousands(status.queued));
    let body = format!(
        "<h1 data-live>{}</h1>\n\
         <p data-live>{}, as of {} UTC</p>\n\
         <div data-live>{buttons}</div>\n\
         <p id=\"lost\" class=\"wrong\" role=\"status\" hidden>No answer: the crawl has ended, or cannot be reached. \
         These are the last figures that came.</p>\n\
         {}\
         <h2>Over time</h2>\n{}\
         <h2>Sites that wait</h2>\n{}{}\
         <h2>URLs by outcome</h2>\n{}\
         <h2>Recent URLs</h2>\n{}\
         <h2>Recent failures</h2>\n{}\
         <p class=\"soft\">For programs: <a href=\"/metrics\">/metrics</a> for Prometheus, \
         <a href=\"/status.json\">/status.json</a>.</p>\n",
        heading(status.state),
        escaped(&status.head(now)),
        escaped(&status.at.split('.').next().unwrap_or_default().replace('T', " ")),
        cards(status),
        over_time(history),
        waiting(status),
        folded("What sites wait for", &meanings()),
        outcomes(status),
        recent(status),
        failures(status),
    );
    live_page(&title, SCRIPT_PATH, REFRESH, &body)
}

fn heading(state: RunState) -> &'static str {
    match state {
        RunState::Running => "Crawl at work",
        RunState::Paused => "Crawl paused",
        RunState::Finished => "Crawl finished",
        RunState::Stopped => "Crawl stopped",
    }
}

fn cards(status: &StatusFile) -> String {
    let index = &status.index;
    let rate = status.duplicate_rate.map_or("–".to_owned(), percent);
    let cards = [
        (format!("{:.1}", status.pages_per_second), "pages per second".to_owned()),
        (thousands(status.queued), format!("URLs queued on {}", counted(status.origins, "site", "sites"))),
        (thousands(status.leased), "in flight".to_owned()),
        (rate, "of the pages compared are duplicates".to_owned()),
        (thousands(status.requests), format!("requests, {} received", byte_size(status.bytes))),
        (byte_size(status.memory_bytes), "of memory".to_owned()),
        (
            byte_size(index.bytes),
            format!(
                "of this, the index of {}, {} of index and common text per page",
                counted(index.records, "page", "pages"),
                byte_size(index.bytes_per_record())
            ),
        ),
        (
            byte_size(status.frontier_bytes),
            format!(
                "of this, the frontier, {} per URL",
                byte_size(status.frontier_bytes_per_url().unwrap_or_default())
            ),
        ),
        (thousands(status.seen), format!("URLs seen, {} deferred", thousands(status.deferred))),
    ];
    format!("<div class=\"cards\">{}</div>\n", cards.map(|(value, what)| card(&value, &what)).concat())
}

/// Renders the plots and a table of their values.
fn over_time(history: &History) -> String {
    let samples = history.samples();
    let of = |value: fn(&Sample) -> f64| -> Vec<(f64, f64)> {
        samples.iter().map(|sample| (sample.elapsed_seconds, value(sample))).collect()
    };
    let line = |name: &str, style, points| PlotLine { name: name.to_owned(), style, points };
    let pages = of(|sample| sample.pages_per_second);
    let memory = of(|sample| sample.memory_bytes as f64 / MEBIBYTE);
    let in_percent = |rates: &mut dyn Iterator<Item = (f64, f64)>| -> Vec<(f64, f64)> {
        rates.map(|(moment, rate)| (moment, rate * 100.0)).collect()
    };
    let rates = [
        line("so far", 0, in_percent(&mut history.rates())),
        line("recent", 1, in_percent(&mut history.rates_of_late())),
    ];
    let plots = [
        plotted("Pages per second", "pages/s", samples, &[line("pages per second", 0, pages)], None),
        plotted("URLs queued", "URLs", samples, &[line("queued", 2, of(|sample| sample.queued as f64))], None),
        plotted("Duplicates among the pages compared", "%", samples, &rates, Some(100.0)),
        plotted("Memory in use", "MiB", samples, &[line("MiB", 4, memory)], None),
    ];
    format!("<div class=\"plots\">{}</div>\n{}", plots.concat(), folded("The same as a table", &moments(samples)))
}

/// Renders a plot. Its axis ends at `most`, or at the highest value.
fn plotted(caption: &str, unit: &str, samples: &[Sample], lines: &[PlotLine], most: Option<f64>) -> String {
    let values = lines.iter().flat_map(|line| &line.points).map(|&(_, value)| value);
    let high = most.unwrap_or_else(|| plot::round_up(values.fold(1.0, f64::max)));
    let end = samples.last().map_or(0.0, |sample| sample.elapsed_seconds).max(1.0);
    let axes = Axes {
        x: "since the start of this run",
        y: unit,
        x_range: (0.0, end),
        y_range: (0.0, high),
        x_ticks: moments_of_axis(end),
        y_ticks: plot::ticks(0.0, high, steps(high)),
        x_text: time,
        y_text: short,
    };
    figure(caption, &curves(caption, &axes, lines, &[], &[]))
}

/// Returns into how many parts an axis is divided, so that its labels are short.
fn steps(high: f64) -> u32 {
    let leading = high / 10f64.powf(high.log10().floor());
    if matches!(leading.round() as u32, 1 | 5 | 10) { 5 } else { 4 }
}

/// Returns round moments from 0 on whose labels fit.
fn moments_of_axis(end: f64) -> Vec<f64> {
    const STEPS: [f64; 14] = [0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 3600.0, 10_800.0];
    let step = STEPS.into_iter().find(|step| step * 6.0 >= end).unwrap_or_else(|| (end / 86_400.0).ceil() * 21_600.0);
    (0..).map(|place| f64::from(place) * step).take_while(|moment| *moment <= end * 0.96).collect()
}

/// Formats a time: `0`, `45 s`, `2.5 min`, `3 h`.
fn time(seconds: f64) -> String {
    let rounded = |value: f64| (value * 10.0).round() / 10.0;
    match seconds {
        _ if seconds < 0.05 => "0".to_owned(),
        _ if seconds < 120.0 => format!("{} s", rounded(seconds)),
        _ if seconds < 7200.0 => format!("{} min", rounded(seconds / 60.0)),
        _ => format!("{} h", rounded(seconds / 3600.0)),
    }
}

/// Formats a count: `0.5`, `20`, `1.6k`, `3M`.
fn short(value: f64) -> String {
    let rounded = |value: f64| (value * 10.0).round() / 10.0;
    match value {
        _ if value >= 1e6 => format!("{}M", rounded(value / 1e6)),
        _ if value >= 1e3 => format!("{}k", rounded(value / 1e3)),
        _ => format!("{}", rounded(value)),
    }
}

fn moments(samples: &[Sample]) -> String {
    let step = samples.len().div_ceil(MOST_MOMENTS).max(1);
    let row = |sample: &Sample| -> TableRow {
        let rate = sample.duplicate_rate().map_or("–".to_owned(), percent);
        vec![
            TableCell::Name(time(sample.elapsed_seconds)),
            TableCell::Figure(format!("{:.1}", sample.pages_per_second)),
            TableCell::Figure(thousands(sample.queued)),
            TableCell::Figure(thousands(sample.compared)),
            TableCell::Figure(rate),
            TableCell::Figure(byte_size(sample.memory_bytes)),
        ]
        .into()
    };
    // From the last one backwards, so that the last is always included.
    let mut rows: Vec<TableRow> = samples.iter().rev().step_by(step).map(row).collect();
    rows.reverse();
    let heading = words(&["after", "pages/s", "queued", "compared", "duplicates", "memory"]);
    table("Since the start of this run", &heading, 1, &rows)
}

fn waiting(status: &StatusFile) -> String {
    let row = |waiting: &WaitingOrigin| -> TableRow {
        let due = std::time::Duration::try_from_secs_f64(waiting.due_in_seconds).unwrap_or_default();
        let due = if due.is_zero() { "–".to_owned() } else { span(due) };
        vec![
            TableCell::Name(waiting.origin.clone()),
            TableCell::Text(waiting.why.clone()),
            TableCell::Figure(due),
            TableCell::Figure(thousands(waiting.queued)),
        ]
        .into()
    };
    let rows: Vec<TableRow> = status.waiting.iter().map(row).collect();
    let caption = match status.origins.saturating_sub(rows.len() as u64) {
        _ if rows.is_empty() => "No URL is queued",
        0 => "All of them, the longest queue first",
        _ => "Those with the longest queues",
    };
    table(caption, &words(&["site", "waits for", "next", "URLs"]), 2, &rows)
}

fn meanings() -> String {
    let entry = |why: WaitReason| format!("<dt>{}</dt><dd>{}</dd>", why.name(), escaped(why.explain()));
    format!("<dl>{}</dl>\n", WaitReason::ALL.map(entry).concat())
}

fn recent(status: &StatusFile) -> String {
    let row = |recent: &RecentLine| -> TableRow {
        vec![
            TableCell::Urls(vec![recent.url.clone()]),
            TableCell::Text(recent.outcome.clone()),
            TableCell::Text(recent.reason.clone().unwrap_or_default()),
            TableCell::Urls(recent.duplicate_of.iter().cloned().collect()),
        ]
        .into()
    };
    let rows: Vec<TableRow> = status.recent.iter().map(row).collect();
    let caption = "URLs that got their outcomes last, the newest first";
    DataTable { caption, heading: &["URL", "outcome", "reason", "repeats"], rows: &rows, csv: None }.html()
}

fn failures(status: &StatusFile) -> String {
    let row = |failure: &RecentLine| -> TableRow {
        vec![
            TableCell::Urls(vec![failure.url.clone()]),
            TableCell::Text(failure.reason.clone().unwrap_or_default()),
            TableCell::Text(failure.detail.clone().unwrap_or_default()),
        ]
        .into()
    };
    let rows: Vec<TableRow> = status.failures.iter().map(row).collect();
    let caption = if rows.is_empty() { "No URL has failed in this run" } else { "In this run, the newest first" };
    DataTable { caption, heading: &["URL", "class", "what went wrong"], rows: &rows, csv: None }.html()
}

fn outcomes(status: &StatusFile) -> String {
    let all: u64 = status.outcomes.values().sum();
    let row = |(name, count): (&String, &u64)| -> TableRow {
        let share = *count as f64 / all.max(1) as f64;
        vec![TableCell::Name(name.clone()), TableCell::Figure(thousands(*count)), TableCell::Heat(Some(share))].into()
    };
    let rows: Vec<TableRow> = status.outcomes.iter().map(row).collect();
    table("All runs", &words(&["outcome", "URLs", "share"]), 1, &rows)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn shown(origin: &str) -> ShownStatus {
        let waiting =
            vec![WaitingOrigin { origin: origin.to_owned(), queued: 5000, due_in_seconds: 0.7, why: "gap".to_owned() }];
        let status =
            StatusFile { queued: 56_789, origins: 2, memory_bytes: 120 << 20, waiting, ..StatusFile::default() };
        let mut shown = ShownStatus { status, history: History::default() };
        for second in 0..40 {
            shown.history.add(&shown.status.clone(), Duration::from_secs(second));
        }
        shown
    }

    fn at() -> Timestamp {
        "2026-01-02T03:04:06Z".parse().unwrap()
    }

    #[test]
    fn the_page_says_who_waits_for_what_and_what_was() {
        let page = page(&shown("https://a.test:443"), "", at());
        for part in [
            "<title>ndcrawl: 0.0 pages/s, 56,789 queued</title>",
            "<th scope=\"row\">https://a.test:443</th><td class=\"text\">gap</td><td>700 ms</td><td>5,000</td>",
            "<dt>retry-after</dt>",
            "Those with the longest queues",
            "<td>120.0 MiB</td>",
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
        assert_eq!(page.matches("<svg").count(), 4);
    }

    #[test]
    fn a_hostile_name_is_text() {
        let page = page(&shown("https://<script>alert(1)</script>'\"&:443"), "", at());
        assert!(!page.contains("<script>") && page.contains("&lt;script&gt;alert"), "{page}");
    }

    #[test]
    fn before_the_first_figures_there_is_a_page_too() {
        let page = page(&ShownStatus::default(), "", at());
        assert!(page.contains("No URL is queued") && !page.contains("NaN"), "{page}");
    }

    #[test]
    fn times_have_the_unit_that_fits() {
        assert_eq!([0.0, 45.04, 150.0, 10_800.0].map(time), ["0", "45 s", "2.5 min", "3 h"]);
        assert_eq!([0.0, 0.25, 1600.0, 2e6].map(short), ["0", "0.3", "1.6k", "2M"]);
        assert_eq!(moments_of_axis(41.0), [0.0, 10.0, 20.0, 30.0]);
        let days = moments_of_axis(300_000.0);
        assert!((3..8).contains(&days.len()), "{days:?}");
    }
}
