//! The files of the archive: naming, appending, and rollback to a commit.
//!
//! A file is named `NDCRAWL-YYYYMMDDhhmmss-00000-HOST.warc.gz`, by creation time and serial number. It has the suffix
//! `.open` while it grows. A file with its final name never changes, unless a crash voided a part of it.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ndcrawl_model::{CommitMark, WarcLocation};

use super::disk::Disk;
use super::error::{Error, Result};
use super::gzip::Gzip;
use super::log_file::LogFile;
use super::options::Options;
use super::warc::{Draft, date_digits, now_millis};
use super::warc_reader::WarcReader;

pub(super) const OPEN: &str = ".open";
const HOST_NAME_BYTES: usize = 64;

/// The files of the archive.
pub(crate) struct WarcFiles {
    folder: PathBuf,
    disk: Disk,
    options: Options,
    crawl: String,
    /// Final names by serial number.
    names: BTreeMap<u32, String>,
    /// The file that grows.
    growing: Option<(u32, LogFile)>,
    /// The last written file, and its length.
    reached: (u32, u64),
    next_serial: u32,
}

impl WarcFiles {
    /// Finds the files and rolls them back to `mark`: cuts the file that it names, removes later ones.
    pub(crate) fn open(folder: &Path, options: &Options, crawl: &str, mark: &CommitMark, disk: Disk) -> Result<Self> {
        let reached = (mark.warc_file, mark.warc_bytes);
        let mut files = Self {
            folder: folder.to_owned(),
            disk,
            options: options.clone(),
            crawl: crawl.to_owned(),
            names: BTreeMap::new(),
            growing: None,
            reached,
            // A mark without bytes names no file: the first file does not exist yet.
            next_serial: if mark.warc_bytes == 0 { mark.warc_file } else { mark.warc_file + 1 },
        };
        for (serial, name) in list(folder)? {
            files.take_over(serial, &name)?;
        }
        if mark.warc_bytes > 0 && !files.names.contains_key(&mark.warc_file) {
            tracing::warn!(folder = %folder.display(), serial = mark.warc_file, "last WARC file missing: starting a new one");
        }
        Ok(files)
    }

    fn take_over(&mut self, serial: u32, name: &str) -> Result<()> {
        let path = self.folder.join(name);
        if serial >= self.next_serial {
            return self.disk.remove(&path).map_err(|e| Error::io("remove", &path, e));
        }
        let (last, length) = self.reached;
        match (name.strip_suffix(OPEN), serial == last) {
            (Some(closed), true) => {
                self.growing = Some((serial, LogFile::open(&path, length, &self.disk)?));
                self.names.insert(serial, closed.to_owned());
            }
            (Some(closed), false) => {
                self.disk.rename(&path, &self.folder.join(closed)).map_err(|e| Error::io("rename", &path, e))?;
                self.names.insert(serial, closed.to_owned());
            }
            (None, is_last) => {
                if is_last {
                    LogFile::open(&path, length, &self.disk)?;
                }
                self.names.insert(serial, name.to_owned());
            }
        }
        Ok(())
    }

    /// Returns the id of the crawl.
    pub(crate) fn crawl(&self) -> &str {
        &self.crawl
    }

    pub(crate) fn gzip_level(&self) -> u32 {
        self.options.gzip_level
    }

    /// Appends members to the same file and returns their locations.
    pub(crate) fn append(&mut self, members: &[Vec<u8>]) -> Result<Vec<WarcLocation>> {
        if self.growing.as_ref().is_some_and(|(_, log)| log.length() >= self.options.warc_size) {
            self.close_growing()?;
        }
        let (serial, log) = self.growing()?;
        let mut offset = log.length();
        log.append(&members.concat())?;
        let mut locations = Vec::with_capacity(members.len());
        for member in members {
            let length = member.len() as u64;
            locations.push(WarcLocation { file: serial, offset, length });
            offset += length;
        }
        self.reached = (serial, offset);
        Ok(locations)
    }

