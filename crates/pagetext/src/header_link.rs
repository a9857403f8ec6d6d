//! The header line `Link` (RFC 8288).

/// One link of a header line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HeaderLink<'a> {
    /// The target as written.
    pub target: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
}

impl HeaderLink<'_> {
    /// Whether the link has this relation.
    pub fn has_rel(&self, name: &str) -> bool {
        self.value("rel").is_some_and(|rel| rel.split_ascii_whitespace().any(|token| token.eq_ignore_ascii_case(name)))
    }

    /// Whether the target is a page to read: the next one or the one before, or another language.
    pub fn is_page(&self) -> bool {
        let is_language = self.language().is_some();
        self.has_rel("next") || self.has_rel("prev") || self.has_rel("previous") || is_language
    }

    /// Returns the language, if the target is the page in another one.
    pub fn language(&self) -> Option<&str> {
        self.value("hreflang").filter(|_| self.has_rel("alternate"))
    }

    /// Returns the media type of the target as written.
    pub fn media_type(&self) -> Option<&str> {
        self.value("type")
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
    }
}

/// Reads the links of one header line. What is no link is skipped.
pub(super) fn links(value: &str) -> impl Iterator<Item = HeaderLink<'_>> {
    let mut rest = value;
    std::iter::from_fn(move || {
        let (_, from_target) = rest.split_once('<')?;
        let (target, parameters) = from_target.split_once('>')?;
        let end = end_of_link(parameters);
        rest = &parameters[end..];
        Some(HeaderLink { target: target.trim(), parameters: pairs(&parameters[..end]).collect() })
    })
}

/// Returns the end of the parameters: a comma that stands in no quotes.
fn end_of_link(parameters: &str) -> usize {
    let mut is_quoted = false;
    let is_end = |(_, c): &(usize, char)| {
        is_quoted ^= *c == '"';
        *c == ',' && !is_quoted
    };
    parameters.char_indices().find(is_end).map_or(parameters.len(), |(at, _)| at)
}

fn pairs(parameters: &str) -> impl Iterator<Item = (&str, &str)> {
    parameters.split(';').filter_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        Some((name.trim(), value.trim().trim_matches('"')))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_told_from_other_links_in_all_spellings() {
        let pages = |value: &'static str| -> Vec<&str> {
            links(value).filter(HeaderLink::is_page).map(|link| link.target).collect()
        };
        for value in [
            "</2>; rel=next",
            "</2>;rel=\"last next\"",
            "< /2 > ; REL = Next",
            "</s.css>; rel=preload, </2>; rel=\"prev\"",
        ] {
            assert_eq!(pages(value), ["/2"], "{value}");
        }
        assert_eq!(pages("</de>; rel=alternate; hreflang=de, </fr>; rel=alternate; hreflang=\"fr\""), ["/de", "/fr"]);
        assert_eq!(pages("</a>; rel=alternate; title=\"a, b\", </b>; rel=next"), ["/b"]);
        for value in ["", "/2; rel=next", "</2", "<>", "</2>", "</2>; rel=stylesheet"] {
            assert!(pages(value).is_empty(), "{value}");
        }
    }
}
