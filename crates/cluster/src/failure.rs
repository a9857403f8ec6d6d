//! The error by which a task in the background has ended, for the process that depends on the task.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use super::error::ClusterError;

/// The first error of some tasks. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Failure(Arc<(Mutex<Option<ClusterError>>, Notify)>);

impl Failure {
    /// Tells an error. The first one counts.
    pub fn tell(&self, error: ClusterError) {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        // The permit stays until somebody waits.
        self.0.1.notify_one();
    }

    /// Waits until an error was told.
    pub async fn told(&self) {
        self.0.1.notified().await;
    }

    /// Takes the error, if there is one.
    pub fn take(&self) -> Option<ClusterError> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_error_is_told_also_to_those_who_wait_later() {
        let failure = Failure::default();
        assert!(failure.take().is_none());
        failure.tell(ClusterError::RunLost(1));
        failure.clone().tell(ClusterError::RunLost(2));
        failure.told().await;
        assert!(matches!(failure.take(), Some(ClusterError::RunLost(1))));
        assert!(failure.take().is_none());
    }
}
