//! *Which pages of a crawl stand for all at another threshold?*

use std::collections::{BTreeMap, HashMap};

use xxhash_rust::xxh3::xxh3_64;

use ndcrawl_model::Sequence;
use ndcrawl_store::StoreReader;

use super::{CurveEffort, ReportError};

/// Pages that are replayed, in the order of their arrival.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CurveSample {
    /// Pages of the crawl.
    pub of: u32,
    pub pages: Vec<Sequence>,
    /// Whether each page is one of the sample. The others are there since one of the sample may repeat them.
    pub counted: Vec<bool>,
}

/// The pages that one may repeat: the first of its cluster, and the last one of it that came before.
type Likely = [Option<Sequence>; 2];

impl CurveSample {
    /// Draws a sample, the same at each call.
    pub fn of(reader: &StoreReader, effort: CurveEffort) -> Result<Self, ReportError> {
        let all = likely(reader)?;
        Ok(Self::drawn(&all, effort.pages(u32::try_from(all.len()).unwrap_or(u32::MAX)) as usize))
    }

    fn drawn(all: &BTreeMap<Sequence, Likely>, pages: usize) -> Self {
        let mut ranked: Vec<Sequence> = all.keys().copied().collect();
        if pages < ranked.len() {
            ranked.sort_by_key(|page| xxh3_64(&page.0.to_le_bytes()));
            ranked.truncate(pages);
        }
        let mut drawn: BTreeMap<Sequence, bool> = BTreeMap::new();
        for page in ranked {
            for other in all[&page].iter().flatten() {
                drawn.entry(*other).or_insert(false);
            }
            drawn.insert(page, true);
        }
        let of = u32::try_from(all.len()).unwrap_or(u32::MAX);
        Self { of, pages: drawn.keys().copied().collect(), counted: drawn.into_values().collect() }
    }
}

/// Returns each page once, under the number of its first verdict, with those that it repeats by the last one.
fn likely(reader: &StoreReader) -> Result<BTreeMap<Sequence, Likely>, ReportError> {
    let (mut firsts, mut clusters) = (HashMap::new(), BTreeMap::new());
    for row in reader.all_pages()? {
        let (number, row) = row?;
        let first = row.renews.map_or(number, |renews| *firsts.get(&renews).unwrap_or(&renews));
        if first != number {
            firsts.insert(number, first);
        }
        let kept = row.verdict.duplicate_of().unwrap_or(first);
        clusters.insert(first, *firsts.get(&kept).unwrap_or(&kept));
    }
    // The page that is kept may have come later than a copy of it.
    let mut ends: HashMap<Sequence, (Sequence, Sequence)> = HashMap::new();
    let likely = |(page, kept): (Sequence, Sequence)| {
        let ends = ends.entry(kept).or_insert((page, page));
        let (first, last) = (ends.0, std::mem::replace(&mut ends.1, page));
        (page, [first, last].map(|other| Some(other).filter(|other| *other != page)))
    };
    Ok(clusters.into_iter().map(likely).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_of_the_whole_crawl_and_has_what_its_pages_repeat() {
        let repeats =
            |page: u32| [(!page.is_multiple_of(10)).then_some(page - page % 10), (page % 10 > 1).then(|| page - 1)];
        let all: BTreeMap<Sequence, Likely> =
            (0..1000).map(|page| (Sequence(page), repeats(page).map(|other| other.map(Sequence)))).collect();
        let sample = CurveSample::drawn(&all, 100);
        let counted: Vec<u32> =
            sample.pages.iter().zip(&sample.counted).filter(|(_, is)| **is).map(|(page, _)| page.0).collect();
        assert_eq!(counted.len(), 100);
        assert!((35..65).contains(&counted.iter().filter(|page| **page < 500).count()), "{counted:?}");
        let is_there = |page: u32| sample.pages.binary_search(&Sequence(page)).is_ok();
        assert!(counted.iter().all(|page| repeats(*page).into_iter().flatten().all(is_there)));
        assert!(sample.pages.len() < 300 && sample.pages.is_sorted());
        let whole = CurveSample::drawn(&all, 1000);
        assert!(whole.pages.len() == 1000 && whole.counted.iter().all(|is| *is));
        assert_eq!(CurveSample::drawn(&all, 0), CurveSample { of: 1000, ..CurveSample::default() });
    }
}