    /// Copies the first bytes of a file of another archive into this one. Returns its number here.
    pub(crate) fn import(&mut self, from: &Path, name: &str, bytes: u64) -> Result<u32> {
        self.close_growing()?;
        let serial = self.next_serial;
        let parts = name.strip_suffix(".warc.gz").map(|name| name.splitn(4, '-').collect::<Vec<_>>());
        let Some([prefix, date, _, host]) = parts.as_deref().and_then(|parts| <[&str; 4]>::try_from(parts).ok()) else {
            return Err(Error::corrupt(from.display().to_string(), "its name is not one of this program"));
        };
        let name = format!("{prefix}-{date}-{serial:05}-{host}.warc.gz");
        let to = self.folder.join(&name);
        fs::create_dir_all(&self.folder).map_err(|error| Error::io("create", &self.folder, error))?;
        let failed = |error| Error::io("copy", from, error);
        let mut source = File::open(from).map_err(failed)?;
        let mut copy = File::create(&to).map_err(|error| Error::io("create", &to, error))?;
        let copied = io::copy(&mut Read::take(&mut source, bytes), &mut copy).map_err(failed)?;
        if copied < bytes {
            let reason = format!("it ends after {copied} of {bytes} bytes");
            return Err(Error::corrupt(from.display().to_string(), reason));
        }
        copy.sync_all().map_err(|error| Error::io("sync", &to, error))?;
        self.sync_folder()?;
        self.names.insert(serial, name);
        self.next_serial = serial + 1;
        self.reached = (serial, bytes);
        Ok(serial)
    }

    /// Makes appended bytes durable. Returns the last written file and its length.
    pub(crate) fn sync(&mut self) -> Result<(u32, u64)> {
        if let Some((_, log)) = &mut self.growing {
            log.sync()?;
        }
        Ok(self.reached)
    }

    /// Drops everything after `mark` and gives the growing file its final name.
    pub(crate) fn close(&mut self, mark: &CommitMark) -> Result<()> {
        if let Some((serial, log)) = &mut self.growing
            && *serial == mark.warc_file
        {
            log.cut(mark.warc_bytes)?;
        }
        self.close_growing()
    }

    /// Returns the final name of a file, relative to the output folder.
    pub(crate) fn name(&self, serial: u32) -> Option<String> {
        self.names.get(&serial).map(|name| format!("warc/{name}"))
    }

    /// Opens a file under its current name.
    pub(crate) fn read(&self, serial: u32) -> Result<(File, PathBuf)> {
        let path = match (&self.growing, self.names.get(&serial)) {
            (Some((growing, log)), _) if *growing == serial => log.path().to_owned(),
            (_, Some(name)) => self.folder.join(name),
            _ => {
                return Err(Error::corrupt(
                    self.folder.display().to_string(),
                    format!("no file has number {serial:05}"),
                ));
            }
        };
        let file = OpenOptions::new().read(true).open(&path).map_err(|e| Error::io("open", &path, e))?;
        Ok((file, path))
    }

    fn close_growing(&mut self) -> Result<()> {
        let Some((serial, log)) = &mut self.growing else { return Ok(()) };
        log.sync()?;
        if let Some(name) = self.names.get(serial) {
            log.rename(&self.folder.join(name))?;
        }
        self.growing = None;
        self.sync_folder()
    }

    fn growing(&mut self) -> Result<(u32, &mut LogFile)> {
        let (serial, log) = match self.growing.take() {
            Some(growing) => growing,
            None => self.begin()?,
        };
        let (_, log) = self.growing.insert((serial, log));
        Ok((serial, log))
    }

