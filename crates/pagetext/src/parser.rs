//! The parsers by name.

use std::fmt;
use std::str::FromStr;

/// How elements are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Parser {
    /// In one pass over the source.
    #[default]
    Fast,
    /// By building a tree.
    Dom,
}

impl Parser {
    /// All parsers.
    pub const ALL: [Parser; 2] = [Parser::Fast, Parser::Dom];

    /// Returns the name used in configuration and in [`PageReader::signature`](super::PageReader::signature).
    pub fn name(self) -> &'static str {
        match self {
            Parser::Fast => "fast",
            Parser::Dom => "dom",
        }
    }
}

impl fmt::Display for Parser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name of no parser.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no parser: there are fast, dom")]
pub struct ParserError(String);

impl FromStr for Parser {
    type Err = ParserError;

    fn from_str(text: &str) -> Result<Self, ParserError> {
        Self::ALL.into_iter().find(|parser| parser.name() == text).ok_or_else(|| ParserError(text.to_owned()))
    }
}
