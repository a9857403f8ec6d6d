//! Folds what a reader does not see, so that texts that look alike are compared as the same.
//!
//! | folded | how |
//! |---|---|
//! | characters that are composed of others | normalization form C (Unicode Standard Annex 15) |
//! | ligatures, Arabic and Hebrew presentation forms, the width of Latin letters, digits, kana and Hangul | their compatibility decomposition |
//! | default-ignorable characters: soft hyphens, joiners, direction marks, variation selectors | dropped |
//! | tatweel and vowel marks of Arabic, points and accents of Hebrew | dropped |
//! | apostrophes | U+0027 |
//!
//! Nothing else is folded, since it tells words apart: superscripts, letter case here, the Turkish dotless i, the
//! German ß, the tone marks of Vietnamese, the hamza of Arabic.
//!
//! Folding twice is folding once.

use std::borrow::Cow;

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};

const COMPOSED: ComposingNormalizerBorrowed<'static> = ComposingNormalizerBorrowed::new_nfc();
const DECOMPOSED: DecomposingNormalizerBorrowed<'static> = DecomposingNormalizerBorrowed::new_nfkd();

/// What folding does to a character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It stays, and changes no other character.
    Stays,
    Dropped,
    Apostrophe,
    /// It becomes others, or joins with the character before.
    Other,
}

/// Returns the folded text. Cost: linear; text that stays is not copied.
pub(super) fn folded(text: &str) -> Cow<'_, str> {
    if stays(text) {
        return Cow::Borrowed(text);
    }
    let mut folded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| !byte.is_ascii()) {
        folded.push_str(&rest[..at]);
        let end = rest[at..].bytes().position(|byte| byte.is_ascii()).map_or(rest.len(), |length| at + length);
        fold_run(&rest[at..end], &mut folded);
        rest = &rest[end..];
    }
    folded.push_str(rest);
    Cow::Owned(folded)
}

/// Returns whether folding changes nothing. May return `false` for a text that stays.
pub(super) fn stays(text: &str) -> bool {
    text.is_ascii() || text.chars().all(|c| c.is_ascii() || fate(c) == Fate::Stays)
}

/// Appends a run of characters beyond ASCII.
fn fold_run(run: &str, folded: &mut String) {
    if run.chars().all(|c| fate(c) != Fate::Other) {
        for c in run.chars() {
            match fate(c) {
                Fate::Dropped => {}
                Fate::Apostrophe => folded.push('\''),
                Fate::Stays | Fate::Other => folded.push(c),
            }
        }
        return;
    }
    // The character before may join with a mark of the run.
    let before = folded.pop();
    let decomposed = run.chars().flat_map(|c| {
        let (alone, decomposed) = match has_folded_form(c) {
            true => (None, Some(DECOMPOSED.normalize_iter(std::iter::once(c)))),
            false => (Some(c), None),
        };
        alone.into_iter().chain(decomposed.into_iter().flatten())
    });
    let seen = decomposed.filter(|c| fate(*c) != Fate::Dropped);
    let composed = COMPOSED.normalize_iter(before.into_iter().chain(seen));
    folded.extend(composed.map(|c| if fate(c) == Fate::Apostrophe { '\'' } else { c }));
}

/// Returns whether a character is replaced by its compatibility decomposition.
fn has_folded_form(c: char) -> bool {
    matches!(c,
        '\u{132}' | '\u{133}' | '\u{b5}' | '\u{587}' | '\u{fb00}'..='\u{fb06}' | '\u{fb13}'..='\u{fb17}'
        | '\u{fb1d}'..='\u{fdfc}' | '\u{fe70}'..='\u{fefc}' | '\u{ff01}'..='\u{ffee}')
}

