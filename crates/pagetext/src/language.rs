//! Which language is a page written in?

use std::borrow::Cow;

use whichlang::Lang;

use neardup::text::is_unspaced;

/// Bytes of each sample that the detector reads. The head of a page alone is navigation, whose few words are often
/// taken for another language.
const PIECE_BYTES: usize = 64;
/// Letters needed for each sample.
const LETTERS_A_PIECE: usize = 8;
/// Samples for [`detect_main`], which reads once what [`detect`] reads on every page.
const MAIN_PIECES: usize = 32;
/// A language that is less certain is unknown.
const LEAST_CONFIDENCE: f64 = 0.1;

/// A language that was detected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DetectedLanguage {
    /// A primary subtag of BCP 47.
    pub code: &'static str,
    /// From 0 to 1: how much better it fits than the next one.
    pub confidence: f64,
}

/// Returns the primary subtag (BCP 47) of a `lang` attribute, in lower case.
pub(super) fn primary_subtag(tag: &str) -> Option<String> {
    let primary = tag.trim().split(['-', '_', ',', ' ']).next()?.to_ascii_lowercase();
    let is_subtag = (2..=3).contains(&primary.len()) && primary.bytes().all(|b| b.is_ascii_lowercase());
    is_subtag.then_some(primary)
}

/// Detects the language of a text by its script and its letters; `None` below `least` letters.
///
/// A fast detector, which knows 16 languages and cannot say "none of them", finds the English pages. What it takes for
/// another language is read by the one of [`detect_main`].
pub(super) fn detect(text: &str, least: usize) -> Option<&'static str> {
    let sample = &*sample(text, least.div_ceil(LETTERS_A_PIECE).max(2));
    let scripts = Scripts::of(sample);
    if scripts.all < least {
        return None;
    }
    match scripts.language() {
        Some(language) => Some(language.code),
        None => {
            let words = natural_words(sample);
            // Latin, Cyrillic, Arabic, Devanagari: the scripts that the fast detector was made for.
            let is_known = scripts.known * 2 > scripts.all;
            if is_known && whichlang::detect_language(&words) == Lang::Eng {
                return Some("en");
            }
            by_letters(&words).map(|language| language.code)
        }
    }
}

/// Detects the language of a main text, with its confidence; `None` below `least` letters.
///
/// The detector knows 70 languages. It takes some 0.3 ms.
pub(super) fn detect_main(text: &str, least: usize) -> Option<DetectedLanguage> {
    let sample = &*sample(text, MAIN_PIECES);
    let scripts = Scripts::of(sample);
    if scripts.all < least {
        return None;
    }
    scripts.language().or_else(|| by_letters(&natural_words(sample)))
}

/// Detects the language of words by the frequency of their letters; `None` if none fits clearly better.
fn by_letters(words: &str) -> Option<DetectedLanguage> {
    let found = whatlang::detect(words)?;
    let language = DetectedLanguage { code: two_letters(found.lang().code())?, confidence: found.confidence() };
    (language.confidence >= LEAST_CONFIDENCE).then_some(language)
}

/// The letters of a text by script.
#[derive(Debug, Default)]
struct Scripts {
    all: usize,
    kana: usize,
    hangul: usize,
    han: usize,
    known: usize,
}

impl Scripts {
    fn of(text: &str) -> Self {
        let ascii = text.bytes().filter(u8::is_ascii_alphabetic).count();
        let mut scripts = Self { all: ascii, known: ascii, ..Self::default() };
        for letter in text.chars().filter(|c| !c.is_ascii() && c.is_alphabetic()) {
            scripts.all += 1;
            match letter {
                '\u{3040}'..='\u{30ff}' => scripts.kana += 1,
                '\u{ac00}'..='\u{d7a3}' | '\u{1100}'..='\u{11ff}' => scripts.hangul += 1,
                c if is_unspaced(c) => scripts.han += 1,
                '\0'..='\u{24f}'
                | '\u{400}'..='\u{52f}'
                | '\u{600}'..='\u{6ff}'
                | '\u{900}'..='\u{97f}'
                | '\u{1e00}'..='\u{1eff}' => scripts.known += 1,
                _ => {}
            }
        }
        scripts
    }

    /// Returns the language that the script tells alone; its confidence is the share of its letters.
    fn language(&self) -> Option<DetectedLanguage> {
        let found =
            |code, letters: usize| Some(DetectedLanguage { code, confidence: letters as f64 / self.all as f64 });
        if self.kana * 10 > self.all {
            found("ja", self.kana + self.han)
        } else if self.hangul * 4 > self.all {
            found("ko", self.hangul)
        } else if self.han * 4 > self.all {
            found("zh", self.han)
        } else {
            None
        }
    }
}

