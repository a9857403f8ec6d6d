//! Crawls that are made, joined, stopped and dropped.

use std::time::Duration;

use ndcrawl::cluster::{ClusterError, Connector, CrawlPlan, CrawlState, FORMAT, drop_crawl, init, open, stop};

use super::servers::LocalServers;
use super::{begin, plan, session};

fn refusal<T: std::fmt::Debug>(result: Result<T, ClusterError>) -> String {
    match result.unwrap_err() {
        ClusterError::Refused(refusal) => refusal.to_string(),
        error => panic!("{error:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn workers_that_make_one_crawl_at_once_share_it() {
    let servers = LocalServers::shared();
    let plan = plan("made_at_once", 64);
    let makers = (0..6).map(|_| {
        let plan = plan.clone();
        tokio::spawn(async move { open(&session(LocalServers::shared(), &plan).await, &plan.name).await.unwrap() })
    });
    for maker in makers.collect::<Vec<_>>() {
        let crawl = maker.await.unwrap();
        assert_eq!((crawl.plan, crawl.state, crawl.turn), (plan.clone(), CrawlState::Running, 0));
    }
    let session = session(servers, &plan).await;
    let row = session.client().query_one("SELECT count(*), max(slot) FROM slot", &[]).await.unwrap();
    assert_eq!((row.get::<_, i64>(0), row.get::<_, i32>(1)), (64, 63));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn another_plan_another_format_and_no_crawl_are_refused_with_the_remedy() {
    let servers = LocalServers::shared();
    let plan = plan("of_one_plan", 8);
    let mut session = session(servers, &plan).await;
    for (other, difference) in [
        (CrawlPlan { rendering: "2".to_owned(), ..plan.clone() }, "rendering"),
        (CrawlPlan { settings: serde_json::json!({"threshold": 0.7}), ..plan.clone() }, "configuration"),
        (CrawlPlan { slots: super::plan("x", 9).slots, ..plan.clone() }, "number of slots"),
        (CrawlPlan { turn_pages: 64, ..plan.clone() }, "size of turns"),
        (CrawlPlan { one_copy: true, ..plan.clone() }, "number of copies"),
    ] {
        let told = refusal(init(&mut session, &other).await);
        let expected = format!("there is a crawl 'of_one_plan' with another {difference}: join it");
        assert!(told.starts_with(&expected), "{told}");
    }
    session.client().execute("UPDATE crawl SET format = $1", &[&(FORMAT + 1)]).await.unwrap();
    let told = refusal(open(&session, &plan.name).await);
    let (later, own) = (FORMAT + 1, FORMAT);
    assert_eq!(
        told,
        format!(
            "the crawl 'of_one_plan' has tables of format {later}, this program has format {own}: use the version that made it"
        )
    );
    let told = refusal(open(&session, &super::plan("never_made", 1).name).await);
    assert_eq!(told, "there is no crawl 'never_made' in this database: `ndcrawl cluster init` makes one");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_crawl_is_stopped_before_it_is_dropped() {
    let servers = LocalServers::shared();
    let plan = plan("to_be_dropped", 4);
    let mut session = session(servers, &plan).await;
    let mut run = begin(&mut session, "worker", Duration::from_secs(60)).await.unwrap();
    assert_eq!(run.renew(&mut session).await.unwrap(), CrawlState::Running);
    let told = refusal(begin(&mut session, "worker", Duration::from_secs(60)).await);
    assert!(told.contains("another worker writes its archive to 'here:/archive/worker'"), "{told}");
    let told = refusal(drop_crawl(&mut session, &plan.name).await);
    assert!(told.starts_with("1 workers are at work on the crawl 'to_be_dropped': stop it first"), "{told}");
    stop(&mut session, &plan.name).await.unwrap();
    assert_eq!(run.renew(&mut session).await.unwrap(), CrawlState::Stopped);
    run.end(&mut session).await.unwrap();
    drop_crawl(&mut session, &plan.name).await.unwrap();
    let told = refusal(open(&session, &plan.name).await);
    assert!(told.starts_with("there is no crawl 'to_be_dropped'"), "{told}");
    let anew = init(&mut Connector::new(servers.address()).connect().await.unwrap(), &plan).await.unwrap();
    assert_eq!(anew.state, CrawlState::Running);
}
