//! Reads one tag with its attributes: from the "tag name state" to the "after attribute value
//! (quoted) state".

use std::borrow::Cow;

use super::Tag;
use super::references;
use crate::byte_search;
use crate::names::Name;

/// One attribute as written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attribute<'a> {
    name: &'a str,
    value: &'a str,
}

const SPACE: u8 = 1;
const STROKE: u8 = 1 << 1;
const END: u8 = 1 << 2;
const EQUALS: u8 = 1 << 3;

/// Classes of bytes within a tag.
static MEANINGS: [u8; 256] = {
    let mut meanings = [0; 256];
    // White space by the tokenizer.
    meanings[b' ' as usize] = SPACE;
    meanings[b'\n' as usize] = SPACE;
    meanings[b'\t' as usize] = SPACE;
    meanings[b'\x0c' as usize] = SPACE;
    meanings[b'/' as usize] = STROKE;
    meanings[b'>' as usize] = END;
    meanings[b'=' as usize] = EQUALS;
    meanings
};

#[inline]
fn means(byte: u8, meanings: u8) -> bool {
    MEANINGS[usize::from(byte)] & meanings != 0
}

/// Returns the first position from `at` on with a byte of these classes.
#[inline]
fn until(bytes: &[u8], mut at: usize, meanings: u8) -> Option<usize> {
    while !means(*bytes.get(at)?, meanings) {
        at += 1;
    }
    Some(at)
}

/// Returns the first position from `at` on without white space.
#[inline]
fn behind_space(bytes: &[u8], mut at: usize) -> Option<usize> {
    while means(*bytes.get(at)?, SPACE) {
        at += 1;
    }
    Some(at)
}

/// Reads the tag whose name begins at `start`. Returns its end; `None` if the tag does not end.
#[inline]
pub(super) fn read<'a>(html: &'a str, start: usize, tag: &mut Tag<'a>) -> Option<usize> {
    let bytes = html.as_bytes();
    let mut at = until(bytes, start, SPACE | STROKE | END)?;
    tag.written = &html[start..at];
    tag.name = Name::at(bytes, start, at - start);
    tag.attributes.clear();
    tag.self_closing = false;
    let rest = at;
    loop {
        let byte = *bytes.get(at)?;
        match MEANINGS[usize::from(byte)] {
            END => {
                tag.rest = &html[rest..at];
                return Some(at + 1);
            }
            STROKE => {
                at += 1;
                // The slash has a meaning only at the very end of the tag.
                tag.self_closing = bytes.get(at) == Some(&b'>');
            }
            SPACE => at += 1,
            _ => at = attribute(html, at, &mut tag.attributes)?,
        }
    }
}

/// Reads the attribute that begins at `start`; returns its end.
#[inline]
fn attribute<'a>(html: &'a str, start: usize, attributes: &mut Vec<Attribute<'a>>) -> Option<usize> {
    let bytes = html.as_bytes();
    // An equals sign at the start belongs to the name.
    let at = until(bytes, start + 1, SPACE | STROKE | END | EQUALS)?;
    let name = &html[start..at];
    let next = behind_space(bytes, at)?;
    if bytes[next] != b'=' {
        attributes.push(Attribute { name, value: "" });
        return Some(next);
    }
    let next = behind_space(bytes, next + 1)?;
    let (value, end) = match bytes[next] {
        quote @ (b'"' | b'\'') => {
            let length = byte_search::find(quote, &bytes[next + 1..])?;
            (next + 1..next + 1 + length, next + length + 2)
        }
        // The value is missing.
        b'>' => (next..next, next),
        _ => {
            let end = until(bytes, next, SPACE | END)?;
            (next..end, end)
        }
    };
    attributes.push(Attribute { name, value: &html[value] });
    Some(end)
}

impl<'a> Tag<'a> {
    /// Returns the value of the first attribute of that name, which is in lower case.
    pub fn get(&self, name: &str) -> Option<Cow<'a, str>> {
        self.as_written(name).map(references::in_attribute)
    }

    /// Returns the same value as written.
    #[inline]
    pub fn as_written(&self, name: &str) -> Option<&'a str> {
        let is_it = |attribute: &&Attribute| {
            attribute.name.len() == name.len()
                && if self.is_xml { attribute.name == name } else { attribute.name.eq_ignore_ascii_case(name) }
        };
        self.attributes.iter().find(is_it).map(|attribute| attribute.value)
    }

    /// Returns names and values of the attributes, as written.
    pub fn attributes_as_written(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.attributes.iter().map(|attribute| (attribute.name, attribute.value))
    }

    /// Returns whether there is an attribute of that name.
    pub fn has(&self, name: &str) -> bool {
        self.attributes.iter().any(|attribute| attribute.name.eq_ignore_ascii_case(name))
    }

    /// Returns whether another tag of the same name has the same source.
    ///
    /// Attributes in another order, which the standard treats as the same, are not recognized.
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
