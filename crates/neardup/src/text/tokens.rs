//! Where does a word begin and end?
//!
//! Words are those of Unicode Standard Annex 29. Scripts without spaces between words (Han, Kana, Thai, Lao, Khmer,
//! Burmese and others of their region) are cut into overlapping pairs of characters instead. A character is what a
//! reader takes for one: a letter with its marks.
//!
//! For most characters of most texts the rules of the annex are simple: letters, digits and underscores stick
//! together, and some punctuation sticks between two letters or two digits. A table classifies these characters.
//! Around any other character the words, up to the next space, are left to `unicode_segmentation`.

use unicode_segmentation::UnicodeSegmentation;

use super::word_scan::Runs;

/// Longer words are cut: they are encoded data, whose ends need no comparison.
const LONGEST_WORD: usize = 64;

/// The effect of a character on adjacent words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// Ends words, and is none.
    Gap,
    Letter,
    Digit,
    /// The underscore sticks to letters and digits, and is no word alone.
    Joiner,
    /// Sticks between letters.
    MidLetter,
    /// Sticks between digits.
    MidDigit,
    /// Sticks between letters, and between digits.
    Mid,
    /// Of a script without spaces.
    Unspaced,
    /// Needs the full rules.
    Unknown,
}

/// Classes of ASCII characters.
static ASCII: [Class; 128] = {
    let mut classes = [Class::Gap; 128];
    let mut at = 0;
    while at < 128 {
        #[allow(clippy::cast_possible_truncation)] // Below 128.
        let byte = at as u8;
        classes[at] = match byte {
            b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
            b'0'..=b'9' => Class::Digit,
            b'_' => Class::Joiner,
            b':' => Class::MidLetter,
            b',' | b';' => Class::MidDigit,
            b'.' | b'\'' => Class::Mid,
            _ => Class::Gap,
        };
        at += 1;
    }
    classes
};

/// Returns the class of a character beyond ASCII. Only frequent and certain ones are listed.
fn class_of(c: char) -> Class {
    match c {
        _ if is_unspaced(c) => Class::Unspaced,
        '\u{aa}' | '\u{b5}' | '\u{ba}' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2c1}' => {
            Class::Letter
        }
        '\u{386}' | '\u{388}'..='\u{38a}' | '\u{38c}' | '\u{38e}'..='\u{3a1}' | '\u{3a3}'..='\u{3f5}' => Class::Letter,
        '\u{3f7}'..='\u{481}' | '\u{48a}'..='\u{52f}' | '\u{1e00}'..='\u{1eff}' | '\u{ac00}'..='\u{d7a3}' => {
            Class::Letter
        }
        '\u{b7}' => Class::MidLetter,
        '\u{2018}' | '\u{2019}' => Class::Mid,
        '\u{a0}'..='\u{a9}' | '\u{ab}' | '\u{ac}' | '\u{ae}'..='\u{b1}' | '\u{b4}' | '\u{b6}' | '\u{bb}' | '\u{bf}' => {
            Class::Gap
        }
        '\u{d7}' | '\u{f7}' | '\u{2010}'..='\u{2017}' | '\u{201a}'..='\u{2023}' | '\u{2025}' | '\u{2026}' => Class::Gap,
        '\u{2030}'..='\u{203b}' | '\u{2190}'..='\u{21ff}' | '\u{2200}'..='\u{22ff}' | '\u{2500}'..='\u{25ff}' => {
            Class::Gap
        }
        '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{ff01}' | '\u{ff08}' | '\u{ff09}' | '\u{ff1f}' => {
            Class::Gap
        }
        _ => Class::Unknown,
    }
}

/// Calls `word` with the start and the end of every word of the text.
pub fn for_each(text: &str, mut word: impl FnMut(usize, usize)) {
    let bytes = text.as_bytes();
    let mut runs = Runs::new(bytes);
    let mut at = 0;
    // The earliest position from which the crate may have to start.
    let mut settled = 0;
    while let Some(start) = runs.next_start(at) {
        at = start;
        // Fast path: nearly all words are letters and digits, followed by a gap.
        if bytes[at].is_ascii_alphanumeric() {
            let end = runs.next_end(at);
            if ends_word(bytes, end) {
                word(at, end);
                at = end;
                settled = at;
                continue;
            }
        }
        match char_at(text, at) {
            (Class::Letter | Class::Digit | Class::Joiner, _) => {
                let found = scan(text, at);
                if found.unknown {
                    at = by_crate(text, at, &mut word);
                } else {
                    if found.is_word {
                        word(at, found.end);
                    }
                    at = found.end;
                }
                settled = at;
            }
            (Class::Unspaced, _) => {
                at = unspaced_run(text, at, &mut word);
                settled = at;
            }
            (Class::Unknown, _) => {
                at = by_crate(text, before(text, settled, at), &mut word);
                settled = at;
            }
            (_, width) => at += width,
        }
    }
}

