//! Starts and ends Chromium.

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

/// Names of the executable.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
/// Time limits for start and end.
const PATIENCE: Duration = Duration::from_secs(20);
const FAREWELL: Duration = Duration::from_secs(5);
/// Attempts to remove the profile, and the pause between them.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(100);

/// Flags that keep Chromium off the network: a dead proxy, no name resolution, no background services. They come
/// besides the interception of every request.
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

/// Returns the first Chromium in the folders of `PATH`.
pub fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|path| path.is_file())
}

/// A running Chromium.
pub(super) struct Running {
    pub browser: Arc<Mutex<Browser>>,
    /// Task that reads its messages.
    pump: JoinHandle<()>,
    gone: Arc<Gone>,
    profile: TempDir,
    /// Kills it if this program dies. `None` after closing, or without a shell.
    guard: std::sync::Mutex<Option<Guard>>,
}

/// Flag and notification that Chromium has ended.
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
            // A killed Chromium leaves temporary files; here they go with the profile.
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

    /// Waits until it has ended.
    pub async fn gone(&self) {
        let told = self.gone.told.notified();
        if self.is_alive() {
            told.await;
        }
    }

    /// Kills it in the background.
    pub fn kill(&self) {
        let browser = self.browser.clone();
        self.gone.tell();
        tokio::spawn(async move { browser.lock().await.kill().await });
    }

    /// Closes it, waits for its end, and removes its profile.
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
        // Child processes end a little after the first, and write until then.
        for _ in 0..TRIES {
            match std::fs::remove_dir_all(self.profile.path()) {
                Err(error) if error.kind() != ErrorKind::NotFound => tokio::time::sleep(PAUSE).await,
                _ => return,
            }
        }
        tracing::warn!(profile = %self.profile.path().display(), "browser profile left behind: remove it by hand");
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
