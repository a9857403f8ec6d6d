//! Restores the frontier of an earlier run from its log.
//!
//! All that is in memory follows from the log: each row, each requeueing, each outcome. A depth limit that has changed
//! since applies to URLs without outcome: it queues the rows that it lets in and defers those that it keeps out. Cost:
//! some hashing and one look at each row's text; meanwhile 4 more bytes for each URL.

use super::chunks::Chunks;
use super::engine::Engine;
use super::page_links::NO_PATH;
use super::scope::SeedRelation;
use super::state::FrontierState;
use super::url_state::{HeldBack, UrlPhase};
use super::{FrontierError, UrlLog};
use ndcrawl_model::{
    CanonicalUrl, Deferral, Discovery, LinkKind, Relevance, Requeue, UrlError, UrlId, UrlRow, UrlState,
};

/// The origin of a URL that is excluded or in another slot does not count among the origins.
const NO_ORIGIN: u32 = u32::MAX;

impl<L: UrlLog> Engine<L> {
    /// Restores the next row of the log.
    pub(super) fn restore_url(&mut self, row: &UrlRow) -> Result<(), FrontierError> {
        let Self { state, origins, .. } = self;
        let id = state.seen.push(state.seen.hash(&row.url))?;
        let relation = state.relation(row.discovery);
        let is_elsewhere = matches!(row.state, UrlState::Elsewhere(_));
        if !is_elsewhere {
            restore_scope(state, id, &row.url, relation)?;
        }
        let phase = match row.state {
            UrlState::Queued | UrlState::Deferred(Deferral::Depth) => phase_by_depth(state, row.discovery),
            UrlState::Deferred(reason) => UrlPhase::HeldBack(HeldBack::Deferred(reason)),
            UrlState::Excluded(_) => UrlPhase::HeldBack(HeldBack::Excluded),
            UrlState::Elsewhere(_) => UrlPhase::Elsewhere,
        };
        state.phases.push(phase, relation.is_from_seed());
        state.push_depth(row.discovery.depth, row.state);
        let has_no_origin = is_elsewhere || phase == UrlPhase::HeldBack(HeldBack::Excluded);
        let origin = if has_no_origin { NO_ORIGIN } else { origin_of(state, id, &row.url)? };
        origins.get_or_insert_with(Chunks::new).push(origin);
        if phase == UrlPhase::Queued {
            restore_clue(state, id, row);
            state.queues.push(origin, state.priority(id, row.discovery), id);
        }
        state.rows.skip();
        self.predictions.note_discovery(id, row.discovery);
        Ok(())
    }

    /// Restores the next requeueing of the log.
    pub(super) fn restore_requeue(&mut self, path: &Requeue) -> Result<(), FrontierError> {
        let Self { state, origins, .. } = self;
        let Requeue { url: id, discovery } = *path;
        let before = state.phases.get(id).ok_or(FrontierError::Missing(id))?;
        if discovery.kind == LinkKind::Revision {
            state.phases.mark_revised(id);
        }
        let relation = state.relation(discovery);
        // One of another slot then, and of this frontier's by now, is taken for an excluded one that is let in.
        let is_adopted = before == UrlPhase::Elsewhere && is_own(state, id)?;
        if before == UrlPhase::Elsewhere && !is_adopted {
            state.set_depth(id, discovery.depth);
            if relation.is_from_seed() {
                state.phases.mark_from_seed(id);
            }
            return Ok(());
        }
        if relation.is_from_seed() {
            let url = state.rows.get(id)?.url;
            restore_scope(state, id, &url, relation)?;
            state.phases.mark_from_seed(id);
        }
        if is_adopted || before == UrlPhase::HeldBack(HeldBack::Excluded) {
            let url = state.rows.get(id)?.url;
            let origin = origin_of(state, id, &url)?;
            set_origin(origins, id, origin);
        }
        let phase = phase_by_depth(state, discovery);
        let is_shorter = discovery.depth < state.depth_of(id) && discovery.kind != LinkKind::Revision;
        state.better_paths.insert(id.0, discovery);
        // Being fetched once more brings nothing nearer or farther.
        if discovery.kind != LinkKind::Revision || state.depth_of(id) == NO_PATH {
            state.set_depth(id, discovery.depth);
        }
        // A depth limit that lets its first path in has queued it already.
        if before == UrlPhase::Queued {
            if let Some(origin) = origin_in(origins, id).filter(|_| is_shorter) {
                state.queues.shorten(origin, state.priority(id, discovery), id, false);
            }
        } else {
            state.phases.set(id, phase);
            if let (UrlPhase::Queued, Some(origin)) = (phase, origin_in(origins, id)) {
                let row = state.rows.get(id)?;
                restore_clue(state, id, &row);
                state.queues.push(origin, state.priority(id, discovery), id);
            }
        }
        Ok(())
    }

