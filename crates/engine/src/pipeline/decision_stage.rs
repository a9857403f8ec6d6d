//! The one owner of the decision: it decides pages in the order of arrival, and builds the batches that are committed.

use std::collections::HashMap;
use std::sync::Arc;

use ndcrawl_model::{
    CanonicalUrl, Digest, Discovery, EarlierVerdict, Fetched, HostRow, Judged, LinkKind, Outcome, OutcomeKind,
    OutcomeRow, PageId, PageInput, PageKind, PageLine, PageRow, PutPage, Relevance, Requeue, Revision, RowName,
    Sequence, Totals, Unchanged, UrlId, Verdict, shown_url, split_capture_key,
};
use ndcrawl_store::{LineIndex, StoreReader};

use super::batch::PendingLine;
use super::displaced_page::{DisplacedPage, displaced_revision, displaced_row, line_again, shared_displaced_line};
use super::index_snapshot::DeciderState;
use super::named_original::{NamedOriginal, OriginalLinks};
use super::page_decider::{FolderDecider, PageDecider};
use super::page_lines::{error_line, outcome_of};
use super::reference_crawls::ReferencePage;
use super::render::compared_digest;
use super::shared_crawl::{SharedDecider, SharedOriginal, SharedPage, SharedRevision};
use super::{
    CommitProgress, HostStats, IndexSnapshots, LiveStats, PipelineError, RecentUrl, ReferenceCrawls,
    ReferenceCrawlsError, SealedBatch,
};

/// Which pages and bodies go into the archive.
#[derive(Clone, Copy, Debug)]
pub struct ArchivePolicy {
    /// Whether pages with `noarchive` are left out.
    pub obey_noarchive: bool,
    /// Whether the bodies of duplicates are archived too.
    pub keep_duplicates: bool,
}

/// A page that was decided, with all that its row and its record of the archive need.
pub struct DecidedPage {
    /// The number of its capture of that URL, from 1.
    pub capture: u32,
    /// The URL that it is the page of.
    pub url: UrlId,
    /// The page's deterministic name, as its digest has it if it is truncated.
    pub page: PageId,
    /// The answer.
    pub fetched: Arc<Fetched>,
    /// The row of a file that the page was, if it was one.
    pub row: Option<RowName>,
    /// The digest of the body that was compared.
    pub body_digest: Digest,
    /// See [`PageInput::group`].
    pub group: u32,
    /// The digest as the archive and `pages.jsonl` spell it.
    pub payload_digest: String,
    /// The digest of its text; none of a truncated body.
    pub text_digest: Option<Digest>,
    /// Text that was read from a document: the archive keeps it beside the body.
    pub document_text: Option<String>,
    /// Whether the page says `noarchive`.
    pub is_noarchive: bool,
    /// What the decider says of it.
    pub judged: Judged,
    /// The stored page that it repeats.
    pub original: Option<NamedOriginal>,
    /// The page that this one revises.
    pub renews: Option<Sequence>,
    /// How good a place for its text it is.
    pub kind: PageKind,
    /// The URLs that it links to.
    pub links: Vec<UrlId>,
    /// How it compares with the topic of a focused crawl.
    pub relevance: Option<Relevance>,
    /// If the page is unchanged: where its body is archived, and the answer as it was received.
    pub unchanged: Option<(Unchanged, Arc<Fetched>)>,
}

/// What a duplicate needs of a stored page that is not committed yet.
struct UncommittedPage {
    url: String,
    capture: u32,
    fetched_at: Option<i64>,
    links: Vec<UrlId>,
}

/// Decides pages in order, and builds batches.
pub struct DecisionStage {
    /// Decides.
    pub decider: PageDecider,
    /// Reads what was committed.
    pub reader: StoreReader,
    /// The URL of each page that was decided here, by sequence number. Empty if processes decide together.
    pub page_urls: Vec<UrlId>,
    /// Outcomes and requests of each origin.
    pub hosts: HostStats,
    /// What can be seen while it runs.
    pub live: Arc<LiveStats>,
    /// How far batches are committed.
    pub progress: Arc<CommitProgress>,
    /// Batches that were sealed.
    sealed: u64,
    /// The batch that is being built.
    pub building: SealedBatch,
    against: Option<Arc<ReferenceCrawls>>,
    policy: ArchivePolicy,
    /// Stored pages that are not committed yet.
    uncommitted: HashMap<Sequence, UncommittedPage>,
    /// Pages that are being revised, by URL.
    revising: HashMap<UrlId, Sequence>,
    /// The verdicts on these pages, if processes decide together.
    shared_verdicts: HashMap<Sequence, Verdict>,
    /// Whether `revising` has the near-duplicates that earlier runs left to be revised.
    has_earlier_revisions: bool,
    /// Displaced pages that were decided again, by the page that took their place.
    displaced: HashMap<Sequence, DisplacedPage>,
    /// The displaced page to enter after the next outcome.
    entering: Option<DisplacedPage>,
    /// Where committed lines are, once one was asked for.
    lines: Option<LineIndex>,
    /// Copies that did not take the place of a kept page, since the archive has no body of them.
    pub(super) without_body: u64,
}

