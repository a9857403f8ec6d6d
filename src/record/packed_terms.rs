//! A page's terms as one run of octets, for `#[serde(with = …)]`.
//!
//! ```text
//! terms = { distance from the term before, LEB128 | set of fields, one bit each | count in each of these, LEB128 }*
//! ```
//!
//! Logs hold hundreds of terms a page. They ascend, so that most distances take one octet or two, and most terms
//! stand in one field.

use serde::de::{Error, Visitor};
use serde::{Deserializer, Serializer};

use super::{FieldCounts, TermId};

type Terms = Vec<(TermId, FieldCounts)>;

/// Octets of a term that is written: more are made room for when there are more.
const USUAL: usize = 4;

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
    let mut octets = Vec::with_capacity(terms.len() * USUAL);
    let mut before = 0u32;
    for (term, FieldCounts(counts)) in terms {
        push(&mut octets, term.0.wrapping_sub(before));
        before = term.0;
        let fields = (0..).zip(counts).fold(0u8, |fields, (field, &count)| fields | u8::from(count > 0) << field);
        octets.push(fields);
        let mut left = fields;
        while left != 0 {
            push(&mut octets, counts[left.trailing_zeros() as usize]);
            left &= left - 1;
        }
    }
    octets
}

fn unpack(mut octets: &[u8]) -> Option<Terms> {
    // No term takes fewer than two octets.
    let mut terms = Vec::with_capacity(octets.len() / 2);
    let mut term = 0u32;
    while !octets.is_empty() {
        term = term.wrapping_add(take(&mut octets)?);
        let (&fields, after) = octets.split_first()?;
        octets = after;
        let mut counts = [0; 8];
        let mut left = fields;
        while left != 0 {
            counts[left.trailing_zeros() as usize] = take(&mut octets)?;
            left &= left - 1;
        }
        terms.push((TermId(term), FieldCounts(counts)));
    }
    terms.shrink_to_fit();
    Some(terms)
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
        assert_eq!(pack(&[once(5), once(105)]), [5, 0x80, 3, 100, 0x80, 3]);
    }

    #[test]
    fn what_is_cut_short_or_too_large_is_refused() {
        let octets = pack(&[(TermId(300), FieldCounts([1, 0, 0, 0, 0, 0, 0, 300]))]);
        assert!((1..octets.len()).all(|end| unpack(&octets[..end]).is_none()));
        assert_eq!(unpack(&[0xff, 0xff, 0xff, 0xff, 0x1f, 0]), None, "more than 32 bits");
        assert_eq!(unpack(&[0x80, 0x80, 0x80, 0x80, 0x80, 0]), None, "more than five octets");
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
