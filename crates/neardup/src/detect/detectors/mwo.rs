//! Minimum weight overlapping (`mwo`, section 3 of "Web Document Duplicate Detection Using Minimum Weight
//! Overlapping").
//!
//! The measure is [`similarity`](crate::similarity). The index sees a page as its record, and its lower bound is the
//! threshold. Dynamic thresholding, if enabled, comes first ([`thresholding`](super::thresholding)); a record is then
//! normalized by what is left of it.

use std::io::{self, Read, Write};

use super::Measure;
use super::thresholding::{TermThreshold, Thresholding};
use crate::detect::page_match::{Page, Similarity};
use crate::model::{Sequence, Threshold};
use crate::similarity::{Record, score_reaching};

/// Compares by the paper's weights alone.
#[derive(Debug)]
pub(super) struct Mwo {
    lightest: TermThreshold,
}

impl Mwo {
    pub(super) fn new(thresholding: Thresholding) -> Self {
        Self { lightest: TermThreshold::new(thresholding) }
    }
}

impl Measure for Mwo {
    fn least_weight(&self, record: &Record) -> u32 {
        self.lightest.least_weight(record)
    }

    fn bounds_are_scores(&self) -> bool {
        true
    }

    fn compare(&self, probe: &Page, stored: &Page, bar: Threshold) -> Option<Similarity> {
        score_reaching(&probe.record, &stored.record, bar).map(|score| Similarity {
            score,
            second: None,
            difference: None,
        })
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
