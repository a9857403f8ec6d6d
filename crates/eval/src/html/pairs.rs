//! The HTML page on labeled pairs.

use super::{costs, estimate, label, levels, opening, thousands};
use crate::metrics::Counts;
use crate::pairs::{ALL, Borderline, KindCounts, SweepPoint, label_counts};
use crate::report::{JudgedPairs, PairReport, PairRun};
use ndcrawl_html_writer::plot::{self, Axes, Bar, PlotLine, ticks};
use ndcrawl_html_writer::{TableCell, TableRow, card, escaped, figure, folded, page, table, words};

/// Returns a report on pairs as one HTML page.
pub fn pairs(report: &PairReport) -> String {
    let [dup, near, distinct, grey] = label_counts(report.labels.pairs.iter()).map(thousands);
    let what = format!(
        "{} pairs: {dup} dup, {near} near, {distinct} distinct, {grey} grey (never counted)",
        thousands(report.labels.pairs.len())
    );
    let mut html = opening("Pairs", &report.input, &what);
    html += &cards(report);
    html += "<h2>By threshold</h2>\n<p>Pairs labeled near or dup are duplicates, distinct ones are not. Each pair was \
             scored once; every threshold applies to that score.</p>\n";
    html += &sweeps(report);
    html += "<h2>By kind</h2>\n<p>95% intervals, which assume independent pairs. Pairs that share pages are not independent, so \
             the true intervals are somewhat wider.</p>\n";
    html += &kinds(report);
    if !report.levels.is_empty() {
        html += &levels::section(report);
    }
    html += &borderlines(report);
    html += "<h2>Cost</h2>\n";
    html += &costs::pairs(report);
    page(&format!("Pairs: {}", report.input.file), &html)
}

fn judged(report: &PairReport) -> impl Iterator<Item = (usize, &PairRun, &JudgedPairs)> {
    let runs = report.runs.iter().enumerate();
    runs.flat_map(|(style, run)| run.judged.iter().map(move |judged| (style, run, judged)))
}

fn cards(report: &PairReport) -> String {
    let mut html = "<div class=\"cards\">".to_owned();
    for (_, run, judged) in judged(report) {
        let whole = judged.kinds.first().map(|kind| kind.counts).unwrap_or_default();
        let f1 = whole.f1().value.map_or("–".to_owned(), |f1| format!("{f1:.3}"));
        html += &card(&f1, &format!("F1, {}", label(run, judged)));
    }
    for run in &report.runs {
        if let Some((best, f1)) = run.best.and_then(|best| Some((best, best.counts.f1().value?))) {
            html += &card(&format!("{f1:.3}"), &format!("best F1, {} at {}", run.scores.detector, best.threshold));
        }
    }
    html + "</div>\n"
}

fn sweeps(report: &PairReport) -> String {
    let mut html = "<div class=\"plots\">\n".to_owned();
    let low = floor_of(report.runs.iter().flat_map(|run| &run.sweep).filter_map(lowest).fold(1.0, f64::min));
    for run in &report.runs {
        html +=
            &figure(&format!("{}: precision, recall and F1 by threshold", run.scores.detector), &curves_of(run, low));
    }
    if report.runs.len() > 1 {
        html += &figure("Precision and recall over all thresholds; a dot marks each given threshold", &plane(report));
    }
    html += "</div>\n";
    let rows: Vec<TableRow> = report.runs.iter().flat_map(sweep_rows).collect();
    let heading = words(&["detector", "threshold", "tp", "fp", "fn", "tn", "precision", "recall", "F1"]);
    html + &folded("Data table", &table("Counts of all pairs by threshold", &heading, 1, &rows))
}

