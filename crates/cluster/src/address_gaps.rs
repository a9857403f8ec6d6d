//! Gaps between requests to an IP address, which all runs share.
//!
//! The server keeps for each address when the next request may start. One statement reserves the next starts of a group
//! of addresses. A start is known here a little later than it was reserved, so reserved starts are [`GAP_MARGIN`] further
//! apart than the gap, and a reservation whose answer takes longer than that is asked for again.
//!
//! The table is not logged, and so empty after a crash of the server or a failover. The first start of an address that
//! is not in the table is therefore one gap away. A run that has lost its connection must forget the starts that it has
//! reserved and not used.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use super::connection::Session;
use super::error::ClusterError;

/// The longest time from the reservation of a start until it is known.
pub const GAP_MARGIN: Duration = Duration::from_millis(100);

/// Attempts to be answered within the margin.
const ATTEMPTS: usize = 5;

/// Reserves the next start of a request to each of these addresses, each with the gap that it is to have from the start
/// before. Several starts of one address are one after the other.
///
/// # Errors
/// [`ClusterError::Slow`] if the server does not answer in time: no start is used then.
pub async fn reserve_starts(session: &Session, wanted: &[(IpAddr, Duration)]) -> Result<Vec<Instant>, ClusterError> {
    let mut took = Duration::ZERO;
    for _ in 0..ATTEMPTS {
        let answer = reserve_once(session, wanted).await?;
        if answer.took <= GAP_MARGIN {
            return Ok(answer.starts);
        }
        took = answer.took;
    }
    Err(ClusterError::Slow(took))
}

async fn reserve_once(session: &Session, wanted: &[(IpAddr, Duration)]) -> Result<Reservation, ClusterError> {
    // Ascending, so that two runs do not wait for each other's rows.
    let mut groups: BTreeMap<String, (f64, i32)> = BTreeMap::new();
    for (ip, gap) in wanted {
        let (longest, starts) = groups.entry(ip.to_string()).or_default();
        *longest = longest.max((*gap + GAP_MARGIN).as_secs_f64());
        *starts += 1;
    }
    let ips: Vec<&str> = groups.keys().map(String::as_str).collect();
    let gaps: Vec<f64> = groups.values().map(|(gap, _)| *gap).collect();
    let starts: Vec<i32> = groups.values().map(|(_, starts)| *starts).collect();
    let sent = Instant::now();
    let rows = session.client().rows("reserve the start of a request", RESERVE, &[&ips, &gaps, &starts]).await?;
    let received = Instant::now();
    let mut next: BTreeMap<String, f64> = rows.into_iter().collect();
    let mut reserved = Vec::new();
    for (ip, _) in wanted {
        let ip = ip.to_string();
        let (Some(wait), Some((gap, _))) = (next.get_mut(&ip), groups.get(&ip)) else {
            return Err(ClusterError::Damaged(format!("no start was reserved for {ip}")));
        };
        reserved.push(received + Duration::from_secs_f64(wait.max(0.0)));
        *wait += gap;
    }
    Ok(Reservation { starts: reserved, took: received - sent })
}

struct Reservation {
    starts: Vec<Instant>,
    took: Duration,
}

/// Reserves `n` starts of each address, and returns when the first of them is, in seconds from now. `next` is the start
/// behind the last one.
const RESERVE: &str = "
INSERT INTO address AS known (ip, next, gap)
SELECT wanted.ip::inet, clock_timestamp() + make_interval(secs => gap * (n + 1)), make_interval(secs => gap * n)
FROM unnest($1::text[], $2::float8[], $3::int[]) AS wanted (ip, gap, n)
ON CONFLICT (ip) DO UPDATE
SET next = greatest(known.next, clock_timestamp()) + excluded.gap, gap = excluded.gap
RETURNING host(ip), extract(epoch FROM next - gap - clock_timestamp())::float8";
