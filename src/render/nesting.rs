//! How deep are elements nested?
//!
//! Building a tree takes time that grows with the square of the nesting depth, so that 80 KB of
//! `<div>` cost seconds. This linear scan estimates the depth before the tree is built.

/// Elements that never have content.
const VOID: [&[u8]; 16] = [
    b"area", b"base", b"br", b"col", b"embed", b"frame", b"hr", b"img", b"input", b"link", b"meta", b"param",
    b"source", b"track", b"wbr", b"keygen",
];
/// Elements whose end tag is often left out; the next one of their kind ends them.
const IMPLIED: [&[u8]; 18] = [
    b"p",
    b"li",
    b"dt",
    b"dd",
    b"tr",
    b"td",
    b"th",
    b"option",
    b"optgroup",
    b"thead",
    b"tbody",
    b"tfoot",
    b"colgroup",
    b"rp",
    b"rt",
    b"html",
    b"head",
    b"body",
];
/// Elements whose content is text.
const RAW: [&[u8]; 7] = [b"script", b"style", b"textarea", b"title", b"xmp", b"iframe", b"noscript"];

/// Whether elements are nested deeper than `most`. Elements whose end tag may be left out do not
/// count, so that flat but sloppy pages pass: they nest only inside elements that do count.
pub(super) fn is_deeper_than(html: &str, most: usize) -> bool {
    let bytes = html.as_bytes();
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(next) = bytes[at..].iter().position(|&b| b == b'<') {
        at += next + 1;
        let closes = bytes.get(at) == Some(&b'/');
        let start = at + usize::from(closes);
        let length = bytes[start..].iter().position(|b| !b.is_ascii_alphanumeric()).unwrap_or(bytes.len() - start);
        if length == 0 || !bytes[start].is_ascii_alphabetic() {
            continue;
        }
        let name = &bytes[start..start + length];
        at = start + length;
        let is = |names: &[&[u8]]| names.iter().any(|known| name.eq_ignore_ascii_case(known));
        if is(&VOID) || is(&IMPLIED) {
            continue;
        }
        if closes {
            depth = depth.saturating_sub(1);
            continue;
        }
        if is(&RAW) {
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

/// The position of the end tag that closes the raw text, or the end.
fn end_of_raw_text(bytes: &[u8], mut at: usize, name: &[u8]) -> usize {
    while let Some(next) = bytes[at..].iter().position(|&b| b == b'<') {
        at += next;
        let end = bytes.get(at + 1) == Some(&b'/');
        if end && bytes.get(at + 2..at + 2 + name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name)) {
            // Beyond the name, so that this end tag closes nothing else.
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
    }

    #[test]
    fn nested_pages_are_caught() {
        assert!(is_deeper_than(&"<div>".repeat(600), 512));
        assert!(is_deeper_than(&"<ul><li>".repeat(600), 512));
        assert!(is_deeper_than(&"<b><p>".repeat(600), 512));
        assert!(!is_deeper_than(&"<div>".repeat(500), 512));
    }
}
