//! What people look at: one page in one file, with plots and, beside each, its table.

mod clusters;
mod costs;
mod levels;
mod page;
mod pairs;
mod plot;

use super::metrics::Estimate;
use super::report::Input;

pub use clusters::clusters;
pub use page::escaped;
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
        html +=
            &page::folded("Missing pages; what needs them is left out", &format!("<pre class=\"mono\">{text}</pre>\n"));
    }
    html
}

/// Escapes lines one by one, so that their ends stay.
fn escaped_lines(text: &str) -> String {
    text.lines().map(|line| escaped(line) + "\n").collect()
}

/// `1,234,567`.
fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(",")
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

/// A figure that stands for itself.
fn card(value: &str, what: &str) -> String {
    format!("<div class=\"card\"><b>{}</b><span>{}</span></div>", escaped(value), escaped(what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    }
}
