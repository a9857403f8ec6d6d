//! Sizes and counters of the decider.

use crate::index::ProbeCounters;

/// Sizes of a decider, and sums over the probes since it was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeciderStats {
    /// Decided pages, restored ones included.
    pub judged: u64,
    /// Records in the index.
    pub indexed: u64,
    /// Terms in the vocabulary.
    pub terms: u64,
    /// Memory of the index, in bytes, estimated from capacities like the two below.
    pub index_bytes: u64,
    /// Memory of the vocabulary, in bytes.
    pub vocabulary_bytes: u64,
    /// Memory of verdicts, digests and names of the decided pages, in bytes.
    pub log_bytes: u64,
    /// Pages for which the index was probed.
    pub probes: u64,
    /// The work of those probes.
    pub counters: ProbeCounters,
}
