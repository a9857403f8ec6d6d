//! Which pages of some slots are to be decided again, by the turns of questions.

use std::collections::HashSet;

use super::arriving::ArrivingPage;
use super::connection::Session;
use super::error::ClusterError;
use super::named_page::judged_page;
use super::question::{Conclusion, Found};
use super::turn_body::TurnVerdicts;
use super::turn_log::turns_behind;
use ndcrawl_model::{CanonicalUrl, OwnSlots, PageId, Sequence, Verdict};

/// Turns that are read at once.
const AT_ONCE: i64 = 64;

/// A page that is to be decided again.
#[derive(Clone, Debug)]
pub(super) struct DoubtfulPage {
    pub number: Sequence,
    /// As it was sent.
    pub page: ArrivingPage,
    pub verdict: Verdict,
    /// Whether it has left the index for a better one, and is not fetched again.
    pub is_displaced: bool,
}

/// The rounds of questions, as the owner of some slots knows them.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    /// The last turn that was read.
    last: i64,
    /// The rounds so far.
    pub round: i32,
    /// Names of displaced pages that were decided again.
    done: HashSet<PageId>,
}

impl Rounds {
    /// Begins with logs of slots in which these pages are completed.
    pub async fn after(session: &Session, completed: &HashSet<PageId>) -> Result<Self, ClusterError> {
        let (mut rounds, mut last) = (Self::default(), 0);
        loop {
            let turns = turns_behind(session, last, AT_ONCE).await?;
            let Some(turn) = turns.last() else { return Ok(rounds) };
            last = turn.number;
            for row in &turns {
                for found in TurnVerdicts::read(&row.body)?.found() {
                    let Found::Displaced(pages) = found else { continue };
                    for page in pages {
                        let name = judged_page(session, *page).await?.map(|(page, _)| renewal_name(page.input.page));
                        rounds.done.extend(name.filter(|name| completed.contains(name)));
                    }
                }
            }
        }
    }

    /// Returns the pages of these slots that rounds behind the last one have named.
    ///
    /// Cost: a read of the turns behind the last one, and of the arrival of each such page.
    pub async fn next(&mut self, session: &Session, own: &OwnSlots) -> Result<Vec<DoubtfulPage>, ClusterError> {
        let (mut named, mut last, mut seen) = (Vec::new(), self.last, self.round);
        loop {
            let turns = turns_behind(session, last, AT_ONCE).await?;
            if turns.is_empty() {
                break;
            }
            for row in turns {
                let verdicts = TurnVerdicts::read(&row.body)?;
                for found in verdicts.found() {
                    let is_displaced = matches!(found, Found::Displaced(_));
                    named.extend(found.pages().iter().map(|page| (*page, is_displaced)));
                }
                let ends = |found: &Found| found.conclusion() != Conclusion::Nothing;
                seen += i32::from(verdicts.found().iter().any(ends));
                last = row.number;
            }
        }
        let mut pages = Vec::new();
        for (number, is_displaced) in named {
            let missing = || ClusterError::Damaged(format!("no turn has decided page {number}, which is in doubt"));
            let (page, verdict) = judged_page(session, number).await?.ok_or_else(missing)?;
            let canonical = CanonicalUrl::from_canonical(&page.facts.url)
                .map_err(|error| ClusterError::Damaged(format!("'{}' was decided: {error}", page.facts.url)))?;
            let is_done = is_displaced && !self.done.insert(renewal_name(page.input.page));
            if own.has(own.map().slot_of(&canonical)) && !is_done {
                pages.push(DoubtfulPage { number, page, verdict, is_displaced });
            }
        }
        (self.last, self.round) = (last, seen);
        Ok(pages)
    }
}

/// Returns the name by which a page is decided again as it is.
pub(super) fn renewal_name(page: PageId) -> PageId {
    PageId::new("displaced", &page.0.to_string(), 0)
}
