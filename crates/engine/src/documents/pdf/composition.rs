//! Characters as text has them: letters with their accents, and letters instead of their shapes.

use icu_normalizer::ComposingNormalizerBorrowed;

/// Accents that fonts have as glyphs of their own, and the characters that combine.
const ACCENTS: [(char, char); 14] = [
    ('`', '\u{300}'),
    ('´', '\u{301}'),
    ('ˆ', '\u{302}'),
    ('^', '\u{302}'),
    ('˜', '\u{303}'),
    ('¯', '\u{304}'),
    ('˘', '\u{306}'),
    ('˙', '\u{307}'),
    ('¨', '\u{308}'),
    ('˚', '\u{30a}'),
    ('˝', '\u{30b}'),
    ('ˇ', '\u{30c}'),
    ('¸', '\u{327}'),
    ('˛', '\u{328}'),
];

/// Returns whether a glyph is an accent alone.
pub(super) fn is_accent(text: &str) -> bool {
    combining(text).is_some()
}

fn combining(text: &str) -> Option<char> {
    let mut characters = text.chars();
    let accent = characters.next().filter(|_| characters.next().is_none())?;
    ACCENTS.iter().find(|(known, _)| *known == accent).map(|(_, combining)| *combining)
}

/// Returns a letter with an accent.
pub(super) fn joined(letter: &str, accent: &str) -> String {
    let letter = match letter {
        // Fonts take the dot away to make room.
        "ı" => "i",
        "ȷ" => "j",
        letter => letter,
    };
    let combined: String = letter.chars().chain(combining(accent)).collect();
    ComposingNormalizerBorrowed::new_nfc().normalize(&combined).into_owned()
}

/// Returns the letters of ligatures and of the shapes that letters take beside each other.
pub(super) fn plain_forms(text: &str) -> String {
    if text.chars().any(is_shape) {
        return ComposingNormalizerBorrowed::new_nfkc().normalize(text).into_owned();
    }
    text.to_owned()
}

/// Whether a character is one of the blocks "Alphabetic Presentation Forms" and "Arabic Presentation Forms".
fn is_shape(c: char) -> bool {
    matches!(c, '\u{fb00}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

/// Returns whether a text is Hebrew, Arabic or the like.
pub(super) fn is_right_to_left(text: &str) -> bool {
    text.chars().any(|c| matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'))
}
