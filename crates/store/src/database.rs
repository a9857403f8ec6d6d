//! The database: opens its tables and rolls it back to a commit.

use std::collections::HashMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use ndcrawl_model::CommitMark;

use super::disk::Disk;
use super::error::{Error, Result};
use super::host_key::HostKey;
use super::options::{FORMAT, Identity};
use super::table::{Table, TableWriter};

/// The open database. Clones share it.
#[derive(Clone)]
pub(crate) struct Database {
    pub(crate) db: sled::Db,
    pub(crate) url: Table,
    pub(crate) term: Table,
    pub(crate) page: Table,
    pub(crate) done: Table,
    pub(crate) host: Table,
    pub(crate) robots: Table,
    pub(crate) commit: Table,
    meta: Table,
    plain_meta: sled::Tree,
}

/// The only key of the table `meta`, which has keys of one length.
const IDENTITY: &[u8] = b"identity";

/// Time that a just closed database may take to release its file lock.
const PATIENCE: Duration = Duration::from_secs(5);

impl Database {
    /// Opens or creates the database.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if it cannot be read, also if sled panics on it.
    pub(crate) fn open(path: &Path, cache_bytes: u64) -> Result<Self> {
        let place = path.display().to_string();
        remove_half_snapshots(path)?;
        let config = sled::Config::new().path(path).cache_capacity(cache_bytes).flush_every_ms(None);
        let db = catch_unwind(AssertUnwindSafe(|| open_patiently(&config)))
            .map_err(|_| Error::corrupt(&place, "the database panicked while reading it"))?
            .map_err(|e| Error::sled("open", &place, e))?;
        Ok(Self {
            url: Table::open(&db, "url", 4)?,
            term: Table::open(&db, "term", 4)?,
            page: Table::open(&db, "page", 4)?,
            done: Table::open(&db, "done", 12)?,
            host: Table::open(&db, "host", HostKey::BYTES)?,
            robots: Table::open(&db, "robots", 16)?,
            commit: Table::open(&db, "commit", 8)?,
            meta: Table::open(&db, "meta", IDENTITY.len())?,
            plain_meta: db.open_tree("meta").map_err(|e| Error::sled("open", "tree 'meta'", e))?,
            db,
        })
    }

    /// Returns the identity of the crawl. `None` for a new store.
    ///
    /// # Errors
    /// [`Error::Format`] before anything of another format is read.
    pub(crate) fn identity(&self, store: &Path) -> Result<Option<Identity>> {
        let failed = |e| Error::sled("read", "tree 'meta'", e);
        let Some(format) = self.plain_meta.get("format").map_err(failed)? else {
            return if self.commit.is_empty() && self.url.is_empty() {
                Ok(None)
            } else {
                Err(Error::corrupt("tree 'meta'", "the format is missing"))
            };
        };
        let found = std::str::from_utf8(&format).ok().and_then(|digits| digits.parse().ok());
        match found {
            Some(FORMAT) => self.read_identity().map(Some),
            Some(found) => Err(Error::Format { store: store.to_owned(), found, known: FORMAT }),
            None => Err(Error::corrupt("tree 'meta'", "the format is not a number")),
        }
    }

    fn read_identity(&self) -> Result<Identity> {
        let bytes = self.meta.get(IDENTITY)?.ok_or_else(|| self.meta.damaged(IDENTITY, "it is missing"))?;
        postcard::from_bytes(&bytes).map_err(|e| self.meta.damaged(IDENTITY, e))
    }

    /// Writes the identity of the crawl durably.
    pub(crate) fn set_identity(&self, identity: &Identity, disk: &Disk) -> Result<()> {
        let bytes = postcard::to_stdvec(identity).map_err(|e| Error::Batch(e.to_string()))?;
        let mut loader = TableWriter::new(disk, &self.meta);
        loader.put(IDENTITY, &bytes)?;
        loader.finish()?;
        // The format comes last: it makes the identity valid.
        self.plain_meta
            .insert("format", identity.format.to_string().as_bytes())
            .map_err(|e| Error::sled("write", "tree 'meta'", e))?;
        self.flush(disk)
    }

    /// Returns the last commit. Its number is 0 if there is none.
    pub(crate) fn mark(&self) -> Result<CommitMark> {
        let Some((key, value)) = self.commit.last()? else { return Ok(CommitMark::default()) };
        let mark: CommitMark = postcard::from_bytes(&value).map_err(|e| self.commit.damaged(&key, e))?;
        if mark.number.to_be_bytes()[..] == key[..] {
            Ok(mark)
        } else {
            Err(self.commit.damaged(&key, "it has another number"))
        }
    }

    /// Removes everything above `mark`, and superseded rows of hosts.
    pub(crate) fn trim(&self, mark: &CommitMark, disk: &Disk) -> Result<()> {
        for (table, first) in [(&self.url, mark.urls), (&self.term, mark.terms), (&self.page, mark.pages)] {
            remove_from(table, &first.to_be_bytes(), disk)?;
        }
        let next = mark.number.saturating_add(1).to_be_bytes();
        for table in [&self.done, &self.commit] {
            remove_from(table, &next, disk)?;
        }
        self.trim_hosts(mark.number, disk)
    }

    fn trim_hosts(&self, last: u64, disk: &Disk) -> Result<()> {
        let mut newest: HashMap<[u8; 16], u64> = HashMap::new();
        let keys = || self.host.piece_keys(&[]).map(|key| key.and_then(|key| self.host_key(&key).map(|k| (key, k))));
        for key in keys() {
            let (_, HostKey { origin, commit }) = key?;
            if commit <= last {
                let known = newest.entry(origin).or_default();
                *known = commit.max(*known);
            }
        }
        let mut loader = TableWriter::new(disk, &self.host);
        for key in keys() {
            let (key, HostKey { origin, commit }) = key?;
            if newest.get(&origin) != Some(&commit) {
                loader.remove(key)?;
            }
        }
        loader.finish()
    }

    fn host_key(&self, key: &[u8]) -> Result<HostKey> {
        HostKey::read(key).ok_or_else(|| self.host.damaged(key, "its key is too short"))
    }

    pub(crate) fn flush(&self, disk: &Disk) -> Result<()> {
        disk.flush(&self.db).map_err(|e| Error::sled("flush", "store", e))
    }
}

/// Opens the database, with retries. This process holds the folder, so a locked database was closed a moment ago and
/// its threads are still releasing it.
fn open_patiently(config: &sled::Config) -> sled::Result<sled::Db> {
    let started = Instant::now();
    loop {
        match config.open() {
            Err(sled::Error::Io(e)) if started.elapsed() < PATIENCE && e.to_string().contains("acquire lock") => {
                std::thread::sleep(Duration::from_millis(5));
            }
            opened => return opened,
        }
    }
}

/// Removes incomplete snapshots of sled. After a full disk or a kill, sled would take one for its newest and refuse to
/// open. Complete ones have another name.
fn remove_half_snapshots(store: &Path) -> Result<()> {
    if !store.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(store).map_err(|e| Error::io("list", store, e))? {
        let entry = entry.map_err(|e| Error::io("list", store, e))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("snap.") && name.ends_with(".generating") {
            fs::remove_file(entry.path()).map_err(|e| Error::io("remove", &entry.path(), e))?;
        }
    }
    Ok(())
}

fn remove_from(table: &Table, first: &[u8], disk: &Disk) -> Result<()> {
    let mut loader = TableWriter::new(disk, table);
    for key in table.piece_keys(first) {
        loader.remove(key?)?;
    }
    loader.finish()
}
