//! What is done with one lease: robots.txt, the request, rendering and the soft-404 check.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use tokio::sync::Notify;
use url::Url;

use crate::fetch::{FetchFailure, Robots, RobotsAnswer, back_off, retry_after, retry_status};
use crate::model::{CanonicalUrl, Exclusion, FailureClass, Fetched, Lease, LinkKind, Unchanged};
use crate::pagetext::{SitemapLimits, parse_sitemap};
use crate::pipeline::RequestCounts;

use super::conditional_fetch::{ArchivedPage, ArchivedPages};
#[cfg(feature = "browser")]
use super::headless_fetch::HeadlessFetch;
use super::messages::{DispatchMessage, FetchOutcome, FetchedPage};
use super::options::Options;
use super::page_fetch::{PageFetch, Stopped};
use super::soft_404::Soft404Prober;

/// Fetches leased URLs. All workers share one.
pub(super) struct Worker {
    pub options: Options,
    pub fetch: Arc<PageFetch>,
    pub prober: Soft404Prober,
    /// Pages that the generation before has kept.
    pub archived: Option<Arc<ArchivedPages>>,
    /// Runs the scripts of pages that need it.
    #[cfg(feature = "browser")]
    pub headless: Option<Arc<HeadlessFetch>>,
    /// Wakes the scheduler.
    pub changed: Arc<Notify>,
    /// Fetch time of the last robots.txt that went to the dispatcher, by origin.
    pub reported_robots: Mutex<HashMap<String, i64>>,
}

/// What follows the work on a lease.
enum NextStep {
    /// The lease ends with this result.
    Finish(FetchOutcome),
    /// The lease goes back, and the URL is due at this moment.
    Retry(Instant),
}

impl Worker {
    /// Works on one lease and sends the result to the dispatcher. If the dispatcher is gone, the result is lost.
    pub async fn work(&self, mut lease: Lease) {
        let origin = lease.url.origin();
        let step = self.step(&mut lease).await;
        // Before the lease ends: otherwise the origin's next URL could be leased too early.
        if let Some(due) = self.fetch.fetcher.next_start(&origin) {
            self.fetch.frontier.postpone(&origin, due);
        }
        let traffic = self.fetch.fetcher.take_traffic(&origin);
        let probes = self.prober.take_requests(&origin);
        let requests = (traffic.requests > 0).then_some(RequestCounts { origin, traffic, probes });
        match step {
            NextStep::Finish(found) => {
                let _ = self
                    .fetch
                    .messages
                    .send(DispatchMessage::Arrival { lease, outcome: Box::new(found), requests })
                    .await;
            }
            NextStep::Retry(not_before) => {
                if let Some(requests) = requests {
                    let _ = self.fetch.messages.send(DispatchMessage::Requests(requests)).await;
                }
                self.fetch.frontier.nak(&lease, not_before);
                self.changed.notify_one();
            }
        }
    }

    async fn step(&self, lease: &mut Lease) -> NextStep {
        let robots = self.fetch.fetcher.robots(&lease.url).await;
        self.report_robots(&lease.url, &robots).await;
        if let Some(found) = self.forbidden(lease, &robots) {
            return NextStep::Finish(found);
        }
        if self.fetch.is_stopped() {
            return NextStep::Retry(Instant::now());
        }
        // The origin may rest after a request for robots.txt. The lease goes back rather than hold a place among
        // the fetches meanwhile.
        if let Some(due) = self.fetch.fetcher.next_start(&lease.url.origin())
            && due > Instant::now()
        {
            return NextStep::Retry(due);
        }
        let archived = self.archived(lease).await;
        lease.attempts += 1;
        let answer = match &archived {
            Some(page) => self.fetch.fetcher.polite_get_unless(&lease.url, page.validators()).await,
            None if lease.discovery.kind == LinkKind::SitemapFile => {
                self.fetch.fetcher.polite_get_any_type(&lease.url).await
            }
            None => self.fetch.fetcher.polite_get(&lease.url).await,
        };
        match answer {
            Ok(fetched) => self.answered(lease, Arc::new(fetched), archived).await,
            Err(failure) => self.unanswered(lease, failure),
        }
    }

