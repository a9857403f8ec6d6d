//! The section on generated pairs: results by edit and level.

use super::label;
use crate::levels::EditLevel;
use crate::report::PairReport;
use ndcrawl_html_writer::{TableCell, TableRow, table};

/// Returns the section on generated pairs.
pub(super) fn section(report: &PairReport) -> String {
    let mut heading: Vec<String> = ["edit", "level", "label", "pairs"].map(str::to_owned).to_vec();
    let judged = report.runs.iter().flat_map(|run| run.judged.iter().map(move |judged| (run, judged)));
    heading.extend(judged.map(|(run, judged)| label(run, judged)));
    let mut rows: Vec<TableRow> = Vec::new();
    for (place, level) in report.levels.iter().enumerate() {
        let is_first = place == 0 || report.levels[place - 1].kind != level.kind;
        rows.push(TableRow { class: if is_first { "first" } else { "" }, ..cells(report, level).into() });
    }
    format!(
        "<h2>By edit</h2>\n<p>Share of edited pages called duplicates of their original. It should be 100 % for dup and near and 0 % \
         for distinct. Shuffled pages keep their terms, so a detector that only counts terms cannot tell them \
         apart.</p>\n{}",
        table("Called duplicates by edit and level", &heading, 3, &rows)
    )
}

fn cells(report: &PairReport, level: &EditLevel) -> Vec<TableCell> {
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
