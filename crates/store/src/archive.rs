//! The archive of pages: WARC files.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use ndcrawl_model::{
    CommitMark, DecidedBy, Digest, Fetched, KnownUnchanged, PageId, PageRow, PutPage, Unchanged, Verdict, WarcLocation,
};

use super::error::{Error, Result};
use super::gzip::Gzip;
use super::mutex::locked;
use super::reader::StoreReader;
use super::warc::{Draft, Kind, payload_digest};
use super::warc_files::WarcFiles;
use super::warc_reader::{WarcReader, WarcRecord};

/// The archive of a crawl. Clones share the same files.
///
/// | page | records | location |
/// |---|---|---|
/// | unique | `response`, `request`, and a `metadata` with its text if it is a document | of the response |
/// | unique, unchanged since an earlier generation | `revisit`; none without a request | of the response there |
/// | has the bytes of an archived page | `revisit` | of the revisit |
/// | any other duplicate | `metadata`, and a second one with its text if that is kept | of the first |
/// | a duplicate whose body is kept | `response`, `request`, `metadata` | of the response |
/// | a duplicate reused from an earlier generation without a request | `metadata` | of it; if its body is kept, of the response there |
///
/// Files that speak for a site, such as robots.txt, have a `response` and a `request` with the field `Site-File`. No page
/// line names them.
///
/// Calls compress and write, so they block: make them on a thread that may wait.
#[derive(Clone)]
pub struct Archive {
    state: Arc<Mutex<ArchiveState>>,
    reader: StoreReader,
    enabled: bool,
    level: u32,
    /// Lower file numbers belong to earlier generations.
    first_file: u32,
}

struct ArchiveState {
    files: WarcFiles,
    /// Pages put since the last commit, and since the one before it.
    recent: [RecentPages; 2],
    /// Files of sites that were put.
    site_files: u32,
    /// A spare compressor. One page takes it, others create their own.
    gzip: Option<Gzip>,
}

/// Recent pages that readers of the store may not see yet.
#[derive(Default)]
struct RecentPages {
    locations: HashMap<PageId, WarcLocation>,
    /// Pages with a response record, by URL and time of fetch.
    bodies: HashMap<(String, Option<i64>), (PageId, Digest)>,
}

impl Archive {
    pub(crate) fn new(files: WarcFiles, reader: StoreReader, enabled: bool, first_file: u32) -> Self {
        let level = files.gzip_level();
        let state = ArchiveState { files, recent: Default::default(), site_files: 0, gzip: None };
        Self { state: Arc::new(Mutex::new(state)), reader, enabled, level, first_file }
    }

    /// Returns the name of a file relative to the output folder, as in `pages.jsonl`: without the suffix of a growing
    /// file.
    pub fn file_name(&self, file: u32) -> Option<String> {
        locked(&self.state).files.name(file)
    }

    /// Appends one page and returns its location. `None` without an archive. A page put since the last two commits is
    /// not appended again.
    ///
    /// # Errors
    /// [`Error::DiskFull`], [`Error::Io`]: nothing of the page is kept, and it may be put again.
    pub fn put_page(&self, page: &PutPage) -> Result<Option<WarcLocation>> {
        if !self.enabled {
            return Ok(None);
        }
        if let Some(known) = self.known(page.page) {
            return Ok(Some(known));
        }
        let drafts: Vec<Draft<'_>> =
            self.drafts(page)?.into_iter().map(|draft| draft.with_row(page.row.as_ref())).collect();
        let (mut state, members) = self.compressed(&drafts);
        let locations = state.files.append(&members)?;
        let keeps_earlier = page.verdict.is_unique() || (page.keep_body && is_reused(page));
        let unchanged = page.unchanged.as_ref().filter(|_| keeps_earlier);
        let main = unchanged.map(|unchanged| unchanged.location).or(locations.first().copied());
        if let Some(location) = main {
            state.remember(page, location);
        }
        Ok(main)
    }

    /// Appends an exchange that was made to read this file of a site. The next commit makes it durable.
    ///
    /// # Errors
    /// As [`put_page`](Self::put_page).
    pub fn put_site_file(&self, file: &str, fetched: &Fetched) -> Result<()> {
        if !self.enabled {
            return Ok(());
        }
        let name = {
            let mut state = locked(&self.state);
            state.site_files += 1;
            // Two files may lead to one address at the same time.
            let exchange = format!("{} {:?}", fetched.address_requested(), fetched.started_at);
            PageId::new(state.files.crawl(), &exchange, state.site_files)
        };
        let digest = payload_digest(&fetched.body);
        let drafts = [Draft::response(name, fetched, &digest), Draft::request(name, fetched)];
        let drafts = drafts.map(|draft| draft.of_site_file(file));
        let (mut state, members) = self.compressed(&drafts);
        state.files.append(&members).map(drop)
    }

    /// Compresses records, and then waits for the files.
    fn compressed(&self, drafts: &[Draft<'_>]) -> (MutexGuard<'_, ArchiveState>, Vec<Vec<u8>>) {
        // Compression takes longest and needs no lock.
        let mut gzip = locked(&self.state).gzip.take().unwrap_or_else(|| Gzip::new(self.level));
        let members = drafts.iter().map(|draft| draft.to_member(&mut gzip)).collect();
        let mut state = locked(&self.state);
        state.gzip = Some(gzip);
        (state, members)
    }

    /// Reads the body of an archived page.
    ///
    /// # Errors
    /// [`Error::NoBody`] if the record is not a response, [`Error::Corrupt`] if there is no record.
    pub fn body(&self, location: WarcLocation) -> Result<Vec<u8>> {
        let (file, path) = locked(&self.state).files.read(location.file)?;
        body(&read_record(file, &path, location)?, &path)
    }

    /// Copies the first bytes of a file of another archive into this one. Returns its number here.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if it is shorter or has another name than the files of this program, [`Error::Io`].
    pub fn import(&self, from: &Path, name: &str, bytes: u64) -> Result<u32> {
        locked(&self.state).files.import(from, name, bytes)
    }

    /// Makes appended bytes durable. Returns the last written file and its length.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn sync(&self) -> Result<(u32, u64)> {
        locked(&self.state).files.sync()
    }

