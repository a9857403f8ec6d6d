//! What is done with one lease: robots.txt, the request, and rendering what came.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use tokio::sync::{Notify, Semaphore, mpsc, watch};
use url::Url;

use crate::fetch::{FetchFailure, Fetcher, Robots, RobotsAnswer, back_off, no_text, retry_after, retry_status};
use crate::frontier::EmbeddedFrontier;
use crate::model::{CanonicalUrl, Exclusion, FailureClass, Fetched, Lease, LinkKind, Normaliser, Unchanged};
use crate::pagetext::{Renderer, SitemapLimits, parse_sitemap};
use crate::pipeline::{Attempts, Stop, read};

use super::CrawlError;
use super::conditional_fetch::{Archived, ArchivedPage};
#[cfg(feature = "browser")]
use super::headless_fetch::Drawing;
use super::messages::{Found, FoundPage, Message};
use super::options::Options;
use super::soft_404::{Probes, Stopped};
use super::url_log::Urls;

/// Bytes of a body that is rendered among the requests: a millisecond's work.
const SHORT: usize = 64 * 1024;

/// What workers share.
pub(super) struct Worker {
    pub options: Options,
    pub fetcher: Fetcher,
    pub renderer: Arc<Renderer>,
    pub normaliser: Normaliser,
    /// Pages that the generation before has kept.
    pub archived: Option<Arc<Archived>>,
    pub frontier: Arc<EmbeddedFrontier<Urls>>,
    pub changed: Arc<Notify>,
    /// Draws pages that need it.
    #[cfg(feature = "browser")]
    pub drawing: Option<Arc<Drawing>>,
    /// Long pages rendered at the same time: as many as there are cores.
    pub rendering: Arc<Semaphore>,
    /// Of which robots.txt the judge was told in this run: the last one's time of fetch, by origin.
    pub robots_told: Mutex<HashMap<String, i64>>,
    /// What sites answer to wrong addresses.
    pub probes: Probes,
    pub stop: watch::Receiver<Stop>,
    pub messages: mpsc::Sender<Message>,
}

/// How the work on a lease ended.
enum Step {
    /// With something to judge.
    Found(Found),
    /// The URL is to be asked for again, at this moment or later.
    Again(Instant),
}

impl Worker {
    /// Works on one lease and tells the judge. If the judge is gone, so is the work.
    pub async fn work(&self, mut lease: Lease) -> Result<(), CrawlError> {
        let origin = lease.url.origin();
        let step = self.step(&mut lease).await;
        // Before the lease ends, so that the origin's next URL is not leased too early.
        if let Some(due) = self.fetcher.next_start(&origin) {
            self.frontier.postpone(&origin, due);
        }
        let traffic = self.fetcher.take_traffic(&origin);
        let probes = self.probes.take_requests(&origin);
        let attempts = (traffic.requests > 0).then_some(Attempts { origin, traffic, probes });
        match step {
            Step::Found(found) => {
                let _ = self.messages.send(Message::Arrival { lease, found: Box::new(found), attempts }).await;
            }
            Step::Again(not_before) => {
                if let Some(attempts) = attempts {
                    let _ = self.messages.send(Message::Attempts(attempts)).await;
                }
                self.frontier.nak(&lease, not_before);
                self.changed.notify_one();
            }
        }
        Ok(())
    }

    async fn step(&self, lease: &mut Lease) -> Step {
        let robots = self.fetcher.robots(&lease.url).await;
        self.tell_robots(&lease.url, &robots).await;
        if let Some(found) = self.forbidden(lease, &robots) {
            return Step::Found(found);
        }
        if *self.stop.borrow() != Stop::Go {
            return Step::Again(Instant::now());
        }
        // robots.txt may just have been asked for: rather than hold a place among the fetches while
        // the origin rests, the lease is given back.
        if let Some(due) = self.fetcher.next_start(&lease.url.origin())
            && due > Instant::now()
        {
            return Step::Again(due);
        }
        let archived = self.archived(lease).await;
        lease.attempts += 1;
        let answer = match &archived {
            Some(page) => self.fetcher.polite_get_unless(&lease.url, page.validators()).await,
            None if lease.discovery.kind == LinkKind::SitemapFile => self.fetcher.polite_get_any_type(&lease.url).await,
            None => self.fetcher.polite_get(&lease.url).await,
        };
        match answer {
            Ok(fetched) => self.answered(lease, Arc::new(fetched), archived).await,
            Err(failure) => self.unanswered(lease, failure),
        }
    }

