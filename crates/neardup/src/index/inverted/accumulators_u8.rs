//! 8-bit sums, for plans that read many postings, but fewer than there are records.
//!
//! Gains are rounded up to whole units, so a sum is never below the gain. No record is noted while lists are read:
//! all sums are checked at the end and reset. Units are chosen for the first stage of a plan. A sum that saturates in
//! a later stage keeps its record as a candidate: there may be more candidates than necessary, never fewer. At a
//! million records and t = 0.8 to 0.95 no mark saturates.

use super::impact_classes::{CLASSES, Gains};
use super::postings_windowed::WINDOW;
use super::tuning::Tuning;

/// A saturated sum: the gain may be any higher value.
const LAST: u8 = u8::MAX;

/// Sums that are checked together.
const STRIDE: usize = Tuning::SUMS_PER_BLOCK;

/// Sums in a word of 64 bits.
const WORD: usize = 8;

/// A scale of one unit for each 1/65,535.
const ONE: u32 = 1 << 16;

/// The gain of each record in the current probe, in units.
///
/// One byte a record, and up to two where many reach the mark.
#[derive(Debug, Default)]
pub(super) struct AccumulatorsU8 {
    /// Sum by record; whole windows; all 0 between probes.
    sums: Vec<u8>,
    /// Sums that are checked: whole blocks.
    looked_at: usize,
    /// Units in 65,536 shares.
    scale: u32,
    /// The required gain in units.
    mark: u8,
    /// The highest gain possible so far, in units.
    most: u32,
    /// Numbers of the blocks with a record at the mark.
    strides: Vec<u32>,
    /// Words of eight sums with a record at the mark: the first record, and how far each sum is above the mark less
    /// one.
    words: Vec<(u32, u64)>,
}

impl AccumulatorsU8 {
    /// Prepares for `records` records that gain at most `most` in `lists` lists.
    ///
    /// Fewer lists allow finer units; there must be fewer than 255.
    pub(super) fn begin(&mut self, records: usize, most: u32, lists: u32) {
        self.sums.resize(records.next_multiple_of(WINDOW), 0);
        self.looked_at = records.next_multiple_of(STRIDE);
        // Each list may add one unit by rounding.
        self.scale = ((u32::from(LAST) - lists) * ONE / most.max(1)).min(ONE);
        self.most = 0;
    }

    /// Sets the gain that a record must reach.
    pub(super) fn set_mark(&mut self, mark: u16) {
        self.mark = self.units(mark);
    }

    /// Returns the sums, the next list's gains by class in units, and whether sums may saturate there.
    pub(super) fn enter(&mut self, gains: &Gains) -> (&mut [u8], [u8; CLASSES + 1], bool) {
        let gains = gains.map(|gain| self.units(gain));
        self.most += u32::from(gains.iter().fold(0, |most, &gain| most.max(gain)));
        (&mut self.sums, gains, self.most > u32::from(LAST))
    }

    /// Estimates how many records have reached the mark, from a sample.
    pub(super) fn reached(&self) -> usize {
        let reached = |stride: &[u8; STRIDE]| stride.iter().map(|&sum| u8::from(sum >= self.mark)).sum::<u8>();
        let sampled = self.sums[..self.looked_at].as_chunks().0.iter().step_by(Tuning::SAMPLED_BLOCKS);
        sampled.map(|stride| usize::from(reached(stride))).sum::<usize>() * Tuning::SAMPLED_BLOCKS
    }

    /// Returns an upper bound on a record's gain; 65,535 stands for that or more.
    pub(super) fn gained(&self, record: u32) -> u16 {
        match self.sums[record as usize] {
            LAST => u16::MAX,
            units => (u32::from(units) * ONE / self.scale).min(u16::MAX.into()) as u16,
        }
    }

