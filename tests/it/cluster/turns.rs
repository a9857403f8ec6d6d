//! Arrivals and turns: dense numbers, one order, processes that freeze and servers that die.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use ndcrawl::cluster::{
    ArrivalChunk, ArrivalRange, Attempt, ClusterError, Connector, RunId, Session, TurnContent, TurnState, all_arrived,
    arrived, is_in_log, read_arrivals, send_arrivals, turns_behind,
};
use ndcrawl::seeded::SeededRng;

use super::servers::LocalServers;
use super::{begin, plan, session};

const LONG: Duration = Duration::from_secs(60);

fn chunk(run: RunId, first: i64, count: i32) -> ArrivalChunk {
    ArrivalChunk { run, first, count, body: format!("{} {first} {count}", run.0).into_bytes() }
}

/// What is not judged yet, at most so many pages of each run.
async fn waiting(session: &Session, most: i64) -> Vec<ArrivalRange> {
    let state = TurnState::read(session).await.unwrap();
    let range = |(run, next): (RunId, i64)| {
        let first = state.judged(run);
        ArrivalRange { run, first, count: (next - first).min(most) as i32 }
    };
    all_arrived(session).await.unwrap().into_iter().map(range).filter(|range| range.count > 0).collect()
}

/// Decides these arrivals, of which none was decided before, after a pause. Returns whether it was this run's turn.
async fn decide(
    session: &mut Session,
    (run, attempt): (RunId, Attempt),
    ranges: &[ArrivalRange],
    body: &[u8],
    (pause, patience): (Duration, Duration),
) -> Result<bool, ClusterError> {
    let transaction = session.begin().await?;
    let Some(state) = TurnState::lock(&transaction, run, patience).await? else { return Ok(false) };
    if !ranges.iter().all(|range| state.judged(range.run) == range.first) {
        return Ok(false);
    }
    tokio::time::sleep(pause).await;
    let pages = ranges.iter().map(|range| range.count).sum();
    state.enter_turn(&transaction, ranges, TurnContent { attempt, pages, body, concluded: None }).await?;
    transaction.commit().await?;
    Ok(true)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_turn_goes_from_arrivals_to_the_log() {
    let mut session = session(LocalServers::shared(), &plan("one_turn", 2)).await;
    let run = begin(&mut session, "worker", LONG).await.unwrap();
    for (first, count) in [(0, 3), (3, 2), (3, 2)] {
        send_arrivals(&mut session, &chunk(run.id(), first, count)).await.unwrap();
    }
    assert_eq!(arrived(&session, run.id()).await.unwrap(), 5);
    let read = read_arrivals(&session, run.id(), 0, 10).await.unwrap();
    assert_eq!(read, [chunk(run.id(), 0, 3), chunk(run.id(), 3, 2)]);

    let listener = super::session(LocalServers::shared(), &plan("one_turn", 2)).await;
    listener.listen(&plan("one_turn", 2).name).await.unwrap();
    let ranges = waiting(&session, 100).await;
    let now = (Duration::ZERO, LONG);
    assert!(decide(&mut session, (run.id(), Attempt(7)), &ranges, b"all unique", now).await.unwrap());
    let waited = Instant::now();
    listener.wait_for_news(Duration::from_secs(30)).await;
    assert!(waited.elapsed() < Duration::from_secs(20), "all are told that there is a turn");
    let [turn] = &turns_behind(&session, 0, 10).await.unwrap()[..] else { panic!() };
    assert_eq!((turn.number, turn.first_page, turn.count, turn.body.as_slice()), (1, 0, 5, &b"all unique"[..]));
    assert!(is_in_log(&session, 1, Attempt(7)).await.unwrap());
    assert!(!is_in_log(&session, 1, Attempt(6)).await.unwrap() && !is_in_log(&session, 2, Attempt(7)).await.unwrap());
    // The same arrivals again are no turn.
    let state = TurnState::read(&session).await.unwrap();
    assert_eq!((state.turn, state.pages), (1, 5));
    assert!(matches!(state.check(&ranges), Err(ClusterError::Damaged(_))));
    session.client().execute("DELETE FROM arrival WHERE first = 0", &[]).await.unwrap();
    let gap = read_arrivals(&session, run.id(), 0, 10).await.unwrap_err().to_string();
    assert!(gap.contains("has no arrival 0, but 3"), "{gap}");
}

/// Who freezes while it has the log locked is passed over when its lease has run out, and commits nothing afterwards.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_frozen_process_commits_no_turn() {
    let plan = plan("frozen_decider", 1);
    let mut session = session(LocalServers::shared(), &plan).await;
    let ttl = Duration::from_millis(500);
    let mut others = super::session(LocalServers::shared(), &plan).await;
    let next = begin(&mut others, "next", LONG).await.unwrap().id();
    let frozen = begin(&mut session, "frozen", ttl).await.unwrap().id();
    send_arrivals(&mut session, &chunk(frozen, 0, 4)).await.unwrap();
    let ranges = waiting(&session, 2).await;
    let (of_frozen, asleep) = (ranges.clone(), (ttl * 4, ttl));
    let freezing = tokio::spawn(async move {
        decide(&mut session, (frozen, Attempt(1)), &of_frozen, b"by the frozen one", asleep).await
    });
    tokio::time::sleep(ttl / 2).await;
    let now = (Duration::ZERO, LONG);
    let by_next =
        async |others: &mut Session| decide(others, (next, Attempt(2)), &ranges, b"by the next one", now).await;
    assert!(!by_next(&mut others).await.unwrap(), "the first one has the log");
    tokio::time::sleep(ttl).await;
    assert!(by_next(&mut others).await.unwrap());
    let refused = freezing.await.unwrap().unwrap_err();
    assert!(refused.is_passing(), "{refused:?}");
    let log = turns_behind(&others, 0, 10).await.unwrap();
    assert_eq!(log.iter().map(|turn| turn.body.as_slice()).collect::<Vec<_>>(), [b"by the next one"]);

    // A run whose lease has run out does not even get the log.
    let mut session = super::session(LocalServers::shared(), &plan).await;
    let rest = waiting(&session, 2).await;
    let dead = decide(&mut session, (frozen, Attempt(3)), &rest, b"by a dead one", now).await.unwrap_err();
    assert!(matches!(dead, ClusterError::RunLost(_)), "{dead:?}");
}

