//! A filter of shingles: which are certainly not in a set?

/// Bits of the filter. With 2,048 shingles, the most that a page has, one in 32 others passes.
const BITS: usize = 1 << 16;

/// A set of shingles that may also contain others; one bit for each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShingleFilter(Vec<u64>);

impl ShingleFilter {
    /// Creates the filter of these shingles.
    pub fn of(shingles: &[u32]) -> Self {
        let mut words = vec![0; BITS / 64];
        shingles.iter().for_each(|&shingle| words[place(shingle) / 64] |= 1 << (place(shingle) % 64));
        Self(words)
    }

    /// Returns how many of these shingles may be in the set: never fewer than are.
    pub fn may_contain(&self, shingles: &[u32]) -> usize {
        let Ok(words): Result<&[u64; BITS / 64], _> = self.0.as_slice().try_into() else { return 0 };
        // Without a branch for each: this is the innermost loop of a decision.
        let bit = |&shingle: &u32| usize::from(words[place(shingle) / 64] >> (place(shingle) % 64) & 1 == 1);
        shingles.iter().map(bit).sum()
    }
}

/// Returns the place of a shingle: its lower bits, without the one that marks numbers. The upper ones order and sample.
fn place(shingle: u32) -> usize {
    (shingle >> 1) as usize % BITS
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn nothing_in_the_set_is_missed(set in prop::collection::vec(any::<u32>(), 0..300), others in prop::collection::vec(any::<u32>(), 0..300)) {
            let filter = ShingleFilter::of(&set);
            prop_assert_eq!(filter.may_contain(&set), set.len());
            prop_assert!(filter.may_contain(&others) <= others.len());
            // One in 200 passes by chance.
            prop_assert!(filter.may_contain(&others) < 20 + others.len() / 20);
        }
    }

    #[test]
    fn the_filter_of_nothing_contains_nothing() {
        assert_eq!(
            (ShingleFilter::default().may_contain(&[1, 2]), ShingleFilter::of(&[]).may_contain(&[1, 2])),
            (0, 0)
        );
    }
}
