//! The summary of a run of `dedup`: text, or one line of JSON.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::config::settings::Settings;
use crate::cli::config::value_enums::Choice;
use crate::cli::counts::OutcomeCounts;
use crate::cli::format::{byte_size, counted, decided_again, lost_words, of_compared, percent, thousands};
use crate::cli::summary::documents_text;
use crate::cli::terminal::write_stderr;
use crate::cli::terminal_safe::terminal_safe;
use crate::dedup::{DedupEnding, InputReport, SameUrl};
use crate::detect::Within;
use crate::model::{LostWords, OutcomeKind};
use crate::pipeline::StopReason;

/// Inputs and endings that the text names; the others are counted.
const MOST_NAMED: usize = 20;

/// Says what is given up if pages are compared within hosts only.
pub(super) fn what_was_compared(within: Within) -> &'static str {
    match within {
        Within::Crawl => "",
        Within::Host => {
            "\nPages were compared within their hosts only (--within host): copies on other hosts are kept\n"
        }
    }
}

/// What the summary tells.
pub(super) struct DedupSummary<'a> {
    pub settings: &'a Settings,
    pub ending: &'a DedupEnding,
    /// Which of several captures of one URL are documents.
    pub same_url: SameUrl,
    pub elapsed: Duration,
    pub lost: LostWords,
    pub report: Option<&'a str>,
}