/// Returns whether a word certainly ends here, by this character or, if that may stick, by the next.
#[inline]
fn ends_word(bytes: &[u8], at: usize) -> bool {
    let class = |at: usize| match bytes.get(at) {
        Some(&byte) => ASCII.get(usize::from(byte)).copied().unwrap_or(Class::Unknown),
        None => Class::Gap,
    };
    match class(at) {
        Class::Gap => true,
        Class::Mid | Class::MidLetter | Class::MidDigit => {
            !matches!(class(at + 1), Class::Letter | Class::Digit | Class::Unknown)
        }
        _ => false,
    }
}

/// Writes the lower-case form of a word, cut to the longest word.
pub fn lower(word: &str, lower: &mut String) {
    lower.clear();
    if word.is_ascii() {
        lower.push_str(&word[..word.len().min(LONGEST_WORD)]);
        lower.make_ascii_lowercase();
    } else {
        lower.extend(word.chars().take(LONGEST_WORD).flat_map(char::to_lowercase));
    }
}

/// A scanned word.
struct ScannedWord {
    end: usize,
    /// Whether it contains a letter or a digit.
    is_word: bool,
    unknown: bool,
}

/// Scans from a character that may begin a word.
#[inline]
fn scan(text: &str, start: usize) -> ScannedWord {
    let bytes = text.as_bytes();
    let mut at = start;
    let mut is_word = false;
    let mut last = Class::Gap;
    // Fast path: nearly all words are letters, followed by a gap.
    while bytes.get(at).is_some_and(u8::is_ascii_alphabetic) {
        at += 1;
    }
    if at > start {
        is_word = true;
        last = Class::Letter;
    }
    while let Some(&byte) = bytes.get(at) {
        let (class, width) = if byte < 128 { (ASCII[usize::from(byte)], 1) } else { char_at(text, at) };
        match class {
            Class::Letter | Class::Digit => {
                is_word = true;
                last = class;
                at += width;
            }
            Class::Joiner => {
                last = class;
                at += width;
            }
            Class::Mid | Class::MidLetter | Class::MidDigit => {
                let (next, next_width) = char_at(text, at + width);
                let sticks = next == last
                    && matches!(
                        (last, class),
                        (Class::Letter, Class::Mid | Class::MidLetter) | (Class::Digit, Class::Mid | Class::MidDigit)
                    );
                if next == Class::Unknown {
                    return ScannedWord { end: at, is_word, unknown: true };
                }
                if !sticks {
                    break;
                }
                at += width + next_width;
            }
            Class::Gap | Class::Unspaced => break,
            Class::Unknown => return ScannedWord { end: at, is_word, unknown: true },
        }
    }
    ScannedWord { end: at, is_word, unknown: false }
}

/// Returns the class and the width of the character at this position; a gap beyond the end.
fn char_at(text: &str, at: usize) -> (Class, usize) {
    match text.as_bytes().get(at) {
        None => (Class::Gap, 0),
        Some(&byte) if byte < 128 => (ASCII[usize::from(byte)], 1),
        Some(_) => match text.get(at..).and_then(|rest| rest.chars().next()) {
            Some(c) => (class_of(c), c.len_utf8()),
            None => (Class::Gap, 1),
        },
    }
}

/// Returns where the crate must start to see what an unknown character may stick to: the character before it, and all
/// spaces.
fn before(text: &str, settled: usize, at: usize) -> usize {
    let spaces = text[settled..at].trim_end_matches(' ').len();
    if settled + spaces < at {
        return settled + spaces;
    }
    text[settled..at].char_indices().next_back().map_or(at, |(before, _)| settled + before)
}

/// Leaves the text to the crate, up to an unspaced character or an ASCII character after a space, and returns where
/// that is.
fn by_crate(text: &str, start: usize, word: &mut impl FnMut(usize, usize)) -> usize {
    let mut end = text.len();
    let mut after_space = false;
    let mut unknown = false;
    for (at, c) in text[start..].char_indices() {
        let is_end = unknown && after_space && c.is_ascii() && c != ' ';
        if is_end || is_unspaced(c) {
            end = start + at;
            break;
        }
        unknown |= !c.is_ascii();
        after_space = c.is_ascii_whitespace();
    }
    for (at, found) in text[start..end].unicode_word_indices() {
        word(start + at, start + at + found.len());
    }
    end
}

/// Returns whether a character belongs to a script without spaces between words.
pub fn is_unspaced(c: char) -> bool {
    c >= '\u{e01}' && (is_ideographic(c) || is_southeast_asian(c))
}

fn is_ideographic(c: char) -> bool {
    matches!(c,
        '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}')
}

