//! What is learned of hosts, for whoever asks them next: robots.txt, counters, and until when they must not be asked.
//!
//! The row of a host is written with the commits to its slot. Rests that are no longer than the gap of a host are not
//! stored: whoever takes a host over begins with a gap.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};
use tokio_postgres::types::ToSql;

use super::connection::{OpenTransaction, Session};
use super::encoding::{decoded, encoded};
use super::error::ClusterError;
use super::sealed::{open_sealed, seal};
use ndcrawl_model::{CanonicalUrl, HostRow, RestOf, RestRow, Slot, SlotMap, Totals};

/// Returns the slot of a host.
pub(super) fn slot_of_origin(map: SlotMap, origin: &str) -> Result<Slot, ClusterError> {
    let root = CanonicalUrl::root_of(origin)
        .map_err(|error| ClusterError::Damaged(format!("'{origin}' is in a commit: {error}")))?;
    Ok(map.slot_of(&root))
}

/// Stores what is known of hosts by now.
pub(super) async fn store_hosts(
    transaction: &OpenTransaction<'_>,
    hosts: &[(Slot, &HostRow)],
) -> Result<(), ClusterError> {
    let (mut origins, mut slots, mut requests) = (Vec::new(), Vec::new(), Vec::new());
    let (mut outcomes, mut bodies) = (Vec::new(), Vec::new());
    for (slot, host) in hosts {
        let counts: Map<String, Value> =
            host.outcomes.iter().map(|(kind, count)| (kind.name().to_owned(), (*count).into())).collect();
        origins.push(host.origin.as_str());
        slots.push(i32::from(slot.0));
        requests.push(i64::try_from(host.requests).unwrap_or(i64::MAX));
        outcomes.push(Value::from(counts).to_string());
        bodies.push(seal(&encoded(host)?)?);
    }
    if origins.is_empty() {
        return Ok(());
    }
    let statement = "INSERT INTO host (origin, slot, requests, outcomes, known) \
                     SELECT origin, slot, requests, outcomes::jsonb, known \
                     FROM unnest($1::text[], $2::int[], $3::bigint[], $4::text[], $5::bytea[]) \
                     AS host (origin, slot, requests, outcomes, known) \
                     ON CONFLICT (origin) DO UPDATE \
                     SET requests = excluded.requests, outcomes = excluded.outcomes, known = excluded.known";
    let parameters: [&(dyn ToSql + Sync); 5] = [&origins, &slots, &requests, &outcomes, &bodies];
    transaction.sql().change("store what is known of hosts", statement, &parameters).await.map(drop)
}

/// Returns what is known of the hosts of these slots, in the order of their names.
pub(super) async fn known_hosts(
    session: &Session,
    slots: impl IntoIterator<Item = Slot>,
) -> Result<Vec<HostRow>, ClusterError> {
    let slots: Vec<i32> = slots.into_iter().map(|slot| i32::from(slot.0)).collect();
    let statement = "SELECT origin, known FROM host WHERE slot = ANY($1) AND known IS NOT NULL ORDER BY origin";
    let mut hosts = Vec::new();
    let rows: Vec<(String, Vec<u8>)> =
        session.client().rows("read what is known of hosts", statement, &[&slots]).await?;
    for (origin, known) in rows {
        hosts.push(decoded(&open_sealed(&known, || format!("the host {origin}"))?, &origin)?);
    }
    Ok(hosts)
}

/// Returns the sums over hosts.
pub(super) fn totals_of(hosts: &[HostRow]) -> Totals {
    let mut totals = Totals::default();
    for host in hosts {
        totals.requests += host.requests;
        totals.bytes += host.bytes;
        for (kind, count) in &host.outcomes {
            *totals.outcomes.entry(*kind).or_default() += count;
        }
    }
    totals
}

/// Stores rests, by the clock of the server.
pub(super) async fn store_rests(
    transaction: &OpenTransaction<'_>,
    map: SlotMap,
    rests: &[RestRow],
) -> Result<(), ClusterError> {
    let now = now_millis();
    let (mut origins, mut slots, mut seconds, mut bodies) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for rest in rests {
        let RestOf::Origin(origin) = &rest.of else { continue };
        let Ok(slot) = slot_of_origin(map, origin) else { continue };
        origins.push(origin.as_str());
        slots.push(i32::from(slot.0));
        seconds.push((rest.end() - now).max(0) as f64 / 1000.0);
        bodies.push(serde_json::to_string(rest).map_err(|error| ClusterError::Damaged(error.to_string()))?);
    }
    if origins.is_empty() {
        return Ok(());
    }
    let statement = "INSERT INTO host (origin, slot, until, rest) \
                     SELECT origin, slot, clock_timestamp() + make_interval(secs => seconds), body \
                     FROM unnest($1::text[], $2::int[], $3::float8[], $4::text[]) \
                     AS noted (origin, slot, seconds, body) \
                     ON CONFLICT (origin) DO UPDATE SET until = excluded.until, rest = excluded.rest";
    let parameters: [&(dyn ToSql + Sync); 4] = [&origins, &slots, &seconds, &bodies];
    transaction.sql().change("store the rests of hosts", statement, &parameters).await.map(drop)
}

/// Returns the rests of these slots that are not over, by the clock of this machine.
pub(super) async fn lasting_rests(
    session: &Session,
    slots: impl IntoIterator<Item = Slot>,
) -> Result<Vec<RestRow>, ClusterError> {
    let slots: Vec<i32> = slots.into_iter().map(|slot| i32::from(slot.0)).collect();
    let statement = "SELECT rest, extract(epoch FROM until - clock_timestamp())::float8 FROM host \
                     WHERE slot = ANY($1) AND until > clock_timestamp()";
    let mut rests = Vec::new();
    let rows: Vec<(String, f64)> = session.client().rows("read the rests of hosts", statement, &[&slots]).await?;
    for (body, seconds) in rows {
        let rest: RestRow = serde_json::from_str(&body)
            .map_err(|error| ClusterError::Damaged(format!("the rest of a host: {error}")))?;
        rests.push(RestRow { since: now_millis(), millis: (seconds.max(0.0) * 1000.0).ceil() as u64, ..rest });
    }
    Ok(rests)
}

fn now_millis() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
