//! The hash values of keywords (steps 2 and 3).

use std::fmt;

use crate::detect::Vocabulary;
use crate::model::TermId;

/// Buckets: one for each letter, and one before them for all else.
const BUCKETS: usize = 27;

/// What stands for a keyword: "hash values should start with 1-26". Written as `13-204`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HashValue {
    /// 1 to 26 by the first letter, a to z; 0 if it is none of these.
    pub bucket: u8,
    /// Unique within the bucket, from 0, in the order in which keywords were first met.
    pub key: u32,
}

impl fmt::Display for HashValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.bucket, self.key)
    }
}

/// The hash values of all keywords.
///
/// They follow from the order in which terms were first met: a keyword's key is the number of earlier
/// terms in its bucket. The vocabulary keeps that order and the log of terms makes it durable, so there
/// is no second table that could be lost or differ: the same log gives the same values, in every run.
#[derive(Clone, Debug, Default)]
pub struct Keywords {
    values: Vec<HashValue>,
    next: [u32; BUCKETS],
}

impl Keywords {
    /// The keywords of a vocabulary. Cost: linear in its terms.
    pub fn new(vocabulary: &Vocabulary) -> Self {
        let mut keywords = Self::default();
        keywords.extend(vocabulary);
        keywords
    }

    /// Adds what the vocabulary has gained.
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
        // There are no more keys than terms, whose numbers have 32 bits.
        *next = next.saturating_add(1);
        self.values.push(value);
        value
    }

    /// The value of a keyword.
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
