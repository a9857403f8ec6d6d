//! Cache of robots.txt files: one download per origin and day.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

use super::robots::now_millis;
use super::{Options, Robots};

/// Most bytes of robots.txt files in memory. The least recently used go first.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// Estimated memory of an entry beside its text, in bytes.
const ENTRY_BYTES: usize = 512;

/// The robots.txt files of all origins, bounded in memory.
#[derive(Default)]
pub(super) struct RobotsCache(Mutex<RobotsTable>);

#[derive(Default)]
struct RobotsTable {
    entries: HashMap<String, RobotsEntry>,
    /// The sum over all entries.
    bytes: usize,
}

/// The place of one origin's file. The lock is held during a download, so that there is only one.
type RobotsSlot = Arc<tokio::sync::Mutex<Option<Arc<Robots>>>>;

struct RobotsEntry {
    slot: RobotsSlot,
    bytes: usize,
    last_used: Instant,
}

impl RobotsCache {
    /// Returns the robots.txt of an origin. Runs `download` only if the cache has none or an expired one; callers
    /// that come meanwhile wait for it. If the download fails, an expired file stays in use.
    pub(super) async fn get_or_download(
        &self,
        origin: &str,
        options: &Options,
        download: impl Future<Output = Robots> + Send,
    ) -> Arc<Robots> {
        let slot = self.slot(origin);
        let mut slot = slot.lock().await;
        if let Some(known) = slot.as_ref().filter(|known| now_millis() < known.good_until(options.robots_ttl)) {
            return known.clone();
        }
        let new = newest_usable(origin, options, slot.as_deref(), download.await);
        self.note_size(origin, new.row().body.len());
        slot.insert(Arc::new(new)).clone()
    }

    /// Puts a file into the cache, in place of what it has of the origin, and returns it.
    pub(super) async fn insert(&self, origin: &str, robots: Robots) -> Arc<Robots> {
        let bytes = robots.row().body.len();
        let (slot, robots) = (self.slot(origin), Arc::new(robots));
        *slot.lock().await = Some(robots.clone());
        self.note_size(origin, bytes);
        robots
    }

    /// Forgets files that could not be downloaded, so that they are tried again. A download under way stays.
    pub(super) fn forget_failures(&self) {
        for entry in self.table().entries.values() {
            if let Ok(mut slot) = entry.slot.try_lock() {
                slot.take_if(|robots| robots.failure().is_some());
            }
        }
    }

    /// Whether the file of the origin is known. One that is being downloaded is not.
    pub(super) fn is_reached(&self, origin: &str) -> bool {
        let slot = self.table().entries.get(origin).map(|entry| entry.slot.clone());
        slot.is_some_and(|slot| {
            slot.try_lock().is_ok_and(|known| known.as_ref().is_some_and(|robots| robots.is_reached()))
        })
    }

    /// Whether a download for the origin is under way.
    pub(super) fn is_downloading(&self, origin: &str) -> bool {
        self.table().entries.get(origin).is_some_and(|entry| entry.slot.try_lock().is_err())
    }

    fn slot(&self, origin: &str) -> RobotsSlot {
        let entry = RobotsEntry { slot: Arc::default(), bytes: 0, last_used: Instant::now() };
        let mut table = self.table();
        let entry = table.entries.entry(origin.to_owned()).or_insert(entry);
        entry.last_used = Instant::now();
        entry.slot.clone()
    }

    /// Records the size of an entry. Drops the older half of the cache when the limit is passed.
    fn note_size(&self, origin: &str, body: usize) {
        let table = &mut *self.table();
        if let Some(entry) = table.entries.get_mut(origin) {
            // The text and the rules parsed from it.
            let bytes = ENTRY_BYTES + 2 * body;
            table.bytes = table.bytes - entry.bytes + bytes;
            entry.bytes = bytes;
        }
        if table.bytes > MAX_BYTES {
            table.drop_older_half();
        }
    }

    fn table(&self) -> MutexGuard<'_, RobotsTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Picks the new file, unless it is unreachable and the expired one was not.
fn newest_usable(origin: &str, options: &Options, expired: Option<&Robots>, new: Robots) -> Robots {
    match expired {
        Some(expired) if expired.is_reached() && !new.is_reached() => {
            tracing::debug!(origin, "robots.txt unreachable; using the cached copy");
            expired.outlived(origin, options)
        }
        _ => new,
    }
}

impl RobotsTable {
    fn drop_older_half(&mut self) {
        let mut ages: Vec<Instant> = self.entries.values().map(|entry| entry.last_used).collect();
        ages.sort_unstable();
        let middle = ages[ages.len() / 2];
        self.entries.retain(|_, entry| entry.last_used >= middle || Arc::strong_count(&entry.slot) > 1);
        self.bytes = self.entries.values().map(|entry| entry.bytes).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndcrawl_model::RobotsRow;

    #[tokio::test]
    async fn memory_of_huge_files_is_bounded() {
        let cache = RobotsCache::default();
        let options = Options::default();
        for number in 0..200 {
            let row = RobotsRow { fetched_at: now_millis(), status: 404, body: vec![b'#'; 512 * 1024] };
            let origin = format!("http://{number}.test:80");
            cache.insert(&origin, Robots::new(&origin, row, &options)).await;
        }
        let table = cache.table();
        assert!(table.bytes <= MAX_BYTES);
        assert_eq!(table.bytes, table.entries.values().map(|entry| entry.bytes).sum::<usize>());
        assert!(table.entries.contains_key("http://199.test:80"));
    }
}
