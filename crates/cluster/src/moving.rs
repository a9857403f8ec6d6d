//! Makes a crawl of a cluster from an ordinary folder.
//!
//! Pages become arrivals of one run that is over, their decisions turns that end where the folder settled, and the rest
//! the logs of slots. Each transaction is a step that follows from the folder alone, so that a move that was interrupted
//! goes on behind the last one.

use super::archive_files::enter_file;
use super::connection::Session;
use super::error::ClusterError;
use super::hosts::store_rests;
use super::lease::RunDescription;
use super::moved_events::move_events;
use super::moved_pages::move_pages;
use super::moved_revisions::pending_round;
use super::refusal::Refusal;
use super::schema::{CrawlRow, CrawlState};
use super::test_point::test_point;
use ndcrawl_engine::pipeline::ArchiveReach;
use ndcrawl_store::StoreReader;

/// What was moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// URLs.
    pub urls: u64,
    /// URLs with an outcome.
    pub outcomes: u64,
    /// Decided pages.
    pub pages: u64,
    /// Archive files, which stay where they are.
    pub files: u64,
}

/// Takes a new crawl, which nobody has worked on, as one that a folder is moved into. Workers wait until the move is
/// complete. Has the session use the crawl.
///
/// # Errors
/// [`Refusal::HasWork`] if it is another one.
pub async fn begin_move(session: &mut Session, crawl: &CrawlRow) -> Result<(), ClusterError> {
    let transaction = session.begin().await?;
    let statement = "UPDATE crawl SET state = 'moving' WHERE state = 'moving' \
                     OR turn = 0 AND NOT EXISTS (SELECT FROM run) AND NOT EXISTS (SELECT FROM input)";
    let changed = transaction.sql().change("begin to move a folder", statement, &[]).await?;
    if changed == 0 {
        return Err(Refusal::HasWork(crawl.plan.name.to_string()).into());
    }
    transaction.commit().await
}

/// Moves the crawl of a folder into a crawl that [`begin_move`] has taken. `place` names the folder for those who look
/// for its archive. `told` is called with the steps that are done and their number.
///
/// Cost: reads the folder once, or twice after an interruption; holds all terms, and a few bytes for each URL and page.
///
/// # Errors
/// [`ClusterError::Folder`] if the folder cannot be read, [`Refusal::Moving`] if another process moves it.
pub async fn move_in(
    session: &mut Session,
    crawl: &CrawlRow,
    folder: &StoreReader,
    place: RunDescription,
    mut told: impl FnMut(u64, u64),
) -> Result<Moved, ClusterError> {
    lock(session, crawl).await?;
    let mark = folder.mark();
    let all = u64::from(mark.pages) + u64::from(mark.urls) + u64::from(mark.pages);
    let run = run_of_folder(session, place).await?;
    move_pages(session, folder, run, |pages| told(pages, all)).await?;
    let (outcomes, revising) =
        move_events(session, crawl, folder, run, |rows| told(u64::from(mark.pages) + rows, all)).await?;
    let files = enter_archive(session, folder, run).await?;
    enter_rests(session, crawl, folder).await?;
    test_point("moved");
    end(session, pending_round(folder, &revising)?).await?;
    Ok(Moved { urls: mark.urls.into(), outcomes, pages: mark.pages.into(), files })
}

/// Keeps other processes from moving into the same crawl while the session lasts.
async fn lock(session: &Session, crawl: &CrawlRow) -> Result<(), ClusterError> {
    let name = crawl.plan.name.text();
    let statement = "SELECT pg_try_advisory_lock(hashtext('ndcrawl move'), hashtext($1))";
    let (is_first,) = session.client().row("begin to move a folder", statement, &[&name]).await?;
    if is_first { Ok(()) } else { Err(Refusal::Moving(name.to_owned()).into()) }
}

/// Returns the run that stands for the folder. It is over.
async fn run_of_folder(session: &mut Session, place: RunDescription) -> Result<i32, ClusterError> {
    let doing = "enter the folder";
    let RunDescription { name, version, archive } = place;
    let transaction = session.begin().await?;
    let known = "SELECT id, archive FROM run ORDER BY id LIMIT 1";
    let known: Option<(i32, String)> = transaction.sql().row_if_any(doing, known, &[]).await?;
    if let Some((run, before)) = known {
        return if before == archive { Ok(run) } else { Err(Refusal::OtherFolder(before).into()) };
    }
    let statement = "INSERT INTO run (name, version, until, archive) VALUES ($1, $2, '-infinity', $3) RETURNING id";
    let (run,) = transaction.sql().row(doing, statement, &[&name, &version, &archive]).await?;
    transaction.commit().await?;
    Ok(run)
}

async fn enter_archive(session: &mut Session, folder: &StoreReader, run: i32) -> Result<u64, ClusterError> {
    let files = folder.archive_files().map_err(ClusterError::folder)?;
    let transaction = session.begin().await?;
    let count = files.len() as u64;
    for (serial, name, bytes) in files {
        enter_file(&transaction, (run, ""), ArchiveReach { serial, name, bytes }).await?;
    }
    transaction.commit().await?;
    Ok(count)
}

/// Has workers wait as long as hosts have asked the folder's process to.
async fn enter_rests(session: &mut Session, crawl: &CrawlRow, folder: &StoreReader) -> Result<(), ClusterError> {
    let rests = folder.lasting_rests().map_err(ClusterError::folder)?;
    let transaction = session.begin().await?;
    store_rests(&transaction, crawl.slot_map(), &rests).await?;
    transaction.commit().await
}

/// Has workers begin: with a round of pages that are to be decided again, if the folder has left one.
async fn end(session: &mut Session, round: Option<Vec<u8>>) -> Result<(), ClusterError> {
    let doing = "end the move";
    let transaction = session.begin().await?;
    if let Some(body) = round {
        let statement = "INSERT INTO turn (number, first_page, n, attempt, body) \
                         SELECT turn + 1, pages, 0, turn + 1, $1 FROM crawl WHERE state = 'moving'";
        transaction.sql().change(doing, statement, &[&body]).await?;
        let statement = "UPDATE crawl SET turn = turn + 1, round = 1 WHERE state = 'moving'";
        transaction.sql().change(doing, statement, &[]).await?;
    }
    let statement = "UPDATE crawl SET state = 'running' WHERE state = 'moving'";
    transaction.sql().change(doing, statement, &[]).await?;
    transaction.commit().await
}

/// Refuses to work on a crawl that is being moved.
pub(super) fn expect_moved(crawl: &CrawlRow) -> Result<(), Refusal> {
    match crawl.state {
        CrawlState::Moving => Err(Refusal::HalfMoved(crawl.plan.name.to_string())),
        _ => Ok(()),
    }
}
