//! Makes the folder of a process from the logs of its slots.
//!
//! The folder is scratch: a process makes a new one whenever its slots change. Entries are read in the order of their
//! commits, whatever the slots, so a referrer comes before the URLs that it names.

use std::collections::{BTreeMap, HashMap, HashSet};

use xxhash_rust::xxh3::xxh3_128;

use super::error::ClusterError;
use super::hosts::totals_of;
use super::revised_pages::RevisedPages;
use super::slot_encoder::SlotEncoder;
use super::slot_entry::{MentionedUrl, SlotEntry};
use ndcrawl_model::{
    Batch, CanonicalUrl, Deferral, Discovery, HostRow, LinkKind, OutcomeRow, OwnSlots, PageLinksRow, Requeue, Slot,
    Totals, UrlId, UrlRow, UrlState,
};

/// URLs and events after which a batch is full.
const FULL: usize = 20_000;

/// Restores a folder commit by commit.
pub(super) struct SlotRestore {
    encoder: SlotEncoder,
    /// The URLs so far, by the hash of their text, and whether each is one of this process's slots.
    known: HashMap<u128, UrlId>,
    is_own: Vec<bool>,
    /// The hash of the text that each number stands for, by log.
    numbers: BTreeMap<Slot, Vec<u128>>,
    revised_pages: BTreeMap<Slot, RevisedPages>,
    batch: Batch,
    events: usize,
    /// URLs that are queued to be decided again, and how many were.
    revising: HashSet<UrlId>,
    revised: u64,
}

impl SlotRestore {
    /// Begins with an empty folder.
    pub fn new(own: OwnSlots) -> Self {
        Self {
            encoder: SlotEncoder::new(own),
            known: HashMap::new(),
            is_own: Vec::new(),
            numbers: BTreeMap::new(),
            revised_pages: BTreeMap::new(),
            batch: Batch::default(),
            events: 0,
            revising: HashSet::new(),
            revised: 0,
        }
    }

