//! The pages of a crawl, decided anew: what would another threshold have stored?
//!
//! The log has the record of every judged page, duplicates too. So the same pages can be handed to a decider of the
//! same kind in the order of their arrival, with another threshold. Of a crawl that followed all links that is what the
//! crawl would have decided: its pages do not depend on its verdicts. A crawl that skipped the links of duplicates
//! would have gone elsewhere with another threshold, so there it tells of these pages only.
//!
//! A detector that knows its hosts only in the course of the crawl changes its mind at the end: pages that it took for
//! near-duplicates too early are judged again, here as there.
//!
//! Cost: one pass over the log and one decision a page for each threshold. Stored records are read back from the log,
//! so that memory goes by the index, some 700 bytes a stored page, not by the pages.

use std::sync::{Arc, Mutex, PoisonError};

use crate::detect::{Decider, LoggedPage, Options, RecordSource};
use crate::model::{PageId, PageRow, Sequence, TermRow, Threshold, Verdict};
use crate::pipeline::{RecordError, Records};
use crate::store::StoreReader;

use super::ReportError;

/// Pages that are handed over at once. Verdicts do not depend on it.
const BATCH: usize = 256;

/// The thresholds at which pages are decided anew: for detectors that are used high up, and for the others.
const HIGH: [u32; 8] = [500_000, 600_000, 700_000, 750_000, 800_000, 850_000, 900_000, 950_000];
const LOW: [u32; 8] = [100_000, 200_000, 300_000, 400_000, 500_000, 600_000, 700_000, 800_000];

/// What a threshold makes of the pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decided {
    /// Unique pages.
    pub stored: u64,
    /// Near-duplicates.
    pub near: u64,
    /// Exact duplicates.
    pub exact: u64,
}

impl Decided {
    /// Counts verdicts.
    pub fn of(verdicts: impl IntoIterator<Item = Verdict>) -> Self {
        let mut decided = Self::default();
        for verdict in verdicts {
            *match verdict {
                Verdict::Unique => &mut decided.stored,
                Verdict::NearDuplicate { .. } => &mut decided.near,
                Verdict::ExactDuplicate { .. } => &mut decided.exact,
            } += 1;
        }
        decided
    }

    /// The share of duplicates; `None` of no pages.
    pub fn rate(&self) -> Option<f64> {
        let copies = self.near + self.exact;
        (copies + self.stored > 0).then(|| copies as f64 / (copies + self.stored) as f64)
    }
}

/// A point of the curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CurvePoint {
    /// Where.
    pub threshold: Threshold,
    /// What came of it.
    pub decided: Decided,
}

/// The rate of duplicates against the threshold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Curve {
    /// By rising threshold; that of the crawl is among them.
    pub points: Vec<CurvePoint>,
    /// Pages that were decided, the first that arrived.
    pub pages: u32,
    /// Pages that the crawl judged.
    pub of: u32,
}

/// The pages of a log, each once, in the order in which they were judged first.
///
/// # Errors
/// If the log can't be read.
pub fn first_judged(reader: &StoreReader) -> Result<Vec<Sequence>, ReportError> {
    let rows = reader.all_pages()?.map(|row| row.map(|(number, row)| row.renews.is_none().then_some(number)));
    Ok(rows.filter_map(Result::transpose).collect::<Result<_, _>>()?)
}

/// Decides pages of a log anew, in this order, and gives the verdict on each. As at the end of a crawl, those that were
/// taken for near-duplicates too early are judged once more.
///
/// # Errors
/// If the log can't be read, or speaks of terms that are not there.
pub fn decide_anew(
    reader: &StoreReader,
    terms: &[TermRow],
    options: &Options,
    pages: &[Sequence],
) -> Result<Vec<Verdict>, ReportError> {
    let numbers = Numbers::default();
    let source = Renumbered { records: Records::new(reader.clone()), numbers: numbers.clone() };
    let mut anew = Anew { decider: Decider::new(options.clone(), source), reader, numbers };
    // Terms have the numbers that the log gives them: records are taken from it, and can be read back.
    for term in terms {
        anew.decider.restore_term(term)?;
    }
    let mut verdicts = Vec::with_capacity(pages.len());
    for batch in pages.chunks(BATCH) {
        verdicts.extend(anew.decide(batch, |_| None)?);
    }
    let outgrown = anew.decider.outgrown(Sequence(0))?;
    for batch in outgrown.chunks(BATCH) {
        let again: Vec<Sequence> = batch.iter().filter_map(|number| pages.get(number.index()).copied()).collect();
        let renewed = anew.decide(&again, |place| Some(batch[place]))?;
        for (number, verdict) in batch.iter().zip(renewed) {
            verdicts[number.index()] = verdict;
        }
    }
    Ok(verdicts)
}

