//! A short cut for pages with the same words: stored records by a hash of their weighted terms.
//!
//! A page may differ from a stored one only in word order, in what is between the words, or in stop words. As
//! weighted terms it is a copy, and one hash lookup finds it before any list is read. The lookup only names a record
//! to compare: a hash collision costs a comparison.

use std::io::{self, Read, Write};

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

use crate::model::Sequence;
use crate::model::arrays::{read_array, write_array};
use crate::similarity::Record;

/// The first stored record of each hash. 14 to 28 bytes a record.
#[derive(Debug, Default)]
pub(super) struct ExactDuplicates {
    first: HashTable<(u64, Sequence)>,
}

impl ExactDuplicates {
    /// Adds a stored record.
    pub(super) fn insert(&mut self, record: &Record, sequence: Sequence) {
        let hash = hash_of(record);
        if self.first.find(hash, |(other, _)| *other == hash).is_none() {
            self.first.insert_unique(hash, (hash, sequence), |(hash, _)| *hash);
        }
    }

    /// Returns the first stored record with the same terms and weights, most likely.
    pub(super) fn find(&self, record: &Record) -> Option<Sequence> {
        let hash = hash_of(record);
        self.first.find(hash, |(other, _)| *other == hash).map(|(_, sequence)| *sequence)
    }

    pub(super) fn bytes(&self) -> usize {
        self.first.allocation_size()
    }

    /// Writes the hashes to a snapshot.
    pub(super) fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut entries: Vec<(u32, u64)> = self.first.iter().map(|(hash, sequence)| (sequence.0, *hash)).collect();
        entries.sort_unstable();
        write_array(out, &entries.iter().map(|(sequence, _)| *sequence).collect::<Vec<_>>())?;
        write_array(out, &entries.iter().map(|(_, hash)| *hash).collect::<Vec<_>>())
    }

    /// Reads what [`save`](Self::save) wrote.
    pub(super) fn load(input: &mut dyn Read) -> io::Result<Self> {
        let (sequences, hashes): (Vec<u32>, Vec<u64>) = (read_array(input)?, read_array(input)?);
        let mut first = HashTable::with_capacity(hashes.len());
        for (sequence, hash) in sequences.into_iter().zip(hashes) {
            first.insert_unique(hash, (hash, Sequence(sequence)), |(hash, _)| *hash);
        }
        Ok(Self { first })
    }
}

fn hash_of(record: &Record) -> u64 {
    let bytes: Vec<u8> = record
        .terms()
        .iter()
        .flat_map(|(term, weight)| (u64::from(term.0) << 32 | u64::from(*weight)).to_le_bytes())
        .collect();
    xxh3_64(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TermId;

    #[test]
    fn the_first_record_of_its_terms_and_weights_is_found() {
        let record = |weights: &[u32]| Record::new((0..).map(TermId).zip(weights.iter().copied()).collect());
        let mut copies = ExactDuplicates::default();
        for (number, weights) in (0..).zip([&[1, 2][..], &[1, 3], &[1, 2]]) {
            copies.insert(&record(weights), Sequence(number));
        }
        let mut bytes = Vec::new();
        copies.save(&mut bytes).unwrap();
        for copies in [copies, ExactDuplicates::load(&mut &bytes[..]).unwrap()] {
            assert_eq!(copies.find(&record(&[1, 2])), Some(Sequence(0)));
            assert_eq!(copies.find(&record(&[1, 3])), Some(Sequence(1)));
            assert_eq!(copies.find(&record(&[2, 1])), None);
        }
    }
}