    /// Creates the next file with its first record.
    fn begin(&mut self) -> Result<(u32, LogFile)> {
        let serial = self.next_serial;
        let name = file_name(now_millis(), serial, &self.options.host_name_for_warc);
        let path = self.folder.join(format!("{name}{OPEN}"));
        self.make_folder()?;
        let mut log = LogFile::open(&path, 0, &self.disk)?;
        let host = safe_host_name(&self.options.host_name_for_warc);
        let lines = [
            ("software", self.options.software.as_str()),
            ("format", "WARC file version 1.1"),
            ("conformsTo", "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"),
            ("robots", &self.options.robots),
            ("hostname", &host),
            ("http-header-user-agent", &self.options.user_agent),
            ("isPartOf", &self.crawl),
        ];
        let begun = log
            .append(&Draft::warcinfo(&self.crawl, &name, &lines).to_member(&mut Gzip::new(self.options.gzip_level)))
            .and_then(|()| self.sync_folder());
        if let Err(error) = begun {
            // The file is not registered yet: a second attempt would leave it behind.
            let _ = fs::remove_file(&path);
            return Err(error);
        }
        self.names.insert(serial, name);
        self.next_serial += 1;
        Ok((serial, log))
    }

    /// Creates the folder, and makes its name durable.
    fn make_folder(&self) -> Result<()> {
        let Some(parent) = self.folder.parent().filter(|_| !self.folder.exists()) else { return Ok(()) };
        fs::create_dir_all(&self.folder).map_err(|e| Error::io("make", &self.folder, e))?;
        self.disk.sync_folder(parent).map_err(|e| Error::io("sync", parent, e))
    }

    fn sync_folder(&self) -> Result<()> {
        self.disk.sync_folder(&self.folder).map_err(|e| Error::io("sync", &self.folder, e))
    }
}

/// Lists the files of the archive by ascending serial number. Ignores other files.
pub(crate) fn list(folder: &Path) -> Result<Vec<(u32, String)>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(|e| Error::io("list", folder, e))? {
        let entry = entry.map_err(|e| Error::io("list", folder, e))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(serial) = serial_of(&name) {
            found.push((serial, name));
        }
    }
    found.sort();
    Ok(found)
}

/// Gives growing files their final names and cuts an incomplete last record. Returns all files.
///
/// `named` gives the offset of the last referenced record of a file. If a damaged record before it blocks the way,
/// nothing is cut.
pub(crate) fn close_all(folder: &Path, named: impl Fn(&str) -> u64) -> Result<Vec<(u32, String)>> {
    for (_, name) in list(folder)? {
        let Some(closed) = name.strip_suffix(OPEN) else { continue };
        let path = folder.join(&name);
        let failed = |error| Error::io("close", &path, error);
        let file = OpenOptions::new().read(true).write(true).open(&path).map_err(failed)?;
        let whole = WarcReader::new(&file, 0).map_while(std::result::Result::ok);
        let end = whole.last().map_or(0, |record| record.offset + record.length);
        if end > named(closed) {
            file.set_len(end).and_then(|()| file.sync_all()).map_err(failed)?;
        }
        fs::rename(&path, folder.join(closed)).map_err(failed)?;
    }
    list(folder)
}

fn file_name(millis: i64, serial: u32, host: &str) -> String {
    format!("NDCRAWL-{}-{serial:05}-{}.warc.gz", date_digits(millis), safe_host_name(host))
}

/// Returns the serial number of a WARC file of this program, by its name relative to the output folder.
pub fn warc_serial(name: &str) -> Option<u32> {
    serial_of(name.strip_prefix("warc/")?)
}

/// Parses the serial number in a file name of this program.
fn serial_of(name: &str) -> Option<u32> {
    let name = name.strip_suffix(OPEN).unwrap_or(name);
    let mut parts = name.strip_prefix("NDCRAWL-")?.strip_suffix(".warc.gz")?.splitn(3, '-');
    let (date, serial, _host) = (parts.next()?, parts.next()?, parts.next()?);
    let digits = |text: &str, least: usize| text.len() >= least && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits(date, 14) && digits(serial, 5) { serial.parse().ok() } else { None }
}

