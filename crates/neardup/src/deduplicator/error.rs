use std::io;

use crate::detect::DetectError;

/// Why a [`Deduplicator`](super::Deduplicator) could not do what it was asked to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A threshold outside [0, 1].
    #[error("{0} is not a threshold: give a number from 0 to 1, such as 0.8")]
    Threshold(f64),
    /// A weight that is negative, infinite, not a number, or too large.
    #[error("term '{term}' weighs {weight}: give a number from 0 to 40 million")]
    Weight {
        /// The term.
        term: String,
        /// Its weight.
        weight: f64,
    },
    /// The language has no stemmer and no stop words.
    #[error("no rules for language '{0}': give a primary subtag such as 'en', or none")]
    Language(String),
    /// A bound on lost words, without the comparison that counts them.
    #[error(
        "words that are lost are counted where own words are compared: leave own_words as it is, or lose_at_most out"
    )]
    NoOwnWords,
    /// A document with this key was inserted before.
    #[error("key {0} was inserted before: keys name one document each")]
    KeyExists(String),
    /// No document has this key.
    #[error("no document has the key {0}")]
    UnknownKey(String),
    /// A verdict could not be given.
    #[error(transparent)]
    Detect(#[from] DetectError),
    /// A saved deduplicator could not be written or read.
    #[error("cannot read or write a saved deduplicator")]
    Io(#[from] io::Error),
    /// The bytes are no saved deduplicator, or are damaged, or come from another version.
    #[error("not a deduplicator that this version has saved ({0}): build it again from its documents")]
    Format(&'static str),
}
