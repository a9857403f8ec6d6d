//! Which URLs a page has named first, so that none is missed behind a page that is not fetched.
//!
//! Where the links of duplicates are followed, a URL that is foretold to be a duplicate may be the only way to others:
//! the list of all pages of a version, say. What it would name is known from its counterpart: what the rule makes of
//! URLs that the counterpart named first, the other way round. If one of these was not seen yet, the URL is fetched. So,
//! link by link from the seeds on, all is seen at last that is linked in the same way on both sides. What was kept out or
//! put off when it was named first is nothing to be looked for.

use std::ops::Range;

use hashbrown::HashMap;

use super::engine::{Engine, naming_page};
use super::{FrontierError, UrlLog};
use crate::dust::PredictedTarget;
use crate::model::{Discovery, UrlId, UrlState};

/// URLs that are looked at before a page is taken for one that leads nowhere else.
const LOOKED_AT: usize = 1000;

/// By page, the numbers among which those are that it named first. They follow one another, nearly always.
#[derive(Default)]
pub(super) struct Discoveries(HashMap<u32, Range<u32>>);

impl Discoveries {
    /// A URL was seen for the first time, on this page.
    pub(super) fn note(&mut self, page: UrlId, url: UrlId) {
        let range = self.0.entry(page.0).or_insert(url.0..url.0);
        range.end = url.0 + 1;
    }

    /// Bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        self.0.allocation_size()
    }
}

impl<L: UrlLog> Engine<L> {
    /// Takes note of a URL that is seen for the first time.
    pub(super) fn note_discovery(&mut self, id: UrlId, discovery: Discovery) {
        let page = naming_page(discovery);
        if let (Some(discoveries), Some(page)) = (&mut self.foretelling.discoveries, page) {
            discoveries.note(page, id);
        }
    }

    /// Whether a URL of which this is foretold would name others that nobody has named.
    pub(super) fn leads_further(&mut self, foretold: &PredictedTarget) -> Result<bool, FrontierError> {
        let discoveries = self.foretelling.discoveries.as_ref();
        let Some(range) = discoveries.and_then(|all| all.0.get(&foretold.target.0)) else { return Ok(false) };
        for id in range.clone().take(LOOKED_AT) {
            let row = self.rows.get(UrlId(id))?;
            let is_named_there = row.discovery.referrer == Some(foretold.target) && row.state == UrlState::Queued;
            let counterpart = self.foretelling.learner.undo(foretold.rule, &row.url).filter(|_| is_named_there);
            if counterpart.is_some_and(|url| self.seen.find(self.seen.hash(&url)).is_none()) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
