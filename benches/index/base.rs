//! Base pages, whose words make up synthetic pages: pages of a real crawl, or pages of a model.
//!
//! The model is fitted to 113,000 pages of 26 documentation sites:
//!
//! | rank of the term | 10 | 100 | 1,000 | 10,000 |
//! |---|---|---|---|---|
//! | share of pages with it | 0.43 | 0.15 | 0.021 | 0.0016 |
//!
//! A page has 22 / 60 / 307 distinct terms (p10, p50, p90). Terms are sampled independently with probabilities that give
//! these frequencies. Rare terms belong to one of 64 topics, and a page has one topic.

use std::collections::HashMap;

use ndcrawl::seeded::SeededRng;
use ndcrawl::similarity::Record;

/// A term by its rank; 0 is the most frequent.
pub struct Base {
    /// The words of each page, repeated as often as they occur.
    pub pages: Vec<Vec<u32>>,
    pub vocabulary: usize,
}

/// Points of (rank, share of pages with the term), interpolated linearly on logarithmic axes.
const SHARES: [(f64, f64); 7] = [
    (1.0, 0.9),
    (10.0, 0.54),
    (100.0, 0.225),
    (1_000.0, 0.022),
    (10_000.0, 0.0011),
    (100_000.0, 0.000_055),
    (454_016.0, 0.000_005),
];
/// Size of the vocabulary, divisible by the number of topics.
const VOCABULARY: usize = 454_016;
/// Words sampled for the median page, and the factors of one standard deviation less or more.
const WORDS: f64 = 65.0;
const SHORTER: f64 = 2.4;
const LONGER: f64 = 4.0;
/// Words sampled for the longest page.
const MOST_WORDS: f64 = 5_000.0;
/// Terms below this rank occur more often on a page.
const FREQUENT: u32 = 1_000;
const MOST_OCCURRENCES: f64 = 60.0;
/// The share of a term's pages on which it occurs with its usual frequency.
const USUAL: f64 = 0.7;
const TOPICS: u32 = 64;
/// Terms from this rank on belong to a topic.
const TOPICAL: u32 = 2_000;

impl Base {
    /// Generates pages by the model.
    pub fn model(pages: usize, random: &mut SeededRng) -> Self {
        let words = Words::new();
        Self { pages: (0..pages).map(|_| model_page(&words, random)).collect(), vocabulary: VOCABULARY }
    }

    /// Reads the pages of a crawl. A weight of 100 is one word.
    pub fn of(records: &[Record]) -> Self {
        let mut frequencies = HashMap::<u32, usize>::new();
        for (term, _) in records.iter().flat_map(Record::terms) {
            *frequencies.entry(term.0).or_default() += 1;
        }
        let mut terms: Vec<(u32, usize)> = frequencies.into_iter().collect();
        terms.sort_unstable_by_key(|&(term, frequency)| (std::cmp::Reverse(frequency), term));
        let ranks: HashMap<u32, u32> = (0..).zip(terms).map(|(rank, (term, _))| (term, rank)).collect();
        let page = |record: &Record| {
            let words = |&(term, weight): &(ndcrawl::model::TermId, u32)| {
                std::iter::repeat_n(ranks[&term.0], (weight as usize).div_ceil(100))
            };
            record.terms().iter().flat_map(words).collect()
        };
        Self { pages: records.iter().map(page).collect(), vocabulary: ranks.len() }
    }
}

fn model_page(words: &Words, random: &mut SeededRng) -> Vec<u32> {
    let deviations = random.normal();
    let factor: f64 = if deviations < 0.0 { SHORTER } else { LONGER };
    let length = (WORDS * factor.powf(deviations)).clamp(3.0, MOST_WORDS) as usize;
    let topic = random.below(TOPICS as usize) as u32;
    let mut distinct: Vec<u32> = (0..length).map(|_| topical(words.draw(random), topic)).collect();
    distinct.sort_unstable();
    distinct.dedup();
    distinct.into_iter().flat_map(|rank| std::iter::repeat_n(rank, occurrences(rank, random))).collect()
}

/// Returns how often a term occurs on a page that has it: often once, rarely very often.
///
/// A term tends to occur equally often on all its pages.
fn occurrences(rank: u32, random: &mut SeededRng) -> usize {
    let exponent = if rank < FREQUENT { 0.95 } else { 1.6 };
    let usual = random.share() < USUAL;
    let quantile = if usual { SeededRng::new(rank.into(), "term").share() } else { random.share() };
    (1.0 - quantile).powf(-1.0 / exponent).min(MOST_OCCURRENCES) as usize
}

/// Replaces a rare term by the topic's own term of about the same rank.
fn topical(rank: u32, topic: u32) -> u32 {
    if rank < TOPICAL { rank } else { rank - rank % TOPICS + topic }
}

/// Samples words by frequency.
struct Words {
    /// Cumulative weights by rank.
    sums: Vec<f64>,
    /// For each of `STRIPS` equal parts of the sum, its first rank.
    strips: Vec<u32>,
}

const STRIPS: usize = 1 << 16;

impl Words {
    fn new() -> Self {
        let mut sum = 0.0;
        let sums: Vec<f64> = (0..VOCABULARY)
            .map(|rank| {
                // The mean of the Poisson distribution that leaves this share of pages without the term.
                sum += -(1.0 - share_at(rank as f64 + 1.0)).ln();
                sum
            })
            .collect();
        let strips = (0..STRIPS).map(|strip| {
            let from = sum * strip as f64 / STRIPS as f64;
            sums.partition_point(|&upto| upto <= from) as u32
        });
        Self { strips: strips.collect(), sums }
    }

    fn draw(&self, random: &mut SeededRng) -> u32 {
        let share = random.share();
        let at = share * self.sums[VOCABULARY - 1];
        let mut rank = self.strips[(share * STRIPS as f64) as usize] as usize;
        if self.sums[rank] <= at {
            // Strips at the rare end hold many ranks.
            let end = self.strips.get((share * STRIPS as f64) as usize + 1).map_or(VOCABULARY, |&end| end as usize + 1);
            rank += self.sums[rank..end.min(VOCABULARY)].partition_point(|&upto| upto <= at);
        }
        rank.min(VOCABULARY - 1) as u32
    }
}

fn share_at(rank: f64) -> f64 {
    let next = SHARES.partition_point(|&(at, _)| at < rank).clamp(1, SHARES.len() - 1);
    let ((from, high), (to, low)) = (SHARES[next - 1], SHARES[next]);
    let along = (rank / from).ln() / (to / from).ln();
    high * (low / high).powf(along)
}