    /// Restores the next shorter path of the log.
    pub(super) fn restore_shorter_path(&mut self, path: &Requeue) -> Result<(), FrontierError> {
        self.state.shorten(path.url, path.discovery, false)?;
        self.state.shortened.clear();
        // Outcomes are restored later.
        self.state.has_outdated_depths = true;
        Ok(())
    }

    /// Restores the relevance of a page. After all requeueings.
    pub(super) fn restore_worth(&mut self, id: UrlId, worth: Option<Relevance>) {
        let Self { state, origins, .. } = self;
        if let Some(best_first) = &mut state.best_first {
            best_first.learn(id, worth);
            best_first.count_lease();
        }
        if let Some(origin) = origin_in(origins, id).filter(|_| worth.is_some()) {
            state.queues.mark_host_known(origin);
        }
    }

    /// Restores the next outcome of the log.
    pub(super) fn restore_done(&mut self, id: UrlId, is_page: bool) {
        let Self { state, origins, .. } = self;
        let has_none = UrlPhase::HeldBack(HeldBack::Excluded);
        if state.phases.get(id).is_none_or(|phase| [UrlPhase::Done, UrlPhase::Elsewhere, has_none].contains(&phase)) {
            return;
        }
        state.phases.set(id, UrlPhase::Done);
        if let Some(origin) = origin_in(origins, id).filter(|_| is_page) {
            state.pages += 1;
            state.queues.count_page(origin);
        }
    }

    /// Ends the restoring: URLs with an outcome leave the queues.
    pub(super) fn restored(&mut self) {
        let Self { state, origins, .. } = self;
        let phases = &state.phases;
        state.better_paths.retain(|&id, _| phases.get(UrlId(id)) != Some(UrlPhase::Done));
        let paths = &state.better_paths;
        let is_revision = |id: UrlId| paths.get(&id.0).is_some_and(|path| path.kind == LinkKind::Revision);
        state.queues.retain(|id| phases.get(id) == Some(UrlPhase::Queued) && !is_revision(id));
        let queued = paths.keys().map(|&id| UrlId(id)).filter(|id| phases.get(*id) == Some(UrlPhase::Queued));
        let mut revisions: Vec<UrlId> = queued.filter(|id| is_revision(*id)).collect();
        revisions.sort_unstable();
        for id in revisions {
            if let Some(origin) = origin_in(origins, id) {
                state.restore_revision(id, origin);
            }
        }
        state.reorder();
        *origins = None;
    }
}

fn set_origin(origins: &mut Option<Chunks<u32>>, id: UrlId, origin: u32) {
    if let Some(place) = origins.as_mut().and_then(|origins| origins.get_mut(id.index())) {
        *place = origin;
    }
}

fn origin_in(origins: &Option<Chunks<u32>>, id: UrlId) -> Option<u32> {
    origins.as_ref()?.get(id.index()).copied().filter(|&origin| origin != NO_ORIGIN)
}

/// Restores the clue of a URL's first sight; later clues are not in the log.
fn restore_clue<L: UrlLog>(state: &mut FrontierState<L>, id: UrlId, row: &UrlRow) {
    if let (Some(best_first), Some(clue)) = (&mut state.best_first, row.clue) {
        best_first.note_link(id, &row.url, clue, row.discovery.linking_page());
    }
}

fn restore_scope<L: UrlLog>(
    state: &mut FrontierState<L>,
    id: UrlId,
    url: &str,
    relation: SeedRelation,
) -> Result<(), FrontierError> {
    if relation.is_from_seed() {
        let url = CanonicalUrl::from_canonical(url).map_err(|source| FrontierError::Damaged { id, source })?;
        state.scope.widen(&url, relation);
    }
    Ok(())
}

fn is_own<L: UrlLog>(state: &mut FrontierState<L>, id: UrlId) -> Result<bool, FrontierError> {
    let url = state.rows.get(id)?.url;
    let url = CanonicalUrl::from_canonical(&url).map_err(|source| FrontierError::Damaged { id, source })?;
    Ok(state.outbox.other_slot(&url).is_none())
}

fn phase_by_depth<L: UrlLog>(state: &FrontierState<L>, Discovery { kind, depth, .. }: Discovery) -> UrlPhase {
    let has_limit = !matches!(kind, LinkKind::Seed | LinkKind::Revision);
    if has_limit && state.is_too_deep(depth) {
        UrlPhase::HeldBack(HeldBack::Deferred(Deferral::Depth))
    } else {
        UrlPhase::Queued
    }
}

fn origin_of<L: UrlLog>(state: &mut FrontierState<L>, id: UrlId, url: &str) -> Result<u32, FrontierError> {
    let damaged = FrontierError::Damaged { id, source: UrlError::NotCanonical };
    state.queues.number(url).ok_or(damaged)
}
