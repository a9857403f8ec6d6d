//! Snapshot of state derived from the logs, to open faster.
//!
//! One file beside the database, replaced atomically: a head that names its source, opaque bytes, and an XXH3 checksum
//! of both. It is optional. One that is missing, damaged, of another format or ahead of the logs is ignored, and the
//! state is rebuilt from the logs.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::error::{Error, Result};
use super::reader::StoreReader;
use ndcrawl_model::PageId;
use ndcrawl_model::arrays::{read_array, write_array};

/// Changes with the content of any room.
const FORMAT: u32 = 12;
const MAGIC: &[u8; 16] = b"ndcrawl snapshot";
const CHECKSUM_BYTES: u64 = 16;
const BUFFER: usize = 1 << 20;

/// Source of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotHead {
    /// Signature of the options. Other options cannot use it.
    pub signature: String,
    /// Pages below this number are included.
    pub pages: u32,
    /// Terms below this number are included.
    pub terms: u32,
    /// The last of these pages.
    pub last_page: Option<PageId>,
}

/// A written but not yet installed snapshot.
#[derive(Debug)]
pub struct NewSnapshot {
    written: PathBuf,
    place: PathBuf,
    /// Pages that must be committed before it is installed.
    pub pages: u32,
}

impl NewSnapshot {
    /// Installs the snapshot. Its source must be committed.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn publish(self) -> Result<()> {
        fs::rename(&self.written, &self.place).map_err(|e| Error::io("replace", &self.place, e))
    }
}

/// The contents of a snapshot with a valid checksum.
pub type SnapshotInput = io::Take<BufReader<File>>;

impl StoreReader {
    /// Writes a snapshot without a sync: its loss costs only time.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::DiskFull`].
    pub fn write_snapshot(
        &self,
        head: &SnapshotHead,
        contents: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<NewSnapshot> {
        let place = self.snapshot_path();
        let written = place.with_extension("new");
        let failed = |e| Error::io("write", &written, e);
        let file = File::create(&written).map_err(failed)?;
        let mut out = Hashing { inner: BufWriter::with_capacity(BUFFER, file), hash: Xxh3::new() };
        let write = |out: &mut Hashing<BufWriter<File>>| -> io::Result<()> {
            out.write_all(MAGIC)?;
            out.write_all(&FORMAT.to_le_bytes())?;
            write_array(out, &postcard::to_stdvec(head).map_err(io::Error::other)?)?;
            contents(out)?;
            let checksum = out.hash.digest128();
            out.inner.write_all(&checksum.to_le_bytes())?;
            out.inner.flush()
        };
        if let Err(error) = write(&mut out) {
            // A full disk needs the space.
            let _ = fs::remove_file(&written);
            return Err(failed(error));
        }
        Ok(NewSnapshot { written, place, pages: head.pages })
    }

    /// Returns a valid snapshot of these options that is not ahead of the logs. Deletes any other and logs the reason.
    pub fn snapshot(&self, signature: &str) -> Option<(SnapshotHead, SnapshotInput)> {
        let path = self.snapshot_path();
        match self.open_snapshot(&path, signature) {
            Ok(opened) => Some(opened),
            Err(reason) if path.exists() => {
                tracing::warn!(path = %path.display(), reason, "index snapshot not usable: rebuilding the index from the log");
                self.forget_snapshot();
                None
            }
            Err(_) => None,
        }
    }

    /// Deletes the snapshot, if there is one.
    pub fn forget_snapshot(&self) {
        // If it cannot be deleted, it is refused again next time.
        let _ = fs::remove_file(self.snapshot_path());
    }

    fn open_snapshot(
        &self,
        path: &Path,
        signature: &str,
    ) -> std::result::Result<(SnapshotHead, SnapshotInput), String> {
        let unreadable = |error: io::Error| format!("it can't be read: {error}");
        let mut file = File::open(path).map_err(unreadable)?;
        let length = file.metadata().map_err(unreadable)?.len();
        let contents = length.checked_sub(CHECKSUM_BYTES).ok_or("it is cut short")?;
        if !is_sound(&mut file, contents).map_err(unreadable)? {
            return Err("its checksum is wrong".to_owned());
        }
        file.seek(SeekFrom::Start(0)).map_err(unreadable)?;
        let mut input = BufReader::with_capacity(BUFFER, file).take(contents);
        let (mut magic, mut format) = ([0; MAGIC.len()], [0; 4]);
        input.read_exact(&mut magic).and_then(|()| input.read_exact(&mut format)).map_err(unreadable)?;
        if &magic != MAGIC || u32::from_le_bytes(format) != FORMAT {
            return Err("it was made by another version".to_owned());
        }
        let head: Vec<u8> = read_array(&mut input).map_err(unreadable)?;
        let head: SnapshotHead =
            postcard::from_bytes(&head).map_err(|error| format!("its head can't be read: {error}"))?;
        if head.signature != signature {
            return Err("it was made by other settings".to_owned());
        }
        let mark = self.mark();
        if head.pages > mark.pages || head.terms > mark.terms {
            return Err("it is ahead of the log".to_owned());
        }
        let last = head.pages.checked_sub(1).map(|last| self.page(ndcrawl_model::Sequence(last)));
        let last = last.transpose().map_err(|error| error.to_string())?.flatten().map(|row| row.page);
        if last != head.last_page {
            return Err("it is of another crawl".to_owned());
        }
        Ok((head, input))
    }
}

/// Whether the first `contents` bytes have the checksum that follows them.
fn is_sound(file: &mut File, contents: u64) -> io::Result<bool> {
    let mut hash = Xxh3::new();
    let mut buffer = vec![0; BUFFER];
    let mut left = contents;
    while left > 0 {
        let most = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let read = file.read(&mut buffer[..most])?;
        if read == 0 {
            return Ok(false);
        }
        hash.update(&buffer[..read]);
        left -= read as u64;
    }
    let mut checksum = [0; CHECKSUM_BYTES as usize];
    file.read_exact(&mut checksum)?;
    Ok(u128::from_le_bytes(checksum) == hash.digest128())
}

/// Writer that hashes its bytes.
struct Hashing<W> {
    inner: W,
    hash: Xxh3,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Identity, Options, Store};

