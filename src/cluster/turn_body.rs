//! What answers and turns hold, as bytes: replies of pieces, and verdicts.

use serde::{Deserialize, Serialize};

use crate::detect::{DecidedPage, DecidedTurn, Ending, JoinedAnswer, Reply, SettledPart, TurnAnswer, TurnInput};
use crate::model::{PageId, PageInput, Sequence, Slot, Verdict};

use super::arriving::{Arriving, ArrivingPage};
use super::connection::Session;
use super::encoding::{decoded, encoded};
use super::error::ClusterError;
use super::lease::RunId;
use super::question::{Found, Question, QuestionReply};
use super::turn_log::{ArrivalRange, turns_behind};

/// Turns that are read at once.
const TURNS_AT_ONCE: i64 = 64;

/// The verdicts of a turn.
#[derive(Serialize, Deserialize)]
pub(super) struct TurnVerdicts {
    /// The number of the first page that was decided.
    first: Sequence,
    ranges: Vec<(i32, i64, i32)>,
    /// Judged pages that leave the index before the pages of the turn are decided.
    withdrawn: Vec<Sequence>,
    /// What was decided of each arrival.
    answers: Vec<LoggedAnswer>,
    /// What pages that were decided again pass on no more.
    endings: Vec<Ending>,
    /// Whether what the turn teaches does not count yet where it ends.
    is_unsettled: bool,
    /// What was found to the questions of the turn.
    found: Vec<Found>,
}

/// What a turn has decided of an arrival.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum LoggedAnswer {
    /// A page, with the least weight of its terms, the slot and name by which its completion is looked for, and the stored
    /// page that left the index for it.
    Decided {
        sequence: Sequence,
        verdict: Verdict,
        least_weight: u32,
        owner: Option<(Slot, PageId)>,
        displaced: Option<Sequence>,
    },
    /// A page that had been decided before.
    Known { sequence: Sequence, verdict: Verdict },
    /// A withdrawal, or a question.
    Withdrawal,
}

impl LoggedAnswer {
    /// Returns the decision on a page.
    fn of_page(self) -> Option<TurnAnswer> {
        match self {
            Self::Decided { sequence, verdict, displaced, .. } => {
                Some(TurnAnswer { sequence, verdict, redelivered: false, displaced })
            }
            Self::Known { sequence, verdict } => {
                Some(TurnAnswer { sequence, verdict, redelivered: true, displaced: None })
            }
            Self::Withdrawal => None,
        }
    }
}

/// The arrivals of a turn.
#[derive(Clone, Debug, Default)]
pub(super) struct TurnArrivals {
    /// What is to be decided.
    pub turn: TurnInput,
    /// The questions among the arrivals.
    pub questions: Vec<Question>,
    /// Of each arrival that is a page: the slot of its URL.
    pages: Vec<Option<Option<Slot>>>,
}

impl FromIterator<Arriving> for TurnArrivals {
    fn from_iter<T: IntoIterator<Item = Arriving>>(arrivals: T) -> Self {
        let mut all = Self::default();
        for arriving in arrivals {
            match arriving {
                Arriving::Page(page) => {
                    let ArrivingPage { input, slot, replaces, .. } = *page;
                    all.turn.withdrawn.extend(replaces);
                    all.turn.pages.push(input);
                    all.pages.push(Some(slot));
                }
                Arriving::Withdrawal(page) => {
                    all.turn.withdrawn.push(page);
                    all.pages.push(None);
                }
                Arriving::Question(question) => {
                    all.questions.push(*question);
                    all.pages.push(None);
                }
            }
        }
        all
    }
}

impl TurnArrivals {
    /// Returns, of each arrival, the decision on it: none if it is a withdrawal.
    pub fn answers(&self, turn: &DecidedTurn) -> Vec<Option<TurnAnswer>> {
        let mut answers = turn.answers.iter();
        self.pages.iter().map(|page| page.and_then(|_| answers.next().copied())).collect()
    }
}

/// What a piece says to the pages of a turn, and to its questions.
pub(super) type TurnReplies = (Vec<Reply>, Vec<QuestionReply>);

pub(super) fn reply_body(replies: &TurnReplies) -> Result<Vec<u8>, ClusterError> {
    encoded(replies)
}

