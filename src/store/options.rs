//! What the room is told: sizes and names, and which crawl this is.

use std::hash::{BuildHasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::model::CommitMark;

/// The version of the keys and values that this program writes. A folder of another version is
/// refused.
pub const FORMAT: u32 = 8;

const MEBIBYTE: u64 = 1024 * 1024;

/// How the folder is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Cache of the database in bytes; not a bound on its memory. It is divided among 256 parts, and
    /// a part looks at its size after every 64th access only, so that up to 16,384 pages of the
    /// database stay in memory whatever is asked for here.
    pub cache_bytes: u64,
    /// Whether pages are archived.
    pub warc: bool,
    /// A WARC file that has reached this many bytes is closed before the next page.
    pub warc_size: u64,
    /// Level of compression, 1 to 12. 1 costs 2/3 of the time of 3 and 2/5 of that of 6, for files
    /// that are larger by 5 and by 10 %.
    pub gzip_level: u32,
    /// Free space in bytes below which the crawl is to stop; see [`super::Store::has_room`].
    pub min_free: u64,
    /// The machine's name as it stands in names of WARC files; letters, digits, dots and hyphens.
    pub host_name_for_warc: String,
    /// The user agent that asked for the pages.
    pub user_agent: String,
    /// Name and version of the program, as `ndcrawl/0.1.0`.
    pub software: String,
    /// How robots.txt was heeded, in the word of the WARC standard: `obey` or `ignore`.
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

/// What was found when the folder was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedStore {
    /// How far the crawl got.
    pub mark: CommitMark,
    /// Which crawl it is: the caller's identity for a new one, else the one that was written down.
    pub identity: Identity,
    /// Whether the crawl was just made.
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
