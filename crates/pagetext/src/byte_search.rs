//! Finds the next occurrence of a byte, fast where it is near.
//!
//! Tags, attributes and the text between two tags are a few bytes long. There a call of `memchr` takes
//! longer than a scan in place, eight bytes at a time.

use memchr::memchr;

const ONES: u64 = u64::from_ne_bytes([1; 8]);
const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
/// Bytes that are scanned in place before `memchr` takes over.
const NEAR: usize = 64;

/// Returns the position of the first such byte.
#[inline]
pub(super) fn find(byte: u8, bytes: &[u8]) -> Option<usize> {
    let pattern = ONES * u64::from(byte);
    let mut at = 0;
    while at < NEAR {
        let Some(eight) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) else { break };
        let differs = u64::from_le_bytes(*eight) ^ pattern;
        // The lowest bit that is set belongs to the first byte that is 0.
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
