//! Until when hosts must not be asked, whoever asks them next.
//!
//! Rests that are no longer than the gap of a host are not stored: whoever takes a host over begins with a gap.

use std::time::{SystemTime, UNIX_EPOCH};

use super::connection::{OpenTransaction, Session};
use super::error::ClusterError;
use crate::model::{CanonicalUrl, RestOf, RestRow, Slot, SlotMap};

/// Stores rests, by the clock of the server.
pub(super) async fn store_rests(
    transaction: &OpenTransaction<'_>,
    map: SlotMap,
    rests: &[RestRow],
) -> Result<(), ClusterError> {
    let doing = ClusterError::query("store the rests of hosts");
    let now = now_millis();
    let (mut origins, mut slots, mut seconds, mut bodies) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for rest in rests {
        let RestOf::Origin(origin) = &rest.of else { continue };
        let Ok(url) = CanonicalUrl::root_of(origin) else { continue };
        origins.push(origin.as_str());
        slots.push(i32::from(map.slot_of(&url).0));
        seconds.push((rest.end() - now).max(0) as f64 / 1000.0);
        bodies.push(serde_json::to_string(rest).map_err(|error| ClusterError::Damaged(error.to_string()))?);
    }
    if origins.is_empty() {
        return Ok(());
    }
    let statement = "INSERT INTO rest (origin, slot, until, body) \
                     SELECT origin, slot, clock_timestamp() + make_interval(secs => seconds), body \
                     FROM unnest($1::text[], $2::int[], $3::float8[], $4::text[]) \
                     AS noted (origin, slot, seconds, body) \
                     ON CONFLICT (origin) DO UPDATE SET until = excluded.until, body = excluded.body";
    let parameters: [&(dyn tokio_postgres::types::ToSql + Sync); 4] = [&origins, &slots, &seconds, &bodies];
    transaction.sql().execute(statement, &parameters).await.map(drop).map_err(doing)
}

/// Returns the rests of these slots that are not over, by the clock of this machine.
pub(super) async fn lasting_rests(
    session: &Session,
    slots: impl IntoIterator<Item = Slot>,
) -> Result<Vec<RestRow>, ClusterError> {
    let doing = ClusterError::query("read the rests of hosts");
    let slots: Vec<i32> = slots.into_iter().map(|slot| i32::from(slot.0)).collect();
    let statement = "SELECT body, extract(epoch FROM until - clock_timestamp())::float8 FROM rest \
                     WHERE slot = ANY($1) AND until > clock_timestamp()";
    let mut rests = Vec::new();
    for row in session.client().query(statement, &[&slots]).await.map_err(&doing)? {
        let (body, seconds): (&str, f64) = (row.try_get(0).map_err(&doing)?, row.try_get(1).map_err(&doing)?);
        let rest: RestRow = serde_json::from_str(body)
            .map_err(|error| ClusterError::Damaged(format!("the rest of a host: {error}")))?;
        rests.push(RestRow { since: now_millis(), millis: (seconds.max(0.0) * 1000.0).ceil() as u64, ..rest });
    }
    Ok(rests)
}

fn now_millis() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
