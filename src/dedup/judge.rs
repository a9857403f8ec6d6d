//! Gives verdicts in order and builds the batches that are committed, as the crawl's judge does: but nothing
//! is leased, and no link is followed.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use crate::crawl::parts::{
    Book, EarlierPage, Line, Live, Records, Sealed, Snapshots, add_answer, add_page, error_line, group, outcome_of,
    unleased_line,
};
use crate::crawl::{Against, AgainstError, CrawlError};
use crate::detect::Decider;
use crate::model::{
    Digest, Discovery, EarlierVerdict, Exclusion, FailureClass, Fetched, Judged, LinkKind, Outcome, OutcomeKind,
    OutcomeRow, PageId, PageInput, PageRow, PutPage, Rendered, Requeue, Sequence, UrlId, UrlRow, UrlState, Verdict,
};
use crate::store::StoreReader;

use super::commit::Committed;

/// Pages that are decided together.
const AT_ONCE: usize = 32;

/// A page that was rendered, or why it could not be.
pub(super) struct Read {
    pub rendered: Box<Rendered>,
    pub body_digest: Digest,
    pub payload_digest: String,
}

/// An answer and what was made of it.
pub(super) struct Arrival {
    pub fetched: std::sync::Arc<Fetched>,
    /// `None` if it is no page: by its status or its type.
    pub read: Option<Result<Read, String>>,
}

/// The stored page that a duplicate repeats.
struct Original {
    /// `None` if an earlier crawl has stored it.
    id: Option<UrlId>,
    url: String,
    fetched_at: i64,
    /// The folder of that crawl.
    folder: Option<String>,
}

pub(super) struct Judge {
    pub crawl: String,
    pub reader: StoreReader,
    pub decider: Decider<Records>,
    /// The URL of each judged page, by sequence number.
    pub page_urls: Vec<UrlId>,
    pub book: Book,
    /// Pages of earlier crawls.
    pub against: Option<Arc<Against>>,
    pub snapshots: Snapshots,
    pub obey_noarchive: bool,
    pub keep_duplicates: bool,
    /// The number that the next URL gets.
    pub next_url: u32,
    /// Arrivals that wait to be decided together, each with the page that it is judged anew for.
    pub waiting: Vec<(Arrival, Option<Sequence>)>,
    pub building: Sealed,
    /// To the committer, while there is one.
    pub commits: Option<SyncSender<Sealed>>,
    pub committed: Arc<Committed>,
    pub live: Arc<Live>,
    /// Stored pages that are not committed: their URL and time of fetch.
    pub fresh: HashMap<Sequence, (String, i64)>,
}

impl Judge {
    /// Takes the next answer. `renews` is the page that is judged anew, if it was judged before.
    pub fn take(&mut self, arrival: Arrival, renews: Option<Sequence>) -> Result<(), CrawlError> {
        self.waiting.push((arrival, renews));
        if self.waiting.len() < AT_ONCE { Ok(()) } else { self.decide() }
    }

    /// Decides what waits, and hands it to the committer.
    pub fn flush(&mut self) -> Result<(), CrawlError> {
        self.decide()?;
        self.seal()
    }

    /// URLs of near-duplicates that would be none by now, each with its page.
    pub fn outgrown(&mut self) -> Result<HashMap<UrlId, Sequence>, CrawlError> {
        let outgrown = self.decider.outgrown(Sequence(0))?;
        Ok(outgrown.into_iter().map(|page| (self.page_urls[page.index()], page)).collect())
    }

    fn decide(&mut self) -> Result<(), CrawlError> {
        let mut waiting = std::mem::take(&mut self.waiting);
        let mut candidates = Vec::new();
        for (arrival, renews) in &mut waiting {
            if let Some(Ok(read)) = &mut arrival.read
                && !read.rendered.robots.noindex
            {
                candidates.push(PageInput {
                    page: self.name(&arrival.fetched, *renews),
                    group: group(arrival.fetched.url.host()),
                    body_digest: read.body_digest,
                    text_digest: read.rendered.text_digest,
                    terms: std::mem::take(&mut read.rendered.terms),
                    order: std::mem::take(&mut read.rendered.order),
                    renews: *renews,
                });
            }
        }
        self.decider.committed(Sequence(self.committed.pages()));
        let mut judged = self.decider.decide(candidates)?.into_iter();
        for (arrival, renews) in waiting {
            let is_judged = matches!(&arrival.read, Some(Ok(read)) if !read.rendered.robots.noindex);
            let judged = if is_judged { judged.next() } else { None };
            self.arrived(arrival, judged, renews)?;
            if self.building.is_full() {
                self.seal()?;
            }
        }
        self.snapshots.consider(&self.decider, &self.page_urls, self.committed.pages());
        self.live.publish(self.book.totals().clone(), self.decider.stats());
        Ok(())
    }

