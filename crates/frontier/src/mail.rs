//! Sends links to the slots of their URLs, and receives the links of other slots.
//!
//! A frontier sees a URL of another slot once and mails the link. It mails another link to that URL only if that may
//! change the decision there: it is nearer than all paths known here, it is the first that may be followed, or it comes
//! from a seed, or robots.txt names it as a sitemap. Scope and traps are judged where the URL belongs.
//!
//! The referrer of a received link becomes a row, too: it is a URL of another slot, with the depth that it has there.

use super::scope::SeedRelation;
use super::state::FrontierState;
use super::url_state::UrlPhase;
use super::{FrontierError, UrlLog};
use ndcrawl_model::{
    CanonicalUrl, Discovery, Link, LinkKind, Mailed, MailedReferrer, Offered, Requeue, Slot, UrlId, UrlRow, UrlState,
};

/// Sees a URL of another slot, and mails the link if that slot can learn something from it.
pub(super) fn send<L: UrlLog>(
    state: &mut FrontierState<L>,
    slot: Slot,
    link: Link,
    relation: SeedRelation,
) -> Result<Offered, FrontierError> {
    let (path, is_followed) = (link.discovery, link.only_seen.is_none());
    let (id, decision) = match state.find(link.url.as_str()) {
        Some(id) => {
            let is_nearer = is_followed && path.depth < state.depth_of(id);
            if !is_nearer && relation == SeedRelation::Other {
                return Ok(Offered { id, decision: None });
            }
            if is_nearer {
                note_path(state, id, path);
            }
            (id, None)
        }
        None => {
            let decision = UrlState::Elsewhere(link.only_seen);
            let url = link.url.as_str().to_owned();
            let row = UrlRow { url, discovery: path, state: decision, clue: link.clue };
            (state.add_elsewhere(row, relation.is_from_seed())?, Some(decision))
        }
    };
    mail(state, slot, link)?;
    Ok(Offered { id, decision })
}

/// Mails a shorter path that was handed on to a URL, if the URL belongs to another slot.
pub(super) fn hand_on<L: UrlLog>(
    state: &mut FrontierState<L>,
    id: UrlId,
    path: Discovery,
) -> Result<(), FrontierError> {
    if state.phases.get(id) != Some(UrlPhase::Elsewhere) {
        return Ok(());
    }
    let UrlRow { url, clue, .. } = state.rows.get(id)?;
    let url = CanonicalUrl::from_canonical(&url).map_err(|source| FrontierError::Damaged { id, source })?;
    match state.outbox.other_slot(&url) {
        Some(slot) => mail(state, slot, Link { url, discovery: path, only_seen: None, clue }),
        None => Ok(()),
    }
}

/// Returns a mailed link as a link of this frontier.
pub(super) fn receive<L: UrlLog>(state: &mut FrontierState<L>, mail: Mailed) -> Result<Link, FrontierError> {
    let Mailed { url, discovery, referrer, only_seen, clue } = mail;
    let url = canonical(url)?;
    let referrer = referrer.map(|referrer| note_referrer(state, referrer)).transpose()?.flatten();
    Ok(Link { url, discovery: Discovery { referrer, ..discovery }, only_seen, clue })
}

fn mail<L: UrlLog>(state: &mut FrontierState<L>, slot: Slot, link: Link) -> Result<(), FrontierError> {
    let Link { url, discovery, only_seen, clue } = link;
    let referrer = match discovery.referrer {
        Some(id) => Some(MailedReferrer {
            url: state.rows.get(id)?.url,
            depth: state.depth_of(id),
            is_from_seed: state.phases.is_from_seed(id),
        }),
        None => None,
    };
    let discovery = Discovery { referrer: None, ..discovery };
    state.outbox.push(slot, Mailed { url: url.as_str().to_owned(), discovery, referrer, only_seen, clue });
    Ok(())
}

/// Returns the number of the page that names a received link. `None` if it should be one of this slot and is not known.
fn note_referrer<L: UrlLog>(
    state: &mut FrontierState<L>,
    MailedReferrer { url, depth, is_from_seed }: MailedReferrer,
) -> Result<Option<UrlId>, FrontierError> {
    let url = canonical(url)?;
    // The kind keeps the standing in the log.
    let kind = if is_from_seed { LinkKind::Seed } else { LinkKind::Page };
    let path = Discovery::new(kind, None, depth);
    let Some(id) = state.find(url.as_str()) else {
        if state.outbox.other_slot(&url).is_none() {
            return Ok(None);
        }
        let url = url.as_str().to_owned();
        let row = UrlRow { url, discovery: path, state: UrlState::Elsewhere(None), clue: None };
        return state.add_elsewhere(row, is_from_seed).map(Some);
    };
    let is_news = depth < state.depth_of(id) || is_from_seed && !state.phases.is_from_seed(id);
    if state.phases.get(id) == Some(UrlPhase::Elsewhere) && is_news {
        note_path(state, id, Discovery { depth: depth.min(state.depth_of(id)), ..path });
        if is_from_seed {
            state.phases.mark_from_seed(id);
        }
    }
    Ok(Some(id))
}

/// Notes a better path to a URL of another slot, for the next commit, too.
fn note_path<L: UrlLog>(state: &mut FrontierState<L>, id: UrlId, path: Discovery) {
    state.set_depth(id, path.depth);
    state.requeued.push(Requeue { url: id, discovery: path });
}

fn canonical(url: String) -> Result<CanonicalUrl, FrontierError> {
    CanonicalUrl::from_canonical(&url).map_err(|source| FrontierError::Mail { url, source })
}
