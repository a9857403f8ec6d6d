//! Made-up pages and batches, and a model of what the store should hold.

use std::path::Path;
use std::sync::Arc;

use ndcrawl_model::seeded::SeededRng;
use ndcrawl_model::{
    Batch, CommitMark, DecidedBy, Detector, Digest, Discovery, Fetched, FieldCounts, HostRow, LinkKind, Normalizer,
    OutcomeKind, OutcomeRow, PageId, PageRow, PutPage, Requeue, RobotsRow, RunningText, Score, Sequence, TermId,
    TermOrder, TermRow, UrlId, UrlRow, UrlState, Verdict, WarcLocation,
};

use super::super::{Archive, DoneRow, Identity, OpenedStore, Options, Result, Store, StoreReader, payload_digest};

pub(in super::super) fn options() -> Options {
    Options { cache_bytes: 4 << 20, warc_size: 20_000, ..Options::default() }
}

pub(in super::super) fn identity() -> Identity {
    Identity { crawl: "crawl".into(), format: super::super::FORMAT, rendering: "r1".into(), fingerprint: "f1".into() }
}

pub(in super::super) fn open(folder: &Path) -> Result<(Store, OpenedStore)> {
    Store::open(folder, options(), &identity())
}

/// A page as it was fetched.
pub(in super::super) fn fetched(url: &str, body: &[u8]) -> Fetched {
    Fetched {
        url: Normalizer::default().absolute(url).unwrap(),
        spelling: None,
        status: 200,
        version: "HTTP/1.1",
        reason: "OK".into(),
        headers: vec![("Content-Type".into(), b"text/html; charset=utf-8".to_vec())],
        request_headers: vec![("User-Agent".into(), b"ndcrawl".to_vec())],
        body: body.to_vec(),
        truncated: false,
        broken_off: None,
        address: Some(([127, 0, 0, 1], 80).into()),
        started_at: Some(1_800_000_000_123),
        elapsed: std::time::Duration::from_millis(5),
    }
}

pub(in super::super) fn put(page: u128, fetched: Fetched, verdict: Verdict, original: Option<&Fetched>) -> PutPage {
    let original = original.map(|of| (of.url.to_string(), of.started_at));
    put_page(PageId(page), fetched, verdict, original, false)
}

fn put_page(
    page: PageId,
    fetched: Fetched,
    verdict: Verdict,
    original: Option<(String, Option<i64>)>,
    keep_body: bool,
) -> PutPage {
    let (body_digest, payload_digest) = (Digest::of(&fetched.body), payload_digest(&fetched.body));
    PutPage {
        page,
        fetched: Arc::new(fetched),
        row: None,
        body_digest,
        payload_digest,
        verdict,
        original,
        keep_body,
        text: None,
        unchanged: None,
    }
}

/// All that the store is expected to hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in super::super) struct Model {
    pub(in super::super) urls: Vec<UrlRow>,
    pub(in super::super) terms: Vec<TermRow>,
    pub(in super::super) pages: Vec<PageRow>,
    pub(in super::super) done: Vec<DoneRow>,
    pub(in super::super) hosts: Vec<HostRow>,
    pub(in super::super) page_lines: String,
    pub(in super::super) error_lines: String,
    pub(in super::super) leased: Vec<(UrlId, u32)>,
    pub(in super::super) totals: ndcrawl_model::Totals,
}

impl Model {
    pub(in super::super) fn apply(&mut self, batch: Batch) {
        self.urls.extend(batch.urls);
        self.terms.extend(batch.terms);
        self.pages.extend(batch.pages);
        self.done.extend(batch.requeued.into_iter().map(DoneRow::Requeued));
        self.done.extend(batch.shortened.into_iter().map(DoneRow::Shortened));
        self.done.extend(batch.links.into_iter().map(DoneRow::Links));
        self.done.extend(batch.counterparts.into_iter().map(|(page, other)| DoneRow::Counterpart(page, other)));
        self.done.extend(Some(batch.unmatched).filter(|links| !links.is_empty()).map(DoneRow::Unmatched));
        self.done.extend(batch.repeats.into_iter().map(|(url, of)| DoneRow::Repeats(url, of)));
        self.done.extend(batch.outcomes.into_iter().map(DoneRow::Outcome));
        for host in batch.hosts {
            self.hosts.retain(|other| other.origin != host.origin);
            self.hosts.push(host);
        }
        self.hosts.sort_by(|a, b| a.origin.cmp(&b.origin));
        self.page_lines.extend(batch.page_lines.iter().flat_map(|line| [line, "\n"]));
        self.error_lines.extend(batch.error_lines.iter().flat_map(|line| [line, "\n"]));
        (self.leased, self.totals) = (batch.leased, batch.totals);
    }

