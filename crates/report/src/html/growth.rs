//! The section on the growth of unique pages.

use super::share;
use crate::{GrowthPoint, Report};
use ndcrawl_html_writer::plot::{self, Axes, PlotLine};
use ndcrawl_html_writer::{TableCell, TableRow, figure, folded, table, thousands, words};
use ndcrawl_model::{Deferral, Reason};

/// Maximum points of the plot.
const PLOTTED: usize = 120;
/// Rows of the table.
const ROWS: usize = 11;

/// Returns the growth curve, with an outlook while the crawl is not finished.
pub(super) fn section(report: &Report) -> String {
    let growth = &report.lines.growth;
    let points = growth.points(PLOTTED);
    let Some(last) = points.last().filter(|last| last.requests > 0) else { return String::new() };
    let (wide, x_ticks) = plot::count_axis(last.requests);
    let (high, y_ticks) = plot::count_axis(last.judged);
    let is_crawl = report.facts.inputs.is_none();
    let [asked, long] = if is_crawl { ["requests", "requests for pages"] } else { ["responses", "responses read"] };
    let axes = Axes {
        x: long,
        y: "pages",
        x_range: (0.0, wide),
        y_range: (0.0, high),
        x_ticks,
        y_ticks,
        x_text: plot::count,
        y_text: plot::count,
    };
    let line = |name: &str, style, value: fn(&GrowthPoint) -> u64| PlotLine {
        name: name.to_owned(),
        style,
        points: points.iter().map(|point| (point.requests as f64, value(point) as f64)).collect(),
    };
    let curves = [line("unique pages", 0, |point| point.unique), line("all pages compared", 1, |point| point.judged)];
    let title = format!("{} {asked} yielded {} unique pages", thousands(last.requests), thousands(last.unique));
    let svg = plot::curves(&title, &axes, &curves, &[], &[]);
    let is_over =
        is_crawl && report.facts.stopped.is_none() && report.lines.reason(Reason::Deferred(Deferral::Budget)) == 0;
    let lately = growth.lately().filter(|_| !is_over).map_or(String::new(), |(lately, requests)| {
        format!(
            " Of the last {} {asked}, {:.1} % yielded a unique page. At this rate, 1,000 more would yield about {:.0}.",
            thousands(requests),
            lately * 100.0,
            lately * 1000.0
        )
    });
    let lately =
        if is_over { " The crawl then had nothing left to fetch within its limits.".to_owned() } else { lately };
    let rows: Vec<TableRow> = growth.points(ROWS).iter().skip(1).map(row).collect();
    format!(
        "<p>{} {long} yielded {} unique pages ({}).{lately}</p>\n<div class=\"plots\">{}</div>\n{}",
        thousands(last.requests),
        thousands(last.unique),
        share(last.unique, last.requests),
        figure(&format!("Pages by number of {asked}"), &svg),
        folded(
            "Data table",
            &table(&format!("Pages by number of {asked}"), &words(&[asked, "compared", "unique", "share"]), 1, &rows)
        )
    )
}

fn row(point: &GrowthPoint) -> TableRow {
    vec![
        TableCell::Name(thousands(point.requests)),
        TableCell::Figure(thousands(point.judged)),
        TableCell::Figure(thousands(point.unique)),
        TableCell::Figure(share(point.unique, point.requests)),
    ]
    .into()
}
