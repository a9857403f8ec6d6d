//! What skipping the links of duplicates saves and loses.
//!
//! A crawl that skipped them knows what it saved: the URLs that only duplicates name. One that followed all of them knows
//! both: its log has the links of every page, so that it can be told which pages are reached without the links of duplicates.
//! One that followed a share, drawn by lot, knows what it saved, and of the share how many pages are unique; from that the
//! loss of the others is estimated.

use std::collections::HashMap;

use super::ReportError;
use crate::record::{LinkKind, OutcomeKind, UrlId};
use crate::store::{DoneRow, StoreReader};

/// What is known of the links of duplicates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Behind {
    /// URLs that were asked for and are reached by links of duplicates only.
    pub asked: u64,
    /// Of these, pages that were compared.
    pub judged: u64,
    /// Of these, unique ones: what a crawl that skips all such links does not find.
    pub unique: u64,
}

/// Follows the links of unique pages, as a crawl that skips those of duplicates does, and counts what is not
/// reached. A longer way round counts as well, whatever the limit on depth. Memory: 4 octets a link.
///
/// # Errors
/// If the logs can't be read.
pub fn behind_duplicates(reader: &StoreReader) -> Result<Behind, ReportError> {
    let urls = reader.mark().urls as usize;
    let mut web = Web { next: HashMap::new(), reached: vec![false; urls], waiting: Vec::new() };
    web.read(reader)?;
    web.go();
    // A page that was judged anew has two outcomes, of which the last counts.
    let mut outcomes = vec![None; urls];
    for row in reader.all_done()? {
        if let DoneRow::Outcome(outcome) = row?
            && let Some(known) = outcomes.get_mut(outcome.url.index())
        {
            *known = Some(outcome.kind);
        }
    }
    let mut behind = Behind::default();
    for (kind, reached) in outcomes.into_iter().zip(web.reached) {
        let Some(kind) = kind.filter(|_| !reached) else { continue };
        let is_copy = matches!(kind, OutcomeKind::NearDuplicate | OutcomeKind::ExactDuplicate);
        behind.asked += 1;
        behind.judged += u64::from(kind.is_kept() || is_copy);
        behind.unique += u64::from(kind.is_kept());
    }
    Ok(behind)
}

/// The links that are followed.
struct Web {
    next: HashMap<UrlId, Vec<UrlId>>,
    reached: Vec<bool>,
    waiting: Vec<UrlId>,
}

impl Web {
    fn read(&mut self, reader: &StoreReader) -> Result<(), ReportError> {
        for row in reader.all_urls()? {
            let (id, row) = row?;
            self.named(id, row.kind, row.referrer);
        }
        for row in reader.all_done()? {
            if let DoneRow::Requeued(row) = row? {
                self.named(row.url, row.kind, row.referrer);
            }
        }
        for row in reader.all_pages()? {
            let (_, row) = row?;
            if row.verdict.is_unique() {
                self.next.entry(row.url).or_default().extend(row.links);
            }
        }
        Ok(())
    }

    /// Who named a URL when it was queued: redirects, sitemaps and pages that are not compared have no record.
    fn named(&mut self, id: UrlId, kind: LinkKind, referrer: Option<UrlId>) {
        match (kind, referrer) {
            (LinkKind::Duplicate, _) => {}
            (_, Some(referrer)) => self.next.entry(referrer).or_default().push(id),
            (_, None) => self.reach(id),
        }
    }

    fn reach(&mut self, id: UrlId) {
        if let Some(reached @ false) = self.reached.get_mut(id.index()) {
            *reached = true;
            self.waiting.push(id);
        }
    }

    fn go(&mut self) {
        while let Some(id) = self.waiting.pop() {
            for next in self.next.remove(&id).unwrap_or_default() {
                self.reach(next);
            }
        }
    }
}