pub(super) fn replies_of(body: &[u8]) -> Result<TurnReplies, ClusterError> {
    decoded(body, "an answer")
}

/// The parts of a turn that a process has settled, by slots.
pub(super) fn parts_body(parts: &[(Slot, SettledPart)]) -> Result<Vec<u8>, ClusterError> {
    encoded(parts)
}

pub(super) fn parts_of(body: &[u8]) -> Result<Vec<(Slot, SettledPart)>, ClusterError> {
    decoded(body, "an answer")
}

impl TurnVerdicts {
    /// Returns the body of a turn whose parts were settled by hosts.
    pub fn joined_body(
        ranges: &[ArrivalRange],
        first: Sequence,
        joined: &[JoinedAnswer],
    ) -> Result<Vec<u8>, ClusterError> {
        let answer = |&JoinedAnswer { answer, least_weight }: &JoinedAnswer| {
            let TurnAnswer { sequence, verdict, redelivered, displaced } = answer;
            match redelivered {
                true => LoggedAnswer::Known { sequence, verdict },
                false => LoggedAnswer::Decided { sequence, verdict, least_weight, owner: None, displaced },
            }
        };
        let ranges = ranges.iter().map(|range| (range.run.0, range.first, range.count)).collect();
        let answers = joined.iter().map(answer).collect();
        let (withdrawn, endings, found) = (Vec::new(), Vec::new(), Vec::new());
        encoded(&Self { first, ranges, withdrawn, answers, endings, is_unsettled: false, found })
    }

    /// Returns the body of a turn.
    pub fn body(
        ranges: &[ArrivalRange],
        arrivals: &TurnArrivals,
        turn: &DecidedTurn,
        found: Vec<Found>,
    ) -> Result<Vec<u8>, ClusterError> {
        let mut pages = turn.pages.iter();
        let answer = |(slot, answer): (&Option<Option<Slot>>, Option<TurnAnswer>)| {
            let Some(TurnAnswer { sequence, verdict, redelivered, displaced }) = answer else {
                return LoggedAnswer::Withdrawal;
            };
            match if redelivered { None } else { pages.next() } {
                None => LoggedAnswer::Known { sequence, verdict },
                Some(DecidedPage { input, least_weight, .. }) => {
                    let owner = slot.flatten().map(|slot| (slot, input.page));
                    LoggedAnswer::Decided { sequence, verdict, least_weight: *least_weight, owner, displaced }
                }
            }
        };
        let answers = arrivals.pages.iter().zip(arrivals.answers(turn)).map(answer).collect();
        let ranges = ranges.iter().map(|range| (range.run.0, range.first, range.count)).collect();
        let (withdrawn, endings) = (turn.withdrawn.clone(), turn.endings.clone());
        let (first, is_unsettled) = (turn.first, turn.is_unsettled);
        encoded(&Self { first, ranges, withdrawn, answers, endings, is_unsettled, found })
    }

    /// Reads the body of a turn.
    pub fn read(body: &[u8]) -> Result<Self, ClusterError> {
        decoded(body, "a turn")
    }

    /// Returns the arrivals that the turn is about.
    pub fn ranges(&self) -> Vec<ArrivalRange> {
        let range = |&(run, first, count): &(i32, i64, i32)| ArrivalRange { run: RunId(run), first, count };
        self.ranges.iter().map(range).collect()
    }

    /// Returns the judged pages that the turn withdraws.
    pub fn withdrawn(&self) -> &[Sequence] {
        &self.withdrawn
    }

    /// Returns what was found to the questions of the turn.
    pub fn found(&self) -> &[Found] {
        &self.found
    }

    /// Returns the pages that were decided, with their verdicts.
    pub fn decided(&self) -> impl Iterator<Item = (Sequence, Verdict)> {
        self.answers.iter().filter_map(|answer| match *answer {
            LoggedAnswer::Decided { sequence, verdict, .. } => Some((sequence, verdict)),
            _ => None,
        })
    }

    /// Returns the stored pages that left the index for others.
    pub fn displaced(&self) -> impl Iterator<Item = Sequence> {
        self.answers.iter().filter_map(|answer| answer.of_page()?.displaced)
    }

