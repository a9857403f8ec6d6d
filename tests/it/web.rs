//! A web on loopback in the test process: several addresses, one port, one log.

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, Response, Uri};
use flate2::Compression;
use flate2::write::GzEncoder;
use tokio::sync::oneshot;

/// The response to one request.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    pub gzip: bool,
    pub delay: Duration,
}

impl Answer {
    pub fn html(body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("content-type", "text/html; charset=utf-8".to_owned())];
        Self { status: 200, headers, body: body.into(), ..Self::default() }
    }

    pub fn text(body: &str) -> Self {
        let headers = vec![("content-type", "text/plain; charset=utf-8".to_owned())];
        Self { status: 200, headers, body: body.into(), ..Self::default() }
    }

    pub fn redirect(target: &str) -> Self {
        Self { status: 301, headers: vec![("location", target.to_owned())], ..Self::default() }
    }

    pub fn error(status: u16) -> Self {
        Self { status, ..Self::html("<!DOCTYPE html><title>error</title><p>No page.") }
    }
}

/// The pages of a web.
pub trait Content: Send + Sync + 'static {
    /// The response for this URL, which was requested `before` times; robots.txt is one of the URLs.
    fn answer(&self, url: &str, before: usize) -> Answer;

    /// The response to a request with these headers.
    fn answer_to(&self, url: &str, before: usize, _: &HeaderMap) -> Answer {
        self.answer(url, before)
    }

    /// Whether requests are logged; if not, `before` is always 0.
    fn is_logged(&self) -> bool {
        true
    }

    /// Called when the response to a request, which came at `begin`, is ready to be sent.
    fn finished(&self, _url: &str, _headers: &HeaderMap, _status: u16, _begin: Instant) {}
}

/// One request as the server saw it.
#[derive(Clone, Debug)]
#[allow(dead_code)] // `at` and `remote` are for reading in failure messages
pub struct Request {
    pub at: Instant,
    pub url: String,
    pub remote: SocketAddr,
}

/// A running web; dropping it stops it.
pub struct Web {
    origins: Vec<String>,
    seen: Arc<Seen>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Seen {
    log: Mutex<Vec<Request>>,
    asked: Mutex<BTreeMap<String, usize>>,
    in_flight: AtomicUsize,
    peak: AtomicUsize,
}

impl Seen {
    /// Logs a request and returns the number of earlier ones for the same URL.
    fn note(&self, url: &str, remote: SocketAddr) -> usize {
        self.log.lock().unwrap().push(Request { at: Instant::now(), url: url.to_owned(), remote });
        let mut asked = self.asked.lock().unwrap();
        let times = asked.entry(url.to_owned()).or_default();
        *times += 1;
        *times - 1
    }
}

impl Web {
    /// Listens on as many addresses (127.0.0.1, 127.0.0.2 ...) as there shall be hosts, with one
    /// port, and serves what `plan` makes of their origins (`http://127.0.0.1:PORT`).
    pub fn start<C: Content>(hosts: usize, plan: impl FnOnce(&[String]) -> Arc<C>) -> Self {
        let addresses: Vec<String> = (1..=hosts).map(|host| format!("127.0.0.{host}")).collect();
        Self::start_at(&addresses, plan)
    }

    /// The same on these addresses.
    pub fn start_at<C: Content>(addresses: &[String], plan: impl FnOnce(&[String]) -> Arc<C>) -> Self {
        Self::start_on(listeners(addresses), plan)
    }

    /// The same on listeners that are there already.
    pub fn start_on<C: Content>(listeners: Vec<TcpListener>, plan: impl FnOnce(&[String]) -> Arc<C>) -> Self {
        let origins: Vec<String> = listeners.iter().map(origin).collect();
        let content: Arc<dyn Content> = plan(&origins);
        let seen = Arc::new(Seen::default());
        let (stop, stopped) = oneshot::channel();
        let sites = origins.iter().cloned().zip(listeners).collect();
        let thread = std::thread::spawn({
            let seen = Arc::clone(&seen);
            move || serve(sites, content, seen, stopped)
        });
        Self { origins, seen, stop: Some(stop), thread: Some(thread) }
    }

