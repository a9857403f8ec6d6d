//! The web-provenance hybrid over a finished set of pages: all documents at once, as in its paper.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::Measure;
use super::provenance::Provenance;
use crate::detect::page_match::Page;
use crate::detect::{Match, Options};
use crate::index::CandidateIndex;
use crate::model::{Sequence, TermOrder};
use crate::similarity::Record;

/// Returns the clusters of near-duplicates among these pages, by number and in ascending order.
///
/// Each page is in one cluster, alone if it has no near-duplicate. Each page in turn is the paper's input record, and
/// all others are its repository. This differs from a stream of the same pages in three ways:
///
/// - thresholding uses the statistics of all documents for every page;
/// - each page is compared with later ones too, so the plane has more columns;
/// - a cluster is closed: of a chain of pages, each near only to the next, a stream stores more than one, since
///   it compares with stored pages only.
///
/// Both agree where clusters are apart, pages within one all match, and nothing is dropped. Pages with fewer
/// terms than [`Options::min_terms`] are alone; groups of pages are ignored.
///
/// Cost: as in a stream for each page, with all its near-duplicates among the candidates.
pub fn provenance_clusters(options: &Options, pages: &[Record]) -> Vec<Vec<Sequence>> {
    let repository = Repository::new(options, pages);
    let mut clusters = Clusters::of(pages.len());
    for (number, page) in (0..).map(Sequence).zip(&repository.pages) {
        for found in repository.matches(number, page) {
            clusters.join(number.index(), found.of.index());
        }
    }
    clusters.into_lists()
}

/// All pages, ready for queries.
struct Repository<'a> {
    options: &'a Options,
    measure: Provenance,
    pages: Vec<Arc<Page>>,
    filter: Box<dyn CandidateIndex>,
}

impl<'a> Repository<'a> {
    fn new(options: &'a Options, pages: &[Record]) -> Self {
        let mut measure = Provenance::new(options);
        pages.iter().for_each(|page| measure.lightest.learn(page));
        let kept = |page: &Record| {
            let least = measure.lightest.least_weight_of_learned(page);
            let record = page.clone().without_lighter(least);
            Arc::new(Page { group: 0, record, order: TermOrder::default() })
        };
        let pages: Vec<Arc<Page>> = pages.iter().map(kept).collect();
        let mut filter = options.filter.build();
        for (number, page) in (0..).map(Sequence).zip(&pages).filter(|(_, page)| is_compared(options, page)) {
            filter.insert(number, &measure.filtered(page));
        }
        Self { options, measure, pages, filter }
    }

    /// Returns the near-duplicates of a page among all the others.
    fn matches(&self, number: Sequence, page: &Page) -> Vec<Match> {
        if !is_compared(self.options, page) {
            return Vec::new();
        }
        let (threshold, mut found) = (self.options.threshold, Vec::new());
        let floor = self.measure.lower_bound(threshold);
        self.filter.probe(&self.measure.filtered(page), floor, &mut |candidate| {
            let other = &self.pages[candidate.id.index()];
            if candidate.id != number
                && let Some(similarity) = self.measure.compare(page, other, threshold)
            {
                let found_one = Match { of: candidate.id, score: similarity.score, second: None, difference: None };
                found.push((found_one, Arc::clone(other)));
            }
            ControlFlow::Continue(floor)
        });
        found.sort_unstable_by_key(|(found, _)| (std::cmp::Reverse(found.score), found.of));
        self.measure.choose(page, found)
    }
}

fn is_compared(options: &Options, page: &Page) -> bool {
    !page.record.is_empty() && page.record.len() >= options.min_terms
}

/// Disjoint sets: each number points to another of its set, the least one to itself.
struct Clusters(Vec<usize>);

impl Clusters {
    fn of(pages: usize) -> Self {
        Self((0..pages).collect())
    }

