//! Values of keys that are one word out of a few.

use serde_json::Value;

use crate::cli::config::value::Scalar;
use crate::crawl::{DuplicateLinks, DuplicateLinksError};

macro_rules! choices {
    ($(#[$doc:meta])* $name:ident {
        $(#[$first_doc:meta])* $first:ident = $first_word:literal,
        $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum $name {
            $(#[$first_doc])* $first,
            $($(#[$variant_doc])* $variant),+
        }

        impl $name {
            /// The words, separated by bars, in the order of the help.
            pub const WORDS: &'static str = concat!($first_word, $("|", $word),+);

            /// Returns the word of this choice.
            pub fn word(self) -> &'static str {
                match self {
                    Self::$first => $first_word,
                    $(Self::$variant => $word),+
                }
            }
        }

        impl Scalar for $name {
            fn from_text(text: &str) -> Result<Self, String> {
                match text {
                    $first_word => Ok(Self::$first),
                    $($word => Ok(Self::$variant),)+
                    _ => Err(format!("'{text}' is none of {}", Self::WORDS.replace('|', ", "))),
                }
            }

            fn to_value(&self) -> Value {
                Value::from(self.word())
            }
        }
    };
}

choices! {
    /// What selects the next URL.
    EngineKind {
        /// The built-in frontier.
        #[default]
        Frontier = "frontier",
        /// The crate spider.
        Spider = "spider",
    }
}

/// Whether sitemaps are read, and links followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sitemaps {
    /// The sitemaps that robots.txt names are read, and links are followed.
    #[default]
    On,
    /// Links are followed.
    Off,
    /// Sitemaps are read.
    Only,
}

impl Sitemaps {
    /// The words, separated by bars.
    pub const WORDS: &'static str = "on|off|only";
}

impl Scalar for Sitemaps {
    fn from_text(text: &str) -> Result<Self, String> {
        match text {
            "only" => Ok(Self::Only),
            _ => match bool::from_text(text) {
                Ok(is_on) => Ok(if is_on { Self::On } else { Self::Off }),
                Err(_) => Err(format!("'{text}' is none of on, off, only")),
            },
        }
    }

    /// As a truth value where it was one before there was `only`.
    fn to_value(&self) -> Value {
        match self {
            Self::On => Value::from(true),
            Self::Off => Value::from(false),
            Self::Only => Value::from("only"),
        }
    }
}

choices! {
    /// Which source of a page is read.
    PageSource {
        /// As sent by the server.
        #[default]
        Static = "static",
        /// As rendered by Chromium.
        Browser = "browser",
        /// Rendered, if the page as sent is nearly empty.
        Auto = "auto",
    }
}

choices! {
    /// Which URLs belong to the crawl.
    ScopeKind {
        /// URLs with the host of a seed, on any port.
        #[default]
        Host = "host",
        /// URLs with the registrable domain of a seed.
        Domain = "domain",
        /// URLs that start with a seed.
        Prefix = "prefix",
        /// All URLs.
        Any = "any",
    }
}

choices! {
    /// How links marked `nofollow` are treated.
    Obedience {
        /// They are not followed.
        #[default]
        Obey = "obey",
        /// They are followed.
        Ignore = "ignore",
    }
}

choices! {
    /// How pages marked `noarchive` are treated.
    Noarchive {
        /// Their bodies are not archived.
        #[default]
        Obey = "obey",
        /// Their bodies are archived.
        Ignore = "ignore",
        /// Their bodies are archived, with the directive.
        Record = "record",
    }
}

choices! {
    /// The HTML parser.
    Parser {
        /// One pass, without a tree.
        #[default]
        Fast = "fast",
        /// Builds a tree.
        Dom = "dom",
    }
}

choices! {
    /// How candidates for comparison are filtered.
    FilterKind {
        /// Misses no near-duplicate.
        #[default]
        Exact = "exact",
        /// The filter of the paper.
        Paper = "paper",
    }
}

choices! {
    /// The pages that a page is compared with.
    ComparedPages {
        /// All.
        #[default]
        All = "all",
        /// Those of the same host.
        Host = "host",
    }
}

choices! {
    /// The stemmer.
    Stemming {
        /// The English one for all pages.
        #[default]
        Same = "same",
        /// The one for the language of the page.
        Language = "language",
    }
}

choices! {
    /// How URLs that rules predict to be duplicates are treated.
    PredictedUrls {
        /// Skipped, except for a sample.
        #[default]
        Skip = "skip",
        /// Fetched; the rules are still measured.
        Fetch = "fetch",
    }
}

choices! {
    /// Which of several matches a verdict names.
    MatchKind {
        /// The first match found.
        #[default]
        Any = "any",
        /// The most similar match.
        Best = "best",
    }
}

choices! {
    /// The log level.
    LogLevel {
        /// Errors.
        Error = "error",
        /// Warnings and errors.
        Warn = "warn",
        /// Events of interest to a user.
        #[default]
        Info = "info",
        /// What the crawl does.
        Debug = "debug",
        /// And each URL.
        Trace = "trace",
        /// And what libraries say.
        All = "all",
    }
}

choices! {
    /// The format of log lines.
    LogFormat {
        /// Text.
        #[default]
        Text = "text",
        /// One JSON object per line.
        Json = "json",
    }
}

choices! {
    /// How progress is shown on stderr.
    ProgressMode {
        /// A bar on a terminal, otherwise lines.
        #[default]
        Auto = "auto",
        /// A line every few seconds.
        Plain = "plain",
        /// A JSON object every few seconds.
        Json = "json",
        /// Not at all.
        None = "none",
    }
}

choices! {
    /// When output is colored.
    ColorChoice {
        /// On a terminal, unless the environment forbids it.
        #[default]
        Auto = "auto",
        /// Always.
        Always = "always",
        /// Never.
        Never = "never",
    }
}

choices! {
    /// The second check of the detector `mwo`, between pages of similar weights.
    SecondCheck {
        /// Compares what either page says for itself.
        #[default]
        OwnWords = "own-words",
        /// Compares weights only.
        None = "none",
    }
}

impl Scalar for DuplicateLinks {
    fn from_text(text: &str) -> Result<Self, String> {
        text.parse().map_err(|error: DuplicateLinksError| error.to_string())
    }

    fn to_value(&self) -> Value {
        Value::from(self.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_back_as_itself() {
        for word in ScopeKind::WORDS.split('|') {
            assert_eq!(ScopeKind::from_text(word).unwrap().word(), word);
        }
        assert_eq!(ScopeKind::from_text("hosts").unwrap_err(), "'hosts' is none of host, domain, prefix, any");
    }

    #[test]
    fn a_sample_of_duplicate_links_names_its_share() {
        for text in ["skip", "follow", "defer", "sample:0.25"] {
            assert_eq!(DuplicateLinks::from_text(text).unwrap().to_value(), Value::from(text));
        }
        for text in ["sample", "sample:2", "sample:", "none"] {
            assert!(DuplicateLinks::from_text(text).is_err(), "{text}");
        }
    }
}
