//! *What do the licenses that pages and sites name say?* One request for each document and run.
//!
//! Statements in the form of RSL name a document. It is asked for as robots.txt is, where the robots.txt of its own site
//! allows it, and read by [`rsl_entries`]. A document that cannot be had or read leaves its statement as it is: unclear.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OnceCell;
use url::{Position, Url};

use super::path_preferences::rfc3339;
use super::robots_download::download_row;
use super::robots_rules::{RobotsRule, RobotsRules};
use super::{Fetcher, RobotsAnswer};
use ndcrawl_model::{
    CanonicalUrl, NormalizeOptions, Normalizer, Preference, PreferenceForm, RobotsRow, cut_preferences,
};
use pagetext::preferences::MOST;
use pagetext::{RslEntry, rsl_entries};

/// Bytes of a document that are read.
const MOST_BYTES: usize = 64 * 1024;
/// Characters from which on a name may have been cut.
const LONGEST_NAME: usize = 300;
/// Documents that are asked for on behalf of one site. No site may have requests multiplied by names.
const MOST_OF_SITE: u32 = 16;
/// Bytes of documents that are remembered. Beyond, all are forgotten.
const MAX_BYTES: usize = 64 * 1024 * 1024;
/// Estimated memory of a document beside its text, in bytes.
const ENTRY_BYTES: usize = 512;

/// A license: what it says of parts of sites.
#[derive(Debug)]
struct License {
    patterns: RobotsRules,
    entries: Vec<RslEntry>,
    fetched_at: Option<String>,
}

impl License {
    /// Reads a document; `None` if it cannot be had or read.
    fn of(row: &RobotsRow) -> Option<Self> {
        let entries = rsl_entries(&row.body).filter(|_| (200..300).contains(&row.status))?;
        let path = |entry: &RslEntry| match part_of(&entry.url).1 {
            "" => "/".to_owned(),
            path => path.to_owned(),
        };
        let patterns = entries.iter().map(|entry| RobotsRule { allows: true, path: path(entry) }).collect();
        Some(Self { patterns: RobotsRules::new(patterns), entries, fetched_at: rfc3339(row.fetched_at) })
    }

    /// Returns what it says of a page: the entries of the longest pattern.
    fn entries(&self, page: &Url) -> Vec<&RslEntry> {
        let is_here = |entry: &RslEntry| part_of(&entry.url).0.is_none_or(|site| site == page.origin());
        let path = &page[Position::BeforePath..Position::AfterQuery];
        let mut matching = self.patterns.matching(path);
        matching.retain(|(number, _)| self.entries.get(*number).is_some_and(is_here));
        let longest = matching.iter().map(|(_, length)| *length).max();
        let longest = matching.into_iter().filter(|(_, length)| Some(*length) == longest);
        longest.filter_map(|(number, _)| self.entries.get(number)).collect()
    }

    /// Returns the statements that take the place of one that names this license; none if it is not about the page.
    fn statements(&self, naming: &Preference, page: &Url) -> Vec<Preference> {
        let statement = |entry: &RslEntry| {
            let says = format!("{}: {}", naming.says, entry.terms);
            let uses = entry.uses.iter().map(|(usage, said)| (*usage, *said));
            Preference::new(PreferenceForm::Rsl, naming.from, &says, uses).fetched_at(self.fetched_at.clone())
        };
        self.entries(page).into_iter().map(statement).collect()
    }
}

/// Splits the part of an entry into its site, if it names one, and the pattern of its path.
fn part_of(url: &str) -> (Option<url::Origin>, &str) {
    let Some(host) = url.find("://").map(|at| at + 3) else { return (None, url) };
    let path = url[host..].find('/').map_or(url.len(), |at| host + at);
    (Url::parse(&url[..path]).ok().map(|site| site.origin()), &url[path..])
}

/// The place of one document. Callers wait for the first one, so that there is only one download.
type LicenseSlot = Arc<OnceCell<Option<Arc<License>>>>;

/// The licenses of all sites, bounded in memory.
#[derive(Default)]
pub(super) struct Licenses(Mutex<LicenseTable>);

#[derive(Default)]
struct LicenseTable {
    documents: HashMap<String, LicenseSlot>,
    /// The number of documents that were asked for, by the origin of the pages that named them.
    of_sites: HashMap<String, u32>,
    bytes: usize,
}

impl Licenses {
    /// Returns the place of a document; `None` if the site has named too many.
    fn slot(&self, document: &str, site: &str) -> Option<LicenseSlot> {
        let table = &mut *self.lock();
        if let Some(known) = table.documents.get(document) {
            return Some(known.clone());
        }
        let count = table.of_sites.entry(site.to_owned()).or_default();
        *count += 1;
        (*count <= MOST_OF_SITE).then(|| table.documents.entry(document.to_owned()).or_default().clone())
    }

    fn note_size(&self, bytes: usize) {
        let table = &mut *self.lock();
        table.bytes += bytes;
        if table.bytes > MAX_BYTES {
            *table = LicenseTable { of_sites: std::mem::take(&mut table.of_sites), ..LicenseTable::default() };
        }
    }

