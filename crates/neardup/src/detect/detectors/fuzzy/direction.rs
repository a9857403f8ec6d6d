//! How far one article is contained in another (equations (2) and (3)).

use super::article::Article;
use super::collection::Collection;
use crate::model::Threshold;

const ONE: u32 = Threshold::ONE;

/// `θ` is not computed yet.
const UNKNOWN: u32 = u32::MAX;

/// Counts the related pairs of sentences of two articles, `Σ_s Σ_t ρ(s, t)`: `s` from the first, `t` from the second.
///
/// The result is that of the formulas; the shortcuts cannot change it. A word of `s` that is in `t` has `θ = 1`, so
/// pairs that are related by shared words alone are found by counting. Where these suffice, no correlation is looked
/// up. Of other pairs the newest words, which tend to be rare, are checked first, until the rest could not help any
/// more. Each `θ(i, t)` is computed once.
pub(super) struct Direction<'a> {
    collection: &'a Collection,
    least_together: u32,
    from: &'a Article,
    to: &'a Article,
    sentence_threshold: u64,
    /// `θ(i, t)` in millionths, by sentence and word.
    theta: Vec<u32>,
}

/// Two sentences that are not related by shared words alone.
struct OpenPair {
    s: usize,
    t: usize,
    shared: u64,
}

impl<'a> Direction<'a> {
    pub(super) fn new(
        collection: &'a Collection,
        least_together: u32,
        sentence_threshold: Threshold,
        from: &'a Article,
        to: &'a Article,
    ) -> Self {
        let sentence_threshold = u64::from(sentence_threshold.millionths());
        Self { collection, least_together, from, to, sentence_threshold, theta: Vec::new() }
    }

    /// Returns the count, at most `n_e`, the number of sentences of the first; `None` if it is below `needed`.
    pub(super) fn related(&mut self, needed: u64) -> Option<u64> {
        let most = self.from.sentences.len() as u64;
        let (mut related, open) = self.by_shared_words(most);
        if related >= most {
            return Some(most);
        }
        if related + (open.len() as u64) < needed {
            return None;
        }
        self.theta = vec![UNKNOWN; self.from.words.len() * self.to.sentences.len()];
        let mut left = open.len() as u64;
        for pair in open {
            left -= 1;
            related += u64::from(self.is_related(&pair));
            if related >= most {
                return Some(most);
            }
            if related + left < needed {
                return None;
            }
        }
        Some(related)
    }

    /// Returns how many pairs are related by shared words, and the other pairs; it stops when `enough` are related.
    fn by_shared_words(&self, enough: u64) -> (u64, Vec<OpenPair>) {
        let (holders, places) = (self.to.holders(), self.from.places_in(self.to));
        let (mut related, mut open) = (0, Vec::new());
        let mut shared = vec![0u64; self.to.sentences.len()];
        for (s, sentence) in self.from.sentences.iter().enumerate() {
            shared.fill(0);
            for place in sentence.iter().filter_map(|&word| places[word as usize]) {
                holders[place as usize].iter().for_each(|&t| shared[t as usize] += 1);
            }
            for (t, &shared) in shared.iter().enumerate() {
                if shared * u64::from(ONE) > self.bar(sentence) {
                    related += 1;
                } else {
                    open.push(OpenPair { s, t, shared });
                }
            }
            if related >= enough {
                break;
            }
        }
        (related, open)
    }

    /// Returns what `Σ θ` must exceed, in millionths: `φ > T₁` without the division.
    fn bar(&self, sentence: &[u32]) -> u64 {
        self.sentence_threshold * sentence.len() as u64
    }

    fn is_related(&mut self, pair: &OpenPair) -> bool {
        let (from, to) = (self.from, self.to);
        let (sentence, other) = (&from.sentences[pair.s], &to.sentences[pair.t]);
        let bar = self.bar(sentence);
        let mut sum = pair.shared * u64::from(ONE);
        let mut left = sentence.len() as u64 - pair.shared;
        for &word in sentence.iter().rev() {
            if sum + left * u64::from(ONE) <= bar {
                return false;
            }
            let theta = self.theta(word as usize, pair.t, other);
            if theta == ONE + 1 {
                continue; // Shared, and counted.
            }
            left -= 1;
            sum += u64::from(theta);
            if sum > bar {
                return true;
            }
        }
        false
    }

    /// Returns `θ(i, t)` by position of the word, or one more than 1 if the sentence contains the word.
    fn theta(&mut self, word: usize, t: usize, sentence: &[u32]) -> u32 {
        let place = t * self.from.words.len() + word;
        if self.theta[place] == UNKNOWN {
            let i = self.from.words[word];
            let words = sentence.iter().map(|&j| self.to.words[j as usize]);
            self.theta[place] = theta(self.collection, self.least_together, i, words).unwrap_or(ONE + 1);
        }
        self.theta[place]
    }
}

/// Returns `θ(i, t) = 1 − Π (1 − W(i, j))` over the words `j` of a sentence, ascending, to the nearest millionth.
///
/// Returns `None` if `i` is one of them, and `θ` therefore 1.
pub(super) fn theta(
    collection: &Collection,
    least_together: u32,
    i: u32,
    sentence: impl Iterator<Item = u32>,
) -> Option<u32> {
    let mut independence = 1.0;
    for j in sentence {
        if i == j {
            return None;
        }
        independence *= collection.independence(i, j, least_together);
    }
    // Between 0 and 1,000,000.
    Some(((1.0 - independence) * f64::from(ONE)).round() as u32)
}
