//! How similar near-duplicates are, and what other thresholds would have made of the pages.

use super::share;
use crate::crawl::DuplicateLinks;
use crate::html_writer::plot::{self, Axes, Column, Curve, ticks};
use crate::html_writer::{Cell, Row, escaped, figure, folded, table, thousands, words};
use crate::report::{BINS, CurvePoint, Report};

/// Near-duplicates by score.
pub(super) fn histogram(report: &Report) -> String {
    let gathered = &report.gathered;
    let compared: u64 = gathered.scores.iter().sum();
    if compared == 0 {
        return String::new();
    }
    let detector = report.settled.detect.detector.name();
    let bar = f64::from(report.settled.detect.threshold);
    let mut html = format!(
        "<p>{} pages were found to be near-duplicates by comparing them with a stored page; the others are copies of bytes or text. \
         Nothing can score less than the bar of {bar} (dotted).</p>\n<div class=\"plots\">",
        thousands(compared)
    );
    html += &plotted(&format!("Near-duplicates by score ({detector})"), &gathered.scores, Some(bar), 0);
    let second: u64 = gathered.second_scores.iter().sum();
    if second > 0 {
        html += &plotted("The same by the share of running text that both have", &gathered.second_scores, None, 2);
    }
    html += "</div>\n";
    let rows = (0..=BINS).rev().filter(|bin| gathered.scores[*bin] + gathered.second_scores[*bin] > 0);
    let rows: Vec<Row> = rows
        .map(|bin| {
            let from = bin as f64 / BINS as f64;
            let counts =
                [gathered.scores[bin], gathered.second_scores[bin]].map(|count| Cell::Figure(thousands(count)));
            let name =
                if bin == BINS { "1".to_owned() } else { format!("{from:.2} to {:.2}", from + 1.0 / BINS as f64) };
            std::iter::once(Cell::Name(name)).chain(counts).collect::<Vec<_>>().into()
        })
        .collect();
    html + &folded(
        "The same as a table",
        &table("Near-duplicates by score", &words(&["from, and below", "by score", "by running text"]), 1, &rows),
    )
}

fn plotted(caption: &str, bins: &[u64], bar: Option<f64>, style: usize) -> String {
    let least = bins.iter().position(|count| *count > 0).unwrap_or(0) as f64 / BINS as f64;
    let low = bar.map_or(least, |bar| bar.min(least));
    let low = (low * 10.0).floor() / 10.0;
    let most = plot::round_up(bins.iter().copied().max().unwrap_or(1).max(1) as f64);
    let width = 1.0 / BINS as f64;
    // What is exactly 1 has a column of its own at the right end.
    let high = 1.0 + width;
    let axes = Axes {
        x: "score",
        y: "pages",
        x_range: (low, high),
        y_range: (0.0, most),
        x_ticks: ticks(low, 1.0, ((1.0 - low) * 10.0).round().max(1.0) as u32),
        y_ticks: ticks(0.0, most, 4),
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

/// The rate of duplicates against the threshold.
pub(super) fn curve(report: &Report) -> String {
    let curve = &report.curve;
    let (Some(first), Some(last)) = (curve.points.first(), curve.points.last()) else { return String::new() };
    let own = report.settled.detect.threshold;
    let mut html = format!("<p>{}</p>\n<div class=\"plots\">", escaped(&validity(report)));
    let (low, high) = (f64::from(first.threshold), f64::from(last.threshold));
    let rate = |point: &CurvePoint| point.decided.rate().unwrap_or(0.0);
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
    let line = |name: &str, style, share: fn(&CurvePoint) -> f64| Curve {
        name: name.to_owned(),
        style,
        points: curve.points.iter().map(|point| (f64::from(point.threshold), share(point))).collect(),
    };
    let exact = |point: &CurvePoint| {
        let decided = &point.decided;
        decided.exact as f64 / (decided.stored + decided.near + decided.exact).max(1) as f64
    };
    let curves = [line("all duplicates", 0, |point| point.decided.rate().unwrap_or(0.0)), line("exact ones", 1, exact)];
    let title =
        format!("The share of duplicates falls from {} at {low} to {} at {high}", rate_of(first), rate_of(last));
    let svg = plot::curves(&title, &axes, &curves, &[f64::from(own)], &[]);
    html += &figure("Share of duplicates against the threshold; dotted: the threshold of this crawl", &svg);
    html += "</div>\n";
    let rows: Vec<Row> = curve.points.iter().map(|point| row(point, point.threshold == own)).collect();
    html + &table(
        "The same pages at other thresholds",
        &words(&["threshold", "unique", "near", "exact", "duplicates"]),
        1,
        &rows,
    )
}

/// Steps of a twentieth, or of a tenth if those are too many.
fn steps(width: f64) -> u32 {
    let twentieths = (width * 20.0).round().max(1.0);
    (if twentieths > 10.0 { (twentieths / 2.0).round() } else { twentieths }) as u32
}

fn rate_of(point: &CurvePoint) -> String {
    let decided = &point.decided;
    share(decided.near + decided.exact, decided.stored + decided.near + decided.exact)
}

fn row(point: &CurvePoint, is_own: bool) -> Row {
    let decided = &point.decided;
    let own = if is_own { " (this crawl)" } else { "" };
    let mut cells = vec![Cell::Name(format!("{}{own}", point.threshold))];
    cells.extend([decided.stored, decided.near, decided.exact].map(|count| Cell::Figure(thousands(count))));
    cells.push(Cell::Figure(rate_of(point)));
    Row { class: if is_own { "whole" } else { "" }, cells }
}

/// What the curve says, and of what.
fn validity(report: &Report) -> String {
    let curve = &report.curve;
    let mut text = format!(
        "Without crawling again: {} pages of the log were decided anew at each threshold, in the order of their arrival and by the \
         same rules. ",
        if curve.pages == curve.of {
            "all".to_owned() + " " + &thousands(curve.of.into())
        } else {
            format!("the first {} of {}", thousands(curve.pages.into()), thousands(curve.of.into()))
        }
    );
    let skipped = report.gathered.sites.values().map(|site| site.skipped).sum::<u64>();
    text += &match report.settled.links {
        DuplicateLinks::Follow | DuplicateLinks::Defer => {
            "All links were followed, so these are the figures that a crawl at that \
             threshold would have come to with the same pages in the same order."
                .to_owned()
        }
        _ if skipped == 0 => "No link of a duplicate led to a page that was not fetched anyway.".to_owned(),
        _ => format!(
            "Links of duplicates were skipped ({} URLs), so a crawl at another threshold would have met other pages: this tells of the \
             pages that were met.",
            thousands(skipped)
        ),
    };
    if curve.pages < curve.of {
        text += " ndcrawl report --curve-pages N decides more of them.";
    }
    text
}
