//! What turns hold, as bytes: verdicts, and what was found to questions.

use serde::{Deserialize, Serialize};

use ndcrawl_model::{Judged, PageId, PageInput, Sequence, Slot, Verdict};
use neardup::detect::{TurnAnswer, TurnInput};

use super::arriving::{Arriving, ArrivingPage};
use super::connection::Session;
use super::encoding::{decoded, encoded};
use super::error::ClusterError;
use super::lease::RunId;
use super::question::{Found, Question};
use super::turn_log::{ArrivalRange, turns_behind};

/// Turns that are read at once.
const TURNS_AT_ONCE: i64 = 64;

/// The decision on an arrival: its run and number, and what was decided of its page, if it is one.
pub type DecidedArrival = (RunId, i64, Option<TurnAnswer>);

/// The verdicts of a turn.
#[derive(Serialize, Deserialize)]
pub(super) struct TurnVerdicts {
    ranges: Vec<(i32, i64, i32)>,
    /// Judged pages that leave the index before the pages of the turn are decided.
    withdrawn: Vec<Sequence>,
    /// What was decided of each arrival.
    answers: Vec<LoggedAnswer>,
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
                    all.questions.push(question);
                    all.pages.push(None);
                }
            }
        }
        all
    }
}

impl TurnArrivals {
    /// Returns, of each arrival, the decision on it: none if it is no page. `judged` has those on its pages.
    pub fn answers(&self, judged: &[Judged]) -> Vec<Option<TurnAnswer>> {
        let mut answers = judged.iter().map(TurnAnswer::from);
        self.pages.iter().map(|page| page.and_then(|_| answers.next())).collect()
    }
}

impl TurnVerdicts {
    /// Returns the body of a turn.
    pub fn body(
        ranges: &[ArrivalRange],
        arrivals: &TurnArrivals,
        judged: &[Judged],
        found: &[Found],
    ) -> Result<Vec<u8>, ClusterError> {
        let mut of_pages = judged.iter();
        let answer = |page: &Option<Option<Slot>>| {
            let Some((slot, judged)) = page.and_then(|slot| Some((slot, of_pages.next()?))) else {
                return LoggedAnswer::Withdrawal;
            };
            let Judged { page, sequence, verdict, least_weight, displaced, redelivered, .. } = *judged;
            match redelivered {
                true => LoggedAnswer::Known { sequence, verdict },
                false => {
                    let owner = slot.map(|slot| (slot, page));
                    LoggedAnswer::Decided { sequence, verdict, least_weight, owner, displaced }
                }
            }
        };
        let answers = arrivals.pages.iter().map(answer).collect();
        let ranges = ranges.iter().map(|range| (range.run.0, range.first, range.count)).collect();
        let TurnInput { withdrawn, is_unsettled, .. } = &arrivals.turn;
        let (withdrawn, is_unsettled, found) = (withdrawn.clone(), *is_unsettled, found.to_vec());
        encoded(&Self { ranges, withdrawn, answers, is_unsettled, found })
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

    /// Returns what the turn was about, given its arrivals in order, and the verdicts on the pages that were new.
    pub fn of(self, arrivals: TurnArrivals) -> Result<(TurnInput, Vec<Verdict>), ClusterError> {
        self.check(&arrivals)?;
        let verdicts = self.decided().map(|(_, verdict)| verdict).collect();
        Ok((TurnInput { is_unsettled: self.is_unsettled, ..arrivals.turn }, verdicts))
    }

    /// Returns the pages that were new, given the arrivals in order.
    pub fn new_pages(&self, arrivals: TurnArrivals) -> Result<Vec<DecidedPage>, ClusterError> {
        self.check(&arrivals)?;
        let of_pages = self.answers.iter().filter(|answer| answer.of_page().is_some());
        let page = |(input, answer): (PageInput, &LoggedAnswer)| match *answer {
            LoggedAnswer::Decided { sequence, verdict, least_weight, .. } => {
                Some(DecidedPage { sequence, input, verdict, least_weight })
            }
            _ => None,
        };
        Ok(arrivals.turn.pages.into_iter().zip(of_pages).filter_map(page).collect())
    }

    fn check(&self, arrivals: &TurnArrivals) -> Result<(), ClusterError> {
        let TurnArrivals { turn: TurnInput { withdrawn, .. }, pages: kinds, .. } = arrivals;
        let is_same = kinds.len() == self.answers.len()
            && kinds.iter().zip(&self.answers).all(|(page, answer)| page.is_some() == answer.of_page().is_some())
            && *withdrawn == self.withdrawn;
        if is_same {
            return Ok(());
        }
        let what = format!("a turn of {} answers to {} other arrivals", self.answers.len(), kinds.len());
        Err(ClusterError::Damaged(what))
    }
}

/// A page that a turn has decided.
#[derive(Clone, Debug)]
pub(super) struct DecidedPage {
    pub sequence: Sequence,
    pub input: PageInput,
    pub verdict: Verdict,
    /// See [`Judged::least_weight`].
    pub least_weight: u32,
}

/// Returns what turns have decided of the first `count` arrivals of a run, by number of arrival. Reads the turns from this
/// one on until it has them.
pub async fn decisions_of(
    session: &Session,
    run: RunId,
    first_turn: i64,
    count: i64,
) -> Result<Vec<DecidedArrival>, ClusterError> {
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
