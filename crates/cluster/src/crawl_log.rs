//! Commits of a process to the logs of its slots.

use std::collections::BTreeMap;

use tokio::runtime::Handle;

use super::archive_files::enter_file;
use super::connection::Session;
use super::crawl_session::CrawlSession;
use super::error::ClusterError;
use super::hosts::{slot_of_origin, store_hosts, store_rests};
use super::lease::{Fence, RunId};
use super::mail::{delete_mail, send_mail};
use super::revised_pages::RevisedPages;
use super::slot_encoder::{CommittedUrls, SlotEncoder};
use super::slot_entry::SlotEntry;
use super::slot_log::{SlotChange, extend_logs};
use super::test_point::test_point;
use ndcrawl_engine::pipeline::{ArchiveReach, SharedChanges, SharedLog, SharedRests, SharingError};
use ndcrawl_model::{Batch, HostRow, LinkKind, RestRow, Slot, SlotMap, UrlId, UrlRow};
use ndcrawl_store::StoreReader;

/// The log of a process: the logs of its slots.
pub(super) struct CrawlLog {
    pub runtime: Handle,
    pub session: CrawlSession,
    pub run: RunId,
    pub fences: BTreeMap<Slot, Fence>,
    pub encoder: SlotEncoder,
    pub revised: BTreeMap<Slot, RevisedPages>,
    /// The folder of the archive, below that of the run.
    pub folder: String,
    /// Rests of hosts, which the next commit stores.
    pub rests: SharedRests,
}

impl SharedLog for CrawlLog {
    fn commit(
        &mut self,
        batch: &Batch,
        changes: SharedChanges,
        committed: &StoreReader,
        reach: Option<ArchiveReach>,
    ) -> Result<(), SharingError> {
        let has_pages = !batch.pages.is_empty();
        if has_pages {
            test_point("archive");
        }
        let mut entries = self.encoder.divide(batch, &changes, committed)?;
        let is_of_all = changes.is_idle || changes.round.is_some();
        let hosts = self.own_hosts(batch)?;
        let own: Vec<Slot> = self.encoder.own().slots().collect();
        let mut slots = BTreeMap::new();
        for slot in own {
            let entry = entries.remove(&slot).map(|entry| SlotEntry { folder: self.folder.clone(), ..entry });
            // All slots say that nothing is to be done, or that a round of questions was taken.
            let is_changed = entry.is_some() || is_of_all || hosts.iter().any(|(of, _)| *of == slot);
            let Some(fence) = self.fences.get(&slot).filter(|_| is_changed) else { continue };
            let pages = entry.as_ref().map_or(0, pages_of);
            let revised = self.revised.entry(slot).or_default();
            let before = revised.count();
            entry.iter().for_each(|entry| revised.add(entry));
            let revising = revised.count();
            // Who fetches a page once more needs no place for it.
            let used = pages + revising - before;
            slots.insert(slot, SlotChange { fence: *fence, entry, pages, revising, used });
        }
        let runtime = self.runtime.clone();
        runtime.block_on(self.write((&slots, &hosts), &changes, reach))?;
        if has_pages {
            test_point("commit");
        }
        if slots.values().any(|change| change.revising > 0) {
            test_point("revising");
        }
        Ok(())
    }
}

/// Returns the fetched pages of an entry. One that is to be fetched once more is [counted
/// apart](RevisedPages) until it is.
pub(super) fn pages_of(entry: &SlotEntry) -> i64 {
    let revised = entry.requeued.iter().filter(|requeue| requeue.discovery.kind == LinkKind::Revision).count();
    entry.outcomes.iter().filter(|outcome| outcome.kind.is_page()).count() as i64 - revised as i64
}

/// What a commit says of slots, and of hosts in them.
type Changed<'a> = (&'a BTreeMap<Slot, SlotChange>, &'a [(Slot, &'a HostRow)]);

impl CrawlLog {
    /// Returns the hosts of a commit that are in this process's slots.
    fn own_hosts<'a>(&self, batch: &'a Batch) -> Result<Vec<(Slot, &'a HostRow)>, ClusterError> {
        let (own, mut hosts) = (self.encoder.own(), Vec::new());
        for host in &batch.hosts {
            hosts.push((slot_of_origin(own.map(), &host.origin)?, host));
        }
        hosts.retain(|(slot, _)| own.has(*slot));
        Ok(hosts)
    }

    async fn write(
        &mut self,
        changed: Changed<'_>,
        changes: &SharedChanges,
        reach: Option<ArchiveReach>,
    ) -> Result<(), ClusterError> {
        // The commit is never tried again: after an error nobody knows whether it was made. The process begins again with
        // what the log has.
        let (run, folder, map) = (self.run, &self.folder, self.encoder.own().map());
        let rests = self.rests.take();
        let written = write_on(self.session.open().await?, (run, folder), changed, changes, reach, (&rests, map)).await;
        if written.is_err() {
            // The next generation of this process begins with them.
            rests.iter().for_each(|rest| self.rests.note(rest));
        }
        self.session.after(written)
    }
}

async fn write_on(
    session: &mut Session,
    (run, folder): (RunId, &String),
    (slots, hosts): Changed<'_>,
    changes: &SharedChanges,
    reach: Option<ArchiveReach>,
    (rests, map): (&[RestRow], SlotMap),
) -> Result<(), ClusterError> {
    let transaction = session.begin().await?;
    extend_logs(&transaction, run, slots, (changes.is_idle, changes.round)).await?;
    send_mail(&transaction, &changes.outbox).await?;
    delete_mail(&transaction, &changes.mail_taken).await?;
    store_hosts(&transaction, hosts).await?;
    store_rests(&transaction, map, rests).await?;
    let used: i64 = slots.values().map(|change| change.used).sum();
    let statement = "UPDATE run SET used = used + $2 WHERE id = $1";
    if used != 0 {
        transaction.sql().change("count the pages of a run", statement, &[&run.0, &used]).await?;
    }
    if let Some(reach) = reach {
        enter_file(&transaction, (run.0, folder), reach).await?;
    }
    match transaction.commit().await {
        Err(ClusterError::Unreplicated) => tracing::warn!("{}", ClusterError::Unreplicated),
        result => result?,
    }
    Ok(())
}

impl CommittedUrls for StoreReader {
    fn row(&self, id: UrlId) -> Result<UrlRow, ClusterError> {
        let lost = |why: String| ClusterError::Folder(format!("URL {id} cannot be read back: {why}"));
        self.url(id).map_err(|error| lost(error.to_string()))?.ok_or_else(|| lost("it is not there".to_owned()))
    }
}
