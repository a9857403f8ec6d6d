//! The index of runs: which stored pages share some of their rarest text with a page?
//!
//! A page is filed under a sample of its own runs, the smallest hashes (a bottom-k sample, Broder's "On the resemblance and
//! containment of documents"). Runs of words are nearly all rare, so lists are short, however many pages there are.
//!
//! **What a sample can miss.** A page is proposed if one in 16 of its filed runs is looked up: four of 64. If a part `x` of its
//! own runs is shared with the probe, fewer are with probability `Σ C(64, k)·x^k·(1 − x)^(64 − k)` over `k < 4` at most: 5·10⁻¹²
//! for `x` = 0.43. Of runs that became common since a page was filed, it may have lost a third: three of 43 then, 2·10⁻⁸.
//!
//! **Cost.** A lookup of each run of the probe; 13 to 26 bytes a filed run.

use std::cmp::Reverse;
use std::io::{self, Read, Write};

use hashbrown::{HashMap, HashTable};

use crate::model::Sequence;
use crate::model::arrays::{invalid, read_array, write_array};

/// A page is worth a comparison if one in so many of its filed runs is shared.
pub(crate) const ONE_IN: usize = 16;

/// Pages that one key of a name leads to, at most: a name that more stored pages of one text bear identifies none.
const MOST_NAMED: usize = 32;

/// What a page is filed or looked up under.
#[derive(Clone, Debug, Default)]
pub struct RunKeys {
    /// Hashes of its own runs.
    pub own: Vec<u64>,
    /// Hashes of any of its runs together with its name.
    pub named: Vec<u64>,
}

impl RunKeys {
    fn all(&self) -> impl Iterator<Item = u64> {
        self.own.iter().chain(&self.named).copied()
    }
}

/// Stored pages by runs.
#[derive(Debug, Default)]
pub struct RunIndex {
    entries: HashTable<Entry>,
    /// The pages, ascending.
    pages: Vec<FiledPage>,
}

/// How many runs a page is filed under, and was when it was filed last.
#[derive(Clone, Copy, Debug)]
struct FiledPage {
    page: Sequence,
    runs: u16,
    at_last: u16,
}

/// A run and a page, in 12 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    run: [u32; 2],
    page: Sequence,
}

impl Entry {
    fn new(run: u64, page: Sequence) -> Self {
        Self { run: [(run >> 32) as u32, run as u32], page }
    }

    fn run(&self) -> u64 {
        u64::from(self.run[0]) << 32 | u64::from(self.run[1])
    }
}

impl RunIndex {
    /// Files a page, which must be the greatest so far.
    pub fn insert(&mut self, page: Sequence, keys: &RunKeys) {
        self.pages.push(FiledPage { page, runs: 0, at_last: 0 });
        self.add(page, keys);
    }

    /// Files a page again, under more keys.
    pub fn add(&mut self, page: Sequence, keys: &RunKeys) {
        let own = keys.own.iter().map(|run| usize::from(self.file(page, *run, usize::MAX))).sum::<usize>();
        let named = keys.named.iter().map(|key| usize::from(self.file(page, *key, MOST_NAMED))).sum::<usize>();
        let filed = u16::try_from(own + named).unwrap_or(u16::MAX);
        if let Some(known) = self.find_page(page).map(|place| &mut self.pages[place]) {
            known.runs += filed;
            known.at_last = known.runs;
        }
    }

    /// Files a page under a key that leads to fewer than `most` others. Returns whether it was not there yet.
    fn file(&mut self, page: Sequence, run: u64, most: usize) -> bool {
        let (entry, mut others) = (Entry::new(run, page), 0);
        for other in self.entries.iter_hash(run).filter(|other| other.run() == run) {
            others += 1;
            if *other == entry || others == most {
                return false;
            }
        }
        self.entries.insert_unique(run, entry, Entry::run);
        true
    }

