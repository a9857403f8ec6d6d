//! Shared by the tests of this room: conformance data and a server that says what it is told.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::Options;
use ndcrawl_model::{CanonicalUrl, Fetched, Normalizer};

/// The cases of a file of conformance data; `None`, with a word why, where there is none. The data
/// lie beside the repository, or where `CONFORMANCE` says.
pub(super) fn conformance(name: &str) -> Option<Vec<Value>> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance");
    let path = std::env::var_os("CONFORMANCE").map_or(beside, PathBuf::from).join(name);
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: no {}", path.display());
        return None;
    };
    let file: Value = serde_json::from_str(&text).unwrap();
    Some(file["cases"].as_array().unwrap().clone())
}

/// A field of a case that is text, or bytes in base 64 under the name with `_b64`.
pub(super) fn bytes(case: &Value, field: &str) -> Vec<u8> {
    match case[field].as_str() {
        Some(text) => text.as_bytes().to_vec(),
        None => {
            let text = case[&format!("{field}_b64")].as_str().unwrap();
            data_encoding::BASE64.decode(text.as_bytes()).unwrap()
        }
    }
}

pub(super) fn url(text: &str) -> CanonicalUrl {
    Normalizer::default().absolute(text).unwrap()
}

/// Options under which loopback may be asked, without gaps and without a proxy.
pub(super) fn options() -> Options {
    Options {
        allow_nets: vec!["127.0.0.1/32".parse().unwrap()],
        proxy: Some(String::new()),
        delay: Duration::ZERO,
        ip_delay: Duration::ZERO,
        ..Options::default()
    }
}

/// [`options`] with short limits of time.
pub(super) fn quick() -> Options {
    let short = Duration::from_millis(400);
    Options { timeout: 3 * short, header_timeout: short, idle_timeout: short, ..options() }
}

/// What the server does after it has sent its bytes.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Then {
    Close,
    Stall,
}

/// A server on loopback that answers each connection's first request with the bytes that `answer`
/// makes of the request.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(super) async fn new(answer: impl Fn(&str) -> (Vec<u8>, Then) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let (seen, answer) = (requests.clone(), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, seen.clone(), answer.clone()));
            }
        });
        Self { address, requests }
    }

    /// A server that always sends the same.
    pub(super) async fn saying(bytes: impl Into<Vec<u8>>, then: Then) -> Self {
        let bytes = bytes.into();
        Self::new(move |_| (bytes.clone(), then)).await
    }

    pub(super) fn url(&self, path: &str) -> CanonicalUrl {
        url(&format!("http://{}{path}", self.address))
    }

    /// The requests it got, whole.
    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// The paths it was asked for.
    pub(super) fn paths(&self) -> Vec<String> {
        self.requests().iter().filter_map(|request| request.split(' ').nth(1).map(str::to_owned)).collect()
    }
}

async fn serve(
    mut stream: TcpStream,
    seen: Arc<Mutex<Vec<String>>>,
    answer: Arc<impl Fn(&str) -> (Vec<u8>, Then) + Send + Sync>,
) {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let Ok(byte) = stream.read_u8().await else { return };
        request.push(byte);
    }
    let request = String::from_utf8(request).unwrap();
    let (bytes, then) = answer(&request);
    seen.lock().unwrap().push(request);
    let _ = stream.write_all(&bytes).await;
    if then == Then::Stall {
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
}

/// An answer as it is after it was received.
pub(super) fn answered(status: u16, headers: &[(&str, &str)], body: &str) -> Fetched {
    Fetched {
        url: url("http://a.test/"),
        spelling: None,
        status,
        version: "HTTP/1.1",
        reason: String::new(),
        headers: headers.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec())).collect(),
        request_headers: Vec::new(),
        body: body.into(),
        truncated: false,
        broken_off: None,
        address: None,
        started_at: None,
        elapsed: Duration::ZERO,
    }
}