    fn head(pages: u32) -> SnapshotHead {
        SnapshotHead { signature: "so and so".to_owned(), pages, terms: 0, last_page: None }
    }

    fn with_snapshot(pages: u32) -> (tempfile::TempDir, Store, StoreReader) {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { min_free: 0, ..Options::default() };
        let (store, _) = Store::open(folder.path(), options, &Identity::new(String::new(), "")).unwrap();
        let reader = store.reader();
        let new = reader.write_snapshot(&head(pages), |out| out.write_all(&[7; 5_000])).unwrap();
        assert!(!reader.snapshot_path().exists(), "it has its place only once it is published");
        new.publish().unwrap();
        (folder, store, reader)
    }

    #[test]
    fn a_snapshot_comes_back_as_it_was_written() {
        let (_folder, _store, reader) = with_snapshot(0);
        let (found, mut input) = reader.snapshot("so and so").unwrap();
        assert_eq!(found, head(0));
        let mut contents = Vec::new();
        input.read_to_end(&mut contents).unwrap();
        assert_eq!(contents, [7; 5_000]);
    }

    #[test]
    fn one_that_cannot_be_written_leaves_nothing_behind_and_the_old_one_in_its_place() {
        let (_folder, _store, reader) = with_snapshot(0);
        let full = |out: &mut dyn Write| {
            out.write_all(&[1; 3 << 20])?;
            Err(io::ErrorKind::StorageFull.into())
        };
        assert!(matches!(reader.write_snapshot(&head(0), full), Err(Error::DiskFull { .. })));
        let left: Vec<_> = fs::read_dir(reader.snapshot_path().parent().unwrap()).unwrap().flatten().collect();
        assert!(left.iter().all(|entry| entry.path().extension().is_none_or(|name| name != "new")), "{left:?}");
        assert!(reader.snapshot("so and so").is_some());
    }

    #[test]
    fn one_of_other_settings_or_ahead_of_the_log_is_deleted() {
        for (pages, signature) in [(0, "otherwise"), (1, "so and so")] {
            let (_folder, _store, reader) = with_snapshot(pages);
            assert!(reader.snapshot(signature).is_none());
            assert!(!reader.snapshot_path().exists());
            assert!(reader.snapshot(signature).is_none(), "nor is it missed");
        }
    }

    #[test]
    fn a_flipped_byte_anywhere_or_a_missing_end_is_noticed() {
        let (_folder, _store, reader) = with_snapshot(0);
        let path = reader.snapshot_path();
        let sound = fs::read(&path).unwrap();
        for place in (0..sound.len()).step_by(97).chain([0, 16, 20, sound.len() - 1]) {
            let mut damaged = sound.clone();
            damaged[place] ^= 0x20;
            fs::write(&path, damaged).unwrap();
            assert!(reader.snapshot("so and so").is_none(), "byte {place}");
        }
        for length in [0, 1, 15, 16, 40, sound.len() - 1] {
            fs::write(&path, &sound[..length]).unwrap();
            assert!(reader.snapshot("so and so").is_none(), "{length} bytes");
        }
        fs::write(&path, sound).unwrap();
        assert!(reader.snapshot("so and so").is_some());
    }
}
