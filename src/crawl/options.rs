//! How the pipeline behaves.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::model::{Threshold, ThresholdError};

/// What becomes of links that only duplicates name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DuplicateLinks {
    /// They are recorded and not fetched: the mission's rule.
    #[default]
    Skip,
    /// They are fetched like all others.
    Follow,
    /// They are fetched when nothing else is left.
    Defer,
    /// The share of them whose seeded hash lies below this number is fetched, so that the loss by
    /// skipping can be estimated.
    Sample(Threshold),
}

impl DuplicateLinks {
    /// Whether all of them are fetched, sooner or later.
    pub fn follows_all(&self) -> bool {
        matches!(self, DuplicateLinks::Follow | DuplicateLinks::Defer)
    }

    /// Whether `url`, named by a duplicate, is to be fetched. The same seed gives the same sample,
    /// whoever names the URL and whenever.
    pub fn follows(self, url: &str, random_seed: u64) -> bool {
        match self {
            DuplicateLinks::Skip => false,
            DuplicateLinks::Follow | DuplicateLinks::Defer => true,
            DuplicateLinks::Sample(share) => {
                let hash = xxh3_64_with_seed(url.as_bytes(), random_seed);
                // hash / 2^64 < share, without rounding
                u128::from(hash) * u128::from(Threshold::ONE) < (u128::from(share.millionths()) << 64)
            }
        }
    }
}

impl fmt::Display for DuplicateLinks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DuplicateLinks::Skip => f.write_str("skip"),
            DuplicateLinks::Follow => f.write_str("follow"),
            DuplicateLinks::Defer => f.write_str("defer"),
            DuplicateLinks::Sample(share) => write!(f, "sample:{share}"),
        }
    }
}

/// A text that names no policy for the links of duplicates.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DuplicateLinksError {
    /// No such word.
    #[error("'{0}' is none of skip, follow, defer, sample:P (P from 0 to 1)")]
    Unknown(String),
    /// The share is wrong.
    #[error("sample: {0}")]
    Share(#[from] ThresholdError),
}

impl FromStr for DuplicateLinks {
    type Err = DuplicateLinksError;

    fn from_str(text: &str) -> Result<Self, DuplicateLinksError> {
        match (text, text.strip_prefix("sample:")) {
            ("skip", _) => Ok(DuplicateLinks::Skip),
            ("follow", _) => Ok(DuplicateLinks::Follow),
            ("defer", _) => Ok(DuplicateLinks::Defer),
            (_, Some(share)) => Ok(DuplicateLinks::Sample(share.parse()?)),
            _ => Err(DuplicateLinksError::Unknown(text.to_owned())),
        }
    }
}

/// What decides which URL comes next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// The crawl's own [frontier](crate::frontier).
    #[default]
    Frontier,
    /// The crate `spider`: it finds the links and asks for URLs, and all else is done as with the other engine.
    /// Such a crawl can't be taken up again: what spider has yet to ask for, it alone knows.
    #[cfg(feature = "spider")]
    Spider,
}

/// How the pipeline behaves.
#[derive(Clone, Debug)]
pub struct Options {
    /// What decides which URL comes next.
    pub engine: Engine,
    /// Fetches in flight at most, over all hosts.
    pub concurrency: usize,
    /// Further requests for a URL after one that may succeed when repeated.
    pub retries: u32,
    /// Redirects in a row at most.
    pub max_redirects: u8,
    /// What becomes of links that only duplicates name.
    pub duplicate_links: DuplicateLinks,
    /// Whether the bodies of duplicates are archived too.
    pub keep_duplicates: bool,
    /// Whether `nofollow` is obeyed, of links and of pages.
    pub obey_nofollow: bool,
    /// Whether the bodies of pages that say `noarchive` are left out of the archive.
    pub obey_noarchive: bool,
    /// Whether sitemaps that robots.txt names are read.
    pub sitemaps: bool,
    /// Whether sites are asked what they answer to addresses that do not exist, and pages that say no
    /// more than that are left out.
    pub soft_404: bool,
    /// Bytes that the index may take before it gets slower instead of larger; `None` for no limit.
    pub index_memory: Option<u64>,
    /// A snapshot of the index is written after so many judged pages, or a sixteenth of those in it.
    pub snapshot_after: u32,
    /// Seed of all sampling.
    pub random_seed: u64,
    /// Stop after this time.
    pub max_time: Option<Duration>,
    /// How long fetches in flight may go on after a stop is asked for.
    pub grace: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            engine: Engine::Frontier,
            concurrency: 32,
            retries: 2,
            max_redirects: 10,
            duplicate_links: DuplicateLinks::Skip,
            keep_duplicates: false,
            obey_nofollow: true,
            obey_noarchive: true,
            sitemaps: true,
            soft_404: true,
            index_memory: None,
            snapshot_after: 50_000,
            random_seed: 0,
            max_time: None,
            grace: Duration::from_secs(10),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_follows_about_its_share_and_always_the_same_urls() {
        let policy: DuplicateLinks = "sample:0.25".parse().unwrap();
        let followed = |seed| -> Vec<u32> {
            (0..10_000).filter(|n| policy.follows(&format!("http://a.example/{n}"), seed)).collect()
        };
        let first = followed(1);
        assert!((2_300..2_700).contains(&first.len()), "{}", first.len());
        assert_eq!(first, followed(1));
        assert_ne!(first, followed(2));
        let everything: DuplicateLinks = "sample:1".parse().unwrap();
        assert!((0..100).all(|n| everything.follows(&n.to_string(), 0)));
        let nothing: DuplicateLinks = "sample:0".parse().unwrap();
        assert!(!(0..100).any(|n| nothing.follows(&n.to_string(), 0)));
    }

    #[test]
    fn a_policy_is_printed_as_it_is_typed() {
        for text in ["skip", "follow", "defer", "sample:0.05"] {
            assert_eq!(text.parse::<DuplicateLinks>().unwrap().to_string(), text);
        }
        assert!("sample:2".parse::<DuplicateLinks>().is_err());
        assert!("drop".parse::<DuplicateLinks>().is_err());
    }
}
