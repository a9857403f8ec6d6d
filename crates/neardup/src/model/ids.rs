//! Names of things: small numbers given in order of appearance, and digests.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! numbered {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub u32);

        impl $name {
            /// The number as an index into a table that is ordered by it.
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
    /// A judged page, numbered from 0 in the order in which pages reached the decider. Of two
    /// look-alikes the smaller number stays.
    Sequence
}
numbered! {
    /// A term of the vocabulary, numbered from 0 in the order of first appearance.
    TermId
}

impl Sequence {
    /// From here on, numbers name pages that earlier crawls have stored.
    const EARLIER: u32 = 1 << 31;

    /// The page with this number among those of earlier crawls that are compared with, which have numbers of
    /// their own: none of them is a page of this crawl's log.
    pub fn of_earlier(number: u32) -> Self {
        Self(number | Self::EARLIER)
    }

    /// The number among the pages of earlier crawls; `None` for a page of this crawl.
    pub fn as_earlier(self) -> Option<u32> {
        (self.0 >= Self::EARLIER).then_some(self.0 & !Self::EARLIER)
    }
}

/// The name of one fetch of one URL in one crawl: the same page delivered twice has the same name,
/// so that every seam can be idempotent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PageId(pub u128);

impl PageId {
    /// Derives the name from the crawl, the URL and the number of the fetch (0 for the first).
    pub fn new(crawl: &str, url: &str, fetch: u32) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in [crawl.as_bytes(), url.as_bytes(), &fetch.to_le_bytes()] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(u128::from_le_bytes(first_16(hasher.finalize())))
    }
}

/// The first 128 bits of a BLAKE3 hash. Equal digests are taken as equal content: with a
/// cryptographic hash of this width nobody is known to be able to make two contents meet.
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
