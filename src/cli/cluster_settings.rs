//! Which settings belong to a crawl that several processes share, and which to each of them.

use serde_json::{Map, Value, json};

use crate::cli::config::schema;
use crate::cli::config::schema::is_of_the_crawl;
use crate::cli::config::settings::Settings;
use crate::cli::config::source::{GivenValue, Source};
use crate::cli::errors::{CliError, exit};
use crate::cli::seeds::{Seed, Seeds};
use crate::model::CanonicalUrl;

/// Returns the settings of the crawl and its seeds, for the database.
pub(super) fn of_crawl(settings: &Settings, seeds: &Seeds) -> Value {
    let shared: Map<String, Value> = schema::all()
        .filter(|key| is_of_the_crawl(key.name))
        .map(|key| (key.stored_name().to_owned(), key.show_stored(settings)))
        .collect();
    let seeds: Vec<Value> = seeds
        .seeds
        .iter()
        .map(|Seed { url, fallback, .. }| json!([url.as_str(), fallback.as_ref().map(CanonicalUrl::as_str)]))
        .collect();
    json!({ "settings": shared, "seeds": seeds })
}

/// Returns the values that a crawl in the database sets. `name` is the crawl's.
pub(super) fn given_by_crawl(stored: &Value, name: &str) -> Vec<GivenValue> {
    let settings = stored["settings"].as_object().into_iter().flatten();
    let given = settings.filter_map(|(key, value)| {
        let source = Source::File(format!("the crawl '{name}'"), 0);
        Some(GivenValue::from_json(schema::find(key)?, value, source))
    });
    given.collect()
}

/// Returns the seeds of a crawl in the database.
pub(super) fn seeds_of_crawl(stored: &Value, name: &str) -> Result<Seeds, CliError> {
    let canonical = |value: &Value| CanonicalUrl::from_canonical(value.as_str()?).ok();
    let seed = |value: &Value| {
        let url = canonical(&value[0])?;
        Some(Seed { line: format!("the crawl '{name}'"), url, fallback: canonical(&value[1]) })
    };
    let seeds: Option<Vec<Seed>> = stored["seeds"].as_array().into_iter().flatten().map(seed).collect();
    let damaged = || CliError::new(exit::CORRUPT, format!("the crawl '{name}' has a seed that is no URL"));
    Ok(Seeds { seeds: seeds.ok_or_else(damaged)?, ..Seeds::default() })
}
