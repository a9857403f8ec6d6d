//! For the URLs of which hosts is a sitemap read?
//!
//! A site speaks for itself only. So a sitemap is read for the URLs of the hosts whose robots.txt names it, wherever it
//! lies (sitemaps.org, "Sitemaps & Cross Submits"), and a sitemap that another one or a redirect leads to is read for
//! the same hosts. A seed is the user's word: its sitemap is read for all hosts, and the scope decides.
//!
//! A sitemap may be read before a second host names it. The URLs on other hosts wait here meanwhile, as long as the run
//! lasts.

use std::collections::{HashMap, HashSet};

use ndcrawl_model::{CanonicalUrl, UrlId};

/// Most URLs that wait for their host to name the sitemap: some 30 MB.
const MOST_WAITING: usize = 200_000;

/// A sitemap and those that lead to it: what decides for whom it is read.
pub(super) struct SitemapPath {
    /// The sitemap, then its index or redirect, and so on.
    pub sitemaps: Vec<UrlId>,
    /// Their hosts.
    pub hosts: Vec<String>,
    /// Whether it begins at a seed.
    pub is_from_seed: bool,
}

/// A URL that a sitemap names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SitemapEntry {
    pub sitemap: UrlId,
    pub url: CanonicalUrl,
}

/// The hosts that name each sitemap, and URLs that wait for theirs to do so.
#[derive(Default)]
pub(super) struct SitemapClaims {
    hosts: HashMap<UrlId, HashSet<String>>,
    /// URLs on hosts that have not named the sitemap, by each sitemap that leads to them.
    waiting: HashMap<UrlId, Vec<SitemapEntry>>,
    waiting_count: usize,
    /// Whether a URL was dropped because too many wait.
    is_full: bool,
}

impl SitemapClaims {
    /// Notes that the robots.txt of a host names a sitemap. Returns the URLs on it that waited for that.
    pub fn claim(&mut self, sitemap: UrlId, host: &str) -> Vec<SitemapEntry> {
        if !self.hosts.entry(sitemap).or_default().insert(host.to_owned()) {
            return Vec::new();
        }
        let Some(waiting) = self.waiting.get_mut(&sitemap) else { return Vec::new() };
        let claimed: Vec<_> = waiting.extract_if(.., |entry| entry.url.host() == host).collect();
        self.waiting_count -= claimed.len();
        claimed
    }

    /// Returns those of the URLs for which the sitemap is read. The others wait.
    pub fn read(&mut self, path: &SitemapPath, urls: Vec<CanonicalUrl>) -> Vec<CanonicalUrl> {
        let (read, others): (Vec<_>, Vec<_>) = urls.into_iter().partition(|url| self.is_read_for(path, url.host()));
        if let Some(sitemap) = path.sitemaps.first() {
            for url in others {
                self.wait(path, SitemapEntry { sitemap: *sitemap, url });
            }
        }
        read
    }

    /// Returns whether the sitemap may name a sitemap on this host. One on a host that names it by robots.txt may send the
    /// crawl anywhere, another one only to its own host and those that it is read for. So chains across hosts end.
    pub fn may_name(&self, path: &SitemapPath, host: &str) -> bool {
        let own = path.hosts.first().map(String::as_str).unwrap_or_default();
        let is_first_party = path.hosts.iter().all(|other| other == own) && self.is_read_for(path, own);
        is_first_party || host == own || self.is_read_for(path, host)
    }

    /// Whether the sitemap is read for the URLs of a host. A sitemap that no host is known to name is read for its own.
    fn is_read_for(&self, path: &SitemapPath, host: &str) -> bool {
        let mut named_by = path.sitemaps.iter().filter_map(|sitemap| self.hosts.get(sitemap)).peekable();
        let is_named = named_by.peek().is_some();
        path.is_from_seed
            || named_by.any(|hosts| hosts.contains(host))
            || (!is_named && path.hosts.iter().any(|other| other == host))
    }

    fn wait(&mut self, path: &SitemapPath, entry: SitemapEntry) {
        if self.waiting_count >= MOST_WAITING {
            if !std::mem::replace(&mut self.is_full, true) {
                let SitemapEntry { url, .. } = &entry;
                tracing::warn!(
                    "sitemaps: more than {MOST_WAITING} URLs wait for their host to name the sitemap that lists them; \
                     '{url}' and further ones are left out, give their hosts as seeds to crawl them"
                );
            }
            return;
        }
        for sitemap in &path.sitemaps {
            self.waiting.entry(*sitemap).or_default().push(entry.clone());
            self.waiting_count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndcrawl_model::Normalizer;

    fn urls(texts: &[&str]) -> Vec<CanonicalUrl> {
        texts.iter().map(|text| Normalizer::default().absolute(text).unwrap()).collect()
    }

    fn path(sitemaps: &[u32], hosts: &[&str]) -> SitemapPath {
        SitemapPath {
            sitemaps: sitemaps.iter().copied().map(UrlId).collect(),
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
            is_from_seed: false,
        }
    }

    #[test]
    fn a_sitemap_is_read_for_the_hosts_that_name_it_and_for_no_other() {
        let mut claims = SitemapClaims::default();
        claims.claim(UrlId(1), "a.test");
        let on_cdn = path(&[1], &["cdn.test"]);
        let read = claims.read(&on_cdn, urls(&["http://a.test/1", "http://cdn.test/2", "http://b.test/3"]));
        assert_eq!(read, urls(&["http://a.test/1"]));
        // Behind an index and a redirect, too.
        let behind = path(&[3, 2, 1], &["cdn.test", "cdn.test", "cdn.test"]);
        assert_eq!(claims.read(&behind, urls(&["http://a.test/4", "http://b.test/5"])), urls(&["http://a.test/4"]));
        // A host that names it later gets its URLs, of the sitemap and of those that it leads to.
        let late: Vec<_> = claims.claim(UrlId(1), "b.test");
        let expected = [(1, "http://b.test/3"), (3, "http://b.test/5")];
        assert_eq!(late.len(), 2);
        for (entry, (sitemap, url)) in late.iter().zip(expected) {
            assert_eq!((entry.sitemap, entry.url.as_str()), (UrlId(sitemap), url));
        }
        assert!(claims.claim(UrlId(1), "b.test").is_empty());
    }

    #[test]
    fn without_a_name_it_is_read_for_its_own_host_and_as_a_seed_for_all() {
        let mut claims = SitemapClaims::default();
        let both = urls(&["http://a.test/1", "http://b.test/2"]);
        assert_eq!(claims.read(&path(&[1], &["a.test"]), both.clone()), both[..1]);
        let seed = SitemapPath { is_from_seed: true, ..path(&[2], &["a.test"]) };
        assert_eq!(claims.read(&seed, both.clone()), both);
    }

    #[test]
    fn chains_of_sitemaps_across_hosts_end() {
        let mut claims = SitemapClaims::default();
        claims.claim(UrlId(1), "a.test");
        let own = path(&[1], &["a.test"]);
        assert!(claims.may_name(&own, "cdn.test"));
        let on_cdn = path(&[2, 1], &["cdn.test", "a.test"]);
        assert!(claims.may_name(&on_cdn, "cdn.test") && claims.may_name(&on_cdn, "a.test"));
        assert!(!claims.may_name(&on_cdn, "elsewhere.test"));
        claims.claim(UrlId(3), "a.test");
        assert!(!claims.may_name(&path(&[3], &["cdn.test"]), "elsewhere.test"));
    }
}