impl DedupSummary<'_> {
    /// Warns on stderr of what was left out.
    pub fn warn(&self) {
        let tally = &self.ending.tally;
        for (kind, (count, first)) in &tally.ignored {
            let files = counted(*count, "file", "files");
            write_stderr(&terminal_safe(&format!("note: {files} ignored, {kind}: {first}")));
        }
        if self.ending.not_revised > 0 {
            let pages = counted(self.ending.not_revised, "duplicate", "duplicates");
            write_stderr(&format!(
                "warning: {pages} would be decided again by now, and perhaps stored; stdin cannot be read twice\n\
                 hint: give the pages as files or folders"
            ));
        }
        if self.ending.reason == StopReason::Finished && tally.inputs.fruitful == 0 {
            let hint =
                "give WARC, WACZ, ARC, Parquet, CSV or JSON files, or folders of HTML; see 'ndcrawl dedup --help'";
            write_stderr(&format!("warning: no input gave a page\nhint: {hint}"));
        }
        if self.ending.reason == StopReason::DiskFull {
            write_stderr("hint: free some disk space (see --min-free), then resume with the same command");
        }
    }

    /// Returns pages and megabytes a second.
    fn rate(&self) -> (f64, f64) {
        let (tally, seconds) = (&self.ending.tally, self.seconds());
        ((tally.answers - tally.known) as f64 / seconds, tally.bytes as f64 / 1e6 / seconds)
    }

    fn seconds(&self) -> f64 {
        self.elapsed.as_secs_f64().max(1e-3)
    }

    /// Returns the summary as one line of JSON.
    pub fn json(&self) -> String {
        let (ending, tally) = (self.ending, &self.ending.tally);
        let ignored: BTreeMap<&String, u64> = tally.ignored.iter().map(|(kind, (count, _))| (kind, *count)).collect();
        let inputs: Vec<Value> = tally.inputs.listed.iter().map(input_json).collect();
        let object = json!({
            "answers": tally.answers, "known": tally.known, "repeated": tally.repeated, "passed": tally.passed,
            "without_url": tally.without_url, "renamed": tally.renamed,
            "other_digests": tally.other_digests,
            "damaged": tally.inputs.damaged, "ignored_files": self.ignored_files(), "ignored": ignored, "same_url": self.same_url.name(),
            "inputs": tally.inputs.opened, "inputs_with_pages": tally.inputs.fruitful,
            "poor_inputs": tally.inputs.poor, "poor": inputs,
            "documents": ending.totals.documents, "text_errors": ending.totals.text_errors,
            "bytes": tally.bytes, "stopped": ending.reason != StopReason::Finished,
            "within": self.settings.dedup.within.word(),
            "words_dropped": self.lost.words, "words_lost": self.lost.lost,
            "outcomes": ending.outcomes(), "revised": ending.totals.revised, "seconds": self.seconds(),
            "pages_per_second": self.rate().0, "megabytes_per_second": self.rate().1,
            "out": self.settings.out.dir, "report": self.report,
        });
        format!("{object}\n")
    }

    /// Returns the summary for people.
    pub fn text(&self) -> String {
        let (ending, tally) = (self.ending, &self.ending.tally);
        let counts = OutcomeCounts::from(&ending.totals.outcomes);
        let how = if ending.reason == StopReason::Finished { "Finished" } else { "Stopped" };
        let mut text = format!(
            "{how} after {:.1} s: {}, {}; {:.0} pages/s, {:.1} MB/s\n\n",
            self.elapsed.as_secs_f64(),
            counted(tally.answers, "page read", "pages read"),
            byte_size(tally.bytes),
            self.rate().0,
            self.rate().1
        );
        let redirected = ending.totals.outcomes.get(&OutcomeKind::Redirected).copied().unwrap_or(0);
        let repeated = match self.same_url {
            SameUrl::Last => "passed over for a later capture of their URL (--same-url last)",
            _ => "passed over for an earlier capture of their URL (--same-url first)",
        };
        let rows = [
            (counts.stored, "stored", "unique pages"),
            (counts.near_duplicates, "near-duplicates", "of a stored page"),
            (counts.exact_duplicates, "exact duplicates", "same bytes or same text"),
            (redirected, "redirected", ""),
            (counts.excluded, "excluded", "not a page by its type, or marked noindex"),
            (counts.failed, "failed", "error responses"),
            (tally.known, "known", "of these, from an earlier run"),
            (tally.repeated, "repeated", repeated),
            (tally.without_url, "without URL", "known by their id, or by file and line"),
            (tally.renamed, "same id again", "of these: known by file and line"),
            (tally.other_digests, "digest differs", "read: a checksum of the file says that they are sound"),
            (tally.passed, "passed over", "records that are no responses"),
            (tally.inputs.damaged, "damaged", "could not be read"),
            (self.ignored_files(), "files ignored", &self.endings()),
        ];
        for (count, name, note) in rows.into_iter().filter(|(count, name, _)| *count > 0 || *name == "stored") {
            text += format!("  {:>9}  {name:<18}{note}", thousands(count)).trim_end();
            text.push('\n');
        }
        if let Some(rate) = counts.duplicate_rate() {
            text += &format!("\n{} of {}\n", percent(rate), of_compared(counts.compared()));
        }
        text += &lost_words(self.lost.words, self.lost.lost);
        text += what_was_compared(self.settings.dedup.within);
        if ending.totals.revised > 0 {
            text += &decided_again(ending.totals.revised);
        }
        text += &documents_text(ending.totals.documents, &ending.totals.text_errors);
        text += &self.poor_inputs();
        let out = self.settings.out.dir.display().to_string();
        text += &format!("\nResults: {}\n", terminal_safe(&out));
        text + &self.report.map_or(String::new(), |path| format!("Report:  {}\n", terminal_safe(path)))
    }

    fn ignored_files(&self) -> u64 {
        self.ending.tally.ignored.values().map(|(count, _)| count).sum()
    }

    /// Returns the endings of ignored files, with counts.
    fn endings(&self) -> String {
        let mut kinds: Vec<(&String, u64)> =
            self.ending.tally.ignored.iter().map(|(kind, (count, _))| (kind, *count)).collect();
        kinds.sort_by_key(|(kind, count)| (std::cmp::Reverse(*count), *kind));
        let named = kinds.iter().take(MOST_NAMED);
        let mut named: Vec<String> =
            named.map(|(kind, count)| format!("{} {}", thousands(*count), terminal_safe(kind))).collect();
        if kinds.len() > MOST_NAMED {
            named.push("others".to_owned());
        }
        named.join(", ")
    }

    /// Returns the inputs that gave no page or were not read to their end; empty if there are none.
    fn poor_inputs(&self) -> String {
        let inputs = &self.ending.tally.inputs;
        if inputs.poor == 0 {
            return String::new();
        }
        let of = counted(inputs.opened, "input", "inputs");
        let gave = counted(inputs.poor, "gave no page or was", "gave no page or were");
        let mut text = format!("\nOf {of}, {gave} not read to the end:\n");
        for input in inputs.listed.iter().take(MOST_NAMED) {
            text += &format!("  {}\n", terminal_safe(&input_text(input)));
        }
        if let Some(more @ 1..) = inputs.poor.checked_sub(MOST_NAMED as u64) {
            text += &format!("  and {}\n", counted(more, "other; --json lists it", "others; --json lists 1,000"));
        }
        text
    }
}

fn input_json(input: &InputReport) -> Value {
    json!({
        "file": input.file.name, "format": input.file.format, "pages": input.answers, "passed": input.passed,
        "damaged": input.damaged, "breaks_off": input.breaks_off, "why": input.why,
    })
}

fn input_text(input: &InputReport) -> String {
    let InputReport { file, answers, passed, damaged, breaks_off, why } = input;
    let counts = [
        (*answers, counted(*answers, "page", "pages")),
        (*passed, format!("{} passed over", thousands(*passed))),
        (*damaged, format!("{} damaged", thousands(*damaged))),
    ];
    let mut parts = vec![if *answers == 0 { "no page" } else { "broke off" }.to_owned()];
    if *answers == 0 && *breaks_off && *damaged > 1 {
        parts.push("broke off".to_owned());
    }
    parts.extend(counts.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text));
    let why = why.as_ref().map_or(String::new(), |why| format!(": {why}"));
    format!("{} ({}): {}{why}", file.name, file.format, parts.join(", "))
}
