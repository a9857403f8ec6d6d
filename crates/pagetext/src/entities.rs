//! Entities that an XML document declares for itself, as feeds and sitemaps do.
//!
//! Only entities with a text of their own are known, and a text is taken as it stands: no entity is expanded within
//! another. So a document never gets longer than its references say.

use std::collections::HashMap;

use quick_xml::events::{BytesRef, BytesText};

/// Most entities that are read.
const MOST: usize = 200;
/// Longest text of an entity, in bytes.
const LONGEST: usize = 2000;
/// Bytes that all references of a document together may add.
const MOST_ADDED: usize = 1024 * 1024;

/// The entities of a document.
#[derive(Debug, Default)]
pub(super) struct Entities {
    texts: HashMap<String, String>,
    added: usize,
}

impl Entities {
    /// Reads the declarations of a document type.
    pub(super) fn declare(&mut self, document_type: &BytesText<'_>) {
        let mut rest: &str = document_type;
        while let Some((_, behind)) = rest.split_once("<!ENTITY") {
            rest = behind;
            if let Some((name, text)) = declaration(rest)
                && self.texts.len() < MOST
            {
                // The first declaration of a name counts (XML 1.0, section 4.2).
                self.texts.entry(name.to_owned()).or_insert_with(|| text.to_owned());
            }
        }
    }

    /// Returns the text that a reference stands for; `None` if the document does not say it.
    pub(super) fn text(&mut self, reference: &BytesRef<'_>) -> Option<String> {
        if let Ok(Some(character)) = reference.resolve_char_ref() {
            return Some(character.to_string());
        }
        let text = match &**reference {
            "amp" => "&",
            "lt" => "<",
            "gt" => ">",
            "quot" => "\"",
            "apos" => "'",
            other => self.texts.get(other)?,
        };
        self.added += text.len();
        (self.added <= MOST_ADDED || text.len() == 1).then(|| text.to_owned())
    }
}

/// Reads a declaration: a name and a text in quotes.
fn declaration(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix(|c: char| c.is_ascii_whitespace())?.trim_start();
    let (name, rest) = text.split_once(|c: char| c.is_ascii_whitespace())?;
    let rest = rest.trim_start();
    let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let (text, _) = rest[1..].split_once(quote)?;
    (!name.is_empty() && text.len() <= LONGEST).then_some((name, text))
}
