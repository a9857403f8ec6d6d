//! Counts the shingles that few pages of a host have, in bounded memory.

use std::io::{self, Read, Write};

use crate::model::arrays::{invalid, read_array, read_number, write_array, write_number};

/// Shingles that are listed before they are counted by a sketch; 16 KiB either way.
const LISTED: usize = 4096;
/// Cells of a new sketch, two in a byte.
const CELLS: usize = 1 << 15;
/// Cells of the sketch of a host with long pages.
const MOST_CELLS: usize = 1 << 17;
/// The least that a sketch shrinks to.
const FEWEST_CELLS: usize = 1 << 10;

/// The counts of shingles on fewer than `frequent` pages.
///
/// At first all shingles are listed, and the counts are exact. From [`LISTED`] shingles on they are counted in cells of
/// four bits. Shingles of one cell are counted together. When five shingles for eight cells have been counted, all cells
/// lose one: this is lossy counting (Manku and Motwani), with cells in place of entries. One shingle in a hundred is
/// taken for a frequent one.
#[derive(Debug)]
pub(super) struct RareShingles {
    /// Ascending; a shingle of two pages comes twice. Empty if there is a sketch.
    list: Vec<u32>,
    /// Pages of the list.
    listed: u32,
    sketch: Option<Sketch>,
}

#[derive(Debug)]
struct Sketch {
    /// A power of two of four-bit cells; the low bits of a shingle choose one.
    cells: Vec<u8>,
    /// Shingles and pages since the cells last lost one.
    shingles: u32,
    pages: u32,
}

impl RareShingles {
    pub(super) fn new() -> Self {
        Self { list: Vec::new(), listed: 0, sketch: None }
    }

    /// Adds the shingles of a page, each once. Those that `frequent` pages have now leave, and are appended to `found`.
    ///
    /// A sketch is kept as large as is needed to count a shingle that one page in `bucket` has.
    pub(super) fn add_page(&mut self, page: &[u32], frequent: u32, bucket: u32, found: &mut Vec<u32>) {
        if self.sketch.is_none() {
            self.listed += 1;
            self.list.reserve_exact(page.len());
            self.list.extend_from_slice(page);
            // Two ascending runs, which the standard library merges.
            self.list.sort();
            self.take_frequent(frequent, found);
            if self.list.len() <= LISTED {
                return;
            }
            let mut sketch = Sketch { cells: vec![0; CELLS / 2], shingles: 0, pages: self.listed };
            std::mem::take(&mut self.list).into_iter().for_each(|shingle| {
                sketch.add(shingle);
            });
            self.sketch = Some(sketch);
            return;
        }
        let Some(sketch) = &mut self.sketch else { return };
        for &shingle in page {
            if sketch.add(shingle) >= frequent {
                sketch.clear(shingle);
                found.push(shingle);
            }
        }
        sketch.pages += 1;
        sketch.forget_if_due(bucket);
    }

    /// Removes shingles that are listed `frequent` times.
    fn take_frequent(&mut self, frequent: u32, found: &mut Vec<u32>) {
        let before = found.len();
        for same in self.list.chunk_by(|a, b| a == b) {
            if same.len() >= frequent as usize {
                found.push(same[0]);
            }
        }
        let found = &found[before..];
        if !found.is_empty() {
            self.list.retain(|shingle| found.binary_search(shingle).is_err());
        }
    }

    /// Forgets shingles with fewer leading zero bits.
    pub(super) fn sample(&mut self, level: u8) {
        self.list.retain(|shingle| shingle.leading_zeros() >= level.into());
        self.list.shrink_to_fit();
        if let Some(sketch) = &mut self.sketch {
            sketch.halve();
        }
    }

    /// Returns the memory that the counts need, in bytes; the same on every machine.
    pub(super) fn size(&self) -> usize {
        self.list.len() * size_of::<u32>() + self.sketch.as_ref().map_or(0, |sketch| sketch.cells.len())
    }

    pub(super) fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        write_array(out, &self.list)?;
        write_number(out, self.listed)?;
        let (cells, shingles, pages) =
            self.sketch.as_ref().map_or((&[][..], 0, 0), |sketch| (&sketch.cells, sketch.shingles, sketch.pages));
        write_array(out, cells)?;
        write_number(out, shingles)?;
        write_number(out, pages)
    }

    pub(super) fn load(input: &mut dyn Read) -> io::Result<Self> {
        let (list, listed, cells) = (read_array(input)?, read_number(input)?, read_array::<u8>(input)?);
        let (shingles, pages) = (read_number(input)?, read_number(input)?);
        if !cells.is_empty() && !cells.len().is_power_of_two() {
            return Err(invalid("a sketch of shingles whose size is no power of two"));
        }
        let sketch = (!cells.is_empty()).then_some(Sketch { cells, shingles, pages });
        Ok(Self { list, listed, sketch })
    }
}

impl Sketch {
    /// Returns the byte of a shingle's cell, and the place of the cell in it.
    fn place(&self, shingle: u32) -> (usize, u32) {
        let cell = shingle as usize & (self.cells.len() * 2 - 1);
        (cell >> 1, (cell as u32 & 1) * 4)
    }

    /// Counts a shingle, and returns how many its cell has now.
    fn add(&mut self, shingle: u32) -> u32 {
        let (byte, shift) = self.place(shingle);
        self.shingles += 1;
        let count = (self.cells[byte] >> shift & 0xF) + 1;
        if count <= 0xF {
            self.cells[byte] += 1 << shift;
        }
        count.into()
    }

    fn clear(&mut self, shingle: u32) {
        let (byte, shift) = self.place(shingle);
        self.cells[byte] &= !(0xF << shift);
    }

    /// Takes one from all cells when many shingles were counted; or doubles the cells, if that would be too often for a
    /// shingle on one page in `bucket`.
    fn forget_if_due(&mut self, bucket: u32) {
        let cells = self.cells.len() * 2;
        if (self.shingles as usize) < cells / 8 * 5 {
            return;
        }
        if self.pages < bucket && cells < MOST_CELLS {
            self.cells.extend_from_within(..);
            return;
        }
        for byte in &mut self.cells {
            *byte -= u8::from(*byte & 0xF != 0) + (u8::from(*byte >> 4 != 0) << 4);
        }
        (self.shingles, self.pages) = (0, 0);
    }

    /// Counts in half as many cells, each the greater of two.
    fn halve(&mut self) {
        let half = self.cells.len() / 2;
        if half * 2 < FEWEST_CELLS {
            return;
        }
        let (low, high) = self.cells.split_at_mut(half);
        for (a, b) in low.iter_mut().zip(high) {
            *a = (*a & 0xF).max(*b & 0xF) | (*a & 0xF0).max(*b & 0xF0);
        }
        self.cells.truncate(half);
        self.cells.shrink_to_fit();
        self.shingles /= 2;
    }
}
