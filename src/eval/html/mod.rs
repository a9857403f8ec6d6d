//! One web page.
use super::report::{ClusterReport, PairReport};

/// A report on pairs.
pub fn pairs(_report: &PairReport) -> String {
    String::new()
}

/// A report on clusters.
pub fn clusters(_report: &ClusterReport) -> String {
    String::new()
}
