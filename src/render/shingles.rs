//! Runs of terms, hashed: what tells pages apart that hold the same terms in another order.

use xxhash_rust::xxh3::xxh3_64;

use crate::record::TermCounts;

/// Terms in a run.
const LENGTH: usize = 3;

/// Hashes of all runs of terms, ascending, each once. A text of fewer terms than a run has one hash.
/// `sequence` names terms by their position in `terms`.
pub(super) fn of(sequence: &[u32], terms: &[TermCounts]) -> Vec<u32> {
    let hashes: Vec<u64> = terms.iter().map(|term| xxh3_64(term.term.as_bytes())).collect();
    let run = |run: &[u32]| (run.iter().fold(0, |hash, &term| mixed(hash, hashes[term as usize])) >> 32) as u32;
    let mut found: Vec<u32> = match sequence.len() {
        0 => Vec::new(),
        1..LENGTH => vec![run(sequence)],
        _ => sequence.windows(LENGTH).map(run).collect(),
    };
    found.sort_unstable();
    found.dedup();
    found
}

/// One multiplication that carries every bit upwards; the order of the terms counts.
fn mixed(hash: u64, term: u64) -> u64 {
    (hash ^ term).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
}
