//! Asking a site for wrong addresses.

use std::sync::Arc;

use super::signature::{NotThere, Said};
use super::url_group::{wrong_beside, wrong_elsewhere};
use crate::crawl::messages::FoundPage;
use crate::crawl::worker::Worker;
use crate::fetch::{RobotsAnswer, retry_status};
use crate::model::{CanonicalUrl, Fetched, Lease, LinkKind};
use crate::pagetext::says_not_there;
use crate::pipeline::Stop;

/// Redirects that are followed from a wrong address.
const MOST_HOPS: usize = 5;

/// A stop was asked for before the site had answered.
#[derive(Debug)]
pub(in crate::crawl) struct Stopped;

/// Why there is no answer.
enum Unanswered {
    /// It is to be asked for again.
    Failed,
    Stopped,
}

/// What came of an address.
struct Answer {
    said: Said,
    /// Whether its title says that it is not there.
    says_not_there: bool,
    is_redirected: bool,
    /// The address that it calls its own.
    canonical: Option<CanonicalUrl>,
}

impl Worker {
    /// The wrong address whose answer is what this page says, if there is one. May ask the site.
    pub(in crate::crawl) async fn wrong_address_like(
        &self,
        lease: &Lease,
        page: &FoundPage,
    ) -> Result<Option<CanonicalUrl>, Stopped> {
        if !self.probes.is_on() {
            return Ok(None);
        }
        let origin = lease.url.origin();
        self.probes.note_page(&origin);
        if lease.discovery.kind == LinkKind::Revision
            || lease.url.as_url().path() == "/"
            || self.frontier.is_from_seed(lease.id)
        {
            return Ok(None);
        }
        let said = || Said::new(&page.rendered, std::slice::from_ref(&lease.url));
        if let Some(probe) = self.probes.matching(&origin, said) {
            return Ok(Some(probe));
        }
        let is_suspected = page.rendered.title.as_deref().is_some_and(says_not_there);
        let Some(inquiry) = self.probes.inquiry(&lease.url, is_suspected) else { return Ok(None) };
        match inquiry.answer.get_or_try_init(|| self.inquire(&lease.url)).await {
            Ok(answer) => {
                let answer = answer.as_ref().filter(|answer| answer.matches(&said()));
                Ok(answer.map(|answer| answer.probe.clone()))
            }
            Err(Unanswered::Failed) => {
                inquiry.failed();
                Ok(None)
            }
            Err(Unanswered::Stopped) => Err(Stopped),
        }
    }

    /// Asks for a wrong address beside this page and for another one. Unless the answer's title says that it is
    /// not there, the other one lies elsewhere, and the start page is asked for too: some sites show a page
    /// by a part of its address, and some the start page for any address.
    async fn inquire(&self, page: &CanonicalUrl) -> Result<Option<NotThere>, Unanswered> {
        let (seed, normaliser) = (self.options.random_seed, &self.normaliser);
        let Some(first) = wrong_beside(page, seed, 0, normaliser) else { return Ok(None) };
        let Some(one) = self.answer_to(first.clone()).await? else { return Ok(None) };
        if one.canonical.as_ref() == Some(page) || (one.is_redirected && !one.says_not_there) {
            return Ok(None);
        }
        let second = if one.says_not_there { wrong_beside } else { wrong_elsewhere };
        let Some(second) = second(page, seed, 1, normaliser) else { return Ok(None) };
        let Some(other) = self.answer_to(second).await? else { return Ok(None) };
        let Some(not_there) = NotThere::new(first, &one.said, &other.said) else { return Ok(None) };
        if one.says_not_there {
            return Ok(Some(not_there));
        }
        let Ok(start) = normaliser.resolve(page.as_url(), "/") else { return Ok(None) };
        let start = self.answer_to(start).await?;
        Ok(start.filter(|start| !not_there.matches(&start.said)).map(|_| not_there))
    }

    /// What an address, or that to which it redirects, is answered with; `None` if it is no page, or is
    /// not to be asked for.
    async fn answer_to(&self, url: CanonicalUrl) -> Result<Option<Answer>, Unanswered> {
        let origin = url.origin();
        let mut addresses = vec![url];
        while let Some(url) = addresses.last().filter(|_| addresses.len() <= MOST_HOPS + 1) {
            if url.origin() != origin || !self.may_ask(url).await? {
                return Ok(None);
            }
            self.probes.note_request(&origin);
            let fetched = self.fetcher.polite_get(url).await.map_err(|_| Unanswered::Failed)?;
            match fetched.status {
                200..=299 if self.is_wanted(&fetched) => return Ok(self.read_answer(fetched, &addresses).await),
                301 | 302 | 303 | 307 | 308 => {
                    let location = fetched.header("location").unwrap_or_default();
                    let Ok(next) = self.normaliser.resolve(url.as_url(), &location) else { return Ok(None) };
                    addresses.push(next);
                }
                status if retry_status(status) => return Err(Unanswered::Failed),
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    async fn may_ask(&self, url: &CanonicalUrl) -> Result<bool, Unanswered> {
        if *self.stop.borrow() != Stop::Go {
            return Err(Unanswered::Stopped);
        }
        Ok(self.frontier.admits(url) && self.fetcher.robots(url).await.allows(url) == RobotsAnswer::Allowed)
    }

    async fn read_answer(&self, fetched: Fetched, addresses: &[CanonicalUrl]) -> Option<Answer> {
        let page = self.read(Arc::new(fetched)).await.ok()?;
        let canonical = page.rendered.canonical.as_deref();
        Some(Answer {
            canonical: canonical.and_then(|url| self.normaliser.resolve(page.fetched.url.as_url(), url).ok()),
            said: Said::new(&page.rendered, addresses),
            says_not_there: page.rendered.title.as_deref().is_some_and(says_not_there),
            is_redirected: addresses.len() > 1,
        })
    }
}
