//! How much of a page's text stands in no other page.
//!
//! The unit is the shingle, a run of four words, as the detector records them in the log. A menu stands in other pages,
//! so it is no new text.

use std::collections::HashMap;

use super::ReportError;
use crate::model::{PageRow, TermOrder, UrlId};
use crate::store::StoreReader;

/// The most shingles of lost pages in memory, some 9 bytes each. If there are more, they are sampled.
const MAX_SHINGLES: usize = 1 << 22;
/// Pages sampled to a higher level than this are treated as if they were sampled to it.
const MAX_LEVEL: u8 = 5;
/// The fewest shingles of a page that represent it.
const MIN_SAMPLE: usize = 16;

/// The share of new text of each lost page.
#[derive(Debug, Default)]
pub(super) struct NewText {
    shares: HashMap<UrlId, f64>,
    /// Whether the log has shingles.
    is_measured: bool,
}

impl NewText {
    /// Measures the text of lost pages that stands in no page that is kept. `is_lost` says for each stored page which of
    /// both it is.
    ///
    /// Cost: reads the records of all pages three times, if there is a lost page. Memory: 9 bytes for each shingle of
    /// lost pages, at most 40 MB.
    pub(super) fn measure(reader: &StoreReader, is_lost: impl Fn(UrlId) -> bool) -> Result<Self, ReportError> {
        let mut shingles = LostShingles::default();
        let mut is_any_lost = false;
        each_stored(reader, |row| match is_lost(row.url) {
            true => {
                is_any_lost = true;
                shingles.add(&row.order);
            }
            false => shingles.long_pages = shingles.long_pages.max(row.order.shingle_level.min(MAX_LEVEL)),
        })?;
        if !is_any_lost || shingles.in_kept.is_empty() {
            return Ok(Self::default());
        }
        each_stored(reader, |row| {
            if !is_lost(row.url) {
                shingles.mark(&row.order);
            }
        })?;
        let mut shares = HashMap::new();
        each_stored(reader, |row| {
            if is_lost(row.url) {
                shares.insert(row.url, shingles.new_share(&row.order));
            }
        })?;
        Ok(Self { shares, is_measured: true })
    }

    /// Returns the share of a lost page's text that is new, in [0, 1]. If the crawl recorded no shingles, a page is new
    /// as a whole.
    pub(super) fn share(&self, url: UrlId) -> f64 {
        let otherwise = if self.is_measured { 0.0 } else { 1.0 };
        self.shares.get(&url).copied().unwrap_or(otherwise)
    }
}

fn each_stored(reader: &StoreReader, mut visit: impl FnMut(PageRow)) -> Result<(), ReportError> {
    for row in reader.all_pages()? {
        let (_, row) = row?;
        if row.verdict.is_unique() {
            visit(row);
        }
    }
    Ok(())
}

/// The shingles of lost pages, each with whether a kept page has it.
#[derive(Default)]
struct LostShingles {
    in_kept: HashMap<u32, bool>,
    /// Leading zero bits of all shingles here.
    level: u32,
    /// The highest sampling level of kept pages, up to a limit. Shingles with fewer leading zero bits are missing there.
    long_pages: u8,
}

impl LostShingles {
    fn add(&mut self, order: &TermOrder) {
        let level = self.level;
        let visible = order.shingles.iter().filter(|shingle| shingle.leading_zeros() >= level);
        self.in_kept.extend(visible.map(|shingle| (*shingle, false)));
        while self.in_kept.len() > MAX_SHINGLES {
            self.level += 1;
            let level = self.level;
            self.in_kept.retain(|shingle, _| shingle.leading_zeros() >= level);
        }
    }

    fn mark(&mut self, order: &TermOrder) {
        for shingle in &order.shingles {
            if let Some(in_kept) = self.in_kept.get_mut(shingle) {
                *in_kept = true;
            }
        }
    }

    /// Returns the share of a lost page's shingles that no kept page has.
    fn new_share(&self, order: &TermOrder) -> f64 {
        let of_level = |level: u32| {
            let visible = order.shingles.iter().filter(move |shingle| shingle.leading_zeros() >= level);
            let known: Vec<bool> = visible.filter_map(|shingle| self.in_kept.get(shingle).copied()).collect();
            known
        };
        let mut known = of_level(u32::from(self.long_pages));
        if known.len() < MIN_SAMPLE {
            known = of_level(0);
        }
        let new = known.iter().filter(|in_kept| !**in_kept).count();
        new as f64 / known.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(shingles: impl IntoIterator<Item = u32>, level: u8) -> TermOrder {
        TermOrder { shingles: shingles.into_iter().collect(), shingle_level: level, ..TermOrder::default() }
    }

    /// Shingles spread over all 32 bits.
    fn spread(numbers: std::ops::Range<u32>) -> Vec<u32> {
        numbers.map(|number| number.wrapping_mul(0x9E37_79B9)).collect()
    }

    #[test]
    fn a_page_is_as_new_as_its_shingles() {
        let mut shingles = LostShingles::default();
        let lost = order(spread(0..400), 0);
        shingles.add(&lost);
        assert_eq!(shingles.new_share(&lost), 1.0);
        shingles.mark(&order(spread(0..300), 0));
        assert_eq!(shingles.new_share(&lost), 0.25);
        assert_eq!(shingles.new_share(&order([], 0)), 0.0);
    }

    #[test]
    fn what_a_long_page_has_is_not_new_because_its_record_is_a_sample() {
        let mut shingles = LostShingles { long_pages: 2, ..LostShingles::default() };
        let lost = order(spread(0..400), 0);
        shingles.add(&lost);
        let sampled = spread(0..400).into_iter().filter(|shingle| shingle.leading_zeros() >= 2);
        shingles.mark(&order(sampled, 2));
        assert_eq!(shingles.new_share(&lost), 0.0);
    }
}