    pub fn origins(&self) -> &[String] {
        &self.origins
    }

    /// Every request so far, in order of arrival.
    pub fn requests(&self) -> Vec<Request> {
        self.seen.log.lock().unwrap().clone()
    }

    /// The number of requests without robots.txt.
    pub fn pages_asked(&self) -> usize {
        self.asked().values().sum()
    }

    /// The number of requests by URL, without robots.txt.
    pub fn asked(&self) -> BTreeMap<String, usize> {
        let asked = self.seen.asked.lock().unwrap();
        asked
            .iter()
            .filter(|(url, _)| !url.ends_with("/robots.txt"))
            .map(|(url, &times)| (url.clone(), times))
            .collect()
    }

    /// The most concurrent requests.
    pub fn peak(&self) -> usize {
        self.seen.peak.load(Ordering::SeqCst)
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The origin of a listener as people write it, without port 80.
fn origin(listener: &TcpListener) -> String {
    let address = listener.local_addr().unwrap();
    if address.port() == 80 { format!("http://{}", address.ip()) } else { format!("http://{address}") }
}

/// Tries ports until one is free on all addresses.
fn listeners(addresses: &[String]) -> Vec<TcpListener> {
    let (first, others) = addresses.split_first().unwrap();
    for _ in 0..50 {
        let first = TcpListener::bind(format!("{first}:0")).unwrap();
        let port = first.local_addr().unwrap().port();
        let others = others.iter().map(|address| TcpListener::bind(format!("{address}:{port}")));
        if let Ok(others) = others.collect::<Result<Vec<_>, _>>() {
            return std::iter::once(first).chain(others).collect();
        }
    }
    panic!("no port is free on {addresses:?}");
}

fn serve(
    sites: Vec<(String, TcpListener)>,
    content: Arc<dyn Content>,
    seen: Arc<Seen>,
    stopped: oneshot::Receiver<()>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async move {
        for (origin, listener) in sites {
            listener.set_nonblocking(true).unwrap();
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let site = Site { origin, content: Arc::clone(&content), seen: Arc::clone(&seen) };
            let router = Router::new().fallback(answer).with_state(site);
            tokio::spawn(async move {
                axum::serve(listener, router.into_make_service_with_connect_info::<SocketAddr>()).await
            });
        }
        let _ = stopped.await;
    });
    // Leftover connections of a killed program end with the runtime.
    runtime.shutdown_background();
}

#[derive(Clone)]
struct Site {
    origin: String,
    content: Arc<dyn Content>,
    seen: Arc<Seen>,
}

/// Counts a request as in flight while it lives, also if the client disconnects.
struct InFlight(Arc<Seen>);

impl InFlight {
    fn begin(seen: &Arc<Seen>) -> Self {
        let now = seen.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
        seen.peak.fetch_max(now, Ordering::SeqCst);
        Self(Arc::clone(seen))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn answer(
    State(site): State<Site>,
    ConnectInfo(remote): ConnectInfo<SocketAddr>,
    uri: Uri,
    headers: HeaderMap,
) -> Response<Body> {
    let begin = Instant::now();
    let _in_flight = InFlight::begin(&site.seen);
    let url = format!("{}{}", site.origin, uri.path_and_query().map_or("/", |path| path.as_str()));
    let before = if site.content.is_logged() { site.seen.note(&url, remote) } else { 0 };
    let answer = site.content.answer_to(&url, before, &headers);
    tokio::time::sleep(answer.delay).await;
    site.content.finished(&url, &headers, answer.status, begin);
    let mut response = Response::builder().status(answer.status);
    for (name, value) in &answer.headers {
        response = response.header(*name, value);
    }
    if answer.gzip {
        return response.header("content-encoding", "gzip").body(Body::from(gzip(&answer.body))).unwrap();
    }
    response.body(Body::from(answer.body)).unwrap()
}

fn gzip(body: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}
