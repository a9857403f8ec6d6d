//! How the index of a crawl is divided among the slots, and what follows for arrivals.
//!
//! | division | who has a judged page | who is asked of a page | who reads an arrival |
//! |---|---|---|---|
//! | by pages | the slot of its name | all | all |
//! | by hosts | the slot of its host | that slot alone | that slot alone |
//!
//! By hosts if pages are compared within their hosts only: nobody else could have what a page repeats.

use std::collections::{BTreeMap, BTreeSet};

use super::arrivals::{ArrivalChunk, ChunkPart, read_arrivals_of};
use super::arriving::{Arriving, ArrivingPage, arrival_body, arrivals_in};
use super::connection::Session;
use super::error::ClusterError;
use super::lease::RunId;
use super::turn_log::ArrivalRange;
use crate::detect::{Options, Within};
use crate::model::{PageInput, Slot};

/// The division of the index of a crawl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division {
    /// Judged pages go to slots by their names.
    ByPages,
    /// Hosts go to slots.
    ByHosts,
}

/// A page of the turn that belongs to a slot of this process.
#[derive(Clone, Debug)]
pub(super) struct OwnPage {
    /// Its place in the turn.
    pub place: u32,
    pub slot: Slot,
    pub input: PageInput,
}

impl Division {
    /// Returns the division of the index of a `dedup` run. Crawls are divided by pages always: what they withdraw names no
    /// host.
    pub fn of_dedup(options: &Options) -> Self {
        match options.within {
            Within::Host => Self::ByHosts,
            Within::Crawl => Self::ByPages,
        }
    }

    /// Returns pages as a chunk of arrivals.
    ///
    /// # Errors
    /// [`ClusterError::Damaged`] if a page cannot be written.
    pub fn chunk(
        self,
        slots: u16,
        run: RunId,
        first: i64,
        pages: Vec<ArrivingPage>,
    ) -> Result<ArrivalChunk, ClusterError> {
        let count = i32::try_from(pages.len()).unwrap_or(i32::MAX);
        if self == Self::ByPages {
            let arrivals: Vec<Arriving> = pages.into_iter().map(Arriving::from).collect();
            return Ok(ArrivalChunk::of_all(run, first, count, arrival_body(&arrivals)?));
        }
        let mut parts = BTreeMap::<Slot, (Vec<i16>, Vec<Arriving>)>::new();
        for (place, page) in (0i16..).zip(pages) {
            let (places, arrivals) = parts.entry(slot_of_host(page.input.group, slots)).or_default();
            places.push(place);
            arrivals.push(page.into());
        }
        let part = |(slot, (places, arrivals)): (Slot, (Vec<i16>, Vec<Arriving>))| {
            Ok(ChunkPart { of_slot: Some((slot, places)), body: arrival_body(&arrivals)? })
        };
        let parts = parts.into_iter().map(part).collect::<Result<_, ClusterError>>()?;
        Ok(ArrivalChunk { run, first, count, parts })
    }
}

/// Returns the slot of the pages of a host, given by their [group](PageInput::group).
pub fn slot_of_host(group: u32, slots: u16) -> Slot {
    Slot((group % u32::from(slots.max(1))) as u16)
}

/// Returns the arrivals of a chunk, in order.
///
/// # Errors
/// [`ClusterError::Damaged`] if one is missing.
pub(super) fn arrivals_of_chunk(chunk: &ArrivalChunk) -> Result<Vec<Arriving>, ClusterError> {
    let mut arrivals = Vec::new();
    for part in &chunk.parts {
        let found = arrivals_in(&part.body)?;
        match &part.of_slot {
            None => arrivals.extend((0i64..).zip(found)),
            Some((_, places)) if places.len() == found.len() => {
                arrivals.extend(places.iter().map(|place| i64::from(*place)).zip(found));
            }
            Some(_) => return Err(other_arrivals(chunk, found.len())),
        }
    }
    arrivals.sort_by_key(|(place, _)| *place);
    let is_whole = (0..i64::from(chunk.count)).eq(arrivals.iter().map(|(place, _)| *place));
    if !is_whole {
        return Err(other_arrivals(chunk, arrivals.len()));
    }
    Ok(arrivals.into_iter().map(|(_, arriving)| arriving).collect())
}

