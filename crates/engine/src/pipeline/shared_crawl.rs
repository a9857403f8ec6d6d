//! What a crawl of several processes has in place of a decider and a log of its own.
//!
//! The parts of a crawl know these traits only. Whoever shares a crawl implements them.

use std::error::Error;

use ndcrawl_model::{Batch, Judged, Mailed, PageId, PageInput, Sequence, Slot, UrlId, UrlRow, Verdict};
use ndcrawl_store::StoreReader;
use neardup::detect::DeciderStats;

/// Why a crawl cannot go on sharing its work.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct SharingError(Box<dyn Error + Send + Sync>);

impl SharingError {
    /// Wraps an error of whoever shares the crawl.
    pub fn new(cause: impl Error + Send + Sync + 'static) -> Self {
        Self(Box::new(cause))
    }

    /// Returns the wrapped error, if it is of this type.
    pub fn cause<E: Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }
}

/// A page on its way to a shared decision, with what other processes need to name it as an original.
#[derive(Clone, Debug)]
pub struct SharedPage {
    /// The page as detectors see it.
    pub input: PageInput,
    /// Its URL.
    pub url: String,
    /// Time of the request, milliseconds since 1970 UTC.
    pub fetched_at: Option<i64>,
    /// Its links as [hashes](crate::pipeline::link_hash), ascending.
    pub links: Vec<u32>,
}

/// A page that was decided somewhere, as a duplicate's line names it.
#[derive(Clone, Debug)]
pub struct SharedOriginal {
    /// Its URL.
    pub url: String,
    /// Time of the request, milliseconds since 1970 UTC.
    pub fetched_at: Option<i64>,
    /// Its links as [hashes](crate::pipeline::link_hash), ascending.
    pub links: Vec<u32>,
}

/// A decided page of this process that is to be decided again.
#[derive(Clone, Debug)]
pub struct SharedRevision {
    /// Its number.
    pub page: Sequence,
    /// Its URL.
    pub url: String,
    /// The decision so far.
    pub verdict: Verdict,
    /// The page as it was sent, if it gave its place to a better one: it is not fetched again. Else it is.
    pub displaced: Option<Box<SharedPage>>,
}

/// What a process that has nothing to do is to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedStep {
    /// To wait for others.
    Wait,
    /// To take [revisions](SharedDecider::revisions).
    Revise,
    /// To end.
    End,
}

/// Decides pages together with other processes. May block.
pub trait SharedDecider: Send {
    /// Returns the decisions on these pages, in order. The terms of a [`Judged`] stay empty: the shared log has them. Its
    /// name may be another one, if the URL was fetched before by a process that was lost.
    ///
    /// `gone` are the names of pages that could not be had: if one was judged before, it leaves the index.
    fn decide(&mut self, pages: Vec<SharedPage>, gone: Vec<PageId>) -> Result<Vec<Judged>, SharingError>;

    /// Has all pages leave the index that were judged for a process that was lost, and were not fetched again. Call it
    /// when nothing is due here.
    fn withdraw_rest(&mut self) -> Result<(), SharingError>;

    /// Returns a decided page.
    fn named_page(&mut self, page: Sequence) -> Result<SharedOriginal, SharingError>;

    /// Returns the sizes of this process's part of the index.
    fn stats(&self) -> DeciderStats;

    /// Takes some of the pages that the crawl may still have. Returns how many; 0 if others have the rest.
    fn grant_pages(&mut self) -> Result<u64, SharingError>;

    /// Gives back granted pages that were not fetched. All of those that were are committed.
    fn return_pages(&mut self) -> Result<(), SharingError>;

    /// Returns whether the crawl is over for all: nothing is queued, on its way or undecided anywhere, or it has its
    /// pages, and nothing is to be decided again. Call it when nothing is due here, and all is committed.
    ///
    /// Asks all processes what is to be decided again, if it comes to that.
    fn next_step(&mut self) -> Result<SharedStep, SharingError>;

    /// Returns what of this process's is to be decided again since the last call, with the round of questions up to which
    /// this goes: the next commit is to [tell](SharedChanges::round) it.
    fn revisions(&mut self) -> Result<(i32, Vec<SharedRevision>), SharingError>;
}

/// What a commit has for other processes.
#[derive(Debug, Default)]
pub struct SharedChanges {
    /// Links to URLs of other slots.
    pub outbox: Vec<(Slot, Mailed)>,
    /// URLs that were rows of another slot before.
    pub adopted: Vec<(UrlId, UrlRow)>,
    /// Numbers of the letters that were taken in.
    pub mail_taken: Vec<i64>,
    /// Whether nothing is queued or on lease after the commit.
    pub is_idle: bool,
    /// The round of questions of which all pages were taken with this commit.
    pub round: Option<i32>,
}

impl SharedChanges {
    /// Whether no other process would miss anything.
    pub fn is_empty(&self) -> bool {
        self.outbox.is_empty()
            && self.adopted.is_empty()
            && self.mail_taken.is_empty()
            && !self.is_idle
            && self.round.is_none()
    }
}

/// The archive file in use, and how far it is on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveReach {
    /// Its number.
    pub serial: u32,
    /// Its name, relative to the folder of the crawl.
    pub name: String,
    /// Its length.
    pub bytes: u64,
}

/// Makes commits durable for all processes, before the folder of this one has them. May block.
pub trait SharedLog: Send {
    /// Commits a batch. `committed` reads what was committed before. `reach` is how far the archive is on disk.
    fn commit(
        &mut self,
        batch: &Batch,
        changes: SharedChanges,
        committed: &StoreReader,
        reach: Option<ArchiveReach>,
    ) -> Result<(), SharingError>;
}

/// Links that another slot has mailed together.
#[derive(Clone, Debug)]
pub struct Letter {
    /// Its number.
    pub id: i64,
    /// The links.
    pub mail: Vec<Mailed>,
}
