//! The end of comments, CDATA sections and the like.

use memchr::{memchr, memmem};

/// Returns the end of the comment whose text begins at `start`: behind `-->` or `--!>`, or at once behind
/// `<!-->` and `<!--->`. A comment without an end takes the rest.
pub(super) fn end(html: &str, start: usize) -> usize {
    let rest = &html.as_bytes()[start..];
    if rest.starts_with(b">") {
        return start + 1;
    }
    if rest.starts_with(b"->") {
        return start + 2;
    }
    let mut at = 0;
    while let Some(found) = memchr(b'>', &rest[at..]) {
        let before = &rest[..at + found];
        at += found + 1;
        if before.ends_with(b"--") || before.ends_with(b"--!") {
            return start + at;
        }
    }
    html.len()
}

/// Returns the position behind the next ">", or the end.
pub(super) fn bogus_end(html: &str, start: usize) -> usize {
    memchr(b'>', &html.as_bytes()[start..]).map_or(html.len(), |found| start + found + 1)
}

/// Returns the end of the text of a CDATA section, and of the section.
pub(super) fn cdata_end(html: &str, start: usize) -> (usize, usize) {
    match memmem::find(&html.as_bytes()[start..], b"]]>") {
        Some(found) => (start + found, start + found + 3),
        None => (html.len(), html.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_end_in_all_their_ways() {
        for (html, rest) in [
            ("<!-->x", "x"),
            ("<!--->x", "x"),
            ("<!---->x", "x"),
            ("<!----!>x", "x"),
            ("<!---!>x-->y", "y"),
            ("<!-- > -- > --x>y-->z", "z"),
            ("<!--a--!-->x", "x"),
            ("<!-- <!-- -->x-->", "x-->"),
            ("<!-- never", ""),
        ] {
            assert_eq!(&html[end(html, 4)..], rest, "{html}");
        }
    }
}
