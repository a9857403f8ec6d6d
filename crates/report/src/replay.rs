//! Replays the decisions of a crawl: what would another threshold have stored?
//!
//! The log holds the record of every judged page. The replay gives these records to a decider of the same kind, in
//! their order of arrival, with another threshold. If the crawl followed all links, the result is exact: its pages do
//! not depend on its verdicts. If it skipped links of duplicates, another threshold would have met other pages, so the
//! result holds for the pages met.
//!
//! A template-aware detector learns its hosts during the crawl. So the replay judges early near-duplicates again at the
//! end, as the crawl does.
//!
//! The curve counts a random sample of the pages of the whole crawl. A page alone in a sample would seem unique, so the
//! first page of the cluster of each is replayed, too, and the one of it that came last before. At the crawl's own
//! threshold the sample then has the crawl's verdicts. At others, copies of pages outside the sample are not found, so
//! the shares of duplicates are at least those.
//!
//! Cost: one pass over the log, and for each threshold one decision a page. Memory: the decoded pages, some 2 KiB each,
//! and for each thread an index, about 700 bytes a stored page.

use std::sync::PoisonError;

use ndcrawl_engine::pipeline::PageRecordError;
use ndcrawl_model::{JudgedPage, PageId, PageRow, Sequence, TermRow, Threshold, Verdict};
use ndcrawl_store::StoreReader;
use neardup::detect::{Decider, Options};

use super::curve_sample::CurveSample;
use super::replay_pages::{DecidedPlaces, ReplayPages, ReplayRecords};
use super::{CurveEffort, ReportError};

/// Pages in one batch. Verdicts do not depend on it.
const BATCH: usize = 256;

/// Thresholds of the curve, in millionths: for detectors with high thresholds, and for the others.
const HIGH: [u32; 8] = [500_000, 600_000, 700_000, 750_000, 800_000, 850_000, 900_000, 950_000];
const LOW: [u32; 8] = [100_000, 200_000, 300_000, 400_000, 500_000, 600_000, 700_000, 800_000];

/// Number of pages by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerdictCounts {
    /// Unique pages.
    pub stored: u64,
    /// Near-duplicates.
    pub near: u64,
    /// Exact duplicates.
    pub exact: u64,
}

impl VerdictCounts {
    /// Counts verdicts.
    pub fn of(verdicts: impl IntoIterator<Item = Verdict>) -> Self {
        let mut counts = Self::default();
        for verdict in verdicts {
            *match verdict {
                Verdict::Unique => &mut counts.stored,
                Verdict::NearDuplicate { .. } => &mut counts.near,
                Verdict::ExactDuplicate { .. } => &mut counts.exact,
            } += 1;
        }
        counts
    }

    /// Returns the share of duplicates; `None` without pages.
    pub fn rate(&self) -> Option<f64> {
        let copies = self.near + self.exact;
        (copies + self.stored > 0).then(|| copies as f64 / (copies + self.stored) as f64)
    }
}

/// A point of the threshold curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CurvePoint {
    /// The threshold.
    pub threshold: Threshold,
    /// Pages by verdict at this threshold.
    pub counts: VerdictCounts,
}

/// Verdicts of the same pages at several thresholds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThresholdCurve {
    /// Points by ascending threshold, with the crawl's own threshold.
    pub points: Vec<CurvePoint>,
    /// Pages of the sample, which the points count.
    pub pages: u32,
    /// Pages judged by the crawl.
    pub of: u32,
}

/// Replays the decisions on `pages` in this order and returns the verdict on each.
///
/// As at the end of a crawl, pages judged near-duplicates too early are judged again.
///
/// # Errors
/// If the log cannot be read or refers to missing terms.
pub fn replay_verdicts(
    reader: &StoreReader,
    terms: &[TermRow],
    options: &Options,
    pages: &[Sequence],
) -> Result<Vec<Verdict>, ReportError> {
    replay(&read(reader, pages)?, terms, options)
}

/// Reads these pages from the log.
fn read(reader: &StoreReader, pages: &[Sequence]) -> Result<ReplayPages, ReportError> {
    let row = |number: &Sequence| -> Result<PageRow, ReportError> {
        let row = reader.page(*number)?.ok_or(PageRecordError::Missing(*number))?;
        Ok(PageRow { links: Vec::new(), ..row })
    };
    Ok(ReplayPages::new(pages.iter().map(row).collect::<Result<_, _>>()?))
}

/// Replays the decisions on pages that are in memory.
fn replay(pages: &ReplayPages, terms: &[TermRow], options: &Options) -> Result<Vec<Verdict>, ReportError> {
    let places = DecidedPlaces::default();
    let source = ReplayRecords { pages: pages.clone(), places: places.clone() };
    let mut replay = Replay { decider: Decider::new(options.clone(), source), pages, places };
    // The decider must number terms as the log does, since it reads the records of the log.
    for term in terms {
        replay.decider.restore_term(term)?;
    }
    let all: Vec<usize> = (0..pages.len()).collect();
    let mut verdicts = Vec::with_capacity(pages.len());
    for batch in all.chunks(BATCH) {
        verdicts.extend(replay.decide(batch, |_| None)?);
    }
    let outdated = replay.decider.outdated_duplicates(Sequence(0))?;
    for batch in outdated.chunks(BATCH) {
        let again: Vec<usize> = batch.iter().map(|number| number.index()).collect();
        let renewed = replay.decide(&again, |place| Some(batch[place]))?;
        for (number, verdict) in batch.iter().zip(renewed) {
            verdicts[number.index()] = verdict;
        }
    }
    Ok(verdicts)
}

