//! Checks the log of a crawl against itself: verdicts, outcomes and pages.

use std::collections::{HashMap, HashSet};

use xxhash_rust::xxh3::xxh3_128;

use super::connection::Session;
use super::error::ClusterError;
use super::inputs::has_inputs;
use super::replay::{Replay, ReplayOptions, Replayed, replay_with};
use super::schema::CrawlRow;
use super::slot_log::SlotLogReader;
use ndcrawl_model::{CanonicalUrl, Digest, LinkKind, PageId, PageRow, Requeue, Sequence, UrlId};

/// Problems of one kind that are named.
const NAMED: usize = 20;

/// What a check has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogCheck {
    /// The verdicts, decided once more by one process.
    pub replay: Replay,
    /// URLs with an outcome.
    pub urls: u64,
    /// URLs with two outcomes: how many, and some of them.
    pub twice: (u64, Vec<String>),
    /// Pages with an outcome that no turn has decided.
    pub undecided: u64,
    /// Decided pages whose fetch nobody has completed: no fault, while workers may still fetch them again. Always 0 of
    /// `dedup`, which fetches none.
    pub uncompleted: u64,
    /// Withdrawn pages with an outcome.
    pub completed_withdrawn: u64,
    /// Pages whose body and text are other than those that were judged.
    pub changed: u64,
    /// Duplicates that name a page which was withdrawn later: no fault, but the page that they name is not stored.
    pub naming_withdrawn: u64,
}

impl LogCheck {
    /// Whether there is no fault.
    pub fn is_sound(&self) -> bool {
        let faults = self.twice.0 + self.undecided + self.completed_withdrawn + self.changed;
        self.replay.differing.is_empty() && self.replay.other_answers.is_empty() && faults == 0
    }
}

/// Checks the log of the crawl that the session uses, and decides its turns once more.
///
/// Cost: as [`replay`](super::replay), and a read of the logs of all slots.
///
/// # Errors
/// [`ClusterError::Damaged`] if something cannot be read.
pub async fn check_log(session: &Session, crawl: &CrawlRow, how: ReplayOptions) -> Result<LogCheck, ClusterError> {
    let (mut judged, mut check) = (JudgedPages::default(), LogCheck::default());
    let has_slot_logs = !has_inputs(session).await?;
    check.replay = replay_with(session, how, |told| {
        if has_slot_logs {
            judged.note(told)
        }
    })
    .await?;
    if !has_slot_logs {
        return Ok(check);
    }
    let map = crawl.slot_map();
    for slot in map.slots() {
        let mut reader = SlotLogReader::new(session, [slot]).await?;
        let (mut texts, mut done): (Vec<String>, HashSet<u128>) = (Vec::new(), HashSet::new());
        // A URL has one outcome more for each time that its page is decided again.
        let mut revised = HashSet::<UrlId>::new();
        loop {
            let commits = reader.next(session).await?;
            if commits.is_empty() {
                break;
            }
            for (_, entry) in commits.into_iter().flatten() {
                texts.extend(entry.urls.into_iter().map(|url| url.row.url));
                let is_revision = |requeue: &&Requeue| requeue.discovery.kind == LinkKind::Revision;
                revised.extend(entry.requeued.iter().filter(is_revision).map(|requeue| requeue.url));
                for outcome in &entry.outcomes {
                    let url = text_of(&texts, outcome.url)?;
                    let canonical = CanonicalUrl::from_canonical(url)
                        .map_err(|error| ClusterError::Damaged(format!("'{url}' is in a log: {error}")))?;
                    if map.slot_of(&canonical) != slot {
                        let what = format!("the log of slot {} has the outcome of '{url}', of another slot", slot.0);
                        return Err(ClusterError::Damaged(what));
                    }
                    let is_again = revised.remove(&outcome.url);
                    check.urls += u64::from(!is_again);
                    if !is_again && !done.insert(xxh3_128(url.as_bytes())) {
                        check.twice.0 += 1;
                        if check.twice.1.len() < NAMED {
                            check.twice.1.push(url.to_owned());
                        }
                    }
                }
                entry.pages.iter().for_each(|page| judged.complete(page, &mut check));
            }
        }
    }
    check.uncompleted = judged.uncompleted();
    Ok(check)
}

/// The judged pages that are not completed so far.
#[derive(Default)]
struct JudgedPages {
    open: HashMap<PageId, (Sequence, Digest, Option<Digest>)>,
    withdrawn: HashSet<Sequence>,
}

impl JudgedPages {
    fn note(&mut self, told: Replayed<'_>) {
        match told {
            Replayed::Decided(number, page) => {
                self.open.insert(page.page, (number, page.body_digest, page.text_digest));
            }
            Replayed::Withdrawn(page) => {
                self.withdrawn.insert(page);
            }
        }
    }

    /// Checks a page with an outcome.
    fn complete(&mut self, row: &PageRow, check: &mut LogCheck) {
        check.naming_withdrawn += u64::from(row.verdict.duplicate_of().is_some_and(|of| self.withdrawn.contains(&of)));
        let Some((number, body, text)) = self.open.remove(&row.page) else {
            check.undecided += 1;
            return;
        };
        check.completed_withdrawn += u64::from(self.withdrawn.contains(&number));
        let is_same = row.body_digest == body || text.is_some() && row.text_digest == text;
        check.changed += u64::from(!is_same);
    }

    fn uncompleted(&self) -> u64 {
        self.open.values().filter(|(number, ..)| !self.withdrawn.contains(number)).count() as u64
    }
}

fn text_of(texts: &[String], number: UrlId) -> Result<&str, ClusterError> {
    texts
        .get(number.index())
        .map(String::as_str)
        .ok_or_else(|| ClusterError::Damaged(format!("a log has the outcome of URL {number} before it names it")))
}
