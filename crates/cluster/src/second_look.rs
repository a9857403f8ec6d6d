//! The second look at a manifest: when all its pages are decided, which of them are to be decided again?
//!
//! A look is a stream of arrivals, as an input is: a question, the pages that were found, and so on until nothing is found. Each chunk is a turn, and what it holds follows from the turns before. So
//! whoever takes a look over goes on where the log ends.
//!
//! The decisions of earlier manifests stand, since their files are written. A page is decided again as it arrived, under a
//! name of its own.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

use super::arrivals::{read_arrivals, send_arrivals};
use super::arriving::{Arriving, ArrivingPage, arrivals_of, chunk_of};
use super::connection::Session;
use super::error::ClusterError;
use super::inputs::LeasedInput;
use super::lease::RunId;
use super::named_page::{JudgedArrival, judged_arrival};
use super::question::Question;
use super::revisions::renewal_name;
use super::test_point::test_point;
use super::turn_arrivals::arriving_of;
use super::turn_body::TurnVerdicts;
use super::turn_log::{last_turn, turns_behind};
use ndcrawl_model::{PageInput, Sequence};
use neardup::detect::TurnAnswer;

/// How often it is looked whether a turn is there.
const LOOK: Duration = Duration::from_millis(20);
/// Turns that are read at once.
const TURNS_AT_ONCE: i64 = 64;

/// What a second look has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SecondLook {
    /// Its arrivals.
    pub arrivals: i64,
    /// The streams of the inputs that have pages that were decided again.
    pub streams: BTreeSet<RunId>,
}

/// Takes a second look, or goes on with one, until nothing is found. Turns have at most `turn_pages` pages.
///
/// # Errors
/// [`ClusterError::Damaged`] if a page cannot be read back, and those of the database.
pub async fn look_again(
    session: &mut Session,
    input: &LeasedInput,
    turn_pages: i32,
) -> Result<SecondLook, ClusterError> {
    let mut stream = LookStream { session, stream: input.stream(), next: 0, turn: input.first_turn };
    let (mut look, mut settled, mut done) = (SecondLook::default(), None, HashSet::new());
    loop {
        let from = stream.from().await?;
        let question = Question { from, settled: *settled.get_or_insert(from) };
        let mut found = stream.ask(question).await?;
        test_point("questions");
        found.retain(|page| done.insert(*page));
        if found.is_empty() {
            look.arrivals = stream.next;
            return Ok(look);
        }
        for pages in found.chunks(usize::try_from(turn_pages).unwrap_or(1).max(1)) {
            let mut again = Vec::new();
            for page in pages {
                let (arriving, of) = stream.decided_again(*page, question.settled).await?;
                again.push(arriving);
                look.streams.insert(of);
            }
            stream.judged(again).await?;
            test_point("revisions");
        }
    }
}

/// The arrivals of a second look.
struct LookStream<'a> {
    session: &'a mut Session,
    stream: RunId,
    /// The number of the next arrival.
    next: i64,
    /// The number of the turn of the next chunk.
    turn: i64,
}

