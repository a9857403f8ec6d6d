//! Bitmaps of the texts of stored pages, by which most candidates are refused without reading their records.
//!
//! They are a cache: a page without one is read, and verdicts do not depend on it. So they are not part of a snapshot.

use std::borrow::Cow;

use super::detectors::TextBitmap;
use crate::model::Sequence;

/// Words of a block; no bitmap is longer.
const BLOCK: usize = 1 << 12;

/// Words of a cache line.
const LINE: usize = 8;

/// Bitmaps by the numbers of pages, within a bound.
#[derive(Debug)]
pub(super) struct TextBitmaps {
    headers: Vec<Header>,
    /// Words of bitmaps, one after the other. None lies in two blocks.
    blocks: Vec<Vec<u64>>,
    limit: usize,
}

/// Where the bitmap of a page is. Without words, it has none.
#[derive(Clone, Copy, Debug, Default)]
struct Header {
    group: u32,
    block: u32,
    first: u16,
    words: u16,
    collisions: u16,
    shingle_level: u8,
}

impl Default for TextBitmaps {
    fn default() -> Self {
        Self { headers: Vec::new(), blocks: Vec::new(), limit: usize::MAX }
    }
}

impl TextBitmaps {
    /// Returns the bitmap of a page, if it is known.
    pub(super) fn get(&self, page: Sequence) -> Option<TextBitmap<'_>> {
        let header = self.headers.get(page.index()).filter(|header| header.words > 0)?;
        let words = self.words(header)?;
        let Header { group, collisions, shingle_level, .. } = *header;
        Some(TextBitmap { group, shingle_level, collisions, words: Cow::Borrowed(words) })
    }

    /// Reads a word of each cache line of several bitmaps, so that the memory is asked for all of them at once.
    pub(super) fn touch(&self, pages: &[Sequence]) {
        let mut all = 0;
        for words in pages.iter().filter_map(|page| self.words(self.headers.get(page.index())?)) {
            all ^= words.iter().step_by(LINE).fold(0, |all, word| all ^ word);
        }
        std::hint::black_box(all);
    }

    fn words(&self, header: &Header) -> Option<&[u64]> {
        let first = usize::from(header.first);
        self.blocks.get(header.block as usize)?.get(first..first + usize::from(header.words))
    }

    /// Keeps the bitmap of a page, if there is room.
    pub(super) fn insert(&mut self, page: Sequence, bitmap: Option<TextBitmap<'_>>) {
        let Some(TextBitmap { group, shingle_level, collisions, words }) = bitmap else { return };
        let (place, length) = (page.index(), words.len());
        let (Ok(count), true) = (u16::try_from(length), length <= BLOCK) else { return };
        if self.bytes() + (BLOCK + self.headers.len()) * size_of::<u64>() > self.limit || self.get(page).is_some() {
            return;
        }
        if self.blocks.last().is_none_or(|block| block.len() + length > BLOCK) {
            self.blocks.push(Vec::with_capacity(BLOCK));
        }
        let block = self.blocks.len() - 1;
        let (Ok(number), Ok(first)) = (u32::try_from(block), u16::try_from(self.blocks[block].len())) else { return };
        self.blocks[block].extend_from_slice(&words);
        if self.headers.len() <= place {
            self.headers.resize(place + 1, Header::default());
        }
        self.headers[place] = Header { group, block: number, first, words: count, collisions, shingle_level };
    }

    /// Sets the bound, in bytes. Nothing is added beyond it; if there is more already, all is dropped.
    pub(super) fn set_memory_limit(&mut self, bytes: usize) {
        self.limit = bytes;
        if self.bytes() > bytes {
            self.clear();
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self { limit: self.limit, ..Self::default() };
    }

    /// Returns the memory held, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.headers.capacity() * size_of::<Header>() + self.blocks.len() * BLOCK * size_of::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bitmap(from: u32, shingles: u32) -> Option<TextBitmap<'static>> {
        TextBitmap::of(from, 0, &(from..from + shingles).collect::<Vec<_>>())
    }

    #[test]
    fn each_page_has_its_own_bitmap() {
        let mut bitmaps = TextBitmaps::default();
        let of = |page: u32| bitmap(page * 7, 1 + page * 13 % 2000);
        (0..300).filter(|page| page % 3 > 0).for_each(|page| bitmaps.insert(Sequence(page), of(page)));
        bitmaps.insert(Sequence(1), bitmap(5, 5));
        for page in 0..300 {
            assert_eq!(bitmaps.get(Sequence(page)), of(page).filter(|_| page % 3 > 0));
        }
        assert_eq!(bitmaps.get(Sequence(1000)), None);
        bitmaps.touch(&[Sequence(0), Sequence(7), Sequence(1000)]);
    }

    #[test]
    fn bitmaps_stay_within_the_limit() {
        let mut bitmaps = TextBitmaps::default();
        bitmaps.set_memory_limit(400_000);
        (0..10_000).for_each(|page| bitmaps.insert(Sequence(page), bitmap(page, 200)));
        let kept = (0..10_000).filter(|page| bitmaps.get(Sequence(*page)).is_some()).count();
        assert!((1_000..4_000).contains(&kept) && bitmaps.bytes() <= 400_000, "{kept} in {} bytes", bitmaps.bytes());
        bitmaps.set_memory_limit(300_000);
        assert_eq!((bitmaps.bytes(), bitmaps.get(Sequence(0))), (0, None));
        bitmaps.insert(Sequence(7), bitmap(7, 200));
        assert!(bitmaps.get(Sequence(7)).is_some() && bitmaps.get(Sequence(6)).is_none());
    }
}
