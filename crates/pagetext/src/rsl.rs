//! *What does a license in the form of RSL say of the use of pages?* Really Simple Licensing 1.0.
//!
//! A document has entries for parts of a site, and each of them has licenses. A license is one offer: what any of them
//! allows without conditions is allowed. Where it asks for something, be it money, attribution or a kind of user, it is
//! unclear. What a license prohibits wins over what it permits, unless that is more specific (`all`, then `ai-all`, then
//! the use itself). Of uses that it does not permit while it permits others, it disallows.

use std::collections::BTreeMap;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::charset;
use super::model::Permission::{self, Allowed, Disallowed, Unclear};
use super::model::Usage;
use super::sitemap::{attribute, local_name};

/// Entries of a document that are read.
const MOST_ENTRIES: usize = 1000;
/// The deepest nesting that is read. The form has five levels.
const MOST_OPEN: usize = 64;

/// What a document says of a part of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RslEntry {
    /// The part: a pattern of paths as in robots.txt, or a URL with such a path. Empty for all.
    pub url: String,
    /// What is said of the uses that it names.
    pub uses: BTreeMap<Usage, Permission>,
    /// Its terms in short: `permits search; prohibits ai-train; payment crawl`.
    pub terms: String,
}

/// One license, while it is read.
#[derive(Default)]
struct License {
    permits: Option<Vec<String>>,
    prohibits: Vec<String>,
    /// Whether it asks for something.
    has_conditions: bool,
}

/// Reads a document; `None` if it is none in this form, or not whole.
pub fn rsl_entries(body: &[u8]) -> Option<Vec<RslEntry>> {
    let text = charset::decode(body, None, charset::Syntax::Xml, None).text;
    let mut reader = Reader::from_str(text.trim_start_matches('\u{feff}').trim_start());
    reader.config_mut().expand_empty_elements = true;
    let mut document = Document::default();
    loop {
        match reader.read_event().ok()? {
            Event::Start(tag) => document.begin(&tag)?,
            Event::Text(text) => document.text.push_str(&text),
            Event::CData(text) => document.text.push_str(&text),
            Event::End(_) => document.end(),
            Event::Eof => break,
            _ => {}
        }
    }
    // What has no end may have gone on.
    (document.open.is_empty() && document.is_rsl).then_some(document.entries)
}

/// A document as far as it is read.
#[derive(Default)]
struct Document {
    is_rsl: bool,
    /// The open elements, each with its `type`.
    open: Vec<(String, String)>,
    text: String,
    entries: Vec<RslEntry>,
    /// Of the open entry: whether a server has to be asked for a license, and the licenses.
    asks_server: bool,
    licenses: Vec<License>,
}

impl Document {
    fn begin(&mut self, tag: &BytesStart<'_>) -> Option<()> {
        let name = local_name(tag);
        let parent = self.open.last().map(|(name, _)| name.as_str());
        let kind = attribute(tag, "type").unwrap_or_default().trim().to_ascii_lowercase();
        match (parent, name.as_str()) {
            (None, "rsl") => self.is_rsl = true,
            (None, _) => return None,
            (Some("rsl"), "content") => {
                let url = attribute(tag, "url").unwrap_or_default().trim().to_owned();
                self.asks_server = ["server", "encrypted"].iter().any(|name| asks(attribute(tag, name)));
                self.licenses.clear();
                self.entries.push(RslEntry { url, ..RslEntry::default() });
            }
            (Some("content"), "license") => self.licenses.push(License::default()),
            (Some("license"), name) => self.condition(name, &kind),
            _ => {}
        }
        self.open.push((name, kind));
        self.text.clear();
        (self.open.len() <= MOST_OPEN && self.entries.len() <= MOST_ENTRIES).then_some(())
    }

    /// Notes what a license asks for. What is not known may be a condition.
    fn condition(&mut self, name: &str, kind: &str) {
        let (Some(license), Some(entry)) = (self.licenses.last_mut(), self.entries.last_mut()) else { return };
        match (name, kind) {
            ("permits" | "prohibits", "usage") | ("payment", "free") => {}
            ("legal" | "terms" | "copyright" | "schema", _) => {}
            ("payment" | "permits" | "prohibits", kind) => {
                license.has_conditions = true;
                entry.add(&format!("{name} {kind}"));
            }
            (name, _) => {
                license.has_conditions = true;
                entry.add(name);
            }
        }
    }

