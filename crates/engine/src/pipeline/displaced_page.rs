//! A stored page that gave its place to a better one: it is decided again from the log, and nothing is fetched.

use ndcrawl_model::{
    EarlierVerdict, Judged, Outcome, OutcomeKind, PageId, PageInput, PageKind, PageLine, PageRow, Revision, Sequence,
    Term, UrlId, UrlRow, Verdict,
};
use ndcrawl_store::StoreReader;
use neardup::detect::Decider;

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
        Self::decide_as(decider, reader, page, |row| Ok(row.kind))
    }

    /// Decides a committed page again, as one of the kind that `kind` says.
    pub fn decide_as(
        decider: &mut Decider<PageRecords>,
        reader: &StoreReader,
        page: Sequence,
        kind: impl FnOnce(&PageRow) -> Result<PageKind, PipelineError>,
    ) -> Result<Self, PipelineError> {
        let row = reader.page(page)?.ok_or(PipelineError::Lost { what: "page", id: page.0 })?;
        let kind = kind(&row)?;
        let page_id = PageId::new("displaced", &row.page.0.to_string(), 0);
        let row = PageRow { kind, page: page_id, renews: Some(page), ..row };
        let judged = decider.decide_logged(vec![row.judged()])?.pop().ok_or(PipelineError::Stopped)?;
        Ok(Self { row, judged })
    }

    /// Returns its URL.
    pub fn url(&self) -> UrlId {
        self.row.url
    }

    /// Returns its new row, without terms, to name it before it is committed.
    pub fn row(&self) -> (Sequence, &PageRow) {
        (self.judged.sequence, &self.row)
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
    let revision = displaced_revision(&earlier);
    line_again(earlier, revision, row, outcome, original)
}

/// Returns what the line of a displaced page says of its revision, by the line before.
pub(super) fn displaced_revision(earlier: &PageLine) -> PageLine {
    let (outcome, reason) = (earlier.outcome, Some(Revision::Displaced));
    PageLine { revised: Some(EarlierVerdict { outcome, reason, ..EarlierVerdict::default() }), ..PageLine::default() }
}

/// Returns the line of a page that was decided again: the earlier one with what depends on the outcome, and on the
/// revision.
pub(super) fn line_again(
    earlier: PageLine,
    revision: PageLine,
    row: &UrlRow,
    outcome: &Outcome,
    original: Option<&NamedOriginal>,
) -> PageLine {
    let PageLine { revised, kept_by, .. } = revision;
    let mut line = PageLine { revised, kept_by, ..unleased_line(row, None, outcome) };
    add_original(&mut line, original);
    line.decided_again(earlier)
}
