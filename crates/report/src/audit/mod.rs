//! *What contradicts the measured duplicates?* What pages say of themselves (canonical page, title, URL), how they link to
//! each other, and what sitemaps list, beside what the crawl has found.
//!
//! Only what the folder has is asked, so a finding needs no further request. Memory grows with the pages compared.

mod alike;
mod frame;
mod kind;
mod linked;
mod redirects;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::rc::Rc;

use url::Url;

use super::FoundPage;
use super::changes::{CrawledUrl, PagesLeft, SiteChange, changes};
use ndcrawl_model::{Deferral, Exclusion, OutcomeKind, PageLine, Reason};
use ndcrawl_store::{self as store, PageLines, StoreReader};

pub use alike::AlikePages;
pub use frame::PageFrame;
pub use kind::FindingKind;

/// What was found on a site.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    /// Pages compared.
    pub compared: u64,
    /// Of these, duplicates.
    pub duplicates: u64,
    /// What to change, what spares most first.
    pub changes: Vec<SiteChange>,
    /// What the safe ones of these changes leave.
    pub left: PagesLeft,
    /// The pages by kind, in the order of the crawl.
    pub findings: BTreeMap<FindingKind, Vec<FoundPage>>,
    /// Unique pages of one URL pattern that are much alike, the largest groups first.
    pub alike: Vec<AlikePages>,
    /// The share of the frame in each unique page, the largest first.
    pub frames: Vec<PageFrame>,
}

/// The first page with each title or heading.
type FirstPages = HashMap<String, String>;

/// What the audit knows of a URL.
struct AuditedUrl {
    url: Rc<str>,
    outcome: OutcomeKind,
    /// Whether it failed, or says no more than the answer to an invented URL.
    is_error: bool,
    /// The kept page of its cluster; its own URL if it is kept.
    kept: Option<String>,
    canonical: Option<String>,
    /// The pages that it names in other languages.
    alternates: Vec<String>,
    leads_to: Option<String>,
    referrer: Option<String>,
    requests: u32,
    /// Whether it was not fetched since it is expected to repeat another one.
    is_left_out: bool,
}

/// All URLs with an outcome, in the order of the crawl.
#[derive(Default)]
struct AuditedUrls {
    urls: Vec<AuditedUrl>,
    places: HashMap<Rc<str>, usize>,
}

impl Audit {
    /// Reads an output folder.
    ///
    /// # Errors
    /// If `pages.jsonl` or the log can't be read.
    pub fn read(folder: &Path, reader: &StoreReader) -> Result<Self, store::Error> {
        let (mut audit, urls) = Self::read_lines(folder)?;
        audit.add_linked(&urls, reader)?;
        Ok(audit)
    }

    /// Reads `pages.jsonl` only.
    fn read_lines(folder: &Path) -> Result<(Self, AuditedUrls), store::Error> {
        let (mut audit, mut urls) = (Self::default(), AuditedUrls::default());
        let (mut titles, mut headings) = (FirstPages::new(), FirstPages::new());
        for line in PageLines::open(folder)? {
            let line = line?;
            let is_new = urls.add(&line);
            if line.is_kept() && is_new {
                audit.add_same(FindingKind::SameTitle, &mut titles, line.title.as_deref(), &line.url);
                audit.add_same(FindingKind::SameHeading, &mut headings, line.heading.as_deref(), &line.url);
            }
        }
        urls.urls.iter().for_each(|page| audit.look_at(page, &urls));
        let crawled = urls.urls.iter().map(AuditedUrl::crawled);
        (audit.changes, audit.left) = changes(&crawled.collect::<Vec<_>>());
        Ok((audit, urls))
    }

