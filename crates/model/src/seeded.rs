//! Seeded random numbers, for the demo site, for tests and for benchmarks.
//!
//! The same seed gives the same numbers on every machine. [`SeededRng::normal`] takes a logarithm, which may differ in
//! its last digit where the mathematical library does.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A sequence of random numbers that a seed and a purpose determine.
#[derive(Clone, Debug)]
pub struct SeededRng {
    seed: u64,
    count: u64,
}

impl SeededRng {
    /// The numbers of this seed for one purpose, so that one page's text does not depend on how
    /// many numbers another page took.
    pub fn new(seed: u64, purpose: &str) -> Self {
        Self { seed: xxh3_64_with_seed(purpose.as_bytes(), seed), count: 0 }
    }

    /// Any number.
    pub fn next_u64(&mut self) -> u64 {
        self.count += 1;
        xxh3_64_with_seed(&self.count.to_le_bytes(), self.seed)
    }

    /// A number below `bound`, which must not be 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next_u64() % bound as u64) as usize
    }

    /// A number in [0, 1), evenly distributed.
    pub fn share(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number in [from, to), evenly distributed.
    pub fn between(&mut self, from: f64, to: f64) -> f64 {
        from + self.share() * (to - from)
    }

    /// A number of the normal distribution with mean 0 and deviation 1.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.share()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.share()).cos()
    }

    /// One of `items`, which must not be empty.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// Brings `items` into another order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// So many of the numbers below `of`, or all if there are no more, ascending.
    pub fn sample(&mut self, many: usize, of: usize) -> Vec<usize> {
        let mut wanted = many.min(of);
        let mut sample = Vec::with_capacity(wanted);
        for number in 0..of {
            if self.below(of - number) < wanted {
                sample.push(number);
                wanted -= 1;
            }
        }
        sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_and_a_purpose_determine_all_numbers() {
        let row = |seed, purpose| {
            let mut random = SeededRng::new(seed, purpose);
            (0..20).map(|_| random.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(row(1, "a"), row(1, "a"));
        assert_ne!(row(1, "a"), row(2, "a"));
        assert_ne!(row(1, "a"), row(1, "b"));
    }

    #[test]
    fn shuffling_keeps_every_item() {
        let mut items: Vec<u32> = (0..50).collect();
        SeededRng::new(7, "cards").shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn a_sample_is_ascending_and_has_the_wanted_size() {
        let sample = SeededRng::new(1, "sample").sample(5, 100);
        assert!(sample.len() == 5 && sample.is_sorted() && sample[4] < 100, "{sample:?}");
        assert_eq!(SeededRng::new(1, "sample").sample(9, 3), [0, 1, 2]);
    }
}