    /// Returns the pages that were decided and belong to a slot, by their names.
    pub fn owned(&self) -> impl Iterator<Item = (Slot, PageId, Sequence)> {
        self.answers.iter().filter_map(|answer| match *answer {
            LoggedAnswer::Decided { sequence, owner: Some((slot, page)), .. } => Some((slot, page, sequence)),
            _ => None,
        })
    }

    /// Returns the place among the arrivals of the turn at which a page was decided, and its verdict.
    pub fn find(&self, page: Sequence) -> Option<(usize, Verdict)> {
        self.answers.iter().enumerate().find_map(|(place, answer)| match *answer {
            LoggedAnswer::Decided { sequence, verdict, .. } if sequence == page => Some((place, verdict)),
            _ => None,
        })
    }

    /// Returns the decision on each arrival; none on a withdrawal.
    pub fn page_answers(&self) -> impl Iterator<Item = Option<TurnAnswer>> {
        self.answers.iter().map(|answer| answer.of_page())
    }

    /// Returns the turn with some of its pages only, given with their places.
    pub fn of_some(self, pages: impl IntoIterator<Item = (u32, PageInput)>) -> Result<DecidedTurn, ClusterError> {
        let answers = self.answers.iter().filter_map(|answer| answer.of_page()).collect();
        let mut turn = DecidedTurn { first: self.first, withdrawn: self.withdrawn, answers, ..DecidedTurn::default() };
        for (place, input) in pages {
            match self.answers.get(place as usize) {
                Some(&LoggedAnswer::Decided { sequence, verdict, least_weight, .. }) => {
                    turn.pages.push(DecidedPage { sequence, input, verdict, least_weight });
                }
                Some(LoggedAnswer::Known { .. }) => {}
                Some(LoggedAnswer::Withdrawal) | None => {
                    return Err(ClusterError::Damaged(format!("a turn does not answer to its page {place}")));
                }
            }
        }
        Ok(turn)
    }

    /// Returns the turn, given its arrivals in order.
    pub fn of(self, arrivals: TurnArrivals) -> Result<DecidedTurn, ClusterError> {
        let TurnArrivals { turn: TurnInput { withdrawn, pages, .. }, pages: kinds, .. } = arrivals;
        let is_same = kinds.len() == self.answers.len()
            && kinds.iter().zip(&self.answers).all(|(page, answer)| page.is_some() == answer.of_page().is_some())
            && withdrawn == self.withdrawn;
        if !is_same {
            let what = format!("a turn of {} answers to {} other arrivals", self.answers.len(), kinds.len());
            return Err(ClusterError::Damaged(what));
        }
        let Self { first, answers: logged, endings, is_unsettled, .. } = self;
        let mut turn = DecidedTurn { first, withdrawn, endings, is_unsettled, ..DecidedTurn::default() };
        let answers = logged.into_iter().filter_map(|answer| Some((answer, answer.of_page()?)));
        for (input, (logged, answer)) in pages.into_iter().zip(answers) {
            turn.answers.push(answer);
            if let LoggedAnswer::Decided { sequence, verdict, least_weight, .. } = logged {
                turn.pages.push(DecidedPage { sequence, input, verdict, least_weight });
            }
        }
        Ok(turn)
    }
}

/// Returns what turns have decided of the first `count` arrivals of a run, by number of arrival. Reads the turns from this
/// one on until it has them.
pub async fn decisions_of(
    session: &Session,
    run: RunId,
    first_turn: i64,
    count: i64,
) -> Result<Vec<(RunId, i64, Option<TurnAnswer>)>, ClusterError> {
    let (mut decided, mut last) = (Vec::new(), first_turn - 1);
    loop {
        let turns = turns_behind(session, last, TURNS_AT_ONCE).await?;
        if turns.is_empty() || decided.len() as i64 >= count {
            return Ok(decided);
        }
        for turn in turns {
            last = turn.number;
            let turn = TurnVerdicts::read(&turn.body)?;
            let arrivals = turn
                .ranges()
                .into_iter()
                .flat_map(|range| (0..i64::from(range.count)).map(move |at| (range.run, range.first + at)));
            let of_run = arrivals.zip(turn.page_answers()).filter(|((of, _), _)| *of == run);
            decided.extend(of_run.map(|((run, number), answer)| (run, number, answer)));
        }
    }
}
