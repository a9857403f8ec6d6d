//! A stored page that gave its place to a better one: it is decided again from the log, and nothing is fetched.

use crate::model::{
    CanonicalUrl, Discovery, EarlierVerdict, Judged, LinkKind, OutcomeKind, PageId, PageLine, PageRow, Requeue,
    Revision, Sequence, shown_url, split_capture_key,
};

use super::decision_stage::outcome_of;
use super::{DecisionStage, NamedOriginal, PipelineError, unleased_line};

/// A displaced page, and the new decision on it.
pub(super) struct DisplacedPage {
    row: PageRow,
    judged: Judged,
}

impl DecisionStage {
    /// Decides a displaced page again: see [`Judged::displaced`].
    pub(super) fn decide_displaced(&mut self, page: Sequence) -> Result<DisplacedPage, PipelineError> {
        let row = self.reader.page(page)?.ok_or(PipelineError::Lost { what: "page", id: page.0 })?;
        let row = PageRow { page: PageId::new("displaced", &row.page.0.to_string(), 0), renews: Some(page), ..row };
        let judged = self.decider.decide_logged(vec![row.judged()])?.pop().ok_or(PipelineError::Stopped)?;
        Ok(DisplacedPage { row, judged })
    }

    /// Enters the new decision on a displaced page: its row, its outcome, and its line with what changed.
    ///
    /// What was archived stays where it is.
    pub(super) fn enter_displaced(&mut self, displaced: DisplacedPage) -> Result<(), PipelineError> {
        let DisplacedPage { row, judged } = displaced;
        let lost = |what| PipelineError::Lost { what, id: row.url.0 };
        let named = self.reader.url(row.url)?.ok_or(lost("URL"))?;
        let url = CanonicalUrl::from_canonical(split_capture_key(&named.url).0).map_err(|_| lost("URL"))?;
        let origin = url.origin();
        let original = judged.verdict.duplicate_of().map(|of| self.original(of)).transpose()?;
        let outcome = outcome_of(judged.verdict, original.as_ref().and_then(|original| original.id));
        let earlier = self.committed_line(&shown_url(&named.url))?.ok_or(lost("line of URL"))?;
        let was = OutcomeKind::ALL.into_iter().find(|kind| kind.name() == earlier.outcome);
        let changed = unleased_line(&named, None, &outcome);
        let line = PageLine {
            outcome: changed.outcome,
            score: changed.score,
            second_score: changed.second_score,
            band: changed.band,
            detector: changed.detector,
            decided_by: changed.decided_by,
            duplicate_of: original.as_ref().map(NamedOriginal::shown),
            duplicate_file: original.as_ref().and_then(NamedOriginal::file),
            duplicate_of_capture: original.as_ref().map(|original| original.capture).filter(|capture| *capture > 1),
            revised: Some(EarlierVerdict {
                outcome: earlier.outcome.clone(),
                reason: Some(Revision::Displaced),
                ..EarlierVerdict::default()
            }),
            ..earlier
        };
        let again = Requeue { url: row.url, discovery: Discovery { kind: LinkKind::Revision, ..named.discovery } };
        self.building.batch.requeued.push(again);
        self.hosts.take_back(&origin, was.unwrap_or(OutcomeKind::Stored));
        self.page_urls.push(row.url);
        self.building.batch.terms.extend(judged.new_terms);
        let id = row.url;
        self.building.batch.pages.push(PageRow {
            verdict: judged.verdict,
            terms: judged.terms,
            order: judged.order,
            least_weight: judged.least_weight,
            ..row
        });
        self.enter_outcome((id, &origin), 0, &outcome, line, None)
    }

    /// Returns the committed line of a URL.
    fn committed_line(&mut self, url: &str) -> Result<Option<PageLine>, PipelineError> {
        let length = self.reader.mark().page_line_bytes;
        let reader = &self.reader;
        Ok(self.lines.get_or_insert_with(|| reader.line_index()).line(url, length)?)
    }
}
