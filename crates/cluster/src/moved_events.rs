//! The URLs of a folder, and what happened to them, as the logs of slots.

use std::collections::{BTreeMap, HashSet, VecDeque};

use tokio_postgres::types::ToSql;

use super::connection::Session;
use super::crawl_log::pages_of;
use super::error::ClusterError;
use super::hosts::{slot_of_origin, store_hosts};
use super::revised_pages::RevisedPages;
use super::schema::CrawlRow;
use super::slot_encoder::SlotEncoder;
use super::slot_entry::SlotEntry;
use super::test_point::test_point;
use ndcrawl_engine::pipeline::SharedChanges;
use ndcrawl_model::{
    Batch, LinkKind, OutcomeKind, OutcomeRow, OwnSlots, PageLine, PageTerms, Slot, TermOrder, UrlId, UrlRow, UrlState,
    split_capture_key,
};
use ndcrawl_store::{DoneRow, StoreReader};

/// Rows of one batch.
const ROWS: usize = 2000;
/// Batches of one transaction.
const AT_ONCE: usize = 16;

/// Moves the URLs, their events, the rows of pages and the origins of a folder. Goes on behind the last transaction.
/// Returns the number of outcomes, and the URLs that wait for being decided again.
pub(super) async fn move_events(
    session: &mut Session,
    crawl: &CrawlRow,
    folder: &StoreReader,
    run: i32,
    mut told: impl FnMut(u64),
) -> Result<(u64, HashSet<UrlId>), ClusterError> {
    let mut logs = MovedLogs::new(session, crawl, run).await?;
    let (mut rows, mut outcomes, mut batches) = (0, 0, 0);
    let mut source = FolderBatches::open(folder)?;
    while let Some(batch) = source.next()? {
        rows += (batch.urls.len() + batch.pages.len()) as u64;
        outcomes += batch.outcomes.len() as u64;
        logs.add(&batch, folder)?;
        batches += 1;
        if batches % AT_ONCE == 0 {
            logs.write(session).await?;
            told(rows);
        }
    }
    logs.write(session).await?;
    logs.end(session, folder).await?;
    Ok((outcomes, source.revising))
}

/// A folder as batches, in an order in which each can be read back after those before it.
struct FolderBatches<'a> {
    folder: &'a StoreReader,
    urls: u32,
    done: std::iter::Peekable<Box<dyn Iterator<Item = Result<DoneRow, ClusterError>> + 'a>>,
    page_lines: Box<dyn Iterator<Item = Result<String, ClusterError>> + 'a>,
    error_lines: Box<dyn Iterator<Item = Result<String, ClusterError>> + 'a>,
    pages: Box<dyn Iterator<Item = Result<ndcrawl_model::PageRow, ClusterError>> + 'a>,
    /// The line of a later outcome, which was read already.
    next_line: Option<(String, PageLine)>,
    /// URLs that were queued to be decided again and have no outcome of it so far.
    revising: HashSet<UrlId>,
}

impl<'a> FolderBatches<'a> {
    fn open(folder: &'a StoreReader) -> Result<Self, ClusterError> {
        let done = folder.all_done().map_err(ClusterError::folder)?.map(|row| row.map_err(ClusterError::folder));
        let page_lines =
            folder.page_line_texts().map_err(ClusterError::folder)?.map(|line| line.map_err(ClusterError::folder));
        let error_lines =
            folder.error_line_texts().map_err(ClusterError::folder)?.map(|line| line.map_err(ClusterError::folder));
        let pages = folder.all_pages().map_err(ClusterError::folder)?;
        let pages = pages.map(|row| row.map(|(_, row)| row).map_err(ClusterError::folder));
        let done: Box<dyn Iterator<Item = Result<DoneRow, ClusterError>>> = Box::new(done);
        Ok(Self {
            folder,
            urls: 0,
            done: done.peekable(),
            page_lines: Box::new(page_lines),
            error_lines: Box::new(error_lines),
            pages: Box::new(pages),
            next_line: None,
            revising: HashSet::new(),
        })
    }

    fn next(&mut self) -> Result<Option<Batch>, ClusterError> {
        let urls = self.folder.urls(UrlId(self.urls), ROWS).map_err(ClusterError::folder)?;
        if !urls.is_empty() {
            self.urls += urls.len() as u32;
            return Ok(Some(Batch { urls: urls.into_iter().map(own).collect(), ..Batch::default() }));
        }
        if self.done.peek().is_some() {
            return self.events().map(Some);
        }
        let pages = self.pages.by_ref().take(ROWS).collect::<Result<Vec<_>, _>>()?;
        // The arrivals have the terms.
        let pages = pages.into_iter().map(|row| ndcrawl_model::PageRow {
            terms: PageTerms::default(),
            order: TermOrder::default(),
            ..row
        });
        let batch = Batch { pages: pages.collect(), ..Batch::default() };
        Ok(Some(batch).filter(|batch| !batch.pages.is_empty()))
    }