    fn end(&mut self) {
        let Some((name, kind)) = self.open.pop() else { return };
        let parent = self.open.last().map(|(name, _)| name.as_str());
        let text = std::mem::take(&mut self.text);
        let Some(entry) = self.entries.last_mut() else { return };
        match (parent, name.as_str(), self.licenses.last_mut()) {
            (Some("license"), "permits" | "prohibits", Some(license)) if kind == "usage" => {
                let words = text.split([',', ' ', '\t', '\r', '\n']).filter(|word| !word.is_empty());
                let words: Vec<String> = words.map(str::to_ascii_lowercase).collect();
                entry.add(&format!("{name} {}", words.join(", ")));
                match name.as_str() {
                    "permits" => license.permits.get_or_insert_default().extend(words),
                    _ => license.prohibits.extend(words),
                }
            }
            (Some("rsl"), "content", _) => {
                if self.asks_server {
                    entry.add("license of a server");
                }
                let said = |usage| Some((usage, said(&self.licenses, self.asks_server, usage)?));
                entry.uses = Usage::ALL.into_iter().filter_map(said).collect();
            }
            _ => {}
        }
    }
}

impl RslEntry {
    fn add(&mut self, term: &str) {
        if !self.terms.is_empty() {
            self.terms.push_str("; ");
        }
        self.terms.push_str(term.trim_end());
    }
}

/// Whether an attribute of an entry asks for something.
fn asks(value: Option<String>) -> bool {
    value.is_some_and(|value| !matches!(value.trim(), "" | "false"))
}

/// Returns what the licenses of an entry say of a use: what one of them allows is allowed.
fn said(licenses: &[License], asks_server: bool, usage: Usage) -> Option<Permission> {
    let said: Vec<Permission> = licenses.iter().filter_map(|license| license.said(asks_server, usage)).collect();
    [Allowed, Unclear, Disallowed].into_iter().find(|of| said.contains(of))
}

impl License {
    fn said(&self, asks_server: bool, usage: Usage) -> Option<Permission> {
        // The form has no word for mining.
        let name = match usage {
            Usage::TrainAi => "ai-train",
            Usage::AiInput => "ai-input",
            Usage::Search => "search",
            Usage::Tdm => return None,
        };
        let open = if self.has_conditions || asks_server { Unclear } else { Allowed };
        let permits = self.permits.as_deref().map(|words| specificity(words, name));
        match (permits, specificity(&self.prohibits, name)) {
            (Some(Some(permits)), Some(prohibits)) if permits > prohibits => Some(open),
            (_, Some(_)) => Some(Disallowed),
            (Some(Some(_)), None) => Some(open),
            (Some(None), None) => Some(Disallowed),
            // It names no use: what it asks for is for all.
            (None, None) => (open == Unclear).then_some(Unclear),
        }
    }
}

