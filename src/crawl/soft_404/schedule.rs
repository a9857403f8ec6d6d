//! Which sites were asked for wrong addresses, and when another question is worth its request.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OnceCell;

use super::signature::{AnswerWords, Soft404Signature};
use super::url_group::UrlGroup;
use crate::model::{CanonicalUrl, HostRow, OutcomeKind};

/// A site of fewer pages is asked only if a page says that it is not there.
const FEWEST_PAGES: u64 = 4;
/// Then one more area is asked for so many pages,
const PAGES_FOR_AREA: u64 = 32;
/// and so many in all.
const MOST_AREAS: usize = 8;
/// Areas that are asked at most because pages say that they are not there, those included.
const MOST_SUSPECTED: usize = 16;
/// A question that is not answered so often is not asked again.
const MOST_FAILURES: u8 = 2;

/// What an area of a site answers to wrong addresses, asked for once.
#[derive(Debug, Default)]
pub(super) struct Inquiry {
    /// `None`: nothing by which a page could be known.
    pub answer: OnceCell<Option<Soft404Signature>>,
    failures: AtomicU8,
}

impl Inquiry {
    /// The server gave no answer to speak of.
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
    /// Requests since they were last taken.
    requests: u64,
    areas: Vec<(UrlGroup, Arc<Inquiry>)>,
}

impl SiteProbes {
    /// The question that is to be answered before a page of this area is judged.
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

/// What all sites answer to wrong addresses. Memory: some 150 bytes an origin, and the words of its answers
/// if it has any that a page could be known by.
#[derive(Debug)]
pub(in crate::crawl) struct Probes {
    is_on: bool,
    sites: Mutex<HashMap<String, SiteProbes>>,
}

impl Probes {
    /// Nothing asked yet; of these origins pages were had before. `is_on`: whether anything is asked at all.
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

    /// Takes note of a page.
    pub(super) fn note_page(&self, origin: &str) {
        self.site(origin, |site| site.pages += 1);
    }

    /// The wrong address whose answer is known to be what this page says.
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

    /// The question that is to be answered before this page is judged. `is_suspected`: whether the page says
    /// that it is not there.
    pub(super) fn inquiry(&self, url: &CanonicalUrl, is_suspected: bool) -> Option<Arc<Inquiry>> {
        let area = if is_suspected { UrlGroup::beside(url) } else { UrlGroup::around(url) };
        self.site(&url.origin(), |site| site.inquiry(area, is_suspected))
    }

    /// Takes note of a request.
    pub(super) fn note_request(&self, origin: &str) {
        self.site(origin, |site| site.requests += 1);
    }

    /// The requests to an origin since this was last asked.
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
    use crate::model::Normaliser;

    fn url(path: &str) -> CanonicalUrl {
        Normaliser::default().absolute(&format!("http://a.test{path}")).unwrap()
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
