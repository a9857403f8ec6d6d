//! Where does this byte stand next? For bytes that mostly stand near.
//!
//! Tags, attributes and the text between two tags are a few bytes long. A call of `memchr` takes
//! longer than to look at those in place, eight at a time.

use memchr::memchr;

const ONES: u64 = u64::from_ne_bytes([1; 8]);
const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
/// Where the look in place ends.
const NEAR: usize = 64;

/// The position of the first such byte.
#[inline]
pub(super) fn find(byte: u8, bytes: &[u8]) -> Option<usize> {
    let pattern = ONES * u64::from(byte);
    let mut at = 0;
    while at < NEAR {
        let Some(eight) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) else { break };
        let differs = u64::from_le_bytes(*eight) ^ pattern;
        // The lowest of the bits that are set belongs to the first byte that is 0.
        let zeros = differs.wrapping_sub(ONES) & !differs & HIGH;
        if zeros != 0 {
            return Some(at + zeros.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    memchr(byte, &bytes[at..]).map(|found| at + found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bytes_are_found_as_by_memchr(bytes in prop::collection::vec(any::<u8>(), 0..200), byte: u8) {
            prop_assert_eq!(find(byte, &bytes), memchr(byte, &bytes));
        }
    }
}
