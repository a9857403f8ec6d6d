//! The summary as people read it.

use std::fmt::Write as _;

use super::sites::{self, MOST_ROWS, and_more};
use super::{PredictionCost, RecrawlSummary, SkippingCost, Summary, documents_text};
use crate::cli::colors::{Tone, toned};
use crate::cli::counts::OutcomeCounts;
use crate::cli::format::{byte_size, counted, decided_again, lost_words, of_compared, percent, span, thousands};
use crate::cli::terminal_safe::terminal_safe;
use crate::cli::text_width::{shortened_in_middle, width};

const NOT_MODIFIED: &str = "not modified";
const FAILED: &str = "failed";
const PREDICTED: &str = "predicted";

impl Summary {
    /// Renders the summary as text of `width` columns.
    pub fn text(&self, color: bool, width: usize) -> String {
        let parts = [
            self.answer(color, width) + &self.head(width),
            self.outcomes(color, width),
            self.duplicates(width),
            sites::table(&self.sites, width),
            self.remarkable_sites(width),
            self.failed_seeds(color, width),
            self.end(),
        ];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join("\n")
    }

    /// Returns the duplicate rate and what it saved.
    fn answer(&self, color: bool, width: usize) -> String {
        let Self { near_duplicates, exact_duplicates, .. } = *self;
        let stored = self.stored + self.not_modified;
        let counts = OutcomeCounts { stored, near_duplicates, exact_duplicates, ..OutcomeCounts::default() };
        let Some(rate) = counts.duplicate_rate() else { return String::new() };
        let judged = of_compared(counts.compared());
        // What was not fetched is repetition, too, or most of it.
        let (at_least, saved) = match self.links_skipped + self.predicted + self.repeating {
            0 => ("", String::new()),
            requests => ("At least ", format!("; skipping saved {}", counted(requests, "request", "requests"))),
        };
        let rate = percent(rate);
        let line = wrapped(&format!("{at_least}{rate} of {judged}{saved}"), width);
        // The rate has no blank, so that no line breaks within it.
        line.replacen(&rate, &toned(&rate, Tone::Rate, color), 1)
    }

    fn head(&self, width: usize) -> String {
        let how = match &self.stopped {
            Some(why) => format!("Crawl stopped ({})", terminal_safe(why)),
            None => "Crawl finished".to_owned(),
        };
        let requests = counted(self.requests, "request", "requests");
        wrapped(&format!("{how} after {}: {requests}, {}", span(self.elapsed), byte_size(self.bytes)), width)
    }

    fn outcomes(&self, color: bool, most: usize) -> String {
        let rows = [
            (self.stored, "stored", "unique pages"),
            (self.not_modified, NOT_MODIFIED, "unique pages, unchanged"),
            (self.near_duplicates, "near-duplicates", "of a stored page"),
            (self.exact_duplicates, "exact duplicates", "same bytes or same text"),
            (self.redirected, "redirected", ""),
            (self.excluded, "excluded", "by scope, robots.txt, type and other rules"),
            (self.failed, FAILED, ""),
            (self.deferred, "deferred", "seen, not fetched"),
            (self.predicted, PREDICTED, "predicted duplicates, not fetched"),
        ];
        let counts = rows.iter().map(|(count, ..)| *count).chain([self.seen]);
        let width = counts.map(|count| thousands(count).len()).max().unwrap_or_default().max(7);
        let mut text = String::new();
        for (count, name, note) in
            rows.into_iter().filter(|(count, name, _)| *count > 0 || ![NOT_MODIFIED, PREDICTED].contains(name))
        {
            let line = format!("  {:>width$}  {name:<18}", thousands(count));
            let note = if line.len() + note.len() <= most { note } else { "" };
            let line = format!("{line}{note}");
            let is_failure = name == FAILED && count > 0;
            let _ = writeln!(text, "{}", toned(line.trim_end(), Tone::Error, color && is_failure));
        }
        let _ = writeln!(text, "  {:>width$}  URLs seen", thousands(self.seen));
        text
    }

