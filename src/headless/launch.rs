//! Starting and ending Chromium.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use chromiumoxide::browser::HeadlessMode;
use chromiumoxide::{Browser, BrowserConfig};
use futures_util::StreamExt;
use tempfile::TempDir;
use tokio::sync::{Mutex, Notify};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::guard::Guard;
use super::{DrawError, Options};

/// By which names it is looked for.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
/// How long it may take to start and to end.
const PATIENCE: Duration = Duration::from_secs(20);
const FAREWELL: Duration = Duration::from_secs(5);
/// How often, and after which pause each time, it is tried to remove its profile.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(100);

/// What keeps it from asking servers by itself, besides that every request of a page is answered for it: a proxy
/// that is not there, names that don't resolve, no errands of its own.
const ALONE: [&str; 24] = [
    "--proxy-server=http://127.0.0.1:1",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--dns-prefetch-disable",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--no-pings",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-default-apps",
    "--disable-extensions",
    "--block-new-web-contents",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--password-store=basic",
    "--use-mock-keychain",
    "--disable-features=Translate,OptimizationHints,MediaRouter,AutofillServerCommunication,CertificateTransparencyComponentUpdater",
];

/// The first Chromium that can be found by name in the folders of `PATH`.
pub fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|path| path.is_file())
}

/// A Chromium that runs.
pub(super) struct Running {
    pub browser: Arc<Mutex<Browser>>,
    /// Reads what it says.
    pump: JoinHandle<()>,
    gone: Arc<Gone>,
    profile: TempDir,
    /// Until it has been closed. None if there is no shell.
    guard: std::sync::Mutex<Option<Guard>>,
}

/// Whether it has gone away.
#[derive(Default)]
pub(super) struct Gone {
    is_gone: AtomicBool,
    told: Notify,
}

impl Gone {
    fn tell(&self) {
        self.is_gone.store(true, Ordering::Release);
        self.told.notify_waiters();
    }

    fn is(&self) -> bool {
        self.is_gone.load(Ordering::Acquire)
    }
}

impl Running {
    pub async fn launch(options: &Options, user_agent: &str) -> Result<Self, DrawError> {
        let failed = |reason: String| DrawError::Launch { executable: options.executable.clone(), reason };
        let profile = tempfile::Builder::new().prefix("ndcrawl-browser-").tempdir();
        let profile = profile.map_err(|error| failed(error.to_string()))?;
        let mut config = BrowserConfig::builder()
            .chrome_executable(&options.executable)
            .user_data_dir(profile.path())
            // What it leaves elsewhere when it is killed would stay.
            .env("TMPDIR", profile.path().to_string_lossy())
            .disable_default_args()
            .headless_mode(HeadlessMode::New)
            .enable_request_intercept()
            .viewport(None)
            .launch_timeout(PATIENCE)
            .request_timeout(PATIENCE)
            .args(ALONE)
            .arg(format!("--user-agent={user_agent}"));
        if is_root() {
            config = config.no_sandbox();
        }
        let (mut browser, mut handler) =
            Browser::launch(config.build().map_err(failed)?).await.map_err(|error| failed(error.to_string()))?;
        let process = browser.get_mut_child().and_then(|child| child.inner.id());
        let guard = process.and_then(|process| Guard::new(process, profile.path()).ok());
        let gone = Arc::new(Gone::default());
        let pump = tokio::spawn({
            let gone = gone.clone();
            async move {
                while let Some(event) = handler.next().await {
                    if event.is_err() {
                        break;
                    }
                }
                gone.tell();
            }
        });
        Ok(Self { browser: Arc::new(Mutex::new(browser)), pump, gone, profile, guard: std::sync::Mutex::new(guard) })
    }

    pub fn is_alive(&self) -> bool {
        !self.gone.is()
    }

    /// Waits until it has gone away.
    pub async fn gone(&self) {
        let told = self.gone.told.notified();
        if self.is_alive() {
            told.await;
        }
    }

    /// Ends it soon.
    pub fn kill(&self) {
        let browser = self.browser.clone();
        self.gone.tell();
        tokio::spawn(async move { browser.lock().await.kill().await });
    }

    /// Ends it, waits for that, and removes its profile.
    pub async fn close(&self) {
        let mut browser = self.browser.lock().await;
        let has_ended = !self.gone.is() && {
            let farewell = async {
                let _ = browser.close().await;
                let _ = browser.wait().await;
            };
            timeout(FAREWELL, farewell).await.is_ok()
        };
        if !has_ended {
            browser.kill().await;
            let _ = timeout(FAREWELL, browser.wait()).await;
        }
        self.gone.tell();
        *self.guard.lock().unwrap_or_else(PoisonError::into_inner) = None;
        // Its other processes end a little later than the first, and write until then.
        for _ in 0..TRIES {
            match std::fs::remove_dir_all(self.profile.path()) {
                Err(error) if error.kind() != ErrorKind::NotFound => tokio::time::sleep(PAUSE).await,
                _ => return,
            }
        }
        tracing::warn!(profile = %self.profile.path().display(), "the browser's profile could not be removed");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.pump.abort();
    }
}

/// Chromium refuses to run as root with its sandbox.
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(Path::new("/proc/self")).is_ok_and(|metadata| metadata.uid() == 0)
}
