//! Blocks of rows. Any row can be read without decoding the others.
//!
//! ```text
//! block = { length of the row, LEB128 | row, postcard }*
//! ```

use std::ops::Range;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Length at which a block ends. A row of this length has a block of its own.
///
/// Short blocks bound the memory of sled, see `docs/design/store.md`.
pub(crate) const BLOCK_BYTES: usize = 2 * 1024;

/// Packs rows into blocks. Returns the index of the first row and the bytes of each block.
pub(crate) fn pack<T: Serialize>(rows: &[T]) -> Result<Vec<(usize, Vec<u8>)>, postcard::Error> {
    let mut blocks: Vec<(usize, Vec<u8>)> = Vec::new();
    let mut bytes = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        bytes.clear();
        bytes = postcard::to_extend(row, bytes)?;
        match blocks.last_mut() {
            Some((_, block)) if block.len().max(bytes.len()) < BLOCK_BYTES => push(block, &bytes),
            _ => {
                let mut block = Vec::with_capacity((2 * BLOCK_BYTES).max(bytes.len() + 3));
                push(&mut block, &bytes);
                blocks.push((index, block));
            }
        }
    }
    Ok(blocks)
}

fn push(block: &mut Vec<u8>, row: &[u8]) {
    let mut rest = row.len();
    while rest >= 0x80 {
        block.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    block.push(rest as u8);
    block.extend(row);
}

/// A block whose rows are located but not decoded.
#[derive(Debug)]
pub(crate) struct Block {
    bytes: Vec<u8>,
    rows: Vec<Range<usize>>,
}

impl Block {
    /// Locates the rows. Returns the reason for a damaged block.
    pub(crate) fn new(bytes: Vec<u8>) -> Result<Self, String> {
        let mut rows = Vec::new();
        let mut position = 0;
        while position < bytes.len() {
            let row = row_at(&bytes, position).ok_or_else(|| format!("row {} is cut short", rows.len()))?;
            position = row.end;
            rows.push(row);
        }
        if rows.is_empty() { Err("it has no rows".to_owned()) } else { Ok(Self { bytes, rows }) }
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Decodes row `index`, less than [`Block::len`].
    pub(crate) fn row<T: DeserializeOwned>(&self, index: usize) -> Result<T, String> {
        let row = self.rows.get(index).ok_or_else(|| format!("row {index} is not there"))?;
        let (value, rest) =
            postcard::take_from_bytes(&self.bytes[row.clone()]).map_err(|e| format!("row {index}: {e}"))?;
        if rest.is_empty() { Ok(value) } else { Err(format!("row {index} is longer than it should be")) }
    }
}

fn row_at(bytes: &[u8], mut position: usize) -> Option<Range<usize>> {
    let mut length = 0usize;
    for shift in (0..35).step_by(7) {
        let byte = *bytes.get(position)?;
        position += 1;
        length |= usize::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            let end = position.checked_add(length)?;
            return (end <= bytes.len()).then_some(position..end);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_come_back_from_the_block_that_has_them(lengths in prop::collection::vec(0usize..3000, 0..60)) {
            let rows: Vec<String> = lengths.iter().map(|&length| "x".repeat(length)).collect();
            let mut next = 0;
            for (first, bytes) in pack(&rows).unwrap() {
                prop_assert_eq!(first, next);
                let block = Block::new(bytes).unwrap();
                for index in 0..block.len() {
                    prop_assert_eq!(&block.row::<String>(index).unwrap(), &rows[next]);
                    next += 1;
                }
            }
            prop_assert_eq!(next, rows.len());
        }

        #[test]
        fn foreign_bytes_are_an_error_or_rows_and_never_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            if let Ok(block) = Block::new(bytes) {
                for index in 0..=block.len() {
                    let _ = block.row::<(String, u32)>(index);
                }
            }
        }
    }

    #[test]
    fn a_block_ends_with_the_row_that_fills_it_and_a_long_row_has_one_to_itself() {
        let rows: Vec<String> = [100, 1900, 90, 1990, 5, 20_000, 5, 5].map(|length| "x".repeat(length)).to_vec();
        let blocks = pack(&rows).unwrap();
        assert_eq!(blocks.iter().map(|(first, _)| *first).collect::<Vec<_>>(), [0, 3, 5, 6]);
        assert!(blocks.iter().all(|(first, block)| block.len() <= 2 * BLOCK_BYTES || *first == 5));
    }
}
