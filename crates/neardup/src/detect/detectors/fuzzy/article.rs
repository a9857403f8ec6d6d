//! A page as a list of sentences.

use super::options::FuzzyOptions;
use crate::detect::Page;

/// Later sentences are ignored: comparing two pages costs the product of their sentences.
const MOST_SENTENCES: usize = 1_000;

/// Sentences beyond so many words are ignored: two hostile pages cost at most half a second.
const MOST_WORDS: usize = 8_192;

/// The sentences of a page that are compared, each as the set of its words.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Article {
    /// All words of these sentences, ascending.
    pub(super) words: Vec<u32>,
    /// Each sentence as ascending positions in `words`.
    pub(super) sentences: Vec<Vec<u32>>,
}

impl Article {
    /// Returns the sentences of a page whose lengths are within the limits.
    pub(super) fn new(page: &Page, options: &FuzzyOptions) -> Self {
        let (mut sentences, mut room) = (Vec::new(), MOST_WORDS);
        for sentence in &page.order.sentences {
            let mut set = sentence.clone();
            set.sort_unstable();
            set.dedup();
            if !options.admits(set.len()) {
                continue;
            }
            let Some(left) = room.checked_sub(set.len()).filter(|_| sentences.len() < MOST_SENTENCES) else { break };
            room = left;
            sentences.push(set);
        }
        let mut words: Vec<u32> = sentences.iter().flatten().copied().collect();
        words.sort_unstable();
        words.dedup();
        for word in sentences.iter_mut().flatten() {
            // Each word is in `words`, and positions fit word numbers.
            *word = words.partition_point(|other| other < word) as u32;
        }
        Self { words, sentences }
    }

    /// Returns the sentences that contain each word, by the word's position.
    pub(super) fn holders(&self) -> Vec<Vec<u32>> {
        let mut holders = vec![Vec::new(); self.words.len()];
        for (number, sentence) in (0..).zip(&self.sentences) {
            sentence.iter().for_each(|&word| holders[word as usize].push(number));
        }
        holders
    }

    /// Returns the position of each word among those of another article.
    pub(super) fn places_in(&self, other: &Article) -> Vec<Option<u32>> {
        let mut rest = (0..).zip(&other.words).peekable();
        let place = |word: &u32| {
            while rest.next_if(|(_, other)| *other < word).is_some() {}
            rest.peek().filter(|(_, other)| *other == word).map(|(place, _)| *place)
        };
        self.words.iter().map(place).collect()
    }
}