    /// Returns the result of a URL that robots.txt forbids.
    fn forbidden(&self, lease: &Lease, robots: &Robots) -> Option<FetchOutcome> {
        let longest = self.fetch.fetcher.options().max_crawl_delay;
        if !longest.is_zero() && robots.crawl_delay().is_some_and(|delay| delay > longest) {
            return Some(FetchOutcome::Excluded { rule: Exclusion::CrawlDelay, fetched: None });
        }
        match (robots.allows(&lease.url), robots.failure()) {
            (RobotsAnswer::Allowed, _) => None,
            (RobotsAnswer::Disallowed, _) => Some(FetchOutcome::Excluded { rule: Exclusion::Robots, fetched: None }),
            (RobotsAnswer::Unreachable, None) => {
                Some(FetchOutcome::Excluded { rule: Exclusion::RobotsUnreachable, fetched: None })
            }
            (RobotsAnswer::Unreachable, Some(failure)) => Some(FetchOutcome::Failed {
                class: failure.class,
                detail: format!("robots.txt: {}", failure.detail),
                fetched: None,
            }),
        }
    }

    /// Sends a fetched robots.txt to the dispatcher, once, with the sitemaps that it names. Sitemaps on other
    /// hosts are ignored.
    async fn report_robots(&self, page: &CanonicalUrl, robots: &Robots) {
        if !robots.is_reached() || self.fetch.fetcher.options().ignore_robots {
            return;
        }
        let (origin, row) = (page.origin(), robots.row());
        let reported =
            self.reported_robots.lock().unwrap_or_else(PoisonError::into_inner).insert(origin.clone(), row.fetched_at);
        if reported == Some(row.fetched_at) {
            return;
        }
        let sitemaps = if self.options.sitemaps {
            self.fetch.normalizer.on_host(page, robots.sitemaps().iter().map(Url::as_str))
        } else {
            Vec::new()
        };
        let _ = self.fetch.messages.send(DispatchMessage::Robots { origin, row: row.clone(), sitemaps }).await;
    }

    /// Reads what the generation before has archived of the page. Reads on a thread that may wait for the disk.
    async fn archived(&self, lease: &Lease) -> Option<ArchivedPage> {
        let archived = self.archived.clone().filter(|_| lease.discovery.kind != LinkKind::SitemapFile)?;
        let url = lease.url.clone();
        tokio::task::spawn_blocking(move || archived.look_up(&url)).await.ok().flatten()
    }

    async fn answered(&self, lease: &Lease, fetched: Arc<Fetched>, archived: Option<ArchivedPage>) -> NextStep {
        match (fetched.status, archived) {
            // Without validators in the request, a 304 has no meaning.
            (304, Some(archived)) if !archived.validators().is_empty() => {
                let (page, unchanged) = archived.not_modified(&fetched);
                self.page(lease, Arc::new(page), true, |_| Some((unchanged, fetched))).await
            }
            (200..=299, _) if lease.discovery.kind == LinkKind::SitemapFile => {
                NextStep::Finish(self.sitemap(lease, fetched))
            }
            (200..=299, _) if !self.fetch.is_accepted(&fetched) => {
                NextStep::Finish(FetchOutcome::Excluded { rule: Exclusion::Type, fetched: Some(fetched) })
            }
            (200..=299, archived) => {
                let was_there = |page: &FetchedPage| {
                    let unchanged = archived?.with_payload(&page.payload_digest)?;
                    Some((unchanged, page.fetched.clone()))
                };
                self.page(lease, fetched, false, was_there).await
            }
            (301 | 302 | 303 | 307 | 308, _) => NextStep::Finish(self.redirect(lease, fetched)),
            (status, _) => {
                if retry_status(status) && lease.attempts <= self.options.retries {
                    return NextStep::Retry(self.next_try(lease, fetched.header("retry-after")));
                }
                let detail = format!("status {status} {}", fetched.reason).trim_end().to_owned();
                NextStep::Finish(FetchOutcome::Failed { class: FailureClass::Http, detail, fetched: Some(fetched) })
            }
        }
    }