    fn look_at(&mut self, page: &AuditedUrl, urls: &AuditedUrls) {
        let url = &*page.url;
        self.look_at_redirect(page, urls);
        let Some(kept) = page.kept.as_deref() else { return };
        let is_kept = kept == url;
        self.compared += 1;
        self.duplicates += u64::from(!is_kept);
        if !is_kept && let Some(kind) = variant(url, kept) {
            self.add(kind, url, kept);
        }
        if is_kept {
            self.look_at_alternates(page, urls);
        }
        let Some(canonical) = page.canonical.as_deref().filter(|canonical| *canonical != url) else {
            if !is_kept {
                self.add(FindingKind::CanonicalMissing, url, kept);
            }
            return;
        };
        // What was not asked is not known.
        let Some(named) = urls.get(canonical) else { return };
        match (&named.kept, named.outcome) {
            (None, OutcomeKind::Failed | OutcomeKind::Redirected) => {
                self.add(FindingKind::CanonicalBroken, url, canonical);
            }
            (None, _) => {}
            (Some(other), _) if other != kept => self.add(FindingKind::CanonicalElsewhere, url, canonical),
            (Some(_), _)
                if named.canonical.as_deref().is_some_and(|further| further != canonical && further != url) =>
            {
                self.add(FindingKind::CanonicalChain, url, canonical);
            }
            (Some(_), _) if is_kept => self.add(FindingKind::CanonicalNotKept, url, canonical),
            (Some(_), _) => {}
        }
    }

    /// Looks at the pages that a unique page names in other languages. `x-default` is often one of them again.
    fn look_at_alternates(&mut self, page: &AuditedUrl, urls: &AuditedUrls) {
        let mut named: Vec<&String> = page.alternates.iter().filter(|url| **url != *page.url).collect();
        named.sort_unstable();
        named.dedup();
        for other in named.into_iter().filter_map(|url| urls.get(url)) {
            let names_us = || other.alternates.iter().any(|url| **url == *page.url);
            let kind = match &other.kept {
                None if matches!(other.outcome, OutcomeKind::Failed | OutcomeKind::Redirected) => {
                    FindingKind::HreflangBroken
                }
                Some(_) if !other.is_kept() => FindingKind::HreflangDuplicate,
                Some(_) if !names_us() => FindingKind::HreflangNoReturn,
                _ => continue,
            };
            self.add(kind, &page.url, &other.url);
        }
    }

    /// Returns the page with the middle share of the frame; `None` if no host has a frame.
    pub fn median_frame(&self) -> Option<&PageFrame> {
        let has_frame = self.frames.first().is_some_and(|page| page.frame_words > 0);
        self.frames.get(self.frames.len() / 2).filter(|_| has_frame)
    }

    /// Adds a unique page that says of itself what another one says.
    fn add_same(&mut self, kind: FindingKind, first: &mut FirstPages, said: Option<&str>, url: &str) {
        let Some(said) = said.map(str::trim).filter(|said| !said.is_empty()) else { return };
        match first.get(said) {
            Some(first) => self.add(kind, url, first),
            None => drop(first.insert(said.to_owned(), url.to_owned())),
        }
    }

    fn add(&mut self, kind: FindingKind, url: &str, other: &str) {
        self.add_counted(kind, url, other, None);
    }

    fn add_counted(&mut self, kind: FindingKind, url: &str, other: &str, count: Option<u64>) {
        let found = FoundPage { url: url.to_owned(), other: other.to_owned(), count, ..FoundPage::default() };
        self.findings.entry(kind).or_default().push(found);
    }
}

impl AuditedUrls {
    /// Adds a line. Returns whether its URL is new; a later line of one takes the place of the first.
    fn add(&mut self, line: &PageLine) -> bool {
        let known = self.places.get(&*line.url).copied();
        let url = known.map_or_else(|| Rc::from(&*line.url), |place| Rc::clone(&self.urls[place].url));
        let page = AuditedUrl::of(line, Rc::clone(&url));
        match known {
            Some(place) => self.urls[place] = page,
            None => {
                self.places.insert(url, self.urls.len());
                self.urls.push(page);
            }
        }
        known.is_none()
    }

    fn get(&self, url: &str) -> Option<&AuditedUrl> {
        self.places.get(url).map(|place| &self.urls[*place])
    }
}

