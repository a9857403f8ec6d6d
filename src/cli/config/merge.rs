//! Merges all layers into [`Settings`].
//!
//! Precedence: flag, environment, `--config` file, `./ndcrawl.toml`, `$XDG_CONFIG_HOME/ndcrawl/config.toml`, default.
//! A list replaces the list of a lower layer. An overridden value must be valid too: a mistake in a file should show
//! before the flag is left out.

use std::ffi::OsString;

use crate::cli::config::http_values::HeaderText;
use crate::cli::config::schema;
use crate::cli::config::settings::Settings;
use crate::cli::config::source::{GivenValue, Source};
use crate::cli::config::value_enums::{EngineKind, Sitemaps};
use crate::cli::errors::CliError;
use crate::crawl::DuplicateLinks;
use crate::detect::{self, SecondCheck};
use crate::frontier::ScopeKind;
use crate::model::Detector;

/// Merges the values, the lowest layer first, and validates the result.
pub fn merge(given: Vec<GivenValue>) -> Result<Settings, CliError> {
    let mut settings = Settings::default();
    for value in lower_seeds_dropped(given) {
        let key = value.key;
        key.read(&mut settings, &value.texts).map_err(|why| CliError::usage(format!("{}: {why}", named(&value))))?;
        settings.sources.insert(key.name, value.source);
    }
    settle(settings)
}

impl Settings {
    /// Sets one key on behalf of a command.
    pub fn with(mut self, key: &str, text: &str) -> Result<Self, CliError> {
        let found = schema::find(key).ok_or_else(|| CliError::usage(format!("unknown key '{key}'")))?;
        let read = found.read(&mut self, &[text.to_owned()]);
        read.map_err(|why| CliError::usage(format!("{key}: {why}")))?;
        self.sources.insert(found.name, Source::Flag("the command".to_owned()));
        settle(self)
    }
}

/// Returns the values of environment variables, and the unknown variables with our prefix.
pub fn from_environment(variables: impl Iterator<Item = (OsString, OsString)>) -> (Vec<GivenValue>, Vec<String>) {
    let (mut given, mut unknown) = (Vec::new(), Vec::new());
    for (name, value) in variables {
        let name = name.to_string_lossy().into_owned();
        if !name.starts_with("NDCRAWL_") {
            continue;
        }
        let is_named = |key: &&schema::Key| key.names().any(|known| schema::variable_of(known) == name);
        match schema::all().find(is_named) {
            Some(key) => {
                let texts = environment_texts(key, &value.to_string_lossy());
                given.push(GivenValue { key, texts, source: Source::Environment(name) });
            }
            None => unknown.push(name),
        }
    }
    unknown.sort();
    (given, unknown)
}

/// A list has one value a line: URLs, expressions and header fields may contain commas. Other lists may have commas, too.
fn environment_texts(key: &schema::Key, value: &str) -> Vec<String> {
    match key.shape {
        schema::Shape::List(_) | schema::Shape::CommaList(_) => {
            value.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
        }
        _ => vec![value.to_owned()],
    }
}

/// Names a value in an error. Flags and variables name the key already, a line of a file does not.
fn named(value: &GivenValue) -> String {
    match value.source {
        Source::File(..) | Source::Default => format!("{}: {}", value.source, value.key.name),
        _ => value.source.to_string(),
    }
}

/// Drops seeds of lower layers: with a URL on the command line, those of the file are not crawled.
fn lower_seeds_dropped(mut given: Vec<GivenValue>) -> Vec<GivenValue> {
    let is_seeds = |value: &GivenValue| matches!(value.key.name, "seeds" | "seeds_file");
    let Some(highest) = given.iter().rfind(|value| is_seeds(value)).cloned() else { return given };
    given.retain(|value| !is_seeds(value) || layer(&value.source) == layer(&highest.source));
    given
}