impl DecisionStage {
    /// Creates the stage after `page_urls` pages were restored into `decider`. `terms` counts the terms of the log.
    pub fn new(
        (decider, page_urls): DeciderState,
        reader: StoreReader,
        counters: (Totals, Vec<HostRow>),
        snapshots: IndexSnapshots,
        against: Option<Arc<ReferenceCrawls>>,
        policy: ArchivePolicy,
        (pages, terms): (u32, u32),
    ) -> Self {
        let decider = PageDecider::Folder(Box::new(FolderDecider { decider, snapshots }));
        let building = SealedBatch::first(against.as_deref(), terms);
        let progress = CommitProgress::new(pages);
        Self { page_urls, against, building, ..Self::with(decider, reader, counters, progress, policy) }
    }

    /// Creates the stage of a crawl whose pages several processes decide together.
    pub fn shared(
        decider: Box<dyn SharedDecider>,
        reader: StoreReader,
        counters: (Totals, Vec<HostRow>),
        policy: ArchivePolicy,
    ) -> Self {
        Self::with(PageDecider::Shared(decider), reader, counters, CommitProgress::new(0), policy)
    }

    fn with(
        decider: PageDecider,
        reader: StoreReader,
        (totals, hosts): (Totals, Vec<HostRow>),
        progress: CommitProgress,
        policy: ArchivePolicy,
    ) -> Self {
        let live = Arc::new(LiveStats::default());
        live.publish(totals.clone(), decider.stats());
        Self {
            decider,
            reader,
            page_urls: Vec::new(),
            hosts: HostStats::restore(totals, hosts),
            live,
            progress: Arc::new(progress),
            sealed: 0,
            building: SealedBatch::default(),
            against: None,
            policy,
            uncommitted: HashMap::new(),
            revising: HashMap::new(),
            shared_verdicts: HashMap::new(),
            has_earlier_revisions: false,
            displaced: HashMap::new(),
            entering: None,
            lines: None,
            without_body: 0,
        }
    }

    /// Returns the decider's verdicts on these pages, in order.
    pub fn decide(&mut self, pages: Vec<PageInput>) -> Result<Vec<Judged>, PipelineError> {
        if pages.is_empty() {
            return Ok(Vec::new());
        }
        let FolderDecider { decider, .. } = self.decider.folder_mut().ok_or(PipelineError::Stopped)?;
        decider.committed(Sequence(self.progress.pages()));
        if pages.iter().all(|page| page.renews.is_none()) {
            return Ok(decider.decide(pages)?);
        }
        let mut judged = Vec::with_capacity(pages.len());
        for page in pages {
            let decided = decider.decide(vec![page])?;
            for Judged { sequence, displaced, .. } in &decided {
                if let Some(page) = *displaced {
                    // It is the next one in the log.
                    let displaced = DisplacedPage::decide(decider, &self.reader, page)?;
                    self.displaced.insert(*sequence, displaced);
                }
            }
            judged.extend(decided);
        }
        Ok(judged)
    }

    /// Returns the decisions of all processes on these pages, in order, and waits for them.
    /// `gone` are pages that could not be had.
    pub fn decide_shared(&mut self, pages: Vec<SharedPage>, gone: Vec<PageId>) -> Result<Vec<Judged>, PipelineError> {
        match &mut self.decider {
            PageDecider::Shared(shared) if !(pages.is_empty() && gone.is_empty()) => Ok(shared.decide(pages, gone)?),
            _ => Ok(Vec::new()),
        }
    }

    /// Returns the duplicates to decide again, each with its URL: near-duplicates that would be unique by now, and
    /// duplicates that are a better place for their text than the page they name. Leaves out pages below `from`.
    ///
    /// All pages should be committed: see [`are_all_committed`](Self::are_all_committed).
    pub fn outdated(&mut self, from: Sequence) -> Result<Vec<(UrlId, Sequence)>, PipelineError> {
        let Some(FolderDecider { decider, .. }) = self.decider.folder_mut() else { return Ok(Vec::new()) };
        let mut outdated = decider.outdated_duplicates(from)?;
        outdated.extend(decider.outranking(from));
        outdated.sort_unstable();
        outdated.dedup();
        let found = outdated.into_iter().filter_map(|page| Some((*self.page_urls.get(page.index())?, page)));
        let found: Vec<_> = found.collect();
        for (url, page) in &found {
            self.revising.entry(*url).or_insert(*page);
        }
        Ok(found)
    }

