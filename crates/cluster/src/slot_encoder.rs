//! Divides commits of a process among the logs of its slots.

use std::collections::{BTreeMap, HashMap};

use super::error::ClusterError;
use super::slot_entry::{MentionedUrl, SlotEntry};
use ndcrawl_engine::pipeline::SharedChanges;
use ndcrawl_model::{
    Batch, CanonicalUrl, Discovery, LinkKind, OutcomeKind, OwnSlots, PageLinksRow, PageRow, PageTerms, Requeue, Slot,
    TermOrder, UrlId, UrlRow, UrlState,
};

/// The order of adopted URLs, behind all that the commit mentions first.
const LAST: u32 = u32::MAX;
/// Most redirects from a seed to the URL that stands for it.
const MOST_HOPS: usize = 64;

/// Reads the rows of URLs that were committed before.
pub(super) trait CommittedUrls {
    fn row(&self, id: UrlId) -> Result<UrlRow, ClusterError>;
}

/// What a process knows of the logs of its slots. Costs some 30 bytes for each URL that a log mentions.
#[derive(Debug)]
pub(super) struct SlotEncoder {
    own: OwnSlots,
    /// The slot of each URL of this process; none for a URL of another process.
    slots: Vec<Option<Slot>>,
    /// The number of each URL in the logs that mention it.
    numbers: HashMap<(Slot, UrlId), UrlId>,
    /// How many URLs each log has mentioned.
    lengths: BTreeMap<Slot, u32>,
}

impl SlotEncoder {
    /// Begins with logs that mention no URL.
    pub fn new(own: OwnSlots) -> Self {
        Self { own, slots: Vec::new(), numbers: HashMap::new(), lengths: BTreeMap::new() }
    }

    /// Returns the slots of this process.
    pub fn own(&self) -> &OwnSlots {
        &self.own
    }

    /// Notes the next URL of this process, and its slot if it is of this process's slots.
    pub fn note_url(&mut self, slot: Option<Slot>) {
        self.slots.push(slot);
    }

    /// Notes that a URL of another process is one of this process's by now.
    pub fn note_adopted(&mut self, id: UrlId, slot: Slot) {
        if let Some(place) = self.slots.get_mut(id.index()) {
            *place = Some(slot);
        }
    }

    /// Notes the number by which a log mentions a URL.
    pub fn note_mention(&mut self, slot: Slot, number: UrlId, id: UrlId) {
        let length = self.lengths.entry(slot).or_default();
        *length = (*length).max(number.0 + 1);
        self.numbers.insert((slot, id), number);
    }

    /// Gives a URL the next number of a log.
    fn mention(&mut self, slot: Slot, id: UrlId) -> UrlId {
        let number = UrlId(self.lengths.get(&slot).copied().unwrap_or_default());
        self.note_mention(slot, number, id);
        number
    }

    /// Divides a commit. `committed` reads the rows before it.
    pub fn divide(
        &mut self,
        batch: &Batch,
        changes: &SharedChanges,
        committed: &impl CommittedUrls,
    ) -> Result<BTreeMap<Slot, SlotEntry>, ClusterError> {
        let first = self.slots.len() as u32;
        let mut division = Division { encoder: self, batch, committed, first, entries: BTreeMap::new() };
        division.divide(changes)?;
        Ok(division.entries)
    }

    fn slot_of(&self, id: UrlId) -> Option<Slot> {
        self.slots.get(id.index()).copied().flatten()
    }
}

/// A commit that is being divided.
struct Division<'a, C> {
    encoder: &'a mut SlotEncoder,
    batch: &'a Batch,
    committed: &'a C,
    /// The number of the batch's first URL.
    first: u32,
    entries: BTreeMap<Slot, SlotEntry>,
}

