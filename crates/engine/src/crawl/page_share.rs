//! The share of one process of the pages that a crawl of several may have.

use std::time::{Duration, Instant};

use crate::pipeline::{PageDecider, PipelineError};

use super::CrawlError;
use super::outcomes::LeaseOutcomes;

/// Pages of the share that are left when the next ones are asked for.
const FEW: u64 = 64;
/// Time between two questions for more.
const PAUSE: Duration = Duration::from_millis(100);

/// How many pages this process may have. Without a limit of the crawl there is none of the process.
#[derive(Debug)]
pub(super) struct PageShare {
    is_limited: bool,
    most: u64,
    asked: Instant,
}

impl PageShare {
    /// The share of a process whose slots have this many pages. `is_limited`: whether several processes share a limit.
    pub fn new(is_limited: bool, pages: u64) -> Self {
        Self { is_limited, most: pages, asked: Instant::now() }
    }

    /// Asks for more pages. Returns whether there are any.
    pub fn take(&mut self, outcomes: &mut LeaseOutcomes) -> Result<bool, CrawlError> {
        let PageDecider::Shared(shared) = &mut outcomes.stage.decider else { return Ok(false) };
        if !self.is_limited {
            return Ok(false);
        }
        let granted = shared.grant_pages().map_err(PipelineError::from)?;
        self.most += granted;
        self.asked = Instant::now();
        outcomes.frontier.set_max_pages(self.most);
        Ok(granted > 0)
    }

    /// As [`take`](Self::take), if few pages are left.
    pub fn take_if_few(&mut self, outcomes: &mut LeaseOutcomes) -> Result<(), CrawlError> {
        if self.is_limited && self.asked.elapsed() >= PAUSE && outcomes.frontier.is_short_of_pages(FEW) {
            self.take(outcomes)?;
        }
        Ok(())
    }

    /// Gives back what is left.
    pub fn give_back(&mut self, outcomes: &mut LeaseOutcomes) -> Result<(), CrawlError> {
        let PageDecider::Shared(shared) = &mut outcomes.stage.decider else { return Ok(()) };
        if self.is_limited {
            shared.return_pages().map_err(PipelineError::from)?;
            self.most = outcomes.frontier.counts().pages;
            outcomes.frontier.set_max_pages(self.most);
        }
        Ok(())
    }
}
