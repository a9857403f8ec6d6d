//! The templates of all hosts, in parts that know nothing of each other.
//!
//! One part, unless the index is divided by hosts among processes. Each part has the same share of the memory, so what is known
//! of a host depends on the pages of its part alone, whoever has the other parts.

use std::io::{self, Read, Write};

use super::host_templates::HostTemplates;
use super::hosts::Hosts;
use crate::model::TermOrder;

/// What is known of hosts, part by part.
#[derive(Debug)]
pub(super) struct DividedHosts {
    /// At least one.
    parts: Vec<Hosts>,
}

impl DividedHosts {
    /// Creates so many parts, which together need at most so many bytes. 0 parts count as 1.
    pub(super) fn new(limit: usize, parts: u16) -> Self {
        let parts = usize::from(parts.max(1));
        Self { parts: (0..parts).map(|_| Hosts::new(limit / parts)).collect() }
    }

    pub(super) fn get(&self, group: u32) -> Option<&HostTemplates> {
        self.parts[self.part(group)].get(group)
    }

    /// Adds the shingles of a page to what is known of its host.
    pub(super) fn learn(&mut self, group: u32, order: &TermOrder) {
        let part = self.part(group);
        self.parts[part].learn(group, order);
    }

    /// Reduces what is known of one host of the first part that knows any.
    #[cfg(test)]
    pub(super) fn reduce(&mut self) -> bool {
        self.parts.iter_mut().any(Hosts::reduce)
    }

    /// Returns the memory held, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.parts.iter().map(Hosts::bytes).sum()
    }

    pub(super) fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        self.parts.iter().try_for_each(|hosts| hosts.save(out))
    }

    pub(super) fn load(&mut self, input: &mut dyn Read) -> io::Result<()> {
        self.parts.iter_mut().try_for_each(|hosts| hosts.load(input))
    }

    fn part(&self, group: u32) -> usize {
        group as usize % self.parts.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(number: u32) -> TermOrder {
        let mut shingles: Vec<u32> = (0..400).map(|place| (number * 400 + place).wrapping_mul(0x9E37_79B1)).collect();
        shingles.sort_unstable();
        TermOrder { shingles, ..TermOrder::default() }
    }

    /// Three parts of 30 hosts: of each host the level to which it is sampled, if it is known.
    fn levels(limit: usize, parts: u16, is_learned: impl Fn(u32) -> bool) -> Vec<Option<u8>> {
        let mut hosts = DividedHosts::new(limit, parts);
        for number in 0..300 {
            if is_learned(number % 30) {
                hosts.learn(number % 30, &order(number));
            }
        }
        (0..30).map(|group| hosts.get(group).map(|host| host.level)).collect()
    }

    #[test]
    fn what_is_known_of_a_host_depends_on_its_part_alone() {
        let limit = 100_000;
        let all = levels(limit, 3, |_| true);
        assert!(all.iter().any(|level| *level != Some(0)), "the bound is in force: {all:?}");
        for part in 0..3 {
            let own = levels(limit, 3, |group| group % 3 == part);
            (0..30).filter(|group| group % 3 == part as usize).for_each(|group| assert_eq!(own[group], all[group]));
        }
        // The control: in one part, hosts that others have never seen make a difference.
        let alone = levels(limit, 1, |group| group % 3 == 0);
        let together = levels(limit, 1, |_| true);
        assert!((0..30).step_by(3).any(|group| alone[group] != together[group]));
    }

    #[test]
    fn parts_come_back_from_a_snapshot() {
        let mut hosts = DividedHosts::new(100_000, 4);
        (0..200).for_each(|number| hosts.learn(number % 20, &order(number)));
        let (mut bytes, mut restored) = (Vec::new(), DividedHosts::new(100_000, 4));
        hosts.save(&mut bytes).unwrap();
        restored.load(&mut &bytes[..]).unwrap();
        assert!(
            (0..20).all(|group| hosts.get(group).map(|host| host.level) == restored.get(group).map(|host| host.level))
        );
        assert_eq!(hosts.bytes() > 0, restored.bytes() > 0);
    }
}
