//! Which parts of which sites were probed, and when another probe is worth its requests.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OnceCell;

use super::signature::{AnswerWords, Soft404Signature};
use super::url_group::UrlGroup;
use ndcrawl_model::{CanonicalUrl, HostRow, OutcomeKind};

/// A site with fewer pages is probed only if a page's title says that it does not exist.
const FEWEST_PAGES: u64 = 4;
/// Pages after which one more URL group of a site is probed.
const PAGES_FOR_AREA: u64 = 32;
/// Most URL groups of a site that are probed for that reason.
const MOST_AREAS: usize = 8;
/// Most URL groups of a site that are probed, including those with a suspicious title.
const MOST_SUSPECTED: usize = 16;
/// Failures after which a URL group is not probed again.
const MOST_FAILURES: u8 = 2;

/// The answer of a URL group to wrong addresses. It is probed once.
#[derive(Debug, Default)]
pub(super) struct Inquiry {
    /// `None` if the answers have nothing by which a page could be recognized.
    pub answer: OnceCell<Option<Soft404Signature>>,
    failures: AtomicU8,
}

impl Inquiry {
    /// Counts a probe without a usable answer.
    pub fn add_failure(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }

    fn is_open(&self) -> bool {
        !self.answer.initialized() && self.failures.load(Ordering::Relaxed) < MOST_FAILURES
    }

    fn known(&self) -> Option<&Soft404Signature> {
        self.answer.get().and_then(Option::as_ref)
    }
}

#[derive(Debug, Default)]
struct SiteProbes {
    pages: u64,
    /// Requests since the last [`take_requests`](Probes::take_requests).
    requests: u64,
    areas: Vec<(UrlGroup, Arc<Inquiry>)>,
}

impl SiteProbes {
    /// Returns the inquiry that must end before a page of this group is decided.
    fn inquiry(&mut self, area: UrlGroup, is_suspected: bool) -> Option<Arc<Inquiry>> {
        if let Some((_, inquiry)) = self.areas.iter().find(|(known, _)| *known == area) {
            return Some(inquiry.clone()).filter(|inquiry| inquiry.is_open());
        }
        let asked = self.areas.len();
        let is_worth_it = self.pages >= FEWEST_PAGES + PAGES_FOR_AREA * asked as u64 && asked < MOST_AREAS;
        let is_wanted = is_worth_it || (is_suspected && asked < MOST_SUSPECTED);
        is_wanted.then(|| {
            let inquiry = Arc::<Inquiry>::default();
            self.areas.push((area, inquiry.clone()));
            inquiry
        })
    }
}

/// The answers of all sites to wrong addresses. Memory: about 150 bytes an origin, and the words of its answers if a
/// page could be recognized by them.
#[derive(Debug)]
pub(in crate::crawl) struct Probes {
    is_on: bool,
    sites: Mutex<HashMap<String, SiteProbes>>,
}

