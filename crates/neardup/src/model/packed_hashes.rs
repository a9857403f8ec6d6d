//! Hashes of runs of words, packed into bytes as the log keeps them (Elias and Fano's code of an ascending list).
//!
//! ```text
//! list      = length of the list times two, plus 1 if it does not ascend, LEB128
//!           | { hash, 4 bytes }*                                           if it does not ascend
//!           | bits of the lower part, 1 byte | lower parts | upper parts    otherwise
//! upper     = { distance from the upper part before, as so many zero bits | a one }*
//! ```
//!
//! A page has hundreds of hashes, and as integers of variable length most would take five bytes. A hash of a list of 400
//! takes 25 bits so. Numbers are little-endian, bits too.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserializer, Serializer};

/// For `#[serde(with)]`.
pub(super) fn serialize<S: Serializer>(hashes: &[u32], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(&pack(hashes))
}

/// For `#[serde(with)]`.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u32>, D::Error> {
    struct Packed;
    impl Visitor<'_> for Packed {
        type Value = Vec<u32>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("packed hashes")
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u32>, E> {
            unpack(bytes).ok_or_else(|| E::custom("a list of hashes is cut short, or longer than it says"))
        }
    }
    deserializer.deserialize_bytes(Packed)
}

fn pack(hashes: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(hashes.len() * 4 + 8);
    if !hashes.is_sorted() {
        push_number(&mut bytes, hashes.len() as u64 * 2 + 1);
        bytes.extend(hashes.iter().flat_map(|hash| hash.to_le_bytes()));
        return bytes;
    }
    push_number(&mut bytes, hashes.len() as u64 * 2);
    let Some(last) = hashes.last() else { return bytes };
    let lower = ((u64::from(*last) + 1) / hashes.len() as u64).max(1).ilog2();
    bytes.push(lower as u8);
    let mut bits = BitWriter::new(&mut bytes);
    hashes.iter().for_each(|hash| bits.write(u64::from(*hash) & mask(lower), lower));
    bits.finish();
    let mut bits = BitWriter::new(&mut bytes);
    let mut before = 0;
    for hash in hashes {
        let upper = u64::from(*hash) >> lower;
        (before..upper).for_each(|_| bits.write(0, 1));
        bits.write(1, 1);
        before = upper;
    }
    bits.finish();
    bytes
}

/// Reads a [packed](pack) list; `None` for any other bytes.
fn unpack(mut bytes: &[u8]) -> Option<Vec<u32>> {
    let head = take_number(&mut bytes)?;
    let count = usize::try_from(head / 2).ok()?;
    if head % 2 == 1 {
        let (hashes, rest) = bytes.as_chunks::<4>();
        return (hashes.len() == count && rest.is_empty())
            .then(|| hashes.iter().map(|hash| u32::from_le_bytes(*hash)).collect());
    }
    if count == 0 {
        return bytes.is_empty().then(Vec::new);
    }
    let (&lower, bytes) = bytes.split_first()?;
    let lower = u32::from(lower);
    let length = count.checked_mul(lower as usize)?.div_ceil(8);
    // Each upper part takes a bit at least.
    if lower > 32 || length > bytes.len() || count.div_ceil(8) > bytes.len() - length {
        return None;
    }
    let (lowers, uppers) = bytes.split_at(length);
    let mut hashes = Vec::with_capacity(count);
    let (mut upper, mut at) = (0u64, 0);
    for number in 0..count {
        loop {
            let zeros = window(uppers, at)?.trailing_zeros() as usize;
            upper += zeros.min(WINDOW) as u64;
            at += zeros.min(WINDOW);
            if zeros < WINDOW {
                break;
            }
        }
        at += 1;
        let low = if lower == 0 { 0 } else { window(lowers, number * lower as usize)? & mask(lower) };
        hashes.push(u32::try_from(upper << lower | low).ok()?);
    }
    (at.div_ceil(8) == uppers.len()).then_some(hashes)
}

/// Bits that a [`window`] has at least.
const WINDOW: usize = 57;

/// Returns the bits from a position on, with zeros behind the last byte; `None` if there is no bit.
#[inline]
fn window(bytes: &[u8], at: usize) -> Option<u64> {
    let rest = bytes.get(at / 8..).filter(|rest| !rest.is_empty())?;
    let word = match rest.first_chunk() {
        Some(word) => u64::from_le_bytes(*word),
        None => rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    };
    Some(word >> (at % 8) & mask(WINDOW as u32))
}

fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

/// Appends bits, up to 32 at a time.
struct BitWriter<'a> {
    bytes: &'a mut Vec<u8>,
    word: u64,
    bits: u32,
}

impl<'a> BitWriter<'a> {
    fn new(bytes: &'a mut Vec<u8>) -> Self {
        Self { bytes, word: 0, bits: 0 }
    }

    fn write(&mut self, value: u64, bits: u32) {
        self.word |= value << self.bits;
        self.bits += bits;
        while self.bits >= 8 {
            self.bytes.push(self.word as u8);
            self.word >>= 8;
            self.bits -= 8;
        }
    }

    fn finish(self) {
        if self.bits > 0 {
            self.bytes.push(self.word as u8);
        }
    }
}

fn push_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..63).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_list_comes_back(mut hashes in prop::collection::vec(any::<u32>(), 0..600), shift in 0..32u32, sort in any::<bool>()) {
            hashes.iter_mut().for_each(|hash| *hash >>= shift);
            if sort {
                hashes.sort_unstable();
            }
            prop_assert_eq!(unpack(&pack(&hashes)), Some(hashes));
        }

        #[test]
        fn foreign_bytes_are_no_list_or_one_that_comes_back(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            if let Some(hashes) = unpack(&bytes) {
                prop_assert_eq!(unpack(&pack(&hashes)), Some(hashes));
            }
        }

        #[test]
        fn a_list_that_is_cut_or_longer_is_refused(
            hashes in prop::collection::btree_set(any::<u32>(), 1..60), cut in 1usize..4,
        ) {
            let bytes = pack(&hashes.into_iter().collect::<Vec<_>>());
            prop_assert_eq!(unpack(&bytes[..bytes.len().saturating_sub(cut)]), None);
            let longer: Vec<u8> = bytes.into_iter().chain([0]).collect();
            prop_assert_eq!(unpack(&longer), None);
        }
    }

    #[test]
    fn a_hash_takes_little_more_than_three_bytes() {
        let mut hashes: Vec<u32> = (0..400u32).map(|number| number.wrapping_mul(0x9E37_79B1)).collect();
        hashes.sort_unstable();
        assert!(pack(&hashes).len() <= 400 * 26 / 8, "{}", pack(&hashes).len());
        let extremes = [0, 0, 1, u32::MAX - 1, u32::MAX, u32::MAX];
        assert_eq!(unpack(&pack(&extremes)), Some(extremes.to_vec()));
        assert_eq!(unpack(&pack(&[u32::MAX])), Some(vec![u32::MAX]));
        assert_eq!(pack(&[]), [0]);
    }
}