    /// Removes runs. Returns the pages that have lost a third of what they were filed under, ascending.
    pub fn remove(&mut self, runs: &[u64]) -> Vec<Sequence> {
        let mut pages = Vec::new();
        for run in runs {
            while let Ok(found) = self.entries.find_entry(*run, |entry| entry.run() == *run) {
                pages.push(found.remove().0.page);
            }
        }
        pages.sort_unstable();
        let lost = pages.chunk_by(|one, next| one == next).map(|same| (same[0], same.len()));
        let mut few = Vec::new();
        for (page, lost) in lost {
            let Some(known) = self.find_page(page).map(|place| &mut self.pages[place]) else { continue };
            known.runs = known.runs.saturating_sub(u16::try_from(lost).unwrap_or(u16::MAX));
            if u32::from(known.runs) * 3 < u32::from(known.at_last) * 2 {
                few.push(page);
            }
        }
        few
    }

    fn find_page(&self, page: Sequence) -> Option<usize> {
        self.pages.binary_search_by_key(&page, |known| known.page).ok()
    }

    /// Returns the pages that share enough filed runs, those that share most first, and how many entries were read.
    pub fn find(&self, keys: &RunKeys) -> (Vec<Sequence>, u64) {
        let (mut shared, mut read) = (HashMap::<Sequence, usize>::new(), 0);
        for run in keys.all() {
            for entry in self.entries.iter_hash(run).filter(|entry| entry.run() == run) {
                *shared.entry(entry.page).or_default() += 1;
                read += 1;
            }
        }
        let is_enough = |page: &Sequence, shared: usize| {
            let filed = self.find_page(*page).map_or(0, |place| self.pages[place].runs);
            shared * ONE_IN >= usize::from(filed)
        };
        let mut found: Vec<(Reverse<usize>, Sequence)> = shared
            .into_iter()
            .filter(|(page, shared)| is_enough(page, *shared))
            .map(|(page, shared)| (Reverse(shared), page))
            .collect();
        found.sort_unstable();
        (found.into_iter().map(|(_, page)| page).collect(), read)
    }

    /// Returns the number of pages.
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// Returns whether there is no page.
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Returns the memory held, in bytes.
    pub fn bytes(&self) -> usize {
        self.entries.allocation_size() + self.pages.capacity() * size_of::<FiledPage>()
    }

