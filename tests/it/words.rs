//! Seeded words: made up, so that two pages share only planted words. English function words stand between
//! them, so that every page is detected as English.

use ndcrawl::seeded::SeededRng;

/// A made-up word of three syllables that no stemmer shortens.
pub fn word(random: &mut SeededRng) -> String {
    const CONSONANTS: &[u8] = b"bdfgklmnprtvz";
    const VOWELS: &[u8] = b"aeiou";
    let mut word = String::new();
    for _ in 0..3 {
        word.push(*random.pick(CONSONANTS) as char);
        word.push(*random.pick(VOWELS) as char);
    }
    word.push('k');
    word
}

/// So many made-up words.
pub fn words(random: &mut SeededRng, count: usize) -> Vec<String> {
    (0..count).map(|_| word(random)).collect()
}

/// The words of this seed for one purpose.
pub fn words_of(seed: u64, purpose: &str, count: usize) -> Vec<String> {
    words(&mut SeededRng::new(seed, purpose), count)
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
