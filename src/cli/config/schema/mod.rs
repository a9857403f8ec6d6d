//! *Which keys exist?* One table of keys.
//!
//! Flags, environment variables, configuration files, `config show`, `config init` and the help are generated from
//! it.

mod browser;
mod dedup;
mod focus;
mod http;
pub mod key;
mod output;
mod pdf;
mod politeness;
mod scope;

use strsim::levenshtein;

use crate::cli::config::settings::Settings;

pub use browser::Browser;
pub use dedup::{Dedup, Dust, Render};
pub use focus::Focus;
pub use http::{Http, Security};
pub use key::{Key, Owner, Shape};
pub use output::{Dashboard, Log, Out};
pub use pdf::Pdf;
pub use politeness::{Identity, Politeness};
pub use scope::{Normalise, Scope};

/// The help heading of flags about duplicates.
pub const NEAR_DUPLICATES: &str = "Near-duplicates";

/// The help headings of flags, in order.
pub const HEADINGS: [&str; 9] =
    ["Input", "Scope", "Politeness", "HTTP", "Security", NEAR_DUPLICATES, "Output", "Dashboard", "Logging"];

/// Returns the environment variable of a key.
pub fn variable_of(name: &str) -> String {
    format!("NDCRAWL_{}", name.to_ascii_uppercase().replace(['.', '-'], "_"))
}

/// Returns all keys in the order of listings: the top level first, then table by table.
pub fn all() -> impl Iterator<Item = &'static Key> {
    let tables = [
        Settings::KEYS,
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

/// Returns the environment variable whose name is most similar, if one is similar enough.
pub fn nearest_variable(name: &str) -> Option<String> {
    let table = name.trim_start_matches("NDCRAWL_").to_ascii_lowercase();
    nearest(&table.replacen('_', ".", 1)).map(variable_of)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_variables_and_flags_are_unique() {
        let count = all().count();
        assert_eq!(all().map(|key| key.name).collect::<BTreeSet<_>>().len(), count);
        assert_eq!(all().map(|key| variable_of(key.name)).collect::<BTreeSet<_>>().len(), count);
        let flags: Vec<_> = all().filter_map(|key| key.flag).collect();
        assert_eq!(flags.iter().collect::<BTreeSet<_>>().len(), flags.len());
    }

    #[test]
    fn every_key_is_documented_in_one_line() {
        for key in all() {
            assert!(!key.help().is_empty(), "{}", key.name);
            assert!(key.help().len() <= 100, "{}: {}", key.name, key.help().len());
            assert!(HEADINGS.contains(&key.heading()), "{}", key.name);
        }
    }

    #[test]
    fn every_key_says_why_and_every_flag_has_an_example() {
        for key in all() {
            let because = key.because();
            assert!(because.ends_with('.') && because.len() <= 140, "{}: {because}", key.name);
            let flag = key.option_name().map_or(key.flag, |_| Some("detector-option"));
            assert_eq!(key.example().is_some(), flag.is_some(), "{}", key.name);
            let shown = key.example().unwrap_or_default();
            let is_shown = |flag| shown.contains(&format!("--{flag}"));
            let has_short = key.short.is_some_and(|letter| shown.starts_with(&format!("-{letter}")));
            assert!(flag.is_none_or(is_shown) || has_short, "{}: {shown}", key.name);
        }
    }

    #[test]
    fn a_key_has_a_variable() {
        assert_eq!(variable_of("politeness.delay"), "NDCRAWL_POLITENESS_DELAY");
        assert_eq!(variable_of("scope.max_pages"), "NDCRAWL_SCOPE_MAX_PAGES");
    }

    #[test]
    fn a_misspelt_key_finds_its_neighbour() {
        assert_eq!(nearest("politeness.dely"), Some("politeness.delay"));
        assert_eq!(nearest("delay"), Some("politeness.delay"));
        assert_eq!(nearest("scope.max-pages"), Some("scope.max_pages"));
        assert_eq!(nearest("http.delay"), Some("politeness.delay"));
        assert_eq!(nearest("zzzzzzzzzzzz"), None);
        assert_eq!(nearest_variable("NDCRAWL_POLITENES_DELAY").as_deref(), Some("NDCRAWL_POLITENESS_DELAY"));
        assert_eq!(nearest_variable("NDCRAWL_ZZZZZZZZZZZZ"), None);
    }
}