    /// Writes the index to a snapshot.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut entries: Vec<(u32, u64)> = self.entries.iter().map(|entry| (entry.page.0, entry.run())).collect();
        entries.sort_unstable();
        write_array(out, &self.pages.iter().map(|known| known.page.0).collect::<Vec<_>>())?;
        write_array(out, &self.pages.iter().map(|known| known.at_last.into()).collect::<Vec<u32>>())?;
        write_array(out, &entries.iter().map(|(page, _)| *page).collect::<Vec<_>>())?;
        write_array(out, &entries.iter().map(|(_, run)| *run).collect::<Vec<_>>())
    }

    /// Reads what [`save`](Self::save) wrote.
    ///
    /// # Errors
    /// Those of `input`.
    pub fn load(input: &mut dyn Read) -> io::Result<Self> {
        let (pages, at_last): (Vec<u32>, Vec<u32>) = (read_array(input)?, read_array(input)?);
        let (filed, runs): (Vec<u32>, Vec<u64>) = (read_array(input)?, read_array(input)?);
        let known = |(page, at_last)| {
            let at_last = u16::try_from(at_last).map_err(|_| invalid("a page of the index of runs can't be read"))?;
            Ok(FiledPage { page: Sequence(page), runs: 0, at_last })
        };
        let pages: io::Result<Vec<FiledPage>> = pages.into_iter().zip(at_last).map(known).collect();
        let mut index = Self { entries: HashTable::with_capacity(runs.len()), pages: pages? };
        for (page, run) in filed.into_iter().map(Sequence).zip(runs) {
            index.entries.insert_unique(run, Entry::new(run, page), Entry::run);
            if let Some(place) = index.find_page(page) {
                index.pages[place].runs += 1;
            }
        }
        Ok(index)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    fn hash(run: u64) -> u64 {
        (run + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    fn hashes(runs: &[u64]) -> Vec<u64> {
        runs.iter().copied().map(hash).collect()
    }

    fn keys(runs: &[u64]) -> RunKeys {
        RunKeys { own: hashes(runs), named: Vec::new() }
    }

    #[test]
    fn pages_that_share_most_come_first_and_of_equals_the_earlier() {
        let mut index = RunIndex::default();
        for (page, runs) in (0..).map(Sequence).zip([&[1, 2, 3][..], &[3, 4], &[2, 3], &[9]]) {
            index.insert(page, &keys(runs));
        }
        assert_eq!(index.find(&keys(&[2, 3])).0, [0, 2, 1].map(Sequence));
        assert_eq!(index.remove(&hashes(&[3])), [1, 2].map(Sequence), "the first one has two thirds of its runs left");
        assert_eq!(index.remove(&hashes(&[1])), [Sequence(0)]);
        assert_eq!(index.find(&keys(&[2, 3])).0, [0, 2].map(Sequence));
        index.add(Sequence(1), &keys(&[2, 4]));
        assert_eq!(index.find(&keys(&[2, 4])), ([1, 0, 2].map(Sequence).to_vec(), 4));
    }

    #[test]
    fn few_of_very_many_filed_runs_are_too_little() {
        let mut index = RunIndex::default();
        index.insert(Sequence(0), &keys(&(0..64).collect::<Vec<_>>()));
        assert!(index.find(&keys(&[5, 6, 7])).0.is_empty());
        assert_eq!(index.find(&keys(&[5, 6, 7, 8])).0, [Sequence(0)]);
    }

    #[test]
    fn a_name_that_many_pages_bear_identifies_no_more_of_them() {
        let (mut index, key) = (RunIndex::default(), RunKeys { own: Vec::new(), named: hashes(&[5]) });
        (0..100).for_each(|page| index.insert(Sequence(page), &key));
        assert_eq!(index.find(&key).0, (0..MOST_NAMED as u32).map(Sequence).collect::<Vec<_>>());
    }

    proptest! {
        #[test]
        fn an_index_finds_what_sets_tell_and_comes_back_as_it_was(
            pages in prop::collection::vec(prop::collection::btree_set(0u64..30, 0..8), 0..20),
            removed in prop::collection::vec(0u64..30, 0..4),
            probe in prop::collection::btree_set(0u64..30, 0..12),
        ) {
            let (mut index, mut sets) = (RunIndex::default(), BTreeMap::new());
            for (page, runs) in (0..).map(|page| Sequence(page * 3)).zip(pages) {
                index.insert(page, &keys(&runs.iter().copied().collect::<Vec<_>>()));
                sets.insert(page, runs);
            }
            let filed = sets.clone();
            sets.values_mut().for_each(|runs| runs.retain(|run| !removed.contains(run)));
            let few = sets.iter().filter(|(page, runs)| runs.len() * 3 < filed[page].len() * 2);
            prop_assert_eq!(index.remove(&hashes(&removed)), few.map(|(page, _)| *page).collect::<Vec<_>>());
            let expected: BTreeSet<Sequence> =
                sets.iter().filter(|(_, runs)| !runs.is_disjoint(&probe)).map(|(page, _)| *page).collect();
            let mut bytes = Vec::new();
            index.save(&mut bytes).unwrap();
            let probe = keys(&probe.into_iter().collect::<Vec<_>>());
            let found = index.find(&probe);
            prop_assert_eq!(&found.0.iter().copied().collect::<BTreeSet<_>>(), &expected);
            let loaded = RunIndex::load(&mut &bytes[..]).unwrap();
            prop_assert_eq!(loaded.find(&probe), found);
            prop_assert_eq!(loaded.len(), index.len());
        }
    }
}
