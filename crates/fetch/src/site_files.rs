//! The files beside robots.txt that speak of the use of pages: one request for each file, origin and run.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;
use url::Url;

use super::path_preferences::{PathPreferences, SiteFile};
use super::robots_download::{RobotsTransport, download_row};
use super::{Options, Robots, RobotsAnswer};
use ndcrawl_model::Preference;

/// Bytes of a file that are read.
const MOST_BYTES: usize = 64 * 1024;
/// Bytes of files that are remembered. Beyond, all are forgotten.
const MAX_BYTES: usize = 64 * 1024 * 1024;
/// Estimated memory of an entry beside its files, in bytes.
const ENTRY_BYTES: usize = 512;

/// What the files of a site say.
#[derive(Debug, Default)]
pub struct SitePreferences(Vec<PathPreferences>);

impl SitePreferences {
    /// Returns what is said of the page at this address.
    pub fn of(&self, address: &Url) -> Vec<Preference> {
        self.0.iter().flat_map(|file| file.of(address)).collect()
    }
}

/// The files of all sites, bounded in memory.
#[derive(Default)]
pub(super) struct SiteFiles(Mutex<SiteTable>);

/// The place of one origin's files. Callers wait for the first one, so that there is only one download.
type SiteSlot = Arc<OnceCell<Arc<SitePreferences>>>;

#[derive(Default)]
struct SiteTable {
    sites: HashMap<String, SiteSlot>,
    bytes: usize,
}

impl SiteFiles {
    /// Returns what the files of an origin say. Downloads those that robots.txt allows, at the first call.
    pub(super) async fn get_or_download(
        &self,
        transport: &impl RobotsTransport,
        options: &Options,
        (origin, robots): (&str, &Robots),
    ) -> Arc<SitePreferences> {
        let slot = self.lock().sites.entry(origin.to_owned()).or_default().clone();
        let download = async {
            let mut files = Vec::new();
            for file in
                SiteFile::ALL.into_iter().filter(|file| robots.allows_text(file.path()) == RobotsAnswer::Allowed)
            {
                let row = download_row(transport, options, origin, (file.path(), MOST_BYTES)).await.0;
                self.note_size(ENTRY_BYTES + 2 * row.body.len());
                files.push(PathPreferences::of_file(file, &row, &options.robots_agent));
            }
            Arc::new(SitePreferences(files))
        };
        slot.get_or_init(|| download).await.clone()
    }

    fn note_size(&self, bytes: usize) {
        let table = &mut *self.lock();
        table.bytes += bytes;
        if table.bytes > MAX_BYTES {
            *table = SiteTable::default();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, SiteTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
