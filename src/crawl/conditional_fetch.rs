//! Conditional requests: a server need not send a page again that the generation before has archived.
//!
//! An unchanged page is decided like any other, by its archived body. It is a page of this generation, and its links
//! are followed. So it is never compared with itself, and a page that was a duplicate before may be kept now.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use url::Url;
use xxhash_rust::xxh3::xxh3_128;

use crate::fetch::{Validators, absent_page};
use crate::model::{CanonicalUrl, Fetched, Header, PAGE_SOURCE, Unchanged, WarcLocation};
use crate::store::{self, ArchiveReader, CrawlVersion, PageLines};

/// The pages that the generation before has kept.
#[derive(Debug)]
pub struct ArchivedPages {
    folder: PathBuf,
    /// WARC files, by name and serial number.
    files: Vec<(String, u32)>,
    /// File and offset by the hash of the URL: about 40 bytes a page.
    places: HashMap<u128, (u32, u64)>,
    /// Pages whose record may name another spelling of the URL.
    respelled: HashSet<u128>,
}

impl ArchivedPages {
    /// Reads which pages the generation before has kept in this output folder; `None` if there is none before.
    ///
    /// # Errors
    /// If its lines cannot be read.
    pub fn read(folder: &Path) -> store::Result<Option<Self>> {
        let Some(generation) = CrawlVersion::last(folder)? else { return Ok(None) };
        let mut archived =
            Self { folder: folder.to_owned(), files: Vec::new(), places: HashMap::new(), respelled: HashSet::new() };
        let mut numbers: HashMap<String, u32> = HashMap::new();
        for line in PageLines::open(&generation.folder)? {
            let line = match line {
                Ok(line) => line,
                // The page is fetched without validators.
                Err(store::Error::Corrupt { .. }) => continue,
                Err(error) => return Err(error),
            };
            if !line.is_kept() {
                continue;
            }
            let is_respelled = line.is_respelled();
            let (Some(name), Some(offset)) = (line.warc_file, line.warc_offset) else { continue };
            let Some(serial) = store::warc_serial(&name) else { continue };
            let next = archived.files.len() as u32;
            let number = *numbers.entry(name).or_insert_with_key(|name| {
                archived.files.push((name.clone(), serial));
                next
            });
            let hash = xxh3_128(line.url.as_bytes());
            archived.places.insert(hash, (number, offset));
            if is_respelled {
                archived.respelled.insert(hash);
            }
        }
        Ok(Some(archived))
    }

    /// Reads the archived answer of a URL.
    pub(super) fn look_up(&self, url: &CanonicalUrl) -> Option<ArchivedPage> {
        let hash = xxh3_128(url.as_str().as_bytes());
        let (number, offset) = *self.places.get(&hash)?;
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
            by_status: false,
        };
        let payload_digest = record.field("WARC-Payload-Digest").unwrap_or_default().to_owned();
        let answer = record.response(url, self.respelled.contains(&hash))?;
        Some(ArchivedPage { answer, payload_digest, unchanged })
    }
}

/// An answer as it is archived.
#[derive(Debug)]
pub(super) struct ArchivedPage {
    pub answer: Fetched,
    payload_digest: String,
    unchanged: Unchanged,
}

impl ArchivedPage {
    /// Returns the validators for a request of this address. There are none if another address was archived, if the
    /// archive has not the whole page, or if the page has scripts: tag and date of the document say nothing about the
    /// data that scripts load.
    pub fn validators(&self, address: &Url) -> Validators {
        let is_other = self.answer.address_requested() != address;
        let is_whole = !self.answer.truncated && absent_page(&self.answer).is_none();
        if is_other || !is_whole || self.answer.header(PAGE_SOURCE).is_some() {
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
        (page, Unchanged { by_status: true, ..self.unchanged })
    }
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
