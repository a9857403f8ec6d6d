//! Evaluation results as one HTML page: plots, each with a table of its data.

mod clusters;
mod costs;
mod levels;
mod pairs;

use super::metrics::Estimate;
use super::report::{EvalInput, JudgedPairs, PairRun};
use ndcrawl_html_writer::{self as html_writer, escaped, escaped_lines, folded};

pub use clusters::clusters;
pub use pairs::pairs;

/// Maximum missing pages listed by name.
const NAMED_MISSING: usize = 20;

/// Returns the heading and the list of missing pages.
fn opening(title: &str, input: &EvalInput, what: &str) -> String {
    let name = input.file.rsplit(['/', '\\']).next().unwrap_or(&input.file);
    let mut html = format!(
        "<h1>{title}: {}</h1>\n<p class=\"soft\">{what}; {} pages, {} of them missing</p>\n",
        escaped(name),
        thousands(input.pages),
        thousands(input.missing.len())
    );
    if !input.missing.is_empty() {
        let lines = input.missing.iter().take(NAMED_MISSING);
        let lines = lines.map(|missing| format!("{}: {}\n", missing.file.display(), missing.why));
        let text = escaped_lines(&lines.collect::<String>());
        html += &folded(
            "Missing pages; their pairs and clusters are left out",
            &format!("<pre class=\"mono\">{text}</pre>\n"),
        );
    }
    html
}

/// Returns the name of a detector at a threshold.
fn label(run: &PairRun, judged: &JudgedPairs) -> String {
    format!("{} {}", run.scores.detector, judged.threshold)
}

/// Formats a number with thousands separators.
fn thousands(number: usize) -> String {
    html_writer::thousands(number as u64)
}

/// Returns a value with its interval as markup.
fn estimate(estimate: Estimate) -> String {
    match (estimate.value, estimate.interval) {
        (Some(value), Some((low, high))) => {
            format!("{value:.3} <span class=\"ci\">{low:.3}–{high:.3}</span>")
        }
        _ => "–".to_owned(),
    }
}
