//! Points at which tests kill a process, and the fault that shows that a test would see it.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Names the point at which the process ends as if it were killed, and maybe which time: `answer:3`.
const VARIABLE: &str = "TEST_NDCRAWL_ABORT_AT";

/// How often the point was passed.
static PASSED: AtomicUsize = AtomicUsize::new(0);

/// Ends the process if a test asks for it by name.
pub fn test_point(name: &str) {
    let Some(wanted) = std::env::var_os(VARIABLE) else { return };
    let wanted = wanted.to_string_lossy();
    let (point, times) = wanted.split_once(':').unwrap_or((&wanted, "1"));
    if point == name && PASSED.fetch_add(1, Ordering::Relaxed) + 1 == times.parse().unwrap_or(1) {
        std::process::abort();
    }
}

/// If it is set, pages of a process that was lost are completed as if they had not changed: the control of tests.
const FAULT: &str = "TEST_NDCRAWL_COMPLETE_CHANGED_PAGES";

/// Whether a test asks for the fault.
pub(super) fn completes_changed_pages() -> bool {
    std::env::var_os(FAULT).is_some()
}
