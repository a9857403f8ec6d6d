//! Blocks of text that many pages of a host share: menus, notices, what the site says of itself.

use hashbrown::{HashMap, HashSet};

use crate::names::{HEADING, Name};

use super::measures::block_of_texts;
use super::tree::Tree;

/// Pages of a host that are enough to know what it repeats.
const MOST_PAGES: u32 = 48;
/// Pages below which nothing is known.
const LEAST_PAGES: u32 = 6;
/// A block is common if it stands on one page in this many.
const ONE_IN: u32 = 3;
/// Blocks of one page that are counted.
const MOST_BLOCKS: usize = 2_000;

/// Counts on how many pages of a host each block of text stands.
///
/// Memory: 12 bytes for each block that is counted, 1 MB at most.
#[derive(Clone, Debug, Default)]
pub struct BlockCounts {
    pages: u32,
    counts: HashMap<u64, u32>,
}

impl BlockCounts {
    /// Whether enough pages were counted.
    pub fn is_full(&self) -> bool {
        self.pages >= MOST_PAGES
    }

    /// Returns the blocks that the host repeats: none of a host of few pages.
    pub fn common(self) -> CommonBlocks {
        let least = (self.pages / ONE_IN).max(3);
        let is_known = self.pages >= LEAST_PAGES;
        let common = self.counts.into_iter().filter(|(_, count)| is_known && *count >= least);
        CommonBlocks { blocks: common.map(|(block, _)| block).collect() }
    }

    /// Counts a page. Its blocks count once each.
    pub(super) fn add(&mut self, tree: &Tree<'_>) {
        if self.is_full() {
            return;
        }
        self.pages += 1;
        let blocks: HashSet<u64> =
            blocks(tree).into_iter().flatten().map(|(block, _)| block).take(MOST_BLOCKS).collect();
        for block in blocks {
            *self.counts.entry(block).or_default() += 1;
        }
    }
}

/// The blocks of text that the pages of a host repeat, as numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommonBlocks {
    blocks: HashSet<u64>,
}

impl CommonBlocks {
    /// Whether nothing is known of the host.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Returns for each node how much of its text, in bytes without white space, the host repeats.
    ///
    /// Headings and terms count for nothing: those of a manual are the same on all pages.
    pub(super) fn measure(&self, tree: &Tree<'_>, dropped: &[bool]) -> Vec<u32> {
        let mut common = vec![0; tree.nodes.len()];
        for (at, block) in blocks(tree).into_iter().enumerate() {
            let Some((number, length)) = block else { continue };
            let name = tree.nodes[at].name;
            let is_own = name.is(HEADING) || matches!(name, Name::Dt | Name::Th | Name::Pre | Name::Caption);
            if !dropped[at] && !is_own && self.blocks.contains(&number) {
                common[at] = length;
            }
        }
        for at in (0..tree.nodes.len()).rev() {
            let parent = tree.nodes[at].parent;
            if parent != at && !dropped[at] {
                common[parent] += common[at];
            }
        }
        common
    }
}

/// Returns a number for the own text of each block, and its length in bytes without white space.
///
/// White space and the values of digits do not matter: counters and dates change.
fn blocks(tree: &Tree<'_>) -> Vec<Option<(u64, u32)>> {
    // FNV-1a: short, and quick to begin for each block.
    let (start, prime) = (0xcbf2_9ce4_8422_2325, 0x0000_0100_0000_01b3);
    let mut blocks = vec![None; tree.nodes.len()];
    for (at, block) in block_of_texts(tree).filter(|(at, _)| tree.nodes[*at].length > 0) {
        let node = &tree.nodes[at];
        let (number, length) = blocks[block].get_or_insert((start, 0_u32));
        for byte in node.text.split_whitespace().flat_map(str::bytes) {
            let byte = if byte.is_ascii_digit() { b'0' } else { byte };
            *number = (*number ^ u64::from(byte)).wrapping_mul(prime);
        }
        *length = length.saturating_add(node.length);
    }
    blocks
}

#[cfg(test)]
mod tests {
    use scraper::Html;

    use super::*;

    fn counted(pages: impl IntoIterator<Item = String>) -> CommonBlocks {
        let mut counts = BlockCounts::default();
        pages.into_iter().for_each(|page| counts.add(&Tree::of(&Html::parse_document(&page))));
        counts.common()
    }

    fn common_bytes(common: &CommonBlocks, page: &str) -> u32 {
        let html = Html::parse_document(page);
        let tree = Tree::of(&html);
        common.measure(&tree, &vec![false; tree.nodes.len()])[0]
    }

    #[test]
    fn blocks_on_a_third_of_the_pages_are_common_whatever_their_digits() {
        let page = |n: usize| {
            format!(
                "<h2>Usage</h2><p>Page {} of ours<p>seen {n} times<div>text of {}</div>",
                "x".repeat(n),
                "y".repeat(n)
            )
        };
        let common = counted((10..20).map(page));
        assert_eq!(common_bytes(&common, "<p>seen 55 times<p>new"), 11);
        assert_eq!(common_bytes(&common, "<h2>Usage</h2>"), 0);
        assert!(counted((0..4).map(page)).is_empty());
    }
}
