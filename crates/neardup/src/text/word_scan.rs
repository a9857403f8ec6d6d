//! Where do runs of letters and digits begin and end?
//!
//! Words are short, so the end of a loop over their characters is mispredicted. Instead 64 bytes are classified at
//! once into bits, and the scan looks for the next set bit.

const ONES: u64 = u64::from_ne_bytes([1; 8]);
const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
/// Bytes of a block.
const BLOCK: usize = 64;

/// The runs of ASCII letters, digits and underscores in a text. Fast if positions ascend.
pub(super) struct Runs<'a> {
    bytes: &'a [u8],
    /// Start of the block described by the bits below.
    block: usize,
    /// Bits for letters, digits and underscores.
    runs: u64,
    /// Bits for bytes beyond ASCII.
    others: u64,
}

impl<'a> Runs<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        let mut runs = Self { bytes, block: 0, runs: 0, others: 0 };
        runs.load(0);
        runs
    }

    /// Returns the next position from `at` on of a run, or of a byte beyond ASCII.
    #[inline]
    pub fn next_start(&mut self, at: usize) -> Option<usize> {
        self.next(at, |runs| runs.runs | runs.others)
    }

    /// Returns the next position from `at` on outside of a run; the end of the text, if there is none.
    #[inline]
    pub fn next_end(&mut self, at: usize) -> usize {
        self.next(at, |runs| !runs.runs).map_or(self.bytes.len(), |end| end.min(self.bytes.len()))
    }

    #[inline]
    fn next(&mut self, mut at: usize, sought: impl Fn(&Self) -> u64) -> Option<usize> {
        loop {
            if at.wrapping_sub(self.block) >= BLOCK {
                if at >= self.bytes.len() {
                    return None;
                }
                self.load(at);
            }
            let found = sought(self) >> (at - self.block);
            if found != 0 {
                return Some(at + found.trailing_zeros() as usize);
            }
            at = self.block + BLOCK;
        }
    }

    fn load(&mut self, block: usize) {
        let rest = &self.bytes[block..];
        let mut padded = [0; BLOCK];
        let window = rest.first_chunk::<BLOCK>().unwrap_or_else(|| {
            padded[..rest.len()].copy_from_slice(rest);
            &padded
        });
        self.block = block;
        let mut eights = [0; BLOCK / 8];
        for (eight, bytes) in eights.iter_mut().zip(window.as_chunks::<8>().0) {
            *eight = u64::from_le_bytes(*bytes);
        }
        let is_ascii = eights.iter().fold(0, |all, eight| all | eight) & HIGH == 0;
        self.others = if is_ascii { 0 } else { side_by_side(&eights, |eight| eight & HIGH) };
        self.runs = side_by_side(&eights, in_run);
    }
}

/// Returns the highest bit of each byte that is a letter, a digit or an underscore.
#[inline]
fn in_run(block: u64) -> u64 {
    let low = block & !HIGH;
    // Sums of numbers below 128 do not carry into the next byte.
    let at_least = |number: u64, least: u8| number + ONES * u64::from(0x80 - least);
    let folded = low | (ONES * 0x20);
    let letters = at_least(folded, b'a') & !at_least(folded, b'z' + 1);
    let digits = at_least(low, b'0') & !at_least(low, b'9' + 1);
    let joiners = !at_least(low ^ (ONES * u64::from(b'_')), 1);
    (letters | digits | joiners) & !block & HIGH
}

/// Packs the highest bits that `told` returns for each byte.
#[inline]
fn side_by_side(eights: &[u64; BLOCK / 8], told: impl Fn(u64) -> u64) -> u64 {
    let mut all = 0;
    for (place, eight) in eights.iter().enumerate() {
        all |= ((told(*eight) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * place);
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_run(byte: u8) -> bool {
        byte.is_ascii_alphanumeric() || byte == b'_'
    }

    proptest! {
        #[test]
        fn runs_are_those_of_the_characters(bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'a'), Just(b' ')], 0..200)) {
            let mut runs = Runs::new(&bytes);
            for at in 0..=bytes.len() {
                let rest = &bytes[at..];
                let end = rest.iter().position(|byte| !is_run(*byte)).unwrap_or(rest.len());
                let start = rest.iter().position(|byte| is_run(*byte) || !byte.is_ascii());
                prop_assert_eq!(runs.next_end(at), at + end);
                let mut runs = Runs::new(&bytes);
                prop_assert_eq!(runs.next_start(at), start.map(|start| at + start));
            }
        }
    }
}
