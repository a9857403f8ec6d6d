//! Tries the addresses of a host one after the other.

use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::{MutexGuard, PoisonError};

use url::Host;

use super::classify::unresolved;
use super::connect::Attempt;
use super::exchange::Unanswered;
use super::http_client::port;
use super::politeness::Permit;
use super::request::RequestOptions;
use super::{FetchFailure, Fetcher, Options};
use ndcrawl_model::{CanonicalUrl, FailureClass, Fetched};

impl Fetcher {
    /// Returns the permitted addresses to connect to, in order. There is none if a proxy connects.
    pub(super) async fn addresses(&self, url: &CanonicalUrl) -> Result<Vec<IpAddr>, FetchFailure> {
        let url = url.as_url();
        let resolver = &self.0.resolver;
        let by_proxy = self.0.proxies.for_url(url).is_some();
        // The client connects to an address in a URL without the resolver.
        let addresses = match url.host() {
            Some(Host::Ipv4(ip)) => resolver.check_literal(ip.into()).map(|ip| vec![ip]),
            Some(Host::Ipv6(ip)) => resolver.check_literal(ip.into()).map(|ip| vec![ip]),
            Some(Host::Domain(name)) if by_proxy => resolver.check_name(name).map(|()| Vec::new()),
            Some(Host::Domain(name)) => resolver.resolve(name, port(url)).await,
            None => Ok(Vec::new()),
        };
        let addresses = addresses.map_err(|error| unresolved(&error))?;
        Ok(if by_proxy { Vec::new() } else { addresses })
    }

    /// Sends one request to the first of the host's addresses that can be connected to. Without addresses a proxy
    /// connects.
    ///
    /// RFC 1123, section 2.3: a client should try all addresses of a host until one answers. An attempt at a further
    /// address waits for that address's turn.
    pub(super) async fn exchange_at_any(
        &self,
        url: &CanonicalUrl,
        addresses: &[IpAddr],
        request: &RequestOptions,
        mut permit: Option<&mut Permit>,
    ) -> Result<Fetched, FetchFailure> {
        let Options { connect_timeout, header_timeout, timeout, .. } = self.0.options;
        let longest = connect_timeout.min(header_timeout).min(timeout);
        let (mut left, mut failed) = (longest, Vec::new());
        for (place, &address) in addresses.iter().enumerate() {
            if let Some(permit) = permit.as_deref_mut() {
                permit.move_to(address).await;
            }
            let started = tokio::time::Instant::now();
            let attempt = Attempt::new(address, addresses.len() - place, left, longest);
            match attempt.run(self.exchange(url, request, permit.as_deref_mut())).await {
                Ok(fetched) => return Ok(fetched),
                Err(Unanswered { failure, connecting, .. }) => {
                    if failure.class == FailureClass::Timeout && !self.has_heard() {
                        self.silent().insert(door(url, address));
                    }
                    if !connecting || !failure.retryable {
                        return Err(failure);
                    }
                    self.try_next_address(url, address);
                    failed.push((address, failure));
                }
            }
            left = left.saturating_sub(started.elapsed());
        }
        match unconnected(failed) {
            Some(failure) => Err(failure),
            None => self.exchange(url, request, permit).await.map_err(|unsent| unsent.failure),
        }
    }

    /// Whether the address timed out before any server answered. Without a network, seeds that share an address would
    /// otherwise time out one after the other.
    pub(super) fn is_silent(&self, url: &CanonicalUrl, address: IpAddr) -> bool {
        !self.has_heard() && self.silent().contains(&door(url, address))
    }

    fn silent(&self) -> MutexGuard<'_, HashSet<(SocketAddr, bool)>> {
        self.0.silent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the next request use another address of the host.
    fn try_next_address(&self, url: &CanonicalUrl, failed: IpAddr) {
        if let Some(name) = url.as_url().domain() {
            self.0.resolver.rotate(name, port(url.as_url()), failed);
        }
    }
}

