//! Tests of the whole frontier, and what they share.

mod breadth;
mod depth;
mod life;
mod memory;
mod model;
mod predicted_duplicates;
mod random;
mod slots;
mod trap_guard;

use std::collections::HashSet;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::{EmbeddedFrontier, FrontierChanges, FrontierError, Options, UrlLog};
use ndcrawl_model::{
    Ack, Discovery, Lease, LeaseAnswer, Link, LinkKind, Normalizer, Offered, OutcomeKind, PageLinksRow, Requeue, UrlId,
    UrlRow, UrlState,
};

/// A log in memory.
#[derive(Clone, Default)]
pub(super) struct MemoryLog(Arc<Mutex<Vec<UrlRow>>>);

impl MemoryLog {
    pub(super) fn append(&self, rows: &[UrlRow]) {
        self.0.lock().unwrap().extend_from_slice(rows);
    }

    fn rows(&self) -> Vec<UrlRow> {
        self.0.lock().unwrap().clone()
    }
}

impl UrlLog for MemoryLog {
    type Error = Infallible;

    fn read(&self, first: UrlId, count: usize) -> Result<Vec<UrlRow>, Infallible> {
        Ok(self.0.lock().unwrap().iter().skip(first.index()).take(count).cloned().collect())
    }
}

/// A link that a page names.
fn link_from(page: UrlId, url: &str, depth: u16) -> Link {
    Link { discovery: Discovery::new(LinkKind::Page, Some(page), depth), ..link(url, depth) }
}

/// The row of a usual link.
pub(super) fn row(n: u32) -> UrlRow {
    UrlRow {
        url: format!("http://a.test/{n}"),
        discovery: Discovery::new(LinkKind::Page, None, 1),
        state: UrlState::Queued,
        clue: None,
    }
}

fn link(url: &str, depth: u16) -> Link {
    Link {
        url: Normalizer::default().absolute(url).unwrap(),
        discovery: if depth == 0 { Discovery::SEED } else { Discovery::new(LinkKind::Page, None, depth) },
        only_seen: None,
        clue: None,
    }
}

/// A frontier over a log in memory.
struct Bench {
    frontier: EmbeddedFrontier<MemoryLog>,
    log: MemoryLog,
    start: Instant,
}

impl Bench {
    fn new(options: Options) -> Self {
        let log = MemoryLog::default();
        Self { frontier: EmbeddedFrontier::new(options, log.clone(), 1), log, start: Instant::now() }
    }

    fn at(&self, second: u64) -> Instant {
        self.start + Duration::from_secs(second)
    }

    fn offer(&self, link: Link) -> Offered {
        self.frontier.offer(vec![link]).unwrap()[0]
    }

    fn lease(&self, most: usize, second: u64) -> LeaseAnswer {
        self.frontier.lease(most, self.at(second)).unwrap()
    }

    fn ack(&self, id: UrlId, is_page: bool) {
        let kind = if is_page { OutcomeKind::Stored } else { OutcomeKind::Failed };
        self.frontier.ack(vec![Ack { id, kind, repeats: None, worth: None }]).unwrap();
    }

    /// Acks a page that repeats another or none.
    fn ack_page(&self, id: UrlId, repeats: Option<UrlId>) {
        let kind = page_kind(repeats);
        self.frontier.ack(vec![Ack { id, kind, repeats, worth: None }]).unwrap();
    }

    fn nak(&self, lease: Lease, second: u64) {
        self.frontier.nak(&lease, self.at(second));
    }

    fn postpone(&self, origin: &str, second: u64) {
        self.frontier.postpone(origin, self.at(second));
    }

    fn commit(&self) -> FrontierChanges {
        let changes = self.frontier.take_changes();
        self.log.append(&changes.urls);
        self.frontier.committed(self.log.rows().len() as u32);
        changes
    }

    /// Restores a frontier from this one's log, as after the death of the process.
    fn reopen(&self, options: Options, history: &History) -> Result<Self, FrontierError> {
        let frontier = EmbeddedFrontier::new(options, self.log.clone(), 1);
        for row in self.log.rows() {
            frontier.restore_url(&row)?;
        }
        for path in &history.paths {
            match path {
                PathRow::Requeued(path) => frontier.restore_requeue(path)?,
                PathRow::Shortened(path) => frontier.restore_shorter_path(path)?,
            }
        }
        history.links.iter().for_each(|row| frontier.restore_links(row));
        history.counterparts.iter().for_each(|&(page, other)| frontier.restore_counterpart(page, other));
        let requeued = history.paths.iter().map(PathRow::path);
        let revised = requeued.filter(|path| path.discovery.kind == LinkKind::Revision).map(|path| path.url);
        let mut revised: HashSet<UrlId> = revised.collect();
        // A URL that was requeued for a revision is done after its second outcome.
        let done = history.outcomes.iter().filter(|(id, _)| !revised.remove(id));
        done.for_each(|&(id, is_page)| frontier.restore_done(id, is_page));
        for &(id, repeats) in &history.pages {
            frontier.restore_outcome(id, page_kind(repeats), repeats)?;
            frontier.restore_done(id, true);
        }
        history.leased.iter().for_each(|&(id, deliveries)| frontier.restore_deliveries(id, deliveries));
        frontier.restored();
        Ok(Self { frontier, log: self.log.clone(), start: self.start })
    }
}

/// A later path to a URL.
#[derive(Clone, Debug)]
enum PathRow {
    Requeued(Requeue),
    Shortened(Requeue),
}

impl PathRow {
    fn path(&self) -> &Requeue {
        match self {
            Self::Requeued(path) | Self::Shortened(path) => path,
        }
    }
}

impl History {
    /// Adds the paths and links of a commit.
    fn add_paths(&mut self, changes: &FrontierChanges) {
        self.paths.extend(changes.requeued.iter().cloned().map(PathRow::Requeued));
        self.paths.extend(changes.shortened.iter().cloned().map(PathRow::Shortened));
        self.links.extend(changes.links.iter().cloned());
    }
}

/// What the other logs of a store would hold.
#[derive(Clone, Default)]
struct History {
    paths: Vec<PathRow>,
    links: Vec<PageLinksRow>,
    outcomes: Vec<(UrlId, bool)>,
    /// Pages, each with its original.
    pages: Vec<(UrlId, Option<UrlId>)>,
    /// Pages, each with another edition that it links to.
    counterparts: Vec<(UrlId, UrlId)>,
    leased: Vec<(UrlId, u32)>,
}

/// The outcome of a page.
fn page_kind(repeats: Option<UrlId>) -> OutcomeKind {
    if repeats.is_some() { OutcomeKind::ExactDuplicate } else { OutcomeKind::Stored }
}
