//! Where the value of a key comes from.

use std::fmt;

use crate::cli::config::schema::Key;

/// Where a value comes from, written the way errors and `config show` name it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// Nobody set it.
    #[default]
    Default,
    /// A configuration file and the line in it.
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

/// A value that somebody gave for a key, not yet read.
#[derive(Clone, Debug)]
pub struct Given {
    /// The key.
    pub key: &'static Key,
    /// The texts given for it; several only for a list.
    pub texts: Vec<String>,
    /// Who gave it.
    pub source: Source,
}
