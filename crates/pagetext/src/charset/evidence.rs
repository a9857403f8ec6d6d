//! Can these bytes be text in that encoding?
//!
//! Labels lie: a server says UTF-8 of every file, an editor keeps the `meta` of a template. What the bytes show decides
//! against the label only where it is plain: malformed sequences outnumber sound ones, or a text in another encoding
//! would hardly ever look like this.

use std::borrow::Cow;

use encoding_rs::{Encoding, ISO_2022_JP, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use memchr::{memchr, memchr_iter};

/// Bytes that are searched for the zero bytes of UTF-16.
const ZEROS_IN: usize = 4096;
/// Characters beyond ASCII that must be sound UTF-8 before a label of a multi-byte encoding is overruled.
///
/// Two or three characters of GBK may happen to be UTF-8, so many in a row do not.
const SURE: usize = 8;
/// High bytes of a text that show which of them stand alone.
const ENOUGH_HIGH: usize = 16;

/// Returns the text if the bytes can be text in this encoding.
pub(super) fn fitting<'a>(encoding: &'static Encoding, bytes: &'a [u8]) -> Option<Cow<'a, str>> {
    if encoding == UTF_8 {
        return utf_8(bytes);
    }
    // The encoding that replaces unsafe ones makes every text empty.
    let is_refuted = encoding == REPLACEMENT
        || if is_utf_16(encoding) { is_text_of_bytes(bytes) } else { is_utf_8_mislabeled(encoding, bytes) }
        || (encoding == WINDOWS_1252 && has_runs_of_high_bytes(bytes));
    if is_refuted {
        return None;
    }
    let (text, had_errors) = encoding.decode_without_bom_handling(bytes);
    (!had_errors || is_mostly_sound(&text)).then_some(text)
}

/// Returns the text if the bytes are UTF-8, apart from damage.
pub(super) fn utf_8(bytes: &[u8]) -> Option<Cow<'_, str>> {
    match std::str::from_utf8(bytes) {
        Ok(text) => return Some(Cow::Borrowed(text)),
        // A character that is cut at the end is no evidence.
        Err(error) if error.error_len().is_none() => {}
        Err(_) => {
            let (mut sound, mut malformed) = (0_usize, 0_usize);
            for chunk in bytes.utf8_chunks() {
                sound += beyond_ascii(chunk.valid());
                malformed += usize::from(!chunk.invalid().is_empty());
            }
            // Zero bytes are damage in every encoding of bytes.
            if malformed > sound && memchr(0, bytes).is_none() {
                return None;
            }
        }
    }
    Some(UTF_8.decode_without_bom_handling(bytes).0)
}

/// Returns the byte order of UTF-16 without a mark: every other byte of markup is zero.
pub(super) fn utf_16(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(ZEROS_IN)];
    memchr(0, head)?;
    if is_sound_utf_8(head) {
        return None;
    }
    let odd = memchr_iter(0, head).filter(|at| at % 2 == 1).count();
    let even = memchr_iter(0, head).count() - odd;
    // A quarter of the units: text in another script has spaces and markup between.
    let is_plain = |zeros: usize, others: usize| zeros * 8 >= head.len() && zeros >= 2 && others * 8 <= zeros;
    match () {
        () if is_plain(odd, even) => Some(UTF_16LE),
        () if is_plain(even, odd) => Some(UTF_16BE),
        () => None,
    }
}

/// Returns whether these bytes, but for a character cut at the end, are UTF-8 with characters beyond ASCII. Two bytes of
/// UTF-16 are no such character but by chance, and then others are malformed.
fn is_sound_utf_8(bytes: &[u8]) -> bool {
    let sound = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    !sound.is_ascii()
}

fn is_utf_16(encoding: &'static Encoding) -> bool {
    encoding == UTF_16LE || encoding == UTF_16BE
}

/// Returns whether these are characters of one byte or of UTF-8, and no UTF-16.
fn is_text_of_bytes(bytes: &[u8]) -> bool {
    !bytes.is_empty() && memchr(0, bytes).is_none() && std::str::from_utf8(bytes).is_ok()
}

