//! A bitmap of a page's running text: how much can two pages have in common, at most?

use std::borrow::Cow;

/// The fewest bits of a bitmap, as a power of two.
const LEAST_LOG2: u32 = 6;
/// The most. The longest page has 2,048 shingles.
const MOST_LOG2: u32 = 15;
/// Bits for each shingle, at least; at most twice as many.
const BITS_PER_SHINGLE: usize = 8;

/// One bit for each shingle of a stored page. Shingles of one place share a bit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextBitmap<'a> {
    /// The page's group (its host).
    pub group: u32,
    /// The level to which the page's shingles are sampled.
    pub shingle_level: u8,
    /// Shingles beyond the bits that are set.
    pub collisions: u16,
    /// The bits: a power of two of them.
    pub words: Cow<'a, [u64]>,
}

impl TextBitmap<'static> {
    /// Creates the bitmap of these shingles; `None` if there are none.
    pub fn of(group: u32, shingle_level: u8, shingles: &[u32]) -> Option<Self> {
        if shingles.is_empty() {
            return None;
        }
        let log2 = (shingles.len() * BITS_PER_SHINGLE).next_power_of_two().ilog2().clamp(LEAST_LOG2, MOST_LOG2);
        let words = bits(shingles, log2);
        let collisions = u16::try_from(shingles.len() - ones(&words)).unwrap_or(u16::MAX);
        Some(Self { group, shingle_level, collisions, words: words.into() })
    }
}

/// Bitmaps of one text, of every size that a stored page may have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProbeBitmaps {
    shingles: usize,
    /// From the largest to the smallest, with the bits that are set.
    by_size: Vec<(Vec<u64>, usize)>,
}

impl ProbeBitmaps {
    /// Creates the bitmaps of these shingles.
    pub fn of(shingles: &[u32]) -> Self {
        let mut words = bits(shingles, MOST_LOG2);
        let mut by_size = Vec::new();
        loop {
            // Places are remainders, so half the size is one half upon the other.
            let half = words.len() / 2;
            let next = (half > 0).then(|| (0..half).map(|word| words[word] | words[half + word]).collect());
            let set = ones(&words);
            by_size.push((words, set));
            match next {
                Some(next) => words = next,
                None => return Self { shingles: shingles.len(), by_size },
            }
        }
    }

    /// Returns how many of the shingles the stored page may have: never fewer than it has.
    ///
    /// Each shared shingle has a bit that is set in both bitmaps. Those that share a bit are no more than the page
    /// with fewer of them has.
    pub fn most_shared(&self, stored: &TextBitmap<'_>) -> usize {
        let size = MOST_LOG2 as usize - (stored.words.len() * 64).ilog2() as usize;
        let Some((words, set)) = self.by_size.get(size) else { return self.shingles };
        let both: u32 = words.iter().zip(&*stored.words).map(|(own, theirs)| (own & theirs).count_ones()).sum();
        let collisions = (self.shingles - set).min(stored.collisions.into());
        (both as usize + collisions).min(self.shingles)
    }
}

fn bits(shingles: &[u32], log2: u32) -> Vec<u64> {
    let mut words = vec![0; (1 << log2) / 64];
    for shingle in shingles {
        // The lowest bit marks numbers, and the upper ones sample.
        let place = (shingle >> 1) as usize % (1 << log2);
        words[place / 64] |= 1 << (place % 64);
    }
    words
}

fn ones(words: &[u64]) -> usize {
    words.iter().map(|word| word.count_ones() as usize).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_shared_shingle_is_missed(
            both in prop::collection::btree_set(any::<u32>(), 0..300), own in prop::collection::btree_set(any::<u32>(), 0..300),
            theirs in prop::collection::btree_set(any::<u32>(), 1..3000), bits in 8..32u32,
        ) {
            // Few bits: many shingles of one place.
            let list = |set: &std::collections::BTreeSet<u32>| -> std::collections::BTreeSet<u32> {
                set.iter().chain(&both).map(|shingle| shingle >> (32 - bits)).collect()
            };
            let (own, theirs) = (list(&own), list(&theirs));
            let shared = own.intersection(&theirs).count();
            let [own, theirs] = [own, theirs].map(|set| set.into_iter().collect::<Vec<_>>());
            let stored = TextBitmap::of(1, 0, &theirs).unwrap();
            prop_assert!(ProbeBitmaps::of(&own).most_shared(&stored) >= shared);
        }
    }

    #[test]
    fn other_texts_are_seen_to_share_little() {
        let text = |from: u32, length| {
            (from..from + length).map(|number| number.wrapping_mul(0x9E37_79B1)).collect::<Vec<_>>()
        };
        for length in [20, 100, 450, 2000] {
            let stored = TextBitmap::of(1, 0, &text(100_000, length)).unwrap();
            assert!(stored.words.len() * 8 <= 8 + 2 * length as usize);
            let shared = ProbeBitmaps::of(&text(1, length)).most_shared(&stored);
            assert!(shared <= length as usize / 5, "{shared} of {length}");
            assert_eq!(ProbeBitmaps::of(&text(100_000, length)).most_shared(&stored), length as usize);
        }
    }

    #[test]
    fn nothing_has_no_bitmap_and_shares_nothing() {
        assert_eq!(TextBitmap::of(1, 0, &[]), None);
        assert_eq!(ProbeBitmaps::of(&[]).most_shared(&TextBitmap::of(1, 0, &[1, 2]).unwrap()), 0);
    }
}
