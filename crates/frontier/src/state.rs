//! The URLs that the frontier has seen, their phases, and the queues.

use std::time::Instant;

use hashbrown::HashMap;

use super::best_first::{BestFirst, ScoreRank};
use super::chunks::Chunks;
use super::host_queue::Priority;
use super::host_queues::{HostQueues, QueuedUrl};
use super::outbox::Outbox;
use super::page_links::{NO_PATH, PageLinks};
use super::rows::Rows;
use super::scope::{Scope, SeedRelation};
use super::seen::SeenSet;
use super::url_state::{HeldBack, UrlPhase, UrlPhases};
use super::{FrontierError, Options, UrlLog};
use ndcrawl_model::{Deferral, Discovery, FrontierCounts, Link, LinkKind, Relevance, Requeue, UrlId, UrlRow, UrlState};

/// What all parts of the frontier share.
pub(super) struct FrontierState<L> {
    depth: u16,
    /// The most pages in all.
    max_pages: Option<u64>,
    pub(super) pages: u64,
    /// Leases of URLs whose pages are counted.
    revising: u64,
    pub(super) scope: Scope,
    pub(super) seen: SeenSet,
    pub(super) phases: UrlPhases,
    pub(super) queues: HostQueues,
    pub(super) rows: Rows<L>,
    /// In a focused crawl.
    pub(super) best_first: Option<BestFirst>,
    /// The depth of each URL by links that may be followed; [`NO_PATH`] if there is none.
    pub(super) depths: Chunks<u16>,
    /// The last paths of URLs without outcome, if they are not the first. They override the log's rows.
    pub(super) better_paths: HashMap<u32, Discovery>,
    /// Requeued URLs for the next commit.
    pub(super) requeued: Vec<Requeue>,
    /// Shorter paths for the next commit.
    pub(super) shortened: Vec<Requeue>,
    /// Whether a URL may have got nearer after its outcome.
    pub(super) has_outdated_depths: bool,
    /// URLs that were rows of another slot, for the next commit.
    pub(super) adopted: Vec<(UrlId, UrlRow)>,
    pub(super) links: PageLinks,
    pub(super) outbox: Outbox,
}

impl<L: UrlLog> FrontierState<L> {
    pub(super) fn new(options: &Options, log: L, hash_seed: u64) -> Self {
        Self {
            depth: options.depth,
            max_pages: Some(options.max_pages).filter(|&most| most > 0),
            pages: 0,
            revising: 0,
            scope: Scope::new(options),
            seen: SeenSet::new(hash_seed),
            phases: UrlPhases::new(),
            queues: HostQueues::new(options.host_concurrency, options.max_pages_per_host, hash_seed),
            rows: Rows::new(log),
            best_first: options.focus.map(|focus| BestFirst::new(focus, hash_seed)),
            depths: Chunks::new(),
            better_paths: HashMap::new(),
            requeued: Vec::new(),
            shortened: Vec::new(),
            has_outdated_depths: false,
            links: PageLinks::default(),
            adopted: Vec::new(),
            outbox: Outbox::new(options.own.clone()),
        }
    }

    /// Returns the depth of a URL.
    pub(super) fn depth_of(&self, id: UrlId) -> u16 {
        self.depths.get(id.index()).copied().unwrap_or(NO_PATH)
    }

    pub(super) fn set_depth(&mut self, id: UrlId, depth: u16) {
        if let Some(known) = self.depths.get_mut(id.index()) {
            *known = depth;
        }
    }

    /// Adds the depth of a URL. A URL that was only seen has no path.
    pub(super) fn push_depth(&mut self, depth: u16, state: UrlState) {
        let is_reached =
            matches!(state, UrlState::Queued | UrlState::Deferred(Deferral::Depth) | UrlState::Elsewhere(None));
        self.depths.push(if is_reached { depth } else { NO_PATH });
    }

    /// Returns a path with the depth that it has by now: its page may have got nearer since it was leased.
    pub(super) fn present_path(&self, path: Discovery) -> Discovery {
        let step = u16::from(path.hops == 0);
        match path {
            Discovery { kind, .. } if kind == LinkKind::Revision || kind == LinkKind::Seed || kind.is_listing() => path,
            Discovery { referrer: Some(page), .. } => {
                Discovery { depth: path.depth.min(self.depth_of(page).saturating_add(step)), ..path }
            }
            Discovery { referrer: None, .. } => path,
        }
    }

