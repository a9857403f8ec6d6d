//! How much of a page's text stands in no other page.
//!
//! The unit is a run of four words, as the detector records them in the log. A menu stands in other pages, so it is no new
//! text.

use std::collections::HashMap;

use super::ReportError;
use ndcrawl_model::{PageRow, RunningText, UrlId};
use ndcrawl_store::StoreReader;

/// The most runs of lost pages in memory, some 18 bytes each. If there are more, they are sampled.
const MOST_RUNS: usize = 1 << 21;

/// The share of new text of each lost page.
#[derive(Debug, Default)]
pub(super) struct NewText {
    shares: HashMap<UrlId, f64>,
    /// Whether the log has running text.
    is_measured: bool,
}

impl NewText {
    /// Measures the text of lost pages that stands in no page that is kept. `is_lost` says for each stored page which of
    /// both it is.
    ///
    /// Cost: reads the records of all pages three times, if there is a lost page. Memory: 18 bytes for each run of lost
    /// pages, at most 40 MB.
    pub(super) fn measure(reader: &StoreReader, is_lost: impl Fn(UrlId) -> bool) -> Result<Self, ReportError> {
        let mut runs = LostRuns::default();
        each_stored(reader, |row| {
            if is_lost(row.url) {
                runs.add(&row.order.text);
            }
        })?;
        if runs.in_kept.is_empty() {
            return Ok(Self::default());
        }
        each_stored(reader, |row| {
            if !is_lost(row.url) {
                runs.mark(&row.order.text);
            }
        })?;
        let mut shares = HashMap::new();
        each_stored(reader, |row| {
            if is_lost(row.url) {
                shares.insert(row.url, runs.new_share(&row.order.text));
            }
        })?;
        Ok(Self { shares, is_measured: true })
    }

    /// Returns the share of a lost page's text that is new, in [0, 1]. If the crawl recorded no running text, a page is new
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

/// The runs of lost pages, each with whether a kept page has it.
#[derive(Default)]
struct LostRuns {
    in_kept: HashMap<u64, bool>,
    /// Leading zero bits of all runs here.
    level: u32,
}

impl LostRuns {
    fn add(&mut self, text: &RunningText) {
        let level = self.level;
        self.in_kept.extend(text.runs().filter(|run| run.leading_zeros() >= level).map(|run| (run, false)));
        while self.in_kept.len() > MOST_RUNS {
            self.level += 1;
            let level = self.level;
            self.in_kept.retain(|run, _| run.leading_zeros() >= level);
        }
    }

    fn mark(&mut self, text: &RunningText) {
        for run in text.runs() {
            if let Some(in_kept) = self.in_kept.get_mut(&run) {
                *in_kept = true;
            }
        }
    }

    /// Returns the share of a lost page's runs that no kept page has.
    fn new_share(&self, text: &RunningText) -> f64 {
        let known: Vec<bool> = text.runs().filter_map(|run| self.in_kept.get(&run).copied()).collect();
        let new = known.iter().filter(|in_kept| !**in_kept).count();
        new as f64 / known.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(words: std::ops::Range<u32>) -> RunningText {
        RunningText { words: words.map(|word| word.wrapping_mul(0x9E37_79B9)).collect(), name: Vec::new() }
    }

    #[test]
    fn a_page_is_as_new_as_its_runs() {
        let mut runs = LostRuns::default();
        let lost = text(0..403);
        runs.add(&lost);
        assert_eq!(runs.new_share(&lost), 1.0);
        runs.mark(&text(0..303));
        assert_eq!(runs.new_share(&lost), 0.25);
        assert_eq!(runs.new_share(&text(0..0)), 0.0);
    }
}
