//! How deep are elements nested?
//!
//! Building a tree takes time quadratic in the nesting depth: 80 KB of `<div>` cost seconds. This linear scan estimates
//! the depth before the tree is built.

use memchr::memchr;

use super::names::{BREAKS_OUT, Name, SHALLOW};

/// Elements whose content is text.
const RAW: [Name; 7] =
    [Name::Script, Name::Style, Name::TextArea, Name::Title, Name::Xmp, Name::Iframe, Name::NoScript];

/// Returns whether elements are nested deeper than `most`.
///
/// Elements with an implied end tag do not count, so that flat but sloppy pages pass: they nest only inside elements
/// that do count. Nor do the shapes of a drawing, which are closed where they are opened.
pub(super) fn is_deeper_than(html: &str, most: usize) -> bool {
    let bytes = html.as_bytes();
    let mut depth = 0_usize;
    let mut foreign = false;
    let mut at = 0;
    while let Some(next) = memchr(b'<', &bytes[at..]) {
        at += next + 1;
        let closes = bytes.get(at) == Some(&b'/');
        let start = at + usize::from(closes);
        let length = bytes[start..].iter().position(|b| !b.is_ascii_alphanumeric()).unwrap_or(bytes.len() - start);
        if length == 0 || !bytes[start].is_ascii_alphabetic() {
            continue;
        }
        let name = &bytes[start..start + length];
        at = start + length;
        let known = Name::of(name);
        foreign = match known {
            Name::Svg | Name::Math => !closes,
            Name::ForeignObject | Name::Desc | Name::Title => false,
            _ => foreign && !known.is(BREAKS_OUT),
        };
        if known.is(SHALLOW) || (foreign && is_self_closing(&bytes[at..])) {
            continue;
        }
        if closes {
            depth = depth.saturating_sub(1);
            continue;
        }
        if RAW.contains(&known) {
            at = end_of_raw_text(bytes, at, name);
            continue;
        }
        depth += 1;
        if depth > most {
            return true;
        }
    }
    false
}

/// Returns whether a tag ends in a slash; `rest` begins behind its name.
///
/// Quotes are ignored: shapes with a ">" in quotes count as open.
fn is_self_closing(rest: &[u8]) -> bool {
    memchr(b'>', rest).is_some_and(|end| rest[..end].ends_with(b"/"))
}

/// Returns the position of the end tag that closes the raw text, or the end.
fn end_of_raw_text(bytes: &[u8], mut at: usize, name: &[u8]) -> usize {
    while let Some(next) = memchr(b'<', &bytes[at..]) {
        at += next;
        let end = bytes.get(at + 1) == Some(&b'/');
        if end && bytes.get(at + 2..at + 2 + name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name)) {
            // Behind the name, so that this end tag closes nothing else.
            return at + 2 + name.len();
        }
        at += 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_pages_pass_however_sloppy_they_are() {
        let flat = "<p>one<li>two<td>three<br><img src=x>".repeat(10_000);
        assert!(!is_deeper_than(&flat, 512));
        let closed = "<div><span>x</span></div>".repeat(10_000);
        assert!(!is_deeper_than(&closed, 512));
        let script = format!("<script>{}</script>", "if (a<b) document.write('<div>');".repeat(10_000));
        assert!(!is_deeper_than(&script, 512));
        let drawing = format!("<svg>{}</svg>", "<path d='M0 0'/>".repeat(10_000));
        assert!(!is_deeper_than(&drawing, 512));
    }

    #[test]
    fn nested_pages_are_caught() {
        assert!(is_deeper_than(&"<div>".repeat(600), 512));
        assert!(is_deeper_than(&"<ul><li>".repeat(600), 512));
        assert!(is_deeper_than(&"<b><p>".repeat(600), 512));
        assert!(!is_deeper_than(&"<div>".repeat(500), 512));
        for html in ["<foo/>", "<svg><foreignObject><foo/>", "<svg><div><foo/>"] {
            let html = html.replace("<foo/>", &"<foo/>".repeat(600));
            assert!(is_deeper_than(&html, 512), "{}", &html[..30]);
        }
    }
}
