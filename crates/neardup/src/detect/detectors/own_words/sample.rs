//! A sample of the runs of a page: those of the smallest hashes ("bottom-k").

/// Returns the smallest hashes, ascending, each once.
pub(super) fn smallest(runs: impl Iterator<Item = u64>, most: usize) -> Vec<u64> {
    let all: Vec<u64> = runs.collect();
    // Few runs stand twice, so these are nearly always enough.
    let some = most + most / 4;
    let mut runs = all.clone();
    if some < runs.len() {
        runs.select_nth_unstable(some);
        runs.truncate(some);
        runs.sort_unstable();
        runs.dedup();
    }
    if runs.len() < most {
        runs = all;
        runs.sort_unstable();
        runs.dedup();
    }
    runs.truncate(most);
    runs
}
