//! The state behind the lock, and what an offer does to it.

use hashbrown::HashMap;

use super::best_first::{Place, Prospects};
use super::host_queue::Priority;
use super::host_queues::Origins;
use super::leases::Leases;
use super::predicted_duplicates::Foretelling;
use super::rows::Rows;
use super::scope::{Scope, Standing};
use super::seen::SeenSet;
use super::trap_patterns::Patterns;
use super::url_state::{Phase, Phases};
use super::{FrontierError, Options, Remaining, UrlLog};
use crate::model::{
    Deferral, Discovery, Disposition, FrontierCounts, Link, LinkKind, Offered, Relevance, Requeue, UrlId, UrlRow,
    UrlState,
};

/// The frontier without its lock.
pub(super) struct Engine<L> {
    pub(super) depth: u16,
    pub(super) most_pages: u64,
    pub(super) pages: u64,
    pub(super) scope: Scope,
    pub(super) seen: SeenSet,
    pub(super) phases: Phases,
    pub(super) origins: Origins,
    pub(super) rows: Rows<L>,
    pub(super) leases: Leases,
    pub(super) patterns: Patterns,
    /// In a focused crawl.
    pub(super) prospects: Option<Prospects>,
    pub(super) foretelling: Foretelling,
    /// How requeued URLs that are not done were named last: this overrides the log's row.
    pub(super) better_paths: HashMap<u32, Discovery>,
    /// Requeued since the last look.
    pub(super) requeued: Vec<Requeue>,
    /// While an earlier run is restored: the origin of each URL, or [`NO_ORIGIN`](super::restore).
    pub(super) restoring: super::restore::Restoring,
}

impl<L: UrlLog> Engine<L> {
    pub(super) fn new(options: &Options, log: L, hash_seed: u64) -> Self {
        Self {
            depth: options.depth,
            most_pages: options.max_pages,
            pages: 0,
            scope: Scope::new(options),
            seen: SeenSet::new(hash_seed),
            phases: Phases::new(),
            origins: Origins::new(options.host_concurrency, options.max_pages_per_host, hash_seed),
            rows: Rows::new(log),
            leases: Leases::default(),
            patterns: Patterns::new(options.trap_guard, hash_seed),
            prospects: options.focus.map(|focus| Prospects::new(focus, hash_seed)),
            foretelling: Foretelling::new(options),
            better_paths: HashMap::new(),
            requeued: Vec::new(),
            restoring: super::restore::Restoring::default(),
        }
    }

    /// Seen-check and enqueue in one step.
    pub(super) fn offer(&mut self, link: Link) -> Result<Offered, FrontierError> {
        let standing = self.standing(link.discovery);
        self.scope.widen(&link.url, standing);
        let hash = self.seen.hash(link.url.as_str());
        let counterpart_of = self.counterpart_of(&link)?;
        let offered = match self.seen.find(hash) {
            Some(id) => Offered { id, disposition: self.offer_again(id, link, standing) },
            None => self.offer_new(hash, link, standing)?,
        };
        if let Some(page) = counterpart_of {
            self.note_counterpart(page, offered.id);
        }
        Ok(offered)
    }

    /// How close to the seeds a URL is that is named in this way.
    pub(super) fn standing(&self, discovery: Discovery) -> Standing {
        match discovery.kind {
            LinkKind::Seed => Standing::Seed,
            LinkKind::SitemapFile => Standing::Sitemap,
            LinkKind::Redirect if discovery.referrer.is_some_and(|id| self.phases.is_from_seed(id)) => {
                Standing::SeedRedirect
            }
            _ => Standing::Other,
        }
    }

    /// What is to become of a link.
    fn decide(&self, link: &Link, standing: Standing) -> UrlState {
        if let Some(exclusion) = self.scope.judge(&link.url, standing) {
            return UrlState::Excluded(exclusion);
        }
        match link.only_seen {
            Some(reason) => UrlState::Deferred(reason),
            None if link.discovery.depth > self.depth => UrlState::Deferred(Deferral::Depth),
            None => UrlState::Queued,
        }
    }

