//! Workers that have the whole index each, on a real server, against one decider.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use ndcrawl::cluster::{
    ArrivingPage, ClusterError, Deciding, PageFacts, Replica, Run, RunId, Session, TurnState, all_arrived,
    chunk_of_pages, send_arrivals, turns_behind,
};
use ndcrawl::detect::{Decider, Mode, Options, Settling, TurnAnswer, Within};
use ndcrawl::model::{
    Detector, Digest, Field, FieldCounts, PageId, PageInput, RunningText, TermCounts, TermOrder, Verdict,
};
use ndcrawl::seeded::SeededRng;

use super::servers::LocalServers;
use super::{begin, plan, session};

const LONG: Duration = Duration::from_secs(60);
const PATIENCE: Duration = Duration::from_secs(120);
const SLOTS: u16 = 8;
pub const PAGES_OF_A_WORKER: usize = 300;
const TURN: i32 = 64;

pub fn options() -> Options {
    Options { mode: Mode::Best, min_terms: 20, ..Options::of(Detector::Mwo) }
}

fn options_within(within: Within) -> Options {
    Options { within, settling: Settling::AtMarks, ..options() }
}

/// Pages of four hosts, each with a template; every third one is a page of another worker with a few words changed.
pub fn pages(worker: u32) -> Vec<PageInput> {
    let mut random = SeededRng::new(u64::from(worker), "pages of workers");
    (0..PAGES_OF_A_WORKER)
        .map(|number| {
            let family = if number % 3 == 0 { number as u64 } else { 1_000_000 * u64::from(worker) + number as u64 };
            let host = (family % 4) as u32;
            let template = (0..40).map(|word| format!("host{host}word{word}"));
            let own = (0..60).map(|word| format!("text{family}word{word}"));
            let mut words: Vec<String> = template.chain(own).collect();
            for _ in 0..random.below(4) {
                let at = random.below(100);
                words[at] = format!("changed{}", random.below(1 << 30));
            }
            page(PageId::new("cluster", &format!("http://h{host}.test/{worker}/{number}"), 0), host, &words)
        })
        .collect()
}

fn page(name: PageId, group: u32, words: &[String]) -> PageInput {
    let hash = |word: &String| word.bytes().fold(7u32, |hash, byte| hash.wrapping_mul(31) ^ u32::from(byte));
    let text = words.iter().map(|word| hash(word).wrapping_mul(0x9E37_79B1) & !1).collect();
    let text = RunningText { words: text, name: Vec::new() };
    let mut counts = FieldCounts::default();
    counts.add(Field::Body);
    let mut distinct = words.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    PageInput {
        page: name,
        group,
        body_digest: Digest::of(words.join(" ").as_bytes()),
        text_digest: None,
        terms: distinct.iter().map(|word| TermCounts { term: word.as_str().into(), counts }).collect(),
        order: TermOrder { text, ..TermOrder::default() },
        renews: None,
        rank: 0,
    }
}

/// A page with facts that name it.
pub fn arriving(page: &PageInput) -> ArrivingPage {
    let facts = PageFacts { url: format!("page {:032x}", page.page.0), fetched: Some(7), links: vec![1, 2, 3] };
    ArrivingPage::new(page.clone(), facts)
}

/// A worker's life: sends its pages, takes in what others decide, and decides. Ends when all pages are decided.
struct Worker {
    session: Session,
    run: Run,
    replica: Replica,
    verdicts: BTreeMap<i64, Verdict>,
}

impl Worker {
    async fn start(name: &str, crawl: &str) -> Self {
        Self::start_within(name, crawl, Within::Crawl).await
    }

    async fn start_within(name: &str, crawl: &str, within: Within) -> Self {
        let mut session = session(LocalServers::shared(), &plan(crawl, SLOTS)).await;
        let run = begin(&mut session, name, LONG).await.unwrap();
        Self { session, run, replica: replica(within), verdicts: BTreeMap::new() }
    }

