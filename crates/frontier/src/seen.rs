//! *Which URLs have we seen?*
//!
//! The set keeps only a 64-bit hash of a URL (XXH3, seeded). Two URLs with the same hash count as one. Among `n` URLs
//! that happens with a probability of `n(n-1)/2 / 2^64`: 2.7e-8 for a million, 2.7e-4 for a hundred million. Each crawl
//! has its own random seed, so that nobody can prepare URLs with colliding hashes.
//!
//! Memory for a URL: 8 bytes of hash and 5 of table at a load between 7/16 and 7/8, together 13.7 to 19.4 bytes. The
//! table has [`SHARDS`] parts that grow one at a time. So growing doubles a sixty-fourth and takes no noticeable time.

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::FrontierError;
use super::chunks::Chunks;
use ndcrawl_model::UrlId;

const SHARDS: usize = 64;

/// The set of seen URLs, each with its number.
pub(super) struct SeenSet {
    seed: u64,
    hashes: Chunks<u64>,
    shards: Vec<HashTable<u32>>,
}

impl SeenSet {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, hashes: Chunks::new(), shards: vec![HashTable::new(); SHARDS] }
    }

    pub(super) fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Returns the bytes in use.
    pub(super) fn bytes(&self) -> usize {
        self.hashes.bytes() + self.shards.iter().map(HashTable::allocation_size).sum::<usize>()
    }

    /// Returns the hash of a URL.
    pub(super) fn hash(&self, url: &str) -> u64 {
        xxh3_64_with_seed(url.as_bytes(), self.seed)
    }

    /// Returns the number of the URL with this hash.
    pub(super) fn find(&self, hash: u64) -> Option<UrlId> {
        let is_it = |&id: &u32| self.hashes.get(id as usize) == Some(&hash);
        self.shards[shard(hash)].find(hash, is_it).copied().map(UrlId)
    }

    /// Gives the next number to a URL, without a check whether it was seen.
    pub(super) fn push(&mut self, hash: u64) -> Result<UrlId, FrontierError> {
        let id = u32::try_from(self.hashes.len()).ok().filter(|&id| id < u32::MAX).ok_or(FrontierError::Full)?;
        self.hashes.push(hash);
        let hashes = &self.hashes;
        let hash_of = |&id: &u32| hashes.get(id as usize).copied().unwrap_or_default();
        self.shards[shard(hash)].insert_unique(hash, id, hash_of);
        Ok(UrlId(id))
    }
}

/// Returns the shard of a hash, from bits that the table uses neither for the place (the low ones) nor for the tag (the
/// high ones).
fn shard(hash: u64) -> usize {
    (hash >> 40) as usize % SHARDS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_url_is_found_by_the_number_it_got() {
        let mut seen = SeenSet::new(7);
        for n in 0..100_000 {
            let hash = seen.hash(&format!("http://a.test/{n}"));
            assert_eq!(seen.find(hash), None);
            assert_eq!(seen.push(hash).unwrap(), UrlId(n));
        }
        for n in (0..100_000).step_by(97) {
            assert_eq!(seen.find(seen.hash(&format!("http://a.test/{n}"))), Some(UrlId(n)));
        }
    }

    #[test]
    fn hashes_depend_on_the_seed() {
        assert_ne!(SeenSet::new(1).hash("http://a.test/"), SeenSet::new(2).hash("http://a.test/"));
    }
}
