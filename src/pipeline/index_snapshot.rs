//! When the decider's state is written to a snapshot, and how it is read again.
//!
//! A snapshot is written when the pages judged since the last one are many: then opening takes time
//! in proportion to what came after it. It is written by the judge, who owns the state, and put in
//! its place once the pages it was made of are committed. It is never needed, so that whatever goes
//! wrong with it ends in a warning.

use std::io::{self, Read, Write};

use crate::detect::{Decider, Options};
use crate::model::UrlId;
use crate::model::arrays::{invalid, read_array, write_array};
use crate::store::{NewSnapshot, SnapshotHead, StoreReader};

use super::records::Records;
use super::reference_crawls::Against;

/// At the end of a run, fewer new pages than this are not worth a file.
const FEWEST: u32 = if cfg!(test) { 4 } else { 256 };

/// Writes snapshots when they are due.
pub(crate) struct IndexSnapshots {
    reader: StoreReader,
    signature: String,
    /// While the crawl runs, a snapshot is due after so many pages, or a sixteenth of what it covers.
    after: u32,
    /// Pages that the last one covers.
    covered: u32,
    waiting: Option<NewSnapshot>,
}

/// The decider and the URL of each judged page, by sequence number.
pub(crate) type State = (Decider<Records>, Vec<UrlId>);

impl IndexSnapshots {
    /// For a crawl whose snapshot covers so many pages.
    pub fn new(reader: StoreReader, signature: String, after: u32, covered: u32) -> Self {
        Self { reader, signature, after, covered, waiting: None }
    }

    /// To be called between batches: `page_urls` must have all pages that the decider has judged.
    pub fn consider(&mut self, decider: &Decider<Records>, page_urls: &[UrlId], committed: u32) {
        self.publish(committed);
        let due = self.covered.saturating_add(self.after.max(self.covered / 16));
        if self.waiting.is_none() && page_urls.len() as u64 >= u64::from(due) {
            self.write(decider, page_urls);
        }
    }

    /// Writes what the run has added, if it is worth it. [`publish`](Self::publish) follows when all
    /// is committed.
    pub fn finish(&mut self, decider: &Decider<Records>, page_urls: &[UrlId]) {
        let due = self.covered.saturating_add(FEWEST.max(self.covered / 8));
        if page_urls.len() as u64 >= u64::from(due) {
            self.write(decider, page_urls);
        }
    }

    /// Puts the snapshot that waits for these pages in its place.
    pub fn publish(&mut self, committed: u32) {
        if let Some(ready) = self.waiting.take_if(|waiting| waiting.pages <= committed) {
            let covered = ready.pages;
            match ready.publish() {
                Ok(()) => self.covered = covered,
                Err(error) => tracing::warn!(%error, "the index will be rebuilt from the log"),
            }
        }
    }

    fn write(&mut self, decider: &Decider<Records>, page_urls: &[UrlId]) {
        let Ok(pages) = u32::try_from(page_urls.len()) else { return };
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
            Ok(written) => self.waiting = Some(written),
            Err(error) => {
                tracing::warn!(%error, "no snapshot of the index: it will be rebuilt from the log");
                // Not again at once.
                self.covered = pages;
            }
        }
    }
}

/// What a snapshot must have been made with to be of use: these options, and these pages of earlier crawls.
pub(crate) fn signature(options: &Options, against: Option<&Against>) -> String {
    let against = against.map_or(String::new(), |against| format!(", against {}", against.signature()));
    options.signature() + &against
}

/// Reads the snapshot into a new decider, if there is one that can be used. It has so many pages of earlier crawls.
pub(crate) fn load(reader: &StoreReader, signature: &str, mut decider: Decider<Records>, seeds: u32) -> Option<State> {
    decider.assume_seeds(seeds);
    let (head, mut input) = reader.snapshot(signature)?;
    match read(&head, decider, &mut input) {
        Ok(state) => Some(state),
        Err(error) => {
            tracing::warn!(%error, "the snapshot of the index is not used: it is rebuilt from the log");
            reader.forget_snapshot();
            None
        }
    }
}

fn read(head: &SnapshotHead, mut decider: Decider<Records>, input: &mut dyn Read) -> io::Result<State> {
    let page_urls: Vec<UrlId> = read_array(input)?.into_iter().map(UrlId).collect();
    decider.load(input)?;
    let terms = decider.vocabulary().len() as u64;
    let is_whole = page_urls.len() as u64 == u64::from(head.pages)
        && decider.stats().judged == u64::from(head.pages)
        && terms == u64::from(head.terms);
    if is_whole { Ok((decider, page_urls)) } else { Err(invalid("it does not hold what its head says")) }
}
