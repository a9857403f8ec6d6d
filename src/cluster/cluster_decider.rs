//! The decisions of a cluster, as the parts of a crawl ask for them.

use tokio::runtime::Handle;

use super::crawl_session::CrawlSession;
use super::error::ClusterError;
use super::lease::RunId;
use super::named_page::named_page;
use super::page_grants::{finish_if_over, grant_pages, return_pages};
use super::turn_body::{ArrivingPage, PageFacts};
use super::turn_runner::PageSubmitter;
use crate::detect::DeciderStats;
use crate::model::{Judged, PageTerms, Sequence, TermOrder};
use crate::pipeline::{NamedPage, SharedDecider, SharedPage, SharingError};

/// Sends pages to their turns, and waits for the decisions.
pub(super) struct ClusterDecider {
    pub runtime: Handle,
    pub session: CrawlSession,
    pub run: RunId,
    pub submitter: PageSubmitter,
    /// The most pages of the crawl, if it has a limit.
    pub limit: Option<u64>,
    pub stats: DeciderStats,
}

impl SharedDecider for ClusterDecider {
    fn decide(&mut self, pages: Vec<SharedPage>) -> Result<Vec<Judged>, SharingError> {
        let arriving = |SharedPage { input, url, fetched_at, links }| ArrivingPage {
            input,
            facts: PageFacts { url, fetched: fetched_at, links },
        };
        let waiting: Vec<_> = pages.into_iter().map(|page| self.submitter.submit(arriving(page))).collect();
        let run = self.run;
        let judged = waiting.into_iter().map(|decision| {
            let decision = decision.blocking_recv().map_err(|_| ClusterError::RunLost(run.0))?;
            if decision.run != run {
                return Err(ClusterError::RunLost(run.0).into());
            }
            Ok(Judged {
                sequence: decision.sequence,
                verdict: decision.verdict,
                terms: PageTerms::default(),
                order: TermOrder::default(),
                least_weight: 0,
                new_terms: Vec::new(),
                // Its decision is in a turn already, but no commit has its outcome.
                redelivered: false,
                displaced: None,
            })
        });
        let judged = judged.collect::<Result<Vec<_>, SharingError>>()?;
        self.stats.judged += judged.len() as u64;
        Ok(judged)
    }

    fn named_page(&mut self, page: Sequence) -> Result<NamedPage, SharingError> {
        let runtime = self.runtime.clone();
        let found = runtime.block_on(async {
            let found = named_page(self.session.open().await?, page).await;
            let found = self.session.after(found)?;
            found.ok_or_else(|| ClusterError::Damaged(format!("no turn has decided page {page}")))
        })?;
        let PageFacts { url, fetched, links } = found.facts;
        Ok(NamedPage { url, fetched_at: fetched, links })
    }

    fn stats(&self) -> DeciderStats {
        self.stats
    }

    fn grant_pages(&mut self) -> Result<u64, SharingError> {
        let (runtime, run) = (self.runtime.clone(), self.run);
        let Some(limit) = self.limit else { return Ok(0) };
        Ok(runtime.block_on(async {
            let granted = grant_pages(self.session.open().await?, run, limit).await;
            self.session.after(granted)
        })?)
    }

    fn return_pages(&mut self) -> Result<(), SharingError> {
        let (runtime, run) = (self.runtime.clone(), self.run);
        Ok(runtime.block_on(async {
            let returned = return_pages(self.session.open().await?, run).await;
            self.session.after(returned)
        })?)
    }

    fn is_over(&mut self) -> Result<bool, SharingError> {
        let (runtime, limit) = (self.runtime.clone(), self.limit);
        Ok(runtime.block_on(async {
            let is_over = finish_if_over(self.session.open().await?, limit).await;
            self.session.after(is_over)
        })?)
    }
}
