//! Requests addresses of a site that cannot exist.

use std::sync::Arc;

use super::schedule::Probes;
use super::signature::{AnswerWords, Soft404Signature};
use super::url_group::{wrong_beside, wrong_elsewhere};
use crate::crawl::messages::FetchedPage;
use crate::crawl::page_fetch::{PageFetch, Stopped};
use ndcrawl_fetch::{PageRequest, absent_page, asks_to_come_again};
use ndcrawl_model::{CanonicalUrl, Fetched, HostRow, Lease, LinkKind};
use pagetext::says_not_there;

/// Most redirects that a probe follows.
const MOST_HOPS: usize = 5;

/// Why a probe has no answer.
enum ProbeFailure {
    /// The site gave none. The probe may be repeated.
    Failed,
    /// A stop was requested.
    Stopped,
}

/// The answer to a probe.
struct ProbeAnswer {
    words: AnswerWords,
    /// Whether the title says that there is no such page.
    says_not_there: bool,
    is_redirected: bool,
    /// The canonical URL that the answer names.
    canonical: Option<CanonicalUrl>,
}

/// Recognizes soft 404s, and probes sites for that.
pub(in crate::crawl) struct Soft404Prober {
    fetch: Arc<PageFetch>,
    probes: Probes,
    random_seed: u64,
}

impl Soft404Prober {
    /// Knows no answers yet. `hosts` tells how many pages each origin had in earlier runs. With `is_on` false, no
    /// site is probed and every page passes.
    pub fn new<'a>(
        fetch: Arc<PageFetch>,
        is_on: bool,
        hosts: impl Iterator<Item = &'a HostRow>,
        random_seed: u64,
    ) -> Self {
        Self { fetch, probes: Probes::new(is_on, hosts), random_seed }
    }

    /// Returns the probes that were sent to an origin since the last call.
    pub fn take_requests(&self, origin: &str) -> u64 {
        self.probes.take_requests(origin)
    }

    /// Returns the probe whose answer says the same as this page, if there is one. May probe the site.
    pub async fn matching_probe(&self, lease: &Lease, page: &FetchedPage) -> Result<Option<CanonicalUrl>, Stopped> {
        if !self.probes.is_on() {
            return Ok(None);
        }
        let origin = lease.url.origin();
        self.probes.note_page(&origin);
        if lease.discovery.kind == LinkKind::Revision
            || lease.url.as_url().path() == "/"
            || self.fetch.frontier.is_from_seed(lease.id)
        {
            return Ok(None);
        }
        let words = || AnswerWords::new(&page.rendered, std::slice::from_ref(&lease.url));
        if let Some(probe) = self.probes.matching(&origin, words) {
            return Ok(Some(probe));
        }
        let is_suspected = page.rendered.title.as_deref().is_some_and(says_not_there);
        let Some(inquiry) = self.probes.inquiry(&lease.url, is_suspected) else { return Ok(None) };
        match inquiry.answer.get_or_try_init(|| self.learn_signature(&lease.url)).await {
            Ok(answer) => {
                let answer = answer.as_ref().filter(|answer| answer.matches(&words()));
                Ok(answer.map(|answer| answer.probe.clone()))
            }
            Err(ProbeFailure::Failed) => {
                inquiry.add_failure();
                Ok(None)
            }
            Err(ProbeFailure::Stopped) => Err(Stopped),
        }
    }

    /// Probes an address beside this page, and a second one.
    ///
    /// If the title of the first answer does not say that there is no such page, the second probe lies elsewhere
    /// on the site, and the start page is fetched too. Some sites choose a page by a part of its address, and some
    /// answer every address with the start page.
    async fn learn_signature(&self, page: &CanonicalUrl) -> Result<Option<Soft404Signature>, ProbeFailure> {
        let (seed, normalizer) = (self.random_seed, &self.fetch.normalizer);
        let Some(first) = wrong_beside(page, seed, 0, normalizer) else { return Ok(None) };
        let Some(one) = self.answer_to(first.clone()).await? else { return Ok(None) };
        if one.canonical.as_ref() == Some(page) || (one.is_redirected && !one.says_not_there) {
            return Ok(None);
        }
        let second = if one.says_not_there { wrong_beside } else { wrong_elsewhere };
        let Some(second) = second(page, seed, 1, normalizer) else { return Ok(None) };
        let Some(other) = self.answer_to(second).await? else { return Ok(None) };
        let Some(signature) = Soft404Signature::new(first, &one.words, &other.words) else { return Ok(None) };
        if one.says_not_there {
            return Ok(Some(signature));
        }
        let Ok(start) = normalizer.resolve(page.as_url(), "/") else { return Ok(None) };
        let start = self.answer_to(start).await?;
        Ok(start.filter(|start| !signature.matches(&start.words)).map(|_| signature))
    }

    /// Returns the page at an address, after redirects. `None` if that is no page, or is not allowed.
    async fn answer_to(&self, url: CanonicalUrl) -> Result<Option<ProbeAnswer>, ProbeFailure> {
        let origin = url.origin();
        let mut addresses = vec![url];
        let mut spelling = None;
        while let Some(url) = addresses.last().filter(|_| addresses.len() <= MOST_HOPS + 1) {
            if url.origin() != origin || !self.may_probe(url).await? {
                return Ok(None);
            }
            self.probes.note_request(&origin);
            let request = PageRequest { spelling: spelling.take(), ..PageRequest::default() };
            let fetched = self.fetch.fetcher.polite_request(url, request).await.map_err(|_| ProbeFailure::Failed)?;
            match fetched.status {
                _ if asks_to_come_again(&fetched) => return Err(ProbeFailure::Failed),
                200..=299 if self.fetch.is_accepted(&fetched) && absent_page(&fetched).is_none() => {
                    return Ok(self.read_answer(fetched, &addresses).await);
                }
                301 | 302 | 303 | 307 | 308 => {
                    let location = fetched.location().unwrap_or_default();
                    let next = self.fetch.normalizer.resolve_spelled(fetched.address_requested(), &location);
                    let Ok(next) = next else { return Ok(None) };
                    spelling = Some(next.spelling);
                    addresses.push(next.url);
                }
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    async fn may_probe(&self, url: &CanonicalUrl) -> Result<bool, ProbeFailure> {
        // The page is fetched, so the lease waits rather than go back.
        self.fetch.until_resumed().await;
        if self.fetch.is_stopped() {
            return Err(ProbeFailure::Stopped);
        }
        Ok(self.fetch.is_allowed(url).await)
    }

    async fn read_answer(&self, fetched: Fetched, addresses: &[CanonicalUrl]) -> Option<ProbeAnswer> {
        let page = self.fetch.render(Arc::new(fetched)).await.ok()?;
        let rendered = &page.rendered;
        let base = page.fetched.url.as_url();
        Some(ProbeAnswer {
            canonical: rendered.canonical.as_deref().and_then(|url| self.fetch.normalizer.resolve(base, url).ok()),
            words: AnswerWords::new(rendered, addresses),
            says_not_there: rendered.title.as_deref().is_some_and(says_not_there),
            is_redirected: addresses.iter().any(|address| *address != addresses[0]),
        })
    }
}
