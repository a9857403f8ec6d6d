//! Impact classes: postings of similar share are stored together.
//!
//! Class 0 holds shares up to 16/65,535. Classes 1 to 28 divide each octave from there to 2,048 into four equal
//! steps. Class 29 ends at 4,096, and class 30 holds the rest. A posting is one 32-bit word: its record in the low 27
//! bits, its class in the high five. Class 31 is no posting but a [`GAP`].

/// Number of classes, light to heavy.
pub(super) const CLASSES: usize = 31;

/// Records that postings can name.
pub(super) const MOST_RECORDS: usize = 1 << RECORD_BITS;

/// An empty slot in a list. Read as a posting, it names record 0 and gains nothing.
pub(super) const GAP: u32 = (CLASSES as u32) << RECORD_BITS;

/// The gain of a record by its class. The last entry belongs to [`GAP`] and is always 0.
pub(super) type Gains = [u16; CLASSES + 1];

const RECORD_BITS: u32 = 27;

/// The highest share in each class. The last entry belongs to [`GAP`] and is always 0.
pub(super) const TOPS: [u16; CLASSES + 1] = tops();

const fn tops() -> [u16; CLASSES + 1] {
    let mut tops = [16; CLASSES + 1];
    let mut step = 0;
    while step < 28 {
        tops[step + 1] = (5 + (step % 4) as u16) << (2 + step / 4);
        step += 1;
    }
    tops[29] = 4096;
    tops[30] = u16::MAX;
    tops[CLASSES] = 0;
    tops
}

/// Returns the class of a share.
pub(super) fn class_of(share: u16) -> usize {
    match share {
        0..=16 => 0,
        17..=2048 => {
            let below = u32::from(share) - 1;
            let octave = below.ilog2();
            (1 + (octave - 4) * 4 + ((below >> (octave - 2)) & 3)) as usize
        }
        2049..=4096 => 29,
        _ => 30,
    }
}

/// Returns the highest share in a class.
pub(super) fn top_of(class: usize) -> u16 {
    TOPS[class]
}

/// Packs a posting into one word.
pub(super) fn pack(record: u32, class: usize) -> u32 {
    (class as u32) << RECORD_BITS | record
}

/// Returns the record of a posting.
pub(super) fn record_of(posting: u32) -> u32 {
    posting & (MOST_RECORDS as u32 - 1)
}

/// Returns the class of a posting; [`CLASSES`] for a gap.
pub(super) fn class_in(posting: u32) -> usize {
    (posting >> RECORD_BITS) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_share_lies_in_a_class_that_bounds_it_tightly() {
        for share in 1..=u16::MAX {
            let class = class_of(share);
            assert!(share <= top_of(class), "{share}");
            assert!(class == 0 || share > top_of(class - 1), "{share}");
        }
        assert_eq!([0, 1, 4, 28, 29, 30].map(top_of), [16, 20, 32, 2048, 4096, u16::MAX]);
    }

    #[test]
    fn a_posting_holds_record_and_class_in_one_word() {
        for record in [0, 1, MOST_RECORDS as u32 - 1] {
            for class in [0, 17, CLASSES - 1] {
                let posting = pack(record, class);
                assert_eq!((record_of(posting), class_in(posting)), (record, class));
                assert_ne!(posting, GAP);
            }
        }
        assert_eq!((record_of(GAP), class_in(GAP)), (0, CLASSES));
    }
}