    /// Renders a page and checks whether it is a soft 404. `is_archived` tells that it comes from our archive;
    /// `was_there` returns its archived copy if it is unchanged.
    #[cfg_attr(not(feature = "browser"), allow(unused_variables))]
    async fn page(
        &self,
        lease: &Lease,
        fetched: Arc<Fetched>,
        is_archived: bool,
        was_there: impl FnOnce(&FetchedPage) -> Option<(Unchanged, Arc<Fetched>)>,
    ) -> NextStep {
        let page = match self.fetch.render(fetched.clone()).await {
            Ok(page) => page,
            Err(why) => {
                let detail = format!("rendering failed: {why}");
                return NextStep::Finish(FetchOutcome::Failed {
                    class: FailureClass::Internal,
                    detail,
                    fetched: Some(fetched),
                });
            }
        };
        #[cfg(feature = "browser")]
        let page = match self.headless.as_ref().filter(|_| !is_archived) {
            None => page,
            Some(headless) => match headless.run_scripts(&self.fetch, page).await {
                Ok(page) => page,
                Err(Stopped) => return NextStep::Retry(Instant::now()),
            },
        };
        let page = Box::new(FetchedPage { unchanged: was_there(&page), ..page });
        match self.prober.matching_probe(lease, &page).await {
            Ok(None) => NextStep::Finish(FetchOutcome::Page(page)),
            Ok(Some(probe)) => NextStep::Finish(FetchOutcome::Soft404 { page, probe }),
            // Without the check a soft 404 could be stored. The next run fetches the page again.
            Err(Stopped) => NextStep::Retry(Instant::now()),
        }
    }

    /// Retries a failed request. As long as no origin has answered, a seed gets one try: the network itself is
    /// likely down.
    fn unanswered(&self, lease: &Lease, failure: FetchFailure) -> NextStep {
        let FetchFailure { class, detail, retryable } = failure;
        if retryable && lease.attempts <= self.options.retries && self.fetch.fetcher.has_heard() {
            return NextStep::Retry(self.next_try(lease, None));
        }
        NextStep::Finish(FetchOutcome::Failed { class, detail, fetched: None })
    }

    fn next_try(&self, lease: &Lease, asked: Option<String>) -> Instant {
        let longest = self.fetch.fetcher.options().max_retry_after;
        let asked = asked.and_then(|text| retry_after(&text, SystemTime::now(), longest));
        let own = back_off(lease.attempts, self.options.random_seed, lease.url.as_str());
        Instant::now() + asked.unwrap_or(own)
    }

    fn redirect(&self, lease: &Lease, fetched: Arc<Fetched>) -> FetchOutcome {
        let Some(location) = fetched.header("location") else {
            let detail = format!("status {} without a Location", fetched.status);
            return FetchOutcome::Failed { class: FailureClass::Redirect, detail, fetched: Some(fetched) };
        };
        match self.fetch.normalizer.resolve(lease.url.as_url(), &location) {
            Ok(to) => FetchOutcome::Redirect { fetched, to },
            Err(error) => {
                let detail = format!("redirect to '{location}': {error}");
                FetchOutcome::Failed { class: FailureClass::Redirect, detail, fetched: Some(fetched) }
            }
        }
    }

    fn sitemap(&self, lease: &Lease, fetched: Arc<Fetched>) -> FetchOutcome {
        let sitemap = parse_sitemap(&fetched.body, &SitemapLimits::default());
        FetchOutcome::Sitemap {
            urls: self.fetch.normalizer.on_host(&lease.url, sitemap.pages.iter().map(String::as_str)),
            sitemaps: self.fetch.normalizer.on_host(&lease.url, sitemap.sitemaps.iter().map(String::as_str)),
            fetched,
        }
    }
}
