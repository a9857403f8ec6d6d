//! How unique pages grew with the requests.

use super::share;
use crate::html_writer::plot::{self, Axes, Curve, ticks};
use crate::html_writer::{Cell, Row, figure, folded, table, thousands, words};
use crate::model::OutcomeKind;
use crate::report::{GrowthPoint, Report};

/// Points of the plot, and rows of the table.
const PLOTTED: usize = 120;
const ROWS: usize = 11;

/// The growth, and what it says of going on.
pub(super) fn section(report: &Report) -> String {
    let growth = &report.gathered.growth;
    let points = growth.points(PLOTTED);
    let Some(last) = points.last().filter(|last| last.requests > 0) else { return String::new() };
    let most = plot::round_up(last.requests as f64);
    let is_crawl = report.facts.inputs.is_none();
    let [asked, long] =
        if is_crawl { ["requests", "requests for pages"] } else { ["answers", "answers that were read"] };
    let axes = Axes {
        x: long,
        y: "pages",
        x_range: (0.0, most),
        y_range: (0.0, most),
        x_ticks: ticks(0.0, most, 4),
        y_ticks: ticks(0.0, most, 4),
        x_text: plot::count,
        y_text: plot::count,
    };
    let line = |name: &str, style, value: fn(&GrowthPoint) -> u64| Curve {
        name: name.to_owned(),
        style,
        points: points.iter().map(|point| (point.requests as f64, value(point) as f64)).collect(),
    };
    let curves = [line("unique pages", 0, |point| point.unique), line("all pages compared", 1, |point| point.judged)];
    let title = format!("{} {asked} brought {} unique pages", thousands(last.requests), thousands(last.unique));
    let svg = plot::curves(&title, &axes, &curves, &[], &[]);
    let is_over =
        is_crawl && report.facts.stopped.is_none() && report.gathered.reason(OutcomeKind::Deferred, "budget") == 0;
    let lately = growth.lately().filter(|_| !is_over).map_or(String::new(), |(lately, requests)| {
        format!(
            " Of the last {} {asked} {:.1} % brought one: while that holds, a thousand more bring some {:.0}.",
            thousands(requests),
            lately * 100.0,
            lately * 1000.0
        )
    });
    let lately =
        if is_over { " Then nothing was left to fetch within the crawl’s limits.".to_owned() } else { lately };
    let rows: Vec<Row> = growth.points(ROWS).iter().skip(1).map(row).collect();
    format!(
        "<p>{} {long} brought {} unique pages, {} of them.{lately}</p>\n<div class=\"plots\">{}</div>\n{}",
        thousands(last.requests),
        thousands(last.unique),
        share(last.unique, last.requests),
        figure(&format!("Pages by {asked}, in their order"), &svg),
        folded(
            "The same as a table",
            &table(&format!("Pages by {asked}"), &words(&[asked, "compared", "unique", "share"]), 1, &rows)
        )
    )
}

fn row(point: &GrowthPoint) -> Row {
    vec![
        Cell::Name(thousands(point.requests)),
        Cell::Figure(thousands(point.judged)),
        Cell::Figure(thousands(point.unique)),
        Cell::Figure(share(point.unique, point.requests)),
    ]
    .into()
}
