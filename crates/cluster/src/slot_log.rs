//! The logs of slots in the database: read in the order of commits, and extended by commits of one process.

use std::collections::BTreeMap;

use tokio_postgres::types::ToSql;

use super::connection::{OpenTransaction, Session};
use super::error::ClusterError;
use super::lease::{Fence, RunId};
use super::slot_entry::SlotEntry;
use ndcrawl_model::Slot;

/// Commits whose entries are read at once.
const AT_ONCE: i64 = 64;

/// What a snapshot shows of the logs of some slots; all, without one.
const SEEN: &str = "SELECT seq, slot, body FROM slot_log WHERE slot = ANY($1) \
                    AND ($2::text IS NULL OR pg_visible_in_snapshot(transaction, $2::text::pg_snapshot))";

/// What a commit of a process changes of one of its slots.
#[derive(Debug)]
pub struct SlotChange {
    /// The fence under which the process has it.
    pub fence: Fence,
    /// Its part of the log, if it has one.
    pub(super) entry: Option<SlotEntry>,
    /// Pages that were fetched, less those that are to be fetched once more.
    pub pages: i64,
    /// How many pages are to be fetched once more, after the commit.
    pub revising: i64,
    /// How many places in the limit of pages were taken.
    pub used: i64,
}

impl SlotChange {
    /// Creates a change of nothing but the number of commits.
    pub fn of(fence: Fence) -> Self {
        Self { fence, entry: None, pages: 0, revising: 0, used: 0 }
    }
}

/// Reads the logs of some slots.
#[derive(Debug)]
pub(super) struct SlotLogReader {
    slots: Vec<i32>,
    /// The snapshot of the database that has what is read, if it is not all.
    snapshot: Option<String>,
    /// The last commit that was read.
    after: i64,
    end: i64,
}

impl SlotLogReader {
    /// Begins with the first commit. What is committed later is not read.
    pub async fn new(session: &Session, slots: impl IntoIterator<Item = Slot>) -> Result<Self, ClusterError> {
        Self::seen(session, slots, None).await
    }

    /// Begins with the first commit, and reads what this snapshot shows. So what is read is the same whenever it is.
    pub async fn seen(
        session: &Session,
        slots: impl IntoIterator<Item = Slot>,
        snapshot: Option<String>,
    ) -> Result<Self, ClusterError> {
        let slots: Vec<i32> = slots.into_iter().map(|slot| i32::from(slot.0)).collect();
        let statement = format!("SELECT coalesce(max(seq), 0) FROM ({SEEN}) AS seen");
        let (end,) = session.client().row("read the logs of slots", &statement, &[&slots, &snapshot]).await?;
        Ok(Self { slots, snapshot, after: 0, end })
    }

    /// Returns the place of the last commit that was read among all commits.
    pub fn done(&self) -> u64 {
        self.after.unsigned_abs()
    }

    /// Returns the place of the last commit.
    pub fn all(&self) -> u64 {
        self.end.unsigned_abs()
    }

    /// Returns the next commits, in their order, each with its entries; empty at the end.
    pub async fn next(&mut self, session: &Session) -> Result<Vec<Vec<(Slot, SlotEntry)>>, ClusterError> {
        if self.after >= self.end {
            return Ok(Vec::new());
        }
        let last = format!("SELECT DISTINCT seq FROM ({SEEN}) AS seen WHERE seq > $3 ORDER BY seq LIMIT $4");
        let statement =
            format!("{SEEN} AND seq > $3 AND seq <= (SELECT max(seq) FROM ({last}) AS next) ORDER BY seq, slot");
        let parameters: [&(dyn ToSql + Sync); 4] = [&self.slots, &self.snapshot, &self.after, &AT_ONCE];
        let rows: Vec<(i64, i32, Vec<u8>)> =
            session.client().rows("read the logs of slots", &statement, &parameters).await?;
        let mut commits: BTreeMap<i64, Vec<(Slot, SlotEntry)>> = BTreeMap::new();
        for (seq, slot, body) in rows {
            let slot = u16::try_from(slot).map_err(|_| ClusterError::Damaged(format!("there is a slot {slot}")))?;
            let entry = SlotEntry::open(&body, Slot(slot), seq)?;
            commits.entry(seq).or_default().push((Slot(slot), entry));
        }
        self.after = commits.last_key_value().map_or(self.end, |(seq, _)| *seq);
        Ok(commits.into_values().collect())
    }
}

