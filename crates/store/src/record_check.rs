//! Whether a record of the archive is the one that the log of pages speaks of.

use super::warc::{self, Kind};
use super::warc_reader::WarcRecord;
use ndcrawl_model::{Digest, PageId, digest_of_part};
use pagetext::plain_text_digest;

/// The record that the log expects at a place of the archive.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedRecord {
    /// The page that it holds.
    pub page: PageId,
    /// The digest of the page's body.
    pub body_digest: Digest,
    /// Whether the page is stored, and not a duplicate.
    pub is_unique: bool,
    /// The bytes of its gzip member.
    pub length: u64,
}

impl ExpectedRecord {
    /// Whether a record is the expected one. `is_named`: whether its name must follow from the page.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn agrees(&self, record: &WarcRecord, is_named: bool) -> Result<(), &'static str> {
        let kinds: &[Kind] =
            if self.is_unique { &[Kind::Response] } else { &[Kind::Response, Kind::Revisit, Kind::Metadata] };
        let kind = kinds.iter().find(|kind| kind.name() == record.kind()).ok_or("a record of another type")?;
        if is_named && record.field("WARC-Record-ID") != Some(&kind.id_of(self.page)) {
            return Err("the record of another page");
        }
        if record.length != self.length {
            return Err("a record of another length");
        }
        match (kind, record.http_body()) {
            (Kind::Response, Some(body)) if !self.has_body(record, body) => Err("another body"),
            (Kind::Response, None) => Err("a response without a body"),
            _ => Ok(()),
        }
    }

    /// Whether a response has the body of the page. That of a truncated one is compared under a digest of its own, and
    /// texts of the user's own by their words.
    fn has_body(&self, record: &WarcRecord, body: &[u8]) -> bool {
        let digest = Digest::of(body);
        let is_part = record.field("WARC-Truncated").is_some();
        digest == self.body_digest
            || is_part && digest_of_part(digest, self.page) == self.body_digest
            || self.has_text(body)
    }

    fn has_text(&self, body: &[u8]) -> bool {
        plain_text_digest(&String::from_utf8_lossy(body)) == Some(self.body_digest)
    }
}

/// Returns what is wrong with the digests that a record has of itself.
pub fn wrong_digests(record: &WarcRecord) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut compare = |name: &str, bytes: &[u8]| {
        if record.field(name).is_some_and(|said| said != warc::digest(&[bytes])) {
            wrong.push(format!("{name} is another"));
        }
    };
    compare("WARC-Block-Digest", &record.block);
    if let (true, Some(body)) = (record.kind() == Kind::Response.name(), record.http_body()) {
        compare("WARC-Payload-Digest", body);
    }
    wrong
}
