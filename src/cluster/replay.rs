//! Decides all turns of a log once more, by one decider: it must give the verdicts that the cluster has given.

use crate::detect::{Decider, InMemory, Options, Settling};
use crate::model::{PageInput, Sequence};

use super::connection::Session;
use super::error::ClusterError;
use super::holder::arriving_of;
use super::turn_body::{TurnArrivals, TurnVerdicts};
use super::turn_log::turns_behind;

/// Turns that are read at once.
const AT_ONCE: i64 = 16;

/// What a replay has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// Turns.
    pub turns: u64,
    /// Pages that were decided.
    pub pages: u64,
    /// Withdrawals: pages that were judged and could not be completed.
    pub withdrawn: u64,
    /// Pages on which the one decider gives another verdict.
    pub differing: Vec<Sequence>,
}

/// Replays the log of the crawl that the session uses.
///
/// Cost: a decision for each page, in the memory of an index of all of them.
///
/// # Errors
/// [`ClusterError::Damaged`] if a turn or an arrival cannot be read.
pub async fn replay(session: &Session, options: Options) -> Result<Replay, ClusterError> {
    replay_with(session, options, |_| {}).await
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
    options: Options,
    mut told: impl FnMut(Replayed<'_>),
) -> Result<Replay, ClusterError> {
    let mut decider: Decider<InMemory> = Decider::in_memory(Options { settling: Settling::AtMarks, ..options });
    let (mut found, mut last) = (Replay::default(), 0);
    loop {
        let turns = turns_behind(session, last, AT_ONCE).await?;
        if turns.is_empty() {
            return Ok(found);
        }
        for row in turns {
            let verdicts = TurnVerdicts::read(&row.body)?;
            let arrivals: TurnArrivals = arriving_of(session, &verdicts.ranges()).await?.into_iter().collect();
            let turn = verdicts.of(arrivals.clone())?;
            let judged = decider.decide_turn(arrivals.turn)?;
            for (answer, judged) in turn.answers.iter().zip(&judged) {
                if answer != judged {
                    found.differing.push(answer.sequence);
                }
            }
            turn.withdrawn.iter().for_each(|page| told(Replayed::Withdrawn(*page)));
            let numbered = (turn.first.0..).map(Sequence).zip(&turn.pages);
            numbered.for_each(|(number, page)| told(Replayed::Decided(number, &page.input)));
            found.withdrawn += turn.withdrawn.len() as u64;
            found.turns += 1;
            found.pages += turn.pages.len() as u64;
            last = row.number;
        }
    }
}