    /// Takes the entries of one commit. Returns a batch for the folder if enough has come together.
    pub fn take(&mut self, entries: Vec<(Slot, SlotEntry)>) -> Result<Option<Batch>, ClusterError> {
        let mut entries = entries;
        let mut mentioned = Vec::new();
        for (slot, entry) in &mut entries {
            self.revised_pages.entry(*slot).or_default().add(entry);
            let urls = std::mem::take(&mut entry.urls);
            let first = self.note_numbers(*slot, &urls);
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

    /// Takes only the URLs that these entries own, and leaves the rest for [`take_rest`](Self::take_rest): so each URL has
    /// the row of its own slot, if all slots are held and all entries are read twice.
    pub fn take_own(&mut self, entries: &[(Slot, SlotEntry)]) -> Result<Option<Batch>, ClusterError> {
        let mut own = Vec::new();
        for (slot, entry) in entries {
            self.note_numbers(*slot, &entry.urls);
            let is_own = |url: &&MentionedUrl| !matches!(url.row.state, UrlState::Elsewhere(_));
            own.extend(entry.urls.iter().filter(is_own).map(|url| (*slot, url)));
        }
        own.sort_by_key(|(_, url)| url.order);
        for (slot, url) in own {
            let hash = xxh3_128(url.row.url.as_bytes());
            if !self.known.contains_key(&hash) {
                let discovery = self.path(slot, url.row.discovery);
                self.add(hash, Some(slot), UrlRow { discovery, ..url.row.clone() })?;
                self.events += 1;
            }
        }
        Ok((self.events >= FULL).then(|| self.taken()))
    }

    /// Whether these entries queue a page again whose outcome is in the open batch. A folder has the rows of a batch by
    /// kind, so that outcome must be in a batch before.
    pub fn must_cut_before(&self, entries: &[(Slot, SlotEntry)]) -> Result<bool, ClusterError> {
        let mut again = HashSet::new();
        for (slot, entry) in entries {
            for requeue in entry.requeued.iter().filter(|requeue| requeue.discovery.kind == LinkKind::Revision) {
                again.insert(self.url(*slot, requeue.url)?);
            }
        }
        Ok(!again.is_empty() && self.batch.outcomes.iter().any(|outcome| again.contains(&outcome.url)))
    }

    /// Takes what [`take_own`](Self::take_own) has left of these entries. URLs that nobody owns so far become rows, too.
    pub fn take_rest(&mut self, entries: Vec<(Slot, SlotEntry)>) -> Result<Option<Batch>, ClusterError> {
        for (slot, mut entry) in entries {
            self.revised_pages.entry(slot).or_default().add(&entry);
            for url in std::mem::take(&mut entry.urls) {
                let hash = xxh3_128(url.row.url.as_bytes());
                if !self.known.contains_key(&hash) {
                    let discovery = self.path(slot, url.row.discovery);
                    self.add(hash, None, UrlRow { discovery, ..url.row })?;
                }
            }
            self.events(slot, entry)?;
        }
        Ok((self.events >= FULL).then(|| self.taken()))
    }

    /// Notes what the next numbers of a log stand for. Returns the first of them.
    fn note_numbers(&mut self, slot: Slot, urls: &[MentionedUrl]) -> usize {
        let numbers = self.numbers.entry(slot).or_default();
        let first = numbers.len();
        numbers.extend(urls.iter().map(|url| xxh3_128(url.row.url.as_bytes())));
        first
    }

    /// Ends the restoring of slots with these hosts. Returns the last batch, what divides the commits of the process from
    /// here on, and which pages of each slot are to be fetched once more.
    pub fn end(mut self, hosts: Vec<HostRow>) -> (Batch, SlotEncoder, BTreeMap<Slot, RevisedPages>) {
        let totals = Totals { revised: self.revised, ..totals_of(&hosts) };
        (Batch { hosts, totals, ..self.taken() }, self.encoder, self.revised_pages)
    }

    /// Ends the open batch.
    pub fn taken(&mut self) -> Batch {
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
        self.encoder.note_mention(slot, UrlId(place as u32), id);
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
            self.revising.extend(Some(event.url).filter(|_| discovery.kind == LinkKind::Revision));
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
            self.revised += u64::from(self.revising.remove(&url));
            self.batch.outcomes.push(OutcomeRow { url, ..outcome });
        }
        Ok(())
    }

    fn path(&self, slot: Slot, path: Discovery) -> Discovery {
        Discovery { referrer: path.referrer.and_then(|page| self.url(slot, page).ok()), ..path }
    }

    /// Returns what finds a URL by its text. Nothing can be restored after it.
    pub fn take_known(&mut self) -> impl Fn(&str) -> Option<UrlId> + use<> {
        let known = std::mem::take(&mut self.known);
        move |url| known.get(&xxh3_128(url.as_bytes())).copied()
    }

    /// Returns the URL that the log of a slot has by this number.
    ///
    /// # Errors
    /// [`ClusterError::Damaged`] if the log has not mentioned it so far.
    pub fn url(&self, slot: Slot, number: UrlId) -> Result<UrlId, ClusterError> {
        let hash = self.numbers.get(&slot).and_then(|numbers| numbers.get(number.index()));
        hash.and_then(|hash| self.known.get(hash).copied())
            .ok_or_else(|| ClusterError::Damaged(format!("the log of slot {} names URL {number} too early", slot.0)))
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU16;

    use super::*;
    use crate::slot_encoder::CommittedUrls;
    use ndcrawl_engine::pipeline::SharedChanges;
    use ndcrawl_model::seeded::SeededRng;
    use ndcrawl_model::{LinkKind, OutcomeKind, SlotMap};

    const SLOTS: u16 = 5;

    /// The rows of one process.
    #[derive(Default)]
    struct Rows(Vec<UrlRow>);

    impl CommittedUrls for Rows {
        fn row(&self, id: UrlId) -> Result<UrlRow, ClusterError> {
            Ok(self.0[id.index()].clone())
        }
    }

    fn map() -> SlotMap {
        SlotMap::new(NonZeroU16::new(SLOTS).unwrap())
    }

    fn slot_of(url: &str) -> Slot {
        map().slot_of(&CanonicalUrl::from_canonical(url).unwrap())
    }

    /// What a log tells of each URL that it owns: its referrer, and how often it got an outcome.
    type Told = BTreeMap<String, (Option<String>, usize)>;

    /// Adds what a batch tells. `rows` are the URLs of the process so far.
    fn tell(told: &mut Told, rows: &mut Rows, batch: &Batch, own: &OwnSlots) {
        let text = |rows: &Rows, id: UrlId| rows.0[id.index()].url.clone();
        rows.0.extend(batch.urls.iter().cloned());
        for row in &batch.urls {
            if own.has(slot_of(&row.url)) && !matches!(row.state, UrlState::Elsewhere(_)) {
                told.insert(row.url.clone(), (row.discovery.referrer.map(|id| text(rows, id)), 0));
            }
        }
        for event in &batch.requeued {
            let url = text(rows, event.url);
            let referrer = event.discovery.referrer.map(|id| text(rows, id));
            told.entry(url).or_insert((referrer, 0));
        }
        for outcome in &batch.outcomes {
            told.get_mut(&text(rows, outcome.url)).unwrap().1 += 1;
        }
    }

    /// A commit with some new URLs, which pages of known URLs name, and outcomes of own ones without outcome.
    fn commit(random: &mut SeededRng, rows: &Rows, own: &OwnSlots, open: &mut Vec<UrlId>) -> Batch {
        let mut batch = Batch::default();
        let known = |url: &str, batch: &Batch| rows.0.iter().chain(&batch.urls).any(|row| row.url == url);
        for _ in 0..random.below(6) {
            let url = format!("http://host-{}.test/{}", random.below(12), random.below(40));
            if known(&url, &batch) {
                continue;
            }
            let count = rows.0.len() + batch.urls.len();
            let is_own = own.has(slot_of(&url));
            let referrer = (count > 0).then(|| UrlId(random.below(count) as u32));
            let state = if is_own { UrlState::Queued } else { UrlState::Elsewhere(None) };
            if is_own {
                open.push(UrlId(count as u32));
            }
            batch.urls.push(UrlRow { url, discovery: Discovery::new(LinkKind::Page, referrer, 1), state, clue: None });
        }
        for _ in 0..random.below(3) {
            if open.is_empty() {
                break;
            }
            let url = open.swap_remove(random.below(open.len()));
            batch.outcomes.push(OutcomeRow { url, kind: OutcomeKind::Stored });
            batch.page_lines.push(format!("{url}"));
        }
        batch
    }

    #[test]
    fn what_processes_have_logged_is_read_back_whoever_owns_the_slots_then() {
        for seed in 0..200 {
            let mut random = SeededRng::new(seed, "logs of slots");
            let mut log: Vec<Vec<(Slot, SlotEntry)>> = Vec::new();
            let mut expected = Told::new();
            // Three lives of processes, one after the other, each of some of the slots.
            for _ in 0..3 {
                let own = OwnSlots::new(map(), (0..SLOTS).map(Slot).filter(|_| random.below(2) == 0));
                let restored = |own: &OwnSlots| {
                    let mut restore = SlotRestore::new(own.clone());
                    let (mut rows, mut told) = (Rows::default(), Told::new());
                    for entries in &log {
                        let mine = entries.iter().filter(|(slot, _)| own.has(*slot)).cloned().collect();
                        if let Some(batch) = restore.take(mine).unwrap() {
                            tell(&mut told, &mut rows, &batch, own);
                        }
                    }
                    let (batch, encoder, _) = restore.end(Vec::new());
                    tell(&mut told, &mut rows, &batch, own);
                    (encoder, rows, told)
                };
                let (mut encoder, mut rows, told) = restored(&own);
                let mine = |told: &Told| -> Told {
                    told.iter().filter(|(url, _)| own.has(slot_of(url))).map(|(k, v)| (k.clone(), v.clone())).collect()
                };
                let times = |told: &Told| -> BTreeMap<String, usize> {
                    told.iter().map(|(url, (_, times))| (url.clone(), *times)).collect()
                };
                assert_eq!(times(&mine(&told)), times(&mine(&expected)), "seed {seed}");
                let mut open: Vec<UrlId> = (0..rows.0.len() as u32)
                    .map(UrlId)
                    .filter(|id| told.get(&rows.0[id.index()].url).is_some_and(|(_, times)| *times == 0))
                    .collect();
                for _ in 0..6 {
                    let batch = commit(&mut random, &rows, &own, &mut open);
                    let entries = encoder.divide(&batch, &SharedChanges::default(), &rows).unwrap();
                    tell(&mut expected, &mut rows, &batch, &own);
                    let entries = entries.into_iter().map(|(slot, entry)| {
                        // As the database has it.
                        (slot, SlotEntry::open(&entry.sealed().unwrap(), slot, 1).unwrap())
                    });
                    log.push(entries.collect());
                }
            }
            assert!(!expected.is_empty());
        }
    }
}
