//! Arrivals and turns: dense numbers, one order, judges that freeze and servers that die.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use ndcrawl::cluster::{
    ArrivalChunk, ArrivalRange, ClusterError, Connector, Judge, Run, RunId, Session, TurnAnswer, TurnContent,
    all_arrived, answer_turn, answers, arrived, is_in_log, open_turn, read_arrivals, send_arrivals, turns_behind,
};
use ndcrawl::model::Slot;
use ndcrawl::seeded::SeededRng;

use super::servers::LocalServers;
use super::{begin, plan, session};

const LONG: Duration = Duration::from_secs(60);

fn chunk(run: RunId, first: i64, count: i32) -> ArrivalChunk {
    ArrivalChunk::of_all(run, first, count, format!("{} {first} {count}", run.0).into_bytes())
}

/// What is decided of arrivals of which none was decided before.
fn content<'a>(ranges: &[ArrivalRange], body: &'a [u8]) -> TurnContent<'a> {
    TurnContent { pages: ranges.iter().map(|range| range.count).sum(), body, concluded: None }
}

/// What is not judged yet, at most so many pages of each run.
async fn waiting(session: &Session, judge: &Judge, most: i64) -> Vec<ArrivalRange> {
    let all = all_arrived(session).await.unwrap();
    let range = |(run, next): (RunId, i64)| {
        let first = judge.judged(run);
        ArrivalRange { run, first, count: (next - first).min(most) as i32 }
    };
    all.into_iter().map(range).filter(|range| range.count > 0).collect()
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

    let mut judge = Judge::take(&mut session, run.id()).await.unwrap().unwrap();
    let listener = super::session(LocalServers::shared(), &plan("one_turn", 2)).await;
    listener.listen(&plan("one_turn", 2).name).await.unwrap();
    let ranges = waiting(&session, &judge, 100).await;
    let before = judge.open_turn(&mut session, &ranges).await.unwrap();
    let attempt = judge.open_turn(&mut session, &ranges).await.unwrap();
    let waited = Instant::now();
    listener.wait_for_news(Duration::from_secs(30)).await;
    assert!(waited.elapsed() < Duration::from_secs(20), "the judge has told that a turn is open");
    let opened = open_turn(&session).await.unwrap().unwrap();
    assert_eq!((opened.number, opened.attempt, &opened.ranges), (1, attempt, &ranges));
    let answer = TurnAnswer { run: run.id(), slots: vec![Slot(0), Slot(1)], body: b"nothing like it".to_vec() };
    answer_turn(&session, &opened, &answer).await.unwrap();
    answer_turn(&session, &opened, &answer).await.unwrap();
    assert_eq!(answers(&session, 1, attempt).await.unwrap(), [answer]);
    assert_eq!(answers(&session, 1, before).await.unwrap(), []);

    let turn = judge.commit_turn(&mut session, attempt, &ranges, content(&ranges, b"all unique")).await.unwrap();
    assert_eq!(turns_behind(&session, 0, 10).await.unwrap(), std::slice::from_ref(&turn));
    assert_eq!((turn.number, turn.first_page, turn.count, turn.body.as_slice()), (1, 0, 5, &b"all unique"[..]));
    assert_eq!(open_turn(&session).await.unwrap(), None);
    assert!(is_in_log(&session, 1, attempt).await.unwrap());
    assert!(!is_in_log(&session, 1, before).await.unwrap() && !is_in_log(&session, 2, attempt).await.unwrap());
    // The same arrivals again are no turn.
    assert!(matches!(judge.open_turn(&mut session, &ranges).await, Err(ClusterError::Damaged(_))));
    session.client().execute("DELETE FROM arrival WHERE first = 0", &[]).await.unwrap();
    let gap = read_arrivals(&session, run.id(), 0, 10).await.unwrap_err().to_string();
    assert!(gap.contains("has no arrival 0, but 3"), "{gap}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_frozen_judge_commits_no_turn() {
    let plan = plan("frozen_judge", 1);
    let mut session = session(LocalServers::shared(), &plan).await;
    let ttl = Duration::from_millis(500);
    let run = begin(&mut session, "frozen", ttl).await.unwrap();
    send_arrivals(&mut session, &chunk(run.id(), 0, 4)).await.unwrap();
    let mut frozen = Judge::take(&mut session, run.id()).await.unwrap().unwrap();
    let ranges = waiting(&session, &frozen, 2).await;
    let attempt = frozen.open_turn(&mut session, &ranges).await.unwrap();
    let mut others = super::session(LocalServers::shared(), &plan).await;
    let next_run = begin(&mut others, "next", LONG).await.unwrap();
    assert!(Judge::take(&mut others, next_run.id()).await.unwrap().is_none(), "the first judge is alive");
    tokio::time::sleep(ttl).await;
    let mut next = Judge::take(&mut others, next_run.id()).await.unwrap().unwrap();
    let refused =
        frozen.commit_turn(&mut session, attempt, &ranges, content(&ranges, b"by the frozen one")).await.unwrap_err();
    assert!(matches!(refused, ClusterError::JudgeLost(_)), "{refused:?}");
    let anew = next.open_turn(&mut others, &ranges).await.unwrap();
    assert!(anew > attempt);
    next.commit_turn(&mut others, anew, &ranges, content(&ranges, b"by the next one")).await.unwrap();

    // The control: the number of the last turn alone would let a judge that has read it go on.
    let careless = "UPDATE crawl SET turn = turn + 1 WHERE turn = 1";
    let transaction = session.begin().await.unwrap();
    assert_eq!(transaction.sql().execute(careless, &[]).await.unwrap(), 1);
    drop(transaction);
    let ranges = waiting(&session, &next, 2).await;
    assert!(frozen.open_turn(&mut session, &ranges).await.is_err());
    let log = turns_behind(&session, 0, 10).await.unwrap();
    assert_eq!(log.iter().map(|turn| turn.body.as_slice()).collect::<Vec<_>>(), [b"by the next one"]);
}

/// A worker that sends arrivals, judges when it may, and freezes now and then. Its verdicts name the ranges.
async fn live(worker: u64, until: Instant) {
    let mut session = session(LocalServers::shared(), &plan("many_judges", 1)).await;
    let mut random = SeededRng::new(worker, "lives of judges");
    let ttl = Duration::from_millis(400);
    for life in 0.. {
        let mut run = begin(&mut session, &format!("judge-{worker}-{life}"), ttl).await.unwrap();
        let (mut next, mut judge) = (0, None);
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
            if judge.is_none() {
                judge = match Judge::take(&mut session, run.id()).await {
                    Ok(judge) => judge,
                    Err(ClusterError::RunLost(_)) => break,
                    Err(error) => panic!("{error:?}"),
                };
            }
            if let Some(office) = &mut judge
                && !judge_once(&mut session, office, &mut random, ttl).await
            {
                judge = None;
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

/// Opens and commits a turn, freezing in between now and then. Returns whether the judge still is one.
async fn judge_once(session: &mut Session, judge: &mut Judge, random: &mut SeededRng, ttl: Duration) -> bool {
    let ranges = waiting(session, judge, 7).await;
    let attempt = match judge.open_turn(session, &ranges).await {
        Ok(attempt) => attempt,
        Err(ClusterError::JudgeLost(_)) => return false,
        Err(error) => panic!("{error:?}"),
    };
    if random.below(20) == 0 {
        tokio::time::sleep(ttl * 2).await;
    }
    let verdicts: Vec<[i64; 3]> =
        ranges.iter().map(|range| [i64::from(range.run.0), range.first, i64::from(range.count)]).collect();
    match judge.commit_turn(session, attempt, &ranges, content(&ranges, &serde_json::to_vec(&verdicts).unwrap())).await
    {
        Ok(_) => true,
        Err(ClusterError::JudgeLost(_)) => false,
        Err(error) => panic!("{error:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn judges_that_freeze_leave_one_order_with_each_arrival_once() {
    let session = session(LocalServers::shared(), &plan("many_judges", 1)).await;
    let until = Instant::now() + Duration::from_secs(10);
    let workers: Vec<_> = (0..4).map(|worker| tokio::spawn(live(worker, until))).collect();
    for worker in workers {
        worker.await.unwrap();
    }
    let turns = turns_behind(&session, 0, i64::MAX).await.unwrap();
    let (mut judged, mut pages): (BTreeMap<i64, i64>, i64) = (BTreeMap::new(), 0);
    let mut judges = Vec::new();
    for turn in &turns {
        assert_eq!(turn.first_page, pages);
        pages += i64::from(turn.count);
        judges.push(turn.attempt.0 >> 32);
        for [run, first, count] in serde_json::from_slice::<Vec<[i64; 3]>>(&turn.body).unwrap() {
            let next = judged.entry(run).or_default();
            assert_eq!(first, *next, "turn {} of run {run}", turn.number);
            *next += count;
        }
    }
    let row = session.client().query_one("SELECT turn, pages FROM crawl", &[]).await.unwrap();
    assert_eq!((row.get::<_, i64>(0), row.get::<_, i64>(1)), (turns.len() as i64, pages));
    assert!(judges.is_sorted());
    judges.dedup();
    assert!(turns.len() > 30 && judges.len() > 3, "{} turns by {} judges", turns.len(), judges.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn turns_and_their_arrivals_survive_the_primary_and_the_tail_is_sent_again() {
    let servers = LocalServers::start();
    let plan = plan("turns_survive", 1);
    let mut session = session(&servers, &plan).await;
    let run: Run = begin(&mut session, "worker", LONG).await.unwrap();
    let mut judge = Judge::take(&mut session, run.id()).await.unwrap().unwrap();
    for first in 0..50 {
        send_arrivals(&mut session, &chunk(run.id(), first, 1)).await.unwrap();
    }
    let ranges = waiting(&session, &judge, i64::MAX).await;
    let attempt = judge.open_turn(&mut session, &ranges).await.unwrap();
    judge.commit_turn(&mut session, attempt, &ranges, content(&ranges, b"fifty")).await.unwrap();
    // What is committed without waiting while the standby is away is lost with the primary.
    servers.run("stop-standby");
    for first in 50..60 {
        send_arrivals(&mut session, &chunk(run.id(), first, 1)).await.unwrap();
    }
    servers.run("kill-primary");
    servers.run("start-standby");
    servers.run("promote");
    let mut session = Connector::new(servers.address()).connect_patiently(Duration::from_secs(30)).await.unwrap();
    session.use_crawl(&plan.name).await.unwrap();
    assert!(is_in_log(&session, 1, attempt).await.unwrap());
    assert_eq!(open_turn(&session).await.unwrap(), None);
    let kept = arrived(&session, run.id()).await.unwrap();
    assert_eq!(kept, 50, "what a turn judges is durable with it, what is behind it was lost");
    for first in kept..60 {
        send_arrivals(&mut session, &chunk(run.id(), first, 1)).await.unwrap();
    }
    let chunks = read_arrivals(&session, run.id(), 0, 100).await.unwrap();
    assert_eq!(chunks, (0..60).map(|first| chunk(run.id(), first, 1)).collect::<Vec<_>>());
    let mut judge = Judge::take(&mut session, run.id()).await.unwrap().unwrap();
    assert_eq!((judge.next_turn(), judge.judged(run.id())), (2, 50));
    let ranges = waiting(&session, &judge, i64::MAX).await;
    let attempt = judge.open_turn(&mut session, &ranges).await.unwrap();
    assert_eq!(
        judge.commit_turn(&mut session, attempt, &ranges, content(&ranges, b"ten")).await.unwrap().first_page,
        50
    );
}
