//! Folds white space to single spaces, while copying.

/// Copied.
const OTHER: u8 = 0;
/// U+0020: copied if no space is before it.
const SPACE: u8 = 1;
/// White space that becomes a space, or the first byte of a character that may be such.
const ODD: u8 = 2;

/// The class of each byte.
static MEANINGS: [u8; 256] = {
    let mut meanings = [OTHER; 256];
    meanings[b' ' as usize] = SPACE;
    let mut at = b'\t';
    while at <= b'\r' {
        meanings[at as usize] = ODD;
        at += 1;
    }
    // U+0085 and U+00A0, U+1680, U+2000 and the like, U+3000.
    meanings[0xc2] = ODD;
    meanings[0xe1] = ODD;
    meanings[0xe2] = ODD;
    meanings[0xe3] = ODD;
    meanings
};

/// Returns whether the text is empty or ends in a space, so that another space would be superfluous.
#[inline]
pub fn ends_in_space(folded: &str) -> bool {
    folded.as_bytes().last().is_none_or(|last| *last == b' ')
}

/// Appends a text, without adjacent spaces or a space at the start.
#[inline]
pub fn fold_into(folded: &mut String, text: &str) {
    let bytes = text.as_bytes();
    // The class of the character before, kept so that there is no branch for each word.
    let mut before = if ends_in_space(folded) { SPACE } else { OTHER };
    // The start of what is not copied yet: a range with single spaces only.
    let mut start = 0;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let meaning = MEANINGS[usize::from(byte)];
        if meaning + before < ODD {
            before = meaning;
            at += 1;
            continue;
        }
        let width = match text[at..].chars().next() {
            Some(c) if c.is_whitespace() => c.len_utf8(),
            _ => {
                before = OTHER;
                at += 1;
                continue;
            }
        };
        folded.push_str(&text[start..at]);
        if before == OTHER {
            folded.push(' ');
            before = SPACE;
        }
        at += width;
        start = at;
    }
    folded.push_str(&text[start..]);
}

/// Returns the text with white space folded, at most `most` characters.
pub fn folded(text: &str, most: usize) -> String {
    let mut folded = String::new();
    fold_into(&mut folded, text);
    folded.truncate(folded.trim_end_matches(' ').len());
    match folded.char_indices().nth(most) {
        Some((end, _)) => folded[..end].to_owned(),
        None => folded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_white_space_is_folded() {
        let text = "\u{a0}a\x0b b\u{2028}\u{3000}c\u{85} \x1cd \n";
        assert_eq!(folded(text, 100), text.split_whitespace().collect::<Vec<_>>().join(" "));
        assert_eq!(folded("abc d", 4), "abc ");
        for c in (0..=0x10_ffff).filter_map(char::from_u32) {
            let text = format!("a {c}{c}b{c}");
            assert_eq!(folded(&text, 9), text.split_whitespace().collect::<Vec<_>>().join(" "), "{c:?}");
        }
    }
}
