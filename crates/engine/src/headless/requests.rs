//! Answers the intercepted requests of a page.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use chromiumoxide::cdp::browser_protocol::fetch::{
    EventRequestPaused, FailRequestParams, FulfillRequestParams, HeaderEntry, RequestId,
};
use chromiumoxide::cdp::browser_protocol::network::{ErrorReason, ResourceType};
use data_encoding::BASE64;

use super::Browser;
use ndcrawl_fetch::RobotsAnswer;
use ndcrawl_model::{CanonicalUrl, Fetched};

/// The requests of one page.
pub(super) struct Requests<'a> {
    browser: &'a Browser,
    page: Arc<Fetched>,
    /// Whether the page itself was delivered.
    is_given: AtomicBool,
    asked: AtomicU32,
    bytes: AtomicUsize,
    origins: Mutex<BTreeSet<String>>,
}

/// The answer to an intercepted request.
pub(super) enum Reply {
    Fulfil(FulfillRequestParams),
    Fail(FailRequestParams),
}

impl<'a> Requests<'a> {
    pub fn new(browser: &'a Browser, page: Arc<Fetched>) -> Self {
        Self {
            browser,
            page,
            is_given: AtomicBool::new(false),
            asked: AtomicU32::new(0),
            bytes: AtomicUsize::new(0),
            origins: Mutex::default(),
        }
    }

    /// Returns the origins that got a request.
    pub fn origins(&self) -> Vec<String> {
        self.origins.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Returns the answer to a paused request.
    pub async fn reply(&self, paused: &EventRequestPaused) -> Reply {
        let id = &paused.request_id;
        match paused.resource_type {
            // Only the first document: frames and navigations are refused.
            ResourceType::Document if !self.is_given.swap(true, Ordering::AcqRel) => fulfil(id, &self.page),
            ResourceType::Stylesheet => no_style(id),
            ResourceType::Script | ResourceType::Xhr | ResourceType::Fetch if paused.request.method == "GET" => {
                match self.ask(paused).await {
                    Some(answer) => fulfil(id, &answer),
                    None => fail(id, ErrorReason::BlockedByClient),
                }
            }
            // Any other reason would replace the page by an error page of Chromium.
            ResourceType::Document => fail(id, ErrorReason::Aborted),
            _ => fail(id, ErrorReason::BlockedByClient),
        }
    }

    /// Fetches the resource, if the limits of the page and robots.txt allow it.
    async fn ask(&self, paused: &EventRequestPaused) -> Option<Arc<Fetched>> {
        let browser = self.browser;
        let url = browser.normalizer.absolute(&paused.request.url).ok()?;
        let is_script = paused.resource_type == ResourceType::Script;
        if let Some(kept) = browser.scripts.get(&url).filter(|_| is_script) {
            return Some(kept);
        }
        let is_over = self.asked.fetch_add(1, Ordering::AcqRel) >= browser.options.max_requests;
        if is_over || self.bytes.load(Ordering::Acquire) >= browser.options.max_bytes {
            return None;
        }
        self.origins.lock().unwrap_or_else(PoisonError::into_inner).insert(url.origin());
        if !self.is_allowed(&url).await {
            return None;
        }
        let fetched = browser.fetcher.polite_get_any_type(&url).await;
        let answer = fetched
            .inspect_err(|error| tracing::debug!(%url, %error, "subresource not fetched: the page renders without it"))
            .ok()?;
        self.bytes.fetch_add(answer.body.len(), Ordering::AcqRel);
        let answer = Arc::new(answer);
        if is_script {
            browser.scripts.keep(&answer);
        }
        (!answer.truncated).then_some(answer)
    }

    async fn is_allowed(&self, url: &CanonicalUrl) -> bool {
        let robots = self.browser.fetcher.robots(url).await;
        let longest = self.browser.fetcher.options().max_crawl_delay;
        let is_too_slow = !longest.is_zero() && robots.crawl_delay().is_some_and(|delay| delay > longest);
        !is_too_slow && robots.allows(url) == RobotsAnswer::Allowed
    }
}

fn fulfil(id: &RequestId, answer: &Fetched) -> Reply {
    // The browser context is thrown away, so cookies are useless.
    let headers = answer.headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("set-cookie"));
    let headers =
        headers.map(|(name, value)| HeaderEntry::new(name.as_str(), String::from_utf8_lossy(value).into_owned()));
    Reply::Fulfil(FulfillRequestParams {
        response_headers: Some(headers.collect()),
        body: Some(BASE64.encode(&answer.body).into()),
        ..FulfillRequestParams::new(id.clone(), i64::from(answer.status))
    })
}

fn no_style(id: &RequestId) -> Reply {
    Reply::Fulfil(FulfillRequestParams {
        response_headers: Some(vec![
            HeaderEntry::new("content-type", "text/css"),
            HeaderEntry::new("access-control-allow-origin", "*"),
        ]),
        ..FulfillRequestParams::new(id.clone(), 200)
    })
}

fn fail(id: &RequestId, reason: ErrorReason) -> Reply {
    Reply::Fail(FailRequestParams::new(id.clone(), reason))
}
