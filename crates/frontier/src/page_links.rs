//! The links of fetched pages, along which a shorter path is handed on.
//!
//! A page may be reached by a shorter path after its links were queued. Then the URLs that it names are nearer to the
//! seeds, too. Only links that can come to matter are kept: the page could get nearer, and so could the URL. Links to
//! the start page and to what it names, which are most links of most sites, cannot.
//!
//! Memory: 12 bytes for a page and 1 to 3 bytes for a link, in blocks of 64 KiB.

use hashbrown::HashMap;

use ndcrawl_model::{Discovery, LinkKind, PageLinksRow, UrlId};

/// The depth of a URL to which no link leads that may be followed.
pub(super) const NO_PATH: u16 = u16::MAX;

/// Bytes of a block. A longer record has a block of its own.
const BLOCK: usize = 64 * 1024;

/// A link of a page and how it hands on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageLink {
    pub(super) url: UrlId,
    pub(super) kind: LinkKind,
    /// A redirect does not count as a step.
    pub(super) is_redirect: bool,
}

impl PageLink {
    /// Returns the path to the URL behind this path to its page.
    pub(super) fn behind(self, page: UrlId, path: Discovery) -> Discovery {
        let hops = if self.is_redirect { path.hops.saturating_add(1) } else { 0 };
        let depth = if self.is_redirect { path.depth } else { path.depth.saturating_add(1) };
        Discovery { hops, ..Discovery::new(self.kind, Some(page), depth) }
    }
}

/// The links of fetched pages.
#[derive(Default)]
pub(super) struct PageLinks {
    /// The links of the page that is being offered, all of one kind.
    current: Option<PageLinksRow>,
    /// The last record of each page.
    places: HashMap<u32, u64>,
    blocks: Vec<Vec<u8>>,
    /// Records for the next commit.
    new: Vec<PageLinksRow>,
}

impl PageLinks {
    /// Returns the bytes in use.
    pub(super) fn bytes(&self) -> usize {
        let blocks = self.blocks.iter().map(Vec::capacity).sum::<usize>();
        let rows = self.new.iter().map(|row| row.links.capacity() * size_of::<UrlId>()).sum::<usize>();
        self.places.allocation_size() + blocks + rows + self.new.capacity() * size_of::<PageLinksRow>()
    }

    /// Notes a link that was offered, if a page, a redirect or a sitemap names it.
    pub(super) fn note(&mut self, discovery: Discovery, url: UrlId, depth: impl Fn(UrlId) -> u16) {
        let Discovery { kind, referrer: Some(page), hops, .. } = discovery else { return };
        let kind = if kind.is_listing() { LinkKind::Sitemap } else { kind };
        let is_redirect = hops > 0;
        if page == url || matches!(kind, LinkKind::Seed | LinkKind::Revision) {
            return;
        }
        match &mut self.current {
            Some(row) if row.page == page && row.kind == kind && row.is_redirect == is_redirect => row.links.push(url),
            _ => {
                self.end_page(depth);
                self.current = Some(PageLinksRow { page, kind, is_redirect, links: vec![url] });
            }
        }
    }

    /// Stores the links of the page that was being offered.
    pub(super) fn end_page(&mut self, depth: impl Fn(UrlId) -> u16) {
        let Some(mut row) = self.current.take() else { return };
        // Sitemaps hand on no path. What they list is recorded for the audit.
        if row.kind == LinkKind::Sitemap {
            row.links.sort_unstable();
            row.links.dedup();
            return self.new.push(row);
        }
        // A page may become a seed, so that its depth is 0.
        let least = u16::from(!row.is_redirect);
        if depth(row.page) == 0 {
            return;
        }
        row.links.retain(|&url| depth(url) > least && depth(url) != NO_PATH);
        row.links.sort_unstable();
        row.links.dedup();
        if !row.links.is_empty() {
            self.store(&row);
            self.new.push(row);
        }
    }

    /// Takes a record of an earlier run.
    pub(super) fn restore(&mut self, row: &PageLinksRow) {
        if row.kind != LinkKind::Sitemap {
            self.store(row);
        }
    }

    /// Takes the records for a commit.
    pub(super) fn take(&mut self) -> Vec<PageLinksRow> {
        std::mem::take(&mut self.new)
    }

