//! The sections on the similarity of near-duplicates and on other thresholds.

use super::listing::{Cell, Listing, Parts};
use super::share;
use crate::{BINS, CurvePoint, Report};
use ndcrawl_engine::crawl::DuplicateLinks;
use ndcrawl_html_writer::plot::{self, Axes, Column, PlotLine, ticks};
use ndcrawl_html_writer::{TableCell, TableRow, escaped, figure, folded, table, thousands, words};

/// Returns the histogram of near-duplicate scores.
pub(super) fn histogram(report: &Report) -> String {
    let lines = &report.lines;
    let compared: u64 = lines.scores.iter().sum();
    if compared == 0 {
        return String::new();
    }
    let detector = report.settings.detect.detector.name();
    let bar = f64::from(report.settings.detect.threshold);
    let mut html = format!(
        "<p>{} near-duplicates have a similarity score; all other duplicates have the same bytes or the same text as a stored page. \
         The dotted line is the threshold {bar}, the lowest possible score.</p>\n<div class=\"plots\">",
        thousands(compared)
    );
    html += &plotted(&format!("Near-duplicates by score ({detector})"), &lines.scores, Some(bar), 0);
    let second: u64 = lines.second_scores.iter().sum();
    if second > 0 {
        html += &plotted(
            "Near-duplicates by score of the second check (shared running text)",
            &lines.second_scores,
            None,
            2,
        );
    }
    html += "</div>\n";
    let rows = (0..=BINS).rev().filter(|bin| lines.scores[*bin] + lines.second_scores[*bin] > 0);
    let rows: Vec<TableRow> = rows
        .map(|bin| {
            let from = bin as f64 / BINS as f64;
            let counts = [lines.scores[bin], lines.second_scores[bin]].map(|count| TableCell::Figure(thousands(count)));
            let name =
                if bin == BINS { "1".to_owned() } else { format!("{from:.2} to {:.2}", from + 1.0 / BINS as f64) };
            std::iter::once(TableCell::Name(name)).chain(counts).collect::<Vec<_>>().into()
        })
        .collect();
    html + &folded(
        "Data table",
        &table("Near-duplicates by score", &words(&["score", "first check", "second check"]), 1, &rows),
    )
}

fn plotted(caption: &str, bins: &[u64], bar: Option<f64>, style: usize) -> String {
    let least = bins.iter().position(|count| *count > 0).unwrap_or(0) as f64 / BINS as f64;
    let low = bar.map_or(least, |bar| bar.min(least));
    let low = (low * 10.0).floor() / 10.0;
    let (most, y_ticks) = plot::count_axis(bins.iter().copied().max().unwrap_or(1));
    let width = 1.0 / BINS as f64;
    // The score 1 has a column of its own at the right end.
    let high = 1.0 + width;
    let axes = Axes {
        x: "score",
        y: "pages",
        x_range: (low, high),
        y_range: (0.0, most),
        x_ticks: ticks(low, 1.0, ((1.0 - low) * 10.0).round().max(1.0) as u32),
        y_ticks,
        x_text: plot::decimal,
        y_text: plot::count,
    };
    let columns: Vec<Column> = bins
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0)
        .map(|(bin, count)| {
            let from = bin as f64 * width;
            Column { edges: (from, from + width), value: *count as f64, style }
        })
        .collect();
    figure(caption, &plot::columns(caption, &axes, &columns, bar.as_slice()))
}