/// Returns an identity of the layer; each configuration file is a layer.
fn layer(source: &Source) -> (u8, &str) {
    match source {
        Source::Default => (0, ""),
        Source::File(path, _) => (1, path),
        Source::Environment(_) => (2, ""),
        Source::Flag(_) => (3, ""),
    }
}

/// Refuses values that contradict each other, and sets what follows from others.
fn settle(mut settings: Settings) -> Result<Settings, CliError> {
    let has_second = settings.dedup.second_check == SecondCheck::OwnWords;
    expect_sound_scope(&settings)?;
    if let Some(listen) = settings.dashboard.listen.filter(|listen| !listen.is_loopback() && !settings.dashboard.public)
    {
        return Err(settings
            .refuse("dashboard.listen", format!("{listen} can be reached from other machines"))
            .with_hint("the dashboard has no password; use a loopback address, or add --dashboard-public"));
    }
    if settings.dedup.lose_at_most.is_some() && !(has_second && settings.dedup.detector == Detector::Mwo) {
        return Err(settings
            .refuse("dedup.lose_at_most", "only the detector mwo with own words counts what is lost")
            .with_hint("leave out --detector and second_check, or the bound"));
    }
    if settings.identity.user_agent.0.is_empty() {
        settings.identity.user_agent = HeaderText(user_agent(&settings.identity.contact.0));
    }
    settings.dedup.threshold.get_or_insert(detect::Options::default_threshold(settings.dedup.detector, has_second));
    settings.dedup.thresholding.get_or_insert(detect::Options::default_thresholding(settings.dedup.detector));
    Ok(settings)
}

/// Refuses scopes without end or without pages, and what an engine cannot do.
fn expect_sound_scope(settings: &Settings) -> Result<(), CliError> {
    let refuse = |key, why: &str, hint: &str| Err(settings.refuse(key, why).with_hint(hint));
    let (scope, is_spider) = (&settings.scope, settings.engine == EngineKind::Spider);
    if scope.kind == ScopeKind::Any && scope.max_pages.is_none() {
        return refuse("scope.kind", "the scope 'any' is unlimited", "also give --max-pages N");
    }
    if scope.sitemaps == Sitemaps::Only && scope.depth == 0 {
        let hint = "leave out --depth: with --sitemaps only, no link is followed in any case";
        return refuse("scope.depth", "the pages that a sitemap lists are one step away from it", hint);
    }
    if is_spider && !settings.focus.terms.is_empty() {
        let hint = "leave out --engine spider: the built-in frontier can focus on a topic";
        return refuse("focus.terms", "the engine spider has its own order, so no page can be fetched first", hint);
    }
    if is_spider && settings.dedup.links == DuplicateLinks::Defer {
        let hint = "with --engine spider, --duplicate-links takes skip, follow or sample:P";
        return refuse("dedup.links", "the engine spider has its own order, so no link can be fetched last", hint);
    }
    Ok(())
}