fn fate(c: char) -> Fate {
    match c {
        '\u{2018}'
        | '\u{2019}'
        | '\u{201b}'
        | '\u{2b9}'
        | '\u{2bb}'..='\u{2bd}'
        | '\u{b4}'
        | '\u{2032}'
        | '\u{55a}'
        | '\u{a78c}' => Fate::Apostrophe,
        _ if is_unseen(c) => Fate::Dropped,
        // No character of these ranges has another form, joins with one before, or is joined by one that is not
        // outside of them.
        '\0'..='\u{b4}'
        | '\u{b6}'..='\u{131}'
        | '\u{134}'..='\u{2ff}'
        | '\u{388}'..='\u{482}'
        | '\u{48a}'..='\u{52f}'
        | '\u{5d0}'..='\u{5ea}'
        | '\u{620}'..='\u{64a}'
        | '\u{660}'..='\u{66f}'
        | '\u{671}'..='\u{6d5}'
        | '\u{904}'..='\u{927}'
        | '\u{e01}'..='\u{e37}'
        | '\u{e3f}'..='\u{e47}'
        | '\u{e4c}'..='\u{e5b}'
        | '\u{e81}'..='\u{eb7}'
        | '\u{1e00}'..='\u{1e98}'
        | '\u{1ea0}'..='\u{1eff}'
        | '\u{2010}'..='\u{2027}'
        | '\u{2030}'..='\u{203e}'
        | '\u{20a0}'..='\u{20bf}'
        | '\u{2190}'..='\u{2328}'
        | '\u{2400}'..='\u{2a00}'
        | '\u{3000}'..='\u{3029}'
        | '\u{3030}'..='\u{3096}'
        | '\u{309b}'..='\u{30ff}'
        | '\u{3400}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{2f7ff}' => Fate::Stays,
        _ => Fate::Other,
    }
}

/// Returns whether a reader does not see a character: it is default-ignorable, or a mark of Arabic or Hebrew that
/// usual text is written without.
fn is_unseen(c: char) -> bool {
    c >= '\u{ad}' && (is_ignorable(c) || is_vowel_mark(c))
}

