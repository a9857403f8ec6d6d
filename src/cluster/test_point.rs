//! Points at which tests kill a process.

/// Names the point at which the process ends as if it were killed.
const VARIABLE: &str = "TEST_NDCRAWL_ABORT_AT";

/// Ends the process if a test asks for it by name.
pub fn test_point(name: &str) {
    if std::env::var_os(VARIABLE).is_some_and(|wanted| wanted == name) {
        std::process::abort();
    }
}
