//! Takes what processes that crawl together have found to be decided again.

use crate::pipeline::{PageDecider, PipelineError};
use ndcrawl_model::CanonicalUrl;

use super::CrawlError;
use super::outcomes::LeaseOutcomes;

/// Queues the URLs of this process's pages that are to be fetched and decided again, and has those decided that only gave
/// their place away. The next commit tells that they were taken. Returns whether there are URLs to fetch.
///
/// Pages that were taken before are passed over.
pub(super) fn take_revisions(outcomes: &mut LeaseOutcomes) -> Result<bool, CrawlError> {
    let PageDecider::Shared(shared) = &mut outcomes.stage.decider else { return Ok(false) };
    let (round, revisions) = shared.revisions().map_err(PipelineError::from)?;
    let (mut urls, mut displaced) = (Vec::new(), Vec::new());
    for revision in revisions {
        let lost = PipelineError::Lost { what: "the URL of a decided page, page", id: revision.page.0 };
        let url = CanonicalUrl::from_canonical(&revision.url).ok();
        let id = url.and_then(|url| outcomes.frontier.find(url.as_str())).ok_or(lost)?;
        outcomes.stage.note_revision(id, &revision);
        match revision.displaced {
            Some(page) => displaced.push((id, *page)),
            None => urls.push(id),
        }
    }
    let has_work = !urls.is_empty();
    outcomes.frontier.revise(urls)?;
    for (id, page) in displaced {
        outcomes.stage.enter_shared_displaced(id, page)?;
    }
    if round > 0 {
        outcomes.stage.building.shared.round = Some(round);
    }
    Ok(has_work)
}
