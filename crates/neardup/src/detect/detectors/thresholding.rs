//! Dynamic thresholding: which of a page's terms are too light to be compared.
//!
//! MWO's paper asks for it and gives no formula ("terms whose weight is below T are dropped"). The formula is that of
//! "A Hybrid Model for Detection and Elimination of Near-Duplicates Based on Web Provenance for Effective Web
//! Search", section III.A.6, with `n` documents of which `d` is one:
//!
//! ```text
//! (2)  w_x     = W_x / average
//! (3)  average = (sum of the weights of the terms in d) / n
//! (4)  T       = (sum of the weights of the terms in d) / (sum of the weights of all documents)
//!      x is kept if w_x > T
//! ```
//!
//! | paper | here |
//! |---|---|
//! | `W_x` | a term's weight in its [`Record`], in hundredths; the unit cancels out |
//! | sum of the weights in `d`, `S` | [`Record::full_weight`] |
//! | number of documents, `n`; weight of all, `A` | [`CorpusTotals`] |
//!
//! **In integers.** `W_x · n / S > S / A` is `W_x > S² / (n·A)`, so the least weight that is kept is `⌊S² / (n·A)⌋ +
//! 1`. Only this number is rounded, without a loss, since weights are integers. With a fixed `T`, `W_x / S ≥ T` is
//! `W_x ≥ ⌈T·S⌉`.
//!
//! **Departures.** The paper has all documents at once. In a stream, `n` and `A` are those of the documents decided
//! so far and of this one. So what a page keeps depends on when it arrives; the log holds the least weight that
//! decided. Among few documents the formula drops nearly everything, so nothing is dropped among fewer than 20, the
//! paper's smallest collection. For documents of one length the least weight is `S / n²`: among a thousand it drops
//! terms only from documents that are many times longer than the others.

use std::fmt;
use std::io::{self, Read, Write};
use std::str::FromStr;

use crate::model::Threshold;
use crate::model::arrays::{read_number, write_number};
use crate::similarity::Record;

/// With fewer documents the paper's formula drops nothing.
const LEAST_DOCUMENTS: u64 = 20;

/// Whether light terms are dropped before a page is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Thresholding {
    /// Drops nothing: dropping can only lose information.
    #[default]
    Off,
    /// Drops terms with less than this share of the page's weight.
    Fixed(Threshold),
    /// Drops terms by the published formula.
    Paper,
}

/// A text that is no thresholding.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is neither off nor paper nor a share from 0 to 1 with at most six places, such as 0.001")]
pub struct ThresholdingError(String);

impl FromStr for Thresholding {
    type Err = ThresholdingError;

    fn from_str(text: &str) -> Result<Self, ThresholdingError> {
        match text {
            "off" => Ok(Self::Off),
            "paper" => Ok(Self::Paper),
            share => share.parse().map(Self::Fixed).map_err(|_| ThresholdingError(share.to_owned())),
        }
    }
}

impl fmt::Display for Thresholding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::Fixed(share) => share.fmt(f),
            Self::Paper => f.write_str("paper"),
        }
    }
}

/// The formula's statistics of a collection of documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CorpusTotals {
    documents: u64,
    /// Weight of all terms of all documents, in hundredths.
    weight: u64,
}

impl CorpusTotals {
    /// Adds one document.
    pub(super) fn with(self, record: &Record) -> Self {
        Self { documents: self.documents.saturating_add(1), weight: self.weight.saturating_add(record.full_weight()) }
    }

    /// Returns the least weight of a term that is kept, of a document of the collection: equations (2) to (4).
    pub(super) fn least_weight(self, record: &Record) -> u32 {
        let own = u128::from(record.full_weight());
        // Neither overflows: all three are below 2⁶⁴.
        let (square, all) = (own * own, u128::from(self.documents) * u128::from(self.weight));
        if self.documents < LEAST_DOCUMENTS {
            return 0;
        }
        square.checked_div(all).map_or(0, |lightest| clamped(lightest + 1))
    }
}

/// Drops light terms by its statistics.
#[derive(Debug)]
pub(super) struct TermThreshold {
    thresholding: Thresholding,
    totals: CorpusTotals,
}

impl TermThreshold {
    pub(super) fn new(thresholding: Thresholding) -> Self {
        Self { thresholding, totals: CorpusTotals::default() }
    }

    /// Returns the least weight of a term that is kept of this page, which is not in the statistics yet.
    pub(super) fn least_weight(&self, record: &Record) -> u32 {
        self.least_weight_among(self.totals.with(record), record)
    }

