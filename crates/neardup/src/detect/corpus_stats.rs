//! Corpus statistics that a detector learns from decided pages, updated at fixed page numbers.

use std::io::{self, Read, Write};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Options;
use super::detectors::{self, Measure};
use super::page_match::Page;
use crate::model::arrays::{invalid, read_array, write_array};
use crate::model::{DecidedBy, PageInput, PageTerms, Sequence, TermId, TermOrder, Verdict};
use crate::similarity::Record;

/// A measure, and the decided pages that it learns at the next update.
pub(super) struct CorpusStats {
    measure: Box<dyn Measure>,
    pending: Vec<PendingLesson>,
}

struct PendingLesson {
    number: Sequence,
    page: Arc<Page>,
    is_subject: bool,
    is_compared: bool,
}

/// A pending page in a snapshot.
#[derive(Serialize, Deserialize)]
struct SavedLesson {
    number: Sequence,
    group: u32,
    terms: Vec<(TermId, u32)>,
    full_weight: u64,
    order: TermOrder,
    is_subject: bool,
    is_compared: bool,
}

/// Returns whether a decided page is a document of a subject of its own. If it says what others say, that is common sooner;
/// so a page that repeats what it repeated before, or was chosen among copies, does not count once more.
pub(super) fn is_subject(verdict: &Verdict, renews: Option<Sequence>, rank: u8) -> bool {
    match *verdict {
        Verdict::Unique => renews.is_none() || rank != PageInput::CHOSEN,
        Verdict::NearDuplicate { difference, decided_by: DecidedBy::Similarity, .. } => {
            renews.is_none() && difference.is_some_and(|difference| difference.has_own_subject)
        }
        Verdict::NearDuplicate { .. } | Verdict::ExactDuplicate { .. } => false,
    }
}

impl CorpusStats {
    /// Creates empty statistics; `None` if the detector compares nothing.
    pub(super) fn new(options: &Options) -> Option<Self> {
        detectors::build(options).map(|measure| Self { measure, pending: Vec::new() })
    }

    /// Returns a page as the detector sees it, and the least weight that its terms must have.
    pub(super) fn weigh(&self, options: &Options, group: u32, terms: &PageTerms, order: TermOrder) -> (Page, u32) {
        let record = Record::from_counts(terms, &options.weights);
        let least_weight = self.measure.least_weight(&record);
        (Page { group, record: record.without_lighter(least_weight), order }, least_weight)
    }

    pub(super) fn measure(&self) -> &dyn Measure {
        &*self.measure
    }

    /// Keeps a decided page for the next update.
    pub(super) fn add(&mut self, number: Sequence, page: &Arc<Page>, is_subject: bool, is_compared: bool) {
        self.pending.push(PendingLesson { number, page: Arc::clone(page), is_subject, is_compared });
    }

    /// Learns from all pages decided since the last update.
    pub(super) fn apply_pending(&mut self) {
        for lesson in self.pending.drain(..) {
            self.measure.learn(lesson.number, &lesson.page, lesson.is_subject, lesson.is_compared);
        }
    }

    pub(super) fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        let row = |lesson: &PendingLesson| SavedLesson {
            number: lesson.number,
            group: lesson.page.group,
            terms: lesson.page.record.terms().to_vec(),
            full_weight: lesson.page.record.full_weight(),
            order: lesson.page.order.clone(),
            is_subject: lesson.is_subject,
            is_compared: lesson.is_compared,
        };
        let rows: Vec<SavedLesson> = self.pending.iter().map(row).collect();
        write_array(out, &postcard::to_stdvec(&rows).map_err(io::Error::other)?)?;
        self.measure.save(out)
    }

    pub(super) fn load(&mut self, input: &mut dyn Read) -> io::Result<()> {
        let rows: Vec<u8> = read_array(input)?;
        let rows: Vec<SavedLesson> =
            postcard::from_bytes(&rows).map_err(|_| invalid("pending pages of the corpus statistics can't be read"))?;
        let lesson = |row: SavedLesson| {
            let record = Record::new(row.terms).with_full_weight(row.full_weight);
            let page = Page { group: row.group, record, order: row.order };
            PendingLesson {
                number: row.number,
                page: Arc::new(page),
                is_subject: row.is_subject,
                is_compared: row.is_compared,
            }
        };
        self.pending = rows.into_iter().map(lesson).collect();
        self.measure.load(input)
    }
}
