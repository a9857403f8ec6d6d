//! A site on loopback that answers as it is told and remembers what it was asked for.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use ndcrawl_model::{CanonicalUrl, Normalizer};

/// What the site does with a request.
pub(super) enum Answer {
    Http(String),
    /// Nothing, for as long as anyone waits.
    Silence,
}

/// Answers a request for this path that was made so many times before.
type Answers = dyn Fn(&str, usize) -> Answer + Send + Sync;

pub(super) struct Site {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Site {
    pub(super) async fn new(answers: impl Fn(&str, usize) -> Answer + Send + Sync + 'static) -> Self {
        Self::on("127.0.0.1", answers).await
    }

    /// A site on another address of loopback.
    pub(super) async fn on(host: &str, answers: impl Fn(&str, usize) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(format!("{host}:0")).await.unwrap();
        let (address, asked) = (listener.local_addr().unwrap(), Arc::<Mutex<Vec<String>>>::default());
        let (answers, seen): (Arc<Answers>, _) = (Arc::new(answers), asked.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, seen.clone(), answers.clone()));
            }
        });
        Self { address, asked }
    }

    pub(super) fn url(&self, path: &str) -> CanonicalUrl {
        self.url_by("http", path)
    }

    pub(super) fn url_by(&self, scheme: &str, path: &str) -> CanonicalUrl {
        Normalizer::default().absolute(&format!("{scheme}://{}{path}", self.address)).unwrap()
    }

    /// The paths it was asked for, in order, without robots.txt.
    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().iter().filter(|path| *path != "/robots.txt").cloned().collect()
    }

    /// The requests it got, robots.txt among them.
    pub(super) fn requests(&self) -> usize {
        self.asked.lock().unwrap().len()
    }

    /// How often it was asked for this path.
    pub(super) fn times(&self, path: &str) -> usize {
        self.asked().iter().filter(|asked| *asked == path).count()
    }
}

async fn serve(mut stream: TcpStream, asked: Arc<Mutex<Vec<String>>>, answers: Arc<Answers>) {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let Ok(byte) = stream.read_u8().await else { return };
        request.push(byte);
        // The first byte of a TLS handshake.
        if request[0] == 0x16 {
            return;
        }
    }
    let request = String::from_utf8(request).unwrap();
    let path = request.split(' ').nth(1).unwrap().to_owned();
    let times = {
        let mut asked = asked.lock().unwrap();
        let times = asked.iter().filter(|earlier| **earlier == path).count();
        asked.push(path.clone());
        times
    };
    match answers(&path, times) {
        Answer::Http(text) => {
            let _ = stream.write_all(text.as_bytes()).await;
        }
        Answer::Silence => tokio::time::sleep(Duration::from_secs(600)).await,
    }
}

/// An answer with this status line, further header lines, and body.
pub(super) fn http(status: &str, headers: &str, body: &str) -> Answer {
    let length = body.len();
    Answer::Http(format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"))
}

pub(super) fn missing() -> Answer {
    http("404 Not FetchOutcome", "", "")
}

pub(super) fn redirect(to: &str) -> Answer {
    http("302 FetchOutcome", &format!("Location: {to}\r\n"), "")
}

/// A page whose text is that of this number, with links to these paths.
pub(super) fn page(text: u32, links: &[&str]) -> Answer {
    page_with("", text, &links.iter().map(|link| format!("<a href='{link}'>on</a> ")).collect::<String>())
}

/// A page with this head, the text of this number, and more at its end.
pub(super) fn page_with(head: &str, text: u32, more: &str) -> Answer {
    let words: String = (0..120).map(|word| format!("w{text}x{word} ")).collect();
    let body = format!("<html><head>{head}</head><body><p>{words}</p>{more}</body></html>");
    http("200 OK", "Content-Type: text/html\r\n", &body)
}

pub(super) fn xml(body: &str) -> Answer {
    http("200 OK", "Content-Type: application/xml\r\n", body)
}