    /// Notes a link along which a shorter path is handed on.
    pub(super) fn note_link(&mut self, discovery: Discovery, id: UrlId) {
        let depths = &self.depths;
        self.links.note(discovery, id, |id| depths.get(id.index()).copied().unwrap_or(NO_PATH));
    }

    /// Stores the links noted so far.
    pub(super) fn end_page_links(&mut self) {
        let depths = &self.depths;
        self.links.end_page(|id| depths.get(id.index()).copied().unwrap_or(NO_PATH));
    }

    /// Returns the number of a URL that was seen.
    pub(super) fn find(&self, url: &str) -> Option<UrlId> {
        self.seen.find(self.seen.hash(url))
    }

    /// Returns the number of a URL of this frontier's own slot that was seen.
    pub(super) fn find_own(&self, url: &str) -> Option<UrlId> {
        self.find(url).filter(|id| self.phases.get(*id) != Some(UrlPhase::Elsewhere))
    }

    /// Returns how a link relates to the seeds.
    pub(super) fn relation(&self, Discovery { kind, referrer, .. }: Discovery) -> SeedRelation {
        match kind {
            LinkKind::Seed => SeedRelation::Seed,
            LinkKind::SitemapFile => SeedRelation::Sitemap,
            LinkKind::Redirect if referrer.is_some_and(|id| self.phases.is_from_seed(id)) => SeedRelation::SeedRedirect,
            _ => SeedRelation::Other,
        }
    }

    /// Decides about a link by scope, depth and the caller's wish.
    fn decide(&self, link: &Link, relation: SeedRelation) -> UrlState {
        if let Some(exclusion) = self.scope.judge(&link.url, relation) {
            return UrlState::Excluded(exclusion);
        }
        match link.only_seen {
            Some(reason) => UrlState::Deferred(reason),
            None if link.discovery.depth > self.depth => UrlState::Deferred(Deferral::Depth),
            None => UrlState::Queued,
        }
    }

    /// Adds a URL that was not seen before.
    pub(super) fn add(
        &mut self,
        hash: u64,
        link: Link,
        relation: SeedRelation,
    ) -> Result<(UrlId, UrlState), FrontierError> {
        let state = self.decide(&link, relation);
        let id = self.seen.push(hash)?;
        let phase = match state {
            UrlState::Queued => UrlPhase::Queued,
            UrlState::Deferred(reason) => UrlPhase::HeldBack(HeldBack::Deferred(reason)),
            UrlState::Excluded(_) => UrlPhase::HeldBack(HeldBack::Excluded),
            UrlState::Elsewhere(_) => UrlPhase::Elsewhere,
        };
        self.phases.push(phase, relation.is_from_seed());
        self.push_depth(link.discovery.depth, state);
        if state == UrlState::Queued {
            self.note_clue(id, &link);
            self.enqueue(id, &link);
        }
        let Link { url, discovery, clue, .. } = link;
        self.rows.push(UrlRow { url: url.as_str().to_owned(), discovery, state, clue });
        Ok((id, state))
    }

    /// Adds a URL of another slot that was not seen before.
    pub(super) fn add_elsewhere(&mut self, row: UrlRow, is_from_seed: bool) -> Result<UrlId, FrontierError> {
        let id = self.seen.push(self.seen.hash(&row.url))?;
        self.phases.push(UrlPhase::Elsewhere, is_from_seed);
        self.push_depth(row.discovery.depth, row.state);
        self.rows.push(row);
        Ok(id)
    }

    /// Takes a URL that was seen as one of another slot for one of this frontier: its slot changed hands since.
    pub(super) fn adopt(&mut self, id: UrlId, link: &Link, relation: SeedRelation) -> UrlState {
        let state = self.decide(link, relation);
        let (phase, depth) = match state {
            UrlState::Queued => (UrlPhase::Queued, link.discovery.depth),
            UrlState::Deferred(Deferral::Depth) => {
                (UrlPhase::HeldBack(HeldBack::Deferred(Deferral::Depth)), link.discovery.depth)
            }
            UrlState::Deferred(reason) => (UrlPhase::HeldBack(HeldBack::Deferred(reason)), NO_PATH),
            UrlState::Excluded(_) | UrlState::Elsewhere(_) => (UrlPhase::HeldBack(HeldBack::Excluded), NO_PATH),
        };
        self.phases.set(id, phase);
        self.set_depth(id, depth);
        if relation.is_from_seed() {
            self.phases.mark_from_seed(id);
        }
        self.better_paths.insert(id.0, link.discovery);
        if state == UrlState::Queued {
            self.note_clue(id, link);
            self.enqueue(id, link);
        }
        let row = UrlRow { url: link.url.as_str().to_owned(), discovery: link.discovery, state, clue: link.clue };
        self.adopted.push((id, row));
        state
    }

