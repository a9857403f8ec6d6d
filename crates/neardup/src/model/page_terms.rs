//! The terms of a decided page, packed into bytes as the log keeps them.
//!
//! ```text
//! terms    = { head | distance from the term before | count }*
//!          | { head | distance from the term before | set of fields, one bit each | count in each of these, LEB128 }*
//! head     = bytes of the distance less one, 2 bits | bytes of the count less one, 2 bits | field, 3 bits
//!          | whether there is a set of fields, 1 bit
//! ```
//!
//! A page has hundreds of terms. They ascend, so most distances take one or two bytes, and most terms are in one
//! field. Numbers are little-endian, and the head gives their lengths: a length that is found while reading would be
//! a mispredicted branch.
//!
//! Eight counts of a term are 32 bytes, nearly all of them 0. The packed terms take a tenth of that, and the commit
//! only copies them.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Field, FieldCounts, FieldWeights, TermId};

/// Head bit: a set of fields follows.
const MANY: u8 = 0x80;
/// The most bytes of a term in one field.
const ONE_FIELD: usize = 1 + 4 + 4;
/// The most bytes of a term: head, distance, set of fields and eight counts.
const MOST: usize = 1 + 4 + 1 + 8 * 5;

/// The distinct terms of a page, ascending by id, with their field counts.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct PageTerms {
    bytes: Box<[u8]>,
    len: u32,
    last: Option<TermId>,
}

impl PageTerms {
    /// Sorts and packs terms. Counts of a term that occurs twice are added.
    pub fn new(mut terms: Vec<(TermId, FieldCounts)>) -> Self {
        terms.sort_unstable_by_key(|&(term, _)| term);
        terms.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1.0.iter_mut().zip(later.1.0).for_each(|(kept, later)| *kept = kept.saturating_add(later));
            }
            same
        });
        let last = terms.last().map(|&(term, _)| term);
        Self { bytes: pack(&terms).into(), len: terms.len() as u32, last }
    }

    /// Returns the terms, ascending. Cost: a few nanoseconds a term.
    pub fn iter(&self) -> impl Iterator<Item = (TermId, FieldCounts)> {
        let mut unpacking = Unpacking::of(&self.bytes);
        std::iter::from_fn(move || {
            let mut counts = FieldCounts::default();
            let term = unpacking.step(|field, count| counts.0[field as usize] = count)?;
            Some((term, counts))
        })
    }

    /// Returns the terms, ascending, with their [weights](FieldWeights::weigh).
    pub fn weighed(&self, weights: FieldWeights) -> impl Iterator<Item = (TermId, u64)> {
        let mut unpacking = Unpacking::of(&self.bytes);
        std::iter::from_fn(move || {
            let mut weight = 0;
            let term =
                unpacking.step(|field, count| weight += u64::from(count) * u64::from(weights.0[field as usize]))?;
            Some((term, weight))
        })
    }

    /// Returns the number of distinct terms.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Returns whether there is no term.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the greatest term.
    pub fn last(&self) -> Option<TermId> {
        self.last
    }

    /// Reads [packed](pack) terms; `None` for any other bytes.
    fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let (mut unpacking, mut len) = (Unpacking::of(bytes), 0);
        while unpacking.step(|_, _| ()).is_some() {
            len += 1;
        }
        unpacking.bytes.is_empty().then(|| Self { bytes: bytes.into(), len, last: unpacking.before })
    }
}

impl FromIterator<(TermId, FieldCounts)> for PageTerms {
    fn from_iter<I: IntoIterator<Item = (TermId, FieldCounts)>>(terms: I) -> Self {
        Self::new(terms.into_iter().collect())
    }
}

impl fmt::Debug for PageTerms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl Serialize for PageTerms {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.bytes)
    }
}

impl<'de> Deserialize<'de> for PageTerms {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Packed;
        impl Visitor<'_> for Packed {
            type Value = PageTerms;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a page's terms")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<PageTerms, E> {
                let fault = "a term is cut short, does not ascend, or has a number that is too large";
                PageTerms::of_bytes(bytes).ok_or_else(|| E::custom(fault))
            }
        }
        deserializer.deserialize_bytes(Packed)
    }
}

/// Packs terms, which must ascend, each once.
fn pack(terms: &[(TermId, FieldCounts)]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(terms.len() * ONE_FIELD + MOST);
    let mut before = 0u32;
    for (term, counts) in terms {
        let distance = term.0 - before;
        before = term.0;
        let (fields, far) = (fields_of(counts), bytes_of(distance));
        if fields.is_power_of_two() {
            let field = fields.trailing_zeros() as usize;
            let count = counts.0[field & 7];
            let many = bytes_of(count);
            put(&mut bytes, (far - 1) | (many - 1) << 2 | field << 4, distance, far);
            bytes.extend_from_slice(&count.to_le_bytes());
            bytes.truncate(bytes.len() - 4 + many);
        } else {
            put(&mut bytes, (far - 1) | usize::from(MANY), distance, far);
            bytes.push(fields as u8);
            counts.0.iter().filter(|&&count| count > 0).for_each(|&count| push(&mut bytes, count));
        }
    }
    bytes
}

/// Returns the set of fields of a term, one bit each, without a branch.
fn fields_of(FieldCounts(counts): &FieldCounts) -> u32 {
    const BITS: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
    counts.iter().zip(BITS).fold(0, |fields, (&count, bit)| fields | if count > 0 { bit } else { 0 })
}

/// Reads packed terms one by one, and ends at invalid bytes.
struct Unpacking<'a> {
    bytes: &'a [u8],
    before: Option<TermId>,
}

