//! *Which keys exist?* One table of keys.
//!
//! Flags, environment variables, configuration files, `config show`, `config init` and the help are generated from
//! it.

mod browser;
mod dedup;
mod focus;
mod http;
mod output;
mod pdf;
mod politeness;
mod scope;

use serde_json::Value;
use strsim::levenshtein;

use crate::cli::config::settings::Settings;
use crate::model::Detector;

pub use browser::Browser;
pub use dedup::{Dedup, Dust, Render};
pub use focus::Focus;
pub use http::{Http, Security};
pub use output::{Dashboard, Log, Out};
pub use pdf::Pdf;
pub use politeness::{Identity, Politeness};
pub use scope::{Normalise, Scope};

/// The help heading of flags about duplicates.
pub const NEAR_DUPLICATES: &str = "Near-duplicates";

/// The help headings of flags, in order.
pub const HEADINGS: [&str; 9] =
    ["Input", "Scope", "Politeness", "HTTP", "Security", NEAR_DUPLICATES, "Output", "Dashboard", "Logging"];

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `--flag VALUE`, with the name of the value in the help.
    Value(&'static str),
    /// `--flag WORD`, one of these words, separated by bars.
    Choice(&'static str),
    /// `--flag` alone, which sets this text.
    Switch(&'static str),
    /// `--flag VALUE`, repeatable.
    List(&'static str),
    /// Like `List`; one text may hold several values, separated by commas.
    CommaList(&'static str),
}

/// A setting.
#[derive(Debug)]
pub struct Key {
    /// The name in configuration files: the path of the field in [`Settings`].
    pub name: &'static str,
    /// A short name at the top level of a file.
    pub alias: Option<&'static str>,
    /// The flag, without hyphens.
    pub flag: Option<&'static str>,
    /// The one-letter flag.
    pub short: Option<char>,
    /// How the value is written.
    pub shape: Shape,
    /// The default, as text. Lists are separated by commas.
    pub default: &'static str,
    /// The effective default, if the text does not say it.
    pub default_note: Option<&'static str>,
    /// The description, one line.
    pub help: &'static str,
    /// The description of the flag, if it sets the opposite.
    pub flag_help: Option<&'static str>,
    /// The reason for the default, and what else there is to know.
    pub because: &'static str,
    /// A use of the flag.
    pub example: Option<&'static str>,
    /// The detectors that have this option; none if it is not theirs alone.
    pub detectors: &'static [Detector],
    /// Whether the value is fixed once a crawl has started.
    pub fixed: bool,
    read: fn(&mut Settings, &[String]) -> Result<(), String>,
    show: fn(&Settings) -> Value,
}

impl Key {
    const fn new(name: &'static str, access: Access, shape: Shape, default: &'static str, help: &'static str) -> Self {
        Self {
            name,
            alias: None,
            flag: None,
            short: None,
            shape,
            default,
            default_note: None,
            help,
            flag_help: None,
            because: "",
            example: None,
            detectors: &[],
            fixed: false,
            read: access.0,
            show: access.1,
        }
    }

    const fn flag(mut self, flag: &'static str) -> Self {
        self.flag = Some(flag);
        self
    }

    const fn short(mut self, letter: char) -> Self {
        self.short = Some(letter);
        self
    }

    const fn alias(mut self, alias: &'static str) -> Self {
        self.alias = Some(alias);
        self
    }

    const fn note(mut self, note: &'static str) -> Self {
        self.default_note = Some(note);
        self
    }

    const fn flag_help(mut self, help: &'static str) -> Self {
        self.flag_help = Some(help);
        self
    }

    const fn because(mut self, reason: &'static str) -> Self {
        self.because = reason;
        self
    }

    const fn example(mut self, example: &'static str) -> Self {
        self.example = Some(example);
        self
    }

    /// Puts the key behind `--detector-option`.
    const fn of(mut self, detectors: &'static [Detector]) -> Self {
        self.detectors = detectors;
        self
    }

    const fn fixed(mut self) -> Self {
        self.fixed = true;
        self
    }

    /// Reads texts into the field of the key.
    pub fn read(&self, settings: &mut Settings, texts: &[String]) -> Result<(), String> {
        (self.read)(settings, &self.split(texts))
    }

    /// Returns the value as in a configuration file, secrets masked.
    pub fn show(&self, settings: &Settings) -> Value {
        (self.show)(settings)
    }

    /// Returns whether a file or the environment may use this name for the key.
    pub fn is_named(&self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }

    /// Returns all names of the key, the current one first.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        [Some(self.name), self.alias].into_iter().flatten()
    }

    /// Returns the help heading of the flag, which follows from the table.
    pub fn heading(&self) -> &'static str {
        match self.name.split('.').next().unwrap_or_default() {
            "seeds" | "seeds_file" => "Input",
            "engine" | "scope" | "focus" | "normalise" => "Scope",
            "politeness" | "identity" => "Politeness",
            "http" | "browser" | "pdf" => "HTTP",
            "security" => "Security",
            "random_seed" | "render" | "dedup" | "dust" => NEAR_DUPLICATES,
            "fail_over" | "max_duplicate_rate" | "out" => "Output",
            "dashboard" => "Dashboard",
            _ => "Logging",
        }
    }

    /// Returns the default as texts.
    pub fn default_texts(&self) -> Vec<String> {
        match self.shape {
            Shape::List(_) | Shape::CommaList(_) => split_at_commas(self.default).collect(),
            _ => vec![self.default.to_owned()],
        }
    }

    /// Returns the default as people read it.
    pub fn shown_default(&self) -> &'static str {
        self.default_note.unwrap_or(self.default)
    }

    /// Returns the name for `--detector-option`, if the key is an option of a detector.
    pub fn option_name(&self) -> Option<&'static str> {
        self.name.strip_prefix("dedup.").filter(|_| !self.detectors.is_empty())
    }

    /// Returns the environment variable.
    pub fn variable(&self) -> String {
        variable_of(self.name)
    }

    /// Returns whether the value is a list.
    pub fn is_list(&self) -> bool {
        matches!(self.shape, Shape::List(_) | Shape::CommaList(_))
    }

    fn split(&self, texts: &[String]) -> Vec<String> {
        match self.shape {
            Shape::CommaList(_) => texts.iter().flat_map(|text| split_at_commas(text)).collect(),
            _ => texts.to_vec(),
        }
    }
}