impl<C: CommittedUrls> Division<'_, C> {
    fn divide(&mut self, changes: &SharedChanges) -> Result<(), ClusterError> {
        let batch = self.batch;
        for row in &batch.urls {
            let is_own = !matches!(row.state, UrlState::Elsewhere(_));
            let slot = if is_own { Some(self.slot_of_text(&row.url)?) } else { None };
            self.encoder.note_url(slot);
        }
        for (id, row) in &changes.adopted {
            let slot = self.slot_of_text(&row.url)?;
            self.encoder.note_adopted(*id, slot);
        }
        for (id, row) in (self.first..).map(UrlId).zip(&batch.urls) {
            match (self.encoder.slot_of(id), row.discovery.referrer.and_then(|page| self.encoder.slot_of(page))) {
                // An adopted URL follows with the row by which it was.
                (Some(slot), _) if !matches!(row.state, UrlState::Elsewhere(_)) => self.own_url(slot, id, id.0, row)?,
                // That it was seen is known where the page is that names it.
                (_, Some(slot)) => drop(self.number(slot, id)?),
                _ => {}
            }
        }
        for (id, row) in &changes.adopted {
            if let Some(slot) = self.encoder.slot_of(*id) {
                self.own_url(slot, *id, LAST, row)?;
            }
        }
        self.events()?;
        self.outcomes()
    }

    fn own_url(&mut self, slot: Slot, id: UrlId, order: u32, row: &UrlRow) -> Result<(), ClusterError> {
        let discovery = self.path(slot, row.discovery)?;
        self.encoder.mention(slot, id);
        let row = UrlRow { discovery, ..row.clone() };
        self.entry(slot).urls.push(MentionedUrl { order, row });
        Ok(())
    }

    /// What happened to URLs beside their first sight and their outcome.
    fn events(&mut self) -> Result<(), ClusterError> {
        let batch = self.batch;
        for Requeue { url, discovery } in &batch.requeued {
            let Some(slot) = self.encoder.slot_of(*url) else { continue };
            let event = Requeue { url: self.number(slot, *url)?, discovery: self.path(slot, *discovery)? };
            self.entry(slot).requeued.push(event);
        }
        for Requeue { url, discovery } in &batch.shortened {
            let Some(slot) = self.encoder.slot_of(*url) else { continue };
            let event = Requeue { url: self.number(slot, *url)?, discovery: self.path(slot, *discovery)? };
            self.entry(slot).shortened.push(event);
        }
        for row in &batch.links {
            let Some(slot) = self.encoder.slot_of(row.page) else { continue };
            let (page, mut links) = (self.number(slot, row.page)?, self.numbers(slot, &row.links)?);
            links.sort_unstable();
            self.entry(slot).links.push(PageLinksRow { page, links, ..row.clone() });
        }
        for &(page, other) in &batch.counterparts {
            let Some(slot) = self.encoder.slot_of(page) else { continue };
            let pair = (self.number(slot, page)?, self.number(slot, other)?);
            self.entry(slot).counterparts.push(pair);
        }
        for &url in &batch.unmatched {
            let Some(slot) = self.encoder.slot_of(url) else { continue };
            let number = self.number(slot, url)?;
            self.entry(slot).unmatched.push(number);
        }
        for &(url, of) in &batch.repeats {
            let Some(slot) = self.encoder.slot_of(url) else { continue };
            let pair = (self.number(slot, url)?, self.number(slot, of)?);
            self.entry(slot).repeats.push(pair);
        }
        Ok(())
    }

    /// Outcomes with their lines and pages. There is a line for each outcome, and one more for each failure.
    fn outcomes(&mut self) -> Result<(), ClusterError> {
        let batch = self.batch;
        let mut errors = batch.error_lines.iter();
        for (outcome, line) in batch.outcomes.iter().zip(&batch.page_lines) {
            let error = if outcome.kind == OutcomeKind::Failed { errors.next() } else { None };
            let Some(slot) = self.encoder.slot_of(outcome.url) else { continue };
            let url = self.number(slot, outcome.url)?;
            let entry = self.entry(slot);
            entry.outcomes.push(ndcrawl_model::OutcomeRow { url, ..*outcome });
            entry.page_lines.push(line.clone());
            entry.error_lines.extend(error.cloned());
        }
        for page in &batch.pages {
            let Some(slot) = self.encoder.slot_of(page.url) else { continue };
            let (url, links) = (self.number(slot, page.url)?, self.numbers(slot, &page.links)?);
            let (terms, order) = (PageTerms::default(), TermOrder::default());
            self.entry(slot).pages.push(PageRow { url, links, terms, order, ..page.clone() });
        }
        Ok(())
    }

    fn entry(&mut self, slot: Slot) -> &mut SlotEntry {
        self.entries.entry(slot).or_default()
    }

    fn numbers(&mut self, slot: Slot, ids: &[UrlId]) -> Result<Vec<UrlId>, ClusterError> {
        ids.iter().map(|id| self.number(slot, *id)).collect()
    }

    /// Returns the number of a URL in the log of a slot, which mentions it from here on.
    fn number(&mut self, slot: Slot, id: UrlId) -> Result<UrlId, ClusterError> {
        if let Some(number) = self.encoder.numbers.get(&(slot, id)) {
            return Ok(*number);
        }
        let mut row = self.row(id)?;
        let kind = if self.is_from_seed(&row)? { LinkKind::Seed } else { LinkKind::Page };
        row.discovery = Discovery::new(kind, None, row.discovery.depth);
        if !matches!(row.state, UrlState::Elsewhere(_)) {
            row.state = UrlState::Elsewhere(None);
        }
        row.clue = None;
        self.entry(slot).urls.push(MentionedUrl { order: id.0, row });
        Ok(self.encoder.mention(slot, id))
    }

    fn path(&mut self, slot: Slot, path: Discovery) -> Result<Discovery, ClusterError> {
        let referrer = path.referrer.map(|page| self.number(slot, page)).transpose()?;
        Ok(Discovery { referrer, ..path })
    }

    /// Whether a URL is a seed, or redirects alone lead to it from one.
    fn is_from_seed(&self, row: &UrlRow) -> Result<bool, ClusterError> {
        let mut path = row.discovery;
        for _ in 0..MOST_HOPS {
            match (path.kind, path.referrer) {
                (LinkKind::Seed, _) => return Ok(true),
                (LinkKind::Redirect, Some(referrer)) => path = self.row(referrer)?.discovery,
                _ => return Ok(false),
            }
        }
        Ok(false)
    }

    fn row(&self, id: UrlId) -> Result<UrlRow, ClusterError> {
        match id.0.checked_sub(self.first).and_then(|place| self.batch.urls.get(place as usize)) {
            Some(row) => Ok(row.clone()),
            None => self.committed.row(id),
        }
    }

    fn slot_of_text(&self, url: &str) -> Result<Slot, ClusterError> {
        let canonical = CanonicalUrl::from_canonical(url)
            .map_err(|error| ClusterError::Damaged(format!("'{url}' is in a commit: {error}")))?;
        Ok(self.encoder.own.map().slot_of(&canonical))
    }
}
