//! Runs, and the slots that they hold.
//!
//! A run is alive until a moment that the server keeps, and it renews its lease well before. The run itself counts from
//! the moment *before* it has sent the statement, by a clock that cannot be set: so it takes itself for dead before
//! anyone else does. Slots of dead runs are free.
//!
//! Each taking of a slot raises its fence. A commit of a slot names run and fence in the transaction that it is about:
//! [`hold_slots`](super::hold_slots) fails for a run whose lease has run out, and for a fence that is not the last one. It also locks the
//! row of the slot, so that nobody takes the slot before the transaction has ended.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use tokio_postgres::types::ToSql;

use super::connection::{OpenTransaction, Session};
use super::error::ClusterError;
use super::refusal::Refusal;
use super::schema::CrawlState;
use ndcrawl_model::Slot;

/// The number of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub i32);

/// How often a slot was taken. Larger than that of every run that has held the slot before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fence(pub i64);

/// What a run tells of itself.
#[derive(Clone, Debug)]
pub struct RunDescription {
    /// Where it runs.
    pub name: String,
    /// The version of the program.
    pub version: String,
    /// Where its archive is: machine and folder.
    pub archive: String,
}

/// A slot that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldSlot {
    /// The slot.
    pub slot: Slot,
    /// The fence of this run.
    pub fence: Fence,
    /// Commits of the slot so far.
    pub commits: i64,
}

/// What a run has too little or too much of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlotBalance {
    /// Slots that were taken.
    pub taken: Vec<HeldSlot>,
    /// Slots to give back with [`Run::give_back`], after their last commit.
    pub surplus: Vec<Slot>,
}

/// One life of a worker.
#[derive(Debug)]
pub struct Run {
    id: RunId,
    ttl: Duration,
    alive_until: Instant,
    held: BTreeMap<Slot, Fence>,
}

impl Run {
    /// Begins a run in the crawl that the session uses. Without being renewed it ends after `ttl`.
    ///
    /// # Errors
    /// [`Refusal::ArchiveInUse`] if a run that is alive writes the same archive.
    pub async fn begin(
        session: &mut Session,
        description: &RunDescription,
        ttl: Duration,
    ) -> Result<Self, ClusterError> {
        let doing = "begin a run";
        let sent = Instant::now();
        let transaction = session.begin().await?;
        transaction.sql().change(doing, "LOCK TABLE run IN SHARE ROW EXCLUSIVE MODE", &[]).await?;
        let RunDescription { name, version, archive } = description;
        let users = "SELECT count(*) FROM run WHERE archive = $1 AND until > clock_timestamp()";
        let (users,): (i64,) = transaction.sql().row(doing, users, &[archive]).await?;
        if users > 0 {
            return Err(Refusal::ArchiveInUse(archive.clone()).into());
        }
        let statement = "INSERT INTO run (name, version, archive, until) \
                         VALUES ($1, $2, $3, clock_timestamp() + make_interval(secs => $4)) RETURNING id";
        let (id,) = transaction.sql().row(doing, statement, &[name, version, archive, &ttl.as_secs_f64()]).await?;
        transaction.commit().await?;
        Ok(Self { id: RunId(id), ttl, alive_until: sent + ttl, held: BTreeMap::new() })
    }

    /// Returns the number of the run.
    pub fn id(&self) -> RunId {
        self.id
    }

    /// Whether the run may still act. Ask before each request to a web server.
    pub fn is_alive(&self, now: Instant) -> bool {
        now < self.alive_until
    }

    /// Returns the moment up to which the run is alive, unless it renews its lease.
    pub fn alive_until(&self) -> Instant {
        self.alive_until
    }

    /// Returns the slots held, with their fences.
    pub fn held(&self) -> impl Iterator<Item = (Slot, Fence)> {
        self.held.iter().map(|(slot, fence)| (*slot, *fence))
    }

    /// Renews the lease. Returns whether the crawl goes on. Call it three times in each `ttl`.
    ///
    /// # Errors
    /// [`ClusterError::RunLost`] if the lease has run out: all slots are lost.
    pub async fn renew(&mut self, session: &mut Session) -> Result<CrawlState, ClusterError> {
        let sent = Instant::now();
        let transaction = session.begin().await?;
        let statement = "UPDATE run SET until = clock_timestamp() + make_interval(secs => $2) \
                         WHERE id = $1 AND until > clock_timestamp() RETURNING (SELECT state FROM crawl)";
        let parameters: [&(dyn ToSql + Sync); 2] = [&self.id.0, &self.ttl.as_secs_f64()];
        let renewed = transaction.sql().row_if_any("renew the lease of this run", statement, &parameters).await?;
        let Some((state,)): Option<(String,)> = renewed else { return Err(self.lost()) };
        transaction.commit().await?;
        self.alive_until = sent + self.ttl;
        CrawlState::parse(&state)
    }

    fn lost(&mut self) -> ClusterError {
        self.held.clear();
        self.alive_until = Instant::now();
        ClusterError::RunLost(self.id.0)
    }

