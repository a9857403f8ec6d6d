//! What the decider holds and what it did.

use crate::index::ProbeCounters;

/// Sizes of a decider, and sums over the probes since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeciderStats {
    /// Judged pages, restored ones included.
    pub judged: u64,
    /// Records in the index.
    pub indexed: u64,
    /// Of these, records that are compared by their sketches alone, to keep to the memory budget.
    pub unlisted: u64,
    /// Terms in the vocabulary.
    pub terms: u64,
    /// Memory of the index, in bytes, estimated from capacities like the two below.
    pub index_bytes: u64,
    /// Memory of the vocabulary, in bytes.
    pub vocabulary_bytes: u64,
    /// Memory of verdicts, digests and names of the judged pages, in bytes.
    pub log_bytes: u64,
    /// Pages for which the index was asked.
    pub probes: u64,
    /// What those probes cost in all.
    pub counters: ProbeCounters,
}