/// Returns whether a character is a letter or a mark of Thai, Lao, Burmese, Khmer, Tai Le, New Tai Lue, Tai Tham, Tai
/// Viet or Ahom: those whose line breaks need a dictionary (class SA of Unicode Standard Annex 14).
///
/// Tibetan marks the end of each syllable, and words of the annex are its syllables.
fn is_southeast_asian(c: char) -> bool {
    matches!(c,
        '\u{e01}'..='\u{e3a}' | '\u{e40}'..='\u{e4e}' | '\u{e81}'..='\u{ecf}' | '\u{edc}'..='\u{edf}'
        | '\u{1000}'..='\u{103f}' | '\u{1050}'..='\u{108f}' | '\u{109a}'..='\u{109f}' | '\u{1780}'..='\u{17d3}'
        | '\u{17d7}' | '\u{17dc}' | '\u{17dd}' | '\u{1950}'..='\u{1974}' | '\u{1980}'..='\u{19c9}'
        | '\u{1a20}'..='\u{1a7f}' | '\u{1aa0}'..='\u{1aad}' | '\u{a9e0}'..='\u{a9ef}' | '\u{a9fa}'..='\u{a9fe}'
        | '\u{aa60}'..='\u{aac2}' | '\u{aadb}'..='\u{aadf}' | '\u{11700}'..='\u{1172b}')
}

/// Calls `word` with the overlapping pairs of a run of unspaced characters, or its single character, and returns
/// where it ends.
fn unspaced_run(text: &str, start: usize, word: &mut impl FnMut(usize, usize)) -> usize {
    let end = text[start..].find(|c| !is_unspaced(c)).map_or(text.len(), |length| start + length);
    let run = &text[start..end];
    if run.contains(is_southeast_asian) {
        pairs(run.grapheme_indices(true).map(|(at, _)| start + at), start, end, word);
    } else {
        pairs(run.char_indices().map(|(at, _)| start + at), start, end, word);
    }
    end
}

/// Calls `word` with each two neighbors of the characters that begin at these positions, or with the only one.
fn pairs(begins: impl Iterator<Item = usize>, start: usize, end: usize, word: &mut impl FnMut(usize, usize)) {
    let mut two_back = None;
    let mut last = start;
    for at in begins {
        if let Some(first) = two_back {
            word(first, at);
        }
        if at > start {
            two_back = Some(last);
        }
        last = at;
    }
    word(two_back.unwrap_or(start), end);
}

/// Does the same as [`for_each`] by the crate alone: the reference for tests.
pub fn for_each_by_crate(text: &str, mut word: impl FnMut(usize, usize)) {
    let mut at = 0;
    while at < text.len() {
        let spaced = text[at..].find(is_unspaced).map_or(text.len(), |found| at + found);
        for (start, found) in text[at..spaced].unicode_word_indices() {
            word(at + start, at + start + found.len());
        }
        at = if spaced < text.len() { unspaced_run(text, spaced, &mut word) } else { spaced };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        for_each(text, |start, end| {
            let mut lowered = String::new();
            lower(&text[start..end], &mut lowered);
            words.push(lowered);
        });
        words
    }

    fn both(text: &str) -> (Vec<&str>, Vec<&str>) {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for_each(text, |start, end| ours.push(&text[start..end]));
        for_each_by_crate(text, |start, end| theirs.push(&text[start..end]));
        (ours, theirs)
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
    fn scripts_without_spaces_are_never_cut_into_single_letters() {
        assert_eq!(words("ภาษาไทย"), ["ภา", "าษ", "ษา", "าไ", "ไท", "ทย"]);
        assert_eq!(words("ที่นี่ ok"), ["ที่นี่", "ok"], "a letter with its marks is one character");
        assert_eq!(words("ພາສາລາວ").len(), 6);
        assert_eq!(words("ភាសាខ្មែរ"), ["ភាសា", "សាខ្មែ", "ខ្មែរ"]);
        assert_eq!(words("မြန်မာ"), ["မြန်", "န်မ", "မာ"]);
        assert_eq!(words("བོད་སྐད།"), ["བོད", "སྐད"], "syllables of Tibetan");
        assert_eq!(words("๑๒๓ ๒"), ["๑๒๓", "๒"]);
    }

    #[test]
    fn endless_words_are_cut() {
        assert_eq!(words(&"x".repeat(10_000)), ["x".repeat(64)]);
    }

    #[test]
    fn every_character_is_of_its_class() {
        for c in '\0'..='\u{ffff}' {
            for text in [
                format!("{c}"),
                format!("a{c}b"),
                format!("1{c}2"),
                format!("a{c}2 _{c}_ a{c}.b a.{c}b"),
                format!("é{c}й {c}a -{c} {c}{c}a"),
            ] {
                let (ours, theirs) = both(&text);
                assert_eq!(ours, theirs, "U+{:04X}", u32::from(c));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn words_are_those_of_the_annex(
            text in "([a-z0-9A-Z]{0,2}[_:;,.' \n\t\"-]{0,2}[\u{301}\u{ad}\u{200d}\u{2019}é·א\u{5f3}ァ中й²½ⅷ\u{1F469}\u{1F1E6}𝐀\u{901}]{0,2}){0,8}"
        ) {
            let (ours, theirs) = both(&text);
            prop_assert_eq!(ours, theirs);
        }

        #[test]
        fn words_of_any_text_are_those_of_the_annex(text in "\\PC{0,40}") {
            let (ours, theirs) = both(&text);
            prop_assert_eq!(ours, theirs);
        }
    }
}