/// Draws precision, recall and F1. All plots start at `low`, so that readers can compare them.
fn curves_of(run: &PairRun, low: f64) -> String {
    type Measure = fn(&Counts) -> Option<f64>;
    let measures: [(&str, Measure); 3] = [
        ("precision", |counts| counts.precision().value),
        ("recall", |counts| counts.recall().value),
        ("F1", |counts| counts.f1().value),
    ];
    let curve = |(style, (name, measure)): (usize, (&str, Measure))| {
        let points = run.sweep.iter();
        let points = points.filter_map(|point| Some((f64::from(point.threshold), measure(&point.counts)?)));
        PlotLine { name: name.to_owned(), style, points: points.collect() }
    };
    let curves: Vec<PlotLine> = measures.into_iter().enumerate().map(curve).collect();
    let axes = Axes {
        x: "threshold",
        y: "",
        x_range: (0.5, 0.95),
        y_range: (low, 1.0),
        x_ticks: ticks(0.5, 0.95, 9),
        y_ticks: ticks(low, 1.0, 5),
        x_text: plot::decimal,
        y_text: plot::decimal,
    };
    let marks: Vec<f64> = run.judged.iter().map(|judged| f64::from(judged.threshold)).collect();
    let best = run.best.and_then(|best| Some((f64::from(best.threshold), best.counts.f1().value?, 2)));
    let title = match best {
        Some((threshold, f1, _)) => {
            format!("{}: F1 is highest, {f1:.3}, at threshold {threshold}", run.scores.detector)
        }
        None => format!("{}: no pair to judge", run.scores.detector),
    };
    plot::curves(&title, &axes, &curves, &marks, best.as_slice())
}

/// Returns the lowest measure at a threshold.
fn lowest(point: &SweepPoint) -> Option<f64> {
    let measures = [point.counts.precision(), point.counts.recall(), point.counts.f1()];
    measures.into_iter().filter_map(|measure| measure.value).reduce(f64::min)
}

/// Returns the lower end of an axis that shows `lowest`.
fn floor_of(lowest: f64) -> f64 {
    if lowest >= 0.9 {
        0.9
    } else if lowest >= 0.5 {
        0.5
    } else {
        0.0
    }
}

/// Draws precision by recall.
fn plane(report: &PairReport) -> String {
    let place = |counts: &Counts| Some((counts.recall().value?, counts.precision().value?));
    let curve = |(style, run): (usize, &PairRun)| {
        let points = run.sweep.iter().filter_map(|point| place(&point.counts)).collect();
        PlotLine { name: run.scores.detector.clone(), style, points }
    };
    let curves: Vec<PlotLine> = report.runs.iter().enumerate().map(curve).collect();
    let dots: Vec<(f64, f64, usize)> = judged(report)
        .filter_map(|(style, _, judged)| {
            let (recall, precision) = place(&judged.kinds.first()?.counts)?;
            Some((recall, precision, style))
        })
        .collect();
    let all = || curves.iter().flat_map(|curve| &curve.points);
    let x_low = floor_of(all().map(|point| point.0).fold(1.0, f64::min));
    let y_low = floor_of(all().map(|point| point.1).fold(1.0, f64::min));
    let axes = Axes {
        x: "recall",
        y: "precision",
        x_range: (x_low, 1.0),
        y_range: (y_low, 1.0),
        x_ticks: ticks(x_low, 1.0, 5),
        y_ticks: ticks(y_low, 1.0, 5),
        x_text: plot::decimal,
        y_text: plot::decimal,
    };
    plot::curves("Recall and precision of each detector over all thresholds", &axes, &curves, &[], &dots)
}

fn counts_cells(counts: &Counts) -> impl Iterator<Item = TableCell> {
    let numbers = [counts.tp, counts.fp, counts.missed, counts.tn].map(|count| TableCell::Figure(thousands(count)));
    let estimates = [counts.precision(), counts.recall(), counts.f1()].map(|share| TableCell::Markup(estimate(share)));
    numbers.into_iter().chain(estimates)
}

fn sweep_rows(run: &PairRun) -> Vec<TableRow> {
    let row = |point: &SweepPoint| {
        let mut cells = vec![
            TableCell::Name(run.scores.detector.clone()),
            TableCell::Figure(format!("{:.2}", f64::from(point.threshold))),
        ];
        cells.extend(counts_cells(&point.counts));
        let is_best = run.best.is_some_and(|best| best.threshold == point.threshold);
        TableRow { class: if is_best { "whole" } else { "" }, ..cells.into() }
    };
    run.sweep.iter().map(row).collect()
}