/// Returns the threshold curve and its table.
pub(super) fn curve(report: &Report, parts: &mut Parts<'_>) -> String {
    let curve = &report.curve;
    let (Some(first), Some(last)) = (curve.points.first(), curve.points.last()) else { return String::new() };
    let own = report.settings.detect.threshold;
    let mut html = format!("<p>{}</p>\n<div class=\"plots\">", escaped(&validity(report)));
    let (low, high) = (f64::from(first.threshold), f64::from(last.threshold));
    let rate = |point: &CurvePoint| point.counts.rate().unwrap_or(0.0);
    let most = plot::round_up(curve.points.iter().map(rate).fold(0.0, f64::max)).clamp(0.01, 1.0);
    let axes = Axes {
        x: "threshold",
        y: "share of duplicates",
        x_range: (low, if high > low { high } else { low + 1.0 }),
        y_range: (0.0, most),
        x_ticks: ticks(low, high, steps(high - low)),
        y_ticks: ticks(0.0, most, 4),
        x_text: plot::decimal,
        y_text: plot::percent,
    };
    let line = |name: &str, style, share: fn(&CurvePoint) -> f64| PlotLine {
        name: name.to_owned(),
        style,
        points: curve.points.iter().map(|point| (f64::from(point.threshold), share(point))).collect(),
    };
    let exact = |point: &CurvePoint| {
        let counts = &point.counts;
        counts.exact as f64 / (counts.stored + counts.near + counts.exact).max(1) as f64
    };
    let curves =
        [line("all duplicates", 0, |point| point.counts.rate().unwrap_or(0.0)), line("exact duplicates", 1, exact)];
    let title =
        format!("The share of duplicates falls from {} at {low} to {} at {high}", rate_of(first), rate_of(last));
    let svg = plot::curves(&title, &axes, &curves, &[f64::from(own)], &[]);
    html += &figure("Share of duplicates by threshold; dotted: threshold of this crawl", &svg);
    html += "</div>\n";
    let listing = Listing {
        file: "thresholds",
        caption: "The same pages at other thresholds",
        heading: &["threshold", "unique", "near", "exact", "duplicates"],
        rows: curve.points.iter().map(|point| row(point, point.threshold == own)).collect(),
        most: curve.points.len(),
        what: "thresholds",
    };
    let is_own = |place: usize| curve.points.get(place).is_some_and(|point| point.threshold == own);
    html + &listing.html_with(parts, |place| (None, if is_own(place) { "whole" } else { "" }))
}

/// Returns the number of steps of 0.05, or of 0.1 if those are too many.
fn steps(width: f64) -> u32 {
    let twentieths = (width * 20.0).round().max(1.0);
    (if twentieths > 10.0 { (twentieths / 2.0).round() } else { twentieths }) as u32
}

fn rate_of(point: &CurvePoint) -> String {
    let counts = &point.counts;
    share(counts.near + counts.exact, counts.stored + counts.near + counts.exact)
}

fn row(point: &CurvePoint, is_own: bool) -> Vec<Cell> {
    let counts = &point.counts;
    let own = if is_own { " (this crawl)" } else { "" };
    let mut cells = vec![Cell::Noted(point.threshold.to_string(), own)];
    cells.extend([counts.stored, counts.near, counts.exact].map(Cell::Count));
    cells.push(Cell::Share(counts.near + counts.exact, counts.stored + counts.near + counts.exact));
    cells
}

/// Explains which pages the curve covers and for which crawls it holds.
fn validity(report: &Report) -> String {
    let curve = &report.curve;
    let mut text = format!(
        "ndcrawl replayed the decisions on {} pages of the log at each threshold, in their order of arrival, without fetching \
         anything. ",
        if curve.pages == curve.of {
            "all".to_owned() + " " + &thousands(curve.of.into())
        } else {
            format!("a random sample of {} of {}", thousands(curve.pages.into()), thousands(curve.of.into()))
        }
    );
    let skipped = report.lines.sites.values().map(|site| site.skipped).sum::<u64>();
    text += &match report.settings.links {
        DuplicateLinks::Follow | DuplicateLinks::Defer => {
            "The crawl followed all links, so a crawl at another threshold with the \
             same pages in the same order has exactly these figures."
                .to_owned()
        }
        _ if skipped == 0 => {
            "No link of a duplicate led to a page that was not fetched anyway, so the figures hold for whole crawls."
                .to_owned()
        }
        _ => format!(
            "The crawl skipped links of duplicates ({} URLs). A crawl at another threshold would have met other pages, so the figures \
             hold only for the pages of this crawl.",
            thousands(skipped)
        ),
    };
    if curve.pages < curve.of {
        text += " Copies of pages outside the sample are only found if this crawl found them, so at other thresholds the shares of \
                 duplicates are at least these. Set --curve-pages N of ndcrawl report to sample more.";
    }
    text
}