    async fn send(&mut self, pages: &[PageInput]) {
        let mut first = 0;
        for chunk in pages.chunks(16) {
            let chunk = chunk_of_pages(self.run.id(), first, chunk.iter().map(arriving).collect()).unwrap();
            send_arrivals(&mut self.session, &chunk).await.unwrap();
            first += i64::from(chunk.count);
        }
    }

    /// Takes in what was decided, and decides a turn if it may.
    async fn step(&mut self) {
        let followed = self.replica.follow(&self.session).await.unwrap();
        self.note(followed);
        let state = TurnState::read(&self.session).await.unwrap();
        let ranges = state.next_ranges(&all_arrived(&self.session).await.unwrap(), TURN);
        let deciding = Deciding { run: self.run.id(), patience: LONG };
        if !ranges.is_empty() && self.replica.decide(&mut self.session, deciding, &ranges).await.unwrap() {
            let decided = self.replica.take_untold();
            self.note(decided);
        }
    }

    fn note(&mut self, decided: Vec<(RunId, i64, Option<TurnAnswer>)>) {
        for (_, number, answer) in decided.into_iter().filter(|(run, ..)| *run == self.run.id()) {
            assert_eq!(self.verdicts.insert(number, answer.unwrap().verdict), None, "decided once");
        }
    }
}

fn replica(within: Within) -> Replica {
    Replica::new(options_within(within), &std::env::temp_dir()).unwrap()
}

/// Decides the turns of a log by one decider. Returns the verdict on each arrival.
pub async fn replayed(session: &Session, sent: &BTreeMap<RunId, Vec<PageInput>>) -> BTreeMap<(RunId, i64), Verdict> {
    replayed_within(session, sent, Within::Crawl).await
}

