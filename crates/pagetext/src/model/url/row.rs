//! Names of documents that have no URL: rows of a table, lines of a file.
//!
//! Inside, such a document has a URL like any page, so that keys, logs and archives need to know one kind of name only:
//! `row://FILE?id=ID` by its own id, `row://FILE?line=NUMBER` by its place. Two files never share a name, whatever their
//! ids are. People see the id as it was given, or `FILE#NUMBER` ([`CanonicalUrl::shown`]).

use std::borrow::Cow;

use url::Url;

use super::{CanonicalUrl, UrlError};

/// The scheme. Nobody can be asked for such a URL, so no crawl takes one from a page.
pub(super) const SCHEME: &str = "row";
const ID: &str = "id=";
const LINE: &str = "line=";

impl CanonicalUrl {
    /// Names a document by its own id in a file. `None` if file or id is empty.
    pub fn of_row_id(file: &str, id: &str) -> Option<Self> {
        let is_named = !file.is_empty() && !id.is_empty();
        is_named.then(|| row(file, ID, &escaped(id)))?
    }

    /// Names a document by its place in a file: the number of its line, row or element, from 1. `None` without a file.
    pub fn of_row_number(file: &str, number: u64) -> Option<Self> {
        (!file.is_empty()).then(|| row(file, LINE, &number.to_string()))?
    }

    /// Returns the name that people see: the URL, the id as it was given, or `FILE#NUMBER`.
    pub fn shown(&self) -> Cow<'_, str> {
        let Some(file) = self.file() else { return Cow::Borrowed(self.as_str()) };
        let name = self.0.query().unwrap_or_default();
        match (name.strip_prefix(ID), name.strip_prefix(LINE)) {
            (Some(id), _) => Cow::Owned(unescaped(id)),
            (_, Some(number)) => Cow::Owned(format!("{file}#{number}")),
            _ => Cow::Borrowed(self.as_str()),
        }
    }

    /// Returns the file of a document without URL.
    pub fn file(&self) -> Option<String> {
        self.is_row().then(|| unescaped(self.host()))
    }

    /// Whether the document is named by its own id.
    pub fn has_row_id(&self) -> bool {
        self.is_row() && self.0.query().is_some_and(|name| name.starts_with(ID))
    }

    /// Returns the host, or the file of a document without URL.
    pub fn site(&self) -> String {
        self.file().unwrap_or_else(|| self.host().to_owned())
    }

    /// Returns the domain name; `None` for an address, and for a document without URL.
    pub fn domain(&self) -> Option<&str> {
        self.0.domain().filter(|_| !self.is_row())
    }

    pub(super) fn is_row(&self) -> bool {
        self.0.scheme() == SCHEME
    }
}

fn row(file: &str, kind: &str, name: &str) -> Option<CanonicalUrl> {
    let text = format!("{SCHEME}://{}?{kind}{name}", escaped(file));
    CanonicalUrl::from_canonical(&text).ok()
}

pub(super) fn check(url: &Url) -> Result<(), UrlError> {
    if url.host_str().is_none_or(str::is_empty) { Err(UrlError::NoHost) } else { Ok(()) }
}

/// Escapes all bytes but unreserved ones (RFC 3986, section 2.3). So no parser changes the text.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            _ => {
                const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
                out.push('%');
                out.push(char::from(DIGITS[usize::from(byte >> 4)]));
                out.push(char::from(DIGITS[usize::from(byte & 15)]));
            }
        }
    }
    out
}

fn unescaped(text: &str) -> String {
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(&byte) = bytes.get(at) {
        match (byte, digit(bytes.get(at + 1)), digit(bytes.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Returns what people see of a canonical URL that is text: see [`CanonicalUrl::shown`].
pub fn shown_url(url: &str) -> Cow<'_, str> {
    if !url.starts_with("row://") {
        return Cow::Borrowed(url);
    }
    match CanonicalUrl::from_canonical(url) {
        Ok(row) => Cow::Owned(row.shown().into_owned()),
        Err(_) => Cow::Borrowed(url),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::Normalizer;

    #[test]
    fn a_document_without_url_has_a_name_inside_and_shows_its_own() {
        let id = CanonicalUrl::of_row_id("data/a b.jsonl", "urn:isbn:1 ü").unwrap();
        assert_eq!(id.as_str(), "row://data%2Fa%20b.jsonl?id=urn%3Aisbn%3A1%20%C3%BC");
        assert_eq!((id.shown().as_ref(), id.site().as_str()), ("urn:isbn:1 ü", "data/a b.jsonl"));
        assert_eq!((id.domain(), id.registrable_domain()), (None, "data%2Fa%20b.jsonl"));
        let line = CanonicalUrl::of_row_number("-", 7).unwrap();
        assert_eq!((line.as_str(), line.shown().as_ref()), ("row://-?line=7", "-#7"));
        assert!(id.has_row_id() && !line.has_row_id());
        assert_eq!(shown_url(line.as_str()), "-#7");
        assert_eq!(CanonicalUrl::of_row_id("a", ""), None);
        assert_eq!(CanonicalUrl::of_row_number("", 1), None);
        let page = CanonicalUrl::from_canonical("http://a.test/?id=1").unwrap();
        assert_eq!((page.shown().as_ref(), page.file(), page.site().as_str()), ("http://a.test/?id=1", None, "a.test"));
    }

    #[test]
    fn no_page_can_name_a_row() {
        let page = CanonicalUrl::of_row_id("a.jsonl", "1").unwrap();
        assert!(Normalizer::default().absolute(page.as_str()).is_err());
        assert!(Normalizer::default().resolve(page.as_url(), "2").is_err());
    }

    proptest! {
        #[test]
        fn any_file_and_id_come_back_as_they_were_given(file in "\\PC{1,20}", id in any::<String>(), number: u64) {
            if let Some(url) = CanonicalUrl::of_row_id(&file, &id) {
                prop_assert!(CanonicalUrl::from_canonical(url.as_str()).as_ref() == Ok(&url));
                prop_assert_eq!(url.shown(), id.as_str());
                prop_assert_eq!(url.file(), Some(file.clone()));
            } else {
                prop_assert!(id.is_empty());
            }
            let url = CanonicalUrl::of_row_number(&file, number).unwrap();
            prop_assert_eq!(url.shown(), format!("{file}#{number}"));
        }
    }
}
