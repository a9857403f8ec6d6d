//! Where does a word begin and end?
//!
//! Words are those of Unicode Standard Annex 29. Scripts without spaces between words (Han and
//! Kana) are cut into overlapping pairs of characters instead.

use unicode_segmentation::UnicodeSegmentation;

/// Longer words are cut: they are encoded data, and nobody compares their ends.
const LONGEST_WORD: usize = 64;

/// Calls `word` for every word of the text, in lower case.
pub(super) fn for_each(text: &str, mut word: impl FnMut(&str)) {
    let mut lower = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let spaced = rest.find(is_unspaced).unwrap_or(rest.len());
        for found in rest[..spaced].unicode_words() {
            lower.clear();
            if found.is_ascii() {
                lower.push_str(&found[..found.len().min(LONGEST_WORD)]);
                lower.make_ascii_lowercase();
            } else {
                lower.extend(found.chars().take(LONGEST_WORD).flat_map(char::to_lowercase));
            }
            word(&lower);
        }
        rest = &rest[spaced..];
        let unspaced = rest.find(|c| !is_unspaced(c)).unwrap_or(rest.len());
        pairs(&rest[..unspaced], &mut word);
        rest = &rest[unspaced..];
    }
}

/// Whether a character belongs to a script that is written without spaces between words.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}')
}

/// Overlapping pairs of characters; a single character is itself.
fn pairs(run: &str, word: &mut impl FnMut(&str)) {
    let starts: Vec<usize> = run.char_indices().map(|(at, _)| at).chain([run.len()]).collect();
    match starts.len() {
        0 | 1 => {}
        2 => word(run),
        _ => starts.windows(3).for_each(|ends| word(&run[ends[0]..ends[2]])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        for_each(text, |word| words.push(word.to_owned()));
        words
    }

    #[test]
    fn words_are_lower_case_and_keep_numbers_and_names() {
        assert_eq!(
            words("The gtk_widget_show() of GTK 3.24, don't!"),
            ["the", "gtk_widget_show", "of", "gtk", "3.24", "don't"]
        );
        assert_eq!(words("ÉTÉ Straße"), ["été", "straße"]);
        assert!(words(" -- ... \n").is_empty());
    }

    #[test]
    fn han_and_kana_are_cut_into_pairs() {
        assert_eq!(words("搜索引擎 ok 中"), ["搜索", "索引", "引擎", "ok", "中"]);
        assert_eq!(words("ウェブabc"), ["ウェ", "ェブ", "abc"]);
        assert_eq!(words("한국어 문서"), ["한국어", "문서"]);
    }

    #[test]
    fn endless_words_are_cut() {
        assert_eq!(words(&"x".repeat(10_000)), ["x".repeat(64)]);
    }
}