    /// Returns the page that a revision of this URL replaces.
    ///
    /// Cost: one look-up. After a restart, the first look-up of a URL that an earlier run had queued visits all pages.
    pub fn renewed(&mut self, url: UrlId) -> Option<Sequence> {
        if !self.revising.contains_key(&url) && !std::mem::replace(&mut self.has_earlier_revisions, true) {
            for (page, of) in (0..).map(Sequence).zip(&self.page_urls) {
                if self.decider.verdict(page).is_some_and(|verdict| !verdict.is_unique()) {
                    self.revising.entry(*of).or_insert(page);
                }
            }
        }
        self.revising.get(&url).copied()
    }

    /// Returns the facts about a stored page that its duplicate's line names.
    pub fn original(&mut self, of: Sequence) -> Result<NamedOriginal, PipelineError> {
        if let PageDecider::Shared(shared) = &mut self.decider {
            let SharedOriginal { url, fetched_at, links } = shared.named_page(of)?;
            let links = OriginalLinks::Earlier(links);
            return Ok(NamedOriginal { id: None, url, capture: 1, fetched_at, folder: None, links });
        }
        if let Some(number) = of.as_earlier() {
            let against = self.against.as_ref().ok_or(ReferenceCrawlsError::Changed)?;
            let ReferencePage { url, fetched_at, folder, links } = against.page(number)?;
            let links = OriginalLinks::Earlier(links);
            return Ok(NamedOriginal { id: None, url, capture: 1, fetched_at, folder: Some(folder), links });
        }
        let id = *self.page_urls.get(of.index()).ok_or(PipelineError::Lost { what: "page", id: of.0 })?;
        if let Some(UncommittedPage { url, capture, fetched_at, links }) = self.uncommitted.get(&of) {
            let (url, capture, fetched_at) = (url.clone(), *capture, *fetched_at);
            let links = OriginalLinks::Here(links.clone());
            return Ok(NamedOriginal { id: Some(id), url, capture, fetched_at, folder: None, links });
        }
        let page = self.reader.page(of)?.ok_or(PipelineError::Lost { what: "page", id: of.0 })?;
        let row = self.reader.url(id)?.ok_or(PipelineError::Lost { what: "URL", id: id.0 })?;
        let (url, capture) = split_capture_key(&row.url);
        let url = url.to_owned();
        let links = OriginalLinks::Here(page.links);
        Ok(NamedOriginal { id: Some(id), url, capture, fetched_at: page.fetched_at, folder: None, links })
    }

    /// Returns the verdict that a page had before its revision, for the line.
    pub fn earlier_verdict(
        &mut self,
        page: Sequence,
        judged: Option<&Judged>,
    ) -> Result<EarlierVerdict, PipelineError> {
        let verdict = self.earlier(page)?;
        let original = verdict.duplicate_of().map(|of| self.original(of)).transpose()?;
        let score = match verdict {
            Verdict::NearDuplicate { score, .. } => Some(score.as_f64()),
            _ => None,
        };
        let outcome = outcome_of(verdict, None).kind();
        let reason = judged.and_then(|judged| judged.displaced).map(|_| Revision::BetterPlace);
        Ok(EarlierVerdict { outcome, duplicate_of: original.map(|original| original.shown()), score, reason })
    }

    /// Takes back the outcome that a page had before its revision.
    pub fn take_back(&mut self, origin: &str, page: Sequence) -> Result<(), PipelineError> {
        let kind = outcome_of(self.earlier(page)?, None).kind();
        self.hosts.take_back(origin, kind);
        Ok(())
    }

    fn earlier(&self, page: Sequence) -> Result<Verdict, PipelineError> {
        let shared = self.shared_verdicts.get(&page).copied();
        shared.or_else(|| self.decider.verdict(page)).ok_or(PipelineError::Lost { what: "page", id: page.0 })
    }

    /// Notes that processes together have a page of this URL decided again.
    pub fn note_revision(&mut self, url: UrlId, revision: &SharedRevision) {
        self.revising.insert(url, revision.page);
        self.shared_verdicts.insert(revision.page, revision.verdict);
    }