    /// What the folder holds, read with everything that reads.
    pub(in super::super) fn read(folder: &Path, reader: &StoreReader, mark: &CommitMark) -> Self {
        let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        let mut hosts: Vec<HostRow> = reader.all_hosts().unwrap().map(Result::unwrap).collect();
        hosts.sort_by(|a, b| a.origin.cmp(&b.origin));
        Self {
            urls: reader.all_urls().unwrap().map(|row| row.unwrap().1).collect(),
            terms: reader.all_terms().unwrap().map(|row| row.unwrap().1).collect(),
            pages: reader.all_pages().unwrap().map(|row| row.unwrap().1).collect(),
            done: reader.all_done().unwrap().map(Result::unwrap).collect(),
            hosts,
            page_lines: text("pages.jsonl"),
            error_lines: text("errors.jsonl"),
            leased: mark.leased.clone(),
            totals: mark.totals.clone(),
        }
    }

    /// The next batch: some new URLs, some pages of which some repeat others, their archive records.
    pub(in super::super) fn next_batch(&self, random: &mut SeededRng, archive: &Archive) -> Batch {
        let mut batch = Batch { totals: self.totals.clone(), ..Batch::default() };
        for _ in 0..random.below(30) {
            let id = self.urls.len() + batch.urls.len();
            batch.urls.push(url_row(id, random));
        }
        let urls = self.urls.len() + batch.urls.len();
        for _ in 0..random.below(60) {
            batch.terms.push(format!("term{}", self.terms.len() + batch.terms.len()).into());
        }
        let undone = self.done.iter().filter(|row| matches!(row, DoneRow::Outcome(_))).count();
        for id in (undone..urls).take(random.below(6)) {
            self.add_page(&mut batch, UrlId(id as u32), random, archive);
        }
        if urls > 0 {
            let url = UrlId(random.below(urls) as u32);
            batch.leased.push((url, random.below(4) as u32));
            batch.counterparts.push((url, UrlId(random.below(urls) as u32)));
            batch.unmatched.push(url);
            batch
                .requeued
                .push(Requeue { url, discovery: Discovery { rank: 1, ..Discovery::new(LinkKind::Page, None, 1) } });
            batch.hosts = (0..random.below(3)).map(|_| host_row(random)).collect();
            batch.hosts.dedup_by(|a, b| a.origin == b.origin);
        }
        batch
    }

    /// A batch of many blocks, with all hosts in it, so that what it leaves behind would show.
    pub(in super::super) fn big_batch(&self, random: &mut SeededRng, archive: &Archive) -> Batch {
        let mut batch = self.next_batch(random, archive);
        for _ in 0..600 {
            batch.urls.push(url_row(self.urls.len() + batch.urls.len(), random));
            batch.terms.push(format!("big{}", self.terms.len() + batch.terms.len()).into());
        }
        let last = UrlId((self.urls.len() + batch.urls.len() - 1) as u32);
        let again = |url| Requeue { url, discovery: Discovery::new(LinkKind::Seed, Some(last), 2) };
        batch.requeued = (0..2000).map(|_| again(last)).collect();
        batch.hosts =
            (0..5).map(|host| HostRow { origin: origin(host), requests: 7777, ..HostRow::default() }).collect();
        batch
    }

