//! Names of fields: `text`, `metadata.url`, `$.metadata.url` or `/metadata/url`.

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
        let steps: Vec<String> = match (name.strip_prefix('/'), name.strip_prefix("$.")) {
            (Some(pointer), _) => pointer.split('/').map(|step| step.replace("~1", "/").replace("~0", "~")).collect(),
            (_, Some(path)) => path.split('.').map(str::to_owned).collect(),
            _ => name.split('.').map(str::to_owned).collect(),
        };
        Self { plain: name.to_owned(), steps }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_named_by_itself_or_by_a_path() {
        for (name, steps) in [
            ("text", vec!["text"]),
            ("metadata.url", vec!["metadata", "url"]),
            ("$.metadata.url", vec!["metadata", "url"]),
            ("/metadata/url", vec!["metadata", "url"]),
            ("/a~1b/c~0d", vec!["a/b", "c~d"]),
            ("$", vec!["$"]),
            ("", vec![""]),
        ] {
            assert_eq!(FieldPath::new(name).steps, steps, "{name}");
        }
    }
}
