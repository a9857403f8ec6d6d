//! Rows of a log, for tests.

use crate::model::{Digest, Judged, JudgedPage, PageId, PageInput, PageTerms, Sequence, TermOrder, Verdict};

/// A [`JudgedPage`] that owns its terms.
#[derive(Clone, Debug)]
pub(super) struct LogRow {
    pub page: PageId,
    pub group: u32,
    pub body_digest: Digest,
    pub text_digest: Option<Digest>,
    pub verdict: Verdict,
    pub terms: PageTerms,
    pub least_weight: u32,
    pub order: TermOrder,
    pub renews: Option<Sequence>,
    pub rank: u8,
}

impl LogRow {
    pub fn new(input: &PageInput, judged: &Judged) -> Self {
        Self {
            page: input.page,
            group: input.group,
            body_digest: input.body_digest,
            text_digest: input.text_digest,
            verdict: judged.verdict,
            terms: judged.terms.clone(),
            least_weight: judged.least_weight,
            order: judged.order.clone(),
            renews: input.renews,
            rank: input.rank,
        }
    }

    pub fn judged(&self) -> JudgedPage<'_> {
        JudgedPage {
            page: self.page,
            group: self.group,
            body_digest: self.body_digest,
            text_digest: self.text_digest,
            verdict: self.verdict,
            terms: &self.terms,
            least_weight: self.least_weight,
            order: &self.order,
            renews: self.renews,
            rank: self.rank,
        }
    }
}

/// The rows of pages in the order of their decisions.
pub(super) fn log_of(pages: &[PageInput], judged: &[Judged]) -> Vec<LogRow> {
    pages.iter().zip(judged).map(|(page, judged)| LogRow::new(page, judged)).collect()
}

/// The rows as the detector reads them.
pub(super) fn judged_pages(rows: &[LogRow]) -> Vec<JudgedPage<'_>> {
    rows.iter().map(LogRow::judged).collect()
}
