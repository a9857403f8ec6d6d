//! Processes that take part in a crawl by themselves: they share the slots, judge in turn, and replace each other.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use ndcrawl::cluster::{
    ClusterError, Connector, CrawlPlan, PageDecision, RunDescription, RunId, RunStatus, RunnerSettings, Session,
    TurnRunner, init, named_page,
};
use ndcrawl::model::{PageInput, Verdict};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::replica::{PAGES_OF_A_WORKER, arriving, options, pages, replayed};
use super::servers::LocalServers;
use super::{plan, session};

const PATIENCE: Duration = Duration::from_secs(60);
const SLOTS: u16 = 8;

fn turns_of_64(name: &str) -> CrawlPlan {
    CrawlPlan { turn_pages: 64, ..plan(name, SLOTS) }
}

async fn start(servers: &LocalServers, plan: &CrawlPlan, name: &str, ttl: Duration) -> TurnRunner {
    let connector = Connector::new(servers.address());
    let mut session = connector.connect().await.unwrap();
    let crawl = init(&mut session, plan).await.unwrap();
    let archive = format!("here:/archive/{name}");
    let settings = RunnerSettings {
        description: RunDescription { name: name.to_owned(), version: "0".to_owned(), archive },
        options: options(),
        ttl,
        patience: PATIENCE,
        scratch: std::env::temp_dir(),
    };
    TurnRunner::start(connector, &crawl, settings).await.unwrap()
}

/// Waits until this is so. Gives back what is beyond the share.
async fn until(runner: &TurnRunner, is_so: impl Fn(&RunStatus) -> bool) -> RunStatus {
    let mut status = runner.status();
    loop {
        let now = status.borrow_and_update().clone();
        now.surplus.iter().for_each(|slot| runner.give_back(*slot));
        if is_so(&now) {
            return now;
        }
        let changed = tokio::time::timeout(PATIENCE, status.changed()).await;
        changed.unwrap_or_else(|_| panic!("{now:?}")).unwrap();
    }
}

fn submit(runner: &TurnRunner, pages: &[PageInput]) -> Vec<oneshot::Receiver<PageDecision>> {
    pages.iter().map(|page| runner.submit(arriving(page))).collect()
}

async fn decisions(receivers: Vec<oneshot::Receiver<PageDecision>>) -> Vec<PageDecision> {
    let mut decided = Vec::new();
    for receiver in receivers {
        decided.push(tokio::time::timeout(PATIENCE, receiver).await.expect("a decision in time").unwrap());
    }
    decided
}