/// Returns the pages of a chunk of arrivals, in order.
///
/// # Errors
/// [`ClusterError::Damaged`] if it cannot be read.
pub fn pages_of(chunk: &ArrivalChunk) -> Result<Vec<ArrivingPage>, ClusterError> {
    let page = |arriving| match arriving {
        Arriving::Page(page) => Some(*page),
        Arriving::Withdrawal(_) | Arriving::Question(_) => None,
    };
    Ok(arrivals_of_chunk(chunk)?.into_iter().filter_map(page).collect())
}

/// Reads those pages of a turn that belong to these slots, in order.
pub(super) async fn read_own(
    session: &Session,
    ranges: &[ArrivalRange],
    slots: &BTreeSet<Slot>,
) -> Result<Vec<OwnPage>, ClusterError> {
    let (mut own, mut before) = (Vec::new(), 0);
    for range in ranges {
        let end = range.first + i64::from(range.count);
        for chunk in read_arrivals_of(session, range, slots).await? {
            for part in &chunk.parts {
                let found = arrivals_in(&part.body)?;
                let Some((slot, places)) = part.of_slot.as_ref().filter(|(_, places)| places.len() == found.len())
                else {
                    return Err(other_arrivals(&chunk, found.len()));
                };
                for (place, arriving) in places.iter().zip(found) {
                    let number = chunk.first + i64::from(*place);
                    let Arriving::Page(page) = arriving else { return Err(other_arrivals(&chunk, places.len())) };
                    if (range.first..end).contains(&number) {
                        let place = u32::try_from(before + number - range.first).unwrap_or(u32::MAX);
                        own.push(OwnPage { place, slot: *slot, input: page.input });
                    }
                }
            }
        }
        before += i64::from(range.count);
    }
    own.sort_by_key(|page| page.place);
    Ok(own)
}

fn other_arrivals(chunk: &ArrivalChunk, found: usize) -> ClusterError {
    let ArrivalChunk { run, first, count, .. } = chunk;
    ClusterError::Damaged(format!("the chunk of {count} arrivals of run {} at {first} has {found}", run.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::PageFacts;
    use crate::model::{Digest, PageId, TermOrder};

    fn page(number: u32, group: u32) -> ArrivingPage {
        let (page, body_digest) = (PageId::new("", "", number), Digest::of(&number.to_le_bytes()));
        let (terms, order) = (Vec::new(), TermOrder::default());
        let input = PageInput { page, group, body_digest, text_digest: None, terms, order, renews: None, rank: 0 };
        ArrivingPage::new(input, PageFacts::default())
    }

    #[test]
    fn a_chunk_that_was_divided_is_put_together_in_order() {
        let pages: Vec<ArrivingPage> = (0..20).map(|number| page(number, number * number)).collect();
        for division in [Division::ByPages, Division::ByHosts] {
            let chunk = division.chunk(3, RunId(-1), 40, pages.clone()).unwrap();
            assert_eq!(chunk.parts.len(), if division == Division::ByHosts { 2 } else { 1 }, "squares modulo 3");
            let names = |pages: Vec<Arriving>| -> Vec<PageId> {
                let name = |arriving| match arriving {
                    Arriving::Page(page) => page.input.page,
                    Arriving::Withdrawal(_) | Arriving::Question(_) => panic!("only pages were sent"),
                };
                pages.into_iter().map(name).collect()
            };
            let expected: Vec<PageId> = pages.iter().map(|page| page.input.page).collect();
            assert_eq!(names(arrivals_of_chunk(&chunk).unwrap()), expected);
        }
        let mut chunk = Division::ByHosts.chunk(3, RunId(-1), 40, pages).unwrap();
        chunk.parts.pop();
        assert!(matches!(arrivals_of_chunk(&chunk), Err(ClusterError::Damaged(_))));
    }
}
