//! The decisions of a cluster, as the parts of a crawl ask for them.

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::arriving::{ArrivingPage, PageFacts};
use super::crawl_session::CrawlSession;
use super::end_of_crawl::{NextStep, next_step};
use super::error::ClusterError;
use super::lease::RunId;
use super::named_page::{judged_page, named_page};
use super::open_pages::{OpenPages, fetched_again, is_same_content};
use super::page_grants::{grant_pages, return_pages};
use super::question::Question;
use super::revisions::{DoubtfulPage, Rounds, renewal_name};
use super::run_status::PageDecision;
use super::test_point::{completes_changed_pages, test_point};
use super::turn_runner::PageSubmitter;
use ndcrawl_engine::pipeline::{SharedDecider, SharedOriginal, SharedPage, SharedRevision, SharedStep, SharingError};
use ndcrawl_model::{
    CanonicalUrl, Judged, OwnSlots, PageId, PageInput, PageTerms, Sequence, SlotMap, TermOrder, Verdict,
};
use neardup::detect::DeciderStats;

/// Sends pages to their turns, and waits for the decisions.
pub(super) struct ClusterDecider {
    pub runtime: Handle,
    pub session: CrawlSession,
    pub run: RunId,
    pub submitter: PageSubmitter,
    pub map: SlotMap,
    /// Pages of these slots that were judged for a process that was lost.
    pub open: OpenPages,
    /// The most pages of the crawl, if it has a limit.
    pub limit: Option<u64>,
    /// The slots of this process.
    pub own: OwnSlots,
    pub rounds: Rounds,
    pub stats: DeciderStats,
}

/// What becomes of a page.
enum Prepared {
    /// It was judged before with this content.
    Judged(Box<Judged>),
    /// It is to be judged, and may replace the page of this name.
    Send(Box<ArrivingPage>, Option<PageId>),
}

/// A page whose decision is waited for.
enum Awaited {
    Judged(Box<Judged>),
    /// The name by which a page was sent, that of the page that it replaces, and who tells the decision.
    Sent(PageId, Option<PageId>, oneshot::Receiver<PageDecision>),
}

impl ClusterDecider {
    /// Says what becomes of a page. Sends nothing, so that after an error nothing is on its way.
    fn prepare(&mut self, page: SharedPage) -> Result<Prepared, SharingError> {
        let SharedPage { mut input, url, fetched_at, links } = page;
        let (name, judged) = self.open.latest(input.page);
        let mut replaced = None;
        input.page = name;
        if let Some(sequence) = judged {
            let (before, verdict) = self.judged_page(sequence)?;
            if is_same_content(&before.input, &input) || completes_changed_pages() {
                self.open.complete(name);
                return Ok(Prepared::Judged(Box::new(decision(name, sequence, verdict, None))));
            }
            replaced = Some(name);
            input.page = fetched_again(name);
        }
        let canonical = CanonicalUrl::from_canonical(&url)
            .map_err(|error| ClusterError::Damaged(format!("'{url}' was fetched: {error}")))?;
        let slot = Some(self.map.slot_of(&canonical));
        let facts = PageFacts { url, fetched: fetched_at, links };
        let page = ArrivingPage { input, facts, slot, replaces: judged };
        Ok(Prepared::Send(Box::new(page), replaced))
    }

    fn send(&self, prepared: Prepared) -> Awaited {
        match prepared {
            Prepared::Judged(judged) => Awaited::Judged(judged),
            Prepared::Send(page, replaced) => Awaited::Sent(page.input.page, replaced, self.submitter.submit(*page)),
        }
    }

    fn end(&mut self, awaited: Awaited) -> Result<Judged, SharingError> {
        let (name, replaced, decision_on) = match awaited {
            Awaited::Judged(judged) => return Ok(*judged),
            Awaited::Sent(name, replaced, decision) => (name, replaced, decision),
        };
        let lost = ClusterError::RunLost(self.run.0);
        let Ok(decided) = decision_on.blocking_recv() else { return Err(lost.into()) };
        if decided.run != self.run {
            return Err(lost.into());
        }
        if decided.redelivered {
            // It was judged after this generation had looked for such pages. The next one finds it.
            return Err(lost.into());
        }
        replaced.into_iter().for_each(|page| self.open.withdraw(page));
        Ok(decision(name, decided.sequence, decided.verdict, decided.displaced))
    }

    /// Has judged pages leave the index, and waits until they have.
    fn withdraw(&mut self, pages: Vec<(PageId, Sequence)>) -> Result<(), SharingError> {
        if completes_changed_pages() {
            return Ok(());
        }
        let sent: Vec<_> =
            pages.into_iter().map(|(page, sequence)| (page, self.submitter.withdraw(sequence))).collect();
        for (page, done) in sent {
            if done.blocking_recv() != Ok(self.run) {
                return Err(ClusterError::RunLost(self.run.0).into());
            }
            self.open.withdraw(page);
        }
        Ok(())
    }