    /// Passes the records that reached the mark to `visit`, with their [`gained`](Self::gained), and resets all sums
    /// to 0.
    ///
    /// A branch on each sum would be mispredicted each time. So blocks and then words with such sums are listed
    /// without a branch.
    pub(super) fn drain(&mut self, mut visit: impl FnMut(u32, u16)) {
        let below = self.mark.saturating_sub(1);
        let strides: &[[u8; STRIDE]] = self.sums[..self.looked_at].as_chunks().0;
        self.strides.resize(strides.len() + 1, 0);
        let mut some = 0;
        for (stride, number) in strides.iter().zip(0..) {
            let above = stride.iter().fold(0, |above, sum| above | sum.saturating_sub(below));
            self.strides[some] = number;
            some += usize::from(above != 0);
        }
        self.words.resize(some * (STRIDE / WORD) + 1, (0, 0));
        let mut few = 0;
        for &number in &self.strides[..some] {
            let mut above = [0; STRIDE];
            for (above, sum) in above.iter_mut().zip(&strides[number as usize]) {
                *above = sum.saturating_sub(below);
            }
            let first = number * STRIDE as u32;
            for (word, first) in above.as_chunks().0.iter().zip((first..).step_by(WORD)) {
                let word = u64::from_le_bytes(*word);
                self.words[few] = (first, word);
                few += usize::from(word != 0);
            }
        }
        for &(first, mut above) in &self.words[..few] {
            while above != 0 {
                let place = above.trailing_zeros() / u8::BITS;
                above &= !(u64::from(u8::MAX) << (place * u8::BITS));
                visit(first + place, self.gained(first + place));
            }
        }
        self.sums[..self.looked_at].fill(0);
    }

    #[cfg(test)]
    pub(super) fn is_clear(&self) -> bool {
        self.sums.iter().all(|&sum| sum == 0)
    }

    /// Converts shares to units, rounded up.
    fn units(&self, shares: u16) -> u8 {
        (u32::from(shares) * self.scale).div_ceil(ONE).min(LAST.into()) as u8
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RECORDS: usize = 3_000;

    /// Reads a list of records that gain this many shares each.
    fn read(coarse: &mut AccumulatorsU8, gain: u16, records: &[usize]) {
        let mut gains = [0; CLASSES + 1];
        gains[7] = gain;
        let (sums, gains, may_end) = coarse.enter(&gains);
        for &record in records {
            let sum = sums[record].checked_add(gains[7]);
            assert!(may_end || sum.is_some());
            sums[record] = sum.unwrap_or(LAST);
        }
    }

    proptest! {
        #[test]
        fn whoever_gains_enough_is_found_and_nobody_else_but_by_rounding(
            planned in prop::collection::vec((1u16..4_000, prop::collection::vec(0..RECORDS, 0..400)), 1..9),
            later in prop::collection::vec((1u16..8_000, prop::collection::vec(0..RECORDS, 0..400)), 0..4),
            mark in 1u16..9_000,
        ) {
            let mut coarse = AccumulatorsU8::default();
            let most: u32 = planned.iter().map(|&(gain, _)| u32::from(gain)).sum();
            coarse.begin(RECORDS, most, planned.len() as u32);
            let mut shares = vec![0u32; RECORDS];
            for (gain, mut records) in planned.iter().chain(&later).cloned() {
                records.sort_unstable();
                records.dedup();
                read(&mut coarse, gain, &records);
                records.iter().for_each(|&record| shares[record] += u32::from(gain));
            }
            coarse.set_mark(mark);
            let lists = (planned.len() + later.len()) as u32;
            let rounding = (lists + 1) * (most / (u32::from(LAST) - planned.len() as u32) + 1);
            let mut found = vec![None; RECORDS];
            coarse.drain(|record, gained| assert!(found[record as usize].replace(u32::from(gained)).is_none()));
            for (&shares, found) in shares.iter().zip(&found) {
                prop_assert!(found.is_some() || shares < mark.into());
                let enough = shares + rounding >= u32::from(mark).min(most);
                prop_assert!(found.is_none_or(|gained| gained >= shares && enough));
            }
            prop_assert!(coarse.is_clear());
        }
    }

    #[test]
    fn how_many_reach_the_mark_is_told_from_a_sample() {
        let mut coarse = AccumulatorsU8::default();
        coarse.begin(WINDOW, 1_000, 1);
        let tenth: Vec<_> = (0..WINDOW).step_by(10).collect();
        read(&mut coarse, 900, &tenth);
        coarse.set_mark(800);
        assert!(coarse.reached().abs_diff(tenth.len()) < 200, "{} of {}", coarse.reached(), tenth.len());
        coarse.set_mark(950);
        assert_eq!(coarse.reached(), 0);
    }

    #[test]
    fn a_sum_at_its_end_may_be_anything_above() {
        let mut coarse = AccumulatorsU8::default();
        coarse.begin(10, 1_000, 1);
        read(&mut coarse, 1_000, &[3, 4]);
        assert!((1_000..1_010).contains(&coarse.gained(3)));
        read(&mut coarse, 60_000, &[3]);
        assert_eq!(coarse.gained(3), u16::MAX);
        coarse.set_mark(61_000);
        let mut found = Vec::new();
        coarse.drain(|record, gained| found.push((record, gained)));
        assert_eq!(found, [(3, u16::MAX)]);
    }
}
