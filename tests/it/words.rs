//! Seeded words: made up, so that two pages share only what is planted, and set among English
//! function words, so that every page is taken for English.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Numbers that a seed settles.
pub struct Random {
    seed: u64,
    drawn: u64,
}

impl Random {
    pub fn new(seed: u64, purpose: &str) -> Self {
        Self { seed: xxh3_64_with_seed(purpose.as_bytes(), seed), drawn: 0 }
    }

    pub fn next(&mut self) -> u64 {
        self.drawn += 1;
        xxh3_64_with_seed(&self.drawn.to_le_bytes(), self.seed)
    }

    /// A number below `bound`, which must not be 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// A made-up word of three syllables that no stemmer shortens.
    pub fn word(&mut self) -> String {
        const CONSONANTS: &[u8] = b"bdfgklmnprtvz";
        const VOWELS: &[u8] = b"aeiou";
        let mut word = String::new();
        for _ in 0..3 {
            word.push(CONSONANTS[self.below(CONSONANTS.len())] as char);
            word.push(VOWELS[self.below(VOWELS.len())] as char);
        }
        word.push('k');
        word
    }

    pub fn words(&mut self, count: usize) -> Vec<String> {
        (0..count).map(|_| self.word()).collect()
    }
}

/// Sentences that hold these words in their order and English function words between them.
pub fn sentences(words: &[String]) -> String {
    const GLUE: [&str; 5] = ["of the", "and", "is with the", "from the", "for"];
    let mut text = String::new();
    for sentence in words.chunks(GLUE.len() + 1) {
        text.push_str("The ");
        for (number, word) in sentence.iter().enumerate() {
            if number > 0 {
                text.push_str(&format!(" {} ", GLUE[number - 1]));
            }
            text.push_str(word);
        }
        text.push_str(". ");
    }
    text
}
