//! The table of costs.

use super::{label, thousands};
use crate::report::{ClusterReport, EvalInput, PairReport};
use crate::stream::DecisionCost;
use ndcrawl_html_writer::{TableCell, TableRow, escaped, table, words};

/// Returns the costs of detectors on pairs.
pub(super) fn pairs(report: &PairReport) -> String {
    let mut rows = Vec::new();
    for run in &report.runs {
        let comparing = per(run.scores.comparing.as_secs_f64(), run.scores.compared());
        for judged in &run.judged {
            rows.push(row(label(run, judged), &comparing, &judged.cost.unwrap_or_default()));
        }
    }
    section(&report.input, &rows)
}

/// Returns the costs of detectors on clusters.
pub(super) fn clusters(report: &ClusterReport) -> String {
    let row = |figures: &crate::ClusterFigures| {
        row(format!("{} {}", figures.detector, figures.threshold), "–", &figures.cost)
    };
    section(&report.input, &report.figures.iter().map(row).collect::<Vec<_>>())
}

fn row(label: String, comparing: &str, cost: &DecisionCost) -> TableRow {
    let mean = |sum| TableCell::Figure(cost.per_probe(sum).map_or("–".to_owned(), |mean| format!("{mean:.1}")));
    let counters = cost.counters;
    vec![
        TableCell::Name(label),
        TableCell::Figure(comparing.to_owned()),
        TableCell::Figure(per(cost.thread_time.as_secs_f64(), cost.pages)),
        TableCell::Figure(thousands(usize::try_from(cost.probes).unwrap_or(usize::MAX))),
        mean(cost.records),
        mean(counters.candidates),
        mean(counters.mezzanine),
        mean(counters.verifications),
    ]
    .into()
}

fn section(input: &EvalInput, rows: &[TableRow]) -> String {
    let heading = words(&["detector", "µs/pair", "µs/page", "probes", "records", "|C|", "|M|", "compared"]);
    let rendering = &input.rendering;
    let time = per(rendering.thread_time.as_secs_f64(), rendering.pages);
    format!(
        "<p>Times are CPU times, without reading files. Rendering took {} µs for an average page of {} bytes. The detector then \
         decided the pages one by one, as in a crawl. Each probe of the index starts with all <i>records</i>; the first filter \
         leaves |C| candidates, the second |M|, and some of these are compared exactly. Columns after <i>probes</i> are means per \
         probe.</p>\n{}",
        escaped(&time),
        thousands(rendering.bytes / rendering.pages.max(1)),
        table("Cost of comparing and deciding", &heading, 1, rows)
    )
}

fn per(seconds: f64, count: usize) -> String {
    if count == 0 { "–".to_owned() } else { format!("{:.1}", seconds * 1e6 / count as f64) }
}
