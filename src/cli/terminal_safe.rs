//! Escapes text of foreign origin before it reaches a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Escapes every control character, including bidirectional overrides.
///
/// Text of a page can then neither move the cursor, change colors nor forge a line.
pub fn terminal_safe(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_unsafe(character) {
            // Writing to a String cannot fail.
            let _ = write!(safe, "{}", character.escape_default());
        } else {
            safe.push(character);
        }
    }
    Cow::Owned(safe)
}

fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_of_a_page_do_not_reach_the_terminal() {
        assert_eq!(terminal_safe("\u{1b}[31mred\r\n\u{9b}x\u{202e}"), r"\u{1b}[31mred\r\n\u{9b}x\u{202e}");
        assert_eq!(terminal_safe("Grüße, 世界"), "Grüße, 世界");
    }
}
