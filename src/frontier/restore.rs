//! Taking up an earlier crawl from its log.
//!
//! What is in memory is derived from the log alone: each row, each requeueing, each outcome. No text
//! is kept. A limit on depth that has changed since is applied to what is not done: rows that it
//! lets in are queued, rows that it keeps out are deferred. Cost: some hashing and one look at the
//! row's text each; while it lasts, 4 bytes more for each URL.

use super::chunks::Chunks;
use super::engine::{Engine, naming_page};
use super::scope::Standing;
use super::url_state::Phase;
use super::{FrontierError, UrlLog};
use crate::model::{
    CanonicalUrl, Deferral, Discovery, LinkKind, Relevance, Requeue, UrlError, UrlId, UrlRow, UrlState,
};

/// The origin of each URL while an earlier run is restored.
pub(super) type Restoring = Option<Chunks<u32>>;

/// The origin of an excluded URL is not counted among the origins.
const NO_ORIGIN: u32 = u32::MAX;

impl<L: UrlLog> Engine<L> {
    /// Takes the next row of the log.
    pub(super) fn restore_url(&mut self, row: &UrlRow) -> Result<(), FrontierError> {
        let id = self.seen.push(self.seen.hash(&row.url))?;
        self.note_discovery(id, row.discovery);
        let standing = self.standing(row.discovery);
        self.restore_scope(id, &row.url, standing)?;
        let phase = match row.state {
            UrlState::Queued | UrlState::Deferred(Deferral::Depth) => self.phase_by_depth(row.discovery),
            UrlState::Deferred(reason) => Phase::Deferred(reason),
            UrlState::Excluded(_) => Phase::Excluded,
        };
        self.phases.push(phase, standing.is_from_seed());
        let origin = if phase == Phase::Excluded { NO_ORIGIN } else { self.origin_of(id, &row.url)? };
        self.restoring.get_or_insert_with(Chunks::new).push(origin);
        if phase == Phase::Queued {
            self.restore_clue(id, row);
            self.origins.push(origin, self.priority(id, row.discovery), id);
        }
        self.rows.skip();
        Ok(())
    }

    /// Of later sightings of a URL nothing is known any more.
    fn restore_clue(&mut self, id: UrlId, row: &UrlRow) {
        if let (Some(prospects), Some(clue)) = (&mut self.prospects, row.clue) {
            let source = naming_page(row.discovery);
            prospects.note(id, &row.url, clue, source);
        }
    }

    /// Takes what was found at a URL of an earlier run's log. After all requeueings.
    pub(super) fn restore_worth(&mut self, id: UrlId, worth: Option<Relevance>) {
        if let Some(prospects) = &mut self.prospects {
            prospects.learn(id, worth);
            prospects.count_lease();
        }
        if let Some(origin) = self.restored_origin(id).filter(|_| worth.is_some()) {
            self.origins.know_host(origin);
        }
    }

    fn restore_scope(&mut self, id: UrlId, url: &str, standing: Standing) -> Result<(), FrontierError> {
        if standing.is_from_seed() {
            let url = CanonicalUrl::from_canonical(url).map_err(|source| FrontierError::Damaged { id, source })?;
            self.scope.widen(&url, standing);
        }
        Ok(())
    }

    fn phase_by_depth(&self, Discovery { kind, depth, .. }: Discovery) -> Phase {
        let is_too_deep = depth > self.depth && !matches!(kind, LinkKind::Seed | LinkKind::Revision);
        if is_too_deep { Phase::Deferred(Deferral::Depth) } else { Phase::Queued }
    }

    fn origin_of(&mut self, id: UrlId, url: &str) -> Result<u32, FrontierError> {
        let damaged = FrontierError::Damaged { id, source: UrlError::NotCanonical };
        self.origins.number(url).ok_or(damaged)
    }

    /// Takes the next requeueing of the log.
    pub(super) fn restore_requeue(&mut self, path: &Requeue) -> Result<(), FrontierError> {
        let id = path.url;
        let before = self.phases.get(id).ok_or(FrontierError::Missing(id))?;
        if path.discovery.kind == LinkKind::Revision {
            self.phases.mark_revised(id);
        }
        let standing = self.standing(path.discovery);
        if standing.is_from_seed() {
            let url = self.rows.get(id)?.url;
            self.restore_scope(id, &url, standing)?;
            self.phases.mark_from_seed(id);
        }
        if before == Phase::Excluded {
            let url = self.rows.get(id)?.url;
            let origin = self.origin_of(id, &url)?;
            self.remember_origin(id, origin);
        }
        let phase = self.phase_by_depth(path.discovery);
        if phase == Phase::Queued {
            self.better_paths.insert(id.0, path.discovery);
        }
        // A limit that lets its first path in has queued it already.
        if before != Phase::Queued {
            self.phases.set(id, phase);
            if let (Phase::Queued, Some(origin)) = (phase, self.restored_origin(id)) {
                let row = self.rows.get(id)?;
                self.restore_clue(id, &row);
                self.origins.push(origin, self.priority(id, path.discovery), id);
            }
        }
        Ok(())
    }

    fn remember_origin(&mut self, id: UrlId, origin: u32) {
        if let Some(place) = self.restoring.as_mut().and_then(|origins| origins.get_mut(id.index())) {
            *place = origin;
        }
    }

    fn restored_origin(&self, id: UrlId) -> Option<u32> {
        self.restoring.as_ref()?.get(id.index()).copied().filter(|&origin| origin != NO_ORIGIN)
    }

    /// Takes the next outcome of the log.
    pub(super) fn restore_done(&mut self, id: UrlId, is_page: bool) {
        if matches!(self.phases.get(id), None | Some(Phase::Done | Phase::Excluded)) {
            return;
        }
        self.phases.set(id, Phase::Done);
        if let Some(origin) = self.restored_origin(id).filter(|_| is_page) {
            self.pages += 1;
            self.origins.count_page(origin);
        }
    }

    /// Ends the restoring: what has its outcome leaves the queues.
    pub(super) fn restored(&mut self) {
        let phases = &self.phases;
        self.origins.retain(|id| phases.get(id) == Some(Phase::Queued));
        self.better_paths.retain(|&id, _| phases.get(UrlId(id)) == Some(Phase::Queued));
        self.reorder();
        self.restoring = None;
    }
}
