//! Hash values of keywords (steps 2 and 3).

use std::fmt;

use crate::detect::Vocabulary;
use crate::model::TermId;

/// Buckets: one for each letter, and one before them for all others.
const BUCKETS: usize = 27;

/// The hash value of a keyword: "hash values should start with 1-26". Displays as `13-204`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HashValue {
    /// 1 to 26 by the first letter, a to z; 0 for any other.
    pub bucket: u8,
    /// Unique within the bucket, from 0, in the order of first appearance.
    pub key: u32,
}

impl fmt::Display for HashValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.bucket, self.key)
    }
}

/// The hash values of all keywords.
///
/// A keyword's key is the number of earlier terms in its bucket. The vocabulary keeps the order of terms and the log
/// makes it durable. So no second table can be lost or differ: the same log gives the same values.
#[derive(Clone, Debug, Default)]
pub struct Keywords {
    values: Vec<HashValue>,
    next: [u32; BUCKETS],
}

impl Keywords {
    /// Numbers the keywords of a vocabulary. Cost: linear in its terms.
    pub fn new(vocabulary: &Vocabulary) -> Self {
        let mut keywords = Self::default();
        keywords.extend(vocabulary);
        keywords
    }

    /// Adds the terms that the vocabulary has gained.
    pub fn extend(&mut self, vocabulary: &Vocabulary) {
        let first = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
        for term in (first..).map_while(|number| vocabulary.term(TermId(number))) {
            self.add(term);
        }
    }

    /// Gives the next keyword its value.
    pub fn add(&mut self, term: &str) -> HashValue {
        let bucket = bucket(term);
        let next = &mut self.next[usize::from(bucket)];
        let value = HashValue { bucket, key: *next };
        // There are at most as many keys as terms, whose numbers have 32 bits.
        *next = next.saturating_add(1);
        self.values.push(value);
        value
    }

    /// Returns the value of a keyword.
    pub fn value(&self, term: TermId) -> Option<HashValue> {
        self.values.get(term.index()).copied()
    }
}

fn bucket(term: &str) -> u8 {
    match term.bytes().next().map(|first| first.to_ascii_lowercase()) {
        Some(letter @ b'a'..=b'z') => letter - b'a' + 1,
        _ => 0,
    }
}