    fn add_page(&self, batch: &mut Batch, url: UrlId, random: &mut SeededRng, archive: &Archive) {
        let row = self.urls.get(url.index()).or_else(|| batch.urls.get(url.index() - self.urls.len())).unwrap();
        let sequence = self.pages.len() + batch.pages.len();
        let stored = self.pages.iter().chain(&batch.pages).enumerate().filter(|(_, page)| page.verdict.is_unique());
        let stored: Vec<(usize, UrlId)> = stored.map(|(sequence, page)| (sequence, page.url)).collect();
        let of = (!stored.is_empty() && random.below(3) == 0).then(|| stored[random.below(stored.len())]);
        let body_of = |url: UrlId| format!("<p>body of {url}</p>").repeat(20 + url.index() % 7).into_bytes();
        let (kind, verdict, body) = match of {
            None => (OutcomeKind::Stored, Verdict::Unique, body_of(url)),
            Some((of, original)) if random.below(2) == 0 => {
                let of = Sequence(of as u32);
                (
                    OutcomeKind::ExactDuplicate,
                    Verdict::ExactDuplicate { of, decided_by: DecidedBy::BodyDigest },
                    body_of(original),
                )
            }
            Some((of, _)) => {
                let (of, detector, decided_by) = (Sequence(of as u32), Detector::Mwo, DecidedBy::Similarity);
                let verdict = Verdict::NearDuplicate {
                    of,
                    score: Score(850_000),
                    second: None,
                    difference: None,
                    detector,
                    decided_by,
                };
                (OutcomeKind::NearDuplicate, verdict, body_of(url))
            }
        };
        let page = PageId::new("crawl", &row.url, 0);
        let original = of.map(|(_, url)| {
            (self.urls.iter().chain(&batch.urls).nth(url.index()).unwrap().url.clone(), Some(1_800_000_000_123))
        });
        let put = put_page(page, fetched(&row.url, &body), verdict, original, random.below(4) == 0);
        let location = archive.put_page(&put).unwrap();
        batch.page_lines.push(format!(r#"{{"url":"{}","outcome":"{}"}}"#, row.url, kind.name()));
        batch.error_lines.push(format!(r#"{{"url":"{}"}}"#, row.url));
        batch.outcomes.push(OutcomeRow { url, kind });
        *batch.totals.outcomes.entry(kind).or_default() += 1;
        batch.pages.push(self.page_row(batch, url, page, &body, verdict, location, random));
        debug_assert_eq!(sequence + 1, self.pages.len() + batch.pages.len());
    }

    #[allow(clippy::too_many_arguments)]
    fn page_row(
        &self,
        batch: &Batch,
        url: UrlId,
        page: PageId,
        body: &[u8],
        verdict: Verdict,
        location: Option<WarcLocation>,
        random: &mut SeededRng,
    ) -> PageRow {
        let terms = self.terms.len() + batch.terms.len();
        // Now and then a page that takes several pieces.
        let most = if random.below(40) == 0 { terms } else { terms.min(50) };
        PageRow {
            url,
            page,
            group: most as u32,
            fetched_at: Some(1_700_000_000_000),
            body_digest: Digest::of(body),
            text_digest: None,
            verdict,
            terms: (0..most as u32).map(|term| (TermId(term), FieldCounts([1, 0, 0, 0, 0, 0, 0, term]))).collect(),
            least_weight: 0,
            order: TermOrder {
                text: RunningText { words: vec![most as u32], name: Vec::new() },
                ..TermOrder::default()
            },
            links: vec![url],
            location,
            renews: None,
            kind: ndcrawl_model::PageKind::Page,
            relevance: None,
        }
    }
}

fn url_row(id: usize, random: &mut SeededRng) -> UrlRow {
    UrlRow {
        url: format!("http://h{}.test/page/{id}?{}", random.below(5), "q".repeat(random.below(60))),
        discovery: Discovery::new(LinkKind::Page, None, random.below(9) as u16),
        state: UrlState::Queued,
        clue: None,
    }
}

fn origin(host: u64) -> String {
    format!("http://h{host}.test:80")
}

fn host_row(random: &mut SeededRng) -> HostRow {
    let robots = RobotsRow { fetched_at: 5, status: 200, body: vec![b'#'; random.below(3) * 50_000] };
    HostRow {
        origin: origin(random.below(5) as u64),
        robots: (random.below(3) > 0).then_some(robots),
        requests: random.below(1000) as u64,
        ..HostRow::default()
    }
}
