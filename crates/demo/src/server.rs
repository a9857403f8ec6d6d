//! Serves the demo site on loopback.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::{DemoSite, PlantedKind};

/// A running server. Dropping it stops it.
#[derive(Debug)]
pub struct DemoServer {
    address: SocketAddr,
    shutdown: oneshot::Sender<()>,
    task: JoinHandle<io::Result<()>>,
}

impl DemoServer {
    /// Returns the address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL of the front page.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Stops accepting connections, answers pending requests and waits for the server to end.
    pub async fn stop(self) -> io::Result<()> {
        // Fails only if the server has ended already.
        let _ = self.shutdown.send(());
        self.task.await.map_err(io::Error::other)?
    }
}

/// Serves the site on a port of 127.0.0.1 until the returned server is stopped or dropped; 0 stands for a free one.
pub async fn serve(site: Arc<DemoSite>, port: u16) -> io::Result<DemoServer> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let address = listener.local_addr()?;
    let (shutdown, stopped) = oneshot::channel::<()>();
    let router = Router::new().fallback(answer).with_state(site);
    let service = axum::serve(listener, router).with_graceful_shutdown(async move {
        // An error means that the handle was dropped.
        let _ = stopped.await;
    });
    let task = tokio::spawn(async move { service.await });
    Ok(DemoServer { address, shutdown, task })
}

async fn answer(State(site): State<Arc<DemoSite>>, uri: Uri) -> Response {
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    if path == "/robots.txt" {
        return ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], site.robots()).into_response();
    }
    if let Some(target) = redirect_target(&site, path) {
        return (StatusCode::MOVED_PERMANENTLY, [(header::LOCATION, target.to_owned())]).into_response();
    }
    let html = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
    match site.body(path) {
        Some(body) => (html, body.to_owned()).into_response(),
        None => (StatusCode::NOT_FOUND, html, "<!DOCTYPE html><title>Lost</title><p>Lost at sea.").into_response(),
    }
}

fn redirect_target<'a>(site: &'a DemoSite, path: &str) -> Option<&'a str> {
    site.pages().iter().find(|page| page.path == path).and_then(|page| match &page.kind {
        PlantedKind::Redirect { to } => Some(to.as_str()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    use super::*;

    async fn ask(address: SocketAddr, path: &str) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: demo\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).await.unwrap();
        response
    }

    #[tokio::test]
    async fn pages_redirects_and_dead_links_are_answered_as_planted() {
        let server = serve(Arc::new(DemoSite::new(0)), 0).await.unwrap();
        assert!(ask(server.address(), "/").await.starts_with("HTTP/1.1 200"));
        assert!(ask(server.address(), "/manual").await.contains("location: /1.1/index.html"));
        assert!(ask(server.address(), "/lost.html").await.starts_with("HTTP/1.1 404"));
        assert!(ask(server.address(), "/robots.txt").await.contains("Disallow: /private/"));
        server.stop().await.unwrap();
    }
}