/// Returns the environment variable of a key.
pub fn variable_of(name: &str) -> String {
    format!("NDCRAWL_{}", name.to_ascii_uppercase().replace(['.', '-'], "_"))
}

/// Returns all keys in the order of listings: the top level first, then table by table.
pub fn all() -> impl Iterator<Item = &'static Key> {
    let tables = [
        scope::TOP,
        Scope::KEYS,
        Focus::KEYS,
        Politeness::KEYS,
        Identity::KEYS,
        Http::KEYS,
        Security::KEYS,
        Browser::KEYS,
        Pdf::KEYS,
        Normalise::KEYS,
        Render::KEYS,
        Dedup::KEYS,
        dedup::FUZZY,
        Dust::KEYS,
        Out::KEYS,
        Dashboard::KEYS,
        Log::KEYS,
    ];
    tables.into_iter().flatten()
}

/// Returns the key with this name or alias.
pub fn find(name: &str) -> Option<&'static Key> {
    all().find(|key| key.is_named(name))
}

#[cfg(feature = "cluster")]
/// Whether a key belongs to a crawl, which several processes may share, and not to each of them.
pub fn is_of_the_crawl(name: &str) -> bool {
    const TABLES: [&str; 7] = ["scope.", "focus.", "politeness.", "normalise.", "render.", "dedup.", "dust."];
    const ALSO: [&str; 8] = [
        "engine",
        "random_seed",
        "identity.robots_agent",
        "http.max_body",
        "http.max_redirects",
        "http.accept_types",
        "http.markdown",
        "browser.mode",
    ];
    const NOT: [&str; 4] = ["scope.max_time", "politeness.concurrency", "dedup.against", "dust.rules"];
    (TABLES.iter().any(|table| name.starts_with(table)) || ALSO.contains(&name)) && !NOT.contains(&name)
}

/// Returns the key whose name is most similar, if one is similar enough.
pub fn nearest(name: &str) -> Option<&'static str> {
    // The user may know the last part and not the table, or the reverse.
    let distance = |key: &Key| {
        let last = key.name.rsplit('.').next().unwrap_or_default();
        let name_last = name.rsplit('.').next().unwrap_or_default();
        levenshtein(name, key.name).min(levenshtein(name_last, last) + 1)
    };
    let best = all().min_by_key(|key| distance(key))?;
    (distance(best) <= 1 + name.len() / 3).then_some(best.name)
}