impl AuditedUrl {
    fn of(line: &PageLine, url: Rc<str>) -> Self {
        // Predicted duplicates were not compared, and pages of earlier crawls are not on this site.
        let is_compared = line.rule.is_none() && line.duplicate_in.is_none();
        let kept =
            if line.is_kept() { Some(line.url.clone()) } else { line.duplicate_of.clone().filter(|_| is_compared) };
        let is_left_out = matches!(
            line.reason,
            Some(Reason::Excluded(Exclusion::Pattern) | Reason::Deferred(Deferral::DuplicateLink))
        );
        let is_error = line.outcome == OutcomeKind::Failed || line.reason == Some(Reason::Excluded(Exclusion::Soft404));
        Self {
            url,
            outcome: line.outcome,
            is_error,
            kept,
            canonical: line.canonical.clone(),
            alternates: line.alternates.iter().map(|alternate| alternate.url.clone()).collect(),
            leads_to: line.leads_to().map(str::to_owned),
            referrer: line.referrer.clone(),
            requests: line.requests,
            is_left_out: line.outcome == OutcomeKind::PredictedDuplicate || is_left_out,
        }
    }

    /// Whether it is a unique page.
    fn is_kept(&self) -> bool {
        self.kept.as_deref() == Some(&*self.url)
    }

    fn crawled(&self) -> CrawledUrl<'_> {
        let Self { url, kept, requests, is_left_out, .. } = self;
        CrawledUrl { url, kept: kept.as_deref(), requests: *requests, is_left_out: *is_left_out }
    }
}

