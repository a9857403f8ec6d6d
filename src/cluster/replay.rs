//! Decides turns of a log once more, by one process: it must give the verdicts that the cluster has given.

use crate::detect::{
    DecidedTurn, Decider, InMemory, Learnt, Mode, Options, Piece, Settling, TurnAnswer, TurnInput, settle_turn,
};
use crate::model::{PageInput, Sequence};

use super::connection::Session;
use super::error::ClusterError;
use super::question::{Found, Question};
use super::questions::of_one_process;
use super::sample::Sample;
use super::turn_arrivals::arriving_of;
use super::turn_body::{TurnArrivals, TurnVerdicts};
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
    /// The first pages that name any of several matches, and not the best one: those of a folder that was moved.
    pub name_any: u32,
    /// The turns that are decided once more. Those of pages that name any match are so only if all are.
    pub sample: Sample,
}

impl ReplayOptions {
    /// All turns of a crawl that was in a cluster from its beginning.
    pub fn all(options: Options) -> Self {
        Self { options, name_any: 0, sample: Sample::ALL }
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
    let mut process = Process::new(how)?;
    let (mut replayed, mut last, mut suspects_as_of) = (Replay::default(), 0, None);
    loop {
        let turns = turns_behind(session, last, AT_ONCE).await?;
        if turns.is_empty() {
            return Ok(replayed);
        }
        for row in turns {
            let verdicts = TurnVerdicts::read(&row.body)?;
            let found = verdicts.found().to_vec();
            let mut arrivals: TurnArrivals = arriving_of(session, &verdicts.ranges()).await?.into_iter().collect();
            let turn = verdicts.of(arrivals.clone())?;
            arrivals.turn.is_unsettled = turn.is_unsettled;
            for (question, found_then) in arrivals.questions.iter().zip(&found) {
                let known = (replayed.pages, replayed.withdrawn);
                if matches!(question, Question::Suspects(_)) {
                    suspects_as_of = Some(known);
                }
                // What was decided since the question for suspects may have changed who they are.
                let Some(again) = process.answer(question)?.filter(|_| suspects_as_of == Some(known)) else { continue };
                replayed.questions += 1;
                replayed.other_answers.extend(Some(row.number).filter(|_| again != *found_then));
            }
            if let Some(again) = process.decide(row.number, arrivals.turn, &turn)? {
                replayed.checked += turn.pages.len() as u64;
                for (answer, again) in turn.answers.iter().zip(&again) {
                    if answer != again {
                        replayed.differing.push(answer.sequence);
                    }
                }
            }
            turn.withdrawn.iter().for_each(|page| told(Replayed::Withdrawn(*page)));
            turn.pages.iter().for_each(|page| told(Replayed::Decided(page.sequence, &page.input)));
            replayed.withdrawn += turn.withdrawn.len() as u64;
            replayed.turns += 1;
            replayed.pages += turn.pages.len() as u64;
            last = row.number;
        }
    }
}

/// The one process.
enum Process {
    /// Decides all turns, by its own verdicts alone.
    Whole(Box<Decider<InMemory>>, ReplayOptions),
    /// Decides the turns of a sample, each after those that the log has before it.
    Sampling(Box<(Piece<InMemory>, Learnt)>, ReplayOptions),
}

impl Process {
    /// Answers a question as of the turn before, if it ends a round and all turns are decided here.
    fn answer(&mut self, question: &Question) -> Result<Option<Found>, ClusterError> {
        match self {
            Self::Whole(decider, _) => Ok(of_one_process(decider, question)?),
            Self::Sampling(..) => Ok(None),
        }
    }

    fn new(how: ReplayOptions) -> Result<Self, ClusterError> {
        let options = Options { settling: Settling::AtMarks, mode: Mode::Best, ..how.options.clone() };
        if how.sample.is_all() {
            return Ok(Self::Whole(Box::new(Decider::in_memory(options)), how));
        }
        let learnt = Learnt::new(options)?;
        Ok(Self::Sampling(Box::new((Piece::new(&learnt, InMemory), learnt)), how))
    }

    /// Decides the next turn of the log, if it is to be decided.
    fn decide(
        &mut self,
        number: i64,
        arrivals: TurnInput,
        turn: &DecidedTurn,
    ) -> Result<Option<Vec<TurnAnswer>>, ClusterError> {
        match self {
            Self::Whole(decider, how) => {
                decider.set_mode(if turn.first.0 < how.name_any { Mode::Any } else { Mode::Best });
                Ok(Some(decider.decide_turn(arrivals)?))
            }
            Self::Sampling(all, how) => {
                let (piece, learnt) = &mut **all;
                let again = if how.sample.has(&number.to_be_bytes()) && turn.first.0 >= how.name_any {
                    let replies = piece.reply(&arrivals, learnt)?;
                    Some(settle_turn(turn.first, arrivals, &[replies], learnt)?.answers)
                } else {
                    None
                };
                piece.apply(turn, learnt, |_| true)?;
                learnt.learn(turn)?;
                Ok(again)
            }
        }
    }
}
