//! The dashboard: how a crawl stands, served over HTTP while it runs.
//!
//! It has a thread and a runtime of its own, and shows figures that the [monitor](crate::cli::monitor) gives
//! it once a second: whoever asks, and however often, neither takes a lock of the crawl nor a thread of its
//! runtime. Places for connections are few, so that they cannot use up what the crawl needs.
//!
//! Nobody logs in. So it listens on loopback unless it was told otherwise, and there answers only requests
//! that name this machine: a web page elsewhere, whose name was bound to 127.0.0.1 after it was loaded,
//! would otherwise read along.

mod answer;
mod connections;
mod history;
mod metrics;
mod page;

use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::oneshot;

use self::connections::Connections;
use self::history::History;
use crate::cli::config::settings::Settings;
use crate::cli::errors::CliError;
use crate::cli::status_file::StatusFile;

/// What is shown.
#[derive(Clone, Default)]
struct Shown {
    status: StatusFile,
    history: History,
}

/// What the thread serves, and whom.
struct Served {
    shown: Mutex<Arc<Shown>>,
    address: SocketAddr,
    is_public: bool,
}

impl Served {
    fn shown(&self) -> Arc<Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Takes the address at which the dashboard is to be served, if there is to be one. Before anything is
/// written: another program may have it.
pub(super) fn bind(settings: &Settings) -> Result<Option<TcpListener>, CliError> {
    let Some(listen) = settings.dashboard.listen else { return Ok(None) };
    let bound = TcpListener::bind(listen.0).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(Some(listener))
    });
    bound.map_err(|error| {
        let source = settings.source("dashboard.listen");
        CliError::usage(format!("{source}: the dashboard cannot be served at {listen}: {error}"))
            .with_hint("give another port, or 0 for any that is free")
    })
}

/// A dashboard that is being served. Dropping it ends the service.
pub(super) struct Dashboard {
    served: Arc<Served>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Dashboard {
    /// Serves at an address that was [taken](bind).
    pub fn start(listener: TcpListener, is_public: bool) -> std::io::Result<Self> {
        let served = Arc::new(Served { shown: Mutex::default(), address: listener.local_addr()?, is_public });
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

    /// Where a person looks at it.
    pub fn url(&self) -> String {
        format!("http://{}/", self.served.address)
    }

    /// Shows these figures from now on; `elapsed` is since the start of this run.
    pub fn show(&self, status: &StatusFile, elapsed: Duration) {
        // Only the monitor writes, so that nothing is lost between the two locks.
        let mut shown = Shown::clone(&self.served.shown());
        shown.history.add(status, elapsed);
        shown.status = status.clone();
        *self.served.shown.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(shown);
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        drop(self.stop.take());
        // A panic was told by its hook, and ends nothing but the dashboard.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn serve(listener: TcpListener, served: Arc<Served>, stopped: oneshot::Receiver<()>) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async move {
        let connections = Connections::new(tokio::net::TcpListener::from_std(listener)?);
        let router = axum::Router::new().fallback(answer::answer).with_state(served);
        tokio::select! {
            ended = axum::serve(connections, router) => ended,
            // Also when the sender is gone. Answers under way end with the runtime.
            _ = stopped => Ok(()),
        }
    })
}
