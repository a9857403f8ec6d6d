//! Runs that take slots, freeze, die and give slots back.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use ndcrawl::cluster::{ClusterError, CrawlPlan, Fence, Run, Session};
use ndcrawl::model::Slot;
use ndcrawl::seeded::SeededRng;

use super::servers::LocalServers;
use super::{begin, hold, plan, session};

/// A lease for runs that do not freeze.
const LONG: Duration = Duration::from_secs(60);

/// Commits a row in the name of a slot, and waits a little before the end. Whether the run may is asked first.
async fn commit(session: &mut Session, run: &mut Run, slot: Slot, pause: Duration) -> Result<i64, ClusterError> {
    let fence = run.held().find(|(held, _)| *held == slot).map_or(Fence(-1), |(_, fence)| fence);
    let transaction = session.begin().await?;
    let number = hold(&transaction, run.id(), (slot, fence)).await?;
    let row = "INSERT INTO witness (slot, number, fence, run) VALUES ($1, $2, $3, $4)";
    transaction.sql().execute(row, &[&i32::from(slot.0), &number, &fence.0, &run.id().0]).await.unwrap();
    tokio::time::sleep(pause).await;
    transaction.commit().await?;
    Ok(number)
}

const WITNESS: &str = "CREATE TABLE IF NOT EXISTS witness (slot int, number bigint, fence bigint, run int)";

async fn with_witness(name: &str, slots: u16) -> (CrawlPlan, Session) {
    let plan = plan(name, slots);
    let session = session(LocalServers::shared(), &plan).await;
    session.client().batch_execute(WITNESS).await.unwrap();
    (plan, session)
}

