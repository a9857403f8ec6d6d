//! *What does a page say once its scripts have run?*
//!
//! A page that was fetched is drawn by a headless Chromium of the system's, driven over its debugging protocol
//! by `chromey`, the client behind spider's Chrome support. Spider's own pages are not used: they let Chromium ask
//! servers by itself.
//!
//! **No request leaves Chromium.** Each one is paused and answered here, by the page itself or by our
//! [`Fetcher`]: robots.txt, gaps, the filter of addresses and limits of size hold for scripts and data as they do
//! for pages, and each request is counted. What escapes a pause (workers, sockets, the browser's own errands) is
//! sent to a proxy that is not there, and no name is ever looked up.
//!
//! | asked for | answered |
//! |---|---|
//! | the page | with what was fetched already |
//! | scripts, data (`fetch`, `XMLHttpRequest`), GET only | by our fetcher; scripts are kept for other pages |
//! | style sheets | with an empty one |
//! | images, fonts, media, frames, other pages, all else | not at all |
//!
//! A page may take so long, ask for so much, and no more; then it is taken as it stands. Dialogs are dismissed,
//! windows and downloads denied. Pages share nothing: each has a context of its own, which is thrown away. What
//! scripts draw into shadow trees is not seen.

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

use crate::fetch::Fetcher;
use crate::model::{Fetched, Normaliser};

pub use launch::find;
pub use shell::is_shell;

use launch::Running;
use scripts::Scripts;

/// How pages are drawn.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program.
    pub executable: PathBuf,
    /// Pages that are drawn at the same time, at least 1.
    pub tabs: usize,
    /// The longest that a page may take, waiting for its turn at servers included.
    pub timeout: Duration,
    /// Requests that a page may make.
    pub max_requests: u32,
    /// Bytes that a page may have of them, in all.
    pub max_bytes: usize,
}

/// A page as its scripts have drawn it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// The document, serialised.
    pub html: String,
    /// The origins that were asked for something, robots.txt included.
    pub origins: Vec<String>,
}

/// Why a page could not be drawn.
#[derive(Debug, thiserror::Error)]
pub enum DrawError {
    /// Chromium does not start.
    #[error("{}: it does not start: {reason}", executable.display())]
    Launch {
        /// The program.
        executable: PathBuf,
        /// What it says.
        reason: String,
    },
    /// Chromium has ended, or does not answer.
    #[error("Chromium has gone away")]
    Gone,
    /// Chromium refuses.
    #[error("Chromium: {0}")]
    Protocol(String),
    /// The page never let go of its scripts.
    #[error("the page's scripts could not be stopped")]
    Stuck,
    /// What was drawn is larger than a page may be.
    #[error("the drawn page has more than {0} bytes")]
    TooLarge(usize),
}

/// Draws pages. It starts Chromium when there is the first page to draw, and again if it has crashed.
pub struct Browser {
    options: Options,
    fetcher: Fetcher,
    normaliser: Normaliser,
    tabs: Semaphore,
    running: Mutex<Option<Arc<Running>>>,
    scripts: Scripts,
}

impl Browser {
    /// A browser whose requests this fetcher makes.
    pub fn new(options: Options, fetcher: Fetcher, normaliser: Normaliser) -> Self {
        let tabs = Semaphore::new(options.tabs.max(1));
        Self { options, fetcher, normaliser, tabs, running: Mutex::default(), scripts: Scripts::default() }
    }

    /// Draws a page that was fetched. Waits for a free tab. Cost: some tenths of a second, and what the page asks
    /// for.
    ///
    /// # Errors
    /// If Chromium can't be started, crashes twice, or can't be had to give the document.
    pub async fn draw(&self, page: &Arc<Fetched>) -> Result<Drawn, DrawError> {
        // It is never closed; were it, nothing would be bounded and no more.
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
            // A script that does not let go keeps a processor busy until its process ends.
            running.kill();
        }
        result
    }

    /// Chromium, started if it does not run.
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
