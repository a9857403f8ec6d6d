//! Findings that need the log: who links to whom, what sitemaps list, how much a page says.

use std::collections::{HashMap, HashSet};

use super::alike::PageGroups;
use super::frame::{Frames, PageFrame};
use super::{Audit, AuditedUrl, AuditedUrls, FindingKind};
use ndcrawl_model::{LinkKind, OutcomeKind, PageKind, PageRow, UrlId, shown_url};
use ndcrawl_store::{self as store, DoneRow, StoreReader};

/// A page with fewer words is thin.
const FEWEST_WORDS: u64 = 50;

/// What the log says of the URLs, by number.
#[derive(Default)]
struct Linked {
    /// The place of each URL among the lines.
    places: Vec<Option<usize>>,
    /// The sitemap that named a URL first.
    sitemaps: HashMap<usize, UrlId>,
    /// Unique pages that link to each URL.
    links: HashMap<usize, u64>,
    /// URLs to which any page or redirect leads.
    reached: HashSet<usize>,
    /// URLs that sitemaps list.
    listed: HashSet<usize>,
    /// Words of unique pages that are no list or feed.
    words: HashMap<usize, u64>,
    groups: PageGroups,
    frames: Vec<PageFrame>,
}

impl Audit {
    /// Adds what the log says. Reads all URLs once, and all pages twice.
    pub(super) fn add_linked(&mut self, urls: &AuditedUrls, reader: &StoreReader) -> Result<(), store::Error> {
        let linked = Linked::read(urls, reader)?;
        let mut duplicates: Vec<(u64, &AuditedUrl)> = Vec::new();
        for (place, page) in urls.urls.iter().enumerate() {
            let (url, is_kept) = (&*page.url, page.is_kept());
            if let Some(links) = linked.links.get(&place).filter(|_| !is_kept && page.kept.is_some()) {
                duplicates.push((*links, page));
            }
            if let Some(words) = linked.words.get(&place).filter(|words| **words < FEWEST_WORDS) {
                self.add_counted(FindingKind::ThinPage, url, "", Some(*words));
            }
            let is_page = page.kept.is_some() && is_kept;
            if let Some(sitemap) = linked.sitemaps.get(&place).filter(|_| is_page && !linked.reached.contains(&place)) {
                let sitemap = reader.url(*sitemap)?.map_or(String::new(), |row| row.url);
                self.add(FindingKind::SitemapOrphan, url, &sitemap);
            }
            let is_no_page = (page.kept.is_some() && !is_kept)
                || matches!(page.outcome, OutcomeKind::Redirected | OutcomeKind::Failed);
            if is_no_page && linked.listed.contains(&place) {
                let other = page.kept.as_deref().or(page.leads_to.as_deref()).unwrap_or_default();
                self.add(FindingKind::SitemapNoPage, url, other);
            }
        }
        let hosts: HashSet<&str> = linked.listed.iter().filter_map(|place| host(urls, *place)).collect();
        for (place, page) in urls.urls.iter().enumerate().filter(|(_, page)| page.is_kept()) {
            let has_sitemap = host(urls, place).is_some_and(|host| hosts.contains(host));
            if has_sitemap && !linked.listed.contains(&place) {
                self.add(FindingKind::NotInSitemap, &page.url, page.referrer.as_deref().unwrap_or_default());
            }
        }
        self.alike = linked.groups.alike();
        self.frames = linked.frames;
        self.frames.sort_by(|one, other| other.share().total_cmp(&one.share()));
        duplicates.sort_by_key(|(links, _)| std::cmp::Reverse(*links));
        for (links, page) in duplicates {
            let kept = page.kept.as_deref().unwrap_or_default();
            self.add_counted(FindingKind::LinkedDuplicate, &page.url, kept, Some(links));
        }
        Ok(())
    }
}

/// Returns the origin of a URL.
fn host(urls: &AuditedUrls, place: usize) -> Option<&str> {
    let url = &*urls.urls[place].url;
    let start = url.find("://")? + "://".len();
    Some(&url[..start + url[start..].find('/')?])
}

impl Linked {
    fn read(urls: &AuditedUrls, reader: &StoreReader) -> Result<Self, store::Error> {
        let mut linked = Self::default();
        for row in reader.all_urls()? {
            let (_, row) = row?;
            let place = urls.places.get(&*shown_url(&row.url)).copied();
            linked.places.push(place);
            if let (Some(place), true, Some(sitemap)) = (place, row.discovery.kind.is_listing(), row.discovery.referrer)
            {
                linked.sitemaps.insert(place, sitemap);
                linked.listed.insert(place);
            }
        }
        for row in reader.all_done()? {
            if let DoneRow::Links(row) = row? {
                let places = row.links.iter().filter_map(|link| linked.place(*link));
                match row.kind {
                    LinkKind::Sitemap => linked.listed.extend(places.collect::<Vec<_>>()),
                    _ => linked.reached.extend(places.collect::<Vec<_>>()),
                }
            }
        }
        linked.reached.extend(urls.urls.iter().filter_map(|page| urls.places.get(page.leads_to.as_deref()?).copied()));
        let frames = Frames::read(reader)?;
        for row in reader.all_pages()? {
            let (_, row) = row?;
            let kind = reader.kind_of(&row)?;
            linked.add(&PageRow { kind, ..row }, urls, &frames);
        }
        Ok(linked)
    }

    fn place(&self, url: UrlId) -> Option<usize> {
        self.places.get(url.index()).copied().flatten()
    }

    fn add(&mut self, row: &PageRow, urls: &AuditedUrls, frames: &Frames) {
        let Some(page) = self.place(row.url) else { return };
        let is_kept = row.verdict.is_unique() && urls.urls[page].is_kept();
        let mut places: Vec<usize> = row.links.iter().filter_map(|link| self.place(*link)).collect();
        places.sort_unstable();
        places.dedup();
        self.reached.extend(places.iter().filter(|place| **place != page));
        if !is_kept {
            return;
        }
        self.groups.add(&urls.urls[page].url, row);
        self.frames.extend(frames.of(row, &urls.urls[page].url));
        places.into_iter().for_each(|place| *self.links.entry(place).or_default() += 1);
        if matches!(row.kind, PageKind::Page | PageKind::Article) {
            self.words.extend(frames.own_words(row).map(|words| (page, words)));
        }
    }
}