fn split_at_commas(text: &str) -> impl Iterator<Item = String> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned)
}

type Access = (fn(&mut Settings, &[String]) -> Result<(), String>, fn(&Settings) -> Value);

/// Declares a key named by the path of its field.
macro_rules! key {
    ($first:ident $(. $rest:ident)*, $shape:expr, $default:expr, $help:expr) => {
        $crate::cli::config::schema::Key::new(
            concat!(stringify!($first) $(, ".", stringify!($rest))*),
            (
                |settings, texts| {
                    settings.$first$(.$rest)* = $crate::cli::config::value::Setting::read(texts)?;
                    Ok(())
                },
                |settings| $crate::cli::config::value::Setting::show(&settings.$first$(.$rest)*),
            ),
            $shape,
            $default,
            $help,
        )
    };
}

/// Declares a table of settings: its struct, and a key for each field. What a field is for is the help of its key.
macro_rules! table {
    ($(#[$meta:meta])* pub struct $name:ident: $table:ident $(with $inner:ident: $inner_type:ty)? {
        $(#[doc = $help:literal] pub $field:ident: $type:ty = key($shape:expr, $default:expr)
            $(.$method:ident($($argument:expr),*))*,)+
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        pub struct $name {
            $(#[doc = $help] pub $field: $type,)+
            $(#[allow(missing_docs)] pub $inner: $inner_type,)?
        }

        impl $name {
            /// The keys of the table.
            pub const KEYS: &'static [$crate::cli::config::schema::Key] = &[$(
                $crate::cli::config::schema::key!($table . $field, $shape, $default, $help.trim_ascii_start())
                    $(.$method($($argument),*))*
            ),+];
        }
    };
}

use {key, table};

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_variables_and_flags_are_unique() {
        let count = all().count();
        assert_eq!(all().map(|key| key.name).collect::<BTreeSet<_>>().len(), count);
        assert_eq!(all().map(Key::variable).collect::<BTreeSet<_>>().len(), count);
        let flags: Vec<_> = all().filter_map(|key| key.flag).collect();
        assert_eq!(flags.iter().collect::<BTreeSet<_>>().len(), flags.len());
    }

    #[test]
    fn every_key_is_documented_in_one_line() {
        for key in all() {
            assert!(!key.help.is_empty() && !key.help.contains('\n'), "{}", key.name);
            assert!(key.help.len() <= 100, "{}: {}", key.name, key.help.len());
            assert!(HEADINGS.contains(&key.heading()), "{}", key.name);
        }
    }

    #[test]
    fn every_key_says_why_and_every_flag_has_an_example() {
        for key in all() {
            assert!(!key.because.is_empty() && key.because.ends_with('.'), "{}", key.name);
            assert!(!key.because.contains('\n') && key.because.len() <= 140, "{}: {}", key.name, key.because.len());
            let flag = key.option_name().map_or(key.flag, |_| Some("detector-option"));
            assert_eq!(key.example.is_some(), flag.is_some(), "{}", key.name);
            let shown = key.example.unwrap_or_default();
            let is_shown = |flag| shown.contains(&format!("--{flag}"));
            let has_short = key.short.is_some_and(|letter| shown.starts_with(&format!("-{letter}")));
            assert!(flag.is_none_or(is_shown) || has_short, "{}: {shown}", key.name);
        }
    }

    #[test]
    fn a_key_has_a_variable() {
        assert_eq!(find("politeness.delay").unwrap().variable(), "NDCRAWL_POLITENESS_DELAY");
        assert_eq!(find("scope.max_pages").unwrap().variable(), "NDCRAWL_SCOPE_MAX_PAGES");
    }

    #[test]
    fn a_misspelt_key_finds_its_neighbour() {
        assert_eq!(nearest("politeness.dely"), Some("politeness.delay"));
        assert_eq!(nearest("delay"), Some("politeness.delay"));
        assert_eq!(nearest("scope.max-pages"), Some("scope.max_pages"));
        assert_eq!(nearest("http.delay"), Some("politeness.delay"));
        assert_eq!(nearest("zzzzzzzzzzzz"), None);
    }
}
