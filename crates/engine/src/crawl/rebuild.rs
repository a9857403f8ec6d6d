//! Rebuilds the logs of a crawl from its lines and its archive.
//!
//! The lines have the outcome of each URL, in the order of the outcomes. The archive has the bodies of kept pages;
//! they are rendered again for their records and links. So the rules of the frontier see the links in the same order
//! as the crawl did, and URLs without an outcome wait to be fetched.
//!
//! Lost, and counted, is what only the logs had: the records of duplicates, the links of pages without an archived
//! body, and the counters by origin.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_128;

use crate::documents::Readers;
use crate::pipeline::{
    ContentReader, PageRecords, RenderedPage, compared_digest, page_input, render_page, restore_decider,
};
use ndcrawl_frontier::EmbeddedFrontier;
use ndcrawl_model::{
    Batch, CanonicalUrl, CommitMark, Deferral, Discovery, Exclusion, Judged, Link, LinkKind, Normalizer, OutcomeKind,
    OutcomeRow, PageContent, PageId, PageLine, PageRow, Reason, Sequence, Totals, UrlId, UrlState,
};
use ndcrawl_store::{self as store, CrawlVersion, Identity, PageLines, Store};
use neardup::detect::Decider;
use pagetext::PageReader;

use super::conditional_fetch::{ArchivedPage, ArchivedPages};
use super::enqueue::link;
use super::options::Options;
use super::run::CrawlSetup;
use super::url_log::StoredUrls;
use super::{CrawlError, restore};

/// Lines that are committed together.
const AT_ONCE: usize = 256;

/// What was rebuilt, and what was lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RebuildReport {
    /// URLs with their outcomes.
    pub outcomes: u64,
    /// Kept pages among these, with their records.
    pub kept: u64,
    /// URLs without an outcome: those that wait, and those that rules exclude.
    pub waiting: u64,
    /// The first kept pages whose body cannot be read. They will be fetched again.
    pub unreadable: Vec<String>,
    /// Number of kept pages whose body cannot be read.
    pub unreadable_count: u64,
    /// Lines that cannot be read. Their URLs are fetched again if a link leads to them.
    pub damaged_lines: u64,
    /// Duplicates. Their verdicts stay; their records are lost, so later copies of them are not recognized by them.
    pub duplicates: u64,
    /// Duplicates and pages with `noindex`. Their links are lost.
    pub without_links: u64,
}

/// Most pages that are listed.
const MOST_NAMED: usize = 20;

/// Rebuilds the logs of `generation` in `store`, which is empty. Returns the store with everything durable, and still
/// locked: no other process can use the folder before the caller has marked it as whole.
///
/// # Errors
/// If the lines can't be read, or the store can't be written.
pub fn rebuild(
    setup: CrawlSetup,
    store: Store,
    identity: &Identity,
    generation: &CrawlVersion,
    archived: &ArchivedPages,
) -> Result<(RebuildReport, Store), CrawlError> {
    let reader = store.reader();
    let ((decider, _), _) = restore_decider(&setup.detect, &reader, None)?;
    let mut rebuilder = Rebuilder {
        frontier: restore::urls(setup.frontier, &reader, &identity.crawl)?.frontier,
        crawl: identity.crawl.clone(),
        options: setup.crawl,
        renderer: ContentReader::new(
            PageReader::new(setup.render, setup.normalizer.clone()),
            setup.documents.map(Readers::new),
        ),
        normalizer: setup.normalizer,
        decider,
        store,
        batch: Batch::default(),
        totals: Totals::default(),
        numbers: HashMap::new(),
        rebuilt: RebuildReport::default(),
    };
    rebuilder.batch.error_lines = generation.error_lines()?;
    for seed in setup.seeds {
        rebuilder.offer(vec![link(seed.url, Discovery::SEED)])?;
    }
    for line in PageLines::open(&generation.folder)? {
        match line {
            Ok(line) => rebuilder.line(line, archived)?,
            Err(store::Error::Corrupt { .. }) => rebuilder.rebuilt.damaged_lines += 1,
            Err(error) => return Err(error.into()),
        }
    }
    rebuilder.finish()
}

struct Rebuilder {
    options: Options,
    crawl: String,
    frontier: EmbeddedFrontier<StoredUrls>,
    decider: Decider<PageRecords>,
    renderer: ContentReader,
    normalizer: Normalizer,
    store: Store,
    batch: Batch,
    totals: Totals,
    /// URLs with lines, by hash.
    numbers: HashMap<u128, UrlId>,
    rebuilt: RebuildReport,
}

