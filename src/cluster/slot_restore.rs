//! Makes the folder of a process from the logs of its slots.
//!
//! The folder is scratch: a process makes it anew whenever its slots change. Entries are read in the order of their
//! commits, whatever the slots, so a referrer comes before the URLs that it names.

use std::collections::{BTreeMap, HashMap};

use xxhash_rust::xxh3::xxh3_128;

use super::error::ClusterError;
use super::slot_counts::SlotCounts;
use super::slot_encoder::SlotEncoder;
use super::slot_entry::{MentionedUrl, SlotEntry};
use crate::model::{
    Batch, CanonicalUrl, Deferral, Discovery, HostRow, OutcomeRow, OwnSlots, PageLinksRow, Requeue, Slot, Totals,
    UrlId, UrlRow, UrlState,
};

/// URLs and events after which a batch is full.
const FULL: usize = 20_000;

/// Restores a folder commit by commit.
pub(super) struct SlotRestore {
    encoder: SlotEncoder,
    /// The URLs so far, by the hash of their text, and whether each is one of this process's slots.
    known: HashMap<u128, UrlId>,
    is_own: Vec<bool>,
    /// The URL of each number, by log.
    numbers: BTreeMap<Slot, Vec<UrlId>>,
    hosts: BTreeMap<String, HostRow>,
    counts: BTreeMap<Slot, SlotCounts>,
    batch: Batch,
    events: usize,
}

impl SlotRestore {
    /// Begins with an empty folder.
    pub fn new(own: OwnSlots) -> Self {
        Self {
            encoder: SlotEncoder::new(own),
            known: HashMap::new(),
            is_own: Vec::new(),
            numbers: BTreeMap::new(),
            hosts: BTreeMap::new(),
            counts: BTreeMap::new(),
            batch: Batch::default(),
            events: 0,
        }
    }

    /// Takes the entries of one commit. Returns a batch for the folder if enough has come together.
    pub fn take(&mut self, entries: Vec<(Slot, SlotEntry)>) -> Result<Option<Batch>, ClusterError> {
        let mut entries = entries;
        let mut mentioned = Vec::new();
        for (slot, entry) in &mut entries {
            self.counts.entry(*slot).or_default().add(entry);
            let urls = std::mem::take(&mut entry.urls);
            let numbers = self.numbers.entry(*slot).or_default();
            let first = numbers.len();
            // Set below.
            numbers.resize(first + urls.len(), UrlId(u32::MAX));
            mentioned.extend(urls.into_iter().enumerate().map(|(place, url)| (*slot, first + place, url)));
        }
        mentioned.sort_by_key(|(_, _, url)| url.order);
        for (slot, place, url) in mentioned {
            self.mention(slot, place, url)?;
        }
        for (slot, entry) in entries {
            self.events(slot, entry)?;
        }
        Ok((self.events >= FULL).then(|| self.taken()))
    }

    /// Ends the restoring. Returns the last batch, what divides the commits of the process from here on, and what each
    /// slot has done.
    pub fn end(mut self) -> (Batch, SlotEncoder, BTreeMap<Slot, SlotCounts>) {
        let mut batch = self.taken();
        let mut totals = Totals::default();
        for host in self.hosts.values() {
            totals.requests += host.requests;
            totals.bytes += host.bytes;
            for (kind, count) in &host.outcomes {
                *totals.outcomes.entry(*kind).or_default() += count;
            }
        }
        batch.hosts = self.hosts.into_values().collect();
        batch.totals = totals;
        (batch, self.encoder, self.counts)
    }

    fn taken(&mut self) -> Batch {
        self.events = 0;
        std::mem::take(&mut self.batch)
    }

    fn mention(&mut self, slot: Slot, place: usize, url: MentionedUrl) -> Result<(), ClusterError> {
        let MentionedUrl { mut row, .. } = url;
        row.discovery = self.path(slot, row.discovery);
        let is_own = !matches!(row.state, UrlState::Elsewhere(_));
        let hash = xxh3_128(row.url.as_bytes());
        let id = match self.known.get(&hash) {
            Some(id) => {
                if is_own && !std::mem::replace(&mut self.is_own[id.index()], true) {
                    self.encoder.note_adopted(*id, slot);
                    // A URL in another state is adopted when the next link leads to it.
                    if matches!(row.state, UrlState::Queued | UrlState::Deferred(Deferral::Depth)) {
                        self.batch.requeued.push(Requeue { url: *id, discovery: row.discovery });
                    }
                }
                *id
            }
            None => self.add(hash, is_own.then_some(slot), row)?,
        };
        self.encoder.note_mention(slot, id);
        if let Some(number) = self.numbers.get_mut(&slot).and_then(|numbers| numbers.get_mut(place)) {
            *number = id;
        }
        self.events += 1;
        Ok(())
    }

    fn add(&mut self, hash: u128, slot: Option<Slot>, row: UrlRow) -> Result<UrlId, ClusterError> {
        CanonicalUrl::from_canonical(&row.url)
            .map_err(|error| ClusterError::Damaged(format!("'{}' is in the log of a slot: {error}", row.url)))?;
        let id = u32::try_from(self.is_own.len()).ok().filter(|id| *id < u32::MAX);
        let id = UrlId(id.ok_or_else(|| ClusterError::Damaged("more than 2^32 URLs in one process".to_owned()))?);
        self.known.insert(hash, id);
        self.is_own.push(slot.is_some());
        self.encoder.note_url(slot);
        self.batch.urls.push(row);
        Ok(id)
    }

    fn events(&mut self, slot: Slot, entry: SlotEntry) -> Result<(), ClusterError> {
        let count = entry.requeued.len() + entry.shortened.len() + entry.links.len() + entry.outcomes.len();
        self.events += count;
        for Requeue { url, discovery } in entry.requeued {
            let event = Requeue { url: self.url(slot, url)?, discovery: self.path(slot, discovery) };
            self.batch.requeued.push(event);
        }
        for Requeue { url, discovery } in entry.shortened {
            let event = Requeue { url: self.url(slot, url)?, discovery: self.path(slot, discovery) };
            self.batch.shortened.push(event);
        }
        for row in entry.links {
            let page = self.url(slot, row.page)?;
            let mut links = row.links.iter().map(|url| self.url(slot, *url)).collect::<Result<Vec<_>, _>>()?;
            links.sort_unstable();
            self.batch.links.push(PageLinksRow { page, links, ..row });
        }
        for (page, other) in entry.counterparts {
            self.batch.counterparts.push((self.url(slot, page)?, self.url(slot, other)?));
        }
        for url in entry.unmatched {
            let url = self.url(slot, url)?;
            self.batch.unmatched.push(url);
        }
        for (url, of) in entry.repeats {
            self.batch.repeats.push((self.url(slot, url)?, self.url(slot, of)?));
        }
        for outcome in entry.outcomes {
            let url = self.url(slot, outcome.url)?;
            self.batch.outcomes.push(OutcomeRow { url, ..outcome });
        }
        for host in entry.hosts {
            self.hosts.insert(host.origin.clone(), host);
        }
        Ok(())
    }

    fn path(&self, slot: Slot, path: Discovery) -> Discovery {
        Discovery { referrer: path.referrer.and_then(|page| self.url(slot, page).ok()), ..path }
    }

    fn url(&self, slot: Slot, number: UrlId) -> Result<UrlId, ClusterError> {
        let id = self.numbers.get(&slot).and_then(|numbers| numbers.get(number.index())).copied();
        id.filter(|id| id.0 < u32::MAX)
            .ok_or_else(|| ClusterError::Damaged(format!("the log of slot {} names URL {number} too early", slot.0)))
    }
}
