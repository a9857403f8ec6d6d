//! Pages decided one by one, as a crawl would, and what that costs.

use std::time::Duration;

use super::clock::Moment;
use super::pages::Page;
use crate::detect::{Decider, DetectError, InMemory, Options};
use crate::index::ProbeCounters;
use crate::model::{Judged, PageId, PageInput, Sequence, Verdict};

/// What tells the name of a page that is judged anew from its former name.
const RENEWED: u128 = 1;

/// What became of a stream of pages.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    /// In the order of the stream; `None` for a page that can't be had.
    pub verdicts: Vec<Option<Verdict>>,
    /// The places in the stream of the pages that were decided, by their sequence numbers.
    places: Vec<usize>,
    /// What it cost.
    pub cost: DecisionCost,
}

/// What it cost to decide pages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DecisionCost {
    /// Pages decided.
    pub pages: usize,
    /// The time for which the deciding thread ran.
    pub thread_time: Duration,
    /// Pages for which the index was asked; exact copies need no asking.
    pub probes: u64,
    /// The records that were in the index, added up over the probes: what would be compared without
    /// a filter.
    pub records: u64,
    /// What the probes cost, added up.
    pub counters: ProbeCounters,
}

impl DecisionCost {
    /// A sum over all probes as a mean.
    pub fn per_probe(&self, sum: u64) -> Option<f64> {
        (self.probes > 0).then(|| sum as f64 / self.probes as f64)
    }
}

impl Stream {
    /// Decides pages one by one. A page that is missing is passed over.
    ///
    /// # Errors
    /// If the decider fails.
    pub fn decide<'a>(
        pages: impl Iterator<Item = Option<&'a Page>> + Clone,
        options: &Options,
        advance: &dyn Fn(),
    ) -> Result<Self, DetectError> {
        let mut decider = Decider::in_memory(options.clone());
        let mut stream = Self::default();
        for (place, page) in pages.clone().enumerate() {
            advance();
            let verdict = match page {
                Some(page) => stream.decide_one(&mut decider, place, page.candidate.clone())?,
                None => None,
            };
            stream.verdicts.push(verdict);
        }
        stream.cost.counters = decider.stats().counters;
        stream.cost.probes = decider.stats().probes;
        stream.revise(&mut decider, pages)?;
        Ok(stream)
    }

    /// The place in the stream of the page with that number.
    pub fn place_of(&self, page: Sequence) -> Option<usize> {
        self.places.get(page.index()).copied()
    }

    fn decide_one(
        &mut self,
        decider: &mut Decider<InMemory>,
        place: usize,
        candidate: PageInput,
    ) -> Result<Option<Verdict>, DetectError> {
        let before = decider.stats();
        let started = Moment::now();
        let judged = decider.decide(vec![candidate])?;
        self.cost.thread_time += started.elapsed();
        self.cost.records += before.indexed * (decider.stats().probes - before.probes);
        let Some(Judged { verdict, redelivered, .. }) = judged.into_iter().next() else { return Ok(None) };
        if !redelivered {
            self.cost.pages += 1;
            self.places.push(place);
        }
        Ok(Some(verdict))
    }

    /// Verdicts may be looked at again once the stream has ended, when more is known than when they
    /// were given: such pages are judged anew, as a crawl does when its frontier is empty.
    fn revise<'a>(
        &mut self,
        decider: &mut Decider<InMemory>,
        pages: impl Iterator<Item = Option<&'a Page>> + Clone,
    ) -> Result<(), DetectError> {
        let started = Moment::now();
        let outgrown = decider.outgrown(Sequence(0))?;
        self.cost.thread_time += started.elapsed();
        for earlier in outgrown {
            let Some(place) = self.place_of(earlier) else { continue };
            let Some(page) = pages.clone().nth(place).flatten() else { continue };
            let name = PageId(page.candidate.page.0 ^ RENEWED);
            let renewed = PageInput { page: name, renews: Some(earlier), ..page.candidate.clone() };
            self.verdicts[place] = self.decide_one(decider, place, renewed)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Digest, Field, FieldCounts, TermCounts, TermOrder};

    fn page(text: &str) -> Page {
        let mut counts = FieldCounts::default();
        counts.add(Field::Body);
        let terms = text.split(' ').map(|term| TermCounts { term: term.into(), counts }).collect();
        let body_digest = Digest::of(text.as_bytes());
        let candidate = PageInput {
            page: PageId::new("", text, 0),
            group: 0,
            body_digest,
            text_digest: None,
            terms,
            order: TermOrder::default(),
            renews: None,
        };
        Page { candidate, bytes: text.len() }
    }

    #[test]
    fn missing_pages_do_not_shift_the_numbers() {
        let pages = [None, Some(page("a b c d e")), None, Some(page("a b c d f")), Some(page("x y z"))];
        let options = Options { min_terms: 2, ..Options::default() };
        let stream = Stream::decide(pages.iter().map(Option::as_ref), &options, &|| ()).unwrap();
        let of = stream.verdicts[3].and_then(|verdict| verdict.duplicate_of()).unwrap();
        assert_eq!(stream.place_of(of), Some(1));
        assert_eq!(stream.verdicts[0], None);
        assert_eq!(stream.verdicts[4], Some(Verdict::Unique));
        assert_eq!((stream.cost.pages, stream.cost.probes, stream.cost.records), (3, 3, 2));
        assert!(stream.cost.counters.verifications >= 1);
    }
}
