//! Which URLs each page was the first to name, so that none stays hidden behind a skipped page.
//!
//! If the crawl follows the links of duplicates, a predicted duplicate may be the only way to other URLs, such as the
//! index of a version. Its links are known from its counterpart: the inverse rule derives them from the URLs that the
//! counterpart named first. If one of these was not seen yet, the crawl fetches the predicted duplicate. So it sees, link
//! by link from the seeds, all URLs that are linked in the same way on both sides. URLs that were excluded or deferred
//! at first sight are not looked for.

use std::ops::Range;

use hashbrown::HashMap;

use super::state::FrontierState;
use super::{FrontierError, UrlLog};
use ndcrawl_dust::{PredictedTarget, RuleLearner};
use ndcrawl_model::{UrlId, UrlState};

/// URLs to check before a page counts as one that leads nowhere else.
const MAX_CHECKED: usize = 1000;

/// By page, the range of the numbers of the URLs that it named first. They mostly follow one another.
#[derive(Default)]
pub(super) struct Discoveries(HashMap<u32, Range<u32>>);

impl Discoveries {
    /// Records that a page was the first to name a URL.
    pub(super) fn note(&mut self, page: UrlId, url: UrlId) {
        let range = self.0.entry(page.0).or_insert(url.0..url.0);
        range.end = url.0 + 1;
    }

    /// Returns the bytes in use.
    pub(super) fn bytes(&self) -> usize {
        self.0.allocation_size()
    }

    /// Whether a predicted duplicate would name URLs that nobody has named.
    pub(super) fn leads_further<L: UrlLog>(
        &self,
        state: &mut FrontierState<L>,
        learner: &RuleLearner,
        predicted: &PredictedTarget,
    ) -> Result<bool, FrontierError> {
        let Some(range) = self.0.get(&predicted.target.0) else { return Ok(false) };
        for id in range.clone().take(MAX_CHECKED) {
            let row = state.rows.get(UrlId(id))?;
            let is_named_there = row.discovery.referrer == Some(predicted.target) && row.state == UrlState::Queued;
            let counterpart = learner.undo(predicted.rule, &row.url).filter(|_| is_named_there);
            if counterpart.is_some_and(|url| state.find(&url).is_none()) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