/// Returns where a request for a URL knocks: address, port, and whether by TLS. A server may answer at one door only.
fn door(url: &CanonicalUrl, address: IpAddr) -> (SocketAddr, bool) {
    let url = url.as_url();
    (SocketAddr::new(address, port(url)), url.scheme() == "https")
}

/// Returns the failure of a host of which no address could be connected to: the first one, with all reasons.
fn unconnected(failed: Vec<(IpAddr, FetchFailure)>) -> Option<FetchFailure> {
    let (_, first) = failed.first()?;
    let detail = match &failed[..] {
        [(_, only)] => only.detail.clone(),
        several if several.iter().all(|(_, other)| other.detail == first.detail) => {
            let addresses: Vec<IpAddr> = several.iter().map(|(address, _)| *address).collect();
            format!("{}: {}", list(&addresses), first.detail)
        }
        several => {
            let reasons: Vec<String> = several.iter().map(|(at, why)| format!("{at}: {}", why.detail)).collect();
            reasons.join("; ")
        }
    };
    Some(FetchFailure { detail, ..first.clone() })
}

/// Lists addresses.
pub(super) fn list(addresses: &[IpAddr]) -> String {
    addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::ResolveOverride;
    use crate::test::{Server, Then, options, url};

    const NOTHING: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

    /// Options under which `a.test` has these addresses.
    fn at(addresses: &[&str]) -> Options {
        let entry =
            |address: &&str| ResolveOverride { host: "a.test".into(), port: None, address: address.parse().unwrap() };
        Options { resolve: addresses.iter().map(entry).collect(), allow_private: true, ..options() }
    }

    /// A listener that never accepts, its queue full: whoever connects gets no reply, not even a refusal.
    async fn mute_listener(address: SocketAddr) -> (tokio::net::TcpListener, Vec<tokio::net::TcpStream>) {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind(address).unwrap();
        let (listener, mut waiting) = (socket.listen(1).unwrap(), Vec::new());
        while let Ok(stream) =
            tokio::time::timeout(Duration::from_millis(500), tokio::net::TcpStream::connect(address)).await
        {
            waiting.push(stream.unwrap());
        }
        (listener, waiting)
    }

    #[tokio::test]
    async fn an_address_that_refuses_gives_way_to_the_next_at_once_and_for_later() {
        let server = Server::saying(NOTHING, Then::Close).await;
        let page = url(&format!("http://a.test:{}/", server.address.port()));
        let options = Options { ip_delay: Duration::from_secs(60), ..at(&["127.0.0.3", "127.0.0.4", "127.0.0.1"]) };
        let fetcher = Fetcher::new(options).unwrap();
        let fetched = fetcher.polite_get(&page).await.unwrap();
        assert_eq!((fetched.status, fetched.address), (200, Some(server.address)));
        assert_eq!(fetcher.addresses(&page).await.unwrap()[0], server.address.ip(), "it is asked first from now on");
        let traffic = fetcher.take_traffic(&page.origin());
        assert_eq!((traffic.requests, traffic.unanswered), (1, 0), "the server has seen one request");
        let rest = fetcher.next_start(&page.origin()).unwrap() - Instant::now();
        assert!(rest > Duration::from_secs(50), "the gap of the address that answered holds: {rest:?}");
    }

    #[tokio::test]
    async fn a_name_without_a_living_address_fails_with_every_reason() {
        let server = Server::saying(NOTHING, Then::Close).await;
        let page = url(&format!("http://a.test:{}/", server.address.port()));
        let fetcher = Fetcher::new(at(&["127.0.0.3", "127.0.0.4"])).unwrap();
        let failure = fetcher.polite_get(&page).await.unwrap_err();
        assert_eq!((failure.class, failure.retryable), (FailureClass::Connect, true), "{failure}");
        assert!(failure.detail.contains("127.0.0.3, 127.0.0.4: "), "{failure}");
        let traffic = fetcher.take_traffic(&page.origin());
        assert_eq!((traffic.requests, traffic.unanswered), (1, 1));
    }

    #[tokio::test]
    async fn addresses_of_another_family_are_tried_too() {
        let Ok(listener) = tokio::net::TcpListener::bind("[::1]:0").await else {
            println!("skipped: no IPv6 on this machine");
            return;
        };
        let page = url(&format!("http://localhost:{}/", listener.local_addr().unwrap().port()));
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = tokio::io::AsyncReadExt::read(&mut stream, &mut [0; 4096]).await.unwrap();
            let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, NOTHING.as_bytes()).await;
        });
        let fetched = Fetcher::new(at(&[])).unwrap().polite_get(&page).await.unwrap();
        assert!(fetched.address.unwrap().is_ipv6());
    }

    #[tokio::test]
    async fn an_address_that_is_not_permitted_is_not_tried_after_a_dead_one() {
        let server = Server::saying(NOTHING, Then::Close).await;
        let page = url(&format!("http://a.test:{}/", server.address.port()));
        let allow_nets = vec!["127.0.0.3/32".parse().unwrap()];
        let options = Options { allow_private: false, allow_nets, ..at(&["127.0.0.3", "127.0.0.1"]) };
        let failure = Fetcher::new(options).unwrap().polite_get(&page).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Connect, "{failure}");
        assert!(server.requests().is_empty());
    }

    #[tokio::test]
    async fn an_address_that_says_nothing_takes_its_share_of_the_time_and_no_more() {
        let server = Server::saying(NOTHING, Then::Close).await;
        let mute = SocketAddr::from(([127, 0, 0, 5], server.address.port()));
        let (_mute, _waiting) = mute_listener(mute).await;
        let connect_timeout = Duration::from_millis(2400);
        let options = Options { connect_timeout, ..at(&["127.0.0.5", "127.0.0.1"]) };
        let page = url(&format!("http://a.test:{}/", server.address.port()));
        let start = Instant::now();
        assert_eq!(Fetcher::new(options.clone()).unwrap().polite_get(&page).await.unwrap().status, 200);
        assert!(start.elapsed() >= connect_timeout / 2, "{:?}: the first address refused", start.elapsed());
        // Alone it has all the time.
        let alone = Options { connect_timeout: Duration::from_millis(300), ..at(&["127.0.0.5"]) };
        let failure = Fetcher::new(alone).unwrap().polite_get(&page).await.unwrap_err();
        assert_eq!((failure.class, failure.retryable), (FailureClass::Timeout, true), "{failure}");
        assert_eq!(failure.detail, "no connection within the time limit");
    }

    #[tokio::test]
    async fn a_server_that_answers_with_nothing_is_no_reason_to_try_another_address() {
        let server = Server::saying("", Then::Close).await;
        let page = url(&format!("http://a.test:{}/", server.address.port()));
        let listener = tokio::net::TcpListener::bind(format!("127.0.0.6:{}", server.address.port())).await.unwrap();
        let fetcher = Fetcher::new(at(&["127.0.0.1", "127.0.0.6"])).unwrap();
        let failure = fetcher.polite_get(&page).await.unwrap_err();
        assert_eq!((failure.class, failure.retryable), (FailureClass::Protocol, true), "{failure}");
        let other = tokio::time::timeout(Duration::from_millis(50), listener.accept()).await;
        assert!(other.is_err(), "the request would be sent twice");
    }

    #[tokio::test]
    async fn a_handshake_that_fails_is_no_failure_to_connect() {
        let server = Server::saying("HTTP/1.1 400 Bad\r\n\r\n", Then::Close).await;
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let plain = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 400 Bad\r\n\r\n").await;
        });
        let failure = Fetcher::new(options()).unwrap().get(&url(&format!("https://{plain}/"))).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Tls, "{failure}");
        drop(server);
    }
}