    fn offer_new(&mut self, hash: u64, mut link: Link, standing: Standing) -> Result<Offered, FrontierError> {
        if self.patterns.is_demoted(link.url.as_str()) {
            link.discovery.rank = link.discovery.rank.max(1);
        }
        let state = self.decide(&link, standing);
        let id = self.seen.push(hash)?;
        self.note_discovery(id, link.discovery);
        let (phase, disposition) = match state {
            UrlState::Queued => (Phase::Queued, Disposition::Queued),
            UrlState::Deferred(reason) => (Phase::Deferred(reason), Disposition::Deferred(reason)),
            UrlState::Excluded(rule) => (Phase::Excluded, Disposition::Excluded(rule)),
        };
        self.phases.push(phase, standing.is_from_seed());
        if state == UrlState::Queued {
            self.expect(id, &link);
            self.enqueue(id, &link);
        }
        let Link { url, discovery, clue, .. } = link;
        self.rows.push(UrlRow { url: url.as_str().to_owned(), discovery, state, clue });
        Ok(Offered { id, disposition })
    }

    fn enqueue(&mut self, id: UrlId, link: &Link) {
        let priority = self.priority(id, link.discovery);
        // A canonical URL always has an origin.
        if let Some(origin) = self.origins.number(link.url.as_str()) {
            self.origins.push(origin, priority, id);
        }
    }

    /// Notes what a link lets one expect, in a focused crawl.
    fn expect(&mut self, id: UrlId, link: &Link) {
        if let (Some(prospects), Some(clue)) = (&mut self.prospects, link.clue) {
            let source = naming_page(link.discovery);
            prospects.note(id, link.url.as_str(), clue, source);
        }
    }

    /// Where a URL stands among those of its origin.
    pub(super) fn priority(&self, id: UrlId, discovery: Discovery) -> Priority {
        let place = self.prospects.as_ref().map_or(Place::FIRST, |prospects| prospects.place(id));
        Priority { rank: discovery.rank, suspicion: 0, place, depth: discovery.depth }
    }

    /// Learns from what was found at a URL, and puts those that wait in order anew when it is time.
    pub(super) fn learn(&mut self, id: UrlId, worth: Option<Relevance>) {
        let Some(prospects) = &mut self.prospects else { return };
        prospects.learn(id, worth);
        if prospects.is_due() {
            self.reorder();
        }
    }

    /// Puts those that wait in order by what is known now.
    pub(super) fn reorder(&mut self) {
        if let Some(prospects) = &self.prospects {
            self.origins.reorder(|before, id| Priority { place: prospects.place(id), ..before });
        }
    }

    fn offer_again(&mut self, id: UrlId, link: Link, standing: Standing) -> Disposition {
        let reason = match self.phases.get(id) {
            Some(Phase::Deferred(reason)) => Some(reason),
            // A rule that kept it out may not hold for it as a seed, or since the scope has grown.
            Some(Phase::Excluded) => None,
            Some(Phase::Closed | Phase::Predicted | Phase::Waiting) if standing.is_from_seed() => None,
            Some(Phase::Queued) => {
                self.expect(id, &link);
                return Disposition::Seen;
            }
            _ => return Disposition::Seen,
        };
        match (self.decide(&link, standing), reason) {
            (UrlState::Queued, _) => {
                self.requeue(id, &link, standing);
                Disposition::Queued
            }
            // More than duplicates name it now, if only from too far away: a run that may go deeper
            // shall fetch it.
            (
                UrlState::Deferred(Deferral::Depth),
                Some(Deferral::DuplicateLink | Deferral::NoFollow | Deferral::NotAsked),
            ) if link.only_seen.is_none() => {
                self.note_better_path(id, &link);
                self.phases.set(id, Phase::Deferred(Deferral::Depth));
                Disposition::Deferred(Deferral::Depth)
            }
            (_, Some(reason)) => Disposition::Deferred(reason),
            (_, None) => Disposition::Seen,
        }
    }