/// Returns whether these bytes are UTF-8 and hardly what the label says.
fn is_utf_8_mislabeled(encoding: &'static Encoding, bytes: &[u8]) -> bool {
    if encoding == ISO_2022_JP || bytes.is_ascii() {
        return false;
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    // In Thai of one byte a character, letters follow each other as the bytes of UTF-8 do.
    let is_sure_at_once = encoding.is_single_byte() && encoding != encoding_rs::WINDOWS_874;
    beyond_ascii(text) >= if is_sure_at_once { 1 } else { SURE }
}

/// Returns whether most high bytes stand beside another.
///
/// In the languages that are written in windows-1252 hardly any does: the letters around an accent are ASCII.
fn has_runs_of_high_bytes(bytes: &[u8]) -> bool {
    let is_high = |at: usize| bytes.get(at).is_some_and(|byte| *byte >= 0x80);
    let mut high = 0_usize;
    let mut beside = 0_usize;
    for at in (0..bytes.len()).filter(|at| is_high(*at)) {
        high += 1;
        beside += usize::from(is_high(at + 1) || (at > 0 && is_high(at - 1)));
    }
    high >= ENOUGH_HIGH && beside * 4 >= high * 3
}

/// Returns whether replaced characters are no more than other characters beyond ASCII.
fn is_mostly_sound(text: &str) -> bool {
    let replaced = text.trim_end_matches('\u{fffd}').matches('\u{fffd}').count();
    replaced * 2 <= beyond_ascii(text)
}

fn beyond_ascii(text: &str) -> usize {
    if text.is_ascii() { 0 } else { text.chars().filter(|c| !c.is_ascii()).count() }
}

#[cfg(test)]
mod tests {
    use encoding_rs::{BIG5, EUC_KR, GBK, KOI8_R, SHIFT_JIS, WINDOWS_1251};

    use super::*;

    fn encoded(encoding: &'static Encoding, text: &str) -> Vec<u8> {
        let (bytes, _, had_errors) = encoding.encode(text);
        assert!(!had_errors, "{text}");
        bytes.into_owned()
    }

    fn utf_16le(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    const TEXTS: [(&Encoding, &str); 7] = [
        (GBK, "网页去重是搜索引擎的一项基本工作,每天都有新的文章。"),
        (BIG5, "網頁去重是搜尋引擎的一項基本工作,每天都有新的文章。"),
        (SHIFT_JIS, "検索エンジンは毎日新しいページを読みます。"),
        (EUC_KR, "검색 엔진은 매일 새로운 문서를 읽습니다."),
        (WINDOWS_1251, "Это обычный русский текст о погоде."),
        (KOI8_R, "Это обычный русский текст о погоде."),
        (WINDOWS_1252, "Le café était fermé, la fenêtre aussi."),
    ];

    #[test]
    fn what_is_not_utf_8_does_not_pass_for_it() {
        for (encoding, text) in TEXTS {
            assert_eq!(utf_8(&encoded(encoding, text)), None, "{}", encoding.name());
            assert_eq!(utf_8(text.as_bytes()).as_deref(), Some(text));
        }
    }

    #[test]
    fn damage_and_a_cut_end_do_not_refute_utf_8() {
        let mut bytes = "Größe und Übermaß: ".as_bytes().to_vec();
        bytes.extend_from_slice(b"\xe9t\xe9");
        assert_eq!(utf_8(&bytes).as_deref(), Some("Größe und Übermaß: \u{fffd}t\u{fffd}"));
        assert_eq!(utf_8(&"plain €".as_bytes()[..8]).as_deref(), Some("plain \u{fffd}"));
    }

    #[test]
    fn each_text_fits_its_own_encoding_and_utf_8_fits_no_other() {
        for (encoding, text) in TEXTS {
            assert_eq!(fitting(encoding, &encoded(encoding, text)).as_deref(), Some(text), "{}", encoding.name());
            assert_eq!(fitting(encoding, text.as_bytes()), None, "{}", encoding.name());
        }
        assert_eq!(fitting(REPLACEMENT, b"plain"), None);
    }

    #[test]
    fn text_of_another_script_is_not_taken_for_latin() {
        for (encoding, text) in &TEXTS[..6] {
            assert_eq!(fitting(WINDOWS_1252, &encoded(encoding, text)), None, "{}", encoding.name());
        }
        let short = encoded(WINDOWS_1252, "«Où?» «Là-bas…»");
        assert!(fitting(WINDOWS_1252, &short).is_some(), "quotes beside accents, and too few to tell");
    }

    #[test]
    fn utf_16_is_known_by_its_zeros_whatever_is_said() {
        let html = utf_16le("<html><title>Über</title><p>Text</html>");
        assert_eq!(utf_16(&html), Some(UTF_16LE));
        let swapped: Vec<u8> = html.chunks(2).flat_map(|unit| [unit[1], unit[0]]).collect();
        assert_eq!(utf_16(&swapped), Some(UTF_16BE));
        assert_eq!(utf_16(&utf_16le("<p>Это обычный русский текст</p> <p>и другой</p>")), Some(UTF_16LE));
        for bytes in [&b"plain"[..], b"", b"\0", b"a\0b c d e f g", &[0; 64]] {
            assert_eq!(utf_16(bytes), None, "{bytes:?}");
        }
        assert_eq!(utf_16("㸫\0栀\0⤀\0需\0".as_bytes()), None, "UTF-8 with a zero behind each character");
        assert_eq!(fitting(UTF_16LE, b"<p>plain text"), None);
        assert!(fitting(UTF_16LE, b"").is_some());
    }
}