/// Returns the default `User-Agent`. It names the contact if there is one.
fn user_agent(contact: &str) -> String {
    let product = concat!("ndcrawl/", env!("CARGO_PKG_VERSION"));
    if contact.is_empty() { product.to_owned() } else { format!("{product} (+{contact})") }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns the settings with these keys, given as flags.
    pub(crate) fn settings(pairs: &[(&str, &str)]) -> Settings {
        merge(pairs.iter().map(|(key, text)| flag(key, text)).collect()).unwrap()
    }

    fn given(key: &str, text: &str, source: Source) -> GivenValue {
        GivenValue { key: schema::find(key).unwrap(), texts: vec![text.to_owned()], source }
    }

    fn flag(key: &str, text: &str) -> GivenValue {
        given(key, text, Source::Flag(format!("--{key}")))
    }

    fn file(key: &str, text: &str) -> GivenValue {
        given(key, text, Source::File("ndcrawl.toml".to_owned(), 3))
    }

    fn variables(pairs: &[(&str, &str)]) -> impl Iterator<Item = (OsString, OsString)> {
        pairs.iter().map(|(k, v)| (OsString::from(k), OsString::from(v))).collect::<Vec<_>>().into_iter()
    }

    #[test]
    fn every_default_reads_and_shows_itself() {
        let mut settings = Settings::default();
        for key in schema::all() {
            key.read(&mut settings, &key.default_texts()).unwrap_or_else(|why| panic!("{}: {why}", key.name));
            let shown = key.show(&settings);
            let again = match &shown {
                serde_json::Value::Array(items) => items.iter().map(|item| item.as_str().unwrap().to_owned()).collect(),
                serde_json::Value::String(text) => vec![text.clone()],
                other => vec![other.to_string()],
            };
            key.read(&mut settings, &again).unwrap_or_else(|why| panic!("{}: {why}", key.name));
            assert_eq!(key.show(&settings), shown, "{}", key.name);
        }
    }

    #[test]
    fn a_list_of_repeated_flags_is_the_same_in_a_variable() {
        // Workers on one machine get the settings of the first one in variables.
        for key in schema::all().filter(|key| key.is_list()) {
            let Some((_, value)) = key.example().and_then(|example| example.split_once(' ')) else { continue };
            let texts = vec![value.trim_matches('\'').to_owned(); 2];
            let (variable, joined) = (schema::variable_of(key.name), texts.join("\n"));
            let (of_variable, _) = from_environment(variables(&[(&variable, &joined)]));
            let of_flags = GivenValue { key, texts, source: Source::Flag(key.name.to_owned()) };
            let shown = |given| key.show(&merge(given).unwrap_or_else(|error| panic!("{}: {error}", key.name)));
            assert_eq!(shown(of_variable), shown(vec![of_flags]), "{}", key.name);
        }
    }

    #[test]
    fn the_higher_layer_wins_and_is_named() {
        let (environment, _) = from_environment(variables(&[("NDCRAWL_POLITENESS_DELAY", "3s")]));
        let layers = [file("politeness.delay", "2s"), environment[0].clone(), flag("politeness.delay", "4s")];
        for (count, delay, source) in [
            (0, "1s", "default"),
            (1, "2s", "ndcrawl.toml:3"),
            (2, "3s", "NDCRAWL_POLITENESS_DELAY"),
            (3, "4s", "--politeness.delay"),
        ] {
            let settings = merge(layers[..count].to_vec()).unwrap();
            assert_eq!(settings.to_json()["politeness.delay"], delay);
            assert_eq!(settings.source("politeness.delay").to_string(), source);
            assert_eq!(settings.sources_to_json()["politeness.delay"], source);
        }
    }

    #[test]
    fn an_error_names_the_place_and_the_key() {
        let error = merge(vec![file("politeness.delay", "fast")]).unwrap_err();
        assert!(error.message.starts_with("ndcrawl.toml:3: politeness.delay: 'fast' is not a duration"), "{error}");
        assert_eq!(error.code, 2);
        let error = merge(vec![flag("scope.exclude", "(")]).unwrap_err();
        assert!(error.message.starts_with("--scope.exclude: '(' is not a regular expression"), "{error}");
    }

    #[test]
    fn an_overridden_mistake_is_a_mistake() {
        assert!(merge(vec![file("scope.depth", "-1"), flag("scope.depth", "1")]).is_err());
    }

    #[test]
    fn any_scope_needs_a_limit() {
        assert!(merge(vec![flag("scope.kind", "any")]).is_err());
        assert!(merge(vec![flag("scope.kind", "any"), flag("scope.max_pages", "10")]).is_ok());
    }

    #[test]
    fn pages_of_sitemaps_are_a_step_away() {
        assert!(merge(vec![flag("scope.sitemaps", "only"), flag("scope.depth", "0")]).is_err());
        for (text, shown) in [("on", "\"on\""), ("yes", "\"on\""), ("false", "\"off\""), ("only", "\"only\"")] {
            assert_eq!(settings(&[("scope.sitemaps", text)]).to_json()["scope.sitemaps"].to_string(), shown);
        }
    }

    #[test]
    fn each_detector_has_a_threshold_of_its_own_unless_one_is_set() {
        for (detector, threshold) in [("mwo", 0.3), ("dd", 0.8), ("fuzzy", 0.5)] {
            let settings = settings(&[("dedup.detector", detector)]);
            assert_eq!(settings.to_json()["dedup.threshold"], threshold, "{detector}");
            assert!(!settings.is_given("dedup.threshold"));
        }
        let settings = settings(&[("dedup.detector", "fuzzy"), ("dedup.threshold", "0"), ("dedup.store_below", "0")]);
        assert_eq!(settings.to_json()["dedup.threshold"], 0.0);
        assert_eq!(settings.to_json()["dedup.store_below"], 0.0, "a threshold, not the absence of one");
    }

    #[test]
    fn what_is_not_set_is_as_the_detector_has_it() {
        let shown = |pairs: &[(&str, &str)]| {
            let json = settings(pairs).to_json();
            format!("{} {}", json["dedup.threshold"], json["dedup.thresholding"])
        };
        assert_eq!(shown(&[]), "0.3 \"off\"");
        assert_eq!(shown(&[("dedup.detector", "extended-tdw")]), "0.9 \"off\"");
        assert_eq!(shown(&[("dedup.detector", "provenance")]), "0.5 \"paper\"");
        let set = [("dedup.detector", "provenance"), ("dedup.threshold", "0.8"), ("dedup.thresholding", "0.001")];
        assert_eq!(shown(&set), "0.8 0.001");
    }

    #[test]
    fn the_agent_names_the_contact_unless_it_is_set() {
        let agent = settings(&[("identity.contact", "mailto:me@example.org")]).identity.user_agent.0;
        assert_eq!(agent, format!("ndcrawl/{} (+mailto:me@example.org)", env!("CARGO_PKG_VERSION")));
        assert_eq!(settings(&[]).identity.user_agent.0, concat!("ndcrawl/", env!("CARGO_PKG_VERSION")));
        assert_eq!(settings(&[("identity.user_agent", "mine/1")]).identity.user_agent.0, "mine/1");
    }

    #[test]
    fn a_command_may_set_a_key_itself() {
        let settings = Settings::default().with("politeness.delay", "0").unwrap();
        assert!(settings.politeness.delay.is_zero() && settings.is_given("politeness.delay"));
        assert!(Settings::default().with("politeness.dely", "0").is_err());
        assert!(Settings::default().with("scope.kind", "any").is_err());
    }

    #[test]
    fn seeds_come_from_one_layer() {
        let layers = vec![file("seeds_file", "a.txt"), file("seeds", "http://a/"), flag("seeds", "http://b/")];
        let merged = merge(layers.clone()).unwrap();
        assert_eq!((merged.seeds_file.len(), merged.seeds[0].0.as_str()), (0, "http://b/"));
        let merged = merge(layers[..2].to_vec()).unwrap();
        assert_eq!((merged.seeds_file.len(), merged.seeds.len()), (1, 1));
    }

    #[test]
    fn variables_are_read_by_name_and_strays_are_told() {
        let (given, unknown) = from_environment(variables(&[
            ("PATH", "/bin"),
            ("NDCRAWL_SCOPE_EXCLUDE", "a,b\nc\n"),
            ("NDCRAWL_OUT", "there"),
            ("NDCRAWL_POLITENES_DELAY", "1s"),
        ]));
        assert_eq!(unknown, ["NDCRAWL_POLITENES_DELAY"]);
        let settings = merge(given).unwrap();
        assert_eq!(settings.to_json()["scope.exclude"], serde_json::json!(["a,b", "c"]));
        assert_eq!(settings.to_json()["out.dir"], "there");
    }
}
