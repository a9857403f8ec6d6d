//! Decides turns of a log once more, by one process: it must give the verdicts that the cluster has given.

use ndcrawl_model::{PageInput, Sequence, Verdict};
use neardup::detect::{Decider, InMemory, Options, Settling, TurnAnswer, TurnInput};

use super::connection::Session;
use super::error::ClusterError;
use super::question::{Found, Question};
use super::sample::Sample;
use super::turn_arrivals::arriving_of;
use super::turn_body::{DecidedPage, TurnArrivals, TurnVerdicts};
use super::turn_log::turns_behind;

/// Turns that are read at once.
const AT_ONCE: i64 = 16;

/// What a replay has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// Turns.
    pub turns: u64,
    /// Pages that the cluster has decided.
    pub pages: u64,
    /// Of these, pages that were decided once more.
    pub checked: u64,
    /// Withdrawals: pages that were judged and could not be completed.
    pub withdrawn: u64,
    /// Pages on which the one process gives another verdict.
    pub differing: Vec<Sequence>,
    /// Questions at the end of a round, answered once more.
    pub questions: u64,
    /// Turns in whose answer to a question the one process finds other pages to decide again.
    pub other_answers: Vec<i64>,
}

/// How a log is replayed.
#[derive(Clone, Debug)]
pub struct ReplayOptions {
    /// The detector.
    pub options: Options,
    /// The turns that are decided once more.
    pub sample: Sample,
}

impl ReplayOptions {
    /// All turns.
    pub fn all(options: Options) -> Self {
        Self { options, sample: Sample::ALL }
    }
}

/// Replays the log of the crawl that the session uses.
///
/// Cost: a decision for each page, in the memory of an index of all of them. Of pages that are not in the sample, the
/// comparisons are saved.
///
/// # Errors
/// [`ClusterError::Damaged`] if a turn or an arrival cannot be read.
pub async fn replay(session: &Session, how: ReplayOptions) -> Result<Replay, ClusterError> {
    replay_with(session, how, |_| {}).await
}

/// What a replay tells of a turn, in the order of the log.
pub(super) enum Replayed<'a> {
    /// A page was decided.
    Decided(Sequence, &'a PageInput),
    /// A page was withdrawn, maybe not for the first time.
    Withdrawn(Sequence),
}

/// As [`replay`]. Calls `told` with all that happens.
pub(super) async fn replay_with(
    session: &Session,
    how: ReplayOptions,
    mut told: impl FnMut(Replayed<'_>),
) -> Result<Replay, ClusterError> {
    let mut process = Process::new(how);
    let (mut replayed, mut last) = (Replay::default(), 0);
    loop {
        let turns = turns_behind(session, last, AT_ONCE).await?;
        if turns.is_empty() {
            return Ok(replayed);
        }
        for row in turns {
            let verdicts = TurnVerdicts::read(&row.body)?;
            let (found, answers) = (verdicts.found().to_vec(), verdicts.page_answers().flatten().collect::<Vec<_>>());
            let arrivals: TurnArrivals = arriving_of(session, &verdicts.ranges()).await?.into_iter().collect();
            for (question, found_then) in arrivals.questions.iter().zip(&found) {
                let Some(again) = process.answer(*question)? else { continue };
                replayed.questions += 1;
                replayed.other_answers.extend(Some(row.number).filter(|_| again != *found_then));
            }
            let pages = verdicts.new_pages(arrivals.clone())?;
            let (turn, verdicts) = verdicts.of(arrivals)?;
            let withdrawn = turn.withdrawn.clone();
            if let Some(again) = process.decide(row.number, turn, verdicts)? {
                replayed.checked += pages.len() as u64;
                let differing = answers.iter().zip(&again).filter(|(answer, again)| answer != again);
                replayed.differing.extend(differing.map(|(answer, _)| answer.sequence));
            }
            withdrawn.iter().for_each(|page| told(Replayed::Withdrawn(*page)));
            pages.iter().for_each(|DecidedPage { sequence, input, .. }| told(Replayed::Decided(*sequence, input)));
            replayed.withdrawn += withdrawn.len() as u64;
            replayed.turns += 1;
            replayed.pages += pages.len() as u64;
            last = row.number;
        }
    }
}

/// The one process.
struct Process {
    decider: Decider<InMemory>,
    how: ReplayOptions,
}

impl Process {
    fn new(how: ReplayOptions) -> Self {
        let options = Options { settling: Settling::AtMarks, ..how.options.clone() };
        Self { decider: Decider::in_memory(options), how }
    }

    /// Answers a question as of the turn before, if all turns are decided here.
    fn answer(&mut self, question: Question) -> Result<Option<Found>, ClusterError> {
        if !self.how.sample.is_all() {
            return Ok(None);
        }
        Ok(Some(question.answer(&mut self.decider)?))
    }

    /// Decides the turn of this number if it is to be decided, else takes it in.
    fn decide(
        &mut self,
        number: i64,
        turn: TurnInput,
        verdicts: Vec<Verdict>,
    ) -> Result<Option<Vec<TurnAnswer>>, ClusterError> {
        let sample = &self.how.sample;
        if !sample.is_all() && !sample.has(&number.to_be_bytes()) {
            self.decider.take_turn(turn, verdicts.into_iter())?;
            return Ok(None);
        }
        Ok(Some(self.decider.decide_turn(turn)?.iter().map(TurnAnswer::from).collect()))
    }
}
