//! A hash table from short words to their terms, for words of at most 16 bytes, which nearly all are.
//!
//! Such a word is one number: it is hashed by one multiplication and compared without a call. Longer words are in a
//! [`HashTable`](hashbrown::HashTable).

use std::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;

/// The bytes of a short word, padded with zeros; no word contains the byte 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ShortWord(u128);

impl ShortWord {
    /// Returns a non-empty range of a text as a short word; `None` if it is too long.
    #[inline]
    pub fn of(text: &str, start: usize, end: usize) -> Option<Self> {
        let length = end - start;
        if length > 16 {
            return None;
        }
        let bytes = text.as_bytes();
        if let Some(Ok(block)) = bytes.get(start..start + 16).map(<[u8; 16]>::try_from) {
            // Cut off what follows the word.
            return Some(Self(u128::from_le_bytes(block) & (u128::MAX >> (128 - 8 * length))));
        }
        let mut block = [0; 16];
        block[..length].copy_from_slice(&bytes[start..end]);
        Some(Self(u128::from_le_bytes(block)))
    }
}

/// A short word and the number of its term.
#[derive(Clone, Copy, Debug, Default)]
struct CachedWord {
    /// Low and high half of the word; a low half of 0 marks a free slot.
    word: [u64; 2],
    term: u32,
    language: u8,
}

/// Short words of all languages, each with its term.
#[derive(Debug)]
pub(super) struct ShortWordCache {
    /// A power of two of slots, at most half of them in use.
    slots: Vec<CachedWord>,
    used: usize,
    /// Random, so that no page can make its words collide.
    seeds: [u64; 2],
}

impl ShortWordCache {
    /// Creates an empty table with room for this many words.
    pub fn new(hasher: &DefaultHashBuilder, room: usize) -> Self {
        let seeds = [hasher.hash_one(0), hasher.hash_one(1)];
        Self { slots: vec![CachedWord::default(); (2 * room).next_power_of_two().max(1024)], used: 0, seeds }
    }

    pub fn len(&self) -> usize {
        self.used
    }

    /// Returns the number of the word's term.
    #[inline]
    pub fn term(&self, ShortWord(word): ShortWord, language: u8) -> Option<u32> {
        let kept = &self.slots[self.slot(halves(word), language)];
        (kept.word[0] != 0).then_some(kept.term)
    }

    /// Reads the word's first slot, to bring it into the cache. The value is meaningless.
    #[inline]
    pub fn touch(&self, ShortWord(word): ShortWord, language: u8) -> u32 {
        self.slots[self.hash(halves(word), language) & (self.slots.len() - 1)].term
    }

    /// Adds a new word.
    pub fn insert(&mut self, word: ShortWord, language: u8, term: u32) {
        if (self.used + 1) * 2 > self.slots.len() {
            let larger = vec![CachedWord::default(); self.slots.len() * 2];
            for kept in std::mem::replace(&mut self.slots, larger) {
                if kept.word[0] != 0 {
                    let slot = self.slot(kept.word, kept.language);
                    self.slots[slot] = kept;
                }
            }
        }
        let word = halves(word.0);
        let slot = self.slot(word, language);
        self.slots[slot] = CachedWord { word, term, language };
        self.used += 1;
    }

    /// Returns the slot of a word, or the free slot where it would be.
    #[inline]
    fn slot(&self, word: [u64; 2], language: u8) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = self.hash(word, language) & mask;
        loop {
            let kept = &self.slots[slot & mask];
            if (kept.word == word && kept.language == language) || kept.word[0] == 0 {
                return slot & mask;
            }
            slot += 1;
        }
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation)] // The halves are meant.
    fn hash(&self, [low, high]: [u64; 2], language: u8) -> usize {
        let product = u128::from(low ^ self.seeds[0]) * u128::from(high ^ u64::from(language) ^ self.seeds[1]);
        ((product >> 64) as u64 ^ product as u64) as usize
    }
}

/// Returns the low and the high half.
#[inline]
#[allow(clippy::cast_possible_truncation)] // The halves are meant.
fn halves(word: u128) -> [u64; 2] {
    [word as u64, (word >> 64) as u64]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_by_their_letters_and_language() {
        let text = "one two one sixteen_letters_ seventeen_letters two";
        let mut words = ShortWordCache::new(&DefaultHashBuilder::default(), 0);
        let of = |start, end| ShortWord::of(text, start, end);
        assert_eq!(of(0, 3), of(8, 11));
        assert_eq!(of(4, 7), of(47, 50));
        assert!(of(12, 28).is_some() && of(29, 46).is_none());
        words.insert(of(0, 3).unwrap(), 1, 5);
        words.insert(of(12, 28).unwrap(), 1, 6);
        let at = |start, end, language| words.term(of(start, end).unwrap(), language);
        assert_eq!(at(8, 11, 1), Some(5));
        assert_eq!(at(12, 28, 1), Some(6));
        assert_eq!(at(8, 11, 2), None);
        assert_eq!(at(4, 7, 1), None);
    }

    #[test]
    fn the_table_grows() {
        let text: String = (0..5000).map(|n| format!("{n:08}")).collect();
        let mut words = ShortWordCache::new(&DefaultHashBuilder::default(), 0);
        let of = |n: u32| ShortWord::of(&text, n as usize * 8, n as usize * 8 + 8).unwrap();
        for n in 0..5000 {
            words.insert(of(n), 0, n);
        }
        assert_eq!(words.len(), 5000);
        for n in 0..5000 {
            assert_eq!(words.term(of(n), 0), Some(n));
        }
    }
}