    /// Stores a record: the place of the page's record before, the kind, the number of links, their differences.
    fn store(&mut self, row: &PageLinksRow) {
        let mut record = Vec::with_capacity(16 + 2 * row.links.len());
        // 0 is none.
        put(&mut record, self.places.get(&row.page.0).map_or(0, |place| place + 1));
        record.push(code(row.kind) | u8::from(row.is_redirect) << 7);
        put(&mut record, row.links.len() as u64);
        let mut before = 0;
        for link in &row.links {
            put(&mut record, u64::from(link.0 - before));
            before = link.0;
        }
        if self.blocks.last().is_none_or(|block| block.len() + record.len() > block.capacity()) {
            self.blocks.push(Vec::with_capacity(BLOCK.max(record.len())));
        }
        let number = self.blocks.len() as u64 - 1;
        if let Some(block) = self.blocks.last_mut() {
            self.places.insert(row.page.0, number << 32 | block.len() as u64);
            block.extend_from_slice(&record);
        }
    }

    /// Returns the links of a page.
    pub(super) fn of(&self, page: UrlId) -> Vec<PageLink> {
        let mut links = Vec::new();
        let mut place = self.places.get(&page.0).copied();
        while let Some(at) = place {
            let block = self.blocks.get((at >> 32) as usize).map_or(&[][..], Vec::as_slice);
            let mut record = block.get(at as u32 as usize..).unwrap_or_default();
            place = take(&mut record).checked_sub(1);
            let (&head, rest) = record.split_first().unwrap_or((&0, &[]));
            record = rest;
            let (kind, is_redirect) = (kind(head & 0x7f), head >> 7 == 1);
            let mut url = 0;
            for _ in 0..take(&mut record) {
                url += take(&mut record) as u32;
                links.push(PageLink { url: UrlId(url), kind, is_redirect });
            }
        }
        links
    }
}

const KINDS: [LinkKind; 4] = [LinkKind::Page, LinkKind::Duplicate, LinkKind::Redirect, LinkKind::SitemapFile];

fn code(kind: LinkKind) -> u8 {
    KINDS.iter().position(|known| *known == kind).unwrap_or_default() as u8
}

fn kind(code: u8) -> LinkKind {
    KINDS.get(usize::from(code)).copied().unwrap_or(LinkKind::Page)
}

/// Writes a number in groups of 7 bits, the lowest first.
fn put(record: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        record.push(number as u8 | 0x80);
        number >>= 7;
    }
    record.push(number as u8);
}

/// Reads a number; 0 at the end.
fn take(record: &mut &[u8]) -> u64 {
    let (mut number, mut shift) = (0, 0);
    while let Some((&byte, rest)) = record.split_first() {
        *record = rest;
        number |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 || shift > 63 {
            break;
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(page: u32, kind: LinkKind, links: &[u32]) -> PageLinksRow {
        let links = links.iter().map(|&id| UrlId(id)).collect();
        PageLinksRow { page: UrlId(page), kind, is_redirect: kind == LinkKind::Redirect, links }
    }

    #[test]
    fn every_link_comes_back_with_its_kind_across_blocks() {
        let mut links = PageLinks::default();
        let far: Vec<u32> = (0..30_000).map(|n| n * 131_072).collect();
        let rows = [
            row(1, LinkKind::Page, &[0, 127, 128, 16_384, u32::MAX]),
            row(2, LinkKind::Redirect, &[7]),
            row(3, LinkKind::Page, &far),
            row(1, LinkKind::Duplicate, &[5]),
            row(u32::MAX, LinkKind::SitemapFile, &[1, 2]),
        ];
        rows.iter().for_each(|row| links.store(row));
        assert_eq!(links.blocks.len(), 3);
        for page in [1, 2, 3, u32::MAX] {
            let mut expected: Vec<(u32, u8)> = Vec::new();
            for row in rows.iter().filter(|row| row.page == UrlId(page)) {
                expected.extend(row.links.iter().map(|id| (id.0, code(row.kind))));
            }
            let mut found: Vec<_> = links.of(UrlId(page)).iter().map(|link| (link.url.0, code(link.kind))).collect();
            assert!(links.of(UrlId(page)).iter().all(|link| link.is_redirect == (link.kind == LinkKind::Redirect)));
            expected.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, expected);
        }
        assert_eq!(links.of(UrlId(9)), []);
    }

    #[test]
    fn links_that_cannot_matter_cost_nothing() {
        let mut links = PageLinks::default();
        let depth = |id: UrlId| [0, 1, 2, 3][id.index()];
        for page in 0..4 {
            for url in 0..4 {
                links.note(Discovery::new(LinkKind::Page, Some(UrlId(page)), 9), UrlId(url), depth);
            }
        }
        links.end_page(depth);
        let kept: Vec<_> = links.take().into_iter().map(|row| (row.page.0, row.links)).collect();
        let (two, three) = (UrlId(2), UrlId(3));
        assert_eq!(kept, [(1, vec![two, three]), (2, vec![three]), (3, vec![two])]);
        assert_eq!((links.of(UrlId(0)), links.of(two).len(), links.take().len()), (vec![], 1, 0));
    }
}