/// A worker that freezes, forgets to renew and gives slots back, for a while.
async fn live(plan: CrawlPlan, worker: u64, until: Instant) {
    let mut session = session(LocalServers::shared(), &plan).await;
    let mut random = SeededRng::new(worker, "lives of runs");
    let ttl = Duration::from_millis(400);
    for life in 0.. {
        let mut run = begin(&mut session, &format!("worker-{worker}-{life}"), ttl).await.unwrap();
        while Instant::now() < until {
            let pause = Duration::from_millis(random.below(30) as u64);
            match random.below(12) {
                0 => tokio::time::sleep(ttl * 2).await,
                1 => drop(run.balance(&mut session).await.unwrap()),
                2 => {
                    let Some((slot, _)) = run.held().next() else { continue };
                    run.give_back(&mut session, slot).await.unwrap();
                }
                3..=6 => match run.renew(&mut session).await {
                    Ok(_) => drop(run.balance(&mut session).await.unwrap()),
                    Err(ClusterError::RunLost(_)) => break,
                    Err(error) => panic!("{error:?}"),
                },
                _ => {
                    let held: Vec<Slot> = run.held().map(|(slot, _)| slot).collect();
                    if held.is_empty() {
                        continue;
                    }
                    let slot = *random.pick(&held);
                    match commit(&mut session, &mut run, slot, pause).await {
                        Ok(_) | Err(ClusterError::SlotLost { .. }) => {}
                        Err(error) => panic!("{error:?}"),
                    }
                }
            }
        }
        if Instant::now() >= until {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn two_runs_never_hold_one_slot_under_one_fence() {
    let (plan, session) = with_witness("many_lives", 6).await;
    let until = Instant::now() + Duration::from_secs(12);
    let workers: Vec<_> = (0..5).map(|worker| tokio::spawn(live(plan.clone(), worker, until))).collect();
    for worker in workers {
        worker.await.unwrap();
    }
    let rows = session.client().query("SELECT slot, number, fence, run FROM witness ORDER BY slot, number", &[]);
    let mut owners: BTreeMap<(i32, i64), i32> = BTreeMap::new();
    let mut last: BTreeMap<i32, (i64, i64)> = BTreeMap::new();
    for row in rows.await.unwrap() {
        let (slot, number, fence, run): (i32, i64, i64, i32) = (row.get(0), row.get(1), row.get(2), row.get(3));
        assert_eq!(*owners.entry((slot, fence)).or_insert(run), run, "slot {slot}, fence {fence}");
        let before = last.insert(slot, (number, fence)).unwrap_or_default();
        assert!(number == before.0 + 1 && fence >= before.1, "slot {slot}: {before:?}, then {number}, {fence}");
    }
    let changes = owners.len() - owners.keys().map(|(slot, _)| slot).collect::<BTreeSet<_>>().len();
    assert!(changes > 20, "slots changed their owners {changes} times only");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_frozen_run_commits_nothing() {
    let (plan, mut session) = with_witness("frozen", 1).await;
    let ttl = Duration::from_millis(500);
    let mut frozen = begin(&mut session, "frozen", ttl).await.unwrap();
    let [held] = frozen.balance(&mut session).await.unwrap().taken[..] else { panic!("the slot is free") };
    commit(&mut session, &mut frozen, held.slot, Duration::ZERO).await.unwrap();
    assert!(frozen.is_alive(Instant::now()));
    tokio::time::sleep(ttl).await;
    assert!(!frozen.is_alive(Instant::now()), "it knows without asking");

    let mut others = super::session(LocalServers::shared(), &plan).await;
    let mut next = begin(&mut others, "next", LONG).await.unwrap();
    let [taken] = next.balance(&mut others).await.unwrap().taken[..] else { panic!("the slot is free again") };
    assert!(taken.fence > held.fence && taken.commits == 1);
    commit(&mut others, &mut next, taken.slot, Duration::ZERO).await.unwrap();

    // The control: without a look at run, fence and time the frozen run writes into what another owns.
    let careless = "UPDATE slot SET commits = commits + 1 WHERE slot = $1";
    assert_eq!(session.client().execute(careless, &[&i32::from(held.slot.0)]).await.unwrap(), 1);
    let refused = commit(&mut session, &mut frozen, held.slot, Duration::ZERO).await.unwrap_err();
    let expected = format!("slot {} is not held any more: the lease of run {} has run out", held.slot.0, frozen.id().0);
    assert!(refused.to_string().starts_with(&expected), "{refused}");
    assert!(matches!(frozen.renew(&mut session).await, Err(ClusterError::RunLost(_))));
    assert_eq!(frozen.held().count(), 0);
    let rows = session.client().query("SELECT run FROM witness ORDER BY number", &[]).await.unwrap();
    let writers: Vec<i32> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(writers, [frozen.id().0, next.id().0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_frozen_run_commits_nothing_even_if_nobody_has_taken_its_slot() {
    let (_, mut session) = with_witness("frozen_alone", 1).await;
    let ttl = Duration::from_millis(300);
    let mut frozen = begin(&mut session, "frozen", ttl).await.unwrap();
    let [held] = frozen.balance(&mut session).await.unwrap().taken[..] else { panic!("the slot is free") };
    tokio::time::sleep(ttl).await;
    let refused = commit(&mut session, &mut frozen, held.slot, Duration::ZERO).await;
    assert!(matches!(refused, Err(ClusterError::SlotLost { .. })), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_slot_is_not_taken_while_a_commit_of_its_owner_is_under_way() {
    let (plan, mut session) = with_witness("under_way", 1).await;
    let mut others = super::session(LocalServers::shared(), &plan).await;
    let ttl = Duration::from_millis(500);
    let mut slow = begin(&mut session, "slow", ttl).await.unwrap();
    let [held] = slow.balance(&mut session).await.unwrap().taken[..] else { panic!("the slot is free") };
    let mut next = begin(&mut others, "next", LONG).await.unwrap();
    let slow_commit =
        tokio::spawn(
            async move { commit(&mut session, &mut slow, held.slot, Duration::from_millis(1500)).await.unwrap() },
        );
    tokio::time::sleep(Duration::from_millis(900)).await;
    assert_eq!(next.balance(&mut others).await.unwrap().taken, [], "its lease has run out, its commit has not ended");
    assert_eq!(slow_commit.await.unwrap(), 1);
    let [taken] = next.balance(&mut others).await.unwrap().taken[..] else { panic!("the slot is free") };
    assert_eq!(taken.commits, 1, "the new owner sees the last commit");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn slots_move_until_the_shares_are_fair() {
    let plan = plan("fair_shares", 64);
    let mut session = session(LocalServers::shared(), &plan).await;
    let mut runs = Vec::new();
    for count in [1, 3, 5] {
        while runs.len() < count {
            runs.push(begin(&mut session, &format!("worker-{}", runs.len()), LONG).await.unwrap());
        }
        settle(&mut session, &mut runs).await;
    }
    // The first ends, as at a stop; its slots are free at once.
    runs.remove(0).end(&mut session).await.unwrap();
    settle(&mut session, &mut runs).await;
}

/// Balances twice, as two renewals do: surplus goes back in the first one, and is taken by the second one.
async fn settle(session: &mut Session, runs: &mut [Run]) {
    for _ in 0..2 {
        for run in runs.iter_mut() {
            for slot in run.balance(session).await.unwrap().surplus {
                run.give_back(session, slot).await.unwrap();
            }
        }
    }
    let held: Vec<usize> = runs.iter().map(|run| run.held().count()).collect();
    assert!(
        held.iter().sum::<usize>() == 64 && held.iter().max().unwrap() - held.iter().min().unwrap() <= 1,
        "{held:?}"
    );
}