/// Reduces a name to letters, digits, dots and hyphens. Never empty, hidden or a path.
fn safe_host_name(host: &str) -> String {
    let safe: String =
        host.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-')).take(HOST_NAME_BYTES).collect();
    if safe.is_empty() { "localhost".to_owned() } else { safe }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(folder: &Path, mark: &CommitMark) -> WarcFiles {
        let options = Options { warc_size: 2000, ..Options::default() };
        WarcFiles::open(folder, &options, "crawl", mark, Disk::default()).unwrap()
    }

    fn names(folder: &Path) -> Vec<String> {
        list(folder).unwrap().into_iter().map(|(_, name)| name[22..].to_owned()).collect()
    }

    fn mark((warc_file, warc_bytes): (u32, u64)) -> CommitMark {
        CommitMark { warc_file, warc_bytes, ..CommitMark::default() }
    }

    #[test]
    fn a_full_file_is_closed_and_the_next_begun() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = open(folder.path(), &CommitMark::default());
        assert_eq!(files.sync().unwrap(), (0, 0));
        let serials: Vec<u32> = (0..3).map(|_| files.append(&[vec![0; 1500]]).unwrap()[0].file).collect();
        assert_eq!(serials, [0, 0, 1]);
        assert_eq!(names(folder.path()), ["-00000-localhost.warc.gz", "-00001-localhost.warc.gz.open"]);
        let reached = files.sync().unwrap();
        files.close(&mark(reached)).unwrap();
        assert!(names(folder.path())[1].ends_with(".gz"));
    }

    #[test]
    fn what_lies_behind_the_mark_is_cut_and_later_files_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = open(folder.path(), &CommitMark::default());
        files.append(&[vec![0; 1000]]).unwrap();
        let reached = files.sync().unwrap();
        for _ in 0..4 {
            files.append(&[vec![0; 1500]]).unwrap();
        }
        assert_eq!(names(folder.path()).len(), 3);
        drop(files);

        let mut files = open(folder.path(), &mark(reached));
        assert_eq!(names(folder.path()), ["-00000-localhost.warc.gz"]);
        assert_eq!(files.read(0).unwrap().0.metadata().unwrap().len(), reached.1);
        assert_eq!(files.append(&[vec![1]]).unwrap()[0].file, 1, "a closed file does not grow");
    }

    #[test]
    fn a_file_that_still_grows_goes_on_where_the_mark_is() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = open(folder.path(), &CommitMark::default());
        files.append(&[vec![0; 100]]).unwrap();
        let reached = files.sync().unwrap();
        files.append(&[vec![0; 100]]).unwrap();
        drop(files);
        let mut files = open(folder.path(), &mark(reached));
        let [location] = files.append(&[vec![1; 7]]).unwrap()[..] else { panic!() };
        assert_eq!(location, WarcLocation { file: 0, offset: reached.1, length: 7 });
    }

    #[test]
    fn a_torn_end_is_cut_off_and_a_damaged_middle_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let name = "NDCRAWL-20260101000000-00000-h.warc.gz";
        let (open, closed) = (folder.path().join(format!("{name}{OPEN}")), folder.path().join(name));
        let record = |id| Draft::warcinfo(id, "f", &[("isPartOf", "x")]).to_member(&mut Gzip::new(1));
        let (first, second) = (record("a"), record("b"));
        let whole = [&first[..], &second].concat();
        let mut damaged = whole.clone();
        damaged[first.len() / 2] ^= 0x55;
        for (before, after) in [(&[&whole[..], &first[..9]].concat(), &whole), (&damaged, &damaged)] {
            fs::write(&open, before).unwrap();
            close_all(folder.path(), |_| first.len() as u64).unwrap();
            assert_eq!(&fs::read(&closed).unwrap(), after);
        }
    }

    #[test]
    fn names_of_others_are_not_ours_and_host_names_are_made_safe() {
        for name in ["x.warc.gz", "NDCRAWL-2026-00000-h.warc.gz", "NDCRAWL-20261120000000-1-h.warc.gz", ".."] {
            assert_eq!(serial_of(name), None, "{name}");
        }
        let name = file_name(0, 7, "../ev/il host");
        assert_eq!(name, "NDCRAWL-19700101000000-00007-..evilhost.warc.gz");
        assert_eq!((serial_of(&name), serial_of(&(name + OPEN))), (Some(7), Some(7)));
    }
}