    /// Asks, and waits until a turn has the answer.
    fn ask(&mut self, question: Question) -> Result<(), ClusterError> {
        let answered = self.submitter.ask(question).blocking_recv();
        if answered == Ok(self.run) { Ok(()) } else { Err(ClusterError::RunLost(self.run.0)) }
    }

    fn judged_page(&mut self, page: Sequence) -> Result<(ArrivingPage, Verdict), ClusterError> {
        let found = self.runtime.block_on(self.session.with(async |session| judged_page(session, page).await))?;
        found.ok_or_else(|| undecided(page))
    }
}

fn undecided(page: Sequence) -> ClusterError {
    ClusterError::Damaged(format!("no turn has decided page {page}"))
}

/// Returns a decision as the parts of a crawl know it: the shared log has the terms.
fn decision(page: PageId, sequence: Sequence, verdict: Verdict, displaced: Option<Sequence>) -> Judged {
    Judged {
        page,
        sequence,
        verdict,
        terms: PageTerms::default(),
        order: TermOrder::default(),
        least_weight: 0,
        new_terms: Vec::new(),
        // Its decision is in a turn already, but no commit has its outcome.
        redelivered: false,
        displaced,
    }
}

impl SharedDecider for ClusterDecider {
    fn decide(&mut self, pages: Vec<SharedPage>, gone: Vec<PageId>) -> Result<Vec<Judged>, SharingError> {
        let gone = gone.into_iter().map(|page| self.open.latest(page));
        let gone: Vec<_> = gone.filter_map(|(page, judged)| Some((page, judged?))).collect();
        let prepared = pages.into_iter().map(|page| self.prepare(page)).collect::<Result<Vec<_>, _>>()?;
        let awaited: Vec<_> = prepared.into_iter().map(|page| self.send(page)).collect();
        self.withdraw(gone)?;
        // All are waited for, also after an error: then nothing is on its way.
        let ended: Vec<_> = awaited.into_iter().map(|awaited| self.end(awaited)).collect();
        let judged = ended.into_iter().collect::<Result<Vec<_>, _>>()?;
        self.stats.judged += judged.len() as u64;
        if !judged.is_empty() {
            test_point("turn");
        }
        Ok(judged)
    }

    fn withdraw_rest(&mut self) -> Result<(), SharingError> {
        self.withdraw(self.open.in_index())
    }

    fn named_page(&mut self, page: Sequence) -> Result<SharedOriginal, SharingError> {
        let found = self.runtime.block_on(self.session.with(async |session| named_page(session, page).await))?;
        let PageFacts { url, fetched, links } = found.ok_or_else(|| undecided(page))?.facts;
        Ok(SharedOriginal { url, fetched_at: fetched, links })
    }

    fn stats(&self) -> DeciderStats {
        self.stats
    }

    fn grant_pages(&mut self) -> Result<u64, SharingError> {
        let (run, Some(limit)) = (self.run, self.limit) else { return Ok(0) };
        Ok(self.runtime.block_on(self.session.with(async |session| grant_pages(session, run, limit).await))?)
    }

    fn return_pages(&mut self) -> Result<(), SharingError> {
        let run = self.run;
        Ok(self.runtime.block_on(self.session.with(async |session| return_pages(session, run).await))?)
    }

    fn next_step(&mut self) -> Result<SharedStep, SharingError> {
        let (run, round, limit) = (self.run, self.rounds.round, self.limit);
        let step = self.session.with(async |session| next_step(session, run, round, limit).await);
        Ok(match self.runtime.block_on(step)? {
            NextStep::Wait => SharedStep::Wait,
            NextStep::End => SharedStep::End,
            NextStep::Revise(_) => SharedStep::Revise,
            NextStep::Ask(from) => {
                self.ask(Question { from, settled: Sequence(0) })?;
                test_point("questions");
                // What was found is in the turns.
                SharedStep::Wait
            }
        })
    }

    fn revisions(&mut self) -> Result<(i32, Vec<SharedRevision>), SharingError> {
        let Self { runtime, session, rounds, own, .. } = self;
        let pages = runtime.block_on(session.with(async |session| rounds.next(session, own).await))?;
        if !pages.is_empty() {
            test_point("revisions");
        }
        let revision = |DoubtfulPage { number, page, verdict, is_displaced }: DoubtfulPage| {
            let ArrivingPage { input, facts: PageFacts { url, fetched, links }, .. } = page;
            let displaced = is_displaced.then(|| {
                let input = PageInput { page: renewal_name(input.page), renews: Some(number), ..input };
                Box::new(SharedPage { input, url: url.clone(), fetched_at: fetched, links })
            });
            SharedRevision { page: number, url, verdict, displaced }
        };
        Ok((self.rounds.round, pages.into_iter().map(revision).collect()))
    }
}
