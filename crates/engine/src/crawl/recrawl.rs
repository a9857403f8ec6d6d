//! Is a page that the crawl before has kept requested again, and what comes of it?
//!
//! Without a request, a page is reused as it is archived, like one that its server calls not modified. There are two
//! reasons:
//!
//! - It was requested a short time ago (`--recrawl-after`).
//! - Its sitemap says that it has not changed since, and that was true of enough pages of its host (`--trust-lastmod`).
//!   "A page that the sitemap calls unchanged is unchanged" is a rule like those about URLs, so it is believed, tested
//!   and withdrawn like one of them ([`RuleConfidence`]): 16 pages in a row prove it, a sample of the pages is requested
//!   all the same, and one that has changed takes the trust away. The sample tells what is missed.
//!
//! What is known of the hosts follows from the lines, in their order. What sitemaps say of URLs that were known before
//! is lost when the crawl stops; then these are requested.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use url::Url;

use crate::pipeline::told_text_digest;
use ndcrawl_dust::{RuleConfidence, RuleState, RuleTest, is_sampled};
use ndcrawl_model::{
    CanonicalUrl, FailureClass, LastmodClaim, Lease, LinkKind, NotRequested, PageLine, Recheck, Recrawled, UrlId,
};
use ndcrawl_store::{self as store, PageLines};
use pagetext::SitemapDate;

use super::conditional_fetch::{ArchivedPage, ArchivedPages, LastVisit, text_hash};
use super::messages::{FetchOutcome, FetchedPage};
use super::options::Options;

/// A change may come so long after the date that the sitemap tells of it: clocks differ, and pages are written in steps.
const SLACK: i64 = 3_600_000;

/// Decides which pages of the crawl before are requested. The worker and the dispatcher share one.
pub(super) struct Recrawl {
    pub archived: Arc<ArchivedPages>,
    trusts_lastmod: bool,
    after: Duration,
    /// Another sample in each generation, so that each page comes into one at last.
    seed: u64,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// What sitemaps say of URLs that were known before.
    claims: HashMap<UrlId, LastmodClaim>,
    /// How often sitemaps were right about unchanged pages, by the host of the pages.
    hosts: HashMap<String, RuleConfidence>,
}

/// What to do with a page of the crawl before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Decision {
    /// Request it. `share`: the share of the sample, if it is in it.
    Request { lastmod: Option<LastmodClaim>, share: Option<f64> },
    /// Reuse it as it is archived.
    Reuse(NotRequested),
}