    fn least(&mut self, mut page: usize) -> usize {
        while self.0[page] != page {
            self.0[page] = self.0[self.0[page]];
            page = self.0[page];
        }
        page
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.least(one), self.least(other));
        self.0[one.max(other)] = one.min(other);
    }

    fn into_lists(mut self) -> Vec<Vec<Sequence>> {
        let mut lists: Vec<Vec<Sequence>> = vec![Vec::new(); self.0.len()];
        for page in 0..self.0.len() {
            let least = self.least(page);
            lists[least].push(Sequence(page as u32));
        }
        lists.retain(|list| !list.is_empty());
        lists
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::detect::{Decider, Thresholding};
    use crate::model::{Detector, Digest, FieldCounts, PageId, PageInput, TermCounts, TermId};

    fn options(min_terms: usize) -> Options {
        Options { min_terms, ..Options::of(Detector::Provenance) }
    }

    fn record(terms: &[u32]) -> Record {
        Record::new(terms.iter().map(|&term| (TermId(term), 100)).collect())
    }

    fn clusters(options: &Options, pages: &[Vec<u32>]) -> Vec<Vec<u32>> {
        let records: Vec<Record> = pages.iter().map(|terms| record(terms)).collect();
        let found = provenance_clusters(options, &records);
        found.into_iter().map(|cluster| cluster.into_iter().map(|page| page.0).collect()).collect()
    }

    /// Returns what a stream of the same pages stores, with what repeats it.
    fn streamed(options: &Options, pages: &[Vec<u32>]) -> Vec<Vec<u32>> {
        let term =
            |term: &u32| TermCounts { term: format!("t{term}").into(), counts: FieldCounts([0, 0, 0, 0, 0, 0, 0, 1]) };
        let candidate = |(number, terms): (u32, &Vec<u32>)| PageInput {
            page: PageId::new("test", "", number),
            group: 0,
            body_digest: Digest::of(&number.to_le_bytes()),
            text_digest: None,
            terms: terms.iter().map(term).collect(),
            order: TermOrder::default(),
            renews: None,
            rank: 0,
        };
        let mut decider = Decider::in_memory(options.clone());
        let judged = decider.decide((0..).zip(pages).map(candidate).collect()).unwrap();
        let mut clusters: Vec<Vec<u32>> = Vec::new();
        for judged in judged {
            match judged.verdict.duplicate_of().and_then(|of| clusters.iter_mut().find(|cluster| cluster[0] == of.0)) {
                Some(cluster) => cluster.push(judged.sequence.0),
                None => clusters.push(vec![judged.sequence.0]),
            }
        }
        clusters
    }

    #[test]
    fn a_chain_is_one_cluster_and_two_stored_pages_of_a_stream() {
        let chain = [vec![1, 2, 3, 4], vec![3, 4, 1, 5], vec![4, 5, 1, 6], vec![70]];
        let options = options(1);
        assert_eq!(clusters(&options, &chain), [vec![0, 1, 2], vec![3]]);
        assert_eq!(streamed(&options, &chain), [vec![0, 1], vec![2], vec![3]]);
    }

    #[test]
    fn short_pages_are_alone() {
        assert_eq!(clusters(&options(3), &[vec![1, 2], vec![1, 2], vec![]]), [[0], [1], [2]]);
    }

    #[test]
    fn the_documents_that_thresholding_goes_by_are_all_of_them() {
        // Twenty pages of four terms keep all of them; two of four thousand among them keep none.
        let mut pages: Vec<Vec<u32>> = (0..20).map(|page| (10 * page..10 * page + 4).collect()).collect();
        pages[1] = pages[0].clone();
        let options = options(1);
        assert_eq!(clusters(&options, &pages)[0], [0, 1]);
        let long: Vec<u32> = (10_000..14_000).collect();
        pages.extend([long.clone(), long]);
        assert!(clusters(&options, &pages).contains(&vec![20]));
        let off = Options { thresholding: Thresholding::Off, ..options };
        assert!(clusters(&off, &pages).contains(&vec![20, 21]));
    }

    proptest! {
        #[test]
        fn a_stream_agrees_where_groups_are_apart(
            drafts in prop::collection::vec((0u32..5, prop::collection::vec(0u32..40, 0..3)), 1..18),
        ) {
            // Twelve terms in common and up to two of its own: within a group J is at least 12 / 16.
            let pages: Vec<Vec<u32>> = drafts
                .iter()
                .map(|(group, own)| (0..12).chain(own.iter().map(|own| 20 + own)).map(|term| 100 * group + term).collect())
                .collect();
            let options = options(2);
            prop_assert_eq!(clusters(&options, &pages), streamed(&options, &pages));
        }
    }
}
