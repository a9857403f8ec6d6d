//! Points at which tests kill a process, and the fault that shows that a test would see it.
//!
//! They are there in builds with the feature `failpoints` only.

use std::ffi::OsString;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Names the point at which the process ends as if it were killed, and maybe which time: `entered:3`.
const VARIABLE: &str = "TEST_NDCRAWL_ABORT_AT";

/// Returns the variable's value in a build for tests.
fn asked(variable: &str) -> Option<OsString> {
    if cfg!(feature = "failpoints") { std::env::var_os(variable) } else { None }
}

/// How often the point was passed.
static PASSED: AtomicUsize = AtomicUsize::new(0);

/// Ends the process if a test asks for it by name.
pub fn test_point(name: &str) {
    let Some(wanted) = asked(VARIABLE) else { return };
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
    asked(FAULT).is_some()
}
