//! What was done to pages, and what detectors say of it.

use super::pairs::label;
use crate::eval::levels::Level;
use crate::eval::report::PairReport;
use crate::html_writer::{TableCell, TableRow, table};

/// The part of the page on pairs that were made.
pub(super) fn section(report: &PairReport) -> String {
    let mut heading: Vec<String> = ["edit", "level", "label", "pairs"].map(str::to_owned).to_vec();
    let judged = report.runs.iter().flat_map(|run| run.judged.iter().map(move |judged| (run, judged)));
    heading.extend(judged.map(|(run, judged)| label(run, judged)));
    let mut rows: Vec<TableRow> = Vec::new();
    for (place, level) in report.levels.iter().enumerate() {
        let is_first = place == 0 || report.levels[place - 1].kind != level.kind;
        rows.push(TableRow { class: if is_first { "first" } else { "" }, cells: cells(report, level) });
    }
    format!(
        "<h2>By edit</h2>\n<p>How many of the edited pages are called duplicates of the page they were made from: all \
         that are dup or near should be, none that are distinct. Shuffled pages have the same terms as \
         before, so what counts terms alone cannot tell them apart.</p>\n{}",
        table("Called duplicates, by what was done and how much of it", &heading, 3, &rows)
    )
}

fn cells(report: &PairReport, level: &Level) -> Vec<TableCell> {
    let mut cells = vec![
        TableCell::Name(level.kind.clone()),
        TableCell::Text(level.level.clone()),
        TableCell::Text(level.label.name().to_owned()),
        TableCell::Figure(level.pairs.len().to_string()),
    ];
    for run in &report.runs {
        cells.extend(run.judged.iter().map(|judged| {
            let called = run.scores.called(level, judged.threshold);
            TableCell::Heat((called.of > 0).then(|| called.called as f64 / called.of as f64))
        }));
    }
    cells
}
