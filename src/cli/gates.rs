//! Limits for pipelines: a run that exceeds one ends with an exit code of its own, and says by how much.

use crate::cli::config::settings::Settings;
use crate::cli::counts::OutcomeCounts;
use crate::cli::errors::exit;
use crate::cli::format::{counted, of_compared, percent};

/// A limit that was exceeded.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ExceededLimit {
    pub code: u8,
    pub message: String,
}

/// Returns the first limit that these counts exceed.
pub(super) fn exceeded(settings: &Settings, counts: OutcomeCounts) -> Option<ExceededLimit> {
    let (compared, duplicates, failed) = (counts.compared(), counts.duplicates(), counts.failed);
    let all = compared + failed;
    let share = |part: u64, whole: u64| percent(part as f64 / whole.max(1) as f64);
    if let Some(limit) = settings.fail_over.filter(|limit| limit.is_exceeded_by(failed, all)) {
        let (share, pages, limit) = (share(failed, all), counted(all, "page", "pages"), percent(limit.share()));
        let message = format!("{share} of {pages} failed, more than --fail-over {limit}");
        return Some(ExceededLimit { code: exit::TOO_MANY_FAILURES, message });
    }
    let limit = settings.max_duplicate_rate.filter(|limit| limit.is_exceeded_by(duplicates, compared))?;
    let (share, pages, limit) = (share(duplicates, compared), of_compared(compared), percent(limit.share()));
    let message = format!("{share} of {pages}, more than --max-duplicate-rate {limit}");
    Some(ExceededLimit { code: exit::TOO_MANY_DUPLICATES, message })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::config::merge::tests::settings;

    #[test]
    fn a_limit_is_exceeded_only_by_more_and_failures_come_first() {
        let settings = settings(&[("fail_over", "10"), ("max_duplicate_rate", "50%")]);
        let told = |compared: u64, near_duplicates, failed| {
            let stored = compared - near_duplicates;
            let counts = OutcomeCounts { stored, near_duplicates, failed, ..OutcomeCounts::default() };
            exceeded(&settings, counts).map(|limit| (limit.code, limit.message))
        };
        assert_eq!(told(0, 0, 0), None);
        assert_eq!(told(90, 45, 10), None);
        let failures = "10.9% of 101 pages failed, more than --fail-over 10.0%";
        assert_eq!(told(90, 90, 11), Some((exit::TOO_MANY_FAILURES, failures.to_owned())));
        let duplicates = "51.1% of 90 pages compared are duplicates, more than --max-duplicate-rate 50.0%";
        assert_eq!(told(90, 46, 0), Some((exit::TOO_MANY_DUPLICATES, duplicates.to_owned())));
    }
}