/// Returns whether a character has the Unicode property Default_Ignorable_Code_Point.
fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns whether a character is the tatweel, a vowel mark or a mark of recitation of Arabic, or a point or accent of
/// Hebrew. The madda and the hamza, U+0653 to U+0655, are letters.
fn is_vowel_mark(c: char) -> bool {
    matches!(c,
        '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}' | '\u{5c2}' | '\u{5c4}' | '\u{5c5}' | '\u{5c7}'
        | '\u{610}'..='\u{61a}' | '\u{640}' | '\u{64b}'..='\u{652}' | '\u{656}'..='\u{65f}' | '\u{670}'
        | '\u{6d6}'..='\u{6dc}' | '\u{6df}'..='\u{6e4}' | '\u{6e7}' | '\u{6e8}' | '\u{6ea}'..='\u{6ed}'
        | '\u{8d3}'..='\u{8e1}' | '\u{8e3}'..='\u{8ff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_that_look_alike_are_the_same() {
        for (kind, one, other) in [
            ("composed letters", "cafe\u{301} A\u{30a}ngstro\u{308}m \u{212b}", "café Ångström Å"),
            ("two marks in another order", "a\u{323}\u{302} q\u{307}\u{323}", "ậ q\u{323}\u{307}"),
            ("Hangul letters", "\u{1112}\u{1161}\u{11ab}글", "한글"),
            ("soft hyphen", "Silben\u{ad}trennung", "Silbentrennung"),
            ("word joiner, byte order mark", "new\u{2060}line \u{feff}x", "newline x"),
            ("zero width space", "long\u{200b}word", "longword"),
            ("direction marks", "\u{200f}שלום\u{200e} \u{2068}x\u{2069}", "שלום x"),
            ("variation selectors", "❤\u{fe0f} 葛\u{e0100}", "❤ 葛"),
            ("joiners", "می\u{200c}خواهم", "میخواهم"),
            ("apostrophes", "don’t donʼt don´t don＇t", "don't don't don't don't"),
            ("ligatures", "ﬁnd oﬃce ﬂow ĳs", "find office flow ijs"),
            ("Armenian ligatures", "ﬓև", "մնեւ"),
            ("width of Latin", "ＡＢＣ１２３", "ABC123"),
            ("width of kana", "ｶﾞｷﾞﾌﾟ ｱｲｳ", "ガギプ アイウ"),
            ("width of Hangul", "ﾡﾢ", "ᄀᄁ"),
            ("kana and its mark", "か\u{3099}", "が"),
            ("tatweel", "مـــرحبا", "مرحبا"),
            ("vowel marks of Arabic", "مُحَمَّدٌ", "محمد"),
            ("a hamza under a vowel mark", "ا\u{64e}\u{654}", "أ"),
            ("presentation forms of Arabic", "ﻣﺮﺣﺒﺎ ﻻ", "مرحبا لا"),
            ("points of Hebrew", "שָׁלוֹם בְּרֵאשִׁ֖ית", "שלום בראשית"),
            ("presentation forms of Hebrew", "שׁלום ﬡ", "שלום א"),
            ("Devanagari nukta", "\u{958}", "\u{915}\u{93c}"),
            ("micro sign", "µs", "μs"),
            ("accents that are others", "l\u{1ffd}eau \u{374}", "l'eau '"),
        ] {
            assert_eq!(folded(one), folded(other), "{kind}");
            assert_eq!(folded(other), other, "{kind}: the plain form stays");
        }
    }

    #[test]
    fn texts_that_say_something_else_stay_apart() {
        for (kind, one, other) in [
            ("Turkish dotless i", "kısa", "kisa"),
            ("Turkish dotted I", "İ", "I"),
            ("German ß", "Maße", "Masse"),
            ("Vietnamese tones", "má", "mà"),
            ("Vietnamese tones on letters with marks", "bố", "bồ"),
            ("umlauts", "schon", "schön"),
            ("superscripts", "x²", "x2"),
            ("fractions", "1½", "11⁄2"),
            ("hamza", "سأل", "سال"),
            ("Arabic letters", "علي", "على"),
            ("Hebrew letters", "שרה", "שדה"),
            ("kana and its mark", "か", "が"),
            ("small kana", "きよう", "きょう"),
            ("hiragana, katakana", "かな", "カナ"),
            ("Cyrillic, Latin", "сор", "cop"),
            ("й", "мои", "мой"),
            ("Thai tones", "มา", "ม้า"),
            ("Devanagari vowels", "कि", "की"),
            ("circled digits", "①", "1"),
            ("Polish l", "ł", "l"),
            ("letter case", "Polish", "polish"),
        ] {
            assert_ne!(folded(one), folded(other), "{kind}");
        }
    }

    #[test]
    fn usual_text_is_not_copied() {
        for text in [
            "plain",
            "Größe, café",
            "Ελλάδα Россия",
            "搜索引擎、かな",
            "한국어",
            "עברית العربية",
            "ไทย",
            "“quoted” – …",
        ] {
            assert!(matches!(folded(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn characters_that_stay_are_normalized_and_join_with_none_before() {
        for c in (0..=0x10_ffff).filter_map(char::from_u32).filter(|c| fate(*c) == Fate::Stays) {
            for text in [format!("{c}"), format!("a{c}"), format!("가{c}{c}")] {
                assert!(COMPOSED.is_normalized(&text), "U+{:04X}", u32::from(c));
            }
            assert!(!has_folded_form(c), "U+{:04X}", u32::from(c));
        }
    }

    proptest! {
        #[test]
        fn folding_twice_is_folding_once(
            text in "([a-z '’\u{301}\u{323}\u{ad}\u{200d}\u{3099}カｶﾞé\u{5b7}שׁا\u{654}\u{64e}ﻻﬁ한\u{1161}\u{11ab}क़]{0,6}|\\PC{0,6}){0,4}"
        ) {
            let once = folded(&text);
            prop_assert_eq!(folded(&once), once.as_ref());
            prop_assert!(COMPOSED.is_normalized(&once));
        }
    }
}
