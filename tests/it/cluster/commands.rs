//! The commands on shared crawls, by the program: what they say, what they refuse, and what they never show.

use std::time::Duration;

use ndcrawl::cluster::{Connector, FORMAT, Session};

use super::begin;
use super::connection::{Pooler, set};
use super::servers::LocalServers;
use crate::needs::{Program, has_for_part};
use crate::program::{Finished, Place};

fn init(place: &Place, url: &str, more: &[&str]) -> Finished {
    place.run(["cluster", "init", url]).args(more).finish()
}

/// Checks that a command was refused with this remedy, and without a password.
#[track_caller]
fn assert_refused(finished: Finished, message: &str, servers: &LocalServers) {
    let Finished { stdout, stderr, .. } = finished.expect_code(2);
    assert!(stdout.is_empty() && stderr.starts_with("error: "), "{stderr}");
    assert!(stderr.contains(message), "{stderr}");
    assert!(!stderr.contains(&servers.password()), "{stderr}");
}

async fn crawl_session(servers: &LocalServers, name: &str) -> Session {
    let session = Connector::new(servers.address()).connect().await.unwrap();
    session.client().batch_execute(&format!("SET search_path = nd_{name}")).await.unwrap();
    session
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_crawl_is_made_shown_stopped_and_dropped() {
    let (servers, place) = (LocalServers::shared(), Place::new());
    let (url, name) = (servers.url(), ["--cluster-name", "by_commands"]);
    let made = init(&place, &url, &name).expect_code(0).stderr;
    assert!(made.contains("the crawl 'by_commands' is ready: turns of 64 pages"), "{made}");
    init(&place, &url, &name).expect_code(0);
    let status = |more: &[&str]| place.run(["status", &url]).args(name).args(more).finish();
    let shown = status(&[]).expect_code(0).stdout;
    let expected = "crawl 'by_commands': running\n0 pages decided in 0 turns, 0.0 pages/s in the last minute\n\
                    no page waits for its verdict\n0 workers, 0 of 1 slots held\n";
    assert_eq!(shown, expected);

    let mut session = crawl_session(servers, "by_commands").await;
    // As a crawl of hosts has them.
    let slots = "UPDATE crawl SET slots = 64; INSERT INTO slot (slot) SELECT generate_series(1, 63)";
    session.client().batch_execute(slots).await.unwrap();
    let aged = "UPDATE slot SET freed = clock_timestamp() - interval '75 s' WHERE slot IN (4, 9)";
    session.client().execute(aged, &[]).await.unwrap();
    let mut run = begin(&mut session, "by_commands", Duration::from_secs(60)).await.unwrap();
    let json = status(&["--json"]).expect_code(0).json();
    assert_eq!((&json["slots_without_owner"], &json["state"]), (&serde_json::json!([4, 9]), &"running".into()));
    let shown = status(&[]).expect_code(0).stdout;
    assert!(shown.contains("warning: slots 4, 9 have had no owner for 1 min "), "{shown}");
    assert!(shown.ends_with(" s: nobody fetches their URLs until a worker joins\n"), "{shown}");
    run.balance(&mut session).await.unwrap();
    let shown = status(&[]).expect_code(0).stdout;
    assert!(shown.contains("1 worker, 64 of 64 slots held\n  run 1 on by_commands: version 0, 64 slots\n"), "{shown}");
    assert!(!shown.contains("warning"), "{shown}");

    let command = |command: &str| place.run(["cluster", command, &url]).args(name).finish();
    assert_refused(command("drop"), "1 workers are at work on the crawl 'by_commands': stop it first", servers);
    assert!(command("stop").expect_code(0).stderr.contains("is stopped"));
    assert!(status(&[]).expect_code(0).stdout.starts_with("crawl 'by_commands': stopped\n"));
    run.end(&mut session).await.unwrap();
    assert!(command("drop").expect_code(0).stderr.contains("is deleted"));
    for gone in [status(&[]), command("stop"), command("drop")] {
        assert_refused(gone, "there is no crawl 'by_commands' in this database: `ndcrawl cluster init`", servers);
    }
    let unnamed = place.run(["cluster", "drop", &url]).finish().expect_code(2).stderr;
    assert!(unnamed.contains("--cluster-name"), "{unnamed}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn another_crawl_and_settings_that_cannot_be_divided_are_refused() {
    let (servers, place) = (LocalServers::shared(), Place::new());
    let (url, name) = (servers.url(), ["--cluster-name", "refusals"]);
    init(&place, &url, &name).expect_code(0);
    for (more, message) in [
        (&["-t", "0.9"][..], "another configuration: join it with the same settings, or choose another name"),
        (&["--turn", "32"], "another size of turns"),
        (&["--one-copy"], "another number of copies"),
        (&["--keep", "longest"], "--keep cannot be shared by several processes\nhint: several processes keep"),
        (&["--against", "x"], "--against cannot be shared by several processes\nhint: give the earlier pages"),
    ] {
        assert_refused(init(&place, &url, &[&name[..], more].concat()), message, servers);
    }
    let refused = init(&place, &url, &["--cluster-name", "News"]);
    assert_refused(refused, "'News' is no name of a crawl: use at most 40 of", servers);
    let password = servers.password();
    let with_password = url.replace("ndcrawl@", &format!("ndcrawl:{password}@"));
    assert_refused(init(&place, &with_password, &name), "password", servers);
    assert_refused(place.run(["status", &with_password]).finish(), "password", servers);
    assert_refused(init(&place, "mysql://h/x", &name), "postgres://", servers);

    let session = crawl_session(servers, "refusals").await;
    session.client().execute("UPDATE crawl SET rendering = 'older'", &[]).await.unwrap();
    assert_refused(init(&place, &url, &name), "another rendering: join it with", servers);
    session.client().execute("UPDATE crawl SET format = 99", &[]).await.unwrap();
    let format = format!("tables of format 99, this program has format {FORMAT}: use the version that made it");
    assert_refused(init(&place, &url, &name), &format, servers);
    assert_refused(place.run(["status", &url]).args(name).finish(), &format, servers);
}

/// A server that is too old is not installed here: `server_check` has that test.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn servers_that_could_lose_a_crawl_are_refused_by_the_program() {
    let (servers, place) = (LocalServers::start(), Place::new());
    let url = servers.url();
    let [primary, _] = servers.ports();
    let standby = url.replace(&format!("127.0.0.1:{primary},"), "");
    assert_refused(init(&place, &standby, &[]), "those that answer are standbys: start the primary, promote", &servers);
    let administrator = Connector::new(servers.administrator()).connect().await.unwrap();
    for setting in ["fsync", "full_page_writes"] {
        set(&administrator, setting, "off").await;
        let message = format!("{setting} is off on this server");
        assert_refused(init(&place, &url, &["--one-copy"]), &message, &servers);
        set(&administrator, setting, "on").await;
    }
    if has_for_part(&[Program("pgbouncer")]) {
        let pooler = Pooler::start(&servers, "transaction");
        pooler.address();
        let pooled = format!("postgres://ndcrawl@127.0.0.1:{}/ndcrawl", pooler.port);
        assert_refused(init(&place, &pooled, &[]), "name the server itself, or switch the pooler", &servers);
    }
    servers.run("stop-standby");
    assert_refused(init(&place, &url, &[]), "start the standby, or accept one copy with --one-copy", &servers);
    set(&administrator, "synchronous_standby_names", "").await;
    assert_refused(init(&place, &url, &[]), "set synchronous_standby_names and start a standby, or", &servers);
    init(&place, &url, &["--one-copy"]).expect_code(0);
    servers.run("kill-primary");
    let gone = init(&place, &url, &[]).expect_code(2).stderr;
    assert!(gone.contains("cannot connect to postgres://127.0.0.1:"), "{gone}");
    assert!(!gone.contains(&servers.password()), "{gone}");
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
fn a_worker_ends_by_the_class_of_its_error() {
    let (servers, place) = (LocalServers::shared(), Place::new());
    let nobody = "postgres://ndcrawl@127.0.0.1:1/ndcrawl";
    place.write("manifest", "input.jsonl\n");
    for run in [
        place.run(["worker", nobody]),
        place.run(["--cluster", nobody, "http://127.0.0.1:1/", "--allow-private", "--no-config", "-o", "out"]),
        place.run(["dedup", "--cluster", nobody, "manifest", "-o", "kept"]),
    ] {
        let passing = run.finish().expect_code(11).stderr;
        assert!(
            passing.starts_with("error: cannot connect to ") && passing.contains("\nhint: start it again"),
            "{passing}"
        );
    }
    // The control: what no further attempt changes.
    let broken = place.run(["worker", &servers.url(), "--cluster-name", "nowhere"]).finish().expect_code(2).stderr;
    assert!(broken.contains("there is no crawl 'nowhere'") && !broken.contains("start it again"), "{broken}");
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
fn servers_that_were_never_started_have_no_address() {
    let place = Place::new();
    let told = place.run(["cluster", "local", "url", "nowhere"]).finish().expect_code(2);
    let says = "nowhere: ndcrawl cluster local start makes them";
    assert!(told.stdout.is_empty() && told.stderr.contains(says), "{told:?}");
}
