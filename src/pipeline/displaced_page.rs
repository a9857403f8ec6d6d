//! A stored page that gave its place to a better one: it is decided again from the log, and nothing is fetched.

use crate::detect::Decider;
use crate::model::{
    EarlierVerdict, Judged, Outcome, OutcomeKind, PageId, PageInput, PageLine, PageRow, Revision, Sequence, Term,
    UrlId, UrlRow, Verdict,
};
use crate::store::StoreReader;

use super::named_original::NamedOriginal;
use super::page_lines::{add_original, unleased_line};
use super::{PageRecords, PipelineError};

/// A displaced page, and the new decision on it.
pub(super) struct DisplacedPage {
    row: PageRow,
    judged: Judged,
}

impl DisplacedPage {
    /// Decides a committed page again, right after the one that took its place: see [`Judged::displaced`].
    pub fn decide(
        decider: &mut Decider<PageRecords>,
        reader: &StoreReader,
        page: Sequence,
    ) -> Result<Self, PipelineError> {
        let row = reader.page(page)?.ok_or(PipelineError::Lost { what: "page", id: page.0 })?;
        let row = PageRow { page: PageId::new("displaced", &row.page.0.to_string(), 0), renews: Some(page), ..row };
        let judged = decider.decide_logged(vec![row.judged()])?.pop().ok_or(PipelineError::Stopped)?;
        Ok(Self { row, judged })
    }

    /// Returns its URL.
    pub fn url(&self) -> UrlId {
        self.row.url
    }

    /// Returns the new verdict.
    pub fn verdict(&self) -> Verdict {
        self.judged.verdict
    }

    /// Returns its new row, which has the place of the first one in the archive, and new terms.
    pub fn into_row(self) -> (PageRow, Vec<Term>) {
        let Judged { verdict, terms, order, least_weight, new_terms, .. } = self.judged;
        (PageRow { verdict, terms, order, least_weight, ..self.row }, new_terms)
    }
}

/// Returns the row of a displaced page that processes have decided together. Its links and its place in the archive are in
/// the row of the page that it was.
pub(super) fn displaced_row(url: UrlId, input: PageInput, fetched_at: Option<i64>, judged: &Judged) -> PageRow {
    let Judged { page, verdict, least_weight, .. } = *judged;
    PageRow { page, verdict, least_weight, ..PageRow::undecided(url, &input, fetched_at) }
}

/// Returns the line of a displaced page that processes have decided together: what depends on the outcome. The rest is in
/// the line before.
pub(super) fn shared_displaced_line(row: &UrlRow, outcome: &Outcome, original: Option<&NamedOriginal>) -> PageLine {
    let earlier = PageLine { outcome: OutcomeKind::Stored, ..unleased_line(row, None, outcome) };
    displaced_line(earlier, row, outcome, original)
}

/// Returns the line of a displaced page: the earlier one with what depends on the outcome.
pub(super) fn displaced_line(
    earlier: PageLine,
    row: &UrlRow,
    outcome: &Outcome,
    original: Option<&NamedOriginal>,
) -> PageLine {
    let revised =
        EarlierVerdict { outcome: earlier.outcome, reason: Some(Revision::Displaced), ..EarlierVerdict::default() };
    let mut line = PageLine { revised: Some(revised), ..unleased_line(row, None, outcome) };
    add_original(&mut line, original);
    line.decided_again(earlier)
}
