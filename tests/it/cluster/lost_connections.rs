//! The network between workers, primary and standby fails: delays, cuts, and connections that swallow what they carry.

use std::time::{Duration, Instant};

use ndcrawl::cluster::{ClusterError, Connector, ServerAddress, Session};

use super::crawl::{SharedCrawl, slow};
use super::everything;
use super::forwarder::{Forwarder, Weather};
use super::servers::LocalServers;
use crate::program::Running;

/// Longer than a connection may be lost without being noticed: a first look, a second one, and a margin for a machine
/// that has much to do.
const NOTICED: Duration = Duration::from_secs(30);

/// The address of servers, by way of forwarders.
fn through(servers: &LocalServers, forwarders: &[&Forwarder]) -> String {
    let ports = forwarders.iter().map(|forwarder| format!("127.0.0.1:{}", forwarder.port));
    let password = servers.folder().join("pgpass");
    let servers = ports.collect::<Vec<_>>().join(",");
    format!("postgres://ndcrawl@{servers}/ndcrawl?passfile={}", password.display())
}

fn connector(url: &str) -> Connector {
    Connector::new(ServerAddress::from_argument(url).unwrap())
}

/// Turns and commits of slots that others can see.
async fn commits(session: &Session, crawl: &str) -> i64 {
    let statement =
        format!("SELECT (SELECT turn FROM nd_{crawl}.crawl) + (SELECT sum(commits) FROM nd_{crawl}.slot)::bigint");
    session.client().query_one(&statement, &[]).await.unwrap().get(0)
}

/// Has the standby follow the primary by way of a forwarder.
async fn replicate_through(servers: &LocalServers) -> Forwarder {
    let [primary, _] = servers.ports();
    let forwarder = Forwarder::to(primary).await;
    let file = servers.folder().join("standby/postgresql.auto.conf");
    let text = std::fs::read_to_string(&file).unwrap();
    let (before, after) = (format!("port={primary} "), format!("port={} ", forwarder.port));
    assert!(text.contains(&before), "{text}");
    std::fs::write(&file, text.replace(&before, &after)).unwrap();
    servers.run("stop-standby");
    servers.run("start-standby");
    servers.run("start");
    forwarder
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_connection_that_swallows_all_is_noticed() {
    let servers = LocalServers::shared();
    let forwarder = Forwarder::to(servers.ports()[0]).await;
    let connector = connector(&through(servers, &[&forwarder]));
    let watched = connector.connect().await.unwrap();
    let unwatched = tokio_postgres_client(servers, forwarder.port).await;
    forwarder.set(Weather::Swallowing);
    let began = Instant::now();
    let asked = async {
        let lost = watched.client().query_one("SELECT 1", &[]).await;
        (lost, began.elapsed())
    };
    let clearing = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        forwarder.set(Weather::Fair);
    };
    let control = async { tokio::time::timeout(NOTICED, unwatched.query_one("SELECT 1", &[])).await };
    let ((lost, took), (), control) = tokio::join!(asked, clearing, control);
    let lost = ClusterError::Query { doing: "count to one", source: lost.unwrap_err() };
    assert!(lost.is_passing(), "{}", everything(&lost));
    assert!(took < NOTICED, "{took:?}");
    crate::needs::say(&format!("a connection that swallows all was noticed after {took:?}"));
    // The control: whoever waits for an answer alone waits for ever.
    assert!(control.is_err(), "{control:?}");
    connector.connect().await.unwrap();

    // A server that swallows the greeting is given up, too, and the next one is asked.
    forwarder.set(Weather::Swallowing);
    let silent = connector.connect().await.unwrap_err();
    assert!(matches!(silent, ClusterError::Silent { .. }) && silent.is_passing(), "{}", everything(&silent));
    assert!(everything(&silent).contains("takes the connection and does not answer"), "{}", everything(&silent));
    let other = Forwarder::to(servers.ports()[0]).await;
    let connector = self::connector(&through(servers, &[&forwarder, &other]));
    connector.connect().await.unwrap();
    let began = Instant::now();
    connector.connect().await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(5), "the server that answered is asked first: {:?}", began.elapsed());
}

