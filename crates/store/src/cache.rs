//! Cache of recently read blocks.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::block::Block;
use super::mutex::locked;

/// Two generations of blocks by the id of their first row. A full young generation replaces the old one. A hit in the
/// old generation moves to the young one.
pub(crate) struct BlockCache {
    most: usize,
    generations: Mutex<[BTreeMap<u32, Arc<Block>>; 2]>,
}

impl BlockCache {
    /// A cache of at most twice `most` blocks.
    pub(crate) fn new(most: usize) -> Self {
        Self { most, generations: Mutex::default() }
    }

    /// Returns the block of row `id`, with the id of its first row.
    pub(crate) fn get(&self, id: u32) -> Option<(u32, Arc<Block>)> {
        let found = {
            let generations = locked(&self.generations);
            generations.iter().enumerate().find_map(|(age, blocks)| {
                let (&first, block) = blocks.range(..=id).next_back()?;
                ((id - first) as usize).lt(&block.len()).then(|| (age, first, block.clone()))
            })
        };
        let (age, first, block) = found?;
        if age > 0 {
            self.put(first, block.clone());
        }
        Some((first, block))
    }

    /// Caches a block.
    pub(crate) fn put(&self, first: u32, block: Arc<Block>) {
        let mut generations = locked(&self.generations);
        let [young, old] = &mut *generations;
        if young.len() >= self.most {
            *old = std::mem::take(young);
        }
        young.insert(first, block);
    }
}

#[cfg(test)]
mod tests {
    use super::super::block::pack;
    use super::*;

    fn block(rows: &[u32]) -> Arc<Block> {
        let (_, bytes) = pack(rows).unwrap().remove(0);
        Arc::new(Block::new(bytes).unwrap())
    }

    #[test]
    fn a_row_is_found_in_its_block_and_not_behind_it() {
        let cache = BlockCache::new(4);
        cache.put(10, block(&[1, 2, 3]));
        cache.put(20, block(&[4]));
        let firsts: Vec<_> = [9, 10, 12, 13, 20, 21].map(|id| cache.get(id).map(|(first, _)| first)).to_vec();
        assert_eq!(firsts, [None, Some(10), Some(10), None, Some(20), None]);
    }

    #[test]
    fn a_block_that_is_asked_for_stays_and_the_cache_stays_small() {
        let cache = BlockCache::new(4);
        for first in 0..100 {
            cache.put(first, block(&[0]));
            assert!(cache.get(0).is_some(), "{first}");
        }
        assert!(locked(&cache.generations).iter().map(BTreeMap::len).sum::<usize>() <= 8);
    }
}
