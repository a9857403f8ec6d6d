//! Pages that several processes may fetch: never more than the limit, all together.

use std::time::Duration;

use ndcrawl::cluster::{Run, Session, grant_pages, return_pages};

use super::servers::LocalServers;
use super::{begin, plan, session};

const LIMIT: u64 = 700;
const WORKERS: usize = 3;

/// Fetches this many pages: they are committed to a slot, and used of the grants of the run.
async fn fetch(session: &mut Session, run: &Run, pages: u64) {
    let transaction = session.begin().await.unwrap();
    let pages = i64::try_from(pages).unwrap();
    let slot = "UPDATE slot SET pages = pages + $1 WHERE slot = 0";
    transaction.sql().execute(slot, &[&pages]).await.unwrap();
    let used = "UPDATE run SET used = used + $1 WHERE id = $2";
    transaction.sql().execute(used, &[&pages, &run.id().0]).await.unwrap();
    transaction.commit().await.unwrap();
}

async fn fetched(session: &Session) -> u64 {
    let row = session.client().query_one("SELECT sum(pages)::bigint FROM slot", &[]).await.unwrap();
    u64::try_from(row.get::<_, i64>(0)).unwrap()
}

/// Has a worker fetch pages until there are no more for it. `is_granted`: whether it asks for grants, or looks only at
/// what is committed.
async fn work(name: &'static str, worker: usize, is_granted: bool) {
    let mut session = session(LocalServers::shared(), &plan(name, 1)).await;
    let run = begin(&mut session, &format!("{name}-{worker}"), Duration::from_secs(60)).await.unwrap();
    loop {
        let granted = if is_granted {
            grant_pages(&mut session, run.id(), LIMIT).await.unwrap()
        } else {
            LIMIT.saturating_sub(fetched(&session).await).min(256)
        };
        if granted == 0 {
            // What others have left comes back when they give it back.
            return_pages(&mut session, run.id()).await.unwrap();
            if fetched(&session).await >= LIMIT {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        }
        // Between the question and the commit, all others ask, too.
        tokio::time::sleep(Duration::from_millis(60)).await;
        fetch(&mut session, &run, granted).await;
    }
}

async fn fetched_by_all(name: &'static str, is_granted: bool) -> u64 {
    let workers: Vec<_> = (0..WORKERS).map(|worker| tokio::spawn(work(name, worker, is_granted))).collect();
    for worker in workers {
        worker.await.unwrap();
    }
    fetched(&session(LocalServers::shared(), &plan(name, 1)).await).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn workers_together_never_fetch_more_than_the_limit() {
    assert_eq!(fetched_by_all("grants", true).await, LIMIT);
    // The control: whoever looks only at what is committed fetches too much.
    let fetched = fetched_by_all("no_grants", false).await;
    assert!(fetched > LIMIT, "{fetched}");
}