async fn replayed_within(
    session: &Session,
    sent: &BTreeMap<RunId, Vec<PageInput>>,
    within: Within,
) -> BTreeMap<(RunId, i64), Verdict> {
    let mut decider = Decider::in_memory(options_within(within));
    let order = replica(within).follow(session).await.unwrap();
    let mut order = order.into_iter().peekable();
    let mut verdicts = BTreeMap::new();
    let mut last = 0;
    loop {
        let turns = turns_behind(session, last, 10).await.unwrap();
        if turns.is_empty() {
            return verdicts;
        }
        for turn in turns {
            // The count of a turn leaves out pages that were delivered before: those may belong to either of two turns.
            let (mut names, mut left) = (Vec::new(), turn.count);
            let is_first = |answer: &Option<TurnAnswer>| answer.is_some_and(|answer| !answer.redelivered);
            while let Some((run, number, answer)) = order.next_if(|(.., answer)| left > 0 || !is_first(answer)) {
                left -= i32::from(is_first(&answer));
                names.push((run, number));
            }
            let pages: Vec<PageInput> = names.iter().map(|(run, number)| sent[run][*number as usize].clone()).collect();
            let answers = decider.decide_turn(pages).unwrap();
            verdicts.extend(names.into_iter().zip(answers.iter().map(|answer| answer.verdict)));
            last = turn.number;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn workers_give_the_verdicts_of_one_process() {
    for (count, within) in
        [1u16, 3].into_iter().flat_map(|count| [Within::Crawl, Within::Host].map(|within| (count, within)))
    {
        let crawl = format!("{within:?}_of_{count}").to_lowercase();
        let mut tasks = Vec::new();
        for number in 0..count {
            let (crawl, own) = (crawl.clone(), pages(number.into()));
            tasks.push(tokio::spawn(async move {
                let mut worker = Worker::start_within(&format!("worker-{number}"), &crawl, within).await;
                worker.send(&own).await;
                let (begin, all) = (Instant::now(), i64::from(count) * PAGES_OF_A_WORKER as i64);
                loop {
                    assert!(begin.elapsed() < PATIENCE, "{} of {} decided", worker.verdicts.len(), own.len());
                    worker.step().await;
                    let log = turns_behind(&worker.session, worker.replica.applied(), 1).await.unwrap();
                    let judged = TurnState::read(&worker.session).await.unwrap().pages;
                    if log.is_empty() && judged == all && worker.verdicts.len() == own.len() {
                        return (worker.run.id(), own, worker.verdicts);
                    }
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
            }));
        }
        let (mut sent, mut found) = (BTreeMap::new(), BTreeMap::new());
        for task in tasks {
            let (run, own, verdicts) = task.await.unwrap();
            found.extend(verdicts.into_iter().map(|(number, verdict)| ((run, number), verdict)));
            sent.insert(run, own);
        }
        let session = session(LocalServers::shared(), &plan(&crawl, SLOTS)).await;
        let expected = replayed_within(&session, &sent, within).await;
        assert_eq!(found, expected, "{count} workers, {within:?}");
        let near = expected.values().filter(|verdict| matches!(verdict, Verdict::NearDuplicate { .. })).count();
        assert!(count == 1 || near > PAGES_OF_A_WORKER / 3, "{near} near-duplicates of pages of other workers");
    }
}

/// A worker is killed with its index. Another reads the log from its beginning, and goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_lost_index_is_made_again_from_the_log() {
    let (crawl, own) = ("lost_index", pages(7));
    let mut killed = Worker::start("killed", crawl).await;
    killed.send(&own).await;
    killed.step().await;
    let (run, mut found) = (killed.run.id(), killed.verdicts.clone());
    assert!(!found.is_empty() && found.len() < own.len(), "{}", found.len());
    drop(killed);
    let mut next = Worker::start("next", crawl).await;
    let begin = Instant::now();
    while TurnState::read(&next.session).await.unwrap().pages < own.len() as i64 {
        assert!(begin.elapsed() < PATIENCE);
        next.step().await;
    }
    for (of, number, answer) in replica(Within::Crawl).follow(&next.session).await.unwrap() {
        let verdict = answer.unwrap().verdict;
        assert_eq!(of, run);
        assert_eq!(*found.entry(number).or_insert(verdict), verdict);
    }
    let expected = replayed(&next.session, &BTreeMap::from([(run, own)])).await;
    assert_eq!(
        found.into_iter().map(|(number, verdict)| ((run, number), verdict)).collect::<BTreeMap<_, _>>(),
        expected
    );

    // The control: a replica that goes on from a turn that is not in the log is told.
    let statement = "UPDATE turn SET attempt = attempt + 1 WHERE number = (SELECT turn FROM crawl)";
    next.session.client().execute(statement, &[]).await.unwrap();
    let told = next.replica.follow(&next.session).await.unwrap_err().to_string();
    assert!(told.contains("the log has another turn"), "{told}");
}

/// A replica that has taken in fewer turns than the log has decides nothing, and one that is cut off while it decides knows
/// that it must begin again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn who_is_behind_or_ahead_of_the_log_decides_nothing() {
    let (crawl, own) = ("behind_the_log", pages(11));
    let mut first = Worker::start("first", crawl).await;
    let mut late = Worker::start("late", crawl).await;
    first.send(&own).await;
    first.step().await;
    let state = TurnState::read(&late.session).await.unwrap();
    let ranges = state.next_ranges(&all_arrived(&late.session).await.unwrap(), TURN);
    let deciding = Deciding { run: late.run.id(), patience: LONG };
    assert!(!late.replica.decide(&mut late.session, deciding, &ranges).await.unwrap());
    assert_eq!(late.replica.applied(), 0);
    // It catches up, and its session ends before the turn is committed.
    late.replica.follow(&late.session).await.unwrap();
    let cut = "CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS \
               $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END $$; \
               CREATE TRIGGER cut BEFORE INSERT ON turn EXECUTE FUNCTION cut()";
    first.session.client().batch_execute(cut).await.unwrap();
    let error = late.replica.decide(&mut late.session, deciding, &ranges).await.unwrap_err();
    assert!(error.is_passing(), "{error:?}");
    first.session.client().batch_execute("DROP TRIGGER cut ON turn").await.unwrap();
    let told = late.replica.follow(&first.session).await.unwrap_err();
    assert!(matches!(told, ClusterError::OtherLog(2)), "{told:?}");
    first.step().await;
    assert_eq!(TurnState::read(&first.session).await.unwrap().turn, 2, "others go on");
}
