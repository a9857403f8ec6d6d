//! What arrivals, answers and turns hold, as bytes: pages with their terms as text, replies of pieces, and verdicts.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::detect::{DecidedPage, DecidedTurn, Reply, TurnAnswer};
use crate::model::{Digest, FieldCounts, PageId, PageInput, Sequence, TermCounts, TermOrder, Verdict};

use super::connection::Session;
use super::error::ClusterError;
use super::lease::RunId;
use super::turn_log::{ArrivalRange, turns_behind};

/// Turns that are read at once.
const TURNS_AT_ONCE: i64 = 64;

/// A page on its way to its verdict.
#[derive(Clone, Debug)]
pub struct ArrivingPage {
    /// The page.
    pub input: PageInput,
    /// What its duplicates need of it.
    pub facts: PageFacts,
}

/// What the process that has fetched a duplicate needs of the page that it repeats, which may be another's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageFacts {
    /// Its URL, or the name that it has instead.
    pub url: String,
    /// When it was fetched, in milliseconds since 1970.
    pub fetched: Option<i64>,
    /// The hashes of its links, ascending.
    pub links: Vec<u32>,
}

/// A page as an arrival holds it: numbers of terms would be those of one process.
#[derive(Serialize, Deserialize)]
struct ArrivedPage {
    page: PageId,
    group: u32,
    body_digest: Digest,
    text_digest: Option<Digest>,
    terms: Vec<(String, FieldCounts)>,
    order: TermOrder,
    rank: u8,
    facts: PageFacts,
}

/// The verdicts of a turn.
#[derive(Serialize, Deserialize)]
pub(super) struct TurnVerdicts {
    /// The number of the first page that was decided.
    first: Sequence,
    ranges: Vec<(i32, i64, i32)>,
    /// Of each arrival: its number and verdict. The least weight of its terms is missing if it had been decided before.
    pages: Vec<(Sequence, Verdict, Option<u32>)>,
}

/// Returns pages as the body of arrivals.
pub fn arrival_body(pages: &[ArrivingPage]) -> Result<Vec<u8>, ClusterError> {
    let arrived = |ArrivingPage { input, facts }: &ArrivingPage| ArrivedPage {
        page: input.page,
        group: input.group,
        body_digest: input.body_digest,
        text_digest: input.text_digest,
        terms: input.terms.iter().map(|term| (term.term.to_string(), term.counts)).collect(),
        order: input.order.clone(),
        rank: input.rank,
        facts: facts.clone(),
    };
    encoded(&pages.iter().map(arrived).collect::<Vec<_>>())
}

/// Returns the pages of arrivals.
pub fn pages_of(body: &[u8]) -> Result<Vec<ArrivingPage>, ClusterError> {
    let pages: Vec<ArrivedPage> = decoded(body, "an arrival")?;
    let arriving = |page: ArrivedPage| ArrivingPage {
        input: PageInput {
            page: page.page,
            group: page.group,
            body_digest: page.body_digest,
            text_digest: page.text_digest,
            terms: page.terms.into_iter().map(|(term, counts)| TermCounts { term: term.into(), counts }).collect(),
            order: page.order,
            renews: None,
            rank: page.rank,
        },
        facts: page.facts,
    };
    Ok(pages.into_iter().map(arriving).collect())
}

pub(super) fn reply_body(replies: &[Reply]) -> Result<Vec<u8>, ClusterError> {
    encoded(replies)
}

pub(super) fn replies_of(body: &[u8]) -> Result<Vec<Reply>, ClusterError> {
    decoded(body, "an answer")
}

impl TurnVerdicts {
    /// Returns the body of a turn.
    pub fn body(ranges: &[ArrivalRange], turn: &DecidedTurn) -> Result<Vec<u8>, ClusterError> {
        let mut weights = turn.pages.iter().map(|page| page.least_weight);
        let page = |answer: &TurnAnswer| {
            let least_weight = if answer.redelivered { None } else { weights.next() };
            (answer.sequence, answer.verdict, least_weight)
        };
        let pages = turn.answers.iter().map(page).collect();
        let ranges = ranges.iter().map(|range| (range.run.0, range.first, range.count)).collect();
        encoded(&Self { first: turn.first, ranges, pages })
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

    /// Returns the place among the arrivals of the turn at which a page was decided, and its verdict.
    pub fn find(&self, page: Sequence) -> Option<(usize, Verdict)> {
        let place = self.pages.iter().position(|(sequence, _, weight)| *sequence == page && weight.is_some())?;
        Some((place, self.pages[place].1))
    }

    /// Returns the turn, given its arrivals in order.
    pub fn of(self, arrivals: Vec<PageInput>) -> Result<DecidedTurn, ClusterError> {
        if arrivals.len() != self.pages.len() {
            let what = format!("a turn of {} verdicts about {} pages", self.pages.len(), arrivals.len());
            return Err(ClusterError::Damaged(what));
        }
        let mut turn = DecidedTurn { first: self.first, pages: Vec::new(), answers: Vec::new() };
        for (input, (sequence, verdict, least_weight)) in arrivals.into_iter().zip(self.pages) {
            turn.answers.push(TurnAnswer { sequence, verdict, redelivered: least_weight.is_none() });
            turn.pages.extend(least_weight.map(|least_weight| DecidedPage { input, verdict, least_weight }));
        }
        Ok(turn)
    }
}

/// Returns what turns have decided of the arrivals of a run, by number of arrival. Reads all turns from this one on.
pub async fn decisions_of(
    session: &Session,
    run: RunId,
    first_turn: i64,
) -> Result<Vec<(RunId, i64, TurnAnswer)>, ClusterError> {
    let (mut decided, mut last) = (Vec::new(), first_turn - 1);
    loop {
        let turns = turns_behind(session, last, TURNS_AT_ONCE).await?;
        if turns.is_empty() {
            return Ok(decided);
        }
        for turn in turns {
            last = turn.number;
            let turn = TurnVerdicts::read(&turn.body)?;
            let arrivals = turn
                .ranges()
                .into_iter()
                .flat_map(|range| (0..i64::from(range.count)).map(move |at| (range.run, range.first + at)));
            let answers = turn.pages.iter().map(|(sequence, verdict, weight)| TurnAnswer {
                sequence: *sequence,
                verdict: *verdict,
                redelivered: weight.is_none(),
            });
            let of_run = arrivals.zip(answers).filter(|((of, _), _)| *of == run);
            decided.extend(of_run.map(|((run, number), answer)| (run, number, answer)));
        }
    }
}

fn encoded<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, ClusterError> {
    postcard::to_stdvec(value).map_err(|error| ClusterError::Damaged(error.to_string()))
}

fn decoded<T: DeserializeOwned>(body: &[u8], what: &str) -> Result<T, ClusterError> {
    postcard::from_bytes(body).map_err(|error| ClusterError::Damaged(format!("{what}: {error}")))
}
