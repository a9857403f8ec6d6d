//! Runs `dedup` with a progress bar, `status.json` and signal handling.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use serde::Serialize;
use tokio::sync::watch;

use crate::cli::config::settings::Settings;
use crate::cli::config::value_enums::ProgressMode;
use crate::cli::counts::OutcomeCounts;
use crate::cli::errors::{CliError, exit};
use crate::cli::host::Host;
use crate::cli::progress::reading_bar;
use crate::cli::signals;
use crate::cli::status_file::{ReadStatus, RunState, StatusFile};
use crate::cli::terminal::stderr_can_draw;
use crate::dedup::{Dedup, DedupEnding, DedupWatch};
use crate::model::FrontierCounts;
use crate::pipeline::{PipelineError, Stop, StopReason};

/// The interval of drawing the bar.
const TICK: Duration = Duration::from_millis(200);
/// Ticks between writes of `status.json`.
const STATUS_TICKS: u32 = 5;

/// Runs until the input ends or a signal arrives. Returns the exit code of the signal.
pub(super) fn run(
    settings: &Settings,
    dedup: Dedup,
    total: Option<u64>,
    host: &Host,
) -> Result<(Result<DedupEnding, PipelineError>, Option<u8>), CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(|error| CliError::new(exit::INTERNAL, format!("no runtime: {error}")))?;
    let (stop, mut stopped) = watch::channel(Stop::Go);
    let signalled = {
        let _in_runtime = runtime.enter();
        host.listen(stop, signals::OF_PAGES).map_err(anyhow::Error::from)?
    };
    let (bytes_read, is_stopped) = (AtomicU64::new(0), Arc::new(AtomicBool::new(false)));
    runtime.spawn({
        let is_stopped = is_stopped.clone();
        async move {
            if stopped.changed().await.is_ok() {
                is_stopped.store(true, Ordering::Relaxed);
            }
        }
    });
    let watch = dedup.watch();
    let watched = DedupMonitor {
        seen_before: watch.totals().outcomes.values().sum(),
        host,
        watch,
        bytes_read: &bytes_read,
        total,
        began: Instant::now(),
    };
    let bar = bar(settings, total, host);
    let (end, is_over) = channel();
    let ended = std::thread::scope(|scope| {
        scope.spawn(|| watched.show(&bar, &settings.out.dir, is_over));
        let ended = dedup.run(&bytes_read, &is_stopped);
        drop(end);
        ended
    });
    bar.finish_and_clear();
    let state = match &ended {
        Ok(DedupEnding { reason: StopReason::Finished, .. }) => RunState::Finished,
        _ => RunState::Stopped,
    };
    watched.write_status(&settings.out.dir, state);
    host.show(&watched.counters());
    Ok((ended, signalled.exit_code()))
}

/// The counters at one moment, for a program that embeds the run.
#[derive(Debug, Serialize)]
struct DedupCounters {
    elapsed_seconds: f64,
    #[serde(flatten)]
    outcomes: OutcomeCounts,
    bytes_read: u64,
    bytes_to_read: Option<u64>,
}

/// What the bar and `status.json` show.
struct DedupMonitor<'a> {
    host: &'a Host,
    watch: DedupWatch,
    /// Pages of earlier runs.
    seen_before: u64,
    bytes_read: &'a AtomicU64,
    total: Option<u64>,
    began: Instant,
}

impl DedupMonitor<'_> {
    /// Updates the bar and `status.json` until the sender of `is_over` is dropped.
    fn show(&self, bar: &ProgressBar, folder: &Path, is_over: Receiver<()>) {
        for tick in 0u32.. {
            bar.set_position(self.bytes_read.load(Ordering::Relaxed));
            self.host.show(&self.counters());
            if tick.is_multiple_of(STATUS_TICKS) {
                self.write_status(folder, RunState::Running);
            }
            if is_over.recv_timeout(TICK) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    }

    fn counters(&self) -> DedupCounters {
        DedupCounters {
            elapsed_seconds: self.began.elapsed().as_secs_f64(),
            outcomes: (&self.watch.totals().outcomes).into(),
            bytes_read: self.bytes_read.load(Ordering::Relaxed),
            bytes_to_read: self.total,
        }
    }

    fn write_status(&self, folder: &Path, state: RunState) {
        let (totals, index) = (self.watch.totals(), self.watch.index());
        let seconds = self.began.elapsed().as_secs_f64();
        let seen: u64 = totals.outcomes.values().sum();
        let counts = FrontierCounts { seen, ..FrontierCounts::default() };
        let status = StatusFile {
            elapsed_seconds: seconds,
            pages_per_second: (seen - self.seen_before) as f64 / seconds.max(1e-3),
            read: Some(ReadStatus { bytes: self.bytes_read.load(Ordering::Relaxed), of: self.total }),
            ..StatusFile::now(state, &totals, &counts, &index)
        };
        status.write(folder);
    }
}

fn bar(settings: &Settings, total: Option<u64>, host: &Host) -> ProgressBar {
    let is_shown = settings.progress_mode() == ProgressMode::Auto && !host.is_embedded() && stderr_can_draw();
    let template = match total {
        Some(_) => "{bar:30} {binary_bytes}/{binary_total_bytes}, {binary_bytes_per_sec}, {eta} left",
        None => "{spinner} {binary_bytes}, {binary_bytes_per_sec}",
    };
    reading_bar(is_shown, total, template)
}
