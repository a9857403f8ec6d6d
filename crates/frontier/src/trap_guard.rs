//! Leaves URLs out whose pattern is closed, and brings them back when the pattern is opened again.
//!
//! The guard checks a URL when its turn comes, not when it is offered. So all that is known by then counts, and the log
//! has nothing but that the URL was queued.

use super::effect::Effect;
use super::host_queues::QueuedUrl;
use super::state::FrontierState;
use super::trap_patterns::TrapPatterns;
use super::url_state::{HeldBack, UrlPhase};
use super::{FrontierError, UrlLog};
use ndcrawl_model::UrlId;

impl TrapPatterns {
    /// Learns whether a page is unique.
    pub(super) fn note_page<L: UrlLog>(
        &mut self,
        state: &mut FrontierState<L>,
        id: UrlId,
        repeats: Option<UrlId>,
    ) -> Result<(), FrontierError> {
        if !self.is_on() || (repeats.is_none() && self.is_empty()) {
            return Ok(());
        }
        let url = state.rows.get(id)?.url;
        match repeats {
            Some(original) => self.note_duplicate(&url, &state.rows.get(original)?.url, original),
            None => self.note_unique(&url),
        }
        Ok(())
    }

    /// Leaves the next URL out if its pattern is closed.
    pub(super) fn check<L: UrlLog>(
        &self,
        state: &mut FrontierState<L>,
        next: QueuedUrl,
    ) -> Result<Option<Effect>, FrontierError> {
        if self.are_open() || state.phases.is_from_seed(next.id) {
            return Ok(None);
        }
        let row = state.rows.get(next.id)?;
        let is_closed = state.best_path(next.id, &row).may_be_left_out() && self.closed_pattern(&row.url).is_some();
        Ok(is_closed.then_some(Effect::LeaveOut(next, HeldBack::Closed)))
    }

    /// Returns the URLs to requeue because their patterns were opened again. Costs a look at every URL if one was.
    pub(super) fn reopened<L: UrlLog>(&mut self, state: &mut FrontierState<L>) -> Result<Vec<Effect>, FrontierError> {
        let closed = UrlPhase::HeldBack(HeldBack::Closed);
        let mut effects = Vec::new();
        if !self.take_reopened() {
            return Ok(effects);
        }
        for id in (0..state.seen.len() as u32).map(UrlId) {
            if state.phases.get(id) != Some(closed) {
                continue;
            }
            let row = state.rows.get(id)?;
            if self.closed_pattern(&row.url).is_none() {
                let priority = state.priority(id, state.best_path(id, &row));
                let origin = state.queues.number(&row.url).ok_or(FrontierError::Missing(id))?;
                effects.push(Effect::Requeue(QueuedUrl { origin, priority, id }, closed));
            }
        }
        Ok(effects)
    }
}
