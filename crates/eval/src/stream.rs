//! Decides pages one by one, as a crawl does, and measures the cost.

use std::time::Duration;

use super::clock::ThreadClock;
use super::pages::EvalPage;
use ndcrawl_model::{Judged, PageId, PageInput, Sequence, Verdict};
use neardup::detect::{Decider, DetectError, InMemory, Options};
use neardup::index::ProbeCounters;

/// Distinguishes the ID of a page judged again from its first ID.
const RENEWED: u128 = 1;

/// The verdicts on a stream of pages.
#[derive(Clone, Debug, Default)]
pub struct DecisionStream {
    /// In the order of the stream; `None` for a missing page.
    pub verdicts: Vec<Option<Verdict>>,
    /// Places in the stream by sequence number.
    places: Vec<usize>,
    /// Cost of deciding.
    pub cost: DecisionCost,
}

/// Cost of deciding pages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DecisionCost {
    /// Pages decided.
    pub pages: usize,
    /// CPU time of the deciding thread.
    pub thread_time: Duration,
    /// Index queries; exact copies need none.
    pub probes: u64,
    /// Sum over the probes of the records in the index: the comparisons without an index.
    pub records: u64,
    /// Counters summed over the probes.
    pub counters: ProbeCounters,
}

impl DecisionCost {
    /// Returns the mean per probe of a sum over all probes.
    pub fn per_probe(&self, sum: u64) -> Option<f64> {
        (self.probes > 0).then(|| sum as f64 / self.probes as f64)
    }
}

impl DecisionStream {
    /// Decides pages one by one and skips missing ones.
    ///
    /// # Errors
    /// If the decider fails.
    pub fn decide<'a>(
        pages: impl Iterator<Item = Option<&'a EvalPage>> + Clone,
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

    /// Returns the place in the stream of a page.
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
        let started = ThreadClock::now();
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

    /// Judges pages again whose early verdict was based on too few pages of their host, as a crawl does at its end.
    fn revise<'a>(
        &mut self,
        decider: &mut Decider<InMemory>,
        pages: impl Iterator<Item = Option<&'a EvalPage>> + Clone,
    ) -> Result<(), DetectError> {
        let started = ThreadClock::now();
        let outdated = decider.outdated_duplicates(Sequence(0))?;
        self.cost.thread_time += started.elapsed();
        for earlier in outdated {
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
    use ndcrawl_model::{Digest, Field, FieldCounts, TermCounts, TermOrder};

    fn page(text: &str) -> EvalPage {
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
            rank: 0,
        };
        EvalPage { candidate, bytes: text.len() }
    }

    #[test]
    fn missing_pages_do_not_shift_the_numbers() {
        let pages = [None, Some(page("a b c d e")), None, Some(page("a b c d f")), Some(page("x y z"))];
        let options = Options { min_terms: 2, ..Options::default() };
        let stream = DecisionStream::decide(pages.iter().map(Option::as_ref), &options, &|| ()).unwrap();
        let of = stream.verdicts[3].and_then(|verdict| verdict.duplicate_of()).unwrap();
        assert_eq!(stream.place_of(of), Some(1));
        assert_eq!(stream.verdicts[0], None);
        assert_eq!(stream.verdicts[4], Some(Verdict::Unique));
        assert_eq!((stream.cost.pages, stream.cost.probes, stream.cost.records), (3, 3, 2));
        assert!(stream.cost.counters.verifications >= 1);
    }
}
