//! Fits text into columns of a terminal.

use console::measure_text_width;

const ELLIPSIS: char = '…';

/// Returns the columns that a text takes.
pub fn width(text: &str) -> usize {
    measure_text_width(text)
}

/// Returns the text, shortened to `most` columns with an ellipsis at its end. No number is cut: one that does not fit as
/// a whole is left out.
pub fn shortened(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    format!("{}{ELLIPSIS}", without_cut_number(text, head(text, most.saturating_sub(1))))
}

/// Returns the text, shortened to `most` columns with an ellipsis in its middle. No number is cut: one that does not fit
/// as a whole is left out.
pub fn shortened_in_middle(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let rest = most.saturating_sub(1);
    let (first, last) = (head(text, rest - rest / 2), tail(text, rest / 2));
    let is_cut = last.starts_with(is_digit) && text[..text.len() - last.len()].ends_with(is_digit);
    let last = if is_cut { last.trim_start_matches(is_digit) } else { last };
    format!("{}{ELLIPSIS}{last}", without_cut_number(text, first))
}

fn is_digit(character: char) -> bool {
    character.is_ascii_digit()
}

/// Returns the beginning of a text without the number that it cuts, if it cuts one.
fn without_cut_number<'a>(text: &str, beginning: &'a str) -> &'a str {
    let is_cut = beginning.ends_with(is_digit) && text[beginning.len()..].starts_with(is_digit);
    if is_cut { beginning.trim_end_matches(is_digit) } else { beginning }
}

/// Returns the longest beginning of at most `most` columns.
fn head(text: &str, most: usize) -> &str {
    let ends = text.char_indices().map(|(at, character)| at + character.len_utf8());
    let end = ends.take_while(|end| width(&text[..*end]) <= most).last();
    &text[..end.unwrap_or(0)]
}

/// Returns the longest end of at most `most` columns.
fn tail(text: &str, most: usize) -> &str {
    let starts = text.char_indices().rev().map(|(at, _)| at);
    let start = starts.take_while(|start| width(&text[*start..]) <= most).last();
    &text[start.unwrap_or(text.len())..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_is_as_long_as_allowed() {
        assert_eq!(shortened("abcdef", 4), "abc…");
        assert_eq!(shortened("abcd", 4), "abcd");
        assert_eq!(shortened("世界世界", 4), "世…");
        assert_eq!(shortened("ab", 0), "…");
    }

    #[test]
    fn a_url_keeps_its_host_and_its_end() {
        let url = "https://a.example/one/two/three/four/page.html";
        assert_eq!(shortened_in_middle(url, 30), "https://a.examp…four/page.html");
        assert_eq!(shortened_in_middle(url, 80), url);
        assert_eq!(shortened_in_middle("世界世界世界", 7), "世…界");
    }

    #[test]
    fn no_number_is_cut() {
        let url = "https://a.example/2026/1234567890/and/9876543210";
        for most in 0..60 {
            for text in [shortened_in_middle(url, most), shortened(url, most)] {
                assert!(width(&text) <= most.max(1), "{most}: {text}");
                let mut numbers = text.split(|c: char| !is_digit(c)).filter(|number| !number.is_empty());
                assert!(numbers.all(|number| ["2026", "1234567890", "9876543210"].contains(&number)), "{most}: {text}");
            }
        }
    }
}
