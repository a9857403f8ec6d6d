//! What belongs to a closed pattern leaves the queue, and comes back when the pattern is opened again.
//!
//! A URL is looked at when its turn comes, not when it is offered: so all that is known by then counts,
//! and the log has nothing to say of it but that it was queued.

use super::engine::Engine;
use super::host_queues::Next;
use super::url_state::Phase;
use super::{FrontierError, UrlLog};
use crate::model::{LinkKind, OutcomeKind, UrlId};

impl<L: UrlLog> Engine<L> {
    /// Takes note of an outcome, and of the page that it repeats or the target of the redirect.
    pub(super) fn note(&mut self, id: UrlId, kind: OutcomeKind, repeats: Option<UrlId>) -> Result<(), FrontierError> {
        if kind.is_page() {
            self.note_page(id, repeats)?;
        }
        self.learn_rules(id, kind, repeats)
    }

    fn note_page(&mut self, id: UrlId, repeats: Option<UrlId>) -> Result<(), FrontierError> {
        if !self.patterns.is_on() || (repeats.is_none() && self.patterns.is_empty()) {
            return Ok(());
        }
        let url = self.rows.get(id)?.url;
        match repeats {
            Some(original) => self.patterns.repeated(&url, &self.rows.get(original)?.url, original),
            None => self.patterns.unique(&url),
        }
        Ok(())
    }

    /// Takes what would be leased next out of its queue if its pattern is closed. Whether it is.
    pub(super) fn leave_closed(&mut self, next: Next) -> Result<bool, FrontierError> {
        if self.patterns.are_open() || self.phases.is_from_seed(next.id) {
            return Ok(false);
        }
        let row = self.rows.get(next.id)?;
        let kind = self.better_paths.get(&next.id.0).unwrap_or(&row.discovery).kind;
        let is_page = !matches!(kind, LinkKind::Seed | LinkKind::SitemapFile | LinkKind::Revision);
        let is_closed = is_page && self.patterns.closed(&row.url).is_some();
        if is_closed {
            self.origins.discard(next.origin);
            self.leases.forget(next.id);
            self.phases.set(next.id, Phase::Closed);
            self.release(next.id);
        }
        Ok(is_closed)
    }

    /// Queues what was left out and belongs to no closed pattern any more. Whether there is any. Costs
    /// a look at every URL if a pattern was opened again.
    pub(super) fn reopen(&mut self) -> Result<bool, FrontierError> {
        if !self.patterns.take_reopened() {
            return Ok(false);
        }
        let mut is_any = false;
        for id in (0..self.seen.len() as u32).map(UrlId) {
            if self.phases.get(id) == Some(Phase::Closed) {
                let row = self.rows.get(id)?;
                if self.patterns.closed(&row.url).is_none() {
                    let discovery = self.better_paths.get(&id.0).copied().unwrap_or(row.discovery);
                    let priority = self.priority(id, discovery);
                    let origin = self.origins.number(&row.url).ok_or(FrontierError::Missing(id))?;
                    self.phases.set(id, Phase::Queued);
                    self.origins.push(origin, priority, id);
                    is_any = true;
                }
            }
        }
        Ok(is_any)
    }
}
