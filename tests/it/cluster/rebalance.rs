//! Slots change hands while workers come and go: no two work on one slot at a time.

use std::collections::BTreeMap;
use std::time::Duration;

use ndcrawl::cluster::{ClusterError, Fence};
use ndcrawl::model::Slot;
use tokio::sync::watch;

use super::servers::LocalServers;
use super::{begin, hold, plan, session};

const SLOTS: u16 = 8;
const LOOK: Duration = Duration::from_millis(30);
/// Long enough for all workers to have their share.
const WHILE: Duration = Duration::from_millis(1500);

const WORK: &str = "CREATE TABLE IF NOT EXISTS work (id bigserial, run int, slot int, is_committed bool)";

/// Works on slots until it is told to end, and gives back what is beyond its share. `keeps`: the fault, to go on working
/// on what was given back.
async fn work(name: &'static str, worker: usize, keeps: bool, mut end: watch::Receiver<usize>) {
    let mut session = session(LocalServers::shared(), &plan(name, SLOTS)).await;
    let mut run = begin(&mut session, &format!("{name}-{worker}"), Duration::from_secs(60)).await.unwrap();
    let mut own: BTreeMap<Slot, Fence> = BTreeMap::new();
    while *end.borrow_and_update() > worker {
        let balance = run.balance(&mut session).await.unwrap();
        own.extend(balance.taken.iter().map(|held| (held.slot, held.fence)));
        for slot in balance.surplus {
            run.give_back(&mut session, slot).await.unwrap();
            if !keeps {
                own.remove(&slot);
            }
        }
        for (slot, fence) in &own {
            let transaction = session.begin().await.unwrap();
            let is_committed = match hold(&transaction, run.id(), (*slot, *fence)).await {
                Ok(_) => true,
                Err(ClusterError::SlotLost { .. }) => false,
                Err(error) => panic!("{error:?}"),
            };
            let row = "INSERT INTO work (run, slot, is_committed) VALUES ($1, $2, $3)";
            let number = i32::from(slot.0);
            transaction.sql().execute(row, &[&run.id().0, &number, &is_committed]).await.unwrap();
            transaction.commit().await.unwrap();
        }
        tokio::time::sleep(LOOK).await;
    }
    run.end(&mut session).await.unwrap();
}

/// What 1, then 4, then 2 workers have done.
struct Done {
    /// Changes of the run that works on a slot.
    changes: usize,
    /// Times that a run worked on a slot again after another one had.
    returns: usize,
    /// Work on slots that could not be committed.
    refused: usize,
}

async fn rebalanced(name: &'static str, keeps: bool) -> Done {
    let shown = session(LocalServers::shared(), &plan(name, SLOTS)).await;
    shown.client().batch_execute(WORK).await.unwrap();
    let (workers, end) = watch::channel(4);
    let mut tasks = vec![tokio::spawn(work(name, 0, keeps, end.clone()))];
    tokio::time::sleep(WHILE).await;
    tasks.extend((1..4).map(|worker| tokio::spawn(work(name, worker, keeps, end.clone()))));
    tokio::time::sleep(WHILE * 2).await;
    workers.send_replace(2);
    tokio::time::sleep(WHILE).await;
    workers.send_replace(0);
    for task in tasks {
        task.await.unwrap();
    }
    let rows = shown.client().query("SELECT slot, run, is_committed FROM work ORDER BY id", &[]).await.unwrap();
    let mut runs: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    let mut refused = 0;
    for row in rows {
        let (slot, run): (i32, i32) = (row.get(0), row.get(1));
        refused += usize::from(!row.get::<_, bool>(2));
        let runs = runs.entry(slot).or_default();
        if runs.last() != Some(&run) {
            runs.push(run);
        }
    }
    assert_eq!(runs.len(), usize::from(SLOTS));
    let changes = runs.values().map(|runs| runs.len() - 1).sum();
    let returns = runs.values().map(|runs| repeated(runs)).sum();
    Done { changes, returns, refused }
}

/// How many of these came before.
fn repeated(runs: &[i32]) -> usize {
    runs.iter().enumerate().filter(|(place, run)| runs[..*place].contains(run)).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn no_two_workers_work_on_one_slot_while_others_come_and_go() {
    let Done { changes, returns, refused } = rebalanced("rebalance", false).await;
    assert!(changes >= usize::from(SLOTS) / 2, "{changes} changes");
    // A slot may come back to a run when others have gone: once each at most, as there is one such time.
    assert!(returns <= usize::from(SLOTS), "{returns} returns in {changes} changes");
    assert_eq!(refused, 0);
    // The control: a worker that keeps what it has given back.
    let Done { returns, refused, .. } = rebalanced("keeps", true).await;
    assert!(returns > usize::from(SLOTS) && refused > 0, "{returns} returns, {refused} commits refused");
}
