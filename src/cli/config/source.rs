//! The source of a value.

use std::fmt;

use serde_json::Value;

use crate::cli::config::schema::Key;

/// The source of a value, as errors and `config show` name it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// Not set.
    #[default]
    Default,
    /// A configuration file and a line in it.
    File(String, usize),
    /// An environment variable.
    Environment(String),
    /// A flag or argument.
    Flag(String),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Default => f.write_str("default"),
            Source::File(path, line) => write!(f, "{path}:{line}"),
            Source::Environment(name) => f.write_str(name),
            Source::Flag(flag) => f.write_str(flag),
        }
    }
}

/// A value given for a key, not parsed yet.
#[derive(Clone, Debug)]
pub struct GivenValue {
    /// The key.
    pub key: &'static Key,
    /// The texts; several only for a list.
    pub texts: Vec<String>,
    /// The source.
    pub source: Source,
}

impl GivenValue {
    /// Returns a value that was kept as JSON.
    pub fn from_json(key: &'static Key, value: &Value, source: Source) -> Self {
        Self { key, texts: texts(value), source }
    }
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::String(text) => vec![text.clone()],
        other => vec![other.to_string()],
    }
}