/// Returns how a duplicate's URL differs from that of the kept page, if in one of these ways only.
fn variant(url: &str, kept: &str) -> Option<FindingKind> {
    let (one, other) = (Url::parse(url).ok()?, Url::parse(kept).ok()?);
    let host = |url: &Url| url.host_str().map(str::to_owned);
    let bare = |url: &Url| host(url).map(|host| host.strip_prefix("www.").unwrap_or(&host).to_owned());
    let rest = |url: &Url| url[url::Position::BeforePath..].to_owned();
    let slashed = |url: &Url| (url.path().trim_end_matches('/').to_owned(), url.query().map(str::to_owned));
    match () {
        () if host(&one) == host(&other) && rest(&one) == rest(&other) && one.scheme() != other.scheme() => {
            Some(FindingKind::TwoSchemes)
        }
        () if host(&one) != host(&other) && bare(&one) == bare(&other) && rest(&one) == rest(&other) => {
            Some(FindingKind::TwoHosts)
        }
        () if one.origin() == other.origin() && slashed(&one) == slashed(&other) => Some(FindingKind::TrailingSlash),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_one_page_are_told_apart_by_their_parts() {
        let kind = |url, kept| variant(url, kept).map(FindingKind::name);
        for (url, kept, expected) in [
            ("http://a.test/x", "https://a.test/x", Some("two-schemes")),
            ("http://www.a.test/x?y", "http://a.test/x?y", Some("two-hosts")),
            ("http://www.a.test/x", "https://a.test/x", Some("two-hosts")),
            ("http://a.test/x/", "http://a.test/x", Some("trailing-slash")),
            ("http://a.test/x/?y", "http://a.test/x?y", Some("trailing-slash")),
            ("http://a.test/x?y", "http://a.test/x", None),
            ("http://b.test/x", "http://a.test/x", None),
            ("http://a.test/x/", "https://a.test/x", None),
        ] {
            assert_eq!(kind(url, kept), expected, "{url} {kept}");
        }
    }

    #[test]
    fn a_chain_as_long_as_the_crawl_is_followed_as_far_as_a_browser_would() {
        let folder = tempfile::tempdir().unwrap();
        let url = |place: usize| format!("http://a.test/{place}");
        let line = |place| {
            let (url, to) = (url(place), url(place + 1));
            format!("{{\"url\":\"{url}\",\"outcome\":\"redirected\",\"final_url\":\"{to}\"}}\n")
        };
        std::fs::write(folder.path().join("pages.jsonl"), (0..60).map(line).collect::<String>()).unwrap();
        let chains = Audit::read_lines(folder.path()).unwrap().0.findings.remove(&FindingKind::RedirectChain).unwrap();
        let hops: Vec<usize> = chains.iter().map(|page| page.hops.len()).collect();
        assert_eq!((hops.len(), hops[0], hops[50], hops[58]), (59, 20, 10, 2));
        assert_eq!(chains[0].other, url(20));
    }

    #[test]
    fn each_fault_that_was_planted_is_found_and_none_else() {
        let folder = tempfile::tempdir().unwrap();
        let kept = |path: &str, more: &str| format!("{{\"url\":\"http://a.test{path}\",\"outcome\":\"stored\"{more}}}");
        let copy = |path: &str, of: &str, more: &str| {
            let (url, of) = (format!("http://a.test{path}"), format!("http://a.test{of}"));
            format!("{{\"url\":\"{url}\",\"outcome\":\"near-duplicate\",\"duplicate_of\":\"{of}\"{more}}}")
        };
        let names = |path: &str| format!(",\"canonical\":\"http://a.test{path}\"");
        let moved = |path: &str, to: &str| {
            format!(
                "{{\"url\":\"http://a.test{path}\",\"outcome\":\"redirected\",\"final_url\":\"http://a.test{to}\"}}"
            )
        };
        let failed = |path: &str, why: &str, to: Option<&str>| {
            let to = to.map_or(String::new(), |to| format!(",\"final_url\":\"http://a.test{to}\""));
            format!("{{\"url\":\"http://a.test{path}\",\"outcome\":\"failed\",\"reason\":\"{why}\"{to}}}")
        };
        let lines = [
            kept("/1", ",\"title\":\"One\""),
            copy("/1?print", "/1", &names("/1")),
            copy("/1?sid", "/1", &names("/1?sid")),
            copy("/1/", "/1", ""),
            kept("/2", &format!(",\"title\":\"One\"{}", names("/1"))),
            kept("/3", &(names("/moved") + ",\"heading\":\"Three\"")),
            moved("/moved", "/moved-again"),
            moved("/moved-again", "/2"),
            kept("/4", &names("/4?copy")),
            copy("/4?copy", "/4", &names("/4?copy")),
            copy("/4?chain", "/4", &names("/4")),
            kept("/5", &(names("/never-asked") + ",\"heading\":\" Three\"")),
            moved("/dead", "/gone"),
            failed("/gone", "http", None),
            moved("/round", "/back"),
            failed("/back", "redirect", Some("/round")),
            failed("/alone", "redirect", None),
        ];
        std::fs::write(folder.path().join("pages.jsonl"), lines.join("\n") + "\n").unwrap();
        let audit = Audit::read_lines(folder.path()).unwrap().0;
        let path = |url: &str| url.strip_prefix("http://a.test").unwrap().to_owned();
        let mut told = Vec::new();
        for (kind, pages) in &audit.findings {
            told.extend(pages.iter().map(|page| format!("{} {} {}", kind.name(), path(&page.url), path(&page.other))));
        }
        assert_eq!(
            told,
            [
                "canonical-missing /1?sid /1",
                "canonical-missing /1/ /1",
                "canonical-missing /4?copy /4",
                "canonical-elsewhere /2 /1",
                "canonical-broken /3 /moved",
                "canonical-chain /4?chain /4",
                "canonical-not-kept /4 /4?copy",
                "trailing-slash /1/ /1",
                "redirect-chain /moved /2",
                "redirect-broken /dead /gone",
                "redirect-loop /round /round",
                "redirect-loop /back /back",
                "same-title /2 /1",
                "same-heading /5 /3",
            ]
        );
        let hops = &audit.findings[&FindingKind::RedirectChain][0].hops;
        assert_eq!(hops.iter().map(|url| path(url)).collect::<Vec<_>>(), ["/moved-again", "/2"]);
        assert_eq!((audit.compared, audit.duplicates), (10, 5));
    }
}
