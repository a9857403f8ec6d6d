//! Histogram of read cost per unit of similarity, in logarithmic buckets.

/// Buckets: eight to an octave, from 2⁻¹⁷ to 2³¹ postings for a unit of weight.
pub(super) const PRICES: usize = 48 * 8;

/// The weight available at each price, and its total cost.
#[derive(Debug)]
pub(super) struct CostHistogram {
    masses: [u32; PRICES],
    costs: [u32; PRICES],
    /// Buckets outside of `lowest..=highest` are empty.
    lowest: usize,
    highest: usize,
}

impl Default for CostHistogram {
    fn default() -> Self {
        Self { masses: [0; PRICES], costs: [0; PRICES], lowest: PRICES, highest: 0 }
    }
}

impl CostHistogram {
    /// Empties all buckets.
    pub(super) fn clear(&mut self) {
        if self.lowest <= self.highest {
            self.masses[self.lowest..=self.highest].fill(0);
            self.costs[self.lowest..=self.highest].fill(0);
        }
        (self.lowest, self.highest) = (PRICES, 0);
    }

    /// Adds weight at this price, with its total cost in postings.
    pub(super) fn add(&mut self, price: u16, cost: u32, mass: u16) {
        let price = usize::from(price);
        self.masses[price] += u32::from(mass);
        self.costs[price] = self.costs[price].saturating_add(cost);
        self.lowest = self.lowest.min(price);
        self.highest = self.highest.max(price);
    }

    /// Returns the highest price to pay so that less than `goal` of `unseen` is left, and then as far as `limit`
    /// allows.
    ///
    /// Returns [`PRICES`] if there is not enough weight.
    pub(super) fn max_price(&self, mut unseen: u32, limit: impl Fn(u64) -> u64, goal: u32) -> u16 {
        let (mut spent, mut most) = (0, None);
        for price in self.lowest..=self.highest {
            spent += u64::from(self.costs[price]);
            unseen -= self.masses[price];
            if most.is_some_and(|most| spent > most) {
                return price as u16;
            }
            if unseen < goal && most.is_none() {
                most = Some(limit(spent));
            }
        }
        PRICES as u16
    }
}

/// Returns the bucket of a price: the exponent and the first three bits of the fraction. `mass` must not be 0.
pub(super) fn price(cost: u32, mass: f32) -> u16 {
    const LEAST: u32 = (127 - 17) << 3;
    let ratio = cost as f32 / mass;
    let step = (ratio.to_bits() >> 20).saturating_sub(LEAST);
    step.min(PRICES as u32 - 1) as u16
}
