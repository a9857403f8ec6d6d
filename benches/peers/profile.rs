//! TextProfileSignature of Nutch and Solr.
//!
//! It counts words of at least two characters and rounds the counts down to multiples of a quantum. The quantum is the
//! highest count times a rate, but at least 2, or 1 if no word repeats. Words below the quantum are dropped. The
//! signature is a digest of the others by descending count.
//!
//! A page has one signature per rate tried. Nutch leaves the order of equal counts open; here words break ties.

use std::collections::HashMap;

use ndcrawl::model::Threshold;
use xxhash_rust::xxh3::xxh3_64;

use crate::peer::{ONE, Peer, Signature, threshold};

/// The first rate is the default.
const RATES: [f64; 9] = [0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5];
const SHORTEST: usize = 2;
/// Distance between the thresholds of two rates; the first rate has the highest.
const STEP: u32 = ONE / 10;

pub struct Profile;

impl Peer for Profile {
    fn name(&self) -> &'static str {
        "TextProfile"
    }

    fn sign(&self, words: &[String]) -> Signature {
        let mut counts = HashMap::<&str, usize>::new();
        words
            .iter()
            .filter(|word| word.chars().count() >= SHORTEST)
            .for_each(|word| *counts.entry(word).or_default() += 1);
        Signature { numbers: RATES.iter().map(|rate| profile(&counts, *rate)).collect(), set: Vec::new() }
    }

    /// Returns the score of the first rate at which the pages agree.
    ///
    /// A coarser rate is another setting, so a threshold admits its own rate and the finer ones.
    fn score(&self, a: &Signature, b: &Signature) -> u32 {
        let first = a.numbers.iter().zip(&b.numbers).position(|(a, b)| a == b);
        first.map_or(0, |place| ONE - STEP * place as u32)
    }

    fn thresholds(&self) -> Vec<Threshold> {
        (0..RATES.len()).rev().map(|place| threshold(ONE - STEP * place as u32)).collect()
    }

    fn usual(&self) -> Threshold {
        threshold(ONE)
    }

    fn setting(&self, threshold: Threshold) -> String {
        let place = ((ONE - threshold.millionths()) / STEP) as usize;
        format!("rate {}", RATES[place])
    }

    fn again(&self) -> Box<dyn Peer> {
        Box::new(Self)
    }
}

fn profile(counts: &HashMap<&str, usize>, rate: f64) -> u64 {
    let most = counts.values().copied().max().unwrap_or_default();
    let quantum = match (most as f64 * rate).round() as usize {
        0 | 1 if most > 1 => 2,
        0 => 1,
        quantum => quantum,
    };
    let rounded = counts.iter().map(|(word, count)| (count / quantum * quantum, *word));
    let mut kept: Vec<(usize, &str)> = rounded.filter(|(count, _)| *count >= quantum).collect();
    kept.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let lines: Vec<String> = kept.iter().map(|(count, word)| format!("{word} {count}")).collect();
    xxh3_64(lines.join("\n").as_bytes())
}
