//! Facts about a crawl from its `crawl.json`.

use std::path::Path;

use serde_json::Value;

use super::ReportError;
use ndcrawl_store as store;

/// Version, seeds, times and settings of a crawl.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CrawlFacts {
    /// The version of the program that crawled.
    pub version: String,
    /// The seed URLs.
    pub seeds: Vec<String>,
    /// The input files, if the pages were read and not crawled.
    pub inputs: Option<Vec<String>>,
    /// Start time, RFC 3339.
    pub started: Option<String>,
    /// End time, RFC 3339.
    pub ended: Option<String>,
    /// Why the crawl stopped before its queue was empty.
    pub stopped: Option<String>,
    /// Keys and values of the settings that differ from the default.
    pub settings: Vec<(String, String)>,
}

impl CrawlFacts {
    /// Reads `crawl.json`. Without the file, all facts are empty.
    ///
    /// # Errors
    /// If the file can't be read.
    pub fn read(folder: &Path) -> Result<Self, ReportError> {
        let file = store::read_json_file(&folder.join("crawl.json"))?.unwrap_or_default();
        let text = |name: &str| file[name].as_str().map(str::to_owned);
        let origins = file["origins_of_settings"].as_object();
        let is_default =
            |name: &str| origins.and_then(|origins| origins.get(name)).is_none_or(|origin| origin == "default");
        let settings = file["settings"].as_object().into_iter().flatten().filter(|(name, _)| !is_default(name));
        let texts = |list: &Vec<Value>| list.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        Ok(Self {
            version: text("version").unwrap_or_default(),
            seeds: file["seeds"].as_array().map(texts).unwrap_or_default(),
            inputs: file["inputs"].as_array().map(texts),
            started: text("started"),
            ended: text("ended"),
            stopped: text("stopped"),
            settings: settings.map(|(name, value)| (name.clone(), shown(value))).collect(),
        })
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