    fn lock(&self) -> MutexGuard<'_, LicenseTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fetcher {
    /// Puts what licenses say of a page in the place of statements that only name them, if files of sites are asked for
    /// ([`Options::preferences`](super::Options::preferences)). Returns the origins that may have got requests.
    pub async fn read_licenses(&self, page: &CanonicalUrl, preferences: &mut Vec<Preference>) -> BTreeSet<String> {
        let mut origins = BTreeSet::new();
        if !self.options().preferences || !preferences.iter().any(|said| said.form == PreferenceForm::Rsl) {
            return origins;
        }
        let names = Normalizer::new(NormalizeOptions { strip_params: Vec::new(), ..NormalizeOptions::default() });
        let (naming, mut others): (Vec<_>, Vec<_>) =
            preferences.drain(..).partition(|said| said.form == PreferenceForm::Rsl);
        let mut read = Vec::new();
        for said in naming {
            let document = Some(&said).filter(|said| said.says.chars().count() < LONGEST_NAME);
            let document = document.and_then(|said| names.resolve(page.as_url(), &said.says).ok());
            let license = match &document {
                Some(document) => {
                    origins.insert(document.origin());
                    self.license(document, &page.origin()).await
                }
                None => None,
            };
            let statements = license.map(|license| license.statements(&said, page.as_url())).unwrap_or_default();
            if statements.is_empty() {
                read.push(said);
            }
            read.extend(statements);
        }
        cut_preferences(&mut read, MOST);
        others.extend(read);
        *preferences = others;
        origins
    }

    /// Returns a license. Downloads it at the first call, on behalf of a site.
    async fn license(&self, document: &CanonicalUrl, site: &str) -> Option<Arc<License>> {
        let slot = self.0.licenses.slot(document.as_str(), site)?;
        let download = async {
            let robots = self.robots(document).await;
            let longest = self.options().max_crawl_delay;
            let is_too_slow = !longest.is_zero() && robots.crawl_delay().is_some_and(|delay| delay > longest);
            if is_too_slow || robots.allows(document) != RobotsAnswer::Allowed {
                return None;
            }
            let path = &document.as_url()[Position::BeforePath..Position::AfterQuery];
            let row = download_row(self, self.options(), &document.origin(), (path, MOST_BYTES)).await.0;
            self.0.licenses.note_size(ENTRY_BYTES + 2 * row.body.len());
            License::of(&row).map(Arc::new)
        };
        slot.get_or_init(|| download).await.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndcrawl_model::{PreferencePlace, Usage};

    fn told(document: &str, page: &str) -> Vec<String> {
        let row = RobotsRow { fetched_at: 0, status: 200, body: document.as_bytes().to_vec() };
        let naming = pagetext::preferences::rsl("https://l.test/l.xml", PreferencePlace::RobotsTxt);
        let said = License::of(&row).unwrap().statements(&naming, &Url::parse(page).unwrap());
        let words = |said: &Preference| {
            let search = said.uses.get(&Usage::Search).map_or("none", |said| said.name());
            format!("{search} [{}] {}", said.says, said.at.as_deref().unwrap_or_default())
        };
        said.iter().map(words).collect()
    }

    #[test]
    fn the_longest_part_of_the_site_of_a_page_counts() {
        let entry = |url: &str, word: &str| {
            format!("<content url=\"{url}\"><license><{word} type=\"usage\">search</{word}></license></content>")
        };
        let document = [
            entry("/", "prohibits"),
            entry("/open/*.html$", "permits"),
            entry("https://b.test/open/", "prohibits"),
            entry("https://b.test", "permits"),
            entry("", "permits"),
        ];
        let document = format!("<rsl>{}</rsl>", document.concat());
        let time = "1970-01-01T00:00:00.000Z";
        let permits = format!("y [https://l.test/l.xml: permits search] {time}");
        let prohibits = format!("n [https://l.test/l.xml: prohibits search] {time}");
        assert_eq!(told(&document, "https://a.test/open/1.html"), [permits.as_str()]);
        // Of equal parts all count.
        assert_eq!(told(&document, "https://a.test/x"), [&prohibits, &permits].map(String::as_str));
        assert_eq!(told(&document, "https://b.test/open/1"), [prohibits.as_str()]);
        assert_eq!(told(&document, "https://b.test/x").len(), 3);
        assert!(told("<rsl/>", "https://a.test/").is_empty());
    }

    #[test]
    fn a_document_that_cannot_be_had_or_read_is_none() {
        for (status, body) in [(404, "<rsl/>"), (0, ""), (503, "<rsl/>"), (200, "<p>no"), (200, "<rsl>")] {
            let row = RobotsRow { fetched_at: 0, status, body: body.as_bytes().to_vec() };
            assert!(License::of(&row).is_none(), "{status} {body}");
        }
    }

    #[test]
    fn a_site_has_few_documents_asked_for_and_known_ones_cost_nothing() {
        let licenses = Licenses::default();
        for number in 0..MOST_OF_SITE {
            assert!(licenses.slot(&number.to_string(), "http://a.test:80").is_some());
        }
        assert!(licenses.slot("another", "http://a.test:80").is_none());
        assert!(
            licenses.slot("0", "http://a.test:80").is_some() && licenses.slot("another", "http://b.test:80").is_some()
        );
    }
}
