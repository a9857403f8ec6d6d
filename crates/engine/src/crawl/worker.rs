//! What is done with one lease: robots.txt, the request, rendering and the soft-404 check.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use tokio::sync::Notify;
use url::Url;

use crate::pipeline::RequestCounts;
use ndcrawl_fetch::{
    Absent, FetchFailure, HostHealth, PageRequest, Robots, RobotsAnswer, absent_page, asks_to_come_again, back_off,
    rest_asked, tries_before_answer,
};
use ndcrawl_model::{
    CanonicalUrl, Exclusion, FailureClass, Fetched, Lease, LinkKind, NotRequested, Recrawled, Refresh, SpelledUrl,
    Unchanged,
};
use pagetext::{SitemapCut, SitemapLimits, header_refresh, is_sitemap, parse_sitemap};

use super::conditional_fetch::ArchivedPage;
use super::early_failures::{EarlyFailure, EarlyFailures};
use super::excused_tries::ExcusedTries;
#[cfg(all(feature = "browser", unix))]
use super::headless_fetch::HeadlessFetch;
use super::messages::{DispatchMessage, FetchOutcome, FetchedPage, NamedSitemaps, SitemapDates};
use super::options::Options;
use super::page_fetch::{PageFetch, Stopped};
use super::recrawl::{Decision, Recrawl};
use super::soft_404::Soft404Prober;
use super::spellings::{Spellings, circle};

/// Most bytes of a sitemap as it is sent (sitemaps.org: 52,428,800).
const SITEMAP_BYTES: usize = 50 << 20;

/// Fetches leased URLs. All workers share one.
pub(super) struct Worker {
    pub options: Options,
    pub fetch: Arc<PageFetch>,
    pub prober: Soft404Prober,
    /// What is requested again of the pages that the generation before has kept.
    pub recrawl: Option<Arc<Recrawl>>,
    /// Runs the scripts of pages that need it.
    #[cfg(all(feature = "browser", unix))]
    pub headless: Option<Arc<HeadlessFetch>>,
    /// Wakes the scheduler.
    pub changed: Arc<Notify>,
    /// Other spellings of URLs, to which servers redirect.
    pub spellings: Spellings,
    /// Fetch time of the last robots.txt that went to the dispatcher, by origin.
    pub reported_robots: Mutex<HashMap<String, i64>>,
    /// Fetch time of the last robots.txt whose sitemaps went to the dispatcher, by origin.
    pub reported_sitemaps: Mutex<HashMap<String, i64>>,
    /// Requests that failed for the host's sake, by URL.
    pub excused: ExcusedTries,
    /// Failures that the scheduler makes final, or not.
    pub early_failures: EarlyFailures,
}