    /// Takes free slots up to this run's fair share, and says which are beyond it. The server knows which slots are held:
    /// after a commit whose answer was lost, the run does not.
    pub async fn balance(&mut self, session: &mut Session) -> Result<SlotBalance, ClusterError> {
        let doing = "count slots and runs";
        let transaction = session.begin().await?;
        let own = "SELECT slot, fence, commits FROM slot WHERE owner = $1";
        let rows = transaction.sql().rows(doing, own, &[&self.id.0]).await?;
        let own: Vec<HeldSlot> = rows.into_iter().map(held_slot).collect::<Result<_, _>>()?;
        let counts = "SELECT (SELECT slots FROM crawl)::bigint, count(*), count(*) FILTER (WHERE id < $1) \
                      FROM run WHERE until > clock_timestamp()";
        let (slots, runs, before) = transaction.sql().row(doing, counts, &[&self.id.0]).await?;
        let share = fair_share(slots, runs, before);
        let mut missing = share - own.len() as i64;
        let is_new = |held: &&HeldSlot| self.held.get(&held.slot) != Some(&held.fence);
        let mut taken: Vec<HeldSlot> = own.iter().filter(is_new).copied().collect();
        for free in [FREE, ABANDONED] {
            if missing > 0 {
                let found = self.take(&transaction, free, missing).await?;
                missing -= found.len() as i64;
                taken.extend(found);
            }
        }
        transaction.commit().await?;
        self.held = own.iter().chain(&taken).map(|held| (held.slot, held.fence)).collect();
        let surplus = usize::try_from(-missing).unwrap_or_default();
        Ok(SlotBalance { taken, surplus: self.held.keys().rev().take(surplus).copied().collect() })
    }

    async fn take(
        &self,
        transaction: &OpenTransaction<'_>,
        free: &str,
        most: i64,
    ) -> Result<Vec<HeldSlot>, ClusterError> {
        let statement = format!(
            "WITH free AS ({free}) UPDATE slot SET owner = $1, fence = fence + 1 FROM free \
             WHERE slot.slot = free.slot AND EXISTS (SELECT FROM run WHERE id = $1 AND until > clock_timestamp()) \
             RETURNING slot.slot, fence, commits"
        );
        let rows = transaction.sql().rows("take slots", &statement, &[&self.id.0, &most]).await?;
        rows.into_iter().map(held_slot).collect()
    }

    /// Gives a slot back, for others to take.
    pub async fn give_back(&mut self, session: &mut Session, slot: Slot) -> Result<(), ClusterError> {
        let Some(fence) = self.held.remove(&slot) else { return Ok(()) };
        let transaction = session.begin().await?;
        let statement =
            "UPDATE slot SET owner = NULL, freed = clock_timestamp() WHERE slot = $1 AND owner = $2 AND fence = $3";
        let number = i32::from(slot.0);
        transaction.sql().change("give a slot back", statement, &[&number, &self.id.0, &fence.0]).await?;
        transaction.commit().await
    }

    /// Ends the run: its slots are free at once.
    pub async fn end(self, session: &mut Session) -> Result<(), ClusterError> {
        let transaction = session.begin().await?;
        let statement = "UPDATE run SET until = clock_timestamp() WHERE id = $1 AND until > clock_timestamp()";
        transaction.sql().change("end this run", statement, &[&self.id.0]).await?;
        transaction.commit().await
    }
}

/// Slots without owner. Those that others are just taking are passed over.
const FREE: &str = "SELECT slot FROM slot WHERE owner IS NULL ORDER BY slot LIMIT $2 FOR UPDATE SKIP LOCKED";

/// Slots of dead runs. The run's row is locked, too, so that a run that renews its lease just now is not taken for dead.
const ABANDONED: &str = "SELECT slot.slot FROM slot JOIN run ON run.id = slot.owner \
                         WHERE run.until <= clock_timestamp() ORDER BY slot.slot LIMIT $2 \
                         FOR UPDATE OF slot SKIP LOCKED FOR SHARE OF run SKIP LOCKED";

fn held_slot((slot, fence, commits): (i32, i64, i64)) -> Result<HeldSlot, ClusterError> {
    let slot = u16::try_from(slot).map_err(|_| ClusterError::Damaged(format!("there is a slot {slot}")))?;
    Ok(HeldSlot { slot: Slot(slot), fence: Fence(fence), commits })
}

/// Returns how many of all slots a run should hold: `before` runs of all `runs` that are alive have smaller numbers. The
/// shares of all runs make up all slots, and no two differ by more than one.
pub fn fair_share(slots: i64, runs: i64, before: i64) -> i64 {
    let runs = runs.max(1);
    slots / runs + i64::from(before < slots % runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_even_and_make_up_all_slots() {
        for slots in 0..70 {
            for runs in 1..80 {
                let shares: Vec<i64> = (0..runs).map(|before| fair_share(slots, runs, before)).collect();
                assert_eq!(shares.iter().sum::<i64>(), slots);
                assert!(shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 1);
            }
        }
    }
}