    /// Returns the same for a page that is in the statistics.
    #[cfg(feature = "baselines")]
    pub(super) fn least_weight_of_learned(&self, record: &Record) -> u32 {
        self.least_weight_among(self.totals, record)
    }

    fn least_weight_among(&self, totals: CorpusTotals, record: &Record) -> u32 {
        match self.thresholding {
            Thresholding::Off => 0,
            Thresholding::Fixed(share) => share_of(share, record),
            Thresholding::Paper => totals.least_weight(record),
        }
    }

    /// Adds a decided page, exact copies and near-duplicates too, with its full weight.
    pub(super) fn learn(&mut self, record: &Record) {
        self.totals = self.totals.with(record);
    }

    pub(super) fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        write_number(out, self.totals.documents)?;
        write_number(out, self.totals.weight)
    }

    pub(super) fn load(&mut self, input: &mut dyn Read) -> io::Result<()> {
        self.totals = CorpusTotals { documents: read_number(input)?, weight: read_number(input)? };
        Ok(())
    }
}

/// Returns the least weight that is this share of the page's.
fn share_of(share: Threshold, record: &Record) -> u32 {
    let product = u128::from(share.millionths()) * u128::from(record.full_weight());
    clamped(product.div_ceil(u128::from(Threshold::ONE)))
}

fn clamped(weight: u128) -> u32 {
    u32::try_from(weight).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TermId;

    fn record(weights: &[u32]) -> Record {
        Record::new((0..).map(TermId).zip(weights.iter().copied()).collect())
    }

    fn among(documents: u64, weight: u64) -> CorpusTotals {
        CorpusTotals { documents, weight }
    }

    #[test]
    fn equations_2_to_4_keep_what_is_above_the_threshold() {
        // S = 1000, n = 20, A = 10,000: average 50, T = 0.1, so that w_x > T means W_x > 5.
        let page = record(&[5, 6, 300, 689]);
        let totals = among(20, 10_000);
        assert_eq!(totals.least_weight(&page), 6);
        for (weight, kept) in [(5.0, false), (6.0, true)] {
            let (average, threshold) = (1000.0 / 20.0, 1000.0 / 10_000.0);
            assert_eq!(weight / average > threshold, kept);
        }
    }

    #[test]
    fn nothing_is_dropped_among_few_documents_and_little_among_many() {
        let page = record(&[1; 1000]);
        assert_eq!(among(19, 19_000).least_weight(&page), 0);
        assert_eq!(among(20, 20_000).least_weight(&page), 3, "S / n² is 2.5");
        assert_eq!(among(1000, 1_000_000).least_weight(&page), 1);
        assert_eq!(among(1000, 0).least_weight(&record(&[])), 0);
    }

    #[test]
    fn a_fixed_share_is_reached_by_what_equals_it() {
        let page = record(&[1, 10, 989]);
        let fixed = |text: &str| TermThreshold::new(text.parse().unwrap()).least_weight(&page);
        assert_eq!([fixed("off"), fixed("0"), fixed("0.01"), fixed("0.010001"), fixed("1")], [0, 0, 10, 11, 1000]);
    }

    #[test]
    fn what_was_dropped_still_counts_as_weight() {
        let page = record(&[100, 300]).without_lighter(200).without_lighter(250);
        assert_eq!((page.total(), page.full_weight()), (300, 400));
        let mut lightest = TermThreshold::new(Thresholding::Paper);
        lightest.learn(&page);
        assert_eq!(lightest.totals, among(1, 400));
        let mut bytes = Vec::new();
        lightest.save(&mut bytes).unwrap();
        let mut loaded = TermThreshold::new(Thresholding::Paper);
        loaded.load(&mut &bytes[..]).unwrap();
        assert_eq!(loaded.totals, lightest.totals);
    }

    #[test]
    fn a_thresholding_reads_back_as_itself() {
        for text in ["off", "paper", "0.001"] {
            assert_eq!(text.parse::<Thresholding>().unwrap().to_string(), text);
        }
        assert!("on".parse::<Thresholding>().unwrap_err().to_string().starts_with("'on' is neither off nor paper"));
    }

    #[test]
    fn the_heaviest_pages_do_not_overflow() {
        let heavy = record(&[u32::MAX; 4]);
        assert_eq!(among(u64::MAX, u64::MAX).least_weight(&heavy), 1);
        assert_eq!(share_of("1".parse().unwrap(), &heavy), u32::MAX);
    }
}
