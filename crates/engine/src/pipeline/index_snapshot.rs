//! Snapshots of the decider's state, so that a resumed run need not rebuild the index from the log.
//!
//! The decision stage owns the state and writes a snapshot after many pages. The snapshot replaces the one
//! before once all of its pages are committed. Nothing depends on it: every failure here is a warning, and the
//! next run rebuilds the index from the log.

use std::io::{self, Read, Write};

use ndcrawl_model::UrlId;
use ndcrawl_model::arrays::{invalid, read_array, write_array};
use ndcrawl_store::{NewSnapshot, SnapshotHead, StoreReader};
use neardup::detect::{Decider, Options};

use super::records::PageRecords;
use super::reference_crawls::ReferenceCrawls;

/// New pages that are worth a file at the end of a run, unless fewer are during it.
const FEWEST: u32 = 256;

/// What a snapshot contains: snapshots of another layout are not read.
const LAYOUT: &str = "layout 2";

/// Writes snapshots when they are due.
pub struct IndexSnapshots {
    reader: StoreReader,
    signature: String,
    /// During a run, the next snapshot is due after this many pages or a sixteenth of `covered`, whichever is more.
    after: u32,
    /// Pages in the last snapshot.
    covered: u32,
    /// A snapshot whose pages are not all committed.
    pending: Option<NewSnapshot>,
}

/// The decider and the URL of each decided page, by sequence number.
pub type DeciderState = (Decider<PageRecords>, Vec<UrlId>);

impl IndexSnapshots {
    /// Continues after a snapshot that covers this many pages.
    pub fn new(reader: StoreReader, signature: String, after: u32, covered: u32) -> Self {
        Self { reader, signature, after, covered, pending: None }
    }

    /// Writes a snapshot if one is due. `page_urls` must have all pages that the decider has decided.
    pub fn consider(&mut self, decider: &Decider<PageRecords>, page_urls: &[UrlId], committed: u32) {
        self.publish(committed);
        let due = self.covered.saturating_add(self.after.max(self.covered / 16));
        if self.pending.is_none() && page_urls.len() as u64 >= u64::from(due) {
            self.write(decider, page_urls);
        }
    }

    /// Writes the last snapshot of a run if it is worth a file. [`publish`](Self::publish) follows the last commit.
    pub fn finish(&mut self, decider: &Decider<PageRecords>, page_urls: &[UrlId]) {
        let due = self.covered.saturating_add(FEWEST.min(self.after).max(self.covered / 8));
        if page_urls.len() as u64 >= u64::from(due) {
            self.write(decider, page_urls);
        }
    }

    /// Puts the pending snapshot in place if all of its pages are committed.
    pub fn publish(&mut self, committed: u32) {
        if let Some(ready) = self.pending.take_if(|pending| pending.pages <= committed) {
            let covered = ready.pages;
            match ready.publish() {
                Ok(()) => {
                    tracing::debug!(pages = covered, "index snapshot is in place");
                    self.covered = covered;
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot put the index snapshot in place; the next run rebuilds the index from the log")
                }
            }
        }
    }

    fn write(&mut self, decider: &Decider<PageRecords>, page_urls: &[UrlId]) {
        let Ok(pages) = u32::try_from(page_urls.len()) else { return };
        if decider.is_ahead() {
            return;
        }
        let head = SnapshotHead {
            signature: self.signature.clone(),
            pages,
            terms: u32::try_from(decider.vocabulary().len()).unwrap_or(u32::MAX),
            last_page: decider.last_page(),
        };
        let urls: Vec<u32> = page_urls.iter().map(|url| url.0).collect();
        let written = self.reader.write_snapshot(&head, |out: &mut dyn Write| {
            write_array(out, &urls)?;
            decider.save(out)
        });
        match written {
            Ok(written) => self.pending = Some(written),
            Err(error) => {
                tracing::warn!(%error, "cannot write an index snapshot; the next run rebuilds the index from the log");
                // The next try follows after as many pages again.
                self.covered = pages;
            }
        }
    }
}

/// Returns the text that names a snapshot's options and earlier crawls. Only a snapshot with the same text is usable.
pub fn signature(options: &Options, against: Option<&ReferenceCrawls>) -> String {
    let against = against.map_or(String::new(), |against| format!(", against {}", against.signature()));
    format!("{LAYOUT}, {}{against}", options.signature())
}

/// Reads a usable snapshot into a new decider, if there is one. `seeds` counts the pages of earlier crawls.
pub fn load(
    reader: &StoreReader,
    signature: &str,
    mut decider: Decider<PageRecords>,
    seeds: u32,
) -> Option<DeciderState> {
    decider.assume_seeds(seeds);
    let (head, mut input) = reader.snapshot(signature)?;
    match read(&head, decider, &mut input) {
        Ok(state) => Some(state),
        Err(error) => {
            tracing::warn!(%error, "index snapshot is unusable; rebuilding the index from the log");
            reader.forget_snapshot();
            None
        }
    }
}

fn read(head: &SnapshotHead, mut decider: Decider<PageRecords>, input: &mut dyn Read) -> io::Result<DeciderState> {
    let page_urls: Vec<UrlId> = read_array(input)?.into_iter().map(UrlId).collect();
    decider.load(input)?;
    let terms = decider.vocabulary().len() as u64;
    let is_whole = page_urls.len() as u64 == u64::from(head.pages)
        && decider.stats().judged == u64::from(head.pages)
        && terms == u64::from(head.terms);
    if is_whole { Ok((decider, page_urls)) } else { Err(invalid("its content does not match its header")) }
}
