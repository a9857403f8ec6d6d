//! Reads markup without a tree: pages that are nested too deep, and XML.

use super::Options;
use super::document::Document;
use super::links::Links;
use crate::model::{Field, Normalizer, PageSource};

/// Reads text between tags as body text, and `a[href]` as links. Linear in the length of the page.
pub(super) fn read(markup: &str, page: PageSource<'_>, options: &Options, normalizer: &Normalizer) -> Document {
    let mut document = Document::default();
    let mut links = Links::new(normalizer, page.url, options.max_links, false);
    let mut rest = markup;
    while let Some(at) = rest.find('<') {
        document.text.push(Field::Body, &rest[..at]);
        document.text.break_line();
        rest = &rest[at..];
        let end = if rest.starts_with("<!--") {
            rest.find("-->").map(|end| end + 3)
        } else {
            rest.find('>').map(|end| end + 1)
        };
        let Some(end) = end else {
            // No tag ends here: the rest is cut off.
            rest = "";
            break;
        };
        let tag = &rest[1..end - 1];
        if let Some(href) = anchor(tag) {
            links.add(&href, false);
        }
        rest = &rest[end..];
        for raw in ["script", "style"] {
            if is_tag(tag, raw) {
                rest = after_raw(rest, raw);
            }
        }
    }
    document.text.push(Field::Body, rest);
    document.links_dropped = links.dropped;
    document.links_over_limit = links.over_limit;
    document.names_itself = links.names_itself;
    (document.links, document.base) = links.into_found();
    document
}

fn is_tag(tag: &str, name: &str) -> bool {
    let found = tag.split(|c: char| c.is_ascii_whitespace() || c == '/').next().unwrap_or_default();
    found.eq_ignore_ascii_case(name)
}

fn after_raw<'a>(rest: &'a str, name: &str) -> &'a str {
    let mut from = 0;
    while let Some(at) = rest[from..].find("</") {
        let at = from + at;
        if rest
            .as_bytes()
            .get(at + 2..at + 2 + name.len())
            .is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()))
        {
            return &rest[at..];
        }
        from = at + 2;
    }
    ""
}

/// Returns the `href` of an `a` tag.
fn anchor(tag: &str) -> Option<String> {
    if !is_tag(tag, "a") {
        return None;
    }
    let at = tag.to_ascii_lowercase().find("href")?;
    let value = tag[at + 4..].trim_start().strip_prefix('=')?.trim_start();
    let value = match value.chars().next()? {
        quote @ ('"' | '\'') => value[1..].split(quote).next()?,
        _ => value.split(|c: char| c.is_ascii_whitespace()).next()?,
    };
    Some(value.replace("&amp;", "&"))
}
