//! The address and the time of one attempt to connect.
//!
//! A host may have several addresses, of which some are dead. The fetcher tries one after the other, because each has
//! a politeness delay of its own. The HTTP client knows neither the address nor the time that an attempt may take; it
//! learns both here, as it makes its connections in the task that sends the request.

use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tower_layer::Layer;
use tower_service::Service;

/// The least time for one of several addresses, unless the limit for a connection is shorter.
const LEAST_TIME: Duration = Duration::from_secs(1);

tokio::task_local! {
    static ATTEMPT: Attempt;
}

/// One attempt to connect, at one address of the host.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempt {
    /// The address to connect to.
    pub(super) address: IpAddr,
    /// Time limit for the connection, TLS included.
    limit: Duration,
}

impl Attempt {
    /// Makes an attempt at one of `untried` addresses. The time that is left is shared among them.
    pub(super) fn new(address: IpAddr, untried: usize, left: Duration, longest: Duration) -> Self {
        let share = left / u32::try_from(untried).unwrap_or(u32::MAX).max(1);
        Self { address, limit: share.max(LEAST_TIME).min(longest) }
    }

    /// Runs a request whose connection, if it needs a new one, is this attempt.
    pub(super) async fn run<T>(self, request: impl Future<Output = T>) -> T {
        ATTEMPT.scope(self, request).await
    }

    /// Returns the attempt of the running task. There is none if a proxy connects.
    pub(super) fn current() -> Option<Self> {
        ATTEMPT.try_with(|attempt| *attempt).ok()
    }
}

/// Layer around the client's connector: ends an attempt that takes too long.
#[derive(Clone, Copy, Debug)]
pub(super) struct AttemptLimit;

impl<S> Layer<S> for AttemptLimit {
    type Service = LimitedConnector<S>;

    fn layer(&self, connector: S) -> Self::Service {
        LimitedConnector(connector)
    }
}

/// A connector with the time limit of the running attempt.
#[derive(Clone, Debug)]
pub(super) struct LimitedConnector<S>(S);

type BoxError = Box<dyn std::error::Error + Send + Sync>;

impl<S, R> Service<R> for LimitedConnector<S>
where
    S: Service<R, Error = BoxError>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: R) -> Self::Future {
        let connecting = self.0.call(request);
        let Some(Attempt { limit, .. }) = Attempt::current() else { return Box::pin(connecting) };
        Box::pin(async move {
            let in_time = tokio::time::timeout(limit, connecting).await;
            in_time.unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut).into()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_share_the_time_and_none_gets_too_little_or_too_much() {
        let seconds = Duration::from_secs;
        let limit = |untried, left, longest| {
            Attempt::new(IpAddr::from([127, 0, 0, 1]), untried, seconds(left), seconds(longest)).limit
        };
        assert_eq!(limit(1, 10, 10), seconds(10));
        assert_eq!(limit(2, 10, 10), seconds(5));
        assert_eq!(limit(1, 9, 10), seconds(9), "the first has refused at once");
        assert_eq!(limit(16, 10, 10), LEAST_TIME);
        assert_eq!(limit(1, 0, 10), LEAST_TIME, "all the time is used up, and it is tried all the same");
        assert_eq!(Attempt::new(IpAddr::from([127, 0, 0, 1]), 0, seconds(4), seconds(3)).limit, seconds(3));
        assert_eq!(limit(4, 0, 0), Duration::ZERO);
    }
}
