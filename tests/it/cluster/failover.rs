//! The primary dies, and commits whose wait for the standby is ended.

use std::time::{Duration, Instant};

use ndcrawl::cluster::{ClusterError, Connector, Session};

use super::servers::LocalServers;
use super::{begin, hold, plan, session};

const ROWS: &str = "CREATE TABLE confirmed (number bigint PRIMARY KEY)";

/// Commits a number. `wait`: what the commit waits for.
async fn commit(session: &mut Session, number: i64, wait: &str) -> Result<(), ClusterError> {
    let transaction = session.begin().await?;
    let done = async {
        transaction.sql().batch_execute(&format!("SET LOCAL synchronous_commit = {wait}")).await?;
        transaction.sql().execute("INSERT INTO confirmed VALUES ($1)", &[&number]).await
    };
    done.await.map_err(|source| ClusterError::Query { doing: "insert a number", source })?;
    transaction.commit().await
}

async fn numbers(session: &Session) -> Vec<i64> {
    let rows = session.client().query("SELECT number FROM confirmed ORDER BY number", &[]).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn nothing_that_was_confirmed_is_lost_with_the_primary() {
    let servers = LocalServers::start();
    let plan = plan("survives", 4);
    let mut writer = session(&servers, &plan).await;
    writer.client().batch_execute(ROWS).await.unwrap();
    let mut owner = session(&servers, &plan).await;
    let mut run = begin(&mut owner, "worker", Duration::from_secs(60)).await.unwrap();
    let taken = run.balance(&mut owner).await.unwrap().taken;
    let writing = tokio::spawn(async move {
        let mut confirmed = Vec::new();
        for number in 0.. {
            match commit(&mut writer, number, "on").await {
                Ok(()) => confirmed.push(number),
                Err(error) => {
                    assert!(error.is_passing(), "{error:?}");
                    break;
                }
            }
        }
        confirmed
    });
    tokio::time::sleep(Duration::from_secs(2)).await;
    servers.run("kill-primary");
    let confirmed = writing.await.unwrap();
    let connector = Connector::new(servers.address());
    let waiting = tokio::spawn({
        let connector = connector.clone();
        async move { connector.connect_patiently(Duration::from_secs(60)).await }
    });
    tokio::time::sleep(Duration::from_millis(500)).await;
    let promoted = Instant::now();
    servers.run("promote");
    let mut session = waiting.await.unwrap().unwrap();
    crate::needs::say(&format!(
        "{} commits, then the primary was killed; a session {:?} after the promotion began",
        confirmed.len(),
        promoted.elapsed()
    ));
    session.use_crawl(&plan.name).await.unwrap();
    let kept = numbers(&session).await;
    assert!(confirmed.len() > 20 && confirmed.iter().all(|number| kept.binary_search(number).is_ok()));
    // The run and its fences have survived, and go on.
    run.renew(&mut session).await.unwrap();
    let transaction = session.begin().await.unwrap();
    let held = hold(&transaction, run.id(), (taken[0].slot, taken[0].fence)).await.unwrap();
    assert_eq!(held, taken[0].commits + 1);
    transaction.commit().await.unwrap();
}

/// The control of the test above: what does not wait for the standby is lost, and the look at the numbers notices.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn without_the_wait_for_the_standby_commits_are_lost() {
    let servers = LocalServers::start();
    let plan = plan("forgets", 1);
    let mut writer = session(&servers, &plan).await;
    writer.client().batch_execute(ROWS).await.unwrap();
    commit(&mut writer, 0, "on").await.unwrap();
    servers.run("stop-standby");
    for number in 1..10 {
        commit(&mut writer, number, "local").await.unwrap();
    }
    servers.run("kill-primary");
    servers.run("start-standby");
    servers.run("promote");
    let session = Connector::new(servers.address()).connect_patiently(Duration::from_secs(30)).await.unwrap();
    session.use_crawl(&plan.name).await.unwrap();
    assert_eq!(numbers(&session).await, [0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_commit_that_has_not_waited_for_the_standby_is_an_error() {
    let servers = LocalServers::start();
    let plan = plan("half_done", 1);
    let mut writer = session(&servers, &plan).await;
    writer.client().batch_execute(ROWS).await.unwrap();
    let administrator = Connector::new(servers.administrator()).connect().await.unwrap();
    let pid: i32 = writer.client().query_one("SELECT pg_backend_pid()", &[]).await.unwrap().get(0);
    servers.run("stop-standby");
    let writing = tokio::spawn(async move { (commit(&mut writer, 1, "on").await, writer) });
    end_wait(&administrator, pid).await;
    let (result, writer) = writing.await.unwrap();
    assert!(matches!(result, Err(ClusterError::Unreplicated)), "{result:?}");

    // The control: the server reports the same as done.
    let careless = async { writer.client().execute("INSERT INTO confirmed VALUES (2)", &[]).await };
    let (told, ()) = tokio::join!(careless, end_wait(&administrator, pid));
    assert_eq!(told.unwrap(), 1);
    assert_eq!(numbers(&writer).await, [1, 2]);
}

/// Ends the wait of a commit for the standby, as an impatient administrator does.
async fn end_wait(administrator: &Session, pid: i32) {
    let waits = "SELECT wait_event = 'SyncRep' FROM pg_stat_activity WHERE pid = $1";
    loop {
        let row = administrator.client().query_one(waits, &[&pid]).await.unwrap();
        if row.get::<_, Option<bool>>(0) == Some(true) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    administrator.client().query_one("SELECT pg_cancel_backend($1)", &[&pid]).await.unwrap();
}
