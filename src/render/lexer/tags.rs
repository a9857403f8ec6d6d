//! Reads one tag with its attributes: from the "tag name state" to the "after attribute value
//! (quoted) state".

use std::borrow::Cow;

use memchr::memchr;

use super::Tag;
use super::references;
use crate::render::names::Name;

/// One attribute as it is written.
#[derive(Clone, Copy, Debug)]
pub(in crate::render) struct Attribute<'a> {
    name: &'a str,
    value: &'a str,
}

/// White space, as the tokenizer has it.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t' | b'\x0c')
}

/// Reads the tag whose name begins at `start`. Answers where what follows the tag begins; `None` if
/// the tag does not end.
#[inline]
pub(super) fn read<'a>(html: &'a str, start: usize, tag: &mut Tag<'a>) -> Option<usize> {
    let bytes = html.as_bytes();
    let length = bytes[start..].iter().position(|&byte| is_space(byte) || matches!(byte, b'/' | b'>'))?;
    let mut at = start + length;
    tag.written = &html[start..at];
    tag.name = Name::of(tag.written.as_bytes());
    tag.attributes.clear();
    tag.self_closing = false;
    let rest = at;
    loop {
        match *bytes.get(at)? {
            b'>' => {
                tag.rest = &html[rest..at];
                return Some(at + 1);
            }
            b'/' => {
                at += 1;
                // Only at the very end of the tag does the stroke mean something.
                tag.self_closing = bytes.get(at) == Some(&b'>');
            }
            byte if is_space(byte) => at += 1,
            _ => at = attribute(html, at, &mut tag.attributes)?,
        }
    }
}

/// Reads the attribute that begins at `start`; answers where it ends.
fn attribute<'a>(html: &'a str, start: usize, attributes: &mut Vec<Attribute<'a>>) -> Option<usize> {
    let bytes = html.as_bytes();
    // An equals sign at the start belongs to the name.
    let mut at = start + 1;
    at += bytes[at..].iter().position(|&byte| is_space(byte) || matches!(byte, b'/' | b'>' | b'='))?;
    let name = &html[start..at];
    let mut next = at;
    while is_space(*bytes.get(next)?) {
        next += 1;
    }
    if bytes[next] != b'=' {
        attributes.push(Attribute { name, value: "" });
        return Some(next);
    }
    next += 1;
    while is_space(*bytes.get(next)?) {
        next += 1;
    }
    let (value, end) = match bytes[next] {
        quote @ (b'"' | b'\'') => {
            let length = memchr(quote, &bytes[next + 1..])?;
            (next + 1..next + 1 + length, next + length + 2)
        }
        // The value is missing.
        b'>' => (next..next, next),
        _ => {
            let length = bytes[next..].iter().position(|&byte| is_space(byte) || byte == b'>')?;
            (next..next + length, next + length)
        }
    };
    attributes.push(Attribute { name, value: &html[value] });
    Some(end)
}

impl<'a> Tag<'a> {
    /// The value of the first attribute of that name, which is in lower case.
    pub fn get(&self, name: &str) -> Option<Cow<'a, str>> {
        let found = self.attributes.iter().find(|attribute| attribute.name.eq_ignore_ascii_case(name))?;
        Some(references::in_attribute(found.value))
    }

    /// Whether there is an attribute of that name.
    pub fn has(&self, name: &str) -> bool {
        self.attributes.iter().any(|attribute| attribute.name.eq_ignore_ascii_case(name))
    }

    /// Whether another tag of the same name says the same. Attributes in another order, which the
    /// standard takes for the same, are not recognised.
    pub fn says_the_same(&self, rest: &str) -> bool {
        self.rest == rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(html: &str) -> Option<Tag<'_>> {
        let mut tag = Tag::default();
        read(html, 1, &mut tag).map(|_| tag)
    }

    fn attributes(html: &str) -> Vec<(&str, String)> {
        let tag = tag(html).unwrap();
        tag.attributes.iter().map(|a| (a.name, references::in_attribute(a.value).into_owned())).collect()
    }

    #[test]
    fn values_are_quoted_in_all_ways_or_missing() {
        let found = attributes("<a href = \"x>y\" b='\"' c=d/e checked =f g>");
        let values: Vec<_> = found.iter().map(|(name, value)| format!("{name}:{value}")).collect();
        assert_eq!(values, ["href:x>y", "b:\"", "c:d/e", "checked:f", "g:"]);
        assert_eq!(attributes("<a href=>"), [("href", String::new())]);
        assert_eq!(attributes("<a =x=y>"), [("=x", "y".to_owned())]);
        assert_eq!(attributes("<a b\"c>d\">"), [("b\"c", String::new())]);
        assert_eq!(attributes("<a b='1'c='2'>"), [("b", "1".to_owned()), ("c", "2".to_owned())]);
    }

    #[test]
    fn a_stroke_closes_only_at_the_end_of_a_tag() {
        assert!(tag("<br/>").unwrap().self_closing);
        assert!(tag("<br / a />").unwrap().self_closing);
        assert!(!tag("<br / a>").unwrap().self_closing);
        assert!(!tag("<br a=/>").unwrap().self_closing);
    }

    #[test]
    fn a_tag_that_does_not_end_is_none() {
        for html in ["<a", "<a ", "<a b", "<a b=", "<a b='", "<a b='c", "<a b=c", "<a /", "<a b "] {
            assert!(tag(html).is_none(), "{html}");
        }
    }
}
