//! Names of fields: `text`, `metadata.url`, `$.metadata.url`, `/metadata/url` or, of each element of a list,
//! `messages[].content`.

use serde_json::Value;

/// A field as the user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FieldPath {
    /// The name as given. A field of exactly this name comes before one found by the path.
    pub plain: String,
    /// The names of the objects on the way, and of the field itself.
    pub steps: Vec<String>,
}

impl FieldPath {
    /// Parses a name: a JSON pointer (RFC 6901) begins with `/`, a path has dots and perhaps `$.` before it.
    pub fn new(name: &str) -> Self {
        let each = |step: &str| step.trim_end_matches("[]").trim_end_matches("[*]").to_owned();
        let steps: Vec<String> = match (name.strip_prefix('/'), name.strip_prefix("$.")) {
            (Some(pointer), _) => pointer.split('/').map(|step| step.replace("~1", "/").replace("~0", "~")).collect(),
            (_, Some(path)) => path.split('.').map(each).collect(),
            _ => name.split('.').map(each).collect(),
        };
        Self { plain: name.to_owned(), steps }
    }

    /// Returns the value of the field in a row; that of lists on the way is the list of the values of their elements.
    pub fn find(&self, row: &Value) -> Option<Value> {
        row.get(&self.plain).cloned().or_else(|| walk(row, &self.steps))
    }
}

/// Follows a path, into each element of the lists on the way.
pub(super) fn walk(value: &Value, steps: &[String]) -> Option<Value> {
    match (value, steps) {
        (_, []) => Some(value.clone()),
        (Value::Array(elements), _) => {
            let found: Vec<Value> = elements.iter().filter_map(|element| walk(element, steps)).collect();
            (!found.is_empty()).then_some(Value::Array(found))
        }
        (_, [first, rest @ ..]) => walk(value.get(first)?, rest),
    }
}

/// Returns a value as a text: the texts of lists stand on lines of their own.
pub(super) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(elements) => {
            let texts: Vec<String> = elements.iter().filter_map(text_of).filter(|text| !text.is_empty()).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_goes_into_each_element_of_a_list() {
        let row = serde_json::json!({
            "messages": [{"content": "one", "n": 1}, {"role": "x"}, {"content": ["two", {"no": "text"}, "three"]}],
            "a": {"b": [[{"c": "deep"}]]}, "number": 5, "a.b": "plain",
        });
        let text = |name: &str| FieldPath::new(name).find(&row).as_ref().and_then(text_of);
        assert_eq!(text("messages[].content").as_deref(), Some("one\ntwo\nthree"));
        assert_eq!(text("messages.content").as_deref(), Some("one\ntwo\nthree"));
        assert_eq!(text("/a/b/c").as_deref(), Some("deep"));
        assert_eq!(text("a.b").as_deref(), Some("plain"));
        assert_eq!((text("messages[].none"), text("number"), text("none")), (None, None, None));
    }

    #[test]
    fn a_field_is_named_by_itself_or_by_a_path() {
        for (name, steps) in [
            ("text", vec!["text"]),
            ("metadata.url", vec!["metadata", "url"]),
            ("$.metadata.url", vec!["metadata", "url"]),
            ("/metadata/url", vec!["metadata", "url"]),
            ("/a~1b/c~0d", vec!["a/b", "c~d"]),
            ("messages[].content", vec!["messages", "content"]),
            ("$.turns[*].said[]", vec!["turns", "said"]),
            ("$", vec!["$"]),
            ("", vec![""]),
        ] {
            assert_eq!(FieldPath::new(name).steps, steps, "{name}");
        }
    }
}
