//! The lines of `pages.jsonl` that a crawl has, as the logs of its slots tell.

use super::connection::Session;
use super::error::ClusterError;
use super::slot_log::SlotLogReader;
use ndcrawl_model::Slot;

/// A line, and where its record of the archive is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedLine {
    /// The folder of the archive, below that of the worker that has fetched the page.
    pub folder: String,
    /// The line, as JSON.
    pub line: String,
}

/// Returns the lines of some slots in the order of their commits.
///
/// # Errors
/// [`ClusterError::Damaged`] if an entry cannot be read.
pub async fn logged_lines(
    session: &Session,
    slots: impl IntoIterator<Item = Slot>,
) -> Result<Vec<LoggedLine>, ClusterError> {
    let (mut reader, mut lines) = (SlotLogReader::new(session, slots).await?, Vec::new());
    loop {
        let commits = reader.next(session).await?;
        if commits.is_empty() {
            return Ok(lines);
        }
        for (_, entry) in commits.into_iter().flatten() {
            let folder = entry.folder;
            let logged = |line| LoggedLine { folder: folder.clone(), line };
            lines.extend(entry.page_lines.into_iter().map(logged));
        }
    }
}
