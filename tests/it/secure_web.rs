//! A web over TLS in the test process: several names on one address, HTTP/1.1 or HTTP/2.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use axum::body::{Body, Bytes};
use axum::http::{Request, Response};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::{ServerConfig, crypto::aws_lc_rs};
use tokio_rustls::server::TlsStream;

use crate::needs::data;
use crate::web::Answer;

/// What the server speaks.
#[derive(Clone, Copy)]
pub enum Speaks {
    Http1,
    /// At most so many streams at once. Refuses the first request for each path that `refuses` names.
    Http2 {
        streams: u32,
        refuses: fn(&str) -> bool,
    },
    /// HTTP/2 that ends each request with this reason, and HTTP/1.1.
    BadHttp2(h2::Reason),
}

type Pages = dyn Fn(&str) -> Answer + Send + Sync;

/// A running web; dropping it stops it.
pub struct SecureWeb {
    port: u16,
    seen: Arc<Seen>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Seen {
    /// URLs that were answered, in order.
    answered: Mutex<Vec<String>>,
    /// Paths that were refused.
    refused: Mutex<Vec<String>>,
}

impl SecureWeb {
    /// Listens on 127.0.0.1 and serves `pages` of a URL such as `https://a.test/x`, without its port. Each name has a
    /// certificate of `tests/data/certificates`.
    pub fn start(
        names: &[(&str, &str)],
        speaks: Speaks,
        pages: impl Fn(&str) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        Self::start_on(listener, names, speaks, pages)
    }

    /// The same on a listener that is there already.
    pub fn start_on(
        listener: TcpListener,
        names: &[(&str, &str)],
        speaks: Speaks,
        pages: impl Fn(&str) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let port = listener.local_addr().unwrap().port();
        let tls = Arc::new(server_config(names, speaks));
        let (seen, pages): (Arc<Seen>, Arc<Pages>) = (Arc::default(), Arc::new(pages));
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn({
            let seen = Arc::clone(&seen);
            move || serve(listener, tls, speaks, seen, pages, stopped)
        });
        Self { port, seen, stop: Some(stop), thread: Some(thread) }
    }

    /// The URL of a path of a name.
    pub fn url(&self, name: &str, path: &str) -> String {
        format!("https://{name}:{}{path}", self.port)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// URLs that were answered, without their port, in order.
    pub fn answered(&self) -> Vec<String> {
        self.seen.answered.lock().unwrap().clone()
    }

    /// Paths of requests that were refused.
    pub fn refused(&self) -> Vec<String> {
        self.seen.refused.lock().unwrap().clone()
    }
}

impl Drop for SecureWeb {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Chooses the certificate by the name that the client asks for.
#[derive(Debug)]
struct ByName(BTreeMap<String, Arc<CertifiedKey>>);

impl ResolvesServerCert for ByName {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0.get(hello.server_name()?).cloned()
    }
}

fn server_config(names: &[(&str, &str)], speaks: Speaks) -> ServerConfig {
    let provider = aws_lc_rs::default_provider();
    let certified = names.iter().map(|(name, file)| {
        let file = data("certificates").join(file);
        let chain = vec![CertificateDer::from_pem_file(&file).unwrap()];
        let key = PrivateKeyDer::from_pem_file(&file).unwrap();
        let key = provider.key_provider.load_private_key(key).unwrap();
        ((*name).to_owned(), Arc::new(CertifiedKey::new(chain, key)))
    });
    let by_name = ByName(certified.collect());
    let builder =
        ServerConfig::builder_with_provider(Arc::new(provider)).with_safe_default_protocol_versions().unwrap();
    let mut config = builder.with_no_client_auth().with_cert_resolver(Arc::new(by_name));
    config.alpn_protocols = match speaks {
        Speaks::Http1 => vec![b"http/1.1".to_vec()],
        Speaks::Http2 { .. } => vec![b"h2".to_vec()],
        Speaks::BadHttp2(_) => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
    };
    config
}

fn serve(
    listener: TcpListener,
    tls: Arc<ServerConfig>,
    speaks: Speaks,
    seen: Arc<Seen>,
    pages: Arc<Pages>,
    stopped: oneshot::Receiver<()>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async move {
        listener.set_nonblocking(true).unwrap();
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, seen, pages) = (TlsAcceptor::from(tls.clone()), seen.clone(), pages.clone());
                tokio::spawn(async move {
                    // A client that does not like the certificate breaks off.
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    match speaks {
                        Speaks::Http1 => speak_http1(stream, seen, pages).await,
                        Speaks::Http2 { streams, refuses } => speak_http2(stream, streams, refuses, seen, pages).await,
                        Speaks::BadHttp2(reason) if stream.get_ref().1.alpn_protocol() == Some(b"h2") => {
                            reset_all(stream, reason, seen).await;
                        }
                        Speaks::BadHttp2(_) => speak_http1(stream, seen, pages).await,
                    }
                });
            }
        });
        let _ = stopped.await;
    });
    runtime.shutdown_background();
}

async fn speak_http1(stream: TlsStream<TcpStream>, seen: Arc<Seen>, pages: Arc<Pages>) {
    let answer = service_fn(move |request: Request<hyper::body::Incoming>| {
        let host = request.headers()["host"].to_str().unwrap_or_default();
        let url = format!("https://{}{}", host.split(':').next().unwrap_or_default(), request.uri());
        let response = respond(&seen, &*pages, url).map(Body::from);
        async move { Ok::<_, std::convert::Infallible>(response) }
    });
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
}

async fn speak_http2(
    stream: TlsStream<TcpStream>,
    streams: u32,
    refuses: fn(&str) -> bool,
    seen: Arc<Seen>,
    pages: Arc<Pages>,
) {
    let handshake = h2::server::Builder::new().max_concurrent_streams(streams).handshake::<_, Bytes>(stream).await;
    let Ok(mut connection) = handshake else { return };
    while let Some(Ok((request, mut reply))) = connection.accept().await {
        let path = request.uri().path().to_owned();
        let is_first = !seen.refused.lock().unwrap().contains(&path);
        if is_first && refuses(&path) {
            seen.refused.lock().unwrap().push(path);
            reply.send_reset(h2::Reason::REFUSED_STREAM);
            continue;
        }
        let url = format!("https://{}{path}", request.uri().host().unwrap_or_default());
        let (head, body) = respond(&seen, &*pages, url).into_parts();
        if let Ok(mut sending) = reply.send_response(Response::from_parts(head, ()), body.is_empty())
            && !body.is_empty()
        {
            let _ = sending.send_data(body.into(), true);
        }
    }
}

async fn reset_all(stream: TlsStream<TcpStream>, reason: h2::Reason, seen: Arc<Seen>) {
    let Ok(mut connection) = h2::server::handshake(stream).await else { return };
    while let Some(Ok((request, mut reply))) = connection.accept().await {
        seen.refused.lock().unwrap().push(request.uri().path().to_owned());
        reply.send_reset(reason);
    }
}

fn respond(seen: &Seen, pages: &Pages, url: String) -> Response<Vec<u8>> {
    let answer = pages(&url);
    seen.answered.lock().unwrap().push(url);
    let mut response = Response::builder().status(answer.status);
    for (name, value) in &answer.headers {
        response = response.header(*name, value);
    }
    response.body(answer.body).unwrap()
}