    fn name(&self, fetched: &Fetched, renews: Option<Sequence>) -> PageId {
        PageId::new(&self.crawl, fetched.url.as_str(), u32::from(renews.is_some()))
    }

    fn arrived(
        &mut self,
        arrival: Arrival,
        judged: Option<Judged>,
        renews: Option<Sequence>,
    ) -> Result<(), CrawlError> {
        let row = UrlRow {
            url: arrival.fetched.url.to_string(),
            discovery: Discovery::SEED,
            state: UrlState::Queued,
            clue: None,
        };
        let revised = renews.map(|earlier| self.earlier_verdict(earlier)).transpose()?;
        let url = match renews.and_then(|earlier| self.page_urls.get(earlier.index()).copied()) {
            Some(known) => {
                let discovery = Discovery { kind: LinkKind::Revision, ..row.discovery };
                let again = Requeue { url: known, discovery };
                self.building.batch.requeued.push(again);
                self.book.revised(&arrival.fetched.url.origin(), OutcomeKind::NearDuplicate);
                known
            }
            None => {
                self.building.batch.urls.push(row.clone());
                self.next_url += 1;
                UrlId(self.next_url - 1)
            }
        };
        let original = judged.as_ref().and_then(|judged| judged.verdict.duplicate_of());
        let original = original.map(|of| self.original(of)).transpose()?;
        let outcome = match &judged {
            Some(judged) => outcome_of(judged.verdict, original.as_ref().and_then(|original| original.id)),
            None => without_verdict(&arrival),
        };
        let mut line = unleased_line(&row, None, &outcome);
        add_answer(&mut line, &arrival.fetched);
        line.revised = revised;
        line.duplicate_of = original.as_ref().map(|original| original.url.clone());
        line.duplicate_in = original.as_ref().and_then(|original| original.folder.clone());
        if let Some(Ok(read)) = &arrival.read {
            add_page(&mut line, &read.rendered);
            line.digest = Some(read.payload_digest.clone());
        }
        let put = match (judged, arrival.read) {
            (Some(judged), Some(Ok(read))) => {
                let original = original.map(|original| (original.url, original.fetched_at));
                self.enter_page(
                    url,
                    &arrival.fetched,
                    *read.rendered,
                    read.body_digest,
                    read.payload_digest,
                    judged,
                    renews,
                    original,
                )
            }
            _ => None,
        };
        if let Outcome::Failed { .. } = outcome {
            let line = error_line(&line.url, 1, &outcome);
            self.building.batch.error_lines.extend(line.map(|line| serde_json::to_string(&line)).transpose()?);
        }
        self.book.outcome(&arrival.fetched.url.origin(), &outcome);
        self.building.urls += 1;
        self.building.batch.outcomes.push(OutcomeRow { url, kind: outcome.kind() });
        let put = put.map(|put| {
            self.building.bytes += put.fetched.body.len();
            self.building.puts.push((self.building.batch.pages.len() - 1, put));
            self.building.puts.len() - 1
        });
        self.building.lines.push(Line { line, put });
        Ok(())
    }

