//! Errors of the decider.

use std::error::Error;

use crate::model::{Sequence, TermId};

/// Why a batch could not be decided, or a log could not be restored.
#[derive(Debug, thiserror::Error)]
pub enum DetectError {
    /// A stored record could not be read back for comparison.
    #[error("the record of page {sequence} could not be read back for comparison")]
    Source {
        /// The stored page.
        sequence: Sequence,
        /// The error of the record source.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// An earlier error left part of a batch decided. Restore the decider from the log.
    #[error("an earlier error left a batch half decided: restore the decider from its log")]
    Broken,
    /// The vocabulary holds all the terms that 32-bit numbers can name (2³² − 1, or 4 GiB of text).
    #[error("the vocabulary is full: {terms} terms")]
    VocabularyFull {
        /// Terms in it.
        terms: usize,
    },
    /// A turn withdraws or renews a page that no earlier turn has decided.
    #[error("a turn withdraws or renews page {page}, which was not decided before it")]
    NotDecided {
        /// The page.
        page: Sequence,
    },
    /// The log of a turn has fewer or more verdicts than the turn has new pages.
    #[error("the log of turns is damaged: the turn from page {first} on has {verdicts} verdicts on {pages} pages")]
    OtherVerdicts {
        /// The first page of the turn.
        first: Sequence,
        /// The pages that were not delivered before.
        pages: usize,
        /// The verdicts in the log.
        verdicts: usize,
    },
    /// More pages than 32-bit numbers can name.
    #[error("the log is full: no sequence number is left")]
    PagesFull,
    /// A term occurs twice in the log of terms.
    #[error("the log of terms is damaged: term {second} repeats term {first}")]
    RepeatedTerm {
        /// Its first number.
        first: TermId,
        /// Its second number.
        second: TermId,
    },
    /// A page was restored out of order.
    #[error("the log of pages is damaged: page {found} stands where page {expected} should")]
    OutOfOrder {
        /// The next page in order.
        expected: Sequence,
        /// The page that was restored.
        found: Sequence,
    },
    /// A logged page has a term that is not in the log of terms.
    #[error("the log of pages is damaged: page {page} has term {term}, which is in no log")]
    UnknownTerm {
        /// The page.
        page: Sequence,
        /// The term.
        term: TermId,
    },
    /// A logged page repeats a page that is not stored before it.
    #[error("the log of pages is damaged: page {page} repeats page {of}, which is not stored before it")]
    UnknownOriginal {
        /// The page.
        page: Sequence,
        /// The page that it repeats.
        of: Sequence,
    },
}
