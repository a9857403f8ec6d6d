//! How much text, linked text and prose stands in each node.

use crate::names::{INLINE, Name};

use super::tree::Tree;

/// Bytes of the shortest block that counts as prose.
const PROSE_BYTES: u32 = 60;

/// Sums over the descendants of each node, without those that were dropped. All are bytes without white space.
#[derive(Debug, Default)]
pub(super) struct Measures {
    /// All text.
    pub text: Vec<u32>,
    /// Text of links.
    pub link: Vec<u32>,
    /// Text of long blocks that are mostly no links, and of preformatted blocks.
    pub prose: Vec<u32>,
    /// The text of a block itself, without the blocks in it.
    pub own: Vec<u32>,
    /// The linked part of it.
    pub own_link: Vec<u32>,
}

impl Measures {
    /// Measures a page.
    pub fn of(tree: &Tree<'_>, dropped: &[bool]) -> Self {
        let count = tree.nodes.len();
        let zero = || vec![0_u32; count];
        let mut all = Self { text: zero(), link: zero(), prose: zero(), own: zero(), own_link: zero() };
        let mut block = vec![0_usize; count];
        let mut is_link = vec![false; count];
        let mut at = 0;
        while at < count {
            let node = &tree.nodes[at];
            if dropped[at] {
                at = node.end;
                continue;
            }
            let (around, in_link) = if at == 0 { (0, false) } else { (block[node.parent], is_link[node.parent]) };
            if node.is_text() {
                let length = node.length;
                all.text[at] = length;
                all.own[around] += length;
                if in_link {
                    all.link[at] = length;
                    all.own_link[around] += length;
                }
            } else {
                block[at] = if is_block(node.name) { at } else { around };
                is_link[at] = in_link || (node.name == Name::A && node.attribute("href").is_some());
            }
            at += 1;
        }
        for at in (0..count).rev() {
            let (own, own_link) = (all.own[at], all.own_link[at]);
            if own >= PROSE_BYTES && own_link * 2 < own || (tree.nodes[at].name == Name::Pre && own > 0) {
                all.prose[at] += own - own_link;
            }
            let parent = tree.nodes[at].parent;
            if parent != at {
                all.text[parent] += all.text[at];
                all.link[parent] += all.link[at];
                all.prose[parent] += all.prose[at];
            }
        }
        all
    }

    /// Whether at least this percentage of a node's text is linked.
    pub fn is_linked(&self, node: usize, percent: u64) -> bool {
        u64::from(self.link[node]) * 100 >= u64::from(self.text[node]) * percent
    }
}

/// Returns each text with the block that it stands in.
pub(super) fn block_of_texts<'a>(tree: &'a Tree<'_>) -> impl Iterator<Item = (usize, usize)> + 'a {
    let mut block = vec![0_usize; tree.nodes.len()];
    tree.nodes.iter().enumerate().filter_map(move |(at, node)| {
        if node.is_text() {
            return Some((at, block[node.parent]));
        }
        block[at] = if is_block(node.name) { at } else { block[node.parent] };
        None
    })
}

/// Whether an element ends the line of text that it stands in.
pub(super) fn is_block(name: Name) -> bool {
    use Name::{Br, Button, Img, Math, Other, Rb, Rp, Rt, Ruby};
    // Elements without a rule of their own are inline to browsers.
    !name.is(INLINE) && !matches!(name, Other | Br | Img | Math | Button | Ruby | Rt | Rb | Rp)
}
