//! The web-provenance hybrid (`provenance`, "A Hybrid Model for Detection and Elimination of Near-Duplicates Based on
//! Web Provenance for Effective Web Search", T. Gupta and L. Banda).
//!
//! This file finds the clusters (section III.A.6 to 8); [`representative`](crate::detect::elect)
//! chooses the page that stays:
//!
//! ```text
//! (1)      W_x = Σ count · field weight
//! (2)-(4)  w_x = W_x / average, kept if above the threshold    see `thresholding`
//!          prefix and positional filter, t = 0.5
//! (5)      A = U·Σ·Vᵀ, of which two dimensions remain          see `plane`
//! (6)      J(X, Y) = |X ∩ Y| / |X ∪ Y|
//! ```
//!
//! | paper | here |
//! |---|---|
//! | normalization and threshold, (2) to (4) | [`Options::thresholding`], by the paper's formula by default |
//! | `t` of the filters, 0.5 | [`Options::threshold`], in [0, 1], 0.5 by default |
//! | `J(X, Y)`, over the terms that are kept | the score, in millionths, rounded down |
//! | mezzanine set `M`, the matrix `A` | the page to decide and its candidates, a column each |
//! | `a_ij` | `W_x` over the page's weight: the number of documents is in all columns alike |
//! | "2D coordinates using SVD techniques" | `(σ₁·v_j1, σ₂·v_j2)` for column `j` |
//! | similarity there, not specified | the cosine, in millionths, rounded to the nearest: [`Match::second`] |
//!
//! A match is a page for which both `J` and the cosine in the plane are at least `t`.
//!
//! **Departures.** The paper calls `J` = 1 dissimilar and keeps what is below 0.5: a slip; here 1 means equal. Its
//! matrix holds all that the filters leave. Here a page with `J < t` gets no column, since it cannot match and would
//! only turn the plane. Of the others the [`COLUMNS`] with the highest `J` get one, which bounds the cost.
//!
//! **Index.** Each kept term has the same weight. Two pages then overlap by `|X ∩ Y| / max(|X|, |Y|) ≥ J`. So the
//! lower bound is the threshold itself, and nothing is lost. [`FilterKind::Paper`](crate::index::FilterKind::Paper)
//! was made for sets of terms, and loses nothing here either.
//!
//! **Cost.** `J` is one merge of two records. The plane needs a merge for each pair of columns and one
//! eigendecomposition. What the plane is good for, and its cost: `docs/design/detect.md`.
//!
//! [`Options::thresholding`]: crate::detect::Options::thresholding
//! [`Options::threshold`]: crate::detect::Options::threshold

use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::sync::Arc;

use super::Measure;
use super::plane;
use super::thresholding::TermThreshold;
use crate::detect::page_match::{Page, Similarity};
use crate::detect::{Match, Options};
use crate::model::{Score, Sequence, TermId, Threshold};
use crate::similarity::Record;

/// Candidates that get a column.
const COLUMNS: usize = 64;

/// Compares sets of terms, and their columns in a plane.
#[derive(Debug)]
pub(super) struct Provenance {
    threshold: Threshold,
    pub(super) lightest: TermThreshold,
}

impl Provenance {
    pub(super) fn new(options: &Options) -> Self {
        Self { threshold: options.threshold, lightest: TermThreshold::new(options.thresholding) }
    }
}

impl Measure for Provenance {
    fn least_weight(&self, record: &Record) -> u32 {
        self.lightest.least_weight(record)
    }

    fn filtered<'a>(&self, page: &'a Page) -> Cow<'a, [(TermId, u32)]> {
        page.record.terms().iter().map(|&(term, _)| (term, 1)).collect()
    }

    fn compare(&self, probe: &Page, stored: &Page, bar: Threshold) -> Option<Similarity> {
        let score = jaccard(&probe.record, &stored.record)?;
        (score.0 >= bar.millionths()).then_some(Similarity { score, second: None, difference: None })
    }

    fn needs_all_matches(&self) -> bool {
        true
    }

    fn choose(&self, probe: &Page, mut matches: Vec<(Match, Arc<Page>)>) -> Vec<Match> {
        // The matches are ranked.
        matches.truncate(COLUMNS);
        let columns: Vec<&Record> = matches.iter().map(|(_, page)| &page.record).collect();
        let in_plane = in_plane(&probe.record, &columns);
        let chosen = matches.iter().zip(in_plane).map(|((found, _), second)| Match { second: Some(second), ..*found });
        chosen.filter(|found| found.second.is_some_and(|second| second.0 >= self.threshold.millionths())).collect()
    }

    fn learn(&mut self, _: Sequence, page: &Page, _: bool, _: bool) {
        self.lightest.learn(&page.record);
    }

    fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        self.lightest.save(out)
    }

    fn load(&mut self, input: &mut dyn Read) -> io::Result<()> {
        self.lightest.load(input)
    }
}