    /// Returns the next events. In a batch their kinds are in the order of a commit, so one kind before another begins
    /// the next batch.
    fn events(&mut self) -> Result<Batch, ClusterError> {
        let (mut batch, mut kind, mut count) = (Batch::default(), 0, 0);
        while count < ROWS
            && let Some(row) = self.done.next_if(|row| row.as_ref().map_or(true, |row| place(row) >= kind))
        {
            let row = row?;
            kind = place(&row);
            count += 1;
            match row {
                DoneRow::Requeued(row) => {
                    self.revising.extend(Some(row.url).filter(|_| row.discovery.kind == LinkKind::Revision));
                    batch.requeued.push(row);
                }
                DoneRow::Shortened(row) => batch.shortened.push(row),
                DoneRow::Links(row) => batch.links.push(row),
                DoneRow::Counterpart(page, other) => batch.counterparts.push((page, other)),
                DoneRow::Unmatched(urls) => batch.unmatched.extend(urls),
                DoneRow::Repeats(url, of) => batch.repeats.push((url, of)),
                DoneRow::Outcome(row) => {
                    batch.page_lines.push(self.page_line(&row)?);
                    if row.kind == OutcomeKind::Failed {
                        batch.error_lines.push(taken(&mut self.error_lines, "errors.jsonl")?);
                    }
                    batch.outcomes.push(row);
                }
            }
        }
        Ok(batch)
    }

    /// Returns the next line of `pages.jsonl`, which must be about this outcome. The first line of a page that was decided
    /// again is gone where the crawl has ended since: a line with what the log has takes its place.
    fn page_line(&mut self, outcome: &OutcomeRow) -> Result<String, ClusterError> {
        let (text, line) = match self.next_line.take() {
            Some(line) => line,
            None => {
                let text = taken(&mut self.page_lines, "pages.jsonl")?;
                let line: PageLine = serde_json::from_str(&text)
                    .map_err(|error| ClusterError::Folder(format!("a line of pages.jsonl: {error}")))?;
                (text, line)
            }
        };
        let row = self.folder.url(outcome.url).map_err(ClusterError::folder)?;
        let lost = |line: &PageLine| {
            let why = format!("pages.jsonl has a line about {} in the place of URL {}", line.url, outcome.url);
            ClusterError::Folder(why)
        };
        let Some(row) = row else { return Err(lost(&line)) };
        let is_revision = self.revising.remove(&outcome.url);
        let is_its_line = row.url == *line.key();
        // A later outcome takes the line that tells of a revision.
        if is_its_line && (is_revision || line.revised.is_none()) {
            return Ok(text);
        }
        if is_revision || self.folder.mark().totals.revised == 0 {
            return Err(lost(&line));
        }
        self.next_line = Some((text, line));
        superseded_line(&row, outcome)
    }
}

/// Returns what stands for the line of an outcome that a later one has replaced.
fn superseded_line(row: &UrlRow, outcome: &OutcomeRow) -> Result<String, ClusterError> {
    let line = PageLine {
        url: split_capture_key(&row.url).0.to_owned(),
        outcome: outcome.kind,
        depth: row.discovery.depth,
        ..PageLine::default()
    };
    serde_json::to_string(&line).map_err(|error| ClusterError::Folder(error.to_string()))
}

fn taken(lines: &mut dyn Iterator<Item = Result<String, ClusterError>>, file: &str) -> Result<String, ClusterError> {
    lines
        .next()
        .unwrap_or_else(|| Err(ClusterError::Folder(format!("{file} has fewer lines than the log has outcomes"))))
}

/// The row of a URL in the log that owns it. A folder that was gathered may have URLs that were on their way.
fn own(row: UrlRow) -> UrlRow {
    let state = if matches!(row.state, UrlState::Elsewhere(_)) { UrlState::Queued } else { row.state };
    UrlRow { state, ..row }
}

