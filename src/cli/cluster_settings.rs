//! Which settings belong to a crawl that several processes share, and which to each of them.

use serde_json::{Map, Value, json};

use crate::cli::config::merge;
use crate::cli::config::schema::{self, Owner};
use crate::cli::config::settings::Settings;
use crate::cli::config::source::{GivenValue, Source};
use crate::cli::errors::{CliError, exit};
use crate::cli::seeds::{Seed, Seeds};
use crate::cluster::CrawlRow;
use crate::model::CanonicalUrl;

/// Most pages of a turn of a crawl.
pub(super) const TURN_PAGES: i32 = 256;

/// Returns the settings of the crawl and its seeds, for the database.
pub(super) fn of_crawl(settings: &Settings, seeds: &Seeds) -> Value {
    let seeds: Vec<Value> = seeds
        .seeds
        .iter()
        .map(|Seed { url, fallback, .. }| json!([url.as_str(), fallback.as_ref().map(CanonicalUrl::as_str)]))
        .collect();
    json!({ "settings": shared_settings(settings), "seeds": seeds })
}

/// Returns the settings of a `dedup` run, for the database.
pub(super) fn of_dedup(settings: &Settings) -> Value {
    json!({ "command": "dedup", "settings": shared_settings(settings) })
}

/// Whether a crawl in the database is a run of `dedup`.
pub(super) fn is_dedup(row: &CrawlRow) -> bool {
    row.plan.settings["command"] == "dedup"
}

/// Refuses a `dedup` run in the place of a crawl.
pub(super) fn expect_crawl(row: &CrawlRow) -> Result<(), CliError> {
    if !is_dedup(row) {
        return Ok(());
    }
    let name = row.plan.name.text();
    let error = CliError::usage(format!("'{name}' is a run of dedup, not a crawl"));
    Err(error.with_hint("its workers are ndcrawl dedup --cluster URL MANIFEST, and its output is where they write it"))
}

fn shared_settings(settings: &Settings) -> Map<String, Value> {
    let shared = schema::all().filter(|key| key.owner == Owner::Crawl);
    shared.map(|key| (key.name.to_owned(), key.show(settings))).collect()
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

/// Returns the settings of a crawl in the database. Those of a machine have their defaults.
pub(super) fn settings_of(row: &CrawlRow) -> Result<Settings, CliError> {
    merge::merge(given_by_crawl(&row.plan.settings, row.plan.name.text()))
        .map_err(|error| CliError::new(exit::CORRUPT, error.message))
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
