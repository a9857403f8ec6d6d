//! What people look at: one page in one file, with plots and, beside each, its table.

mod clusters;
mod costs;
mod levels;
mod pairs;

use super::metrics::Estimate;
use super::report::Input;
use crate::html_writer::{self, escaped, escaped_lines, folded};

pub use clusters::clusters;
pub use pairs::pairs;

/// Missing pages beyond this many are only counted.
const NAMED_MISSING: usize = 20;

/// What was looked at.
fn opening(title: &str, input: &Input, what: &str) -> String {
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
        html += &folded("Missing pages; what needs them is left out", &format!("<pre class=\"mono\">{text}</pre>\n"));
    }
    html
}

/// `1,234,567`.
fn thousands(number: usize) -> String {
    html_writer::thousands(number as u64)
}

/// A value and, smaller, its interval: markup.
fn estimate(estimate: Estimate) -> String {
    match (estimate.value, estimate.interval) {
        (Some(value), Some((low, high))) => {
            format!("{value:.3} <span class=\"ci\">{low:.3}–{high:.3}</span>")
        }
        _ => "–".to_owned(),
    }
}