    pub(crate) fn close(&self, mark: &CommitMark) -> Result<()> {
        locked(&self.state).files.close(mark)
    }

    /// Records a commit. Pages put before the previous commit are now readable from the store.
    pub fn committed(&self) {
        let mut state = locked(&self.state);
        let young = std::mem::take(&mut state.recent[0]);
        state.recent[1] = young;
    }

    fn known(&self, page: PageId) -> Option<WarcLocation> {
        locked(&self.state).recent.iter().find_map(|recent| recent.locations.get(&page).copied())
    }

    fn drafts<'a>(&self, page: &'a PutPage) -> Result<Vec<Draft<'a>>> {
        let (id, fetched) = (page.page, &*page.fetched);
        let original = page.original.as_ref().map(|(url, _)| url.as_str());
        let digest = page.payload_digest.as_str();
        let in_full = || {
            let mut drafts = vec![Draft::response(id, fetched, digest), Draft::request(id, fetched)];
            drafts.extend(page.text.as_deref().map(|text| Draft::text(id, fetched, Kind::Response, text)));
            drafts
        };
        if page.verdict.is_unique() {
            return Ok(match &page.unchanged {
                // There was no exchange with the server.
                Some(_) if is_reused(page) => Vec::new(),
                Some(unchanged) => vec![Draft::unchanged(id, fetched, digest, unchanged)],
                None => in_full(),
            });
        }
        if is_reused(page) {
            let mut drafts = vec![Draft::duplicate(id, fetched, &page.verdict, original, false)];
            let text = page.text.as_deref().filter(|_| !page.keep_body);
            drafts.extend(text.map(|text| Draft::text(id, fetched, Kind::Metadata, text)));
            return Ok(drafts);
        }
        if page.keep_body {
            let mut drafts = in_full();
            drafts.push(Draft::duplicate(id, fetched, &page.verdict, original, true));
            return Ok(drafts);
        }
        let mut drafts = vec![match (self.same_body(page)?, &page.original) {
            (Some(of), Some((url, fetched_at))) => Draft::revisit(id, fetched, digest, of, (url, *fetched_at)),
            _ => Draft::duplicate(id, fetched, &page.verdict, original, false),
        }];
        drafts.extend(page.text.as_deref().map(|text| Draft::text(id, fetched, Kind::Metadata, text)));
        Ok(drafts)
    }

    /// Returns the archived page with the same body. An exact copy of another duplicate can differ from the page that it
    /// points to, so the digests are compared.
    fn same_body(&self, page: &PutPage) -> Result<Option<PageId>> {
        let Verdict::ExactDuplicate { of, decided_by: DecidedBy::BodyDigest } = page.verdict else { return Ok(None) };
        let digest = page.body_digest;
        if Digest::of(&page.fetched.body) != digest {
            // A part, or a row of text: equal ones may have other bytes.
            return Ok(None);
        }
        if let Some(original) = &page.original {
            let state = locked(&self.state);
            let known = state.recent.iter().find_map(|recent| recent.bodies.get(original));
            if let Some((id, known)) = known {
                return Ok((*known == digest).then_some(*id));
            }
        }
        let row = self.reader.page(of)?;
        // A revisit record cannot name a record of an earlier generation.
        let is_here = |row: &PageRow| row.location.is_some_and(|location| location.file >= self.first_file);
        Ok(row.filter(|row| is_here(row) && row.body_digest == digest).map(|row| row.page))
    }
}

impl ArchiveState {
    fn remember(&mut self, page: &PutPage, location: WarcLocation) {
        let [young, _] = &mut self.recent;
        young.locations.insert(page.page, location);
        if page.verdict.is_unique() && page.unchanged.is_none() {
            let key = (page.fetched.url.as_str().to_owned(), page.fetched.started_at);
            young.bodies.insert(key, (page.page, page.body_digest));
        }
    }
}

/// Whether a page is reused from an earlier generation without a request.
fn is_reused(page: &PutPage) -> bool {
    matches!(page.unchanged, Some(Unchanged { known_by: KnownUnchanged::NotRequested, .. }))
}

/// Reads the one record at `location`.
fn read_record(mut file: File, path: &Path, location: WarcLocation) -> Result<WarcRecord> {
    file.seek(SeekFrom::Start(location.offset)).map_err(|e| Error::io("read", path, e))?;
    let place = || path.display().to_string();
    match WarcReader::new(file.take(location.length), location.offset).next() {
        Some(Ok(record)) if record.length == location.length => Ok(record),
        Some(Ok(_)) => Err(Error::corrupt(place(), format!("offset {}: a shorter record", location.offset))),
        Some(Err(error)) => Err(Error::corrupt(place(), error)),
        None => Err(Error::corrupt(place(), format!("it ends before offset {}", location.offset))),
    }
}

fn body(record: &WarcRecord, path: &Path) -> Result<Vec<u8>> {
    match record.http_body() {
        Some(body) if record.kind() == Kind::Response.name() => Ok(body.to_owned()),
        _ => Err(Error::NoBody {
            file: path.display().to_string(),
            offset: record.offset,
            kind: record.kind().to_owned(),
        }),
    }
}