    /// Has processes together decide a page again that gave its place to a better one, and enters the decision. Its
    /// archived page stays as it is.
    pub fn enter_shared_displaced(&mut self, url: UrlId, page: SharedPage) -> Result<(), PipelineError> {
        let input = page.input.clone();
        let fetched_at = page.fetched_at;
        let Some(judged) = self.decide_shared(vec![page], Vec::new())?.pop() else { return Ok(()) };
        let row = self.reader.url(url)?.ok_or(PipelineError::Lost { what: "URL", id: url.0 })?;
        let canonical = CanonicalUrl::from_canonical(split_capture_key(&row.url).0);
        let origin = canonical.map_err(|_| PipelineError::Lost { what: "URL", id: url.0 })?.origin();
        let original = judged.verdict.duplicate_of().map(|of| self.original(of)).transpose()?;
        let outcome = outcome_of(judged.verdict, None);
        self.hosts.take_back(&origin, OutcomeKind::Stored);
        let line = shared_displaced_line(&row, &outcome, original.as_ref());
        let discovery = Discovery { kind: LinkKind::Revision, ..row.discovery };
        self.building.batch.requeued.push(Requeue { url, discovery });
        self.building.batch.pages.push(displaced_row(url, input, fetched_at, &judged));
        self.enter_outcome((url, &origin), 0, &outcome, line, None)
    }

    /// Returns whether all that was sealed is committed.
    pub fn are_all_committed(&self) -> bool {
        self.progress.batches() == self.sealed
    }

    /// Enters a decided page into the batch. Returns what the archive is to keep of it.
    pub fn enter_page(&mut self, decided: DecidedPage) -> Option<PutPage> {
        let DecidedPage { url, page, fetched, body_digest, payload_digest, judged, renews, .. } = decided;
        let body_digest = compared_digest(page, &fetched, body_digest);
        let page = judged.page;
        self.entering = self.displaced.remove(&judged.sequence);
        let is_decided_here = self.decider.folder().is_some();
        if is_decided_here {
            self.page_urls.push(url);
        }
        if is_decided_here && judged.verdict.is_unique() {
            let (url, capture, fetched_at) = (fetched.url.to_string(), decided.capture, fetched.started_at);
            let stored = UncommittedPage { url, capture, fetched_at, links: decided.links.clone() };
            self.uncommitted.insert(judged.sequence, stored);
        }
        self.building.batch.terms.extend(judged.new_terms);
        self.building.batch.pages.push(PageRow {
            url,
            page,
            group: decided.group,
            fetched_at: fetched.started_at,
            body_digest,
            text_digest: decided.text_digest,
            verdict: judged.verdict,
            terms: judged.terms,
            least_weight: judged.least_weight,
            order: judged.order,
            links: decided.links,
            location: None,
            renews,
            kind: decided.kind,
            relevance: decided.relevance,
        });
        let is_archived = !(self.policy.obey_noarchive && decided.is_noarchive);
        let (unchanged, answer) = decided.unchanged.unzip();
        is_archived.then(|| PutPage {
            page,
            fetched: answer.filter(|_| judged.verdict.is_unique()).unwrap_or(fetched),
            row: decided.row,
            body_digest,
            payload_digest,
            verdict: judged.verdict,
            original: decided.original.map(|original| (original.url, original.fetched_at)),
            keep_body: self.policy.keep_duplicates,
            text: decided.document_text,
            unchanged,
        })
    }

    /// Enters the outcome of a URL into the batch and the counters. `put` belongs to the last row of the batch's pages.
    pub fn enter_outcome(
        &mut self,
        (url, origin): (UrlId, &str),
        requests: u32,
        outcome: &Outcome,
        line: PageLine,
        put: Option<PutPage>,
    ) -> Result<(), PipelineError> {
        self.hosts.add_outcome(origin, outcome);
        self.hosts.add_document(&line);
        let building = &mut self.building;
        building.urls += 1;
        building.batch.outcomes.push(OutcomeRow { url, kind: outcome.kind() });
        self.live.add_recent(recent_url(&line, outcome));
        if let Some(line) = error_line(&line.url, requests, outcome) {
            building.batch.error_lines.push(serde_json::to_string(&line)?);
        }
        let put = put.map(|put| {
            building.bytes += put.fetched.body.len();
            building.puts.push((building.batch.pages.len() - 1, put));
            building.puts.len() - 1
        });
        building.lines.push(PendingLine { line, put });
        self.entering.take().map_or(Ok(()), |displaced| self.enter_again(displaced, displaced_revision))
    }