/// Returns how specifically words name a use, if they do.
fn specificity(words: &[String], name: &str) -> Option<u8> {
    let of = |word: &String| match word.as_str() {
        "all" => Some(0),
        "ai-all" if name.starts_with("ai-") => Some(1),
        word => (word == name).then_some(2),
    };
    words.iter().filter_map(of).max()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn told(inner: &str) -> Vec<String> {
        let text = format!("<?xml version=\"1.0\"?>\n<rsl xmlns=\"https://rslstandard.org/rsl\">{inner}</rsl>");
        let entries = rsl_entries(text.as_bytes()).unwrap();
        let words = |entry: &RslEntry| {
            let uses = entry.uses.iter().map(|(usage, said)| format!(" {}={}", usage.name(), said.name()));
            format!("{}{}", entry.url, uses.collect::<String>())
        };
        entries.iter().map(words).collect()
    }

    fn license(terms: &str) -> String {
        told(&format!("<content url=\"/\"><license>{terms}</license></content>")).remove(0)[1..].trim().to_owned()
    }

    #[test]
    fn what_is_permitted_without_conditions_is_allowed_and_what_is_not_listed_is_not() {
        for (terms, expected) in [
            ("<permits type=\"usage\">all</permits>", "train-ai=y ai-input=y search=y"),
            ("<permits type=\"usage\">search</permits><payment type=\"free\"/>", "train-ai=n ai-input=n search=y"),
            ("<permits type=\"usage\">ai-all</permits>", "train-ai=y ai-input=y search=n"),
            ("<permits type=\"usage\">ai-input,search</permits>", "train-ai=n ai-input=y search=y"),
            ("<permits type=\"usage\">\n ai-train\n ai-index </permits>", "train-ai=y ai-input=n search=n"),
            ("<prohibits type=\"usage\">ai-all</prohibits>", "train-ai=n ai-input=n"),
            ("<prohibits type=\"usage\">all</prohibits>", "train-ai=n ai-input=n search=n"),
            ("<legal type=\"disclaimer\">as-is</legal>", ""),
            ("", ""),
        ] {
            assert_eq!(license(terms), expected, "{terms}");
        }
    }

    #[test]
    fn a_prohibition_wins_unless_the_permission_is_more_specific() {
        let both = |permits: &str, prohibits: &str| {
            license(&format!(
                "<permits type=\"usage\">{permits}</permits><prohibits type=\"usage\">{prohibits}</prohibits>"
            ))
        };
        assert_eq!(both("all", "ai-train"), "train-ai=n ai-input=y search=y");
        assert_eq!(both("ai-input", "all"), "train-ai=n ai-input=y search=n");
        assert_eq!(both("ai-train", "ai-train"), "train-ai=n ai-input=n search=n");
        assert_eq!(both("ai-train", "ai-all"), "train-ai=y ai-input=n search=n");
    }

    #[test]
    fn whatever_a_license_asks_for_leaves_open_what_it_permits() {
        let permits = "<permits type=\"usage\">ai-train</permits>";
        let open = "train-ai=unclear ai-input=n search=n";
        for condition in [
            "<payment type=\"crawl\"><amount currency=\"USD\">1</amount></payment>",
            "<payment type=\"attribution\"/>",
            "<payment/>",
            "<permits type=\"user\">non-commercial</permits>",
            "<prohibits type=\"geo\">DE</prohibits>",
            "<reporting type=\"telemetry\"/>",
            "<x:rule xmlns:x=\"https://x.test/\"/>",
        ] {
            assert_eq!(license(&format!("{condition}{permits}")), open, "{condition}");
        }
        assert_eq!(license("<payment type=\"use\"/>"), "train-ai=unclear ai-input=unclear search=unclear");
        let server = "<content url=\"/\" server=\"https://l.test\"><license><permits type=\"usage\">all</permits></license></content>";
        assert_eq!(told(server), ["/ train-ai=unclear ai-input=unclear search=unclear"]);
        let encrypted = server.replace("server=\"https://l.test\"", "encrypted=\"false\"");
        assert_eq!(told(&encrypted), ["/ train-ai=y ai-input=y search=y"]);
    }

    #[test]
    fn each_license_is_an_offer_and_each_entry_is_for_a_part() {
        let entries = "<content url=\"/a/*.html$\"><license><permits type=\"usage\">search</permits></license>\
            <license><permits type=\"usage\">ai-train</permits><payment type=\"training\"/></license></content>\
            <content url=\"https://a.test/b?x&amp;y\"><copyright>we</copyright><license><prohibits type=\"usage\">ai-train</prohibits></license></content>\
            <content><license/></content>";
        let told = told(entries);
        assert_eq!(told, ["/a/*.html$ train-ai=unclear ai-input=n search=y", "https://a.test/b?x&y train-ai=n", ""],);
        let text = format!("<rsl>{entries}</rsl>");
        let terms = rsl_entries(text.as_bytes()).unwrap().remove(0).terms;
        assert_eq!(terms, "permits search; permits ai-train; payment training");
    }

    #[test]
    fn what_is_no_whole_document_says_nothing() {
        for text in [
            "",
            "<!DOCTYPE html><title>License</title><p>All rights reserved",
            "<rsl><content url='/'><license><permits type='usage'>all</permits></license></content>",
            "<rsl><content url='/'></license></content></rsl>",
            "<rss><channel/></rss>",
            "Not allowed",
        ] {
            assert_eq!(rsl_entries(text.as_bytes()), None, "{text}");
        }
        assert_eq!(rsl_entries(b"<rsl/>"), Some(Vec::new()));
        assert_eq!(rsl_entries("<a>".repeat(100_000).as_bytes()), None);
        let deep = format!("<rsl>{}{}</rsl>", "<a>".repeat(100), "</a>".repeat(100));
        assert_eq!(rsl_entries(deep.as_bytes()), None);
    }

    proptest! {
        #[test]
        fn any_text_is_read(
            text in "(?s).{0,100}",
            parts in proptest::collection::vec("</?(rsl|content|license|permits|prohibits|payment)( (url|type)=\"[a-z/*-]{0,5}\")?/?>|[a-z, -]{0,5}", 0..12),
        ) {
            for text in [&text, &parts.concat(), &format!("<rsl>{}</rsl>", parts.concat())] {
                rsl_entries(text.as_bytes());
            }
        }
    }
}