impl LookStream<'_> {
    /// Has the next chunk judged, which may have been sent by another process. Returns its turn.
    async fn judged(&mut self, arrivals: Vec<Arriving>) -> Result<TurnVerdicts, ClusterError> {
        let (first, count) = (self.next, arrivals.len());
        let chunk = chunk_of(self.stream, first, &arrivals)?;
        send_arrivals(self.session, &chunk).await?;
        while last_turn(self.session).await? < self.turn {
            tokio::time::sleep(LOOK).await;
        }
        let turns = turns_behind(self.session, self.turn - 1, 1).await?;
        let other = || ClusterError::Damaged(format!("turn {} is none of the second look", self.turn));
        let verdicts = TurnVerdicts::read(&turns.first().ok_or_else(other)?.body)?;
        match verdicts.ranges()[..] {
            [range] if range.run == self.stream && range.first == first && range.count as usize == count => {}
            _ => return Err(other()),
        }
        (self.next, self.turn) = (first + count as i64, self.turn + 1);
        Ok(verdicts)
    }

    /// Asks. Returns the pages that were found.
    async fn ask(&mut self, question: Question) -> Result<Vec<Sequence>, ClusterError> {
        let verdicts = self.judged(vec![Arriving::Question(question)]).await?;
        match verdicts.found() {
            [found] => Ok(found.pages().to_vec()),
            _ => Err(ClusterError::Damaged(format!("turn {} does not answer one question", self.turn - 1))),
        }
    }

    /// Returns the first page that the questions of this round are about.
    async fn from(&mut self) -> Result<Sequence, ClusterError> {
        // Of a round whose first question was sent, the row of the crawl may tell of the end already. It is read first:
        // if nothing is sent afterwards, it is as old as the round.
        let looked = looked(self.session).await?;
        let sent = read_arrivals(self.session, self.stream, self.next, 1).await?;
        let question = sent.first().filter(|chunk| chunk.first == self.next).map(arrivals_of).transpose()?;
        match question.as_deref() {
            None => Ok(looked),
            Some([Arriving::Question(question)]) => Ok(question.from),
            Some(_) => Err(ClusterError::Damaged(format!("arrival {} of a second look is no question", self.next))),
        }
    }

    /// Returns a page as it is decided again, and the stream of its input.
    async fn decided_again(&self, number: Sequence, settled: Sequence) -> Result<(Arriving, RunId), ClusterError> {
        let JudgedArrival { mut run, page, verdict } = self.arrival(number).await?;
        let mut earlier = page.input.renews;
        while run == self.stream {
            let missing = || ClusterError::Damaged(format!("page {number} of a second look decides none again"));
            let before = self.arrival(earlier.ok_or_else(missing)?).await?;
            (run, earlier) = (before.run, before.page.input.renews);
        }
        let ArrivingPage { input, facts, .. } = page;
        let rank = match verdict.duplicate_of().filter(|of| *of < settled) {
            // A page of an earlier manifest gives its place to none.
            Some(of) => input.rank.min(self.arrival(of).await?.page.input.rank),
            None => input.rank,
        };
        let input = PageInput { page: renewal_name(input.page), renews: Some(number), rank, ..input };
        Ok((ArrivingPage::new(input, facts).into(), run))
    }

    async fn arrival(&self, number: Sequence) -> Result<JudgedArrival, ClusterError> {
        let found = judged_arrival(self.session, number).await?;
        found.ok_or_else(|| ClusterError::Damaged(format!("no turn has decided page {number}")))
    }
}

/// What a second look has decided, by the numbers of the pages that were decided again.
#[derive(Clone, Debug, Default)]
pub struct LookDecisions(HashMap<Sequence, TurnAnswer>);

impl LookDecisions {
    /// Reads the decisions of the second look of this number.
    ///
    /// Cost: a read of its turns and arrivals. Memory: 60 bytes for each page that was decided again.
    ///
    /// # Errors
    /// [`ClusterError::Damaged`] if it is not done, or cannot be read.
    pub async fn read(session: &Session, look: i32) -> Result<Self, ClusterError> {
        let doing = ClusterError::query("read a second look");
        let statement = "SELECT first_turn, records FROM input WHERE number = $1 AND name IS NULL";
        let row = session.client().query_opt(statement, &[&look]).await.map_err(&doing)?;
        let damaged = || ClusterError::Damaged(format!("the second look {look} is not done"));
        let row = row.ok_or_else(damaged)?;
        let (first, records): (i64, Option<i64>) = (row.try_get(0).map_err(&doing)?, row.try_get(1).map_err(&doing)?);
        let (records, mut decisions, mut last, mut seen) =
            (records.ok_or_else(damaged)?, Self::default(), first - 1, 0);
        while seen < records {
            let turns = turns_behind(session, last, TURNS_AT_ONCE).await?;
            last = turns.last().ok_or_else(damaged)?.number;
            for row in turns {
                let verdicts = TurnVerdicts::read(&row.body)?;
                let ranges = verdicts.ranges();
                seen += ranges.iter().map(|range| i64::from(range.count)).sum::<i64>();
                if seen > records {
                    // The turns of a further manifest.
                    break;
                }
                if verdicts.found().is_empty() {
                    decisions.enter(&verdicts, arriving_of(session, &ranges).await?);
                }
            }
        }
        Ok(decisions)
    }

    fn enter(&mut self, verdicts: &TurnVerdicts, arrivals: Vec<Arriving>) {
        for (arriving, answer) in arrivals.into_iter().zip(verdicts.page_answers()) {
            if let (Arriving::Page(page), Some(answer)) = (arriving, answer)
                && let Some(earlier) = page.input.renews
            {
                self.0.insert(earlier, answer);
            }
        }
    }

    /// Returns the last decision on a page that was decided again, given by its first number.
    pub fn of(&self, page: Sequence) -> Option<TurnAnswer> {
        let mut last = *self.0.get(&page)?;
        while let Some(later) = self.0.get(&last.sequence) {
            last = *later;
        }
        Some(last)
    }
}

/// Returns the first page that the last questions were not about.
async fn looked(session: &Session) -> Result<Sequence, ClusterError> {
    let doing = ClusterError::query("read what the last questions were about");
    let row = session.client().query_one("SELECT looked FROM crawl", &[]).await.map_err(&doing)?;
    let looked: i64 = row.try_get(0).map_err(doing)?;
    Ok(Sequence(u32::try_from(looked).unwrap_or(u32::MAX)))
}
