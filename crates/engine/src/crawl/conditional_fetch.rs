//! Conditional requests: a server need not send a page again that the generation before has archived.
//!
//! An unchanged page is decided like any other, by its archived body. It is a page of this generation, and its links
//! are followed. So it is never compared with itself, and a page that was a duplicate before may be kept now.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use url::Url;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use ndcrawl_fetch::{Validators, absent_page};
use ndcrawl_model::{CanonicalUrl, Fetched, Header, KnownUnchanged, PAGE_SOURCE, PageLine, Unchanged, WarcLocation};
use ndcrawl_store::{self as store, ArchiveReader, CrawlVersion, PageLines};

/// The pages of the generation before.
#[derive(Debug)]
pub struct ArchivedPages {
    folder: PathBuf,
    /// The number of that generation.
    generation: u32,
    /// WARC files, by name and serial number.
    files: Vec<(String, u32)>,
    /// Pages by the hash of the URL: about 70 bytes a page.
    pages: HashMap<u128, EarlierPage>,
    /// When the last page was requested, in milliseconds since 1970 UTC.
    last_request: i64,
}

/// A page of the generation before.
#[derive(Clone, Copy, Debug)]
struct EarlierPage {
    /// File and offset, if it was kept.
    place: Option<(u32, u64)>,
    /// When it was requested, in milliseconds since 1970 UTC.
    requested_at: Option<i64>,
    /// Hash of the digest of its text.
    text: u64,
    /// Whether its record may name another spelling of the URL.
    is_respelled: bool,
}

impl ArchivedPages {
    /// Reads which pages the generation before has kept in this output folder; `None` if there is none before.
    ///
    /// # Errors
    /// If its lines cannot be read.
    pub fn read(folder: &Path) -> store::Result<Option<Self>> {
        let Some(generation) = CrawlVersion::last(folder)? else { return Ok(None) };
        let mut archived = Self {
            folder: folder.to_owned(),
            generation: generation.number,
            files: Vec::new(),
            pages: HashMap::new(),
            last_request: i64::MIN,
        };
        let mut numbers: HashMap<String, u32> = HashMap::new();
        for line in PageLines::open(&generation.folder)? {
            let line = match line {
                Ok(line) => line,
                // The page is fetched without validators.
                Err(store::Error::Corrupt { .. }) => continue,
                Err(error) => return Err(error),
            };
            if line.outcome.is_page() {
                archived.add(line, &mut numbers);
            }
        }
        Ok(Some(archived))
    }

    fn add(&mut self, line: PageLine, numbers: &mut HashMap<String, u32>) {
        let requested_at = line.fetched_at.as_deref().and_then(|at| at.parse::<Timestamp>().ok());
        let requested_at = requested_at.map(Timestamp::as_millisecond);
        let page = EarlierPage {
            place: if line.is_kept() { self.place(&line, numbers) } else { None },
            requested_at,
            text: text_hash(line.text_digest.as_deref()),
            is_respelled: line.is_respelled(),
        };
        self.last_request = self.last_request.max(requested_at.unwrap_or(i64::MIN));
        self.pages.insert(xxh3_128(line.url.as_bytes()), page);
    }

    fn place(&mut self, line: &PageLine, numbers: &mut HashMap<String, u32>) -> Option<(u32, u64)> {
        let (name, offset) = (line.warc_file.as_ref()?, line.warc_offset?);
        let serial = store::warc_serial(name)?;
        let number = match numbers.get(name) {
            Some(number) => *number,
            None => {
                self.files.push((name.clone(), serial));
                let number = self.files.len() as u32 - 1;
                numbers.insert(name.clone(), number);
                number
            }
        };
        Some((number, offset))
    }

    /// Returns the output folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the number of the generation.
    pub(super) fn generation(&self) -> u32 {
        self.generation
    }

    /// Returns when a page was requested, in milliseconds since 1970 UTC. For a URL that was no page, the last request of
    /// the generation: what is older than that was there, and was not found.
    pub(super) fn last_visit(&self, url: &CanonicalUrl) -> LastVisit {
        match self.pages.get(&xxh3_128(url.as_str().as_bytes())) {
            Some(page) => LastVisit::Page(page.requested_at),
            None => LastVisit::NoPage(self.last_request),
        }
    }

