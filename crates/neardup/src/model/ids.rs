//! Identifiers: small numbers in order of appearance, and digests.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! numbered {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub u32);

        impl $name {
            /// Returns the number as an index into a table in the same order.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

numbered! {
    /// A decided page, numbered from 0 in the order of arrival. Of two look-alikes the smaller number stays.
    Sequence
}
numbered! {
    /// A term of the vocabulary, numbered from 0 in the order of first appearance.
    TermId
}

impl Sequence {
    /// Numbers from here on name pages that earlier crawls stored.
    const EARLIER: u32 = 1 << 31;

    /// Returns the number of a page that an earlier crawl stored. Such numbers differ from those of this crawl's log.
    pub fn of_earlier(number: u32) -> Self {
        Self(number | Self::EARLIER)
    }

    /// Returns the number among the pages of earlier crawls; `None` for a page of this crawl.
    pub fn as_earlier(self) -> Option<u32> {
        (self.0 >= Self::EARLIER).then_some(self.0 & !Self::EARLIER)
    }
}

/// Identifies one fetch of one URL in one crawl: the same page delivered twice has the same id, so delivery is
/// idempotent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PageId(pub u128);

impl PageId {
    /// Derives the id from the crawl, the URL and the number of the fetch (0 for the first).
    pub fn new(crawl: &str, url: &str, fetch: u32) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in [crawl.as_bytes(), url.as_bytes(), &fetch.to_le_bytes()] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(u128::from_le_bytes(first_16(hasher.finalize())))
    }
}

/// The first 128 bits of a BLAKE3 hash. Equal digests count as equal content: no way to make two contents collide is
/// known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Digest(pub [u8; 16]);

impl Digest {
    /// Digests `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(first_16(blake3::hash(bytes)))
    }
}

impl fmt::Display for Digest {
    /// Lower-case hexadecimal, 32 characters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

fn first_16(hash: blake3::Hash) -> [u8; 16] {
    let mut first = [0; 16];
    first.copy_from_slice(&hash.as_bytes()[..16]);
    first
}
