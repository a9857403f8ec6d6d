//! Renders the comparison of two pages as text.

use std::fmt::Write as _;

use super::pair::PagePair;
use super::text::{TITLE, columns, hundredths};
use crate::cli::format::{counted, thousands};
use crate::cli::table::aligned;
use crate::cli::terminal_safe::terminal_safe;
use crate::cli::text_width::shortened;
use crate::report::{DifferentTerm, SharedTerm};

/// The legend of the table.
const FIELDS: &str = "\
(u URL, h heading, t title, a link within the site, o other link, k keywords, d description, b running text)
";
/// The maximum width of a table, in characters.
const WIDTH: usize = 110;
/// Terms shown without `--all`: shared ones, and different ones.
const TERMS: usize = 20;
const DIFFERENT: usize = 12;
/// Smaller differences are hidden without `--all`.
const TELLING: f64 = 0.001;

impl PagePair {
    /// Renders the comparison, of all terms or the heaviest ones.
    pub fn text(&self, all: bool) -> String {
        let mut text = String::new();
        for (name, side) in ["A", "B"].iter().zip(&self.pages) {
            let _ = writeln!(text, "{name}  {}", terminal_safe(&side.url));
            let _ = writeln!(
                text,
                "   {}, page {} in crawl order, {} of weight {}",
                terminal_safe(&side.outcome),
                thousands(u64::from(side.sequence) + 1),
                counted(side.terms as u64, "term", "terms"),
                hundredths(side.weight)
            );
            if let Some(title) = &side.title {
                let _ = writeln!(text, "   {}", shortened(&terminal_safe(title), TITLE));
            }
        }
        let _ = writeln!(
            text,
            "\nMinimum weight overlap {} over {} shared terms",
            self.score,
            thousands(self.shared as u64)
        );
        text += &self.bars();
        text += &self.table(all);
        text += &self.different(all);
        text
    }

    fn bars(&self) -> String {
        let mut text = String::new();
        if self.detector == "mwo" {
            let reached = if self.score >= self.threshold { "reached" } else { "missed" };
            let _ = writeln!(text, "  first check, threshold {}: {reached}", self.threshold);
        } else {
            let _ = writeln!(text, "  the crawl used another detector, {}", self.detector);
        }
        if let Some(second) = &self.second {
            let met = if second.second_is_met { "met" } else { "not met" };
            let (adds, lacks) = columns(second);
            let _ = writeln!(text, "  second check: B adds {adds} words of its own, lacks {lacks} of A's: {met}");
            let _ = writeln!(text, "    {}", second.basis);
        }
        text
    }

    fn table(&self, all: bool) -> String {
        if self.terms.is_empty() {
            return String::new();
        }
        let shown = if all { self.terms.len() } else { TERMS.min(self.terms.len()) };
        let rows: Vec<Vec<String>> = self.terms[..shown].iter().map(row).collect();
        let heading = ["term", "on A", "on B", "weight A", "weight B", "minimum", "sum"];
        let mut text = format!("\n{}{}", aligned(&heading, &rows, WIDTH), FIELDS);
        if let Some(more @ 1..) = self.terms.len().checked_sub(shown) {
            let sum = self.terms[shown - 1].sum;
            let _ = writeln!(
                text,
                "... and {}, which add {:.6} (see --all)",
                counted(more as u64, "more term", "more terms"),
                self.score - sum
            );
        }
        text
    }

    fn different(&self, all: bool) -> String {
        if self.differences.is_empty() {
            return "\nNo term differs\n".to_owned();
        }
        let mut text = "\nTerms that differ most\n".to_owned();
        for (name, mine, other) in [("A", 0, 1), ("B", 1, 0)] {
            let more: Vec<&DifferentTerm> =
                self.differences.iter().filter(|term| term.weights[mine] > term.weights[other]).collect();
            let telling = more.iter().take_while(|term| term.difference >= TELLING).count();
            let shown = if all { more.len() } else { DIFFERENT.min(telling) };
            let told: Vec<String> = more[..shown].iter().map(|term| different(term, other)).collect();
            let rest = match more.len() - shown {
                0 => String::new(),
                rest => format!(" ... and {} that differ less", thousands(rest as u64)),
            };
            let told = if told.is_empty() { "nothing".to_owned() } else { told.join(", ") };
            let _ = writeln!(text, "  more on {name}: {told}{rest}");
        }
        text
    }
}

fn row(shared: &SharedTerm) -> Vec<String> {
    let [one, other] = &shared.counts;
    let mut cells = vec![terminal_safe(&shared.term).into_owned(), counts(one), counts(other)];
    cells.extend([shared.weights[0], shared.weights[1], shared.minimum, shared.sum].map(|share| format!("{share:.6}")));
    cells
}

/// Formats counts by field: `t1 b12`.
fn counts(counts: &[(&str, u32)]) -> String {
    let one = |(field, count): &(&str, u32)| format!("{}{count}", letter(field));
    counts.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// Returns the letter of a field in the table.
fn letter(field: &str) -> &str {
    match field {
        "anchor-other-site" => "o",
        _ => field.get(..1).unwrap_or_default(),
    }
}

/// Formats a different term: `term 0.0123`, with a star if the other page lacks it.
fn different(term: &DifferentTerm, other: usize) -> String {
    let only = if term.weights[other] == 0.0 { "*" } else { "" };
    format!("{}{only} {:.4}", terminal_safe(&term.term), term.difference)
}
