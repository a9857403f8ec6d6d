//! Statistics of a set of records.

use ndcrawl::similarity::Record;

/// Ranks at which frequencies are printed.
pub const RANKS: [usize; 4] = [10, 100, 1_000, 10_000];

#[derive(Clone, Copy, Debug)]
pub struct Statistics {
    /// Distinct terms of a record: mean, p10, p50, p90.
    pub terms: f64,
    pub percentiles: [f64; 3],
    /// Share of records with the terms of these ranks.
    pub shares: [f64; 4],
    pub vocabulary: usize,
    /// Share of terms that occur in one record only.
    pub single: f64,
}

impl Statistics {
    pub fn of(records: &[Record]) -> Self {
        let mut lengths: Vec<f64> = records.iter().map(|record| record.len() as f64).collect();
        lengths.sort_unstable_by(f64::total_cmp);
        let mut frequencies = Vec::<u32>::new();
        for (term, _) in records.iter().flat_map(Record::terms) {
            if frequencies.len() <= term.index() {
                frequencies.resize(term.index() + 1, 0);
            }
            frequencies[term.index()] += 1;
        }
        frequencies.retain(|&frequency| frequency > 0);
        frequencies.sort_unstable_by_key(|&frequency| std::cmp::Reverse(frequency));
        let single = frequencies.iter().filter(|&&frequency| frequency == 1).count();
        let share = |rank: usize| {
            let frequency = frequencies.get(rank - 1).copied().unwrap_or(0);
            f64::from(frequency) / records.len().max(1) as f64
        };
        Self {
            terms: lengths.iter().sum::<f64>() / records.len().max(1) as f64,
            percentiles: [0.1, 0.5, 0.9].map(|share| quantile(&lengths, share)),
            shares: RANKS.map(share),
            vocabulary: frequencies.len(),
            single: single as f64 / frequencies.len().max(1) as f64,
        }
    }
}

/// Returns a quantile of ascending values; 0 without values.
pub fn quantile(ascending: &[f64], share: f64) -> f64 {
    let place = (ascending.len() as f64 * share) as usize;
    ascending.get(place.min(ascending.len().saturating_sub(1))).copied().unwrap_or(0.0)
}