/// Waits until no commit to these slots is under way: what a process has sent on a connection that is gone may still be
/// committed.
pub(super) async fn await_commits(
    session: &mut Session,
    run: RunId,
    slots: impl IntoIterator<Item = Slot>,
) -> Result<(), ClusterError> {
    let slots: Vec<i32> = slots.into_iter().map(|slot| i32::from(slot.0)).collect();
    let transaction = session.begin().await?;
    // Each commit has the rows of its slots locked until it has ended.
    let statement = "SELECT slot FROM slot WHERE slot = ANY($1) AND owner = $2 ORDER BY slot FOR UPDATE";
    let doing = "wait for earlier commits to slots";
    transaction.sql().rows::<(i32,)>(doing, statement, &[&slots, &run.0]).await.map(drop)
}

/// Extends the logs of slots, and makes sure that the run [holds them](hold_slots) until the transaction ends.
pub(super) async fn extend_logs(
    transaction: &OpenTransaction<'_>,
    run: RunId,
    changes: &BTreeMap<Slot, SlotChange>,
    is_of_all: (bool, Option<i32>),
) -> Result<(), ClusterError> {
    let doing = "commit to the logs of slots";
    hold_slots(transaction, run, changes, is_of_all).await?;
    let (seq,): (i64,) = transaction.sql().row(doing, "SELECT nextval('slot_log_seq')", &[]).await?;
    let (mut logged, mut bodies) = (Vec::new(), Vec::new());
    for (slot, entry) in changes.iter().filter_map(|(slot, change)| Some((slot, change.entry.as_ref()?))) {
        logged.push(i32::from(slot.0));
        bodies.push(entry.sealed()?);
    }
    let statement = "INSERT INTO slot_log (slot, seq, run, body) \
                     SELECT slot, $3, $4, body FROM unnest($1::int[], $2::bytea[]) AS entry (slot, body)";
    transaction.sql().change(doing, statement, &[&logged, &bodies, &seq, &run.0]).await.map(drop)
}

/// Makes sure that slots are a run's, under these fences, until the transaction ends. Returns the number of the commit of
/// each. `is_idle`: whether nothing is queued or on lease in these slots after the commit; `round`: of which questions all
/// pages were taken.
///
/// # Errors
/// [`ClusterError::SlotLost`] if one of them is not: nothing of the transaction must be committed.
pub async fn hold_slots(
    transaction: &OpenTransaction<'_>,
    run: RunId,
    changes: &BTreeMap<Slot, SlotChange>,
    (is_idle, round): (bool, Option<i32>),
) -> Result<BTreeMap<Slot, i64>, ClusterError> {
    let slots: Vec<i32> = changes.keys().map(|slot| i32::from(slot.0)).collect();
    let fences: Vec<i64> = changes.values().map(|change| change.fence.0).collect();
    let pages: Vec<i64> = changes.values().map(|change| change.pages).collect();
    let revising: Vec<i64> = changes.values().map(|change| change.revising).collect();
    // Ascending, so that two runs do not wait for each other's rows.
    let statement = "WITH held AS (SELECT slot FROM slot WHERE slot = ANY($1) ORDER BY slot FOR UPDATE) \
                     UPDATE slot SET commits = commits + 1, is_idle = $5, pages = slot.pages + change.pages, \
                            revising = change.revising, round = coalesce($6, round) \
                     FROM held, unnest($1::int[], $2::bigint[], $3::bigint[], $7::bigint[]) \
                               AS change (slot, fence, pages, revising) \
                     WHERE slot.slot = held.slot AND slot.slot = change.slot AND owner = $4 AND slot.fence = change.fence \
                       AND EXISTS (SELECT FROM run WHERE id = $4 AND until > clock_timestamp()) \
                     RETURNING slot.slot, commits";
    let parameters: [&(dyn ToSql + Sync); 7] = [&slots, &fences, &pages, &run.0, &is_idle, &round, &revising];
    let rows = transaction.sql().rows("check the lease of slots", statement, &parameters).await?;
    let numbers: BTreeMap<i32, i64> = rows.into_iter().collect();
    let held = |slot: &Slot| {
        let lost = || ClusterError::SlotLost { slot: *slot, run: run.0 };
        numbers.get(&i32::from(slot.0)).map(|number| (*slot, *number)).ok_or_else(lost)
    };
    changes.keys().map(held).collect()
}
