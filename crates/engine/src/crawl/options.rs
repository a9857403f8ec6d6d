//! Options of a crawl.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use ndcrawl_model::{KeepRule, Threshold, ThresholdError};

/// The policy for links that only duplicates have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DuplicateLinks {
    /// They are recorded and not fetched.
    #[default]
    Skip,
    /// Those are fetched that have no counterpart among the links of the page that the duplicate repeats.
    Unmatched,
    /// They are fetched like all others.
    Follow,
    /// They are fetched when nothing else is left.
    Defer,
    /// This share of them is fetched, so that the loss by skipping can be estimated. A URL is in the sample if its
    /// seeded hash is below the number.
    Sample(Threshold),
}

impl DuplicateLinks {
    /// Returns whether all of them are fetched, sooner or later.
    pub fn follows_all(&self) -> bool {
        matches!(self, DuplicateLinks::Follow | DuplicateLinks::Defer)
    }

    /// Returns whether any of them may be fetched.
    pub fn follows_any(&self) -> bool {
        *self != DuplicateLinks::Skip
    }

    /// Returns their rank in the queues: those of 1 come after all others.
    pub fn rank(&self) -> i8 {
        i8::from(*self == DuplicateLinks::Defer)
    }

    /// Returns whether `url`, a link of a duplicate, is fetched. `is_unmatched`: whether it has no counterpart on the
    /// page that the duplicate repeats. The same seed gives the same sample, whichever page has the link.
    pub fn follows(self, url: &str, is_unmatched: bool, random_seed: u64) -> bool {
        match self {
            DuplicateLinks::Skip => false,
            DuplicateLinks::Unmatched => is_unmatched,
            DuplicateLinks::Follow | DuplicateLinks::Defer => true,
            DuplicateLinks::Sample(share) => {
                let hash = xxh3_64_with_seed(url.as_bytes(), random_seed);
                // hash / 2^64 < share, without rounding.
                u128::from(hash) * u128::from(Threshold::ONE) < (u128::from(share.millionths()) << 64)
            }
        }
    }
}

impl fmt::Display for DuplicateLinks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DuplicateLinks::Skip => f.write_str("skip"),
            DuplicateLinks::Unmatched => f.write_str("unmatched"),
            DuplicateLinks::Follow => f.write_str("follow"),
            DuplicateLinks::Defer => f.write_str("defer"),
            DuplicateLinks::Sample(share) => write!(f, "sample:{share}"),
        }
    }
}

/// Why a text is no policy for links of duplicates.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DuplicateLinksError {
    /// Unknown policy.
    #[error("'{0}' is none of skip, unmatched, follow, defer, sample:P (P from 0 to 1)")]
    Unknown(String),
    /// Invalid share.
    #[error("sample: {0}")]
    Share(#[from] ThresholdError),
}

impl FromStr for DuplicateLinks {
    type Err = DuplicateLinksError;

    fn from_str(text: &str) -> Result<Self, DuplicateLinksError> {
        match (text, text.strip_prefix("sample:")) {
            ("skip", _) => Ok(DuplicateLinks::Skip),
            ("unmatched", _) => Ok(DuplicateLinks::Unmatched),
            ("follow", _) => Ok(DuplicateLinks::Follow),
            ("defer", _) => Ok(DuplicateLinks::Defer),
            (_, Some(share)) => Ok(DuplicateLinks::Sample(share.parse()?)),
            _ => Err(DuplicateLinksError::Unknown(text.to_owned())),
        }
    }
}

/// The part that decides which URL is fetched next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// The crawl's own [frontier](ndcrawl_frontier).
    #[default]
    Frontier,
    /// The crate `spider`: it finds links and requests URLs; the rest is the same. Such a crawl cannot be resumed: only
    /// spider knows what it has yet to request.
    #[cfg(feature = "spider")]
    Spider,
}

/// Options of a crawl.
#[derive(Clone, Debug)]
pub struct Options {
    /// The part that decides which URL is fetched next.
    pub engine: Engine,
    /// Most fetches in flight, over all hosts.
    pub concurrency: usize,
    /// Most retries of a request that may succeed when repeated.
    pub retries: u32,
    /// Most redirects in a row.
    pub max_redirects: u8,
    /// The policy for links that only duplicates have.
    pub duplicate_links: DuplicateLinks,
    /// Whether the archive keeps the bodies of duplicates.
    pub keep_duplicates: bool,
    /// Which copy of a cluster is kept when the crawl ends.
    pub keep_rule: KeepRule,
    /// Whether the text of near-duplicates is archived.
    pub keep_text: bool,
    /// Whether `nofollow` is obeyed, of links and of pages.
    pub obey_nofollow: bool,
    /// Whether the archive leaves out pages with `noarchive`.
    pub obey_noarchive: bool,
    /// Whether sitemaps that robots.txt names are read.
    pub sitemaps: bool,
    /// Whether a recrawl believes the sitemaps of a host that have proved true, and does not request what they call
    /// unchanged.
    pub trust_lastmod: bool,
    /// A recrawl does not request a page again that was requested less than this time ago.
    pub recrawl_after: Duration,
    /// Whether links of pages are followed. Otherwise only seeds and what sitemaps list are fetched.
    pub follow_links: bool,
    /// Whether sites are probed for soft 404s, which are then excluded.
    pub soft_404: bool,
    /// Decided pages after which an index snapshot is written, or a sixteenth of the pages in it if that is more.
    pub snapshot_after: u32,
    /// Seed of all sampling.
    pub random_seed: u64,
    /// Stop after this time.
    pub max_time: Option<Duration>,
    /// How long fetches in flight may go on after a stop is requested.
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
            keep_rule: KeepRule::First,
            keep_text: true,
            obey_nofollow: true,
            obey_noarchive: true,
            sitemaps: true,
            trust_lastmod: false,
            recrawl_after: Duration::ZERO,
            follow_links: true,
            soft_404: true,
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
            (0..10_000).filter(|n| policy.follows(&format!("http://a.example/{n}"), false, seed)).collect()
        };
        let first = followed(1);
        assert!((2_300..2_700).contains(&first.len()), "{}", first.len());
        assert_eq!(first, followed(1));
        assert_ne!(first, followed(2));
        let everything: DuplicateLinks = "sample:1".parse().unwrap();
        assert!((0..100).all(|n| everything.follows(&n.to_string(), false, 0)));
        let nothing: DuplicateLinks = "sample:0".parse().unwrap();
        assert!(!(0..100).any(|n| nothing.follows(&n.to_string(), true, 0)));
    }

    #[test]
    fn a_policy_is_printed_as_it_is_typed() {
        for text in ["skip", "unmatched", "follow", "defer", "sample:0.05"] {
            assert_eq!(text.parse::<DuplicateLinks>().unwrap().to_string(), text);
        }
        assert!("sample:2".parse::<DuplicateLinks>().is_err());
        assert!("drop".parse::<DuplicateLinks>().is_err());
    }
}