/// A decider and the pages that feed it.
struct Replay<'a> {
    decider: Decider<ReplayRecords>,
    pages: &'a ReplayPages,
    places: DecidedPlaces,
}

impl Replay<'_> {
    /// Decides a batch of pages by their places. `renews` gives the earlier sequence number of a page of the batch.
    fn decide(
        &mut self,
        batch: &[usize],
        renews: impl Fn(usize) -> Option<Sequence>,
    ) -> Result<Vec<Verdict>, ReportError> {
        let mut judged = Vec::with_capacity(batch.len());
        for (number, place) in batch.iter().enumerate() {
            let row = self.pages.get(*place).ok_or(PageRecordError::Missing(Sequence(*place as u32)))?;
            let renews = renews(number);
            // Under its own ID the decider would take the page for a redelivery.
            let page = renews.map_or(row.page, |_| PageId::new("revision", &row.page.0.to_string(), 1));
            // Which of two copies is the stored one changes no count.
            judged.push(JudgedPage { page, renews, rank: 0, ..row.judged() });
        }
        let up_to = {
            let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
            places.extend(batch);
            Sequence(u32::try_from(places.len()).unwrap_or(u32::MAX))
        };
        let judged = self.decider.decide_logged(judged)?;
        self.decider.committed(up_to);
        Ok(judged.iter().map(|judged| judged.verdict).collect())
    }
}

/// Computes the threshold curve over a sample of the pages of a log.
///
/// Thresholds are replayed in parallel on all cores.
///
/// # Errors
/// As [`replay_verdicts`].
pub fn threshold_curve(
    reader: &StoreReader,
    options: &Options,
    effort: CurveEffort,
) -> Result<ThresholdCurve, ReportError> {
    let sample = CurveSample::of(reader, effort)?;
    let of = sample.of;
    let pages = u32::try_from(sample.counted.iter().filter(|is_counted| **is_counted).count()).unwrap_or(u32::MAX);
    if pages == 0 {
        return Ok(ThresholdCurve { of, ..ThresholdCurve::default() });
    }
    let terms: Vec<TermRow> = reader.all_terms()?.map(|row| Ok(row?.1)).collect::<Result<_, ReportError>>()?;
    let rows = read(reader, &sample.pages)?;
    let thresholds = thresholds(options.threshold, effort.step(of));
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(thresholds.len());
    let share = |offset: usize| -> Result<Vec<CurvePoint>, ReportError> {
        let own = thresholds.iter().skip(offset).step_by(threads);
        let point = |&threshold| {
            let options = Options { threshold, ..options.clone() };
            let verdicts = replay(&rows, &terms, &options)?;
            let counted = verdicts.into_iter().zip(&sample.counted).filter(|(_, is_counted)| **is_counted);
            Ok(CurvePoint { threshold, counts: VerdictCounts::of(counted.map(|(verdict, _)| verdict)) })
        };
        own.map(point).collect()
    };
    let share = &share;
    let shares: Vec<_> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|offset| scope.spawn(move || share(offset))).collect();
        let mut shares = vec![share(0)];
        for other in others {
            shares.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        shares
    });
    let mut points: Vec<CurvePoint> =
        shares.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
    points.sort_by_key(|point| point.threshold);
    Ok(ThresholdCurve { points, pages, of })
}

/// Returns every `step`-th threshold of the curve, with the crawl's own.
fn thresholds(own: Threshold, step: usize) -> Vec<Threshold> {
    let others = if own.millionths() >= HIGH[1] { HIGH } else { LOW };
    let others = others.into_iter().step_by(step);
    let mut thresholds: Vec<Threshold> = others.filter_map(Threshold::from_millionths).collect();
    thresholds.push(own);
    thresholds.sort();
    thresholds.dedup();
    thresholds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crawls_own_threshold_is_among_those_of_the_curve() {
        for (own, many) in [(680_000, 9), (800_000, 8), (50_000, 9), (1_000_000, 9)] {
            let own = Threshold::from_millionths(own).unwrap();
            let thresholds = thresholds(own, 1);
            assert!(thresholds.contains(&own) && thresholds.is_sorted() && thresholds.len() == many, "{thresholds:?}");
            let few = super::thresholds(own, 2);
            assert!(few.contains(&own) && few.iter().all(|one| thresholds.contains(one)), "{few:?}");
        }
    }

    #[test]
    fn the_rate_is_of_all_pages() {
        let of = ndcrawl_model::DecidedBy::BodyDigest;
        let copy = Verdict::ExactDuplicate { of: Sequence(0), decided_by: of };
        assert_eq!(VerdictCounts::of([Verdict::Unique, copy, copy, Verdict::Unique]).rate(), Some(0.5));
        assert_eq!(VerdictCounts::default().rate(), None);
    }
}
