//! Workers that hold pieces of one index, on a real server, against one decider.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use ndcrawl::cluster::{
    ArrivingPage, Division, Holder, Judge, PageFacts, Run, RunId, Session, all_arrived, next_ranges, open_turn,
    send_arrivals, slot_of_host, turns_behind,
};
use ndcrawl::detect::{Decider, Mode, Options, Settling, TurnAnswer, Within};
use ndcrawl::model::{
    Detector, Digest, Field, FieldCounts, PageId, PageInput, RunningText, Slot, TermCounts, TermOrder, Verdict,
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

/// The detector of an index that is divided so.
fn options_of(division: Division) -> Options {
    match division {
        Division::ByPages => options(),
        Division::ByHosts => Options { within: Within::Host, text_parts: SLOTS, ..options() },
    }
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

/// A worker's life: sends its pages, answers turns for its slots, judges if it may. Ends when all pages are decided.
struct Worker {
    session: Session,
    run: Run,
    holder: Holder,
    judge: Option<Judge>,
    division: Division,
    verdicts: BTreeMap<i64, Verdict>,
}

impl Worker {
    async fn start(name: &str, crawl: &str, slots: impl IntoIterator<Item = u16>) -> Self {
        Self::start_divided(name, crawl, slots, Division::ByPages).await
    }

    async fn start_divided(name: &str, crawl: &str, slots: impl IntoIterator<Item = u16>, division: Division) -> Self {
        let mut session = session(LocalServers::shared(), &plan(crawl, SLOTS)).await;
        let run = begin(&mut session, name, LONG).await.unwrap();
        let holder = Holder::new(options_of(division), slots.into_iter().map(Slot), SLOTS, division).unwrap();
        Self { session, run, holder, judge: None, division, verdicts: BTreeMap::new() }
    }

    async fn send(&mut self, pages: &[PageInput]) {
        let mut first = 0;
        for chunk in pages.chunks(16) {
            let chunk = chunk.iter().map(arriving).collect();
            let chunk = self.division.chunk(SLOTS, self.run.id(), first, chunk).unwrap();
            send_arrivals(&mut self.session, &chunk).await.unwrap();
            first += i64::from(chunk.count);
        }
    }

    /// Takes in what was decided, answers an open turn, and settles or opens one if this is the judge.
    async fn step(&mut self) {
        for (run, number, answer) in self.holder.follow(&self.session).await.unwrap() {
            if run == self.run.id() {
                assert_eq!(self.verdicts.insert(number, answer.unwrap().verdict), None, "decided once");
            }
        }
        let open = open_turn(&self.session).await.unwrap().filter(|open| open.number == self.holder.applied() + 1);
        if let Some(open) = &open {
            self.holder.answer(&self.session, self.run.id(), open).await.unwrap();
        }
        if self.judge.is_none() {
            self.judge = Judge::take(&mut self.session, self.run.id()).await.unwrap();
        }
        let Some(judge) = &mut self.judge else { return };
        if judge.next_turn() != self.holder.applied() + 1 {
            return;
        }
        match open {
            Some(open) => {
                self.holder.settle(&mut self.session, judge, open.attempt, &open.ranges).await.unwrap();
            }
            None => {
                let all = all_arrived(&self.session).await.unwrap();
                let ranges = next_ranges(judge, &all, TURN);
                if !ranges.is_empty() {
                    judge.open_turn(&mut self.session, &ranges).await.unwrap();
                }
            }
        }
    }
}

/// Returns the slots of worker `number` of `count`.
fn share(number: u16, count: u16) -> impl Iterator<Item = u16> {
    (0..SLOTS).filter(move |slot| slot % count == number)
}

/// Decides the turns of a log by one decider. Returns the verdict on each arrival.
pub async fn replayed(session: &Session, sent: &BTreeMap<RunId, Vec<PageInput>>) -> BTreeMap<(RunId, i64), Verdict> {
    replayed_divided(session, sent, Division::ByPages).await
}

async fn replayed_divided(
    session: &Session,
    sent: &BTreeMap<RunId, Vec<PageInput>>,
    division: Division,
) -> BTreeMap<(RunId, i64), Verdict> {
    let mut decider = Decider::in_memory(Options { settling: Settling::AtMarks, ..options_of(division) });
    let mut follower = Holder::new(options_of(division), (0..SLOTS).map(Slot), SLOTS, division).unwrap();
    let order = follower.follow(session).await.unwrap();
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
    for (count, division) in
        [1u16, 3].into_iter().flat_map(|count| [Division::ByPages, Division::ByHosts].map(|by| (count, by)))
    {
        let crawl = format!("{division:?}_of_{count}").to_lowercase();
        let mut tasks = Vec::new();
        for number in 0..count {
            let (crawl, own) = (crawl.clone(), pages(number.into()));
            tasks.push(tokio::spawn(async move {
                let mut worker =
                    Worker::start_divided(&format!("worker-{number}"), &crawl, share(number, count), division).await;
                worker.send(&own).await;
                let (begin, all) = (Instant::now(), i64::from(count) * PAGES_OF_A_WORKER as i64);
                loop {
                    assert!(begin.elapsed() < PATIENCE, "{} of {} decided", worker.verdicts.len(), own.len());
                    worker.step().await;
                    let log = turns_behind(&worker.session, worker.holder.applied(), 1).await.unwrap();
                    let judged: i64 =
                        worker.session.client().query_one("SELECT pages FROM crawl", &[]).await.unwrap().get(0);
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
        let expected = replayed_divided(&session, &sent, division).await;
        assert_eq!(found, expected, "{count} workers, {division:?}");
        let near = expected.values().filter(|verdict| matches!(verdict, Verdict::NearDuplicate { .. })).count();
        assert!(count == 1 || near > PAGES_OF_A_WORKER / 3, "{near} near-duplicates of pages of other workers");
    }
}

/// A worker is killed with its piece. Another takes its slots, reads the log from its beginning, and answers the turn
/// that was open.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_lost_piece_is_made_again_from_the_log() {
    let crawl = "lost_piece";
    let own = pages(7);
    let mut judge = Worker::start("judge", crawl, share(0, 2)).await;
    let mut other = Worker::start("other", crawl, share(1, 2)).await;
    judge.send(&own).await;
    while judge.verdicts.is_empty() {
        judge.step().await;
        other.step().await;
    }
    let decided = judge.verdicts.len();
    assert!(decided > 0 && decided < own.len(), "{decided}");
    drop(other);
    for _ in 0..10 {
        judge.step().await;
    }
    let stopped = judge.holder.applied();
    judge.step().await;
    assert_eq!(judge.holder.applied(), stopped, "without the piece there are no verdicts");
    let mut next = Worker::start("next", crawl, share(1, 2)).await;
    let begin = Instant::now();
    while judge.verdicts.len() < own.len() {
        assert!(begin.elapsed() < PATIENCE);
        next.step().await;
        judge.step().await;
    }
    let run = judge.run.id();
    let expected = replayed(&judge.session, &BTreeMap::from([(run, own)])).await;
    let found: BTreeMap<(RunId, i64), Verdict> =
        judge.verdicts.iter().map(|(number, verdict)| ((run, *number), *verdict)).collect();
    assert_eq!(found, expected);

    // The control: a holder that goes on from a turn that is not in the log is told.
    let statement = "UPDATE turn SET attempt = attempt + 1 WHERE number = (SELECT turn FROM crawl)";
    judge.session.client().execute(statement, &[]).await.unwrap();
    let told = judge.holder.follow(&judge.session).await.unwrap_err().to_string();
    assert!(told.contains("the log has another turn"), "{told}");
}

/// Whoever has the slot of a host needs no arrivals of others: those are damaged here.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn in_an_index_by_hosts_a_worker_reads_the_pages_of_its_slots_alone() {
    for (division, crawl) in [(Division::ByHosts, "own_hosts"), (Division::ByPages, "own_pages")] {
        let own = pages(3);
        let mut one = Worker::start_divided("one", crawl, share(0, 2), division).await;
        let mut other = Worker::start_divided("other", crawl, share(1, 2), division).await;
        one.send(&own).await;
        let begin = Instant::now();
        while one.verdicts.len() < own.len() {
            assert!(begin.elapsed() < PATIENCE);
            one.step().await;
            other.step().await;
        }
        assert_eq!(slot_of_host(own[1].group, SLOTS), Slot(own[1].group as u16));
        one.session.client().execute("UPDATE arrival SET body = 'damaged' WHERE slot % 2 <> 0", &[]).await.unwrap();
        let follow = async |half: u16| {
            let slots = share(half, 2).map(Slot);
            let mut holder = Holder::new(options_of(division), slots, SLOTS, division).unwrap();
            holder.follow(&one.session).await.map(|decided| decided.len())
        };
        let (even, odd) = (follow(0).await, follow(1).await);
        assert!(odd.is_err(), "{odd:?}");
        match division {
            Division::ByHosts => assert_eq!(even.unwrap(), own.len(), "decisions are known of all pages"),
            // The control.
            Division::ByPages => assert!(even.is_err(), "{even:?}"),
        }
    }
}