/// A client without anything of this program.
async fn tokio_postgres_client(servers: &LocalServers, port: u16) -> tokio_postgres::Client {
    let text = format!("postgres://ndcrawl:{}@127.0.0.1:{port}/ndcrawl", servers.password());
    let (client, connection) = tokio_postgres::connect(&text, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_statement_that_takes_long_is_waited_for() {
    let session = Connector::new(LocalServers::shared().address()).connect().await.unwrap();
    let began = Instant::now();
    session.client().query_one("SELECT pg_sleep(9)", &[]).await.unwrap();
    assert!(began.elapsed() >= Duration::from_secs(9));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_crawl_goes_on_after_connections_were_slow_cut_and_swallowed() {
    let crawl = SharedCrawl::new("weather", slow(41, 240));
    let [primary, standby] = crawl.servers.ports();
    let (first, second) = (Forwarder::to(primary).await, Forwarder::to(standby).await);
    let url = through(&crawl.servers, &[&first, &second]);
    let workers: Vec<Running> =
        vec![crawl.worker_at(1, &url, &[]), crawl.worker_at(2, &url, &[]), crawl.worker(3, &[])];
    crawl.await_pages(30);
    first.set(Weather::Slow(Duration::from_millis(15)));
    crawl.await_pages(60);
    first.cut_once().await;
    crawl.await_pages(90);
    // For less than a lease, so that the runs live on with connections that are gone.
    first.set(Weather::Swallowing);
    tokio::time::sleep(Duration::from_millis(500)).await;
    first.set(Weather::Fair);
    crawl.await_pages(150);
    // For longer than a lease: the other worker takes their slots.
    first.set(Weather::Swallowing);
    tokio::time::sleep(Duration::from_secs(4)).await;
    first.set(Weather::Fair);
    for worker in workers {
        let finished = worker.finish();
        assert_eq!(finished.code, Some(0), "{finished:?}");
    }
    let lines = crawl.audit().await;
    crawl.assert_as_planned(&lines);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn nothing_is_committed_while_the_standby_is_out_of_reach() {
    let crawl = SharedCrawl::new("cut_off", slow(42, 200));
    let replication = replicate_through(&crawl.servers).await;
    let first = Forwarder::to(crawl.servers.ports()[0]).await;
    let url = through(&crawl.servers, &[&first]);
    let workers: Vec<Running> = vec![crawl.worker_at(1, &url, &[]), crawl.worker(2, &[])];
    let session = Connector::new(crawl.servers.administrator()).connect().await.unwrap();
    crawl.await_pages(60);
    replication.set(Weather::Swallowing);
    // What was on its way when the standby was cut off is through.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let before = commits(&session, "cut_off").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    // Commits that wait are made all the same when their connection is gone; nobody may go on from before them.
    first.cut_once().await;
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert_eq!(commits(&session, "cut_off").await, before, "commits are seen that no standby has");
    // The standby connects again.
    replication.cut_once().await;
    for worker in workers {
        let finished = worker.finish();
        assert_eq!(finished.code, Some(0), "{finished:?}");
    }
    let lines = crawl.audit().await;
    crawl.assert_as_planned(&lines);
}

/// The control of the test above: where commits do not wait for the standby, they are seen.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn without_the_wait_commits_go_on_while_the_standby_is_out_of_reach() {
    let crawl = SharedCrawl::new("careless", slow(43, 200));
    let replication = replicate_through(&crawl.servers).await;
    let session = Connector::new(crawl.servers.administrator()).connect().await.unwrap();
    super::connection::set(&session, "synchronous_standby_names", "").await;
    let worker = crawl.worker(1, &["--one-copy"]);
    crawl.await_pages(60);
    replication.set(Weather::Swallowing);
    tokio::time::sleep(Duration::from_millis(500)).await;
    let before = commits(&session, "careless").await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert!(commits(&session, "careless").await > before);
    worker.kill();
}
