//! Chance that comes again: xoshiro256**, seeded by SplitMix64. The numbers themselves are the same
//! on every machine; what is computed of them with logarithms is so where the mathematical library is.

/// A sequence of numbers that depends on its seed and nothing else.
#[derive(Clone, Debug)]
pub struct Random([u64; 4]);

impl Random {
    pub fn new(seed: u64) -> Self {
        let mut state = seed;
        Self(std::array::from_fn(|_| split_mix(&mut state)))
    }

    pub fn next(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.0;
        let result = b.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        result
    }

    /// Evenly from [0, 1).
    pub fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Evenly from [from, to).
    pub fn between(&mut self, from: f64, to: f64) -> f64 {
        from + self.share() * (to - from)
    }

    /// Evenly from 0 to `below`, which is not one of them.
    pub fn below(&mut self, below: usize) -> usize {
        ((u128::from(self.next()) * below as u128) >> 64) as usize
    }

    /// One of them.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// From the normal distribution with mean 0 and deviation 1.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.share()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.share()).cos()
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

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