/// Returns the place of an event among those of a commit.
fn place(row: &DoneRow) -> usize {
    match row {
        DoneRow::Requeued(_) => 0,
        DoneRow::Shortened(_) => 1,
        DoneRow::Links(_) => 2,
        DoneRow::Counterpart(..) => 3,
        DoneRow::Unmatched(_) => 4,
        DoneRow::Repeats(..) => 5,
        DoneRow::Outcome(_) => 6,
    }
}

/// An entry of a log that is to be written.
struct MovedEntry {
    slot: Slot,
    seq: i64,
    body: Vec<u8>,
}

/// The logs of all slots.
struct MovedLogs {
    run: i32,
    encoder: SlotEncoder,
    revised: BTreeMap<Slot, RevisedPages>,
    /// The fetched pages of each slot.
    pages: BTreeMap<Slot, i64>,
    seq: i64,
    /// The last batch that an earlier run has written.
    written: i64,
    waiting: VecDeque<MovedEntry>,
}

impl MovedLogs {
    async fn new(session: &Session, crawl: &CrawlRow, run: i32) -> Result<Self, ClusterError> {
        let statement = "SELECT coalesce(max(seq), 0) FROM slot_log";
        let (written,) = session.client().row("read how far the move is", statement, &[]).await?;
        let map = crawl.slot_map();
        let encoder = SlotEncoder::new(OwnSlots::new(map, map.slots()));
        let pages = map.slots().map(|slot| (slot, 0)).collect();
        Ok(Self { run, encoder, revised: BTreeMap::new(), pages, seq: 0, written, waiting: VecDeque::new() })
    }

    fn add(&mut self, batch: &Batch, folder: &StoreReader) -> Result<(), ClusterError> {
        self.seq += 1;
        for (slot, entry) in self.encoder.divide(batch, &SharedChanges::default(), folder)? {
            self.revised.entry(slot).or_default().add(&entry);
            *self.pages.entry(slot).or_default() += pages_of(&entry);
            if self.seq > self.written {
                let body = SlotEntry::sealed(&entry)?;
                self.waiting.push_back(MovedEntry { slot, seq: self.seq, body });
            }
        }
        Ok(())
    }

    async fn write(&mut self, session: &mut Session) -> Result<(), ClusterError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let entries = &self.waiting;
        let slots: Vec<i32> = entries.iter().map(|entry| i32::from(entry.slot.0)).collect();
        let seqs: Vec<i64> = entries.iter().map(|entry| entry.seq).collect();
        let bodies: Vec<&[u8]> = entries.iter().map(|entry| &entry.body[..]).collect();
        let transaction = session.begin().await?;
        let statement = "INSERT INTO slot_log (slot, seq, run, body) SELECT slot, seq, $4, body \
                         FROM unnest($1::int[], $2::bigint[], $3::bytea[]) AS part (slot, seq, body)";
        let parameters: [&(dyn ToSql + Sync); 4] = [&slots, &seqs, &bodies, &self.run];
        transaction.sql().change("move the logs of slots", statement, &parameters).await?;
        transaction.commit().await?;
        test_point("moved-events");
        self.waiting.clear();
        Ok(())
    }

    /// Has the logs go on behind what was moved, and enters the hosts.
    async fn end(&self, session: &mut Session, folder: &StoreReader) -> Result<(), ClusterError> {
        let doing = "end the logs of slots";
        let transaction = session.begin().await?;
        let slots: Vec<i32> = self.pages.keys().map(|slot| i32::from(slot.0)).collect();
        let pages: Vec<i64> = self.pages.values().copied().collect();
        let count = |slot| self.revised.get(slot).map_or(0, RevisedPages::count);
        let revising: Vec<i64> = self.pages.keys().map(count).collect();
        let statement = "UPDATE slot SET pages = part.pages, revising = part.revising \
                         FROM unnest($1::int[], $2::bigint[], $3::bigint[]) AS part (slot, pages, revising) \
                         WHERE slot.slot = part.slot";
        let parameters: [&(dyn ToSql + Sync); 3] = [&slots, &pages, &revising];
        transaction.sql().change(doing, statement, &parameters).await?;
        let statement = "SELECT setval('slot_log_seq', $1)";
        transaction.sql().row::<(i64,)>(doing, statement, &[&self.seq.max(1)]).await?;
        let hosts =
            folder.all_hosts().and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(ClusterError::folder)?;
        let map = self.encoder.own().map();
        let hosts = hosts.iter().map(|host| Ok((slot_of_origin(map, &host.origin)?, host)));
        store_hosts(&transaction, &hosts.collect::<Result<Vec<_>, ClusterError>>()?).await?;
        transaction.commit().await
    }
}
