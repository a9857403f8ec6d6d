//! *What contradicts the measured duplicates?* What pages say of themselves (canonical page, title, URL) beside what the
//! crawl has found.
//!
//! Only what `pages.jsonl` has is asked, so a finding needs no further request. Memory grows with the pages compared.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde::Serialize;
use url::Url;

use crate::model::{OutcomeKind, PageLine};
use crate::store::{self, PageLines};

/// A kind of finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// A duplicate names no canonical page, or itself.
    CanonicalMissing,
    /// A page names one of another text.
    CanonicalElsewhere,
    /// A page names one that failed, moved or was refused.
    CanonicalBroken,
    /// A page names one that names a further one.
    CanonicalChain,
    /// The kept page of a cluster names another page of it.
    CanonicalNotKept,
    /// A duplicate has the URL of the kept page but for `http` and `https`.
    TwoSchemes,
    /// A duplicate has the URL of the kept page but for `www.`.
    TwoHosts,
    /// A duplicate has the URL of the kept page but for a slash at its end.
    TrailingSlash,
    /// A redirect leads to another redirect.
    RedirectChain,
    /// Unique pages have one title.
    SameTitle,
}

impl FindingKind {
    /// All kinds.
    pub const ALL: [Self; 10] = [
        Self::CanonicalMissing,
        Self::CanonicalElsewhere,
        Self::CanonicalBroken,
        Self::CanonicalChain,
        Self::CanonicalNotKept,
        Self::TwoSchemes,
        Self::TwoHosts,
        Self::TrailingSlash,
        Self::RedirectChain,
        Self::SameTitle,
    ];

    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::CanonicalMissing => "canonical-missing",
            Self::CanonicalElsewhere => "canonical-elsewhere",
            Self::CanonicalBroken => "canonical-broken",
            Self::CanonicalChain => "canonical-chain",
            Self::CanonicalNotKept => "canonical-not-kept",
            Self::TwoSchemes => "two-schemes",
            Self::TwoHosts => "two-hosts",
            Self::TrailingSlash => "trailing-slash",
            Self::RedirectChain => "redirect-chain",
            Self::SameTitle => "same-title",
        }
    }

    /// Returns what was found, in the plural.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::CanonicalMissing => "duplicates that name no canonical page, or themselves",
            Self::CanonicalElsewhere => "pages whose canonical page has another text",
            Self::CanonicalBroken => "pages whose canonical page is none: it failed, moved or was refused",
            Self::CanonicalChain => "pages whose canonical page names a further one",
            Self::CanonicalNotKept => "kept pages that name one of their copies",
            Self::TwoSchemes => "pages that are there by http and by https",
            Self::TwoHosts => "pages that are there with and without www.",
            Self::TrailingSlash => "pages that are there with and without a slash at the end",
            Self::RedirectChain => "redirects that lead to another redirect",
            Self::SameTitle => "unique pages with the title of another one",
        }
    }

    /// Returns what mends it, and what the other URL of each page is.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::CanonicalMissing => "let each name the page that it repeats",
            Self::CanonicalElsewhere | Self::CanonicalBroken => "let each name itself, or a page of the same text",
            Self::CanonicalChain => "let each name the last page of the chain",
            Self::CanonicalNotKept => "nothing, if the copy is meant; the crawl met the other one first",
            Self::TwoSchemes | Self::TwoHosts | Self::TrailingSlash => "redirect the one to the other (301)",
            Self::RedirectChain => "redirect to the last page at once",
            Self::SameTitle => "give each text a title of its own",
        }
    }
}

/// A page with a finding, and the page that it is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundPage {
    /// The URL of the page.
    pub url: String,
    /// The URL of the other one: the page that it repeats, names or leads to, or the first of its title.
    pub other: String,
}

/// What was found on a site.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    /// Pages compared.
    pub compared: u64,
    /// Of these, duplicates.
    pub duplicates: u64,
    /// The pages by kind, in the order of the crawl.
    pub findings: BTreeMap<FindingKind, Vec<FoundPage>>,
}

/// What the audit knows of a URL.
struct AuditedUrl {
    outcome: OutcomeKind,
    /// The kept page of its cluster; its own URL if it is kept.
    kept: Option<String>,
    canonical: Option<String>,
    leads_to: Option<String>,
}

impl Audit {
    /// Reads an output folder.
    ///
    /// # Errors
    /// If `pages.jsonl` can't be read.
    pub fn read(folder: &Path) -> Result<Self, store::Error> {
        let mut audit = Self::default();
        let (mut urls, mut order) = (HashMap::new(), Vec::new());
        let mut titles = HashMap::<String, String>::new();
        for line in PageLines::open(folder)? {
            let line = line?;
            let is_known = urls.insert(line.url.clone(), audited(&line)).is_some();
            if !is_known {
                order.push(line.url.clone());
            }
            let title = line.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
            if let Some(title) = title.filter(|_| line.is_kept() && !is_known) {
                match titles.get(title) {
                    Some(first) => audit.add(FindingKind::SameTitle, &line.url, first),
                    None => drop(titles.insert(title.to_owned(), line.url.clone())),
                }
            }
        }
        for url in &order {
            audit.look_at(url, &urls);
        }
        Ok(audit)
    }

    fn look_at(&mut self, url: &str, urls: &HashMap<String, AuditedUrl>) {
        let Some(page) = urls.get(url) else { return };
        if let Some(next) = page.leads_to.as_deref()
            && urls.get(next).is_some_and(|next| next.leads_to.is_some())
        {
            self.add(FindingKind::RedirectChain, url, next);
        }
        let Some(kept) = page.kept.as_deref() else { return };
        let is_kept = kept == url;
        self.compared += 1;
        self.duplicates += u64::from(!is_kept);
        if !is_kept && let Some(kind) = variant(url, kept) {
            self.add(kind, url, kept);
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

    fn add(&mut self, kind: FindingKind, url: &str, other: &str) {
        self.findings.entry(kind).or_default().push(FoundPage { url: url.to_owned(), other: other.to_owned() });
    }
}

fn audited(line: &PageLine) -> AuditedUrl {
    // Predicted duplicates were not compared, and pages of earlier crawls are not on this site.
    let is_compared = line.rule.is_none() && line.duplicate_in.is_none();
    let kept = if line.is_kept() { Some(line.url.clone()) } else { line.duplicate_of.clone().filter(|_| is_compared) };
    let is_redirect = line.outcome == OutcomeKind::Redirected;
    AuditedUrl {
        outcome: line.outcome,
        kept,
        canonical: line.canonical.clone(),
        leads_to: line.final_url.clone().filter(|_| is_redirect),
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
        let lines = [
            kept("/1", ",\"title\":\"One\""),
            copy("/1?print", "/1", &names("/1")),
            copy("/1?sid", "/1", &names("/1?sid")),
            copy("/1/", "/1", ""),
            kept("/2", &format!(",\"title\":\"One\"{}", names("/1"))),
            kept("/3", &names("/moved")),
            moved("/moved", "/moved-again"),
            moved("/moved-again", "/2"),
            kept("/4", &names("/4?copy")),
            copy("/4?copy", "/4", &names("/4?copy")),
            copy("/4?chain", "/4", &names("/4")),
            kept("/5", &names("/never-asked")),
        ];
        std::fs::write(folder.path().join("pages.jsonl"), lines.join("\n") + "\n").unwrap();
        let audit = Audit::read(folder.path()).unwrap();
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
                "redirect-chain /moved /moved-again",
                "same-title /2 /1",
            ]
        );
        assert_eq!((audit.compared, audit.duplicates), (10, 5));
    }
}
