//! Rows of origins. The newest row counts. A robots.txt body is stored once, however often its origin changes.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use ndcrawl_model::{Digest, HostRow};

use super::database::Database;
use super::disk::Disk;
use super::error::{Error, Result};
use super::host_key::HostKey;
use super::table::TableWriter;

/// A stored row: a digest replaces the body of robots.txt.
#[derive(Serialize, Deserialize)]
struct StoredHost {
    row: HostRow,
    robots_body: Option<Digest>,
}

/// Writes rows of origins, with state between commits.
#[derive(Default)]
pub(crate) struct HostWriter {
    /// Bodies that this process has written.
    robots: HashSet<Digest>,
    /// Keys of rows that the last commit replaced. The next commit removes them.
    replaced: Vec<Vec<u8>>,
}

impl HostWriter {
    /// Writes rows under `commit` and removes those that the previous commit replaced. Call [`HostWriter::forget`] after
    /// a failure.
    pub(crate) fn write(&mut self, database: &Database, hosts: &[HostRow], commit: u64, disk: &Disk) -> Result<()> {
        let mut bodies = TableWriter::new(disk, &database.robots);
        let mut rows = TableWriter::new(disk, &database.host);
        for key in std::mem::take(&mut self.replaced) {
            rows.remove(key)?;
        }
        for host in hosts {
            let key = HostKey::new(&host.origin, commit);
            let stored = self.without_body(host, &mut bodies)?;
            rows.put(&key.bytes(), &postcard::to_stdvec(&stored).map_err(|e| Error::Batch(e.to_string()))?)?;
            for older in database.host.piece_keys_of(&key.origin) {
                let older = older?;
                if HostKey::read(&older).is_some_and(|older| older.commit < commit) {
                    self.replaced.push(older);
                }
            }
        }
        bodies.finish()?;
        rows.finish()
    }

    /// Clears the state: written bodies may be lost, and replaced rows may be needed.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    fn without_body(&mut self, host: &HostRow, bodies: &mut TableWriter<'_>) -> Result<StoredHost> {
        let mut row = host.clone();
        let Some(robots) = &mut row.robots else { return Ok(StoredHost { row, robots_body: None }) };
        let body = std::mem::take(&mut robots.body);
        let digest = Digest::of(&body);
        if self.robots.insert(digest) {
            bodies.put(&digest.0, &body)?;
        }
        Ok(StoredHost { row, robots_body: Some(digest) })
    }
}

/// Returns all rows as of commit `last`, sorted by the hash of the origin.
pub(crate) fn hosts(database: &Database, last: u64) -> impl Iterator<Item = Result<HostRow>> + use<> {
    let database = database.clone();
    let mut entries = database.host.entries(&[]).peekable();
    std::iter::from_fn(move || {
        let mut newest = None;
        loop {
            let (key, value) = match entries.next() {
                Some(Ok(entry)) => entry,
                Some(Err(error)) => return Some(Err(error)),
                None => break,
            };
            let Some(key) = HostKey::read(&key) else { return Some(Err(database.host.damaged(&key, "key too short"))) };
            if key.commit <= last {
                newest = Some((key, value));
            }
            let next = entries.peek().and_then(|entry| HostKey::read(&entry.as_ref().ok()?.0));
            if newest.is_some() && next.is_none_or(|next| next.origin != key.origin || next.commit > last) {
                break;
            }
        }
        newest.map(|(key, value)| read(&database, key, &value))
    })
}

fn read(database: &Database, key: HostKey, value: &[u8]) -> Result<HostRow> {
    let StoredHost { mut row, robots_body } =
        postcard::from_bytes(value).map_err(|e| database.host.damaged(&key.bytes(), e))?;
    if let (Some(robots), Some(digest)) = (&mut row.robots, robots_body) {
        robots.body =
            database.robots.get(&digest.0)?.ok_or_else(|| database.robots.damaged(&digest.0, "it is missing"))?;
    }
    Ok(row)
}
