//! Settings that are one word out of a few.

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
            /// The words, in the order in which help names them, with bars between.
            pub const WORDS: &'static str = concat!($first_word, $("|", $word),+);

            /// The word that stands for this choice.
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
    /// What decides which URL comes next.
    EngineKind {
        /// The crawl's own frontier.
        #[default]
        Frontier = "frontier",
        /// The crate of that name.
        Spider = "spider",
    }
}

choices! {
    /// What of a page is read.
    PageSource {
        /// What the server sends.
        #[default]
        Static = "static",
        /// What its scripts have drawn.
        Browser = "browser",
        /// What its scripts have drawn, if it says nearly nothing without them.
        Auto = "auto",
    }
}

choices! {
    /// Which URLs belong to the crawl.
    ScopeKind {
        /// Those with the host name of a seed, any port.
        #[default]
        Host = "host",
        /// Those with the registrable domain of a seed.
        Domain = "domain",
        /// Those that begin with a seed.
        Prefix = "prefix",
        /// All.
        Any = "any",
    }
}

choices! {
    /// What to do about `nofollow`.
    Obedience {
        /// Links so marked are not followed.
        #[default]
        Obey = "obey",
        /// They are followed as others are.
        Ignore = "ignore",
    }
}

choices! {
    /// What to do about `noarchive`.
    Noarchive {
        /// The body of a page so marked is not archived.
        #[default]
        Obey = "obey",
        /// It is archived.
        Ignore = "ignore",
        /// It is archived, and the directive recorded with it.
        Record = "record",
    }
}

choices! {
    /// How HTML is read.
    Parser {
        /// In one pass.
        #[default]
        Fast = "fast",
        /// By way of a tree.
        Dom = "dom",
    }
}

choices! {
    /// By which cut pages that cannot match are left out of the comparison.
    FilterKind {
        /// Loses no near-duplicate.
        #[default]
        Exact = "exact",
        /// As the paper has it.
        Paper = "paper",
    }
}

choices! {
    /// By which rules words become terms.
    Stemming {
        /// By those of English, whatever the page's language.
        #[default]
        Same = "same",
        /// By those of the page's language.
        Language = "language",
    }
}

choices! {
    /// What becomes of URLs that rules foretell to be duplicates.
    PredictedUrls {
        /// They are not fetched, but for a sample.
        #[default]
        Skip = "skip",
        /// They are fetched, and the rules measured.
        Fetch = "fetch",
    }
}

choices! {
    /// Which of several matches a verdict names.
    MatchKind {
        /// The first one found.
        #[default]
        Any = "any",
        /// The most similar one.
        Best = "best",
    }
}

choices! {
    /// How much is logged.
    LogLevel {
        /// Errors only.
        Error = "error",
        /// Warnings too.
        Warn = "warn",
        /// What a person wants to know.
        #[default]
        Info = "info",
        /// What each URL meets.
        Debug = "debug",
        /// Everything.
        Trace = "trace",
    }
}

choices! {
    /// What is written when a crawl ends.
    Format {
        /// The report, one web page.
        #[default]
        Html = "html",
        /// Nothing.
        None = "none",
    }
}

choices! {
    /// The form of log lines.
    LogFormat {
        /// For people.
        #[default]
        Text = "text",
        /// One object a line.
        Json = "json",
    }
}

choices! {
    /// How progress is shown on stderr.
    ProgressMode {
        /// A bar on a terminal, else plain lines.
        #[default]
        Auto = "auto",
        /// A line every few seconds.
        Plain = "plain",
        /// The same as one JSON object a line.
        Json = "json",
        /// Not at all.
        None = "none",
    }
}

choices! {
    /// When to colour.
    ColorChoice {
        /// On a terminal that has not asked otherwise.
        #[default]
        Auto = "auto",
        /// Always.
        Always = "always",
        /// Never.
        Never = "never",
    }
}

/// The second check of the detector `mwo`, between pages of similar weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SecondCheck {
    /// Compares the running text, without the template of the host.
    #[default]
    Template,
    /// Compares weights only.
    None,
}

impl SecondCheck {
    /// The words, separated by bars, in the order of the help.
    pub const WORDS: &'static str = "template|none";

    /// The word in `crawl.json` and in fingerprints, as `dedup.weights` had it first.
    pub fn stored_word(self) -> &'static str {
        match self {
            Self::Template => "host",
            Self::None => "paper",
        }
    }
}

impl Scalar for SecondCheck {
    fn from_text(text: &str) -> Result<Self, String> {
        match text {
            "template" | "host" => Ok(Self::Template),
            "none" | "paper" => Ok(Self::None),
            _ => Err(format!("'{text}' is none of {}", Self::WORDS.replace('|', ", "))),
        }
    }

    fn to_value(&self) -> Value {
        Value::from(match self {
            Self::Template => "template",
            Self::None => "none",
        })
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
