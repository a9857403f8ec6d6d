//! Monitors a crawl: progress on stderr, `status.json` and the dashboard.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::cli::counts::OutcomeCounts;
use crate::cli::dashboard::Dashboard;
use crate::cli::host::Host;
use crate::cli::progress::Progress;
use crate::cli::snapshot::{FetchedNow, Snapshot, TimeLeft};
use crate::cli::status_file::{RunState, StatusFile, WaitingOrigin, resident_bytes};
use crate::crawl::CrawlWatch;
use crate::model::shown_origin;

/// The interval of progress updates.
const LOOK: Duration = Duration::from_millis(200);
/// The interval of writing `status.json`.
const STATUS: Duration = Duration::from_secs(1);
/// The window over which pages per second are measured.
const RATE_SPAN: Duration = Duration::from_secs(5);
/// Origins listed in `status.json` and on the dashboard.
const MOST_WAITING: usize = 20;

/// The limits that end a crawl.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CrawlLimits {
    pub pages: Option<u64>,
    pub time: Option<Duration>,
}

/// Monitors a crawl until it ends.
pub(super) struct Monitor {
    host: Host,
    pub folder: PathBuf,
    pub watch: CrawlWatch,
    pub progress: Progress,
    dashboard: Option<Dashboard>,
    limits: CrawlLimits,
    /// Pages of earlier runs.
    pages_before: u64,
    began: Instant,
    /// Moments with the number of pages fetched by then.
    rate: VecDeque<(Instant, u64)>,
}

impl Monitor {
    pub fn new(
        host: Host,
        folder: PathBuf,
        watch: CrawlWatch,
        progress: Progress,
        dashboard: Option<Dashboard>,
        limits: CrawlLimits,
    ) -> Self {
        let pages_before = watch.counts().pages;
        let rate = VecDeque::new();
        Self { host, folder, watch, progress, dashboard, limits, pages_before, began: Instant::now(), rate }
    }

    /// Updates progress, `status.json` and the dashboard until `ended` is ready.
    pub async fn run(mut self, ended: tokio::sync::oneshot::Receiver<()>) -> Self {
        tokio::pin!(ended);
        let mut next_status = Instant::now();
        loop {
            let snapshot = self.snapshot();
            self.progress.update(&snapshot, &self.fetched_now());
            self.host.show(&snapshot);
            if Instant::now() >= next_status {
                let is_paused = self.watch.pause_switch().is_paused();
                self.tell(&snapshot, if is_paused { RunState::Paused } else { RunState::Running });
                next_status = Instant::now() + STATUS;
            }
            tokio::select! {
                _ = &mut ended => break,
                () = tokio::time::sleep(LOOK) => {}
            }
        }
        self.progress.finish();
        self
    }

    /// Writes the last `status.json` and releases the folder. Returns the dashboard, which shows the end.
    pub fn end(mut self, state: RunState) -> Option<Dashboard> {
        let snapshot = self.snapshot();
        self.host.show(&snapshot);
        self.tell(&snapshot, state);
        self.dashboard
    }

    fn snapshot(&mut self) -> Snapshot {
        let (totals, counts) = (self.watch.totals(), self.watch.counts());
        let mut outcomes = OutcomeCounts::from(&totals.outcomes);
        outcomes.excluded += counts.excluded;
        Snapshot {
            elapsed: self.began.elapsed(),
            fetched: counts.pages,
            pages_per_second: self.rate_of(counts.pages),
            queued: counts.queued,
            leased: counts.leased,
            origins: counts.origins,
            outcomes,
            bytes: totals.bytes,
            memory_bytes: resident_bytes(),
            left: self.left(counts.pages, counts.queued),
            paused: self.watch.pause_switch().is_paused(),
        }
    }

    fn fetched_now(&self) -> FetchedNow {
        match self.watch.longest_request() {
            Some((url, elapsed)) => FetchedNow { url: Some(url), for_time: Some(elapsed) },
            None => FetchedNow { url: self.watch.latest(), for_time: None },
        }
    }

    fn left(&self, pages: u64, queued: u64) -> Option<TimeLeft> {
        let elapsed = self.began.elapsed();
        let pages_left = self.limits.pages.map(|most| most.saturating_sub(pages));
        let time_left = self.limits.time.map(|most| most.saturating_sub(elapsed));
        TimeLeft::estimate(elapsed, pages.saturating_sub(self.pages_before), pages_left, time_left, queued)
    }

    fn rate_of(&mut self, pages: u64) -> f64 {
        let now = Instant::now();
        self.rate.push_back((now, pages));
        while self.rate.len() > 2 && self.rate.front().is_some_and(|(at, _)| now - *at > RATE_SPAN) {
            self.rate.pop_front();
        }
        match self.rate.front() {
            Some((at, before)) if now > *at => (pages.saturating_sub(*before)) as f64 / (now - *at).as_secs_f64(),
            _ => 0.0,
        }
    }

    fn tell(&self, snapshot: &Snapshot, state: RunState) {
        let status = self.status(snapshot, state);
        if let Some(dashboard) = &self.dashboard {
            dashboard.show(&status, snapshot.elapsed);
        }
        status.write(&self.folder);
    }

    fn status(&self, snapshot: &Snapshot, state: RunState) -> StatusFile {
        let now = Instant::now();
        StatusFile {
            pages_per_second: snapshot.pages_per_second,
            frontier_bytes: self.watch.frontier_bytes(),
            recent: self.watch.recent(),
            failures: self.watch.failures(),
            waiting: self
                .watch
                .waiting(MOST_WAITING)
                .into_iter()
                .map(|waiting| WaitingOrigin {
                    origin: shown_origin(&waiting.origin).to_owned(),
                    queued: waiting.queued,
                    due_in_seconds: waiting.due.map_or(0.0, |due| due.saturating_duration_since(now).as_secs_f64()),
                    why: waiting.why.name().to_owned(),
                })
                .collect(),
            ..StatusFile::now(state, &self.watch.totals(), &self.watch.counts(), &self.watch.index())
        }
    }
}
