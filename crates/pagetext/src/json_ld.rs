//! Author and date from JSON-LD in a `script` element (JSON-LD 1.1 with the vocabulary of schema.org).
//!
//! A script describes one thing, a list of things, or a `@graph` of them. The page is one of them, or the `mainEntity`
//! of one. Deeper things, such as the authors of comments, are ignored.

use serde_json::{Map, Value};

use super::metadata::{Claims, WhenRank, WhoRank};
use super::page_kind::KindEvidence;

/// Bytes of the longest script that is read.
pub(super) const MOST_BYTES: usize = 64 * 1024;
/// Things of one script that are read.
const MOST_THINGS: usize = 256;

const WHO: [(&str, WhoRank); 4] = [
    ("author", WhoRank::JsonLdAuthor),
    ("creator", WhoRank::JsonLdCreator),
    ("copyrightHolder", WhoRank::JsonLdHolder),
    ("publisher", WhoRank::JsonLdPublisher),
];
const WHEN: [(&str, WhenRank); 2] =
    [("datePublished", WhenRank::JsonLdPublished), ("dateModified", WhenRank::JsonLdModified)];

/// Types of schema.org for one text with an author and a date.
pub(super) const ARTICLE_TYPES: [&str; 14] = [
    "Article",
    "NewsArticle",
    "BlogPosting",
    "AnalysisNewsArticle",
    "OpinionNewsArticle",
    "ReportageNewsArticle",
    "ReviewNewsArticle",
    "BackgroundNewsArticle",
    "Report",
    "LiveBlogPosting",
    "SocialMediaPosting",
    "MedicalWebPage",
    "Recipe",
    "ScholarlyArticle",
];
/// Types of schema.org for pages that list others.
const COLLECTION_TYPES: [&str; 3] = ["CollectionPage", "SearchResultsPage", "Blog"];

/// Adds the claims of a script. A broken script claims nothing.
pub(super) fn read(script: &str, claims: &mut Claims, kind: &mut KindEvidence) {
    let Some(root) = parsed(script) else { return };
    let mut things = Vec::new();
    gather(&root, &mut things);
    for thing in &things {
        let types = thing.get("@type").map(texts).unwrap_or_default();
        kind.says_article |= types.iter().any(|name| ARTICLE_TYPES.contains(name));
        kind.says_collection |= types.iter().any(|name| COLLECTION_TYPES.contains(name));
        for (key, rank) in WHO {
            if let Some(name) = thing.get(key).and_then(|value| name(value, &things)) {
                claims.who(rank, name);
            }
        }
        for (key, rank) in WHEN {
            if let Some(date) = thing.get(key).and_then(first_text) {
                claims.when(rank, date);
            }
        }
    }
}

/// Returns the `license` of the first thing that has one: an address or a name.
pub(super) fn license(script: &str) -> Option<String> {
    let root = parsed(script)?;
    let mut things = Vec::new();
    gather(&root, &mut things);
    let text = |value: &Value| match value {
        Value::Object(object) => {
            ["url", "@id", "name"].into_iter().find_map(|key| object.get(key).and_then(first_text)).map(str::to_owned)
        }
        other => first_text(other).map(str::to_owned),
    };
    things.iter().filter_map(|thing| thing.get("license")).find_map(text)
}

/// Returns the first value of a script.
///
/// Old pages wrap scripts in comments or CDATA sections, which JSON does not allow.
fn parsed(script: &str) -> Option<Value> {
    const CDATA: &str = "<![CDATA[";
    let script =
        script.split_once(CDATA).filter(|(before, _)| before.len() < CDATA.len()).map_or(script, |(_, rest)| rest);
    let start = script.find(['{', '['])?;
    // serde_json refuses nesting beyond 128 levels.
    serde_json::Deserializer::from_str(&script[start..]).into_iter().next()?.ok()
}

/// Returns the things that a value describes, in order.
fn gather<'a>(value: &'a Value, things: &mut Vec<&'a Map<String, Value>>) {
    if things.len() >= MOST_THINGS {
        return;
    }
    match value {
        Value::Array(values) => values.iter().for_each(|value| gather(value, things)),
        Value::Object(thing) => {
            things.push(thing);
            for key in ["@graph", "mainEntity", "mainEntityOfPage"] {
                thing.get(key).into_iter().for_each(|value| gather(value, things));
            }
        }
        _ => {}
    }
}