fn kinds(report: &PairReport) -> String {
    let mut names: Vec<&str> = Vec::new();
    for (_, _, judged) in judged(report) {
        let new: Vec<&str> =
            judged.kinds.iter().map(|kind| kind.kind.as_str()).filter(|kind| !names.contains(kind)).collect();
        names.extend(new);
    }
    let groups: Vec<(String, Vec<Bar>)> =
        names.iter().map(|name| ((*name).to_owned(), kind_bars(report, name))).collect();
    let bars = plot::bars("Share of right answers by kind, with 95% interval", &groups, 1.0);
    let legend: Vec<String> = judged(report)
        .map(|(style, run, judged)| {
            format!("<span style=\"color:var(--c{})\">■</span> {}", style % 6, escaped(&label(run, judged)))
        })
        .collect();
    let mut html = format!(
        "<div class=\"plots\"><figure><figcaption>Right answers as a share of all, by kind: {}</figcaption>{bars}</figure></div>\n",
        legend.join(" ")
    );
    let rows: Vec<TableRow> = names.iter().flat_map(|name| kind_rows(report, name)).collect();
    let heading = words(&["kind", "detector", "tp", "fp", "fn", "tn", "precision", "recall", "F1"]);
    html += &table("Pairs by kind", &heading, 2, &rows);
    html
}

fn of_kind<'a>(
    report: &'a PairReport,
    name: &'a str,
) -> impl Iterator<Item = (usize, &'a PairRun, &'a JudgedPairs, &'a KindCounts)> {
    judged(report).filter_map(move |(style, run, judged)| {
        let kind = judged.kinds.iter().find(|kind| kind.kind == name)?;
        Some((style, run, judged, kind))
    })
}

fn kind_bars(report: &PairReport, name: &str) -> Vec<Bar> {
    of_kind(report, name)
        .map(|(style, run, judged, kind)| {
            let counts = kind.counts;
            let right = crate::Estimate::share(counts.tp + counts.tn, counts.total());
            let value = right.value.unwrap_or(0.0);
            Bar {
                name: label(run, judged),
                value,
                whisker: right.interval,
                style,
                label: format!("{:.1} %", value * 100.0),
            }
        })
        .collect()
}

fn kind_rows(report: &PairReport, name: &str) -> Vec<TableRow> {
    let rows = of_kind(report, name).enumerate().map(|(place, (_, run, judged, kind))| {
        let mut cells = vec![TableCell::Name(name.to_owned()), TableCell::Text(label(run, judged))];
        cells.extend(counts_cells(&kind.counts));
        let class = if name == ALL {
            "whole"
        } else if place == 0 {
            "first"
        } else {
            ""
        };
        TableRow { class, ..cells.into() }
    });
    rows.collect()
}

fn borderlines(report: &PairReport) -> String {
    let mut html =
        "<h2>Borderline pairs</h2>\n<p>Pairs closest to the threshold: first the wrong ones, then the right \
                    ones.</p>\n"
            .to_owned();
    for (place, (_, run, judged)) in judged(report).enumerate() {
        let rows: Vec<TableRow> = judged.borderlines.iter().map(|line| borderline(report, line)).collect();
        if rows.is_empty() {
            continue;
        }
        let heading = words(&["", "score", "label", "kind", "pages"]);
        let caption = format!("Closest to {}", label(run, judged));
        let table = table(&caption, &heading, 5, &rows);
        html += &if place == 0 { table } else { folded(&caption, &table) };
    }
    html
}

fn borderline(report: &PairReport, line: &Borderline) -> TableRow {
    let pair = &report.labels.pairs[line.pair];
    let url = |page: usize| report.labels.pages[page].url.as_str().to_owned();
    let (class, answer) = if line.is_right { ("right", "right") } else { ("wrong", "wrong") };
    vec![
        TableCell::Markup(format!("<span class=\"{class}\">{answer}</span>")),
        TableCell::Figure(format!("{:.6}", line.score.as_f64())),
        TableCell::Text(pair.label.name().to_owned()),
        TableCell::Text(pair.kind.clone()),
        TableCell::Urls(vec![url(pair.a), url(pair.b)]),
    ]
    .into()
}
