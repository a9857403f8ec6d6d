//! The templates of all hosts, within a bound.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};

use hashbrown::HashMap;

use super::host_templates::HostTemplates;
use crate::model::TermOrder;
use crate::model::arrays::{read_number, write_number};

/// The level up to which a host is sampled before it is forgotten: one shingle in 16.
const MOST_SAMPLED: u8 = 4;

/// What is known of hosts, and the order in which it is reduced.
///
/// Above the limit, the knowledge of the host that was [reduced](HostTemplates::sample) least often, and of these of
/// the one that has had no page for longest, is halved. If all are reduced to the last level, that host is forgotten.
/// Sizes are computed, so the same pages give the same knowledge everywhere.
#[derive(Debug)]
pub(super) struct Hosts {
    limit: usize,
    by_group: HashMap<u32, (u64, HostTemplates)>,
    /// Level, number of the last page, and group of each host.
    by_use: BTreeSet<(u8, u64, u32)>,
    /// Pages learned.
    pages: u64,
    size: usize,
}

impl Hosts {
    /// Creates an empty collection that needs at most so many bytes.
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, by_group: HashMap::new(), by_use: BTreeSet::new(), pages: 0, size: 0 }
    }

    pub(super) fn get(&self, group: u32) -> Option<&HostTemplates> {
        self.by_group.get(&group).map(|(_, host)| host)
    }

    /// Adds the shingles of a page to what is known of its host.
    pub(super) fn learn(&mut self, group: u32, order: &TermOrder) {
        let (used, host) = self.by_group.entry(group).or_insert_with(|| {
            let host = HostTemplates::default();
            self.size += host.size();
            (0, host)
        });
        self.by_use.remove(&(host.level, *used, group));
        self.pages += 1;
        *used = self.pages;
        let before = host.size();
        host.learn(order);
        self.size = self.size + host.size() - before;
        self.by_use.insert((host.level, *used, group));
        while self.size > self.limit && self.reduce() {}
    }

    /// Reduces what is known of one host. Returns `false` if there is none.
    pub(super) fn reduce(&mut self) -> bool {
        let Some((level, used, group)) = self.by_use.pop_first() else { return false };
        let Some((_, host)) = self.by_group.get_mut(&group) else { return true };
        let before = host.size();
        if level < MOST_SAMPLED {
            host.sample();
            self.size = self.size + host.size() - before;
            self.by_use.insert((host.level, used, group));
        } else {
            self.by_group.remove(&group);
            self.size -= before;
        }
        true
    }

    /// Returns the memory held, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.by_group.allocation_size() + self.by_use.len() * 32 + self.size
    }

    pub(super) fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        write_number(out, self.pages)?;
        write_number(out, self.by_use.len() as u64)?;
        for (_, used, group) in &self.by_use {
            write_number(out, *group)?;
            write_number(out, *used)?;
            self.by_group.get(group).map_or(Ok(()), |(_, host)| host.save(out))?;
        }
        Ok(())
    }

    pub(super) fn load(&mut self, input: &mut dyn Read) -> io::Result<()> {
        *self = Self { pages: read_number(input)?, ..Self::new(self.limit) };
        for _ in 0..read_number::<u64>(input)? {
            let (group, used) = (read_number(input)?, read_number(input)?);
            let host = HostTemplates::load(input)?;
            self.size += host.size();
            self.by_use.insert((host.level, used, group));
            self.by_group.insert(group, (used, host));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page of 300 shingles, of which `group` and `number` choose all but the first 100 of the host.
    fn order(group: u32, number: u32) -> TermOrder {
        let frame = (0..100).map(|place| group * 100 + place);
        let text = (0..200).map(|place| 1_000_000 + (group * 1000 + number) * 200 + place);
        let mut shingles: Vec<u32> = frame.chain(text).map(|number| number.wrapping_mul(0x9E37_79B1)).collect();
        shingles.sort_unstable();
        TermOrder { shingles, ..TermOrder::default() }
    }

    /// 40 hosts of 20 pages each, by turns.
    fn hosts(limit: usize) -> Hosts {
        let mut hosts = Hosts::new(limit);
        for number in 0..20 {
            (0..40).for_each(|group| hosts.learn(group, &order(group, number)));
        }
        hosts
    }

    #[test]
    fn all_hosts_stay_within_the_limit_and_know_their_templates() {
        let whole = hosts(usize::MAX);
        let limit = whole.size / 3;
        let bounded = hosts(limit);
        assert!(bounded.size <= limit, "{} of {limit}", bounded.size);
        let levels: Vec<u8> = (0..40).map(|group| bounded.get(group).unwrap().level).collect();
        assert!(levels.iter().all(|level| (1..=3).contains(level)), "{levels:?}");
        for group in 0..40 {
            let host = bounded.get(group).unwrap();
            let frame = (0..100u32).map(|place| (group * 100 + place).wrapping_mul(0x9E37_79B1));
            let known: Vec<u32> = frame.filter(|shingle| shingle.leading_zeros() >= host.level.into()).collect();
            assert!(!known.is_empty() && known.iter().all(|shingle| host.is_template(*shingle)));
        }
    }

    #[test]
    fn the_host_that_had_no_page_for_longest_is_reduced_first_and_forgotten_in_the_end() {
        let mut hosts = hosts(usize::MAX);
        hosts.learn(0, &order(0, 20));
        hosts.reduce();
        assert_eq!([0, 1, 2].map(|group| hosts.get(group).unwrap().level), [0, 1, 0]);
        (0..40 * 4 - 1).for_each(|_| assert!(hosts.reduce()));
        assert!((0..40).all(|group| hosts.get(group).unwrap().level == MOST_SAMPLED));
        hosts.reduce();
        assert!(hosts.get(1).is_none() && hosts.get(0).is_some());
        (0..39).for_each(|_| assert!(hosts.reduce()));
        assert_eq!((hosts.size, hosts.by_group.len(), hosts.reduce()), (0, 0, false));
    }

    #[test]
    fn sizes_are_added_up_right() {
        for limit in [usize::MAX, 100_000, 20_000] {
            let hosts = hosts(limit);
            let sum: usize = hosts.by_group.values().map(|(_, host)| host.size()).sum();
            assert_eq!(hosts.size, sum);
            assert_eq!(hosts.by_group.len(), hosts.by_use.len());
        }
    }

    #[test]
    fn hosts_come_back_from_a_snapshot_and_are_reduced_in_the_same_order() {
        let mut hosts = hosts(100_000);
        let (mut bytes, mut restored) = (Vec::new(), Hosts::new(100_000));
        hosts.save(&mut bytes).unwrap();
        restored.load(&mut &bytes[..]).unwrap();
        for number in 20..40 {
            (0..60).for_each(|group| hosts.learn(group, &order(group, number)));
            (0..60).for_each(|group| restored.learn(group, &order(group, number)));
        }
        let saved = |hosts: &Hosts| {
            let mut bytes = Vec::new();
            hosts.save(&mut bytes).unwrap();
            bytes
        };
        assert!(saved(&hosts) == saved(&restored));
    }
}
