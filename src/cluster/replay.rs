//! Decides all turns of a log once more, by one decider: it must give the verdicts that the cluster has given.

use crate::detect::{Decider, InMemory, Options, Settling};
use crate::model::{PageId, Sequence};

use super::connection::Session;
use super::error::ClusterError;
use super::holder::arriving_of;
use super::turn_body::TurnVerdicts;
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

/// As [`replay`]. Calls `decided` with the name of each page.
pub(super) async fn replay_with(
    session: &Session,
    options: Options,
    mut decided: impl FnMut(PageId),
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
            let pages = arriving_of(session, &verdicts.ranges()).await?;
            let pages: Vec<_> = pages.into_iter().map(|page| page.input).collect();
            let turn = verdicts.of(pages.clone())?;
            let judged = decider.decide(pages)?;
            decider.settle();
            for (answer, judged) in turn.answers.iter().zip(&judged) {
                if (answer.sequence, answer.verdict) != (judged.sequence, judged.verdict) {
                    found.differing.push(answer.sequence);
                }
            }
            turn.pages.iter().for_each(|page| decided(page.input.page));
            found.turns += 1;
            found.pages += turn.pages.len() as u64;
            last = row.number;
        }
    }
}