    /// Enters the new decision on a page that was decided again from the log: its row, its outcome, and its line with what
    /// changed. `revision` says why, by the line before.
    ///
    /// What was archived stays where it is.
    pub(super) fn enter_again(
        &mut self,
        displaced: DisplacedPage,
        revision: impl FnOnce(&PageLine) -> PageLine,
    ) -> Result<(), PipelineError> {
        let id = displaced.url();
        let lost = |what| PipelineError::Lost { what, id: id.0 };
        let named = self.reader.url(id)?.ok_or(lost("URL"))?;
        let url = CanonicalUrl::from_canonical(split_capture_key(&named.url).0).map_err(|_| lost("URL"))?;
        let (origin, verdict) = (url.origin(), displaced.verdict());
        let original = verdict.duplicate_of().map(|of| self.original(of)).transpose()?;
        let outcome = outcome_of(verdict, original.as_ref().and_then(|original| original.id));
        let earlier = self.line_of(&named.url)?.ok_or(lost("the line of URL"))?;
        self.hosts.take_back(&origin, earlier.outcome);
        let revision = revision(&earlier);
        let line = line_again(earlier, revision, &named, &outcome, original.as_ref());
        let discovery = Discovery { kind: LinkKind::Revision, ..named.discovery };
        self.building.batch.requeued.push(Requeue { url: id, discovery });
        self.page_urls.push(id);
        if verdict.is_unique() {
            let (sequence, PageRow { fetched_at, links, .. }) = displaced.row();
            let (url, capture) = split_capture_key(&named.url);
            let (url, fetched_at, links) = (url.to_owned(), *fetched_at, links.clone());
            self.uncommitted.insert(sequence, UncommittedPage { url, capture, fetched_at, links });
        }
        let (row, new_terms) = displaced.into_row();
        self.building.batch.terms.extend(new_terms);
        self.building.batch.pages.push(row);
        self.enter_outcome((id, &origin), 0, &outcome, line, None)
    }

    /// Returns the committed line of a URL.
    pub(super) fn line_of(&mut self, url: &str) -> Result<Option<PageLine>, PipelineError> {
        let length = self.reader.mark().page_line_bytes;
        let lines = self.lines.get_or_insert_with(|| self.reader.line_index());
        Ok(lines.line(&shown_url(url), length)?)
    }

    /// Writes an index snapshot if one is due.
    pub fn consider_snapshot(&mut self) {
        if let Some(FolderDecider { decider, snapshots }) = self.decider.folder_mut() {
            snapshots.consider(decider, &self.page_urls, self.progress.pages());
        }
    }

    /// Ends the stage, and writes the last snapshot of the index if it is worth a file. Returns the counters, and the
    /// snapshots to publish after the last commit.
    pub fn end(self) -> (HostStats, Option<IndexSnapshots>) {
        let Self { decider, page_urls, hosts, without_body, .. } = self;
        if without_body > 0 {
            tracing::warn!(
                copies = without_body,
                "copies that --keep prefers are not kept: an earlier run without it has not archived their bodies; use --fresh"
            );
        }
        let PageDecider::Folder(folder) = decider else { return (hosts, None) };
        let FolderDecider { decider, mut snapshots } = *folder;
        snapshots.finish(&decider, &page_urls);
        (hosts, Some(snapshots))
    }

    /// Publishes the counters.
    pub fn publish(&self) {
        let stats = self.decider.stats();
        self.live.publish(self.hosts.totals().clone(), stats);
    }

    /// Takes the batch for the committer, with the changes of the counters; `None` if there is nothing to commit.
    pub fn seal(&mut self) -> Option<SealedBatch> {
        let mut sealed = std::mem::take(&mut self.building);
        sealed.batch.hosts = self.hosts.take_changed();
        if sealed.is_empty() {
            return None;
        }
        self.sealed += 1;
        sealed.batch.totals = self.hosts.totals().clone();
        let committed = self.progress.pages();
        self.uncommitted.retain(|sequence, _| sequence.0 >= committed);
        Some(sealed)
    }
}

/// Returns the group of a page: its host, as a number that is the same in every run.
pub fn group_of(host: &str) -> u32 {
    // The low half of a hash. Two hosts with the same number become one group: statistics by host get a little
    // coarser, and a comparison within hosts takes them for one.
    xxhash_rust::xxh3::xxh3_64(host.as_bytes()) as u32
}

/// Returns what the dashboard shows of a URL.
fn recent_url(line: &PageLine, outcome: &Outcome) -> RecentUrl {
    let detail = match outcome {
        Outcome::Failed { detail, .. } => Some(detail.clone()),
        _ => None,
    };
    RecentUrl {
        url: line.url.clone(),
        outcome: outcome.kind(),
        reason: line.reason,
        detail,
        duplicate_of: line.duplicate_of.clone(),
    }
}