    /// Enters a judged page, and answers what the archive is to keep of it.
    #[allow(clippy::too_many_arguments)]
    fn enter_page(
        &mut self,
        url: UrlId,
        fetched: &std::sync::Arc<Fetched>,
        rendered: Rendered,
        body_digest: Digest,
        payload_digest: String,
        judged: Judged,
        renews: Option<Sequence>,
        original: Option<(String, i64)>,
    ) -> Option<PutPage> {
        let page = self.name(fetched, renews);
        self.page_urls.push(url);
        if judged.verdict.is_unique() {
            self.fresh.insert(judged.sequence, (fetched.url.to_string(), fetched.started_at));
        }
        self.building.batch.terms.extend(judged.new_terms);
        self.building.batch.pages.push(PageRow {
            url,
            page,
            group: group(fetched.url.host()),
            fetched_at: fetched.started_at,
            body_digest,
            text_digest: rendered.text_digest,
            verdict: judged.verdict,
            terms: judged.terms,
            least_weight: judged.least_weight,
            order: judged.order,
            links: Vec::new(),
            location: None,
            renews,
            relevance: None,
        });
        let archived = !(self.obey_noarchive && rendered.robots.noarchive);
        archived.then(|| PutPage {
            page,
            fetched: fetched.clone(),
            body_digest,
            payload_digest,
            verdict: judged.verdict,
            original,
            keep_body: self.keep_duplicates,
            unchanged: None,
        })
    }

    /// What is told of a stored page.
    fn original(&self, of: Sequence) -> Result<Original, CrawlError> {
        if let Some(number) = of.as_earlier() {
            let against = self.against.as_ref().ok_or(AgainstError::Changed)?;
            let EarlierPage { url, fetched_at, folder } = against.page(number)?;
            return Ok(Original { id: None, url, fetched_at, folder: Some(folder) });
        }
        let id = *self.page_urls.get(of.index()).ok_or(CrawlError::Lost { what: "page", id: of.0 })?;
        if let Some((url, fetched_at)) = self.fresh.get(&of) {
            return Ok(Original { id: Some(id), url: url.clone(), fetched_at: *fetched_at, folder: None });
        }
        let page = self.reader.page(of)?.ok_or(CrawlError::Lost { what: "page", id: of.0 })?;
        let row = self.reader.url(id)?.ok_or(CrawlError::Lost { what: "URL", id: id.0 })?;
        Ok(Original { id: Some(id), url: row.url, fetched_at: page.fetched_at, folder: None })
    }

    fn earlier_verdict(&self, page: Sequence) -> Result<EarlierVerdict, CrawlError> {
        let Some(Verdict::NearDuplicate { of, score, .. }) = self.decider.verdict(page) else {
            return Err(CrawlError::Lost { what: "page", id: page.0 });
        };
        let duplicate_of = self.original(of)?.url;
        let outcome = OutcomeKind::NearDuplicate.name().to_owned();
        Ok(EarlierVerdict { outcome, duplicate_of, score: score.as_f64() })
    }

    /// Hands the batch to the committer. Waits until the one before is committed.
    fn seal(&mut self) -> Result<(), CrawlError> {
        let mut sealed = std::mem::take(&mut self.building);
        sealed.batch.hosts = self.book.take_changed();
        if sealed.is_empty() {
            return Ok(());
        }
        sealed.batch.totals = self.book.totals().clone();
        let committed = self.committed.pages();
        self.fresh.retain(|sequence, _| sequence.0 >= committed);
        // A closed channel means that the committer has failed: it says why when it is joined.
        let Some(commits) = &self.commits else { return Err(CrawlError::Stopped) };
        commits.send(sealed).map_err(|_| CrawlError::Stopped)
    }
}

/// The outcome of an answer that is not judged.
fn without_verdict(arrival: &Arrival) -> Outcome {
    let fetched = &arrival.fetched;
    match (&arrival.read, fetched.status) {
        (Some(Ok(_)), _) => Outcome::Excluded(Exclusion::NoIndex),
        (Some(Err(why)), _) => {
            Outcome::Failed { class: FailureClass::Internal, detail: format!("rendering failed: {why}") }
        }
        (None, 200..=299) => Outcome::Excluded(Exclusion::Type),
        (None, 301 | 302 | 303 | 307 | 308) => match fetched.header("location") {
            Some(to) => Outcome::Redirected { to: fetched.url.as_url().join(&to).map_or(to, String::from), id: None },
            None => Outcome::Failed {
                class: FailureClass::Redirect,
                detail: format!("status {} without a Location", fetched.status),
            },
        },
        (None, status) => Outcome::Failed {
            class: FailureClass::Http,
            detail: format!("status {status} {}", fetched.reason).trim_end().to_owned(),
        },
    }
}
