//! The decided pages of a crawl as rows of a folder, in the order of their decisions.

use std::collections::HashSet;

use super::arriving::{Arriving, PageFacts};
use super::connection::Session;
use super::crawl_cut::CrawlCut;
use super::displaced_parts::DisplacedParts;
use super::error::ClusterError;
use super::gather::{GatherProgress, Gathering};
use super::slot_restore::SlotRestore;
use super::turn_arrivals::arriving_of;
use super::turn_body::{DecidedPage, TurnArrivals, TurnVerdicts};
use super::turn_log::{TurnRow, turns_behind};
use ndcrawl_model::{Batch, Digest, Discovery, PageInput, PageRow, Sequence, TermOrder, UrlId, UrlRow, UrlState};
use neardup::detect::Vocabulary;

/// Turns that are read at once.
const AT_ONCE: usize = 16;
/// Pages of one commit, at least.
const PAGES: u64 = 1000;

/// A page of a turn, with its number.
type NumberedPage = (Sequence, DecidedPage, PageFacts);

impl<T: FnMut(GatherProgress)> Gathering<'_, T> {
    /// Commits the pages, behind those that are committed already.
    pub async fn pages(&mut self, session: &Session, mut restore: SlotRestore) -> Result<(), ClusterError> {
        let hosts = self.store.reader().all_hosts().and_then(Iterator::collect::<Result<_, _>>);
        let (known, (rest, _, _)) = (restore.take_known(), restore.end(hosts.map_err(ClusterError::folder)?));
        let totals = rest.totals.clone();
        // A URL whose page was decided again has two lines.
        self.gathered.lines = self.gathered.lines.saturating_sub(totals.revised);
        self.commit(rest)?;
        let withdrawn = withdrawn_pages(session, self.cut, &mut self.displaced).await?;
        let sizes = turn_sizes(session, self.cut).await?;
        let mut last = self.skip_committed(&sizes, &withdrawn)?;
        let (mut vocabulary, mut batch, all) = (self.vocabulary()?, Batch::default(), sizes.iter().sum());
        loop {
            let turns = turns_of(session, self.cut, last).await?;
            for turn in &turns {
                for (number, page, facts) in pages_of(session, turn).await? {
                    let row = self.row(&mut batch, &page.input, facts, &known)?;
                    let is_withdrawn = withdrawn.contains(&number);
                    self.count(row.is_ok(), is_withdrawn);
                    let DecidedPage { input, verdict, least_weight, .. } = page;
                    let input = if is_withdrawn { without_content(input) } else { input };
                    let row = row.map(|row| self.displaced.completed_row(number, row));
                    let row = row.unwrap_or_else(|(url, fetched)| PageRow::undecided(url, &input, fetched));
                    let (terms, new_terms, order) = vocabulary.intern_page(input.terms, input.order)?;
                    batch.terms.extend(new_terms);
                    batch.pages.push(PageRow { verdict, terms, order, least_weight, ..row });
                }
                last = turn.number;
            }
            if is_full(batch.pages.len() as u64, turns.is_empty()) {
                self.commit(Batch { totals: totals.clone(), ..std::mem::take(&mut batch) })?;
                self.tell("pages", self.gathered.pages, all);
            }
            if turns.is_empty() {
                return Ok(());
            }
        }
    }

    /// Counts the commits of pages that an interrupted gathering has left, and their pages. Returns the last turn of
    /// them. `sizes` has the pages of each turn.
    fn skip_committed(&mut self, sizes: &[u64], withdrawn: &HashSet<Sequence>) -> Result<i64, ClusterError> {
        let (mut last, mut pages) = (0, 0);
        while self.is_committed() && last < sizes.len() {
            let (mut end, mut count) = (last, 0);
            while end < sizes.len() && !is_full(count, false) {
                let next = sizes.len().min(end + AT_ONCE);
                count += sizes[end..next].iter().sum::<u64>();
                end = next;
            }
            if is_full(count, end == sizes.len()) {
                self.gathered.commits += 1;
                pages += count;
            }
            last = end;
        }
        let reader = self.store.reader();
        for row in reader.all_pages().map_err(ClusterError::folder)? {
            let (number, row) = row.map_err(ClusterError::folder)?;
            let is_completed = self.pages.remove(&row.page).is_some();
            self.displaced.completed_row(number, row);
            self.count(is_completed, withdrawn.contains(&number));
        }
        if self.gathered.pages == pages {
            return Ok(i64::try_from(last).unwrap_or(i64::MAX));
        }
        let what = format!("it has {} pages, and its commits {pages}", self.gathered.pages);
        Err(ClusterError::Folder(format!("what an interrupted gather has left is damaged: {what}")))
    }

    /// Counts a page.
    fn count(&mut self, is_completed: bool, is_withdrawn: bool) {
        self.gathered.withdrawn += u64::from(is_withdrawn);
        self.gathered.uncompleted += u64::from(!is_completed && !is_withdrawn);
        self.gathered.pages += 1;
    }

    /// Returns the terms that are committed already.
    fn vocabulary(&self) -> Result<Vocabulary, ClusterError> {
        let mut vocabulary = Vocabulary::default();
        for row in self.store.reader().all_terms().map_err(ClusterError::folder)? {
            vocabulary.intern(&row.map_err(ClusterError::folder)?.1)?;
        }
        Ok(vocabulary)
    }

    /// Returns the row of a page. Of one that nobody has completed: its URL, and when it was fetched.
    fn row(
        &mut self,
        batch: &mut Batch,
        input: &PageInput,
        facts: PageFacts,
        known: &impl Fn(&str) -> Option<UrlId>,
    ) -> Result<Result<PageRow, (UrlId, Option<i64>)>, ClusterError> {
        if let Some(row) = self.pages.remove(&input.page) {
            return Ok(Ok(row));
        }
        let url = match known(&facts.url) {
            Some(url) => url,
            None => self.add_url(batch, &facts.url)?,
        };
        Ok(Err((url, facts.fetched)))
    }

    /// Adds the URL of a page that was never completed and whose discovery was not committed either.
    fn add_url(&self, batch: &mut Batch, url: &str) -> Result<UrlId, ClusterError> {
        let number = self.store.mark().urls as usize + batch.urls.len();
        let id = u32::try_from(number).map_err(|_| ClusterError::Folder("more than 2^32 URLs".to_owned()))?;
        let (discovery, state) = (Discovery::SEED, UrlState::Queued);
        batch.urls.push(UrlRow { url: url.to_owned(), discovery, state, clue: None });
        Ok(UrlId(id))
    }
}

