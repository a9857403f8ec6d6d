//! Seeded choices: the same seed gives the same choices on every machine.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// An endless row of choices that a seed and a purpose settle.
pub(super) struct Choices {
    seed: u64,
    made: u64,
}

impl Choices {
    /// The choices of this seed for one purpose, so that one page's text does not depend on how
    /// many choices another page needed.
    pub(super) fn new(seed: u64, purpose: &str) -> Self {
        Self { seed: xxh3_64_with_seed(purpose.as_bytes(), seed), made: 0 }
    }

    /// A number below `bound`, which must not be 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.made += 1;
        (xxh3_64_with_seed(&self.made.to_le_bytes(), self.seed) % bound as u64) as usize
    }

    /// One of `items`, which must not be empty.
    pub(super) fn one_of<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len())]
    }

    /// Brings `items` into another order.
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_and_a_purpose_settle_all_choices() {
        let row = |seed, purpose| {
            let mut choices = Choices::new(seed, purpose);
            (0..20).map(|_| choices.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(row(1, "a"), row(1, "a"));
        assert_ne!(row(1, "a"), row(2, "a"));
        assert_ne!(row(1, "a"), row(1, "b"));
    }

    #[test]
    fn shuffling_keeps_every_item() {
        let mut items: Vec<u32> = (0..50).collect();
        Choices::new(7, "cards").shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
