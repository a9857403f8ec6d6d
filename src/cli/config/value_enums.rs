//! Values of keys that are one word out of a few.

use serde_json::Value;

use crate::cli::config::value::Scalar;
use crate::index::FilterKind;
use crate::{detect, frontier, pagetext};

/// A value that is one word out of a few.
pub trait Choice: Copy + PartialEq + 'static {
    /// The words, separated by bars, in the order of the help.
    const WORDS: &'static str;
    /// The values, in the order of their words.
    const VALUES: &'static [Self];

    /// Returns the word of this choice.
    fn word(self) -> &'static str {
        let mut words = Self::WORDS.split('|').zip(Self::VALUES);
        words.find(|(_, value)| **value == self).map_or("", |(word, _)| word)
    }
}

impl<T: Choice> Scalar for T {
    fn from_text(text: &str) -> Result<Self, String> {
        // A file may say on and off as truth values.
        let wanted = match text {
            "true" | "yes" | "1" => "on",
            "false" | "no" | "0" => "off",
            word => word,
        };
        let value = T::WORDS.split('|').zip(T::VALUES).find(|(word, _)| *word == wanted).map(|(_, value)| *value);
        value.ok_or_else(|| format!("'{text}' is none of {}", T::WORDS.replace('|', ", ")))
    }

    fn to_value(&self) -> Value {
        Value::from(self.word())
    }
}

/// Gives words to the values of a type of another room.
macro_rules! words {
    ($name:ty { $first:ident = $first_word:literal, $($variant:ident = $word:literal),+ $(,)? }) => {
        impl Choice for $name {
            const WORDS: &'static str = concat!($first_word, $("|", $word),+);
            const VALUES: &'static [Self] = &[Self::$first, $(Self::$variant),+];
        }
    };
}

/// Declares a type with a word for each value.
macro_rules! choices {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum $name {
            $($(#[$variant_doc])* $variant),+
        }

        words! { $name { $($variant = $word),+ } }
    };
}

words! { frontier::ScopeKind { Host = "host", Domain = "domain", Prefix = "prefix", Any = "any" } }
words! { pagetext::Parser { Fast = "fast", Dom = "dom" } }
words! { pagetext::Rules { Same = "same", OfLanguage = "language" } }
words! { FilterKind { Exact = "exact", Paper = "paper" } }
words! { detect::Within { Crawl = "all", Host = "host" } }
words! { detect::Mode { Any = "any", Best = "best" } }
words! { detect::SecondCheck { OwnWords = "own-words", None = "none" } }

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

choices! {
    /// Whether sitemaps are read, and links followed.
    Sitemaps {
        /// The sitemaps that robots.txt names are read, and links are followed.
        #[default]
        On = "on",
        /// Links are followed.
        Off = "off",
        /// Sitemaps are read.
        Only = "only",
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crawl::DuplicateLinks;
    use crate::frontier::ScopeKind;

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
