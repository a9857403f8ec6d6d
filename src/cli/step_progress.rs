//! Progress of a command that copies or moves: what it is at, and how much of that is done.

use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cli::terminal::{set_bar_hook, stderr_can_draw, write_stderr};

/// The interval between lines where there is no terminal.
const LINE_GAP: Duration = Duration::from_secs(5);
/// The redraw rate on a terminal, per second.
const DRAWS_PER_SECOND: u8 = 5;

/// Shows progress on stderr: a line that changes on a terminal, otherwise a line now and then.
pub(super) struct StepProgress {
    name: &'static str,
    is_quiet: bool,
    bar: Option<ProgressBar>,
    last: Instant,
}

impl StepProgress {
    /// Begins. `name` says what the command does: "moving".
    pub fn new(name: &'static str, is_quiet: bool) -> Self {
        let bar = (!is_quiet && stderr_can_draw()).then(|| {
            let style = ProgressStyle::with_template("{spinner} {wide_msg}");
            let target = ProgressDrawTarget::stderr_with_hz(DRAWS_PER_SECOND);
            let bar = ProgressBar::with_draw_target(None, target);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            let shown = bar.clone();
            set_bar_hook(Some(Arc::new(move |write| shown.suspend(write))));
            bar
        });
        Self { name, is_quiet, bar, last: Instant::now() }
    }

    /// Tells how much of a step is done. May be called at any rate.
    pub fn tell(&mut self, step: &str, done: u64, all: u64) {
        let percent = u128::from(done) * 100 / u128::from(all.max(1));
        let text = format!("{} {step}: {percent} %", self.name);
        if let Some(bar) = &self.bar {
            bar.set_message(text);
            bar.tick();
        } else if !self.is_quiet && self.last.elapsed() >= LINE_GAP {
            self.last = Instant::now();
            write_stderr(&text);
        }
    }
}

impl Drop for StepProgress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
            set_bar_hook(None);
        }
    }
}