impl Recrawl {
    /// Begins or resumes a recrawl. Costs a look at all lines that it has written so far.
    pub fn new(archived: Arc<ArchivedPages>, options: &Options) -> store::Result<Self> {
        let mut hosts: HashMap<String, RuleConfidence> = HashMap::new();
        let lines = match PageLines::open(archived.folder()) {
            Err(store::Error::NotACrawl { .. }) => None,
            lines => Some(lines?),
        };
        for line in lines.into_iter().flatten() {
            let PageLine { url, recheck: Some(recheck), .. } = line? else { continue };
            if let Ok(url) = CanonicalUrl::from_canonical(&url) {
                learn(&mut hosts, url.host(), &recheck);
            }
        }
        Ok(Self {
            trusts_lastmod: options.trust_lastmod,
            after: options.recrawl_after,
            seed: options.random_seed.wrapping_add(u64::from(archived.generation())),
            archived,
            known: Mutex::new(Known { claims: HashMap::new(), hosts }),
        })
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what a date says of a URL.
    pub fn claim(&self, url: &CanonicalUrl, date: Option<&SitemapDate>) -> Option<LastmodClaim> {
        claim(self.archived.last_visit(url), *date?)
    }

    /// Notes what a sitemap says of a URL that was known before. Of two sitemaps, the one counts that tells of a change.
    pub fn note(&self, id: UrlId, claim: LastmodClaim) {
        let mut known = self.known();
        let noted = known.claims.entry(id).or_insert(claim);
        if claim == LastmodClaim::Changed {
            *noted = claim;
        }
    }

    /// Decides about a page at `now`, milliseconds since 1970 UTC. `address` is what would be requested.
    pub fn decide(&self, lease: &Lease, page: &ArchivedPage, address: &Url, now: i64) -> Decision {
        let known = self.known();
        let listed = (lease.discovery.kind == LinkKind::SitemapUnchanged).then_some(LastmodClaim::Unchanged);
        let lastmod = known.claims.get(&lease.id).copied().or(listed);
        let can_be_reused = lease.attempts == 0
            && lease.discovery.kind != LinkKind::Revision
            && address == lease.url.as_url()
            && page.can_stand_for(address);
        if can_be_reused && page.requested_at.is_some_and(|at| self.is_recent(now - at)) {
            return Decision::Reuse(NotRequested::Recent);
        }
        let is_unchanged = lastmod == Some(LastmodClaim::Unchanged) && lease.discovery.kind != LinkKind::Seed;
        let trusted = known.hosts.get(lease.url.host()).filter(|host| host.state == RuleState::Proven);
        let Some(trusted) = trusted.filter(|_| self.trusts_lastmod && is_unchanged && can_be_reused) else {
            return Decision::Request { lastmod, share: None };
        };
        let one_in = trusted.one_in();
        if is_sampled(lease.url.as_str(), self.seed, one_in) {
            return Decision::Request { lastmod, share: Some(1.0 / one_in as f64) };
        }
        Decision::Reuse(NotRequested::Lastmod)
    }

    fn is_recent(&self, age: i64) -> bool {
        i128::from(age) < self.after.as_millis() as i128
    }

    /// Learns from what a request has found. `text` is the text that was archived. Returns it for the line, unless the
    /// request failed and tells nothing.
    pub fn learn(&self, lease: &Lease, decided: Decision, text: u64, found: &FetchOutcome) -> Option<Recrawled> {
        let Decision::Request { lastmod, share } = decided else { return None };
        let recheck = Recheck { changed: is_changed(found, text)?, lastmod, share };
        learn(&mut self.known().hosts, lease.url.host(), &recheck);
        Some(Recrawled::Requested(recheck))
    }
}

fn learn(hosts: &mut HashMap<String, RuleConfidence>, host: &str, recheck: &Recheck) {
    if recheck.lastmod == Some(LastmodClaim::Unchanged) {
        let test = if recheck.changed { RuleTest::Miss } else { RuleTest::Hit { is_near: false } };
        hosts.entry(host.to_owned()).or_default().test(test);
    }
}

/// Returns what a date says of a URL that was looked for before.
fn claim(visit: LastVisit, date: SitemapDate) -> Option<LastmodClaim> {
    match visit {
        LastVisit::Page(at) if date.latest.saturating_add(SLACK) < at? => {
            date.is_of_change.then_some(LastmodClaim::Unchanged)
        }
        LastVisit::Page(_) => Some(LastmodClaim::Changed),
        LastVisit::NoPage(last) => (date.latest >= last).then_some(LastmodClaim::Changed),
    }
}

/// Whether a page is another than the archived one, whose text is `text`. `None` if the answer does not tell.
fn is_changed(found: &FetchOutcome, text: u64) -> Option<bool> {
    let has_changed = |page: &FetchedPage| {
        let digest = told_text_digest(&page.rendered);
        page.unchanged.is_none() && (digest.is_none() || text_hash(digest.as_deref()) != text)
    };
    match found {
        FetchOutcome::Page(page) | FetchOutcome::Soft404 { page, .. } => Some(has_changed(page)),
        FetchOutcome::Sitemap { .. } | FetchOutcome::Redirect { .. } => Some(true),
        FetchOutcome::Excluded { fetched, .. } => fetched.as_ref().map(|_| true),
        FetchOutcome::Failed { class: FailureClass::Http, fetched: Some(answer), .. } => {
            matches!(answer.status, 404 | 410).then_some(true)
        }
        FetchOutcome::Failed { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_compared_with_the_last_request() {
        use LastmodClaim::{Changed, Unchanged};
        let at = |latest| SitemapDate { earliest: latest, latest, is_of_change: true };
        let found = LastVisit::Page(Some(10 * SLACK));
        assert_eq!(claim(found, at(8 * SLACK)), Some(Unchanged));
        assert_eq!(claim(found, at(9 * SLACK)), Some(Changed), "clocks differ");
        assert_eq!(claim(found, SitemapDate { is_of_change: false, ..at(SLACK) }), None, "it may have changed since");
        assert_eq!(claim(found, SitemapDate { is_of_change: false, ..at(11 * SLACK) }), Some(Changed));
        assert_eq!(claim(LastVisit::Page(None), at(0)), None);
        assert_eq!(claim(LastVisit::NoPage(10 * SLACK), at(10 * SLACK)), Some(Changed), "it is new");
        assert_eq!(claim(LastVisit::NoPage(10 * SLACK), at(9 * SLACK)), None, "it was there, and no page");
    }
}
