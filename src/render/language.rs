//! In which language is a page written?

use whichlang::Lang;

use super::tokens::is_unspaced;

/// How many octets the detector reads. With a quarter of that it takes one page in ten for another
/// language, by what stands in the navigation at its head.
const SAMPLE_BYTES: usize = 8 * 1024;

/// The primary subtag (BCP 47) of a `lang` attribute, in lower case.
pub(super) fn primary_subtag(tag: &str) -> Option<String> {
    let primary = tag.trim().split(['-', '_', ',', ' ']).next()?.to_ascii_lowercase();
    let is_subtag = (2..=3).contains(&primary.len()) && primary.bytes().all(|b| b.is_ascii_lowercase());
    is_subtag.then_some(primary)
}

/// The language of a text by its script and its letters. Below `least` letters nothing is said:
/// the detector knows 16 languages and has no word for "none of them".
pub(super) fn detect(text: &str, least: usize) -> Option<&'static str> {
    let mut end = text.len().min(SAMPLE_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let sample = &text[..end];
    let ascii = sample.bytes().filter(u8::is_ascii_alphabetic).count();
    let letters = sample.chars().filter(|c| !c.is_ascii() && c.is_alphabetic());
    let (mut all, mut kana, mut hangul, mut han, mut known) = (ascii, 0, 0, 0, ascii);
    for letter in letters {
        all += 1;
        match letter {
            '\u{3040}'..='\u{30ff}' => kana += 1,
            '\u{ac00}'..='\u{d7a3}' | '\u{1100}'..='\u{11ff}' => hangul += 1,
            c if is_unspaced(c) => han += 1,
            // Latin, Cyrillic, Arabic, Devanagari: what the detector was made for.
            '\0'..='\u{24f}'
            | '\u{400}'..='\u{52f}'
            | '\u{600}'..='\u{6ff}'
            | '\u{900}'..='\u{97f}'
            | '\u{1e00}'..='\u{1eff}' => {
                known += 1;
            }
            _ => {}
        }
    }
    if all < least {
        return None;
    }
    if kana * 10 > all {
        return Some("ja");
    }
    if hangul * 4 > all {
        return Some("ko");
    }
    if han * 4 > all {
        return Some("zh");
    }
    (known * 2 > all).then(|| subtag(whichlang::detect_language(sample)))
}

fn subtag(language: Lang) -> &'static str {
    match language {
        Lang::Ara => "ar",
        Lang::Cmn => "zh",
        Lang::Deu => "de",
        Lang::Eng => "en",
        Lang::Fra => "fr",
        Lang::Hin => "hi",
        Lang::Ita => "it",
        Lang::Jpn => "ja",
        Lang::Kor => "ko",
        Lang::Nld => "nl",
        Lang::Por => "pt",
        Lang::Rus => "ru",
        Lang::Spa => "es",
        Lang::Swe => "sv",
        Lang::Tur => "tr",
        Lang::Vie => "vi",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_primary_subtag_is_taken_and_nonsense_is_not() {
        assert_eq!(primary_subtag(" en-GB ").as_deref(), Some("en"));
        assert_eq!(primary_subtag("zh_CN").as_deref(), Some("zh"));
        assert_eq!(primary_subtag("{{lang}}"), None);
        assert_eq!(primary_subtag(""), None);
    }

    #[test]
    fn long_texts_are_recognised_and_short_ones_are_not_guessed() {
        let german =
            "Die Suchmaschine liest jede Seite nur einmal und merkt sich, was sie schon gesehen hat. ".repeat(4);
        assert_eq!(detect(&german, 200), Some("de"));
        assert_eq!(detect(&german[..60], 200), None);
        assert_eq!(detect(&"これは日本語の文章です。検索エンジンについて説明します。".repeat(10), 200), Some("ja"));
        assert_eq!(detect(&"Αυτό είναι ένα ελληνικό κείμενο για τον ιστό. ".repeat(10), 200), None);
    }
}