/// What follows the work on a lease.
enum NextStep {
    /// The lease ends with this result.
    Finish(FetchOutcome),
    /// The lease goes back, and the URL is due at this moment.
    Retry(Instant),
    /// The lease lives on until a server has answered, or until none will.
    AwaitAnswer { class: FailureClass, detail: String },
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
                self.spellings.forget(lease.id);
                self.excused.forget(lease.id);
                let _ = self
                    .fetch
                    .messages
                    .send(DispatchMessage::Arrival { lease: Box::new(lease), outcome: Box::new(found), requests })
                    .await;
            }
            NextStep::Retry(not_before) => {
                self.send_requests(requests).await;
                self.fetch.frontier.nak(&lease, not_before);
                self.changed.notify_one();
            }
            NextStep::AwaitAnswer { class, detail } => {
                self.send_requests(requests).await;
                self.early_failures.add(EarlyFailure { lease, class, detail });
                self.changed.notify_one();
            }
        }
    }

    /// Counts the requests of a lease that has no outcome yet.
    async fn send_requests(&self, requests: Option<RequestCounts>) {
        if let Some(requests) = requests {
            let _ = self.fetch.messages.send(DispatchMessage::Requests(requests)).await;
        }
    }

    async fn step(&self, lease: &mut Lease) -> NextStep {
        if self.fetch.is_paused() {
            return NextStep::Retry(Instant::now());
        }
        let robots = self.fetch.fetcher.robots(&lease.url).await;
        self.report_robots(&lease.url, &robots).await;
        // A host that only has a sitemap for others is not crawled, so its own sitemaps are not read.
        if lease.discovery.kind != LinkKind::SitemapFile {
            self.report_sitemaps(&lease.url, &robots).await;
        }
        if let Some(step) = self.await_robots(lease, &robots) {
            return step;
        }
        if let Some(failure) = robots.failure().filter(|failure| self.may_be_the_network(failure)) {
            return NextStep::AwaitAnswer { class: failure.class, detail: format!("robots.txt: {}", failure.detail) };
        }
        let asked = self.spellings.of(lease.id);
        let address = &asked.last().unwrap_or(lease.url.as_url()).clone();
        if let Some(found) = self.forbidden(address, &robots) {
            return NextStep::Finish(found);
        }
        if self.fetch.is_stopped() || self.fetch.is_paused() {
            return NextStep::Retry(Instant::now());
        }
        match self.fetch.fetcher.health(&lease.url, lease.attempts > 0).await {
            HostHealth::Well => {}
            HostHealth::Ill => return self.rest(lease),
            HostHealth::GivenUp => return self.give_up(lease),
        }
        let site = match lease.discovery.kind {
            LinkKind::SitemapFile => Arc::default(),
            _ => self.fetch.fetcher.site_preferences(&lease.url, &robots).await,
        };
        // The origin may rest after a request for robots.txt. The lease goes back rather than hold a place among
        // the fetches meanwhile.
        if let Some(due) = self.fetch.fetcher.next_start(&lease.url.origin())
            && due > Instant::now()
        {
            return NextStep::Retry(due);
        }
        let archived = self.archived(lease).await;
        let now = jiff::Timestamp::now().as_millisecond();
        let known = self.recrawl.as_ref().zip(archived.as_ref());
        let decided = known.map(|(recrawl, page)| (recrawl, recrawl.decide(lease, page, address, now), page.text));
        let mut step = match (archived, decided) {
            (Some(page), Some((_, Decision::Reuse(why), _))) => self.reuse(lease, page, why).await,
            (archived, _) => self.request(lease, &asked, address, archived).await,
        };
        if let NextStep::Finish(found) = &step
            && let Some((recrawl, decision, text)) = decided
            && let Some(recrawled) = recrawl.learn(lease, decision, text, found)
        {
            lease.recrawled = Some(recrawled);
        }
        if let NextStep::Finish(FetchOutcome::Page(page)) = &mut step {
            let preferences = &mut page.rendered.preferences;
            preferences.extend(robots.preferences(address).into_iter().chain(site.of(address)));
            for origin in self.fetch.fetcher.read_licenses(&lease.url, preferences).await {
                // Its own requests are counted when the lease ends.
                if origin != lease.url.origin() {
                    self.fetch.count_requests(origin).await;
                }
            }
        }
        step
    }

    /// Reuses a page as the generation before has archived it.
    async fn reuse(&self, lease: &mut Lease, page: ArchivedPage, why: NotRequested) -> NextStep {
        lease.recrawled = Some(Recrawled::Reused(why));
        let (page, unchanged) = page.reused();
        let page = Arc::new(page);
        self.page(lease, &[], page.clone(), true, |_| Some((unchanged, page))).await
    }

    /// Makes one request. `archived` is the page of the generation before.
    async fn request(
        &self,
        lease: &mut Lease,
        asked: &[Url],
        address: &Url,
        archived: Option<ArchivedPage>,
    ) -> NextStep {
        lease.attempts += 1;
        let request = PageRequest {
            spelling: asked.last().cloned(),
            unless: archived.as_ref().map(|page| page.validators(address)).unwrap_or_default(),
            any_type: lease.discovery.kind == LinkKind::SitemapFile,
            sitemap_bytes: self.is_named_as_sitemap(lease).then_some(SITEMAP_BYTES),
        };
        let is_conditional = !request.unless.is_empty();
        match self.fetch.fetcher.polite_request(&lease.url, request).await {
            Ok(fetched) => self.answered(lease, asked, Arc::new(fetched), (archived, is_conditional)).await,
            Err(failure) => self.unanswered(lease, asked, failure),
        }
    }

    /// Gives the lease back until the host has rested.
    fn rest(&self, lease: &Lease) -> NextStep {
        let due = self.fetch.fetcher.next_start(&lease.url.origin());
        NextStep::Retry(due.unwrap_or_else(Instant::now))
    }

    /// Gives the lease back and leaves its host to the next run.
    fn give_up(&self, lease: &Lease) -> NextStep {
        self.fetch.frontier.give_up(&lease.url.origin());
        NextStep::Retry(Instant::now())
    }

    /// Waits for a host that is in trouble to send its robots.txt. What follows if it never does is said by the status:
    /// after 500 everything is forbidden (RFC 9309, section 2.3.1.4), and who is busy is asked again in the next run.
    fn await_robots(&self, lease: &Lease, robots: &Robots) -> Option<NextStep> {
        let status = robots.row().status;
        match (robots.is_in_trouble(), self.fetch.fetcher.is_given_up(&lease.url)) {
            (true, false) => Some(self.rest(lease)),
            (true, true) if status != 500 => Some(self.give_up(lease)),
            _ => None,
        }
    }

    /// Returns the result of a URL whose address robots.txt forbids.
    fn forbidden(&self, address: &Url, robots: &Robots) -> Option<FetchOutcome> {
        let longest = self.fetch.fetcher.options().max_crawl_delay;
        if !longest.is_zero() && robots.crawl_delay().is_some_and(|delay| delay > longest) {
            return Some(FetchOutcome::Excluded { rule: Exclusion::CrawlDelay, fetched: None });
        }
        match (robots.allows_address(address), robots.failure()) {
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

    /// Sends a fetched robots.txt to the dispatcher, once.
    async fn report_robots(&self, page: &CanonicalUrl, robots: &Robots) {
        if !robots.is_reached() || self.fetch.fetcher.options().ignore_robots {
            return;
        }
        let (origin, row) = (page.origin(), robots.row());
        if is_new(&self.reported_robots, &origin, row.fetched_at) {
            let _ = self.fetch.messages.send(DispatchMessage::Robots { origin, row: row.clone() }).await;
        }
    }

    /// Sends the sitemaps that a robots.txt names to the dispatcher, once.
    async fn report_sitemaps(&self, page: &CanonicalUrl, robots: &Robots) {
        let is_wanted = self.options.sitemaps && !self.fetch.fetcher.options().ignore_robots;
        if is_wanted
            && is_new(&self.reported_sitemaps, &page.origin(), robots.row().fetched_at)
            && let Some(named) = NamedSitemaps::of(page, robots, &self.fetch.normalizer)
        {
            let _ = self.fetch.messages.send(DispatchMessage::Sitemaps(named)).await;
        }
    }

    /// Reads what the generation before has archived of the page. Reads on a thread that may wait for the disk.
    async fn archived(&self, lease: &Lease) -> Option<ArchivedPage> {
        let recrawl = self.recrawl.as_ref().filter(|_| lease.discovery.kind != LinkKind::SitemapFile)?;
        let (archived, url) = (recrawl.archived.clone(), lease.url.clone());
        tokio::task::spawn_blocking(move || archived.look_up(&url)).await.ok().flatten()
    }

    /// `asked` are the spellings of the URL that were requested so far, without the canonical one. `archived` is the page
    /// of the generation before, and whether the request was conditional.
    async fn answered(
        &self,
        lease: &Lease,
        asked: &[Url],
        fetched: Arc<Fetched>,
        (archived, is_conditional): (Option<ArchivedPage>, bool),
    ) -> NextStep {
        let may_be_better = fetched.broken_off.is_some() || asks_to_come_again(&fetched);
        if may_be_better && let Some(step) = self.again(lease, asked, Some(&fetched)) {
            return step;
        }
        if let Some(step) = self.header_refresh(lease, asked, &fetched) {
            return step;
        }
        if let Some(step) = self.without_page(lease, asked, &fetched) {
            return step;
        }
        match (fetched.status, archived) {
            // Without validators in the request, a 304 has no meaning.
            (304, Some(archived)) if is_conditional => {
                let (page, unchanged) = archived.not_modified(&fetched);
                self.page(lease, asked, Arc::new(page), true, |_| Some((unchanged, fetched))).await
            }
            (200..=299, _) if self.is_sitemap(lease, &fetched) => NextStep::Finish(self.sitemap(fetched).await),
            (200..=299, _) if !self.fetch.is_accepted(&fetched) => {
                NextStep::Finish(FetchOutcome::Excluded { rule: Exclusion::Type, fetched: Some(fetched) })
            }
            (200..=299, archived) => {
                let fetched = self.within_max_body(fetched);
                let was_there = |page: &FetchedPage| {
                    let unchanged = archived?.with_payload(&page.fetched, &page.payload_digest)?;
                    Some((unchanged, page.fetched.clone()))
                };
                self.page(lease, asked, fetched, false, was_there).await
            }
            _ if fetched.is_redirect() => self.redirect(lease, asked, fetched),
            (status, _) => {
                let detail = format!("status {status} {}", fetched.reason).trim_end().to_owned();
                NextStep::Finish(FetchOutcome::Failed { class: FailureClass::Http, detail, fetched: Some(fetched) })
            }
        }
    }

    /// Returns what follows an answer that reports success and holds no page, or a part of one.
    fn without_page(&self, lease: &Lease, asked: &[Url], fetched: &Arc<Fetched>) -> Option<NextStep> {
        let absent = (200..=299).contains(&fetched.status).then(|| absent_page(fetched)).flatten()?;
        let is_sitemap = lease.discovery.kind == LinkKind::SitemapFile;
        match absent {
            Absent::Part(detail) => {
                if let Some(step) = self.again(lease, asked, None) {
                    return Some(step);
                }
                let (class, fetched) = (FailureClass::Partial, Some(fetched.clone()));
                Some(NextStep::Finish(FetchOutcome::Failed { class, detail, fetched }))
            }
            // Bodies of other types are not read.
            Absent::Empty if is_sitemap || !self.fetch.is_accepted(fetched) => None,
            Absent::Empty => {
                let (rule, fetched) = (Exclusion::Empty, Some(fetched.clone()));
                Some(NextStep::Finish(FetchOutcome::Excluded { rule, fetched }))
            }
        }
    }

    /// Renders a page and checks whether it is a soft 404. `is_archived` tells that it comes from our archive;
    /// `was_there` returns its archived copy if it is unchanged.
    #[cfg_attr(not(all(feature = "browser", unix)), allow(unused_variables))]
    async fn page(
        &self,
        lease: &Lease,
        asked: &[Url],
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
        if let Some(step) = self.page_refresh(lease, asked, &page) {
            return step;
        }
        #[cfg(all(feature = "browser", unix))]
        let page = match self.headless.as_ref().filter(|_| !is_archived) {
            None => page,
            Some(headless) => match headless.run_scripts(&self.fetch, page).await {
                Ok(page) => page,
                Err(Stopped) => return NextStep::Retry(Instant::now()),
            },
        };
        // Scripts may have written one.
        #[cfg(all(feature = "browser", unix))]
        if let Some(step) = self.page_refresh(lease, asked, &page) {
            return step;
        }
        let page = Box::new(FetchedPage { unchanged: was_there(&page), ..page });
        match self.prober.matching_probe(lease, &page).await {
            Ok(None) => NextStep::Finish(FetchOutcome::Page(page)),
            Ok(Some(probe)) => NextStep::Finish(FetchOutcome::Soft404 { page, probe }),
            // Without the check a soft 404 could be stored. The next run fetches the page again.
            Err(Stopped) => NextStep::Retry(Instant::now()),
        }
    }

    /// Retries a failed request. As long as no server has answered, a seed gets few tries: the network itself is likely
    /// down.
    fn unanswered(&self, lease: &Lease, asked: &[Url], failure: FetchFailure) -> NextStep {
        if failure.retryable
            && let Some(step) = self.again(lease, asked, None)
        {
            let is_excused = self.fetch.fetcher.is_trouble_of_host(&lease.url);
            if is_excused || lease.attempts <= tries_before_answer(&failure, self.fetch.fetcher.has_heard()) {
                return step;
            }
            return NextStep::AwaitAnswer { class: failure.class, detail: failure.detail };
        }
        NextStep::Finish(FetchOutcome::Failed { class: failure.class, detail: failure.detail, fetched: None })
    }

    /// Whether a failure of robots.txt is to be tried again as soon as a server has answered.
    fn may_be_the_network(&self, failure: &FetchFailure) -> bool {
        failure.retryable && self.options.retries > 0 && !self.fetch.fetcher.has_heard()
    }

    fn next_try(&self, lease: &Lease, answer: Option<&Fetched>) -> Instant {
        let longest = self.fetch.fetcher.options().max_retry_after;
        let asked = answer.and_then(|answer| rest_asked(answer, SystemTime::now(), longest));
        // The whole origin rests as long as a host asks for.
        if let Some(asked) = asked {
            return Instant::now() + asked;
        }
        let due = Instant::now() + back_off(lease.attempts, self.options.random_seed, lease.url.as_str());
        self.fetch.fetcher.store_retry(&lease.url.origin(), due);
        due
    }

    /// Gives the lease back for another try, if one is left. The requests for other spellings, which `asked` counts, are
    /// no tries, nor are those that failed for the host's sake.
    fn again(&self, lease: &Lease, asked: &[Url], answer: Option<&Fetched>) -> Option<NextStep> {
        let fetcher = &self.fetch.fetcher;
        if fetcher.is_given_up(&lease.url) {
            return Some(self.give_up(lease));
        }
        let is_excused = fetcher.is_trouble_of_host(&lease.url);
        let excused = self.excused.count(lease.id, is_excused, fetcher.options().host_patience);
        let spellings = u32::try_from(asked.len()).unwrap_or(u32::MAX);
        let tries = lease.attempts.saturating_sub(spellings).saturating_sub(excused);
        let has_tries = tries <= self.options.retries;
        has_tries.then(|| if is_excused { self.rest(lease) } else { NextStep::Retry(self.next_try(lease, answer)) })
    }

    fn redirect(&self, lease: &Lease, asked: &[Url], fetched: Arc<Fetched>) -> NextStep {
        let Some(location) = fetched.location() else {
            let detail = format!("status {} without a Location", fetched.status);
            return no_target(fetched, detail);
        };
        match self.fetch.normalizer.resolve_spelled(fetched.address_requested(), &location) {
            Ok(to) => self.redirect_to(lease, asked, fetched, to),
            Err(error) => no_target(fetched, format!("redirect to '{location}': {error}")),
        }
    }

    /// Goes where the header line of an answer sends every browser at once, whatever the type of the answer.
    fn header_refresh(&self, lease: &Lease, asked: &[Url], fetched: &Arc<Fetched>) -> Option<NextStep> {
        let is_success = (200..=299).contains(&fetched.status);
        let source = is_success.then(|| fetched.source())?;
        let refresh = header_refresh(source, fetched.address_requested(), &self.fetch.normalizer)?;
        self.refresh(lease, asked, fetched, &refresh)
    }

    /// Goes where a page sends every browser at once.
    fn page_refresh(&self, lease: &Lease, asked: &[Url], page: &FetchedPage) -> Option<NextStep> {
        self.refresh(lease, asked, &page.fetched, page.rendered.refresh.as_ref()?)
    }

    /// Goes where an instant refresh leads. `None` if it is a later one, or the page only loads itself again: then it is
    /// a page.
    fn refresh(&self, lease: &Lease, asked: &[Url], fetched: &Arc<Fetched>, refresh: &Refresh) -> Option<NextStep> {
        let to = &refresh.to;
        let is_itself = to.url == lease.url && circle(&lease.url, asked, &to.spelling).is_some();
        (refresh.is_instant() && !is_itself).then(|| self.redirect_to(lease, asked, fetched.clone(), to.clone()))
    }

    /// Goes where a redirect leads: to another URL, which gets a line of its own, or to another spelling of this one,
    /// which is requested next.
    fn redirect_to(&self, lease: &Lease, asked: &[Url], fetched: Arc<Fetched>, to: SpelledUrl) -> NextStep {
        let hops = u8::try_from(asked.len()).unwrap_or(u8::MAX);
        if to.url != lease.url {
            return NextStep::Finish(FetchOutcome::Redirect { fetched, to: to.url, hops });
        }
        if let Some(why) = circle(&lease.url, asked, &to.spelling) {
            return no_target(fetched, why);
        }
        if lease.discovery.hops.saturating_add(hops) >= self.options.max_redirects {
            return no_target(fetched, too_many_redirects(self.options.max_redirects));
        }
        if let Err(error) = self.fetch.normalizer.check_length(&to.spelling) {
            return no_target(fetched, format!("redirect to '{}': {error}", to.spelling));
        }
        match self.fetch.frontier.judge_spelling(lease.id, lease.discovery.kind, &to.spelling) {
            Some(rule) => NextStep::Finish(FetchOutcome::Excluded { rule, fetched: Some(fetched) }),
            None => {
                self.spellings.add(lease.id, to.spelling);
                NextStep::Retry(Instant::now())
            }
        }
    }

    /// Whether robots.txt, a sitemap or the user may have meant a sitemap by this URL.
    fn is_named_as_sitemap(&self, lease: &Lease) -> bool {
        lease.discovery.kind == LinkKind::SitemapFile || self.fetch.frontier.is_from_seed(lease.id)
    }

    /// Whether an answer is read as a sitemap. One that a page links to is, too, if sitemaps are wanted.
    fn is_sitemap(&self, lease: &Lease, fetched: &Fetched) -> bool {
        let is_wanted = self.options.sitemaps || self.is_named_as_sitemap(lease);
        lease.discovery.kind == LinkKind::SitemapFile || (is_wanted && is_sitemap(&fetched.body, &fetched.media_type()))
    }

    /// Reads a sitemap: on a blocking thread, since some are large.
    async fn sitemap(&self, mut fetched: Arc<Fetched>) -> FetchOutcome {
        let permit = self.fetch.rendering.clone().acquire_owned().await;
        let (normalizer, answer) = (self.fetch.normalizer.clone(), fetched.clone());
        let is_recrawl = self.recrawl.is_some();
        let reading = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let sitemap = parse_sitemap(&answer.body, &SitemapLimits::default());
            // The format allows no paths; who writes one all the same means its own host.
            let whole = |text: &String| match text.starts_with('/') {
                true => answer.address_requested().join(text).map_or_else(|_| text.clone(), String::from),
                false => text.clone(),
            };
            let all = |texts: &[String]| {
                normalizer.all(texts.iter().map(whole).collect::<Vec<_>>().iter().map(String::as_str))
            };
            let mut dates = SitemapDates::new();
            for (page, date) in sitemap.dates.iter().filter(|_| is_recrawl) {
                if let Some(Ok(url)) = sitemap.pages.get(*page).map(|text| normalizer.absolute(&whole(text))) {
                    dates.entry(url).and_modify(|known| *known = known.or_later(*date)).or_insert(*date);
                }
            }
            let pages = [sitemap.pages, sitemap.alternates].concat();
            let (urls, sitemaps) = (all(&pages), all(&sitemap.sitemaps));
            let cut = if answer.truncated { Some(SitemapCut::Bytes(answer.body.len() as u64)) } else { sitemap.cut };
            (urls, sitemaps, dates, cut)
        });
        match reading.await {
            Ok((urls, sitemaps, dates, cut)) => {
                if cut.is_some_and(SitemapCut::is_of_bytes) && !fetched.truncated {
                    Arc::make_mut(&mut fetched).truncated = true;
                }
                if let Some(why) = cut {
                    let (url, read) = (&fetched.url, urls.len() + sitemaps.len());
                    tracing::warn!(%url, read, "sitemap is not read to its end: {why}; what stands behind is not crawled");
                }
                if urls.is_empty() && sitemaps.is_empty() && !fetched.body.trim_ascii().is_empty() {
                    tracing::warn!(url = %fetched.url, bytes = fetched.body.len(), "sitemap names no URL, although it is not empty");
                }
                FetchOutcome::Sitemap { fetched, urls, sitemaps, dates }
            }
            Err(error) => {
                let detail = format!("reading the sitemap failed: {error}");
                FetchOutcome::Failed { class: FailureClass::Internal, detail, fetched: Some(fetched) }
            }
        }
    }

    /// Cuts the body of a page that was read further because it could have been a sitemap.
    fn within_max_body(&self, fetched: Arc<Fetched>) -> Arc<Fetched> {
        let most = self.fetch.fetcher.options().max_body;
        if fetched.body.len() <= most {
            return fetched;
        }
        let mut page = Arc::unwrap_or_clone(fetched);
        page.body.truncate(most);
        page.truncated = true;
        Arc::new(page)
    }
}

/// Notes the time of a robots.txt. Returns whether it is another than before.
fn is_new(reported: &Mutex<HashMap<String, i64>>, origin: &str, fetched_at: i64) -> bool {
    let mut reported = reported.lock().unwrap_or_else(PoisonError::into_inner);
    reported.insert(origin.to_owned(), fetched_at) != Some(fetched_at)
}

/// Returns the result of a redirect that leads nowhere.
fn no_target(fetched: Arc<Fetched>, detail: String) -> NextStep {
    NextStep::Finish(FetchOutcome::Failed { class: FailureClass::Redirect, detail, fetched: Some(fetched) })
}

/// Tells that a chain of redirects is longer than allowed.
pub(super) fn too_many_redirects(most: u8) -> String {
    format!("more than {most} redirects in a row")
}