    /// Takes a further link to a URL. Returns the decision; `None` if the URL was queued, leased or done before.
    pub(super) fn add_link(&mut self, id: UrlId, link: &Link, relation: SeedRelation) -> Option<UrlState> {
        let reason = match self.phases.get(id)? {
            UrlPhase::HeldBack(HeldBack::Deferred(reason)) => Some(reason),
            // The rule may not apply to it as a seed, or since the scope has grown.
            UrlPhase::HeldBack(HeldBack::Excluded) => None,
            UrlPhase::HeldBack(_) | UrlPhase::Waiting if relation.is_from_seed() => None,
            UrlPhase::Queued => {
                self.note_clue(id, link);
                return None;
            }
            _ => return None,
        };
        match (self.decide(link, relation), reason) {
            (UrlState::Queued, _) => {
                self.requeue(id, link, relation);
                Some(UrlState::Queued)
            }
            // A page names it now, only too far from the seeds: a run with a greater depth shall fetch it.
            (
                UrlState::Deferred(Deferral::Depth),
                Some(Deferral::DuplicateLink | Deferral::NoFollow | Deferral::NotAsked | Deferral::NotInSitemap),
            ) if link.only_seen.is_none() => {
                self.requeued.push(Requeue { url: id, discovery: link.discovery });
                self.better_paths.insert(id.0, link.discovery);
                self.set_depth(id, link.discovery.depth);
                self.phases.set(id, UrlPhase::HeldBack(HeldBack::Deferred(Deferral::Depth)));
                Some(UrlState::Deferred(Deferral::Depth))
            }
            (_, reason) => reason.map(UrlState::Deferred),
        }
    }

    fn requeue(&mut self, id: UrlId, link: &Link, relation: SeedRelation) {
        self.requeued.push(Requeue { url: id, discovery: link.discovery });
        self.better_paths.insert(id.0, link.discovery);
        self.set_depth(id, link.discovery.depth);
        self.phases.set(id, UrlPhase::Queued);
        if relation.is_from_seed() {
            self.phases.mark_from_seed(id);
        }
        self.note_clue(id, link);
        self.enqueue(id, link);
    }

    /// Takes a path to a URL, if it is shorter than those known. Returns the path as taken.
    ///
    /// Only the way to the URL changes: it keeps its rank, and a sitemap stays a sitemap.
    pub(super) fn shorten(
        &mut self,
        id: UrlId,
        path: Discovery,
        is_given_back: bool,
    ) -> Result<Option<Discovery>, FrontierError> {
        let phase = self.phases.get(id);
        let is_followed = !matches!(phase, None | Some(UrlPhase::HeldBack(HeldBack::Excluded)));
        if !is_followed || path.depth >= self.depth_of(id) || self.depth_of(id) == NO_PATH {
            return Ok(None);
        }
        let row = self.rows.get(id)?;
        let before = self.best_path(id, &row);
        let is_sitemap = |path: Discovery| path.kind == LinkKind::SitemapFile;
        let keeps_kind = before.kind == LinkKind::Revision || is_sitemap(before) || is_sitemap(path);
        let path = Discovery { rank: before.rank, kind: if keeps_kind { before.kind } else { path.kind }, ..path };
        self.shortened.push(Requeue { url: id, discovery: path });
        self.set_depth(id, path.depth);
        if self.relation(path).is_from_seed() {
            self.phases.mark_from_seed(id);
        }
        match phase {
            Some(UrlPhase::Done) => self.has_outdated_depths = true,
            Some(UrlPhase::Elsewhere) => {}
            _ => {
                self.better_paths.insert(id.0, path);
            }
        }
        let is_too_deep = phase == Some(UrlPhase::HeldBack(HeldBack::Deferred(Deferral::Depth)));
        let priority = self.priority(id, path);
        if is_too_deep && !self.is_too_deep(path.depth) {
            self.phases.set(id, UrlPhase::Queued);
            if let Some(origin) = self.queues.number(&row.url) {
                self.queues.push(origin, priority, id);
            }
        } else if phase == Some(UrlPhase::Queued) && path.kind != LinkKind::Revision {
            // A URL that is revised stands before all others anyway.
            if let Some(origin) = self.queues.number(&row.url) {
                self.queues.shorten(origin, priority, id, is_given_back);
            }
        }
        Ok(Some(path))
    }

