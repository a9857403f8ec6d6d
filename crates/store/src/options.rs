//! Options of the store, and the identity of a crawl.

use std::hash::{BuildHasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use ndcrawl_model::CommitMark;

/// Version of the keys and values on disk. A folder of another version is refused.
pub const FORMAT: u32 = 15;

const MEBIBYTE: u64 = 1024 * 1024;

/// Options of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Cache of the database in bytes. Not a bound on its memory: see `docs/design/store.md`.
    pub cache_bytes: u64,
    /// Whether pages are archived.
    pub warc: bool,
    /// Size in bytes at which a WARC file is closed.
    pub warc_size: u64,
    /// Compression level, 1 to 12.
    pub gzip_level: u32,
    /// Free space in bytes below which the crawl stops, see [`super::Store::has_room`].
    pub min_free: u64,
    /// Host name in the names of WARC files: letters, digits, dots and hyphens.
    pub host_name_for_warc: String,
    /// The user agent of the requests.
    pub user_agent: String,
    /// Name and version of the program, as `ndcrawl/0.1.0`.
    pub software: String,
    /// robots.txt policy in the words of the WARC standard: `obey` or `ignore`.
    pub robots: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            cache_bytes: 16 * MEBIBYTE,
            warc: true,
            warc_size: 1024 * MEBIBYTE,
            gzip_level: 1,
            min_free: 500 * MEBIBYTE,
            host_name_for_warc: "localhost".to_owned(),
            user_agent: concat!("ndcrawl/", env!("CARGO_PKG_VERSION")).to_owned(),
            software: concat!("ndcrawl/", env!("CARGO_PKG_VERSION")).to_owned(),
            robots: "obey".to_owned(),
        }
    }
}

/// Which crawl a folder holds. Written once, when the folder is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// A name for this crawl that no other crawl has; page ids are derived from it.
    pub crawl: String,
    /// The version of keys and values, [`FORMAT`].
    pub format: u32,
    /// How pages become terms (stemmer, stop words, weights): records that were made differently
    /// can't be compared.
    pub rendering: String,
    /// The settings that may not change during a crawl. Kept for the caller to compare.
    pub fingerprint: String,
}

impl Identity {
    /// An identity for a new crawl, with a name of its own.
    pub fn new(rendering: impl Into<String>, fingerprint: impl Into<String>) -> Self {
        Self { crawl: new_name(), format: FORMAT, rendering: rendering.into(), fingerprint: fingerprint.into() }
    }
}

/// 64 bits that hardly meet: the clock, the process, and the keys that std draws at random.
fn new_name() -> String {
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    format!("{:016x}", RandomState::new().hash_one((nanos, std::process::id())))
}

/// State of a folder when it was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedStore {
    /// The last commit.
    pub mark: CommitMark,
    /// The caller's identity for a new crawl, otherwise the stored one.
    pub identity: Identity,
    /// Whether the crawl is new.
    pub fresh: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_crawls_have_two_names() {
        assert_ne!(Identity::new("r", "f").crawl, Identity::new("r", "f").crawl);
    }
}
