//! Pages of one host that differ in their names only: empty boards of a forum, stubs of a wiki, tags of one post.

use super::host_pair::{HostPair, merged};
use super::text_overlap::{LITTLE_LEFT, NEARLY_ALL, ShingleOverlap};
use crate::detect::page_match::Page;
use crate::text::names_number;

/// What two pages of one host have in common, core template and runs with a word of the name of either aside.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TextBesideNames {
    pub text: ShingleOverlap,
    /// The probe's runs that the stored page lacks.
    new: u64,
    /// Of these, those with a number.
    new_facts: u64,
    /// Of the runs of both, those with a number.
    facts: u64,
}

impl TextBesideNames {
    pub fn of(hosts: &HostPair<'_>, probe: &Page, stored: &Page) -> Self {
        let mut beside = Self::default();
        let (mut own, mut theirs) = (Names::of(probe), Names::of(stored));
        for (shingle, in_probe, in_stored) in merged(0, probe, stored) {
            let is_name = (in_probe && own.next_is_name()) | (in_stored && theirs.next_is_name());
            let both = in_probe && in_stored;
            if (is_name && !both) || hosts.is_core(shingle) {
                continue;
            }
            let is_fact = names_number(shingle);
            beside.text.add(both);
            beside.new += u64::from(in_probe && !both);
            beside.new_facts += u64::from(in_probe && !both && is_fact);
            beside.facts += u64::from(both && is_fact);
        }
        beside
    }

    /// Returns whether the probe has nothing of its own but its name. What both have must be text: two products of one
    /// price have only a number in common.
    pub fn is_all_shared(&self) -> bool {
        let plain = self.text.by_both - self.facts;
        self.new_facts == 0
            && self.new < LITTLE_LEFT
            && plain >= LITTLE_LEFT.max(self.facts)
            && self.text.share() >= NEARLY_ALL
    }
}

/// Walks the shingles of a page, and tells which have a word of its name.
struct Names<'a> {
    places: &'a [u16],
    at: u16,
}

impl<'a> Names<'a> {
    fn of(page: &'a Page) -> Self {
        Self { places: &page.order.names, at: 0 }
    }

    fn next_is_name(&mut self) -> bool {
        let is_name = self.places.first() == Some(&self.at);
        self.places = &self.places[usize::from(is_name)..];
        self.at = self.at.saturating_add(1);
        is_name
    }
}
