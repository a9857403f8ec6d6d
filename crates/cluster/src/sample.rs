//! A part of the turns and pages, chosen by chance, that stands for all.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Which items belong to a sample. Each belongs to it with the same probability, whatever the others do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    share: f64,
    seed: u64,
}

impl Sample {
    /// Everything.
    pub const ALL: Self = Self { share: 1.0, seed: 0 };

    /// Creates a sample of this share, between 0 and 1. The same seed gives the same sample.
    pub fn new(share: f64, seed: u64) -> Self {
        Self { share: share.clamp(0.0, 1.0), seed }
    }

    /// Whether it has everything.
    pub fn is_all(&self) -> bool {
        self.share >= 1.0
    }

    /// Whether an item of this name belongs to it.
    pub fn has(&self, name: &[u8]) -> bool {
        // 53 bits, as many as the share has.
        let lot = (xxh3_64_with_seed(name, self.seed) >> 11) as f64 / (1_u64 << 53) as f64;
        self.is_all() || lot < self.share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_its_share_and_another_seed_gives_another_one() {
        let taken = |seed| (0_u32..10_000).filter(|item| Sample::new(0.1, seed).has(&item.to_be_bytes())).count();
        assert!((900..1100).contains(&taken(1)), "{}", taken(1));
        let differs =
            |item: &u32| Sample::new(0.1, 1).has(&item.to_be_bytes()) != Sample::new(0.1, 2).has(&item.to_be_bytes());
        assert!((0_u32..1000).any(|item| differs(&item)));
        assert!((0_u32..1000).all(|item| Sample::ALL.has(&item.to_be_bytes())));
        assert!(!(0_u32..1000).any(|item| Sample::new(0.0, 1).has(&item.to_be_bytes())));
    }
}
