//! A page's terms as one run of octets, for `#[serde(with = …)]`.
//!
//! ```text
//! terms    = { head | distance from the term before | count }*
//!          | { head | distance from the term before | set of fields, one bit each | count in each of these, LEB128 }*
//! head     = octets of the distance less one, 2 bits | octets of the count less one, 2 bits | field, 3 bits
//!          | whether there is a set of fields, 1 bit
//! ```
//!
//! Logs hold hundreds of terms a page. They ascend, so that most distances take one octet or two, and most terms
//! stand in one field. Numbers are little-endian, and as long as the head says: a number's length is a branch
//! that is guessed wrong, unless it is told beforehand.

use serde::de::{Error, Visitor};
use serde::{Deserializer, Serializer};

use super::{FieldCounts, TermId};

type Terms = Vec<(TermId, FieldCounts)>;

/// The head says that there is a set of fields.
const MANY: u8 = 0x80;
/// Octets of a term in one field at most.
const ONE_FIELD: usize = 1 + 4 + 4;
/// Octets of a term at most: head, distance, set of fields and eight counts.
const MOST: usize = 1 + 4 + 1 + 8 * 5;

pub fn serialize<S: Serializer>(terms: &[(TermId, FieldCounts)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(&pack(terms))
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Terms, D::Error> {
    struct Packed;
    impl<'de> Visitor<'de> for Packed {
        type Value = Terms;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a page's terms")
        }

        fn visit_bytes<E: Error>(self, octets: &[u8]) -> Result<Terms, E> {
            unpack(octets).ok_or_else(|| E::custom("a term is cut short, or a number of it too large"))
        }
    }
    deserializer.deserialize_bytes(Packed)
}

/// Terms need not ascend: the distance to a smaller number goes by way of 2³².
fn pack(terms: &[(TermId, FieldCounts)]) -> Vec<u8> {
    let mut octets = Vec::with_capacity(terms.len() * ONE_FIELD + MOST);
    let mut before = 0u32;
    for (term, counts) in terms {
        let distance = term.0.wrapping_sub(before);
        before = term.0;
        let (fields, far) = (fields_of(counts), octets_of(distance));
        if fields.is_power_of_two() {
            let field = fields.trailing_zeros() as usize;
            let count = counts.0[field & 7];
            let many = octets_of(count);
            put(&mut octets, (far - 1) | (many - 1) << 2 | field << 4, distance, far);
            octets.extend_from_slice(&count.to_le_bytes());
            octets.truncate(octets.len() - 4 + many);
        } else {
            put(&mut octets, (far - 1) | usize::from(MANY), distance, far);
            octets.push(fields as u8);
            counts.0.iter().filter(|&&count| count > 0).for_each(|&count| push(&mut octets, count));
        }
    }
    octets
}

/// The set of fields in which a term stands, one bit each, found without a branch.
fn fields_of(FieldCounts(counts): &FieldCounts) -> u32 {
    const BITS: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
    counts.iter().zip(BITS).fold(0, |fields, (&count, bit)| fields | if count > 0 { bit } else { 0 })
}

fn unpack(mut octets: &[u8]) -> Option<Terms> {
    // Few terms take fewer than three octets.
    let mut terms = Vec::with_capacity(octets.len() / 3);
    let mut term = 0u32;
    while let &[head, ..] = octets {
        let mut padded = [0; ONE_FIELD];
        let begin = octets.first_chunk().unwrap_or_else(|| {
            padded[..octets.len()].copy_from_slice(octets);
            &padded
        });
        let far = usize::from(head & 3) + 1;
        term = term.wrapping_add(get(&begin[1..], far));
        let mut counts = [0; 8];
        if head & MANY == 0 {
            let many = usize::from(head >> 2 & 3) + 1;
            counts[usize::from(head >> 4 & 7)] = get(&begin[1 + far..], many);
            octets = octets.get(1 + far + many..)?;
        } else {
            let (&fields, after) = octets.get(1 + far..)?.split_first()?;
            octets = after;
            let mut left = fields;
            while left != 0 {
                counts[left.trailing_zeros() as usize] = take(&mut octets)?;
                left &= left - 1;
            }
        }
        terms.push((TermId(term), FieldCounts(counts)));
    }
    terms.shrink_to_fit();
    Some(terms)
}

/// Octets of a number: one at least.
fn octets_of(number: u32) -> usize {
    4 - (number | 1).leading_zeros() as usize / 8
}

/// Writes a head, and a distance of so many octets.
fn put(octets: &mut Vec<u8>, head: usize, distance: u32, far: usize) {
    // Eight at once, of which those stay that are wanted: no branch, and no call for a few octets.
    octets.extend_from_slice(&(head as u64 | u64::from(distance) << 8).to_le_bytes());
    octets.truncate(octets.len() - 7 + far);
}

/// Reads a number of so many octets, 1 to 4, of which four are there.
fn get(octets: &[u8], many: usize) -> u32 {
    let number = octets.first_chunk().map_or(0, |&octets| u32::from_le_bytes(octets));
    number & u32::MAX >> (32 - 8 * many)
}

fn push(octets: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        octets.push(number as u8 | 0x80);
        number >>= 7;
    }
    octets.push(number as u8);
}

fn take(octets: &mut &[u8]) -> Option<u32> {
    let mut number = 0u64;
    for shift in (0..35).step_by(7) {
        let (&octet, after) = octets.split_first()?;
        *octets = after;
        number |= u64::from(octet & 0x7f) << shift;
        if octet < 0x80 {
            return u32::try_from(number).ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_term_takes_three_octets_where_it_stands_in_one_field_near_the_one_before() {
        let once = |term| (TermId(term), FieldCounts([0, 0, 0, 0, 0, 0, 0, 3]));
        assert_eq!(pack(&[once(5), once(205)]), [0x70, 5, 3, 0x70, 200, 3]);
    }

    #[test]
    fn what_is_cut_short_or_too_large_is_refused() {
        let octets = pack(&[(TermId(300), FieldCounts([1, 0, 0, 0, 0, 0, 0, 300]))]);
        assert!((1..octets.len()).all(|end| unpack(&octets[..end]).is_none()));
        assert_eq!(unpack(&[0x80, 5, 1, 0xff, 0xff, 0xff, 0xff, 0x1f]), None, "more than 32 bits");
        assert_eq!(unpack(&[0x80, 5, 1, 0x80, 0x80, 0x80, 0x80, 0x80, 0]), None, "more than five octets");
    }

    proptest! {
        #[test]
        fn terms_come_back_as_they_were(
            terms in prop::collection::vec((any::<u32>(), prop::array::uniform8(prop_oneof![Just(0), any::<u32>()])), 0..20),
        ) {
            let terms: Terms = terms.into_iter().map(|(term, counts)| (TermId(term), FieldCounts(counts))).collect();
            prop_assert_eq!(unpack(&pack(&terms)), Some(terms));
        }

        #[test]
        fn any_octets_are_read_or_refused(octets in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Some(terms) = unpack(&octets) {
                prop_assert_eq!(unpack(&pack(&terms)), Some(terms));
            }
        }
    }
}