/// Returns the name of a person or an organization: a string, the first of a list, the `name` of an object, or
/// that of the object that it refers to.
fn name<'a>(value: &'a Value, things: &[&'a Map<String, Value>]) -> Option<&'a str> {
    match value {
        Value::String(name) => Some(name),
        Value::Array(values) => values.iter().find_map(|value| name(value, things)),
        Value::Object(object) => object.get("name").and_then(first_text).or_else(|| {
            let id = object.get("@id")?.as_str()?;
            let is_it = |thing: &&&Map<String, Value>| thing.get("@id").and_then(Value::as_str) == Some(id);
            things.iter().filter(is_it).find_map(|thing| thing.get("name").and_then(first_text))
        }),
        _ => None,
    }
}

/// Returns a string, or the strings of a list.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(values) => values.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Returns a string, the first of a list, or the `@value` of an object.
fn first_text(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => Some(text),
        Value::Array(values) => values.iter().find_map(first_text),
        Value::Object(object) => object.get("@value")?.as_str(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claimed(script: &str) -> (Option<String>, Option<String>) {
        let mut claims = Claims::new(Some(1_767_225_600_000));
        read(script, &mut claims, &mut KindEvidence::default());
        let found = claims.into_parts();
        (found.0.map(|(name, _)| name), found.1.map(|(date, _)| date))
    }

    fn who(script: &str) -> Option<String> {
        claimed(script).0
    }

    #[test]
    fn names_are_found_in_all_shapes() {
        for script in [
            r#"{"author":"Jane Roe"}"#,
            r#"{"author":["Jane Roe","John Doe"]}"#,
            r#"{"author":{"@type":"Person","name":"Jane Roe"}}"#,
            r#"{"author":[{"name":"Jane Roe"},{"name":"John Doe"}]}"#,
            r#"{"author":{"name":["Jane Roe"]}}"#,
            r#"{"author":{"name":{"@value":"Jane Roe","@language":"en"}}}"#,
            r#"[{"@type":"BreadcrumbList"},{"creator":"Jane Roe"}]"#,
            r#"{"@graph":[{"publisher":{"name":"Press"}},{"author":{"@id":"x#j"}},{"@id":"x#j","name":"Jane Roe"}]}"#,
            r#"{"@type":"WebPage","mainEntity":{"author":"Jane Roe"}}"#,
            r#"{"publisher":{"name":"Press"},"author":{"name":"Jane \u0052oe"}}"#,
            r#"{"copyrightHolder":{"name":"Jane Roe"},"publisher":"Press"}"#,
            "//<![CDATA[\n{\"author\":\"Jane Roe\"}\n//]]>",
            "<!-- [{\"author\":\"Jane\n Roe\"}, {}] -->",
        ] {
            let expected = if script.contains("\n Roe") { None } else { Some("Jane Roe") };
            assert_eq!(who(script).as_deref(), expected, "{script}");
        }
    }

    #[test]
    fn what_stands_deeper_or_is_broken_claims_nothing() {
        for script in [
            "",
            "{",
            "}{",
            "[]",
            "null",
            r#"{"author":"#,
            r#"{"author":"Jane Roe",}"#,
            r#"{"author":null,"publisher":7,"creator":{"name":{}}}"#,
            r#"{"author":{"@id":"x"}}"#,
            r#"{"author":"\ud800"}"#,
            r#"{"review":[{"author":"Jane Roe","datePublished":"2019-03-01"}]}"#,
            r#"{"author":"https://a.test/jane"}"#,
        ] {
            assert_eq!(claimed(script), (None, None), "{script}");
        }
        assert_eq!(who(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))), None);
    }

    #[test]
    fn the_date_of_publication_comes_first() {
        let script = r#"{"dateModified":"2020-01-01","@graph":[{"datePublished":["2019-03-01T10:00:00+01:00"]}]}"#;
        assert_eq!(claimed(script).1.as_deref(), Some("2019-03-01T09:00:00Z"));
        assert_eq!(claimed(r#"{"datePublished":"soon","dateModified":"2020-01-01"}"#).1.as_deref(), Some("2020-01-01"));
    }
}