/// A worker that sends arrivals, decides when it may, and freezes now and then. Its verdicts name the ranges.
async fn live(worker: u64, until: Instant) {
    let plan = plan("many_deciders", 1);
    let mut random = SeededRng::new(worker, "lives of deciders");
    let ttl = Duration::from_millis(400);
    for life in 0.. {
        let mut session = session(LocalServers::shared(), &plan).await;
        let mut run = begin(&mut session, &format!("decider-{worker}-{life}"), ttl).await.unwrap();
        let (mut next, mut attempts) = (0, 0);
        while Instant::now() < until {
            if random.below(25) == 0 {
                tokio::time::sleep(ttl * 2).await;
            }
            let count = 1 + random.below(5) as i32;
            match send_arrivals(&mut session, &chunk(run.id(), next, count)).await {
                Ok(()) => next += i64::from(count),
                // A dead run sends nothing.
                Err(ClusterError::RunLost(_)) => break,
                Err(error) => panic!("{error:?}"),
            }
            attempts += 1;
            let ranges = waiting(&session, 7).await;
            let verdicts: Vec<[i64; 3]> =
                ranges.iter().map(|range| [i64::from(range.run.0), range.first, i64::from(range.count)]).collect();
            let pause = if random.below(20) == 0 { ttl * 2 } else { Duration::ZERO };
            let name = (run.id(), Attempt(i64::from(run.id().0) << 32 | attempts));
            let body = serde_json::to_vec(&verdicts).unwrap();
            match decide(&mut session, name, &ranges, &body, (pause, ttl)).await {
                Ok(_) => {}
                // Its session has ended, or its lease.
                Err(error) if error.is_passing() || matches!(error, ClusterError::RunLost(_)) => break,
                Err(error) => panic!("{error:?}"),
            }
            if matches!(run.renew(&mut session).await, Err(ClusterError::RunLost(_))) {
                break;
            }
        }
        if Instant::now() >= until {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn processes_that_freeze_leave_one_order_with_each_arrival_once() {
    let session = session(LocalServers::shared(), &plan("many_deciders", 1)).await;
    let until = Instant::now() + Duration::from_secs(10);
    let workers: Vec<_> = (0..4).map(|worker| tokio::spawn(live(worker, until))).collect();
    for worker in workers {
        worker.await.unwrap();
    }
    let turns = turns_behind(&session, 0, i64::MAX).await.unwrap();
    let (mut judged, mut pages): (BTreeMap<i64, i64>, i64) = (BTreeMap::new(), 0);
    let mut runs = Vec::new();
    for turn in &turns {
        assert_eq!(turn.first_page, pages);
        pages += i64::from(turn.count);
        runs.push(turn.attempt.0 >> 32);
        for [run, first, count] in serde_json::from_slice::<Vec<[i64; 3]>>(&turn.body).unwrap() {
            let next = judged.entry(run).or_default();
            assert_eq!(first, *next, "turn {} of run {run}", turn.number);
            *next += count;
        }
    }
    let state = TurnState::read(&session).await.unwrap();
    assert_eq!((state.turn, state.pages), (turns.len() as i64, pages));
    runs.sort_unstable();
    runs.dedup();
    assert!(turns.len() > 30 && runs.len() > 3, "{} turns by {} runs", turns.len(), runs.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn turns_and_their_arrivals_survive_the_primary_and_the_tail_is_sent_again() {
    let servers = LocalServers::start();
    let plan = plan("turns_survive", 1);
    let mut session = session(&servers, &plan).await;
    let run = begin(&mut session, "worker", LONG).await.unwrap().id();
    for first in 0..50 {
        send_arrivals(&mut session, &chunk(run, first, 1)).await.unwrap();
    }
    let (ranges, now) = (waiting(&session, i64::MAX).await, (Duration::ZERO, LONG));
    assert!(decide(&mut session, (run, Attempt(1)), &ranges, b"fifty", now).await.unwrap());
    // What is committed without waiting while the standby is away is lost with the primary.
    servers.run("stop-standby");
    for first in 50..60 {
        send_arrivals(&mut session, &chunk(run, first, 1)).await.unwrap();
    }
    servers.run("kill-primary");
    servers.run("start-standby");
    servers.run("promote");
    let mut session = Connector::new(servers.address()).connect_patiently(Duration::from_secs(30)).await.unwrap();
    session.use_crawl(&plan.name).await.unwrap();
    assert!(is_in_log(&session, 1, Attempt(1)).await.unwrap());
    let kept = arrived(&session, run).await.unwrap();
    assert_eq!(kept, 50, "what a turn judges is durable with it, what is behind it was lost");
    for first in kept..60 {
        send_arrivals(&mut session, &chunk(run, first, 1)).await.unwrap();
    }
    let chunks = read_arrivals(&session, run, 0, 100).await.unwrap();
    assert_eq!(chunks, (0..60).map(|first| chunk(run, first, 1)).collect::<Vec<_>>());
    let state = TurnState::read(&session).await.unwrap();
    assert_eq!((state.turn, state.judged(run)), (1, 50));
    let ranges = waiting(&session, i64::MAX).await;
    assert!(decide(&mut session, (run, Attempt(2)), &ranges, b"ten", now).await.unwrap());
    assert_eq!(turns_behind(&session, 1, 1).await.unwrap()[0].first_page, 50);
}