impl Probes {
    /// Begins without answers. `origins` have pages of earlier runs. With `is_on` false, no site is probed.
    pub fn new<'a>(is_on: bool, origins: impl Iterator<Item = &'a HostRow>) -> Self {
        let pages = |row: &HostRow| {
            let kinds = [
                OutcomeKind::Stored,
                OutcomeKind::NotModified,
                OutcomeKind::NearDuplicate,
                OutcomeKind::ExactDuplicate,
            ];
            kinds.iter().filter_map(|kind| row.outcomes.get(kind)).sum()
        };
        let sites = origins
            .filter(|_| is_on)
            .map(|row| (row.origin.clone(), SiteProbes { pages: pages(row), ..SiteProbes::default() }));
        Self { is_on, sites: Mutex::new(sites.collect()) }
    }

    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Counts a page.
    pub(super) fn note_page(&self, origin: &str) {
        self.site(origin, |site| site.pages += 1);
    }

    /// Returns the probe with a known answer that says the same as this page.
    pub(super) fn matching(&self, origin: &str, page: impl FnOnce() -> AnswerWords) -> Option<CanonicalUrl> {
        let inquiries: Vec<Arc<Inquiry>> = self.site(origin, |site| {
            site.areas.iter().map(|(_, inquiry)| inquiry).filter(|inquiry| inquiry.known().is_some()).cloned().collect()
        });
        if inquiries.is_empty() {
            return None;
        }
        let page = page();
        let mut known = inquiries.iter().filter_map(|inquiry| inquiry.known());
        known.find(|known| known.matches(&page)).map(|known| known.probe.clone())
    }

    /// Returns the inquiry that must end before this page is decided. `is_suspected`: the page's title says that it does
    /// not exist.
    pub(super) fn inquiry(&self, url: &CanonicalUrl, is_suspected: bool) -> Option<Arc<Inquiry>> {
        let area = if is_suspected { UrlGroup::beside(url) } else { UrlGroup::around(url) };
        self.site(&url.origin(), |site| site.inquiry(area, is_suspected))
    }

    /// Counts a request.
    pub(super) fn note_request(&self, origin: &str) {
        self.site(origin, |site| site.requests += 1);
    }

    /// Returns the requests to an origin since the last call.
    pub fn take_requests(&self, origin: &str) -> u64 {
        if self.is_on { self.site(origin, |site| std::mem::take(&mut site.requests)) } else { 0 }
    }

    fn site<T>(&self, origin: &str, work: impl FnOnce(&mut SiteProbes) -> T) -> T {
        let mut sites: MutexGuard<'_, _> = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        match sites.get_mut(origin) {
            Some(site) => work(site),
            None => work(sites.entry(origin.to_owned()).or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndcrawl_model::Normalizer;

    fn url(path: &str) -> CanonicalUrl {
        Normalizer::default().absolute(&format!("http://a.test{path}")).unwrap()
    }

    /// How many areas are asked of a site of so many pages in as many directories.
    fn asked(pages: u64, is_suspected: bool) -> usize {
        let probes = Probes::new(true, [].iter());
        (0..pages)
            .filter(|page| {
                let url = url(&format!("/{page}/a"));
                probes.note_page(&url.origin());
                probes.inquiry(&url, is_suspected).is_some()
            })
            .count()
    }

    #[test]
    fn a_site_is_asked_by_its_size_unless_a_page_says_that_it_is_not_there() {
        assert_eq!([0, 3, 4, 35, 36, 68, 5_000].map(|pages| asked(pages, false)), [0, 0, 1, 1, 2, 3, MOST_AREAS]);
        assert_eq!([1, 5_000].map(|pages| asked(pages, true)), [1, MOST_SUSPECTED]);
    }

    #[test]
    fn pages_of_an_earlier_run_count() {
        let outcomes = [(OutcomeKind::Stored, 3), (OutcomeKind::Failed, 9)].into();
        let row = HostRow { origin: "http://a.test:80".to_owned(), outcomes, ..HostRow::default() };
        let probes = Probes::new(true, [row].iter());
        assert!(probes.inquiry(&url("/a"), false).is_none());
        probes.note_page("http://a.test:80");
        assert!(probes.inquiry(&url("/a"), false).is_some());
    }

    #[test]
    fn a_question_is_open_until_it_is_answered_or_has_failed_too_often() {
        let probes = Probes::new(true, [].iter());
        let inquiry = probes.inquiry(&url("/a"), true).unwrap();
        assert!(Arc::ptr_eq(&inquiry, &probes.inquiry(&url("/b"), false).unwrap()));
        for _ in 0..MOST_FAILURES {
            assert!(probes.inquiry(&url("/b"), false).is_some());
            inquiry.add_failure();
        }
        assert!(probes.inquiry(&url("/b"), true).is_none());
        let answered = probes.inquiry(&url("/c/"), true).unwrap();
        answered.answer.set(None).unwrap();
        assert!(probes.inquiry(&url("/c/"), true).is_none());
    }
}