    /// Queues a page for a new verdict; at most once. It stays counted.
    pub(super) fn revise(&mut self, id: UrlId) -> Result<(), FrontierError> {
        if self.phases.get(id) != Some(UrlPhase::Done) || self.phases.is_revised(id) {
            return Ok(());
        }
        let UrlRow { url, discovery, .. } = self.rows.get(id)?;
        let origin = self.queues.number(&url).ok_or(FrontierError::Missing(id))?;
        // The first sight may have been a link that is not followed, and less deep.
        let depth = Some(self.depth_of(id)).filter(|&depth| depth != NO_PATH).unwrap_or(discovery.depth);
        let discovery = Discovery { kind: LinkKind::Revision, rank: 0, depth, ..discovery };
        self.requeued.push(Requeue { url: id, discovery });
        self.better_paths.insert(id.0, discovery);
        self.phases.set(id, UrlPhase::Queued);
        self.phases.mark_revised(id);
        self.queues.push_revision(origin, id);
        Ok(())
    }

    /// Whether a URL is queued or on lease for a new verdict. Its earlier outcome stays if the crawl ends now.
    pub(super) fn is_revision(&self, id: UrlId) -> bool {
        self.better_paths.get(&id.0).is_some_and(|path| path.kind == LinkKind::Revision)
    }

    /// Begins the lease of a queued URL.
    pub(super) fn begin_lease(&mut self, QueuedUrl { origin, id, .. }: QueuedUrl) {
        self.phases.set(id, UrlPhase::Leased);
        if self.is_revision(id) {
            self.revising += 1;
            self.queues.begin_revision(origin);
        } else {
            self.queues.begin_lease(origin);
        }
    }

    /// Ends the lease of a URL that has its outcome.
    pub(super) fn end_lease(&mut self, id: UrlId, origin: u32, is_page: bool) {
        if self.is_revision(id) {
            self.revising -= 1;
            self.pages = self.pages.saturating_sub(u64::from(!is_page));
            self.queues.end_revision(origin, is_page);
        } else {
            self.pages += u64::from(is_page);
            self.queues.end_lease(origin, is_page);
        }
        self.phases.set(id, UrlPhase::Done);
        self.better_paths.remove(&id.0);
    }

    /// Ends the lease of a URL that is to be leased again.
    pub(super) fn give_back(&mut self, QueuedUrl { origin, priority, id }: QueuedUrl, not_before: Instant) {
        self.phases.set(id, UrlPhase::Queued);
        if self.is_revision(id) {
            self.revising -= 1;
            self.queues.give_back_revision(origin, id, not_before);
        } else {
            self.queues.give_back(origin, self.present_priority(priority, id), id, not_before);
        }
    }

    /// Counts and queues a page that an earlier run was to fetch for a new verdict.
    pub(super) fn restore_revision(&mut self, id: UrlId, origin: u32) {
        self.pages += 1;
        self.queues.count_page(origin);
        self.queues.push_revision(origin, id);
    }

    fn enqueue(&mut self, id: UrlId, link: &Link) {
        let priority = self.priority(id, link.discovery);
        // A canonical URL always has an origin.
        if let Some(origin) = self.queues.number(link.url.as_str()) {
            self.queues.push(origin, priority, id);
        }
    }

    /// Notes the clue of a link, in a focused crawl.
    fn note_clue(&mut self, id: UrlId, link: &Link) {
        if let (Some(best_first), Some(clue)) = (&mut self.best_first, link.clue) {
            best_first.note_link(id, link.url.as_str(), clue, link.discovery.linking_page());
        }
    }

    /// Returns the priority of a URL among those of its origin.
    pub(super) fn priority(&self, id: UrlId, discovery: Discovery) -> Priority {
        let score = self.best_first.as_ref().map_or(ScoreRank::FIRST, |best_first| best_first.rank(id));
        Priority { rank: discovery.rank, score, depth: discovery.depth }
    }

    /// Learns from the relevance of a page, and reorders the queues when it is time.
    pub(super) fn learn_relevance(&mut self, id: UrlId, worth: Option<Relevance>) {
        let Some(best_first) = &mut self.best_first else { return };
        best_first.learn(id, worth);
        if best_first.is_due() {
            self.reorder();
        }
    }

