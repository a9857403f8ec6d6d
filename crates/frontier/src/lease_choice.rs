//! Which URL to lease next.
//!
//! A page that is fetched once more for a new verdict goes before all others. A plain crawl takes turns between origins.
//! A focused crawl takes the best score, waits for better URLs that are on their way, and tries unknown hosts.

use std::time::Instant;

use super::best_first::{PATIENCE, ScoreRank};
use super::host_queues::{MirrorLikelihood, QueuedUrl};
use super::predicted_duplicates::PredictedDuplicates;
use super::state::FrontierState;
use super::{FrontierError, UrlLog};

/// The next step of the engine.
pub(super) enum LeaseChoice {
    /// Lease this URL; `explored` if it is out of turn.
    Take { next: QueuedUrl, explored: bool },
    /// Lease this URL, whose page is counted.
    Revise(QueuedUrl),
    /// Wait until this moment, or for a change: a better URL is on its way.
    Hold(Instant),
}

/// Chooses what to lease at `now`; `None` if nothing is due, or the crawl has its pages.
pub(super) fn choose<L: UrlLog>(
    state: &mut FrontierState<L>,
    predictions: &PredictedDuplicates,
    now: Instant,
) -> Result<Option<LeaseChoice>, FrontierError> {
    if let Some(next) = state.queues.next_revision(now) {
        return Ok(Some(LeaseChoice::Revise(next)));
    }
    if state.has_all_pages() {
        return Ok(None);
    }
    let take = |next: Option<QueuedUrl>, explored| next.map(|next| LeaseChoice::Take { next, explored });
    let Some(best_first) = &state.best_first else {
        return Ok(take(state.queues.next(now), false));
    };
    if let Some(dice) = best_first.explore() {
        return Ok(take(state.queues.next_out_of_turn(now, dice), true));
    }
    let Some(best) = state.queues.next_best(now) else { return Ok(None) };
    let tries = state.queues.tries();
    let better = [best_first.best_on_lease(now), state.queues.best_soon(now, PATIENCE)];
    let awaited = best_first.awaited_try(tries, now);
    let unknown = match best_first.min_novelty(best.priority.score, tries) {
        Some(least) => {
            let unknown = next_unknown_host(state, predictions, now)?;
            unknown.filter(|(_, mirror)| mirror.novelty() > least).map(|(next, _)| next)
        }
        None => None,
    };
    let next = unknown.unwrap_or(best);
    // The crawl fetches a seed whatever its host is like.
    let is_try = next.priority.score != ScoreRank::FIRST && state.queues.is_unknown(next.origin);
    if let Some(until) = awaited.filter(|_| is_try) {
        return Ok(Some(LeaseChoice::Hold(until)));
    }
    if unknown.is_some() {
        return Ok(take(unknown, true));
    }
    let better = better.into_iter().flatten().filter(|(score, _)| score.is_worth_waiting_for(next.priority.score));
    Ok(match better.map(|(_, until)| until).min() {
        Some(until) => Some(LeaseChoice::Hold(until)),
        None => take(Some(next), false),
    })
}

/// Returns the best URL of an unknown host, and the likelihood that the host is a mirror. Looks that likelihood up for
/// the first host only: if it has grown, another host may come first.
fn next_unknown_host<L: UrlLog>(
    state: &mut FrontierState<L>,
    predictions: &PredictedDuplicates,
    now: Instant,
) -> Result<Option<(QueuedUrl, MirrorLikelihood)>, FrontierError> {
    while let Some(next) = state.queues.next_unknown_host(now) {
        let mirror = predictions.mirror_likelihood(state, next)?;
        if !state.queues.set_mirror_likelihood(next.origin, mirror) {
            return Ok(Some((next, mirror)));
        }
    }
    Ok(None)
}