/// Returns the words of a text that are made of letters: names of code, paths and numbers belong to no language. If these
/// are few, all words.
fn natural_words(text: &str) -> Cow<'_, str> {
    let is_natural = |word: &&str| {
        let mut letters = word.chars();
        letters.next().is_some_and(char::is_alphabetic)
            && letters.all(|c| (c.is_alphabetic() && !c.is_uppercase()) || matches!(c, '\'' | '’' | '-'))
    };
    let words = text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let words = words.filter(is_natural).collect::<Vec<_>>().join(" ");
    if words.len() * 8 < text.len() { Cow::Borrowed(text) } else { Cow::Owned(words) }
}

/// Returns this many samples of the text, at least two, evenly spread; all of a short text.
fn sample(text: &str, pieces: usize) -> Cow<'_, str> {
    if text.len() <= pieces * PIECE_BYTES {
        return Cow::Borrowed(text);
    }
    let mut sample = String::with_capacity(pieces * (PIECE_BYTES + 1));
    for piece in 0..pieces {
        let start = (text.len() - PIECE_BYTES) * piece / (pieces - 1);
        sample.push_str(&text[boundary(text, start)..boundary(text, start + PIECE_BYTES)]);
        sample.push(' ');
    }
    Cow::Owned(sample)
}

/// Returns the end of the character before this position, or the position itself.
fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Codes of ISO 639-3 and 639-1, of the languages that the detector of main texts knows.
const CODES: &str = "\
    afr=af aka=ak amh=am ara=ar aze=az bel=be ben=bn bul=bg cat=ca ces=cs cmn=zh cym=cy dan=da deu=de ell=el eng=en \
    epo=eo est=et fin=fi fra=fr guj=gu heb=he hin=hi hrv=hr hun=hu hye=hy ind=id ita=it jav=jv jpn=ja kan=kn kat=ka \
    khm=km kor=ko lat=la lav=lv lit=lt mal=ml mar=mr mkd=mk mya=my nep=ne nld=nl nob=nb ori=or pan=pa pes=fa pol=pl \
    por=pt ron=ro rus=ru sin=si slk=sk slv=sl sna=sn spa=es srp=sr swe=sv tam=ta tel=te tgl=tl tha=th tuk=tk tur=tr \
    ukr=uk urd=ur uzb=uz vie=vi yid=yi zul=zu zho=zh";

fn two_letters(code: &str) -> Option<&'static str> {
    CODES.split(' ').find_map(|codes| codes.strip_prefix(code)?.strip_prefix('='))
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
    fn a_text_is_judged_by_all_of_it_and_not_by_its_head() {
        let german = "Die Suchmaschine liest jede Seite nur einmal und merkt sich, was sie gesehen hat. ".repeat(100);
        let text = format!("{}{german}", "Documentation navigation index module section page. ".repeat(40));
        assert_eq!(detect(&text, 200), Some("de"));
    }

    #[test]
    fn long_texts_are_recognised_and_short_ones_are_not_guessed() {
        let german =
            "Die Suchmaschine liest jede Seite nur einmal und merkt sich, was sie schon gesehen hat. ".repeat(4);
        assert_eq!(detect(&german, 200), Some("de"));
        assert_eq!(detect(&german[..60], 200), None);
        assert_eq!(detect(&"これは日本語の文章です。検索エンジンについて説明します。".repeat(10), 200), Some("ja"));
        assert_eq!(detect(&"Αυτό είναι ένα ελληνικό κείμενο για τον ιστό. ".repeat(10), 200), Some("el"));
    }

    #[test]
    fn code_names_and_paths_tell_nothing_of_the_language() {
        let english =
            "The function returns the position of the first byte that is not a letter, or the length. ".repeat(3);
        let names =
            "int_fast8_t ptrdiff_t std::vector<T>::size_type /usr/lib/libc.so.6 getInstance() FOO_BAR 0x7f ".repeat(20);
        let text = format!("{names}{english}{names}{english}");
        assert_eq!(detect(&text, 200), Some("en"));
        let found = detect_main(&text, 200).unwrap();
        assert!(found.code == "en" && found.confidence > 0.5, "{found:?}");
    }

    #[test]
    fn main_texts_are_of_more_languages() {
        let found = |text: &str| detect_main(&text.repeat(20), 200).map(|found| found.code);
        assert_eq!(found("Αυτό είναι ένα ελληνικό κείμενο για τον ιστό. "), Some("el"));
        assert_eq!(found("Tato stránka popisuje, jak se program používá a co dělá. "), Some("cs"));
        assert_eq!(found("これは日本語の文章です。検索エンジンについて説明します。"), Some("ja"));
        assert_eq!(found("这一页讲的是搜索引擎如何工作。"), Some("zh"));
        assert_eq!(detect_main("A short one", 200), None);
        assert!(whatlang::Lang::all().iter().all(|lang| two_letters(lang.code()).is_some()));
    }
}
