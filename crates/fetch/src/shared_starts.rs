//! Starts of requests that several processes share.

use std::fmt::Debug;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// How much later than reserved a request may start. Whoever reserves starts adds more than that to each gap.
const LATE: Duration = Duration::from_millis(50);

/// Reserves starts of requests, so that no two processes start requests to one IP address too soon after each other.
pub trait SharedStarts: Send + Sync + Debug {
    /// Returns when a request to the address may start; `gap` is the least time between two. Never returns once this
    /// process may send no request any more. Behind a proxy the address is `None`.
    fn reserve(
        &self,
        address: Option<IpAddr>,
        gap: Duration,
    ) -> Pin<Box<dyn Future<Output = std::time::Instant> + Send + '_>>;
}

/// Waits for the start of a request that other processes leave to this one, if there are others. Returns whether it is
/// still time: the start is to be reserved anew otherwise.
pub(super) async fn await_shared_start(
    starts: Option<&Arc<dyn SharedStarts>>,
    address: Option<IpAddr>,
    gap: Duration,
) -> bool {
    let Some(starts) = starts else { return true };
    let start = Instant::from_std(starts.reserve(address, gap).await);
    sleep_until(start).await;
    Instant::now() <= start + LATE
}
