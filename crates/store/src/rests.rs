//! Rests of origins and addresses, for the next run.
//!
//! A rest must outlive a process that is killed, so each is appended to a file as soon as it is known: one write and no
//! sync, as nothing but a power failure loses bytes that the system has. The file is rewritten when most of it is over.
//! It belongs to the folder and not to a crawl: it stays when a crawl is set aside, deleted or rebuilt.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use ndcrawl_model::{RestOf, RestRow};

use super::error::{Error, Result};

/// The name of the file.
pub const RESTS: &str = "rests.jsonl";

/// Bytes from which the file is rewritten, unless it would stay as long.
const MANY_BYTES: u64 = 256 * 1024;

/// The file of rests, open for appending.
pub struct RestLog {
    path: PathBuf,
    state: Mutex<RestFile>,
}

struct RestFile {
    file: File,
    bytes: u64,
    /// Bytes from which it is rewritten.
    limit: u64,
    /// The last rest of each origin and address.
    last: HashMap<RestOf, RestRow>,
    has_warned: bool,
}

impl RestLog {
    /// Opens or creates the file of an output folder. Returns the rests that last. Ignores lines that it cannot read.
    pub(crate) fn open(folder: &Path) -> Result<(Self, Vec<RestRow>)> {
        let path = folder.join(RESTS);
        let last = lasting(&path)?;
        let rows = last.values().cloned().collect();
        let file = RestFile::rewrite(&path, last).map_err(|error| Error::io("write", &path, error))?;
        Ok((Self { path, state: Mutex::new(file) }, rows))
    }

    /// Stores a rest. A failure costs the next run this rest, and the log says so once.
    pub fn note(&self, row: &RestRow) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = state.append(&self.path, row)
            && !std::mem::replace(&mut state.has_warned, true)
        {
            let path = self.path.display();
            tracing::warn!(%path, %error, "rests of hosts are not stored: a restart may ask hosts too early");
        }
    }
}

impl RestFile {
    /// Writes a new file with these rests, in place of the old one.
    fn rewrite(path: &Path, last: HashMap<RestOf, RestRow>) -> std::io::Result<Self> {
        let new = path.with_extension("jsonl.new");
        let mut text = Vec::new();
        for row in last.values() {
            text.extend_from_slice(&line(row)?);
        }
        fs::write(&new, &text)?;
        fs::rename(&new, path)?;
        let file = OpenOptions::new().append(true).open(path)?;
        let bytes = text.len() as u64;
        Ok(Self { file, bytes, limit: MANY_BYTES.max(4 * bytes), last, has_warned: false })
    }

    fn append(&mut self, path: &Path, row: &RestRow) -> std::io::Result<()> {
        let line = line(row)?;
        self.file.write_all(&line)?;
        self.bytes += line.len() as u64;
        self.last.insert(row.of.clone(), row.clone());
        if self.bytes > self.limit {
            let now = now();
            self.last.retain(|_, row| lasts(row, now));
            *self = Self::rewrite(path, std::mem::take(&mut self.last))?;
        }
        Ok(())
    }
}

/// Reads the rests of a folder that last. Ignores lines that it cannot read.
pub(super) fn lasting_rests(folder: &Path) -> Result<Vec<RestRow>> {
    Ok(lasting(&folder.join(RESTS))?.into_values().collect())
}

fn lasting(path: &Path) -> Result<HashMap<RestOf, RestRow>> {
    let text = match fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        read => read.map_err(|error| Error::io("read", path, error))?,
    };
    let mut last = HashMap::new();
    for line in text.split(|&byte| byte == b'\n') {
        if let Ok(row) = serde_json::from_slice::<RestRow>(line) {
            last.insert(row.of.clone(), row);
        }
    }
    last.retain(|_, row| lasts(row, now()));
    Ok(last)
}

fn line(row: &RestRow) -> std::io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(row)?;
    line.push(b'\n');
    Ok(line)
}

/// Whether a rest is not over. If the clock was set back since, nobody knows, and it counts from the beginning.
fn lasts(row: &RestRow, now: i64) -> bool {
    row.end() > now
}

/// Milliseconds since 1970 UTC.
fn now() -> i64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndcrawl_model::Rest;

    fn row(origin: &str, since: i64, millis: u64) -> RestRow {
        let of = RestOf::Origin(origin.to_owned());
        RestRow { of, why: Rest::RetryAfter, since, millis, at: None, strikes: 1 }
    }

    fn reopened(folder: &Path) -> Vec<RestRow> {
        let mut rows = RestLog::open(folder).unwrap().1;
        rows.sort_by_key(|row| format!("{row:?}"));
        rows
    }

    #[test]
    fn a_rest_is_there_as_soon_as_it_is_noted_and_until_it_is_over() {
        let folder = tempfile::tempdir().unwrap();
        let (log, rows) = RestLog::open(folder.path()).unwrap();
        assert_eq!(rows, []);
        log.note(&row("a", now(), 60_000));
        log.note(&row("b", now() - 10, 5));
        let last = row("a", now(), 70_000);
        log.note(&last);
        assert_eq!(reopened(folder.path()), [last], "while the other still holds the file");
    }

    #[test]
    fn lines_that_nobody_can_read_do_no_harm() {
        let folder = tempfile::tempdir().unwrap();
        let good = row("a", now(), 60_000);
        let mut text = b"\xff\n{}\n{\"origin\":\"x\",\"why\":\"whim\",\"since\":1,\"millis\":1}\n\n".to_vec();
        text.extend(line(&good).unwrap());
        text.extend(b"{\"origin\":\"b\",\"why\":\"ga");
        fs::write(folder.path().join(RESTS), text).unwrap();
        let (log, rows) = RestLog::open(folder.path()).unwrap();
        assert_eq!(rows, std::slice::from_ref(&good));
        let other = row("b", now(), 60_000);
        log.note(&other);
        assert_eq!(reopened(folder.path()), [good, other], "half a line before it does not spoil the next");
    }

    #[test]
    fn the_file_does_not_grow_with_the_requests() {
        let folder = tempfile::tempdir().unwrap();
        let (log, _) = RestLog::open(folder.path()).unwrap();
        let long = row("long", now(), 600_000);
        log.note(&long);
        for request in 0..20_000 {
            log.note(&row(&format!("http://host-{}.test:80", request % 500), now() - 1_000, 900));
        }
        let bytes = fs::metadata(folder.path().join(RESTS)).unwrap().len();
        assert!(bytes < 2 * MANY_BYTES, "{bytes}");
        assert_eq!(reopened(folder.path()), [long]);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_an_error_at_once() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(RESTS)).unwrap();
        assert!(matches!(RestLog::open(folder.path()), Err(Error::Io { .. })));
    }
}