    /// What robots.txt has against the URL.
    fn forbidden(&self, lease: &Lease, robots: &Robots) -> Option<Found> {
        let longest = self.fetcher.options().max_crawl_delay;
        if !longest.is_zero() && robots.crawl_delay().is_some_and(|delay| delay > longest) {
            return Some(Found::Excluded { rule: Exclusion::CrawlDelay, fetched: None });
        }
        match (robots.allows(&lease.url), robots.failure()) {
            (RobotsAnswer::Allowed, _) => None,
            (RobotsAnswer::Disallowed, _) => Some(Found::Excluded { rule: Exclusion::Robots, fetched: None }),
            (RobotsAnswer::Unreachable, None) => {
                Some(Found::Excluded { rule: Exclusion::RobotsUnreachable, fetched: None })
            }
            (RobotsAnswer::Unreachable, Some(failure)) => Some(Found::Failed {
                class: failure.class,
                detail: format!("robots.txt: {}", failure.detail),
                fetched: None,
            }),
        }
    }

    /// Tells the judge of a robots.txt that was had, once: to be kept, and for the sitemaps that it
    /// names. Those on other hosts are left alone.
    async fn tell_robots(&self, page: &CanonicalUrl, robots: &Robots) {
        if !robots.is_reached() || self.fetcher.options().ignore_robots {
            return;
        }
        let (origin, row) = (page.origin(), robots.row());
        let told =
            self.robots_told.lock().unwrap_or_else(PoisonError::into_inner).insert(origin.clone(), row.fetched_at);
        if told == Some(row.fetched_at) {
            return;
        }
        let sitemaps = if self.options.sitemaps {
            self.normaliser.on_host(page, robots.sitemaps().iter().map(Url::as_str))
        } else {
            Vec::new()
        };
        let _ = self.messages.send(Message::Robots { origin, row: row.clone(), sitemaps }).await;
    }

    /// What the generation before has archived of the page. It is read where a thread may wait for the disk.
    async fn archived(&self, lease: &Lease) -> Option<ArchivedPage> {
        let archived = self.archived.clone().filter(|_| lease.discovery.kind != LinkKind::SitemapFile)?;
        let url = lease.url.clone();
        tokio::task::spawn_blocking(move || archived.look_up(&url)).await.ok().flatten()
    }

    async fn answered(&self, lease: &Lease, fetched: Arc<Fetched>, archived: Option<ArchivedPage>) -> Step {
        match (fetched.status, archived) {
            // Of a server that was not asked whether, it would mean nothing.
            (304, Some(archived)) if !archived.validators().is_empty() => {
                let (page, unchanged) = archived.not_modified(&fetched);
                self.page(lease, Arc::new(page), true, |_| Some((unchanged, fetched))).await
            }
            (200..=299, _) if lease.discovery.kind == LinkKind::SitemapFile => {
                Step::Found(self.sitemap(lease, fetched))
            }
            (200..=299, _) if !self.is_wanted(&fetched) => {
                Step::Found(Found::Excluded { rule: Exclusion::Type, fetched: Some(fetched) })
            }
            (200..=299, archived) => {
                let was_there = |page: &FoundPage| {
                    let unchanged = archived?.with_payload(&page.payload_digest)?;
                    Some((unchanged, page.fetched.clone()))
                };
                self.page(lease, fetched, false, was_there).await
            }
            (301 | 302 | 303 | 307 | 308, _) => Step::Found(self.redirect(lease, fetched)),
            (status, _) => {
                if retry_status(status) && lease.attempts <= self.options.retries {
                    return Step::Again(self.next_try(lease, fetched.header("retry-after")));
                }
                let detail = format!("status {status} {}", fetched.reason).trim_end().to_owned();
                Step::Found(Found::Failed { class: FailureClass::Http, detail, fetched: Some(fetched) })
            }
        }
    }

    /// Whether its media type is asked for, by what its header says and by what its first bytes are.
    pub(super) fn is_wanted(&self, fetched: &Fetched) -> bool {
        self.fetcher.accepts(&fetched.media_type())
            && no_text(&fetched.body).is_none_or(|found| self.fetcher.accepts(found))
    }

