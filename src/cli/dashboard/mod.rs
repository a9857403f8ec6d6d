//! *How does a running crawl look right now?* Serves its status over HTTP.
//!
//! The dashboard has a thread and a runtime of its own. It serves what the [monitor](crate::cli::monitor) sets once a
//! second, so that requests take neither a lock nor a thread of the crawl. The number of connections is limited.
//!
//! There is no login. By default it listens on loopback and answers only requests that name this machine. Otherwise a
//! web page whose name was rebound to 127.0.0.1 could read along. Pause and stop need a [token](controls).

mod answer;
mod connections;
mod controls;
mod history;
mod metrics;
mod page;

use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::oneshot;

use self::connections::Connections;
use self::controls::Controls;
pub(super) use self::controls::CrawlControls;
use self::history::History;
use crate::cli::config::settings::Settings;
use crate::cli::errors::CliError;
use crate::cli::status_file::StatusFile;

/// The figures served.
#[derive(Clone, Default)]
struct ShownStatus {
    status: StatusFile,
    history: History,
}

/// What the thread serves, and to whom.
struct ServedState {
    shown: Mutex<Arc<ShownStatus>>,
    address: SocketAddr,
    is_public: bool,
    controls: Controls,
}

impl ServedState {
    fn shown(&self) -> Arc<ShownStatus> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Binds the address of the dashboard, if there is one. Runs before anything is written, because the address may be
/// in use.
pub(super) fn bind(settings: &Settings) -> Result<Option<TcpListener>, CliError> {
    let Some(listen) = settings.dashboard.listen else { return Ok(None) };
    let bound = TcpListener::bind(listen.0).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(Some(listener))
    });
    bound.map_err(|error| {
        let why = format!("cannot serve the dashboard at {listen}: {error}");
        settings.refuse("dashboard.listen", why).with_hint("choose another port, or 0 for a free one")
    })
}

/// Renders the metrics of a status, for the reference.
#[cfg(test)]
pub(super) fn metrics_of(status: &StatusFile) -> String {
    metrics::metrics(status)
}

/// A dashboard that is being served. Dropping it stops the service.
pub(super) struct Dashboard {
    served: Arc<ServedState>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Dashboard {
    /// Serves at an address that was [bound](bind).
    pub fn start(listener: TcpListener, is_public: bool, crawl: CrawlControls) -> std::io::Result<Self> {
        let address = listener.local_addr()?;
        let controls = Controls::new(crawl, address.ip().is_loopback());
        let served = Arc::new(ServedState { shown: Mutex::default(), address, is_public, controls });
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new().name("dashboard".to_owned()).spawn({
            let served = served.clone();
            move || {
                if let Err(error) = serve(listener, served, stopped) {
                    tracing::warn!("dashboard failed, crawl continues: {error}");
                }
            }
        })?;
        Ok(Self { served, stop: Some(stop), thread: Some(thread) })
    }

    /// Returns the URL, with the token that the buttons need.
    pub fn url(&self) -> String {
        format!("http://{}/{}", self.served.address, self.served.controls.query())
    }

    /// Waits until the dashboard is closed by its button.
    pub async fn closed(&self) {
        self.served.controls.closed().await;
    }

    /// Sets the figures served; `elapsed` is since the start of this run.
    pub fn show(&self, status: &StatusFile, elapsed: Duration) {
        // Only the monitor writes, so nothing is lost between the two locks.
        let mut shown = ShownStatus::clone(&self.served.shown());
        shown.history.add(status, elapsed);
        shown.status = status.clone();
        *self.served.shown.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(shown);
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        drop(self.stop.take());
        // The panic hook has printed the panic, which ends the dashboard only.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn serve(listener: TcpListener, served: Arc<ServedState>, stopped: oneshot::Receiver<()>) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async move {
        let connections = Connections::new(tokio::net::TcpListener::from_std(listener)?);
        let router = axum::Router::new().fallback(answer::answer).with_state(served);
        tokio::select! {
            ended = axum::serve(connections, router) => ended,
            // Also when the sender is gone. Responses in progress end with the runtime.
            _ = stopped => Ok(()),
        }
    })
}