impl Rebuilder {
    fn line(&mut self, line: PageLine, archived: &ArchivedPages) -> Result<(), CrawlError> {
        // This program wrote the line, so the URL is in canonical form.
        let url = self.normalizer.absolute(&line.url).ok().filter(|url| url.as_str() == line.url);
        let Some(url) = url else {
            self.rebuilt.damaged_lines += 1;
            return Ok(());
        };
        let kind = line.outcome;
        let referrer = line.referrer.as_ref().and_then(|url| self.numbers.get(&xxh3_128(url.as_bytes()))).copied();
        let mut left_alone = [Deferral::DuplicateLink, Deferral::NoFollow, Deferral::NotInSitemap].into_iter();
        let only_seen = left_alone.find(|deferral| Some(Reason::Deferred(*deferral)) == line.reason);
        let offered = Link { only_seen, ..link(url.clone(), Discovery::new(LinkKind::Page, referrer, line.depth)) };
        let Some(id) = self.offer(vec![offered])?.pop() else { return Ok(()) };
        // These get their lines when the crawl ends.
        let is_kept_out = matches!(self.frontier.url(id)?.state, UrlState::Excluded(_));
        let is_unfetched = matches!(kind, OutcomeKind::Deferred | OutcomeKind::PredictedDuplicate)
            || (kind == OutcomeKind::Excluded && is_kept_out);
        if is_unfetched {
            return Ok(());
        }
        if kind.is_kept() {
            let page = archived.look_up(&url).map(|page| self.kept(id, &url, line.depth, page)).transpose()?;
            if page != Some(true) {
                // It stays in the queue.
                self.unreadable(&line.url);
                return Ok(());
            }
        }
        if matches!(kind, OutcomeKind::NearDuplicate | OutcomeKind::ExactDuplicate) {
            self.rebuilt.duplicates += 1;
            let of = line.duplicate_of.as_ref().and_then(|of| self.numbers.get(&xxh3_128(of.as_bytes())));
            self.batch.repeats.extend(of.map(|of| (id, *of)));
        }
        let is_noindex = line.reason == Some(Reason::Excluded(Exclusion::NoIndex));
        let had_links = is_noindex || matches!(kind, OutcomeKind::NearDuplicate | OutcomeKind::ExactDuplicate);
        self.rebuilt.without_links += u64::from(had_links);
        let target = line.final_url.as_ref().filter(|_| kind == OutcomeKind::Redirected);
        if let Some(to) = target.and_then(|to| self.normalizer.absolute(to).ok()) {
            let target = self.offer(vec![link(
                to,
                Discovery { hops: 1, ..Discovery::new(LinkKind::Redirect, Some(id), line.depth) },
            )])?;
            self.batch.repeats.extend(target.first().map(|target| (id, *target)));
        }
        self.frontier.restore_done(id, kind.is_page());
        self.numbers.insert(xxh3_128(line.url.as_bytes()), id);
        self.rebuilt.outcomes += 1;
        *self.totals.outcomes.entry(kind).or_default() += 1;
        self.totals.requests += u64::from(line.requests);
        self.batch.outcomes.push(OutcomeRow { url: id, kind });
        self.batch.page_lines.push(serde_json::to_string(&PageLine { revised: None, ..line })?);
        if self.batch.page_lines.len() >= AT_ONCE { self.commit().map(drop) } else { Ok(()) }
    }

    fn unreadable(&mut self, url: &str) {
        self.rebuilt.unreadable_count += 1;
        if self.rebuilt.unreadable.len() < MOST_NAMED {
            self.rebuilt.unreadable.push(url.to_owned());
        }
    }

    /// Restores record and links of a kept page. Returns whether it could be rendered.
    fn kept(&mut self, id: UrlId, url: &CanonicalUrl, depth: u16, page: ArchivedPage) -> Result<bool, CrawlError> {
        let location = page.location();
        let fetched = page.answer;
        let Ok(RenderedPage { mut rendered, body_digest, group, .. }) = render_page(&self.renderer, &fetched) else {
            return Ok(false);
        };
        if rendered.names_itself {
            self.offer(vec![link(url.clone(), Discovery::new(LinkKind::Page, Some(id), depth))])?;
        }
        let links = self.links(id, depth, &mut rendered)?;
        let name = PageId::new(&self.crawl, url.as_str(), 0);
        let input = page_input(name, &fetched, &mut rendered, (body_digest, group), None);
        let Judged { verdict, terms, order, least_weight, new_terms, .. } = self.decider.take_stored(input)?;
        self.rebuilt.kept += 1;
        self.batch.terms.extend(new_terms);
        self.batch.pages.push(PageRow {
            url: id,
            page: name,
            group,
            fetched_at: fetched.started_at,
            body_digest: compared_digest(name, &fetched, body_digest),
            text_digest: rendered.text_digest,
            verdict,
            terms,
            least_weight,
            order,
            links,
            location: Some(location),
            renews: None,
            kind: rendered.kind,
            relevance: None,
        });
        Ok(true)
    }

    fn links(&mut self, id: UrlId, depth: u16, rendered: &mut PageContent) -> Result<Vec<UrlId>, CrawlError> {
        let Options { follow_links, obey_nofollow, .. } = self.options;
        let links = std::mem::take(&mut rendered.links).into_iter().map(|out| Link {
            only_seen: match out.nofollow || rendered.robots.nofollow {
                _ if !follow_links => Some(Deferral::NotInSitemap),
                nofollow => (nofollow && obey_nofollow).then_some(Deferral::NoFollow),
            },
            ..link(out.url, Discovery::new(LinkKind::Page, Some(id), depth.saturating_add(1)))
        });
        self.offer(links.collect())
    }

    fn offer(&mut self, links: Vec<Link>) -> Result<Vec<UrlId>, CrawlError> {
        let offered = self.frontier.offer(links)?;
        Ok(offered.into_iter().map(|offered| offered.id).collect())
    }

    fn commit(&mut self) -> Result<CommitMark, CrawlError> {
        let changes = self.frontier.take_changes();
        let mut batch = std::mem::take(&mut self.batch);
        batch.urls = changes.urls;
        batch.requeued = changes.requeued;
        batch.shortened = changes.shortened;
        batch.links = changes.links;
        batch.counterparts = changes.counterparts;
        batch.totals = self.totals.clone();
        let mark = self.store.commit(batch)?;
        self.frontier.committed(mark.urls);
        self.decider.committed(Sequence(mark.pages));
        Ok(mark)
    }

    fn finish(mut self) -> Result<(RebuildReport, Store), CrawlError> {
        let mark = self.commit()?;
        let waiting = u64::from(mark.urls) - self.rebuilt.outcomes;
        Ok((RebuildReport { waiting, ..self.rebuilt }, self.store))
    }
}