impl<'a> Unpacking<'a> {
    fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, before: None }
    }

    /// Reads the next term, and passes each of its counts to `counted`.
    #[inline(always)]
    fn step(&mut self, mut counted: impl FnMut(Field, u32)) -> Option<TermId> {
        let mut bytes = self.bytes;
        let head = *bytes.first()?;
        let mut padded = [0; ONE_FIELD];
        let begin = bytes.first_chunk().unwrap_or_else(|| {
            padded[..bytes.len()].copy_from_slice(bytes);
            &padded
        });
        let far = usize::from(head & 3) + 1;
        let distance = get(&begin[1..], far);
        let ascends = |TermId(before)| u32::checked_add(before, distance).filter(|_| distance > 0);
        let term = TermId(self.before.map_or(Some(distance), ascends)?);
        if head & MANY == 0 {
            let many = usize::from(head >> 2 & 3) + 1;
            counted(Field::ALL[usize::from(head >> 4 & 7)], get(&begin[1 + far..], many));
            bytes = bytes.get(1 + far + many..)?;
        } else {
            let (&fields, after) = bytes.get(1 + far..)?.split_first()?;
            bytes = after;
            let mut left = fields;
            while left != 0 {
                counted(Field::ALL[left.trailing_zeros() as usize], take(&mut bytes)?);
                left &= left - 1;
            }
        }
        (self.bytes, self.before) = (bytes, Some(term));
        Some(term)
    }
}

/// Returns the bytes of a number, at least one.
fn bytes_of(number: u32) -> usize {
    4 - (number | 1).leading_zeros() as usize / 8
}

/// Writes a head, and a distance of `far` bytes.
fn put(bytes: &mut Vec<u8>, head: usize, distance: u32, far: usize) {
    // Writes eight bytes and truncates: no branch, and no call for a few bytes.
    bytes.extend_from_slice(&(head as u64 | u64::from(distance) << 8).to_le_bytes());
    bytes.truncate(bytes.len() - 7 + far);
}

/// Reads a number of `many` bytes, 1 to 4; four bytes must exist.
fn get(bytes: &[u8], many: usize) -> u32 {
    let number = bytes.first_chunk().map_or(0, |&bytes| u32::from_le_bytes(bytes));
    number & u32::MAX >> (32 - 8 * many)
}

fn push(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take(bytes: &mut &[u8]) -> Option<u32> {
    let mut number = 0u64;
    for shift in (0..35).step_by(7) {
        let (&byte, after) = bytes.split_first()?;
        *bytes = after;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return u32::try_from(number).ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn once(term: u32, count: u32) -> (TermId, FieldCounts) {
        (TermId(term), FieldCounts([0, 0, 0, 0, 0, 0, 0, count]))
    }

    #[test]
    fn a_term_takes_three_bytes_where_it_stands_in_one_field_near_the_one_before() {
        assert_eq!(pack(&[once(5, 3), once(205, 3)]), [0x70, 5, 3, 0x70, 200, 3]);
    }

    #[test]
    fn terms_ascend_and_what_stands_twice_counts_as_the_sum() {
        let terms = PageTerms::new(vec![once(7, 2), once(3, 1), once(7, 5), once(0, u32::MAX), once(0, 1)]);
        assert_eq!(terms.iter().collect::<Vec<_>>(), [once(0, u32::MAX), once(3, 1), once(7, 7)]);
        assert_eq!((terms.len(), terms.last()), (3, Some(TermId(7))));
        assert_eq!((PageTerms::default().is_empty(), PageTerms::default().last()), (true, None));
    }

    #[test]
    fn what_is_cut_short_does_not_ascend_or_is_too_large_is_refused() {
        let bytes = pack(&[(TermId(300), FieldCounts([1, 0, 0, 0, 0, 0, 0, 300]))]);
        assert!((1..bytes.len()).all(|end| PageTerms::of_bytes(&bytes[..end]).is_none()));
        assert_eq!(PageTerms::of_bytes(&[0x80, 5, 1, 0xff, 0xff, 0xff, 0xff, 0x1f]), None, "more than 32 bits");
        assert_eq!(PageTerms::of_bytes(&[0x80, 5, 1, 0x80, 0x80, 0x80, 0x80, 0x80, 0]), None, "more than five bytes");
        assert_eq!(PageTerms::of_bytes(&[0x70, 5, 1, 0x70, 0, 1]), None, "a term twice");
        assert_eq!(PageTerms::of_bytes(&[0x70, 5, 1, 0x73, 255, 255, 255, 255, 1]), None, "beyond the last number");
    }

    proptest! {
        #[test]
        fn terms_come_back_as_they_were(
            terms in prop::collection::btree_map(any::<u32>(), prop::array::uniform8(prop_oneof![Just(0), any::<u32>()]), 0..20),
        ) {
            let terms: Vec<_> = terms.into_iter().map(|(term, counts)| (TermId(term), FieldCounts(counts))).collect();
            let packed = PageTerms::new(terms.clone());
            prop_assert_eq!(PageTerms::of_bytes(&packed.bytes), Some(packed.clone()));
            prop_assert_eq!(packed.len(), terms.len());
            let weights = FieldWeights([1, 2, 3, 5, 7, 11, 13, u16::MAX]);
            prop_assert!(packed.weighed(weights).eq(terms.iter().map(|(term, counts)| (*term, weights.weigh(counts)))));
            prop_assert_eq!(packed.iter().collect::<Vec<_>>(), terms);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Some(terms) = PageTerms::of_bytes(&bytes) {
                let again: PageTerms = terms.iter().collect();
                prop_assert!(again.iter().eq(terms.iter()));
                prop_assert_eq!((again.len(), again.last()), (terms.len(), terms.last()));
            }
        }
    }
}
