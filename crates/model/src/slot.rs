//! Slots: the units in which several processes share a crawl, and the mail between them.

use std::collections::BTreeSet;
use std::num::NonZeroU16;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::{CanonicalUrl, Clue, Deferral, Discovery};

/// The hosts of some registrable domains. One process at a time owns a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Slot(pub u16);

/// The division of all URLs into slots, which never changes during a crawl.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotMap {
    slots: NonZeroU16,
}

impl SlotMap {
    /// A division into this many slots.
    pub fn new(slots: NonZeroU16) -> Self {
        Self { slots }
    }

    /// Returns all slots.
    pub fn slots(self) -> impl Iterator<Item = Slot> {
        (0..self.slots.get()).map(Slot)
    }

    /// Returns the slot of a URL: that of its registrable domain; an address is its own.
    pub fn slot_of(self, url: &CanonicalUrl) -> Slot {
        let hash = xxh3_64(url.registrable_domain().as_bytes());
        // Less than the number of slots.
        Slot((hash % u64::from(self.slots.get())) as u16)
    }
}

/// The slots that one process owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnSlots {
    map: SlotMap,
    slots: BTreeSet<Slot>,
}

impl OwnSlots {
    /// Some slots of a division.
    pub fn new(map: SlotMap, slots: impl IntoIterator<Item = Slot>) -> Self {
        Self { map, slots: slots.into_iter().collect() }
    }

    /// Returns the division.
    pub fn map(&self) -> SlotMap {
        self.map
    }

    /// Returns the slots.
    pub fn slots(&self) -> impl Iterator<Item = Slot> {
        self.slots.iter().copied()
    }

    /// Whether a slot is one of these.
    pub fn has(&self, slot: Slot) -> bool {
        self.slots.contains(&slot)
    }

    /// Returns the slot of a URL, if it is not one of these.
    pub fn other_slot(&self, url: &CanonicalUrl) -> Option<Slot> {
        Some(self.map.slot_of(url)).filter(|slot| !self.has(*slot))
    }
}

/// A link on its way to the slot of its URL.
///
/// Numbers of URLs count within a slot, so the mail names the referrer by its URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mailed {
    /// Where the link leads: a canonical URL.
    pub url: String,
    /// The path to it, without the referrer.
    pub discovery: Discovery,
    /// The page or redirect that names the URL.
    pub referrer: Option<MailedReferrer>,
    /// If set, the frontier only marks the URL as seen, for this reason.
    pub only_seen: Option<Deferral>,
    /// The evidence on the naming page that the URL is on topic, in a focused crawl.
    pub clue: Option<Clue>,
}

/// The referrer of a mailed link, with its standing in its own slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailedReferrer {
    /// A canonical URL.
    pub url: String,
    /// Its depth.
    pub depth: u16,
    /// Whether it is a seed, or redirects alone lead to it from one.
    pub is_from_seed: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Normalizer;

    fn slot(url: &str) -> Slot {
        let map = SlotMap::new(NonZeroU16::new(1000).unwrap());
        map.slot_of(&Normalizer::default().absolute(url).unwrap())
    }

    #[test]
    fn hosts_of_one_registrable_domain_share_a_slot_and_addresses_do_not() {
        assert_eq!(slot("http://www.example.co.uk/a"), slot("https://example.co.uk:8443/b"));
        assert_ne!(slot("http://a.co.uk/"), slot("http://b.co.uk/"));
        assert_ne!(slot("http://127.0.0.1/"), slot("http://127.0.0.2/"));
        assert_ne!(slot("http://127.0.0.1/"), slot("http://[::1]/"));
    }

    #[test]
    fn the_division_is_the_same_in_every_version() {
        let slots = ["http://example.com/", "http://example.org/", "http://192.0.2.1/"].map(slot);
        assert_eq!(slots, [Slot(347), Slot(277), Slot(224)]);
    }
}
