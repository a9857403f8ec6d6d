//! Progress output on stderr.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use console::Term;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cli::bar_lines::bar_lines;
use crate::cli::config::value_enums::ProgressMode;
use crate::cli::counts::OutcomeCounts;
use crate::cli::format::{byte_size, clock, percent, thousands};
use crate::cli::snapshot::{FetchedNow, Snapshot};
use crate::cli::terminal::{set_bar_hook, stderr_can_draw, write_stderr};
use crate::cli::terminal_safe::terminal_safe;

/// The interval between lines of [`ProgressMode::Plain`] and [`ProgressMode::Json`].
const LINE_GAP: Duration = Duration::from_secs(5);

/// The width of a terminal that does not tell its own.
const WIDTH: u16 = 80;

/// The redraw rate of the bar, per second.
const DRAWS_PER_SECOND: u8 = 10;

/// Returns a bar for a command that reads something to its end; hidden, if it is not to be shown.
pub fn reading_bar(is_shown: bool, length: Option<u64>, template: &str) -> ProgressBar {
    let target = if is_shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(length, target).with_style(style)
}

/// Returns a bar with a message that moves by itself, hidden where nobody watches.
pub fn named_bar(mode: ProgressMode, name: &'static str, length: u64, template: &str) -> ProgressBar {
    let bar = reading_bar(mode != ProgressMode::None && stderr_can_draw(), Some(length), template);
    bar.set_message(name);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Shows progress on stderr.
#[derive(Debug)]
pub struct Progress {
    show: Show,
    next_line: Mutex<Duration>,
}

#[derive(Debug)]
enum Show {
    Bar { lines: [ProgressBar; 3], color: bool },
    Plain,
    Json,
    Nothing,
}

impl Progress {
    /// Starts to show progress. `auto` is a bar on a terminal, otherwise plain lines.
    pub fn new(mode: ProgressMode, color: bool, stderr_is_terminal: bool) -> Self {
        let show = match mode {
            ProgressMode::None => Show::Nothing,
            ProgressMode::Json => Show::Json,
            ProgressMode::Auto if stderr_is_terminal => show_bar(color),
            ProgressMode::Plain | ProgressMode::Auto => Show::Plain,
        };
        Self { show, next_line: Mutex::new(LINE_GAP) }
    }

    /// Shows these counters if an update is due. May be called at any rate.
    ///
    /// `now` says what is being fetched.
    pub fn update(&self, snapshot: &Snapshot, now: &FetchedNow) {
        match &self.show {
            Show::Bar { lines, color } => {
                let width = usize::from(Term::stderr().size_checked().map_or(WIDTH, |(_, width)| width));
                for (line, text) in lines.iter().zip(bar_lines(snapshot, now, width, *color)) {
                    line.set_message(text);
                }
            }
            Show::Plain if self.is_due(snapshot.elapsed) => write_stderr(&plain_line(snapshot)),
            Show::Json if self.is_due(snapshot.elapsed) => write_stderr(&json_line(snapshot)),
            Show::Plain | Show::Json | Show::Nothing => {}
        }
    }

    /// Writes a line to stderr, above the bar; control characters are escaped.
    pub fn line(&self, text: &str) {
        write_stderr(&terminal_safe(text));
    }

    /// Removes the bar.
    pub fn finish(&self) {
        if let Show::Bar { lines, .. } = &self.show {
            lines.iter().for_each(ProgressBar::finish_and_clear);
            let _ = std::io::stderr().flush();
            set_bar_hook(None);
        }
    }

    fn is_due(&self, elapsed: Duration) -> bool {
        let mut next = self.next_line.lock().unwrap_or_else(PoisonError::into_inner);
        let due = elapsed >= *next;
        while *next <= elapsed {
            *next += LINE_GAP;
        }
        due
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}

fn show_bar(color: bool) -> Show {
    let target = ProgressDrawTarget::stderr_with_hz(DRAWS_PER_SECOND);
    let shown = MultiProgress::with_draw_target(target);
    let style = |template| ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner());
    let first = shown.add(ProgressBar::new_spinner().with_style(style("{spinner} {wide_msg}")));
    let others = [(); 2].map(|()| shown.add(ProgressBar::new_spinner().with_style(style("  {wide_msg}"))));
    let [second, third] = others;
    first.enable_steady_tick(Duration::from_millis(1000 / u64::from(DRAWS_PER_SECOND)));
    set_bar_hook(Some(Arc::new(move |write| shown.suspend(write))));
    Show::Bar { lines: [first, second, third], color }
}

/// Returns the two halves of a plain line.
fn plain_parts(now: &Snapshot) -> [String; 2] {
    let OutcomeCounts { stored, near_duplicates, exact_duplicates, failed, excluded } = now.outcomes;
    let rate = now.outcomes.duplicate_rate();
    let rate = rate.map_or(String::new(), |rate| format!(" ({} duplicates)", percent(rate)));
    [
        format!(
            "{}{}  {} pages  {:.1}/s  queue {} on {} sites  in flight {}",
            clock(now.elapsed),
            if now.paused { "  paused" } else { "" },
            thousands(now.fetched),
            now.pages_per_second,
            thousands(now.queued),
            thousands(now.origins),
            now.leased
        ),
        format!(
            "{} stored  {} near  {} exact{rate}  {} failed  {} excluded  {}  memory {}",
            thousands(stored),
            thousands(near_duplicates),
            thousands(exact_duplicates),
            thousands(failed),
            thousands(excluded),
            byte_size(now.bytes),
            byte_size(now.memory_bytes)
        ),
    ]
}

/// Returns a line of [`ProgressMode::Plain`].
pub fn plain_line(now: &Snapshot) -> String {
    let [first, second] = plain_parts(now);
    format!("{first}; {second}")
}

/// Returns a line of [`ProgressMode::Json`].
pub fn json_line(now: &Snapshot) -> String {
    // A struct of numbers cannot fail to serialize.
    serde_json::to_string(now).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot() -> Snapshot {
        Snapshot {
            elapsed: Duration::from_millis(83_500),
            fetched: 1234,
            pages_per_second: 14.78,
            queued: 56_789,
            leased: 32,
            origins: 12,
            outcomes: OutcomeCounts {
                stored: 1000,
                near_duplicates: 150,
                exact_duplicates: 84,
                failed: 3,
                excluded: 1200,
            },
            bytes: 24_536_000,
            memory_bytes: 120 << 20,
            left: None,
            paused: false,
        }
    }

    #[test]
    fn the_plain_line_tells_it_all() {
        insta::assert_snapshot!(plain_line(&snapshot()), @r"00:01:23  1,234 pages  14.8/s  queue 56,789 on 12 sites  in flight 32; 1,000 stored  150 near  84 exact (19.0% duplicates)  3 failed  1,200 excluded  23.4 MiB  memory 120.0 MiB");
    }

    #[test]
    fn the_json_line_is_one_object() {
        insta::assert_snapshot!(json_line(&snapshot()), @r#"{"elapsed_seconds":83.5,"fetched":1234,"pages_per_second":14.78,"queued":56789,"leased":32,"origins":12,"stored":1000,"near_duplicates":150,"exact_duplicates":84,"failed":3,"excluded":1200,"bytes":24536000,"memory_bytes":125829120}"#);
    }

    #[test]
    fn nothing_judged_is_no_rate() {
        assert!(!plain_line(&Snapshot::default()).contains('%'));
    }

    #[test]
    fn lines_are_five_seconds_apart_from_the_fifth_second_on() {
        let progress = Progress::new(ProgressMode::Plain, false, false);
        let due = |seconds| progress.is_due(Duration::from_secs(seconds));
        assert_eq!([0, 4, 5, 6, 9, 17, 18, 20].map(due), [false, false, true, false, false, true, false, true]);
    }

    #[test]
    fn a_bar_needs_a_terminal() {
        assert!(matches!(Progress::new(ProgressMode::Auto, true, false).show, Show::Plain));
        assert!(matches!(Progress::new(ProgressMode::None, true, true).show, Show::Nothing));
    }
}