/// Compares the decisions on pages that were sent in this order with those of one decider.
async fn audit(session: &Session, sent: &[(&[PageInput], &[PageDecision])]) -> BTreeMap<(RunId, i64), Verdict> {
    let mut pages: BTreeMap<RunId, Vec<PageInput>> = BTreeMap::new();
    let mut found = BTreeMap::new();
    for (own, decided) in sent {
        for (page, decision) in own.iter().zip(*decided) {
            let of_run = pages.entry(decision.run).or_default();
            assert_eq!(decision.arrival, of_run.len() as i64);
            of_run.push(page.clone());
            found.insert((decision.run, decision.arrival), decision.verdict);
        }
    }
    let expected = replayed(session, &pages).await;
    assert_eq!(found, expected);
    expected
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn runners_share_slots_and_give_the_verdicts_of_one_decider() {
    let plan = turns_of_64("runners");
    let servers = LocalServers::shared();
    let mut workers = JoinSet::new();
    for number in 0..3u32 {
        let plan = plan.clone();
        workers.spawn(async move {
            let runner =
                start(LocalServers::shared(), &plan, &format!("shared-{number}"), Duration::from_secs(2)).await;
            assert!(runner.clock().is_alive());
            let own = pages(number);
            let decided = decisions(submit(&runner, &own)).await;
            (runner, own, decided)
        });
    }
    let workers = workers.join_all().await;
    let mut held = BTreeSet::new();
    // Whoever has given slots back does not know when they are taken.
    for _ in 0..3 {
        held.clear();
        for (runner, ..) in &workers {
            let status = until(runner, |status| (2..=3).contains(&status.slots.len())).await;
            held.extend(status.slots.into_keys());
        }
        if held.len() == usize::from(SLOTS) {
            break;
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    assert_eq!(held.len(), usize::from(SLOTS), "{held:?}");
    let session = session(servers, &plan).await;
    let sent: Vec<_> = workers.iter().map(|(_, own, decided)| (own.as_slice(), decided.as_slice())).collect();
    let verdicts = audit(&session, &sent).await;
    let near = verdicts.values().filter(|verdict| matches!(verdict, Verdict::NearDuplicate { .. })).count();
    assert!(near > PAGES_OF_A_WORKER / 3, "{near} near-duplicates of pages of other workers");

    // Whoever has a duplicate can name the page that it repeats.
    for (_, own, decided) in &workers {
        for (page, decision) in own.iter().zip(decided).step_by(17) {
            let named = named_page(&session, decision.sequence).await.unwrap().unwrap();
            assert_eq!((named.page, named.verdict), (page.page, decision.verdict));
            assert_eq!(named.facts, arriving(page).facts);
        }
    }
    let beyond = verdicts.len() as u32;
    assert_eq!(named_page(&session, ndcrawl::model::Sequence(beyond)).await.unwrap(), None);

    // A page that was delivered before has its number already, and the numbers behind it stay dense.
    let [first, second, _] = &workers[..] else { panic!() };
    let again = decisions(submit(&first.0, &second.1[..3])).await;
    assert!(again.iter().zip(&second.2).all(|(again, before)| again.redelivered && again.sequence == before.sequence));
    let last = decisions(submit(&first.0, &pages(9)[1..2])).await[0];
    assert_eq!(last.sequence.0, beyond);
    assert_eq!(named_page(&session, last.sequence).await.unwrap().unwrap().page, pages(9)[1].page);
    for (runner, ..) in workers {
        runner.end().await.unwrap();
    }
}

/// A runner is gone without clean-up, with its slots and its office. Its slots are taken, and verdicts go on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn the_slots_of_a_killed_runner_are_taken_and_verdicts_go_on() {
    let plan = turns_of_64("killed_runner");
    let (servers, ttl) = (LocalServers::shared(), Duration::from_secs(1));
    let killed = start(servers, &plan, "killed", ttl).await;
    let (first, second, third) = (pages(1), pages(2), pages(3));
    let before = decisions(submit(&killed, &first)).await;
    let stays = start(servers, &plan, "stays", ttl).await;
    until(&killed, |status| status.slots.len() == 4).await;
    until(&stays, |status| status.slots.len() == 4).await;
    let during = decisions(submit(&stays, &second)).await;
    let lost = submit(&killed, &third[..1]);
    drop(killed);
    let begin = Instant::now();
    let after = decisions(submit(&stays, &third)).await;
    let status = until(&stays, |status| status.slots.len() == usize::from(SLOTS)).await;
    assert!(begin.elapsed() < PATIENCE);
    assert!(status.slots.values().filter(|held| held.fence.0 > 1).count() >= 4, "{status:?}");
    let session = session(servers, &plan).await;
    let mut sent = vec![(first.as_slice(), before.as_slice()), (&second, &during), (&third, &after)];
    // What a killed run has sent is judged all the same, if it has come so far.
    let killed_run = before[0].run;
    let arrived = ndcrawl::cluster::arrived(&session, killed_run).await.unwrap();
    drop(lost);
    if arrived > first.len() as i64 {
        let repeated = after[0];
        let decision = PageDecision { run: killed_run, arrival: first.len() as i64, ..repeated };
        let decision = std::slice::from_ref(Box::leak(Box::new(decision)));
        sent.push((&third[..1], decision));
    }
    audit(&session, &sent).await;
    stays.end().await.unwrap();
}

/// A run whose lease has run out begins anew, and so does one that is ahead of the log: those who wait are told, and the
/// next run judges on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_lost_run_and_a_replaced_log_begin_anew() {
    let plan = turns_of_64("lost_runner");
    let servers = LocalServers::start();
    let runner = start(&servers, &plan, "lost", Duration::from_secs(2)).await;
    let own = pages(5);
    let mut judged = decisions(submit(&runner, &own[..100])).await.len();
    let session = session(&servers, &plan).await;
    for sql in [
        "UPDATE run SET until = clock_timestamp()",
        // As after a failover to a standby that was behind.
        "UPDATE turn SET attempt = attempt + 1 WHERE number = (SELECT turn FROM crawl); \
         SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
         WHERE application_name = 'ndcrawl' AND pid <> pg_backend_pid()",
    ] {
        let old = until(&runner, |status| status.slots.len() == usize::from(SLOTS)).await;
        session.client().batch_execute(sql).await.unwrap();
        let is_next = |status: &RunStatus| status.run.is_some() && status.run != old.run;
        let new = until(&runner, |status| is_next(status) && status.slots.len() == usize::from(SLOTS)).await;
        assert!(new.slots.iter().all(|(slot, held)| held.fence > old.slots[slot].fence), "{new:?}");
        let after = decisions(submit(&runner, &own[judged..judged + 100])).await;
        assert_eq!((after[0].run, after[0].sequence.0), (new.run.unwrap(), judged as u32));
        judged += after.len();
    }
    runner.end().await.unwrap();
}

/// The primary is killed while pages are under way; the standby takes over. Each page is decided once, in one order.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn runners_survive_the_primary() {
    let servers = LocalServers::start();
    let plan = turns_of_64("runners_survive");
    let mut runners = Vec::new();
    for number in 0..2u32 {
        runners.push((
            start(&servers, &plan, &format!("survivor-{number}"), Duration::from_secs(30)).await,
            pages(number),
        ));
    }
    let mut waiting = Vec::new();
    for (runner, own) in &runners {
        waiting.push(submit(runner, &own[..150]));
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    servers.run("kill-primary");
    servers.run("promote");
    for ((runner, own), waiting) in runners.iter().zip(&mut waiting) {
        waiting.extend(submit(runner, &own[150..]));
    }
    let mut decided = Vec::new();
    for waiting in waiting {
        decided.push(decisions(waiting).await);
    }
    let session = session(&servers, &plan).await;
    let sent: Vec<_> =
        runners.iter().zip(&decided).map(|((_, own), decided)| (own.as_slice(), decided.as_slice())).collect();
    audit(&session, &sent).await;
}

/// An archive that another process writes is refused at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn two_runners_do_not_share_an_archive() {
    let plan = turns_of_64("one_archive");
    let servers = LocalServers::shared();
    let runner = start(servers, &plan, "same", Duration::from_secs(5)).await;
    let crawl = init(&mut Connector::new(servers.address()).connect().await.unwrap(), &plan).await.unwrap();
    let description =
        RunDescription { name: "same".to_owned(), version: "0".to_owned(), archive: "here:/archive/same".to_owned() };
    let settings = RunnerSettings {
        description,
        options: options(),
        ttl: PATIENCE,
        patience: PATIENCE,
        scratch: std::env::temp_dir(),
    };
    let refused = TurnRunner::start(Connector::new(servers.address()), &crawl, settings).await;
    assert!(matches!(refused, Err(ClusterError::Refused(_))));
    runner.end().await.unwrap();
}

/// Whatever a task of an ending run meets, no further run begins: nobody would end it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_runner_that_cannot_say_that_it_ends_ends() {
    let plan = turns_of_64("ending");
    let servers = LocalServers::start();
    let runner = start(&servers, &plan, "ending", Duration::from_secs(30)).await;
    until(&runner, |status| status.slots.len() == usize::from(SLOTS)).await;
    let session = session(&servers, &plan).await;
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
               WHERE datname = current_database() AND pid <> pg_backend_pid()";
    session.client().query(cut, &[]).await.unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(20), runner.end()).await;
    ended.expect("no further run has begun").unwrap();
}