    /// Reads the archived answer of a URL.
    pub(super) fn look_up(&self, url: &CanonicalUrl) -> Option<ArchivedPage> {
        let hash = xxh3_128(url.as_str().as_bytes());
        let EarlierPage { place, requested_at, text, is_respelled } = *self.pages.get(&hash)?;
        let (number, offset) = place?;
        let (name, serial) = self.files.get(number as usize)?;
        let record = match ArchiveReader::new(&self.folder).record(name, offset) {
            Ok(record) => record,
            Err(error) => {
                tracing::warn!(%url, %error, "cannot read the archived page; fetching it again");
                return None;
            }
        };
        let unchanged = Unchanged {
            location: record.location(*serial),
            target: record.field("WARC-Target-URI")?.to_owned(),
            record_id: record.field("WARC-Record-ID")?.to_owned(),
            fetched_at: record.field("WARC-Date")?.to_owned(),
            known_by: KnownUnchanged::Body,
        };
        let payload_digest = record.field("WARC-Payload-Digest").unwrap_or_default().to_owned();
        let answer = record.response(url, is_respelled)?;
        Some(ArchivedPage { answer, payload_digest, unchanged, requested_at, text })
    }
}

/// An answer as it is archived.
#[derive(Debug)]
pub(super) struct ArchivedPage {
    pub answer: Fetched,
    payload_digest: String,
    unchanged: Unchanged,
    /// When it was requested last, in milliseconds since 1970 UTC: since then it was found unchanged, perhaps.
    pub requested_at: Option<i64>,
    /// See [`text_hash`].
    pub text: u64,
}

impl ArchivedPage {
    /// Whether the archived page can stand for the answer of this address. It cannot if another address was archived,
    /// if the archive has not the whole page, or if the page has scripts: tag and date of the document say nothing about
    /// the data that scripts load.
    pub fn can_stand_for(&self, address: &Url) -> bool {
        let is_other = self.answer.address_requested() != address;
        let is_whole = !self.answer.truncated && absent_page(&self.answer).is_none();
        !is_other && is_whole && self.answer.header(PAGE_SOURCE).is_none()
    }

    /// Returns the validators for a request of this address.
    pub fn validators(&self, address: &Url) -> Validators {
        if !self.can_stand_for(address) {
            return Validators::default();
        }
        Validators { etag: self.answer.header("etag"), last_modified: self.answer.header("last-modified") }
    }

    /// Returns where the page is archived, if it has the same body as this answer, which has that digest. Of a truncated
    /// body nobody knows.
    pub fn with_payload(self, answer: &Fetched, digest: &str) -> Option<Unchanged> {
        let is_whole = !answer.truncated && !self.answer.truncated;
        (is_whole && self.payload_digest == digest).then_some(self.unchanged)
    }

    /// Returns the place in the archive.
    pub fn location(&self) -> WarcLocation {
        self.unchanged.location
    }

    /// Returns the page that a server calls not modified, and where it is archived.
    pub fn not_modified(self, answer: &Fetched) -> (Fetched, Unchanged) {
        let headers = updated(self.answer.headers, &answer.headers);
        let page = Fetched { body: self.answer.body, headers, ..answer.clone() };
        (page, Unchanged { known_by: KnownUnchanged::Status, ..self.unchanged })
    }

    /// Returns the page as it was archived, and where.
    pub fn reused(self) -> (Fetched, Unchanged) {
        let page = Fetched { started_at: self.requested_at.or(self.answer.started_at), ..self.answer };
        (page, Unchanged { known_by: KnownUnchanged::NotRequested, ..self.unchanged })
    }
}

/// When a URL was looked for by the generation before, in milliseconds since 1970 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LastVisit {
    /// It was a page then.
    Page(Option<i64>),
    /// It was none, or not known.
    NoPage(i64),
}

/// Returns a hash of the digest of a page's text, as `pages.jsonl` spells it.
pub(super) fn text_hash(digest: Option<&str>) -> u64 {
    xxh3_64(digest.unwrap_or_default().as_bytes())
}

/// Updates the header of an archived answer (RFC 9111, section 3.2). Lines about the content stay, because the content
/// is unchanged.
fn updated(archived: Vec<Header>, now: &[Header]) -> Vec<Header> {
    // What may be done with the content is not the content.
    let of_use = |name: &str| ["content-usage", "content-signal"].iter().any(|known| name.eq_ignore_ascii_case(known));
    let of_content =
        |name: &str| name.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("content-")) && !of_use(name);
    let newer: Vec<&Header> = now.iter().filter(|(name, _)| !of_content(name)).collect();
    let is_kept = |name: &str| !newer.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
    let kept = archived.into_iter().filter(|(name, _)| is_kept(name));
    kept.chain(newer.iter().map(|header| (*header).clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_brought_up_to_date_but_for_those_of_the_content() {
        let lines = |all: &[(&str, &str)]| -> Vec<Header> {
            all.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec())).collect()
        };
        let archived =
            lines(&[("Content-Type", "text/html"), ("ETag", "\"1\""), ("X-Robots-Tag", "none"), ("Age", "1")]);
        let now = lines(&[("content-type", "text/plain"), ("etag", "\"2\""), ("x-robots-tag", "all")]);
        let expected =
            lines(&[("Content-Type", "text/html"), ("Age", "1"), ("etag", "\"2\""), ("x-robots-tag", "all")]);
        assert_eq!(updated(archived, &now), expected);
    }
}