    /// Reorders the queues by the present scores.
    pub(super) fn reorder(&mut self) {
        if let Some(best_first) = &self.best_first {
            self.queues.reorder(|before, id| Priority { score: best_first.rank(id), ..before });
        }
    }

    /// Returns the best path to a URL.
    pub(super) fn best_path(&self, id: UrlId, row: &UrlRow) -> Discovery {
        self.better_paths.get(&id.0).copied().unwrap_or(row.discovery)
    }

    /// Puts a URL back into its queue, unless its phase has changed since.
    pub(super) fn put_back(&mut self, url: QueuedUrl, from: UrlPhase) {
        if self.phases.get(url.id) == Some(from) {
            self.phases.set(url.id, UrlPhase::Queued);
            self.queues.push(url.origin, self.present_priority(url.priority, url.id), url.id);
        }
    }

    /// Returns a priority with the depth that the URL has by now.
    pub(super) fn present_priority(&self, priority: Priority, id: UrlId) -> Priority {
        Priority { depth: priority.depth.min(self.depth_of(id)), ..priority }
    }

    /// Changes the most pages in all.
    pub(super) fn set_max_pages(&mut self, most: u64) {
        self.max_pages = Some(most);
    }

    /// Whether the crawl has its pages, if each lease brings one. Those that are fetched once more are counted already.
    pub(super) fn has_all_pages(&self) -> bool {
        let leased = self.phases.count(UrlPhase::Leased) - self.revising;
        self.max_pages.is_some_and(|most| self.pages + leased >= most)
    }

    /// Whether there are URLs for further pages, and fewer than `few` places for these.
    pub(super) fn is_short_of_pages(&self, few: u64) -> bool {
        let count = |phase| self.phases.count(phase);
        let further = count(UrlPhase::Queued) + count(UrlPhase::Waiting) - self.queues.queued_revisions();
        let taken = self.pages + count(UrlPhase::Leased) - self.revising;
        further > 0 && self.max_pages.is_some_and(|most| taken + few > most)
    }

    /// Returns when the next URL can be leased: `Some(None)` is at once, `None` is never as things stand.
    pub(super) fn next_due(&self) -> Option<Option<Instant>> {
        let further = self.queues.next_due().filter(|_| !self.has_all_pages());
        [further, self.queues.next_revision_due()].into_iter().flatten().min()
    }

    /// Whether a depth is beyond the limit.
    pub(super) fn is_too_deep(&self, depth: u16) -> bool {
        depth > self.depth
    }

    /// Returns why a URL is unfetched if the crawl ends now; `None` if it has an outcome, or gets it in another slot.
    pub(super) fn held_back(&mut self, id: UrlId) -> Option<HeldBack> {
        match self.phases.get(id)? {
            UrlPhase::Queued | UrlPhase::Leased if self.is_revision(id) => None,
            UrlPhase::Queued | UrlPhase::Leased | UrlPhase::Waiting => {
                let rows = &mut self.rows;
                let is_given_up = self.queues.is_given_up(|| rows.get(id).ok().map(|row| row.url));
                Some(HeldBack::Deferred(if is_given_up { Deferral::HostTrouble } else { Deferral::Budget }))
            }
            UrlPhase::HeldBack(reason) => Some(reason),
            UrlPhase::Done | UrlPhase::Elsewhere => None,
        }
    }

    pub(super) fn counts(&self) -> FrontierCounts {
        let held_back = |reason| self.phases.count(UrlPhase::HeldBack(reason));
        FrontierCounts {
            seen: self.seen.len() as u64 - self.phases.count(UrlPhase::Elsewhere),
            queued: self.phases.count(UrlPhase::Queued) + self.phases.count(UrlPhase::Waiting),
            leased: self.phases.count(UrlPhase::Leased),
            deferred: self.phases.deferred(),
            excluded: held_back(HeldBack::Excluded) + held_back(HeldBack::Closed),
            predicted: held_back(HeldBack::Predicted),
            origins: self.queues.busy(),
            pages: self.pages,
        }
    }

    /// Returns the bytes in use. Costs a look at every origin.
    pub(super) fn bytes(&self) -> usize {
        self.seen.bytes()
            + self.phases.bytes()
            + self.depths.bytes()
            + self.links.bytes()
            + self.queues.bytes()
            + self.rows.bytes()
            + self.outbox.bytes()
            + self.best_first.as_ref().map_or(0, BestFirst::bytes)
            + self.better_paths.allocation_size()
            + (self.requeued.capacity() + self.shortened.capacity()) * size_of::<Requeue>()
    }
}