    /// A page, unless it says no more than what the site answers to wrong addresses. `is_archived` says that it
    /// comes from our archive, and `was_there` tells whether it is as it was.
    #[cfg_attr(not(feature = "browser"), allow(unused_variables))]
    async fn page(
        &self,
        lease: &Lease,
        fetched: Arc<Fetched>,
        is_archived: bool,
        was_there: impl FnOnce(&FoundPage) -> Option<(Unchanged, Arc<Fetched>)>,
    ) -> Step {
        let page = match self.read(fetched.clone()).await {
            Ok(page) => page,
            Err(why) => {
                let detail = format!("rendering failed: {why}");
                return Step::Found(Found::Failed { class: FailureClass::Internal, detail, fetched: Some(fetched) });
            }
        };
        #[cfg(feature = "browser")]
        let page = match is_archived {
            true => page,
            false => match self.drawn(page).await {
                Ok(page) => page,
                Err(Stopped) => return Step::Again(Instant::now()),
            },
        };
        let page = Box::new(FoundPage { unchanged: was_there(&page), ..page });
        match self.wrong_address_like(lease, &page).await {
            Ok(None) => Step::Found(Found::Page(page)),
            Ok(Some(probe)) => Step::Found(Found::NotThere { page, probe }),
            // Judged as it is, it might be stored and be no page: rather it is fetched again some day.
            Err(Stopped) => Step::Again(Instant::now()),
        }
    }

    /// Before any origin has ever answered, a seed gets one try: then it is the network that fails.
    fn unanswered(&self, lease: &Lease, failure: FetchFailure) -> Step {
        let FetchFailure { class, detail, retryable } = failure;
        if retryable && lease.attempts <= self.options.retries && self.fetcher.has_heard() {
            return Step::Again(self.next_try(lease, None));
        }
        Step::Found(Found::Failed { class, detail, fetched: None })
    }

    fn next_try(&self, lease: &Lease, asked: Option<String>) -> Instant {
        let longest = self.fetcher.options().max_retry_after;
        let asked = asked.and_then(|text| retry_after(&text, SystemTime::now(), longest));
        let own = back_off(lease.attempts, self.options.random_seed, lease.url.as_str());
        Instant::now() + asked.unwrap_or(own)
    }

    fn redirect(&self, lease: &Lease, fetched: Arc<Fetched>) -> Found {
        let Some(location) = fetched.header("location") else {
            let detail = format!("status {} without a Location", fetched.status);
            return Found::Failed { class: FailureClass::Redirect, detail, fetched: Some(fetched) };
        };
        match self.normaliser.resolve(lease.url.as_url(), &location) {
            Ok(to) => Found::Redirect { fetched, to },
            Err(error) => {
                let detail = format!("redirect to '{location}': {error}");
                Found::Failed { class: FailureClass::Redirect, detail, fetched: Some(fetched) }
            }
        }
    }

    fn sitemap(&self, lease: &Lease, fetched: Arc<Fetched>) -> Found {
        let sitemap = parse_sitemap(&fetched.body, &SitemapLimits::default());
        Found::Sitemap {
            urls: self.normaliser.on_host(&lease.url, sitemap.pages.iter().map(String::as_str)),
            sitemaps: self.normaliser.on_host(&lease.url, sitemap.sitemaps.iter().map(String::as_str)),
            fetched,
        }
    }

    /// Renders: a short page here and now, since another thread would cost more than it saves, a
    /// long one on a thread that may take its time. An error says why it can't be.
    pub(super) async fn read(&self, fetched: Arc<Fetched>) -> Result<FoundPage, String> {
        let (rendered, body_digest, payload_digest) = if fetched.body.len() <= SHORT {
            // What has come in goes first: it wakes threads that take their share of the rendering.
            tokio::task::yield_now().await;
            read(&self.renderer, &fetched)?
        } else {
            let permit = self.rendering.clone().acquire_owned().await;
            let (renderer, page) = (self.renderer.clone(), fetched.clone());
            let reading = tokio::task::spawn_blocking(move || {
                let _permit = permit;
                read(&renderer, &page)
            });
            reading.await.unwrap_or_else(|error| Err(error.to_string()))?
        };
        Ok(FoundPage {
            fetched,
            rendered,
            body_digest,
            payload_digest,
            unchanged: None,
            is_drawn: false,
            appraisal: None,
            is_off_topic: false,
        })
    }
}
