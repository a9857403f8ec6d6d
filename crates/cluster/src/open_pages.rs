//! Pages that were judged and not completed: a process was lost between the turn and the commit of the slot.
//!
//! The log of a slot has the names of all pages that were completed, and the turns have those of all that were judged.
//! The next owner of the slot knows the difference. Of each such page it fetches the URL again. The same content is
//! completed with the verdict that was given; other content is judged as a page of another name, which replaces the
//! first; and what cannot be had is withdrawn.

use std::collections::{HashMap, HashSet};

use super::connection::Session;
use super::error::ClusterError;
use super::turn_body::TurnVerdicts;
use super::turn_log::turns_behind;
use ndcrawl_model::{OwnSlots, PageId, PageInput, Sequence, TermCounts};

/// Turns that are read at once.
const AT_ONCE: i64 = 64;

/// The pages of some slots that were judged and have no outcome.
#[derive(Debug, Default)]
pub(super) struct OpenPages(HashMap<PageId, OpenPage>);

#[derive(Clone, Copy, Debug)]
struct OpenPage {
    sequence: Sequence,
    is_withdrawn: bool,
}

impl OpenPages {
    /// Finds the pages of these slots. `completed` has the names of those with an outcome. Nobody else commits to the
    /// slots meanwhile, and all that was sent for them is judged.
    ///
    /// Cost: a read of all turns, without the arrivals.
    pub async fn find(session: &Session, own: &OwnSlots, completed: &HashSet<PageId>) -> Result<Self, ClusterError> {
        let (mut open, mut withdrawn, mut last) = (HashMap::new(), HashSet::<Sequence>::new(), 0);
        loop {
            let turns = turns_behind(session, last, AT_ONCE).await?;
            if turns.is_empty() {
                break;
            }
            for row in turns {
                last = row.number;
                let turn = TurnVerdicts::read(&row.body)?;
                withdrawn.extend(turn.withdrawn());
                let is_open = |(slot, page, _): &(_, PageId, _)| own.has(*slot) && !completed.contains(page);
                let pages = turn.owned().filter(is_open);
                open.extend(pages.map(|(_, page, sequence)| (page, OpenPage { sequence, is_withdrawn: false })));
            }
        }
        for page in open.values_mut() {
            page.is_withdrawn = withdrawn.contains(&page.sequence);
        }
        Ok(Self(open))
    }

    /// Returns the name by which a page goes on that is fetched now: `first`, or that of the judged page that has no
    /// outcome, with its number.
    pub fn latest(&self, first: PageId) -> (PageId, Option<Sequence>) {
        let mut name = first;
        loop {
            match self.0.get(&name) {
                None => return (name, None),
                Some(OpenPage { sequence, is_withdrawn: false }) => return (name, Some(*sequence)),
                Some(_) => name = fetched_again(name),
            }
        }
    }

    /// Notes that a page was completed.
    pub fn complete(&mut self, page: PageId) {
        self.0.remove(&page);
    }

    /// Notes that a page was withdrawn.
    pub fn withdraw(&mut self, page: PageId) {
        if let Some(open) = self.0.get_mut(&page) {
            open.is_withdrawn = true;
        }
    }

    /// Returns the pages that are still in the index.
    pub fn in_index(&self) -> Vec<(PageId, Sequence)> {
        let all = self.0.iter().filter(|(_, open)| !open.is_withdrawn);
        all.map(|(page, open)| (*page, open.sequence)).collect()
    }
}

/// Returns the name of the next fetch of a page.
pub(super) fn fetched_again(page: PageId) -> PageId {
    PageId::new("fetched again", &page.0.to_string(), 1)
}

/// Whether a page that was fetched again has the content that was judged: the same body, or the same text and terms.
pub(super) fn is_same_content(judged: &PageInput, now: &PageInput) -> bool {
    let sorted = |terms: &[TermCounts]| {
        let mut terms: Vec<_> = terms.iter().map(|term| (term.term.clone(), term.counts.0)).collect();
        terms.sort_unstable();
        terms
    };
    let has_same_text = || judged.text_digest.is_some() && judged.text_digest == now.text_digest;
    judged.body_digest == now.body_digest
        || has_same_text() && judged.order == now.order && sorted(&judged.terms) == sorted(&now.terms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_goes_on_by_the_first_name_that_was_not_withdrawn() {
        let names: Vec<PageId> =
            std::iter::successors(Some(PageId(7)), |name| Some(fetched_again(*name))).take(3).collect();
        let mut open = OpenPages::default();
        assert_eq!(open.latest(names[0]), (names[0], None));
        for (number, name) in names.iter().take(2).enumerate() {
            open.0.insert(*name, OpenPage { sequence: Sequence(number as u32), is_withdrawn: false });
        }
        assert_eq!(open.latest(names[0]), (names[0], Some(Sequence(0))));
        open.withdraw(names[0]);
        assert_eq!(open.latest(names[0]), (names[1], Some(Sequence(1))));
        assert_eq!(open.in_index(), [(names[1], Sequence(1))]);
        open.withdraw(names[1]);
        assert_eq!(open.latest(names[0]), (names[2], None));
        open.complete(names[0]);
        assert_eq!(open.latest(names[0]), (names[0], None));
    }
}
