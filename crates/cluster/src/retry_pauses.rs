//! Pauses between attempts that fail.

use std::time::Duration;

/// The first pause, which doubles.
const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(2);

/// Pauses that grow with each failure in a row, by the same measure wherever the database is asked again.
#[derive(Debug)]
pub(super) struct RetryPauses {
    next: Duration,
}

impl RetryPauses {
    /// The pauses after a success.
    pub fn new() -> Self {
        Self { next: FIRST }
    }

    /// Returns the next pause, after a failure.
    pub fn next(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(LONGEST);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let mut pauses = RetryPauses::new();
        let first: Vec<u128> = (0..8).map(|_| pauses.next().as_millis()).collect();
        assert_eq!(first, [50, 100, 200, 400, 800, 1_600, 2_000, 2_000]);
    }
}