/// Evaluates equation (6) in millionths, rounded down; `None` if nothing is shared.
///
/// The product with a million is exact, so the score reaches a threshold iff the fraction does.
fn jaccard(a: &Record, b: &Record) -> Option<Score> {
    let (mut shared, mut rest) = (0, b.terms().iter().peekable());
    for (term, _) in a.terms() {
        while rest.next_if(|(other, _)| other < term).is_some() {}
        shared += u64::from(rest.next_if(|(other, _)| other == term).is_some());
    }
    let all = (a.len() + b.len()) as u64 - shared;
    (shared > 0).then(|| Score((shared * u64::from(Threshold::ONE) / all) as u32))
}

/// Returns the similarity of a page to each of the others in the plane of all their columns.
fn in_plane(page: &Record, others: &[&Record]) -> Vec<Score> {
    let columns: Vec<Vec<(u32, f64)>> = std::iter::once(&page).chain(others).map(|record| column(record)).collect();
    let points = plane::coordinates(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let rounded = |cosine: f64| Score(libm::round(cosine.clamp(0.0, 1.0) * f64::from(Threshold::ONE)) as u32);
    points.split_first().map_or_else(Vec::new, |(page, others)| {
        others.iter().map(|other| rounded(plane::cosine(*page, *other))).collect()
    })
}

/// Returns the normalized weights of a page, without the factor that is the same for all pages.
fn column(record: &Record) -> Vec<(u32, f64)> {
    let all = record.full_weight() as f64;
    record.terms().iter().map(|(term, weight)| (term.0, f64::from(*weight) / all)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::index::FilterKind;
    use crate::model::{Detector, TermOrder};
    use crate::similarity::score;

    fn record(terms: &[(u32, u32)]) -> Record {
        Record::new(terms.iter().map(|&(term, weight)| (TermId(term), weight)).collect())
    }

    fn page(terms: &[(u32, u32)]) -> Arc<Page> {
        Arc::new(Page { group: 0, record: record(terms), order: TermOrder::default() })
    }

    fn measure() -> Provenance {
        Provenance::new(&Options::of(Detector::Provenance))
    }

    /// The pages that remain of these, and their two similarities.
    fn chosen(probe: &Page, stored: &[Arc<Page>]) -> Vec<(u32, u32, u32)> {
        let measure = measure();
        let matches = (0..).map(Sequence).zip(stored).filter_map(|(of, page)| {
            let score = measure.compare(probe, page, measure.threshold)?.score;
            Some((Match { of, score, second: None, difference: None }, Arc::clone(page)))
        });
        let mut matches: Vec<_> = matches.collect();
        matches.sort_by_key(|(found, _)| (std::cmp::Reverse(found.score), found.of));
        let chosen = measure.choose(probe, matches);
        chosen.iter().map(|found| (found.of.0, found.score.0, found.second.unwrap().0)).collect()
    }

    /// Figure 4: r1 = {x2, x1, x3}, r2 = {x4, x1, x3}, r3 = {x2, x4, x1, x3}, each term once.
    #[test]
    fn the_three_records_of_the_paper() {
        let records = [&[2, 1, 3][..], &[4, 1, 3], &[2, 4, 1, 3]]
            .map(|terms| terms.iter().map(|&x| (x, 100)).collect::<Vec<_>>());
        let [r1, r2, r3] = [0, 1, 2].map(|place| page(&records[place]));
        assert_eq!(jaccard(&r1.record, &r2.record), Some(Score(500_000)), "2 of 4");
        assert_eq!(jaccard(&r1.record, &r3.record), Some(Score(750_000)), "3 of 4");
        // With one candidate the plane is all there is: 2/3 and 3/√12.
        assert_eq!(chosen(&r1, &[Arc::clone(&r2)]), [(0, 500_000, 666_667)]);
        assert_eq!(chosen(&r1, &[Arc::clone(&r3)]), [(0, 750_000, 866_025)]);
        // Columns (⅓,0,⅓,⅓), (0,⅓,⅓,⅓), (¼,¼,¼,¼) over x2, x4, x1, x3, with singular values 0.888, ⅓ and
        // 0.133. What the third holds is lost: r3 moves towards r1, and r2 a little away.
        let [one, two] = [663987, 912137];
        assert_eq!(chosen(&r1, &[r2, r3]), [(1, 750_000, two), (0, 500_000, one)]);
    }

    #[test]
    fn the_same_terms_are_one_and_no_shared_term_is_nothing() {
        assert_eq!(jaccard(&record(&[(1, 5), (2, 7)]), &record(&[(1, 9), (2, 1)])), Some(Score(1_000_000)));
        assert_eq!(jaccard(&record(&[(1, 5)]), &record(&[(2, 5)])), None);
        assert_eq!(jaccard(&record(&[]), &record(&[])), None);
    }

    #[test]
    fn pages_that_share_terms_and_not_their_weight_are_told_apart_in_the_plane() {
        let (a, b) = (page(&[(0, 9_000), (1, 100), (2, 100)]), page(&[(0, 100), (1, 9_000), (2, 100)]));
        assert_eq!(jaccard(&a.record, &b.record), Some(Score(1_000_000)));
        assert_eq!(chosen(&a, &[b]), []);
    }

    #[test]
    fn the_more_candidates_the_more_a_plane_brings_together() {
        // Alone its cosine is 0.32. Beside two pages that are heavy elsewhere, the plane has no room for
        // what tells it from the first.
        let probe = page(&[(0, 100), (1, 100), (2, 100), (3, 250)]);
        let odd = page(&[(0, 100), (1, 100), (2, 100), (4, 250)]);
        let heavy = page(&[(0, 100), (1, 100), (2, 100), (5, 1_000)]);
        assert_eq!(chosen(&probe, &[Arc::clone(&odd)]), []);
        let all = chosen(&probe, &[odd, Arc::clone(&heavy), heavy]);
        assert!(all.iter().any(|&(of, score, second)| (of, score) == (0, 600_000) && second > 999_000), "{all:?}");
    }

    #[test]
    fn at_most_64_candidates_get_a_column() {
        let stored: Vec<Arc<Page>> = (0..100).map(|own| page(&[(0, 500), (1, 400), (2 + own, 50)])).collect();
        let chosen = chosen(&page(&[(0, 500), (1, 400), (50, 50)]), &stored);
        assert_eq!(chosen.len(), COLUMNS);
        assert_eq!(chosen[0].0, 48, "the highest J comes first");
    }

    fn any_terms() -> impl Strategy<Value = Vec<(u32, u32)>> {
        prop::collection::vec((0u32..12, 1u32..1_000), 1..12)
    }

    proptest! {
        #[test]
        fn overlaps_of_equal_weights_are_at_least_j(a in any_terms(), b in any_terms()) {
            let (a, b) = (page(&a), page(&b));
            if let Some(found) = jaccard(&a.record, &b.record) {
                let [a, b] = [&a, &b].map(|page| Record::new(measure().filtered(page).into_owned()));
                prop_assert!(score(&a, &b) >= found);
            }
        }

        #[test]
        fn the_papers_filter_loses_no_j(pages in prop::collection::vec(any_terms(), 2..12), t in 0u32..=1_000_000) {
            let threshold = Threshold::from_millionths(t).unwrap();
            let measure = measure();
            for kind in [FilterKind::Paper, FilterKind::Exact] {
                let pages: Vec<Arc<Page>> = pages.iter().map(|terms| page(terms)).collect();
                let mut filter = kind.build();
                for (number, page) in (0..).map(Sequence).zip(&pages[1..]) {
                    filter.insert(number, &measure.filtered(page));
                }
                let mut candidates = Vec::new();
                filter.probe(&measure.filtered(&pages[0]), measure.lower_bound(threshold), &mut |candidate| {
                    candidates.push(candidate.id.index());
                    std::ops::ControlFlow::Continue(threshold)
                });
                for (number, other) in pages[1..].iter().enumerate() {
                    let is_match = measure.compare(&pages[0], other, threshold).is_some();
                    prop_assert!(!is_match || candidates.contains(&number), "{:?}", kind);
                }
            }
        }
    }
}
