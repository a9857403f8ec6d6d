//! Errors of a shared run.

use std::path::PathBuf;

use ndcrawl_cluster::ClusterError;

/// Why a worker failed.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    /// The cluster failed.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// A file of the output folder failed.
    #[error("{}: {source}", path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// Another worker has read something else.
    #[error(
        "the input {0} differs from what another worker has read under this name: give all workers the same files, and \
         begin a new crawl"
    )]
    OtherInput(String),
}

impl BatchError {
    /// Names the file that failed.
    pub(super) fn output(path: &std::path::Path) -> impl Fn(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Output { path: path.clone(), source }
    }

    /// Whether the work may be done again by this process.
    pub(super) fn is_passing(&self) -> bool {
        matches!(self, Self::Cluster(error) if error.is_passing() || matches!(error, ClusterError::Unreplicated))
    }

    /// Whether a file was there and is not any more.
    pub(super) fn is_missing_file(&self) -> bool {
        matches!(self, Self::Output { source, .. } if source.kind() == std::io::ErrorKind::NotFound)
    }

    /// Whether the input is another run's by now.
    pub(super) fn is_lost(&self) -> bool {
        matches!(self, Self::Cluster(ClusterError::RunLost(_)))
    }
}