/// The numbers that the log gives to the pages that are decided anew.
type Numbers = Arc<Mutex<Vec<Sequence>>>;

/// A decider and what it is fed from.
struct Anew<'a> {
    decider: Decider<Renumbered>,
    reader: &'a StoreReader,
    numbers: Numbers,
}

impl Anew<'_> {
    /// Hands pages over; `renews` says, by their places, what they were judged before.
    fn decide(
        &mut self,
        pages: &[Sequence],
        renews: impl Fn(usize) -> Option<Sequence>,
    ) -> Result<Vec<Verdict>, ReportError> {
        let mut rows = Vec::with_capacity(pages.len());
        for (place, number) in pages.iter().enumerate() {
            let row = self.reader.page(*number)?.ok_or(RecordError::Missing(*number))?;
            let renews = renews(place);
            // Under its own name it would be known.
            let page = renews.map_or(row.page, |_| PageId::new("anew", &row.page.0.to_string(), 1));
            rows.push(PageRow { page, renews, ..row });
        }
        let up_to = {
            let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
            numbers.extend(pages);
            Sequence(u32::try_from(numbers.len()).unwrap_or(u32::MAX))
        };
        let judged = self.decider.decide_logged(rows.iter().map(PageRow::judged).collect())?;
        self.decider.committed(up_to);
        Ok(judged.iter().map(|judged| judged.verdict).collect())
    }
}

/// The log of records, by the numbers of a decider that judges its pages anew.
struct Renumbered {
    records: Records,
    numbers: Numbers,
}

impl RecordSource for Renumbered {
    type Error = RecordError;

    fn page(&self, page: Sequence) -> Result<LoggedPage, RecordError> {
        let numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let logged = numbers.get(page.index()).copied().ok_or(RecordError::Missing(page))?;
        drop(numbers);
        self.records.page(logged)
    }
}

/// The curve over the first pages of a log, at most so many; several thresholds at a time, on all cores.
///
/// # Errors
/// As [`decide_anew`].
pub fn curve(reader: &StoreReader, options: &Options, most: u32) -> Result<Curve, ReportError> {
    let mut first = first_judged(reader)?;
    let of = u32::try_from(first.len()).unwrap_or(u32::MAX);
    first.truncate(most as usize);
    let pages = u32::try_from(first.len()).unwrap_or(u32::MAX);
    if first.is_empty() {
        return Ok(Curve { of, ..Curve::default() });
    }
    let terms: Vec<TermRow> = reader.all_terms()?.map(|row| Ok(row?.1)).collect::<Result<_, ReportError>>()?;
    let thresholds = thresholds(options.threshold);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(thresholds.len());
    let share = |offset: usize| -> Result<Vec<CurvePoint>, ReportError> {
        let own = thresholds.iter().skip(offset).step_by(threads);
        let point = |&threshold| {
            let options = Options { threshold, ..options.clone() };
            let verdicts = decide_anew(reader, &terms, &options, &first)?;
            Ok(CurvePoint { threshold, decided: Decided::of(verdicts) })
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
    Ok(Curve { points, pages, of })
}

/// Those at which it is decided anew, the crawl's own among them.
fn thresholds(own: Threshold) -> Vec<Threshold> {
    let others = if own.millionths() >= HIGH[1] { HIGH } else { LOW };
    let mut thresholds: Vec<Threshold> = others.into_iter().filter_map(Threshold::from_millionths).collect();
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
            let thresholds = thresholds(own);
            assert!(thresholds.contains(&own) && thresholds.is_sorted() && thresholds.len() == many, "{thresholds:?}");
        }
    }

    #[test]
    fn the_rate_is_of_all_pages() {
        let of = crate::model::DecidedBy::BodyDigest;
        let copy = Verdict::ExactDuplicate { of: Sequence(0), decided_by: of };
        assert_eq!(Decided::of([Verdict::Unique, copy, copy, Verdict::Unique]).rate(), Some(0.5));
        assert_eq!(Decided::default().rate(), None);
    }
}