/// Whether so many pages, behind which there may be no others, are a commit.
fn is_full(pages: u64, is_end: bool) -> bool {
    pages >= PAGES || is_end && pages > 0
}

/// Returns some turns behind one.
async fn turns_of(session: &Session, cut: &CrawlCut, behind: i64) -> Result<Vec<TurnRow>, ClusterError> {
    let mut turns = turns_behind(session, behind, AT_ONCE as i64).await?;
    turns.retain(|turn| turn.number <= cut.turn());
    Ok(turns)
}

/// Returns how many pages each turn has.
async fn turn_sizes(session: &Session, cut: &CrawlCut) -> Result<Vec<u64>, ClusterError> {
    let statement = "SELECT n FROM turn WHERE number <= $1 ORDER BY number";
    let rows: Vec<(i32,)> = session.client().rows("count the pages of turns", statement, &[&cut.turn()]).await?;
    Ok(rows.into_iter().map(|(size,)| u64::from(size.unsigned_abs())).collect())
}

/// Returns the pages of a turn that no turn before it has.
async fn pages_of(session: &Session, turn: &TurnRow) -> Result<Vec<NumberedPage>, ClusterError> {
    let verdicts = TurnVerdicts::read(&turn.body)?;
    let arriving = arriving_of(session, &verdicts.ranges()).await?;
    let facts = arriving.iter().filter_map(|arriving| match arriving {
        Arriving::Page(page) => Some(page.facts.clone()),
        Arriving::Withdrawal(_) | Arriving::Question(_) => None,
    });
    let answers: Vec<_> = verdicts.page_answers().flatten().collect();
    let new = facts.zip(answers).filter(|(_, answer)| !answer.redelivered).map(|(facts, _)| facts);
    let facts: Vec<_> = new.collect();
    let pages = verdicts.new_pages(arriving.into_iter().collect::<TurnArrivals>())?;
    Ok(pages.into_iter().zip(facts).map(|(page, facts)| (page.sequence, page, facts)).collect())
}

/// Returns the pages that turns have withdrawn.
async fn withdrawn_pages(
    session: &Session,
    cut: &CrawlCut,
    displaced: &mut DisplacedParts,
) -> Result<HashSet<Sequence>, ClusterError> {
    let (mut withdrawn, mut last) = (HashSet::<Sequence>::new(), 0);
    loop {
        let turns = turns_of(session, cut, last).await?;
        let Some(turn) = turns.last() else { return Ok(withdrawn) };
        last = turn.number;
        for turn in &turns {
            let verdicts = TurnVerdicts::read(&turn.body)?;
            withdrawn.extend(verdicts.withdrawn());
            verdicts.displaced().for_each(|page| displaced.note_page(page));
        }
    }
}

/// Returns a page that left the index, as the folder has it: nothing is like it.
fn without_content(input: PageInput) -> PageInput {
    let body_digest = Digest::of(format!("withdrawn {}", input.page.0).as_bytes());
    let order = TermOrder::default();
    PageInput { body_digest, text_digest: None, terms: Vec::new(), order, ..input }
}
