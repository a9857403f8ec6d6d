//! Generates the file of `config init` and the listing of `config show`.

use std::fmt::Write as _;

use serde_json::Value;

use crate::cli::config::schema::{self, Key, Shape};
use crate::cli::config::settings::Settings;
use crate::cli::terminal_safe::terminal_safe;

const HEAD: &str = "\
# Settings of ndcrawl, all at their defaults. Remove the # of a line to change it.
#
# Read from ./ndcrawl.toml, from ndcrawl/config.toml in the user's configuration folder, or from
# --config FILE. Flags override NDCRAWL_ variables, and variables override files.
# 'ndcrawl config show' lists all settings in force and their sources.
# Durations: 500ms, 2s, 1m, 1h. Sizes: 64K, 10M, 1G.
";

/// Returns the commented configuration file: every key with its default.
pub fn template() -> String {
    let mut text = HEAD.to_owned();
    let (defaults, mut table) = (Settings::default(), "");
    for key in schema::all() {
        let (key_table, name) = key.name.rsplit_once('.').unwrap_or(("", key.name));
        if key_table != table {
            table = key_table;
            // Writing to a String cannot fail, here and below.
            let _ = write!(text, "\n[{table}]\n");
        }
        let _ = write!(text, "\n# {}\n# {name} = {}\n", described(key), toml_literal(&key.show(&defaults)));
    }
    text
}

fn described(key: &Key) -> String {
    let mut text = key.help().to_owned();
    if let Shape::Choice(words) = key.shape
        && words != "on|off"
    {
        let _ = write!(text, " ({})", words.replace('|', ", "));
    }
    if let Some(note) = key.default_note.filter(|_| key.default.is_empty()) {
        let _ = write!(text, "; default: {note}");
    }
    text.push('.');
    if key.fixed {
        text.push_str(" Fixed once a crawl has started.");
    }
    text
}

fn toml_literal(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(toml_literal).collect::<Vec<_>>().join(", ")),
        Value::String(text) => toml::Value::from(text.as_str()).to_string(),
        other => other.to_string(),
    }
}

/// Returns every value in force with its source, aligned.
pub fn listing(settings: &Settings) -> String {
    let line = |key: &Key| {
        let value = toml_literal(&key.show(settings));
        format!("{:<28} = {:<32} # {}", key.name, value, settings.source(key.name))
    };
    schema::all().map(|key| format!("{}\n", terminal_safe(line(key).trim_end()))).collect()
}

/// Returns every value in force with its source, key to object.
pub fn listing_json(settings: &Settings) -> Value {
    let entry = |key: &Key| {
        let source = settings.source(key.name).to_string();
        (key.name.to_owned(), serde_json::json!({ "value": key.show(settings), "source": source }))
    };
    Value::Object(schema::all().map(entry).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::config::file::from_text;
    use crate::cli::config::merge::merge;
    use crate::cli::config::merge::tests::settings;

    #[test]
    fn the_file_in_the_repository_is_what_config_init_writes() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/config/ndcrawl.toml");
        if std::env::var_os("NDCRAWL_UPDATE_TEMPLATE").is_some() {
            std::fs::write(path, template()).unwrap();
        }
        assert_eq!(std::fs::read_to_string(path).unwrap(), template(), "run with NDCRAWL_UPDATE_TEMPLATE=1");
    }

    #[test]
    fn the_template_without_its_comment_signs_sets_every_default() {
        assert_eq!(merge(from_text("f", &template()).unwrap()).unwrap().to_json(), settings(&[]).to_json());
        let is_value = |line: &str| line.split_once(" = ").is_some_and(|(name, _)| !name.contains(' '));
        let bare: String = template()
            .lines()
            .map(|line| line.strip_prefix("# ").filter(|rest| is_value(rest)).unwrap_or(line))
            .map(|line| format!("{line}\n"))
            .collect();
        let given = from_text("f", &bare).unwrap();
        assert_eq!(given.len(), schema::all().count());
        assert_eq!(merge(given).unwrap().to_json(), settings(&[]).to_json());
    }

    #[test]
    fn the_listing_reads_as_a_file_again() {
        let shown =
            settings(&[("politeness.delay", "3s"), ("http.headers", "X-A: \"b\""), ("scope.exclude", "\\.pdf$")]);
        let lines = listing(&shown);
        assert!(lines.contains("= \"3s\"") && lines.contains("# --politeness.delay"), "{lines}");
        assert_eq!(merge(from_text("f", &lines).unwrap()).unwrap().to_json(), shown.to_json());
    }

    #[test]
    fn the_listing_as_json_names_value_and_source() {
        let json = listing_json(&settings(&[("scope.depth", "3")]));
        assert_eq!(json["scope.depth"], serde_json::json!({ "value": 3, "source": "--scope.depth" }));
        assert_eq!(json["scope.kind"]["source"], "default");
    }
}
