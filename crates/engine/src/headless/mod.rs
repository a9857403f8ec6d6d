//! *What does a page say once its scripts have run?*
//!
//! A headless Chromium of the system renders a fetched page. `chromey`, the client behind spider's Chrome support,
//! drives it over the DevTools protocol. Spider's own page type is not used: it lets Chromium send requests itself.
//!
//! **No request leaves Chromium.** This room intercepts each one and answers it from the fetched page or through the
//! [`Fetcher`]. So robots.txt, politeness delay, address filter and size limits hold for scripts and data as for
//! pages, and every request is counted. What escapes interception (workers, sockets, background services) goes to a
//! dead proxy, and Chromium resolves no name.
//!
//! | request | answer |
//! |---|---|
//! | the page | the fetched body |
//! | scripts, data (`fetch`, `XMLHttpRequest`), GET only | from the fetcher; scripts are cached for other pages |
//! | style sheets | an empty one |
//! | images, fonts, media, frames, other pages, all else | refused |
//!
//! At its limit of time, requests or bytes, a page is taken as it is. Dialogs are dismissed, windows and downloads
//! denied. Each page has a browser context of its own, so pages share nothing. Shadow trees are not read.

mod guard;
mod launch;
mod requests;
mod scripts;
mod shell;
mod tab;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, Semaphore};

use ndcrawl_fetch::Fetcher;
use ndcrawl_model::{Fetched, Normalizer};

pub use launch::find;
pub use shell::is_shell;

use launch::Running;
use scripts::Scripts;

/// Options of the headless browser.
#[derive(Clone, Debug)]
pub struct Options {
    /// The Chromium executable.
    pub executable: PathBuf,
    /// Pages rendered at the same time, at least 1.
    pub tabs: usize,
    /// Time limit of a page, politeness delays included.
    pub timeout: Duration,
    /// Most requests of a page.
    pub max_requests: u32,
    /// Most bytes of all responses to a page.
    pub max_bytes: usize,
}

/// A page after its scripts have run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// The serialized document.
    pub html: String,
    /// The origins that got a request, robots.txt included.
    pub origins: Vec<String>,
}

/// Why a page could not be rendered.
#[derive(Debug, thiserror::Error)]
pub enum DrawError {
    /// Chromium does not start.
    #[error("{}: Chromium does not start: {reason}", executable.display())]
    Launch {
        /// The program.
        executable: PathBuf,
        /// What it says.
        reason: String,
    },
    /// Chromium ended, or does not respond.
    #[error("Chromium ended or does not respond")]
    Gone,
    /// Chromium reports an error.
    #[error("Chromium: {0}")]
    Protocol(String),
    /// The scripts of the page did not stop.
    #[error("the scripts of the page could not be stopped")]
    Stuck,
    /// The rendered page is larger than the limit.
    #[error("the rendered page has more than {0} bytes")]
    TooLarge(usize),
}

/// Renders pages. Starts Chromium for the first page, and again after a crash.
pub struct Browser {
    options: Options,
    fetcher: Fetcher,
    normalizer: Normalizer,
    tabs: Semaphore,
    running: Mutex<Option<Arc<Running>>>,
    scripts: Scripts,
}

impl Browser {
    /// Creates a browser that sends its requests through this fetcher.
    pub fn new(options: Options, fetcher: Fetcher, normalizer: Normalizer) -> Self {
        let tabs = Semaphore::new(options.tabs.max(1));
        Self { options, fetcher, normalizer, tabs, running: Mutex::default(), scripts: Scripts::default() }
    }

    /// Renders a fetched page. Waits for a free tab. Cost: some tenths of a second, plus the requests of the page.
    ///
    /// # Errors
    /// If Chromium does not start, crashes twice, or does not return the document.
    pub async fn draw(&self, page: &Arc<Fetched>) -> Result<Drawn, DrawError> {
        // The semaphore is never closed. Otherwise only the limit would be lost.
        let _tab = self.tabs.acquire().await.ok();
        match self.draw_once(page).await {
            // Another page may have been the cause.
            Err(DrawError::Gone) => self.draw_once(page).await,
            result => result,
        }
    }

    async fn draw_once(&self, page: &Arc<Fetched>) -> Result<Drawn, DrawError> {
        let running = self.running().await?;
        let result = tab::draw(self, &running, page).await;
        if matches!(result, Err(DrawError::Gone | DrawError::Stuck)) {
            // A stuck script keeps a CPU busy until its process ends.
            running.kill();
        }
        result
    }

    /// Returns the running Chromium. Starts it if needed.
    async fn running(&self) -> Result<Arc<Running>, DrawError> {
        let mut running = self.running.lock().await;
        if let Some(running) = running.as_ref().filter(|running| running.is_alive()) {
            return Ok(running.clone());
        }
        if let Some(gone) = running.take() {
            gone.close().await;
        }
        let launched = Arc::new(Running::launch(&self.options, &self.fetcher.options().user_agent).await?);
        *running = Some(launched.clone());
        Ok(launched)
    }

    /// Ends Chromium and removes its profile.
    pub async fn close(&self) {
        if let Some(running) = self.running.lock().await.take() {
            running.close().await;
        }
    }
}