    fn duplicates(&self, width: usize) -> String {
        // What did not happen is not told.
        let told = |count, one, many, what| match count {
            0 => String::new(),
            count => format!("{} {what}\n", counted(count, one, many)),
        };
        let urls = |count, what| told(count, "URL", "URLs", what);
        let saved = told(self.links_skipped, "link", "links", "found only on duplicates not fetched");
        let repeating = urls(self.repeating, "not fetched: their URL pattern yields duplicates only");
        let predicted = urls(self.predicted, "not fetched: rules predict that they are duplicates");
        let soft_404s = told(self.soft_404s, "page", "pages", "left out: error pages sent with status 200");
        let revised = if self.revised == 0 { String::new() } else { decided_again(self.revised) };
        let documents = documents_text(self.documents, &self.text_errors);
        let unmatched = match self.links_unmatched {
            0 => String::new(),
            links => format!(
                "{} of them {} no counterpart on the original (--duplicate-links unmatched follows such links)\n",
                thousands(links),
                if links == 1 { "has" } else { "have" }
            ),
        };
        let lost = self.skipping.as_ref().map(SkippingCost::text).unwrap_or_default();
        let lost_by_rules = self.predicting.as_ref().map(PredictionCost::text).unwrap_or_default();
        let words = lost_words(self.words_dropped, self.words_lost);
        let recrawl = self.recrawl.as_ref().map(RecrawlSummary::text).unwrap_or_default();
        let text = format!(
            "{words}{saved}{unmatched}{lost}{repeating}{predicted}{lost_by_rules}{soft_404s}{documents}{revised}{recrawl}"
        );
        text.lines().map(|line| wrapped(line, width)).collect()
    }

    fn remarkable_sites(&self, width: usize) -> String {
        let slow =
            self.slowest.iter().map(|site| format!("{} {}", terminal_safe(&site.host), span(site.mean_response)));
        let failing = self.failing.iter().map(|site| {
            format!("{} {} ({})", terminal_safe(&site.host), thousands(site.failed), terminal_safe(&site.class))
        });
        labelled("Slowest:", slow, width) + &labelled("Most failures:", failing, width)
    }

    fn failed_seeds(&self, color: bool, width: usize) -> String {
        if self.seeds_failed.is_empty() {
            return String::new();
        }
        let mut text = toned("Seeds that could not be fetched:", Tone::Error, color) + "\n";
        for failed in self.seeds_failed.iter().take(MOST_ROWS) {
            // The reason may say what helps, so it stands as a whole.
            let seed = shortened_in_middle(&terminal_safe(&failed.seed), width / 2);
            text += "  ";
            text += &wrapped(&format!("{seed}: {}", terminal_safe(&failed.why)), width - 2);
        }
        text + &and_more(self.seeds_failed.len(), "seed", "seeds")
    }

    fn end(&self) -> String {
        let mut text = format!("Results: {}\n", terminal_safe(&self.out));
        if let Some(report) = &self.report {
            let _ = writeln!(text, "Report:  {}", terminal_safe(report));
        }
        if let Some(hint) = &self.hint {
            let _ = writeln!(text, "hint: {}", terminal_safe(hint));
        }
        text
    }
}

/// Breaks a line at blanks so that it fits; further lines are indented.
fn wrapped(text: &str, most: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().map_or(0, |line| width(line));
        match lines.last_mut() {
            Some(last) if line == 0 => last.push_str(word),
            Some(last) if line + 1 + width(word) <= most => {
                last.push(' ');
                last.push_str(word);
            }
            _ => lines.push(format!("  {word}")),
        }
    }
    lines.join("\n") + "\n"
}

/// Returns the label with as many items as fit on one line.
fn labelled(label: &str, items: impl Iterator<Item = String>, most: usize) -> String {
    let mut line = format!("{label:<15}");
    let empty = width(&line);
    for item in items {
        let separator = if width(&line) == empty { "" } else { ", " };
        if width(&line) + separator.len() + width(&item) > most {
            break;
        }
        line.push_str(separator);
        line.push_str(&item);
    }
    if width(&line) == empty { String::new() } else { line + "\n" }
}