    fn requeue(&mut self, id: UrlId, link: &Link, standing: Standing) {
        self.note_better_path(id, link);
        self.better_paths.insert(id.0, link.discovery);
        self.forget_foretold(id);
        self.phases.set(id, Phase::Queued);
        if standing.is_from_seed() {
            self.phases.mark_from_seed(id);
        }
        self.expect(id, link);
        self.enqueue(id, link);
    }

    fn note_better_path(&mut self, id: UrlId, link: &Link) {
        self.requeued.push(Requeue { url: id, discovery: link.discovery });
    }

    /// Queues a URL that had its outcome, before all others; once, whatever came of it then.
    pub(super) fn revise(&mut self, id: UrlId) -> Result<(), FrontierError> {
        if self.phases.get(id) != Some(Phase::Done) || self.phases.is_revised(id) {
            return Ok(());
        }
        let UrlRow { url, discovery, .. } = self.rows.get(id)?;
        let origin = self.origins.number(&url).ok_or(FrontierError::Missing(id))?;
        let discovery = Discovery { kind: LinkKind::Revision, rank: 0, ..discovery };
        self.requeued.push(Requeue { url: id, discovery });
        self.better_paths.insert(id.0, discovery);
        self.phases.set(id, Phase::Queued);
        self.phases.mark_revised(id);
        self.pages = self.pages.saturating_sub(1);
        self.origins.discount_page(origin);
        self.origins.push(origin, Priority::FIRST, id);
        Ok(())
    }

    pub(super) fn counts(&self) -> FrontierCounts {
        FrontierCounts {
            seen: self.seen.len() as u64,
            queued: self.phases.count(Phase::Queued) + self.phases.count(Phase::Waiting),
            leased: self.phases.count(Phase::Leased),
            deferred: self.phases.deferred(),
            excluded: self.phases.count(Phase::Excluded) + self.phases.count(Phase::Closed),
            predicted: self.phases.count(Phase::Predicted),
            origins: self.origins.busy(),
            pages: self.pages,
        }
    }

    /// Bytes of the tables. Costs a look at every origin.
    pub(super) fn bytes(&self) -> usize {
        self.seen.bytes()
            + self.phases.bytes()
            + self.origins.bytes()
            + self.rows.bytes()
            + self.leases.bytes()
            + self.patterns.bytes()
            + self.prospects.as_ref().map_or(0, Prospects::bytes)
            + self.foretelling.bytes()
            + self.better_paths.allocation_size()
            + self.requeued.capacity() * size_of::<Requeue>()
    }

    fn is_revised(&self, id: UrlId) -> bool {
        self.better_paths.get(&id.0).is_some_and(|path| path.kind == LinkKind::Revision)
    }

    /// What keeps a URL from having been fetched if the crawl ends now; `None` if it was.
    pub(super) fn remaining(&self, id: UrlId) -> Option<Remaining> {
        match self.phases.get(id)? {
            // It keeps the outcome that it had.
            Phase::Queued | Phase::Leased if self.is_revised(id) => None,
            Phase::Queued | Phase::Leased | Phase::Waiting => Some(Remaining::Deferred(Deferral::Budget)),
            Phase::Deferred(reason) => Some(Remaining::Deferred(reason)),
            Phase::Excluded => Some(Remaining::Excluded),
            Phase::Closed => Some(Remaining::Closed),
            Phase::Predicted => Some(Remaining::Predicted),
            Phase::Done => None,
        }
    }
}

/// The page that names a URL by a link.
pub(super) fn naming_page(discovery: Discovery) -> Option<UrlId> {
    discovery.referrer.filter(|_| matches!(discovery.kind, LinkKind::Page | LinkKind::Duplicate))
}
