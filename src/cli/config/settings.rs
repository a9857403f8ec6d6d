//! The settings of a run: typed and validated.
//!
//! A field has the name of its key: `settings.scope.depth` is `scope.depth` in a file, `NDCRAWL_SCOPE_DEPTH` in the
//! environment and `--depth` on the command line. Defaults and descriptions are in the [schema].

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::cli::config::http_values::TypedUrl;
use crate::cli::config::percent::Percent;
use crate::cli::config::schema::key::table;
use crate::cli::config::schema::{
    self, Browser, Dashboard, Dedup, Dust, Focus, Http, Identity, Log, Normalise, Out, Pdf, Politeness, Render, Scope,
    Security,
};
use crate::cli::config::source::Source;
use crate::cli::config::value_enums::{Choice, EngineKind, LogLevel, ProgressMode};
use crate::cli::errors::CliError;
use crate::model::NormalizeOptions;

table! {
    /// All settings. Its own keys stand at the top of a file, before any table.
    pub struct Settings in [] of Alone {
        /// URLs to start from
        ///
        /// A crawl needs a start. Without a scheme, https is tried first, then http.
        pub seeds: Vec<TypedUrl> = list("URL"),
        /// Start from the URLs in FILE, one per line, # for comments; - is stdin
        ///
        /// No list, since most crawls begin with URLs on the command line.
        /// Example: --seeds seeds.txt
        pub seeds_file: Vec<PathBuf> = list("FILE").flag("seeds"),
        /// What selects the next URL: the built-in frontier, or the crate spider (not resumable)
        ///
        /// The frontier can resume a crawl and has all options; spider is a second opinion on the links.
        /// Example: --engine spider
        pub engine: EngineKind = choice(EngineKind::WORDS, "frontier").flag("engine").fixed().of_crawl(),
        /// Seed of all random sampling
        ///
        /// Always the same, so that a crawl can be repeated with the same samples.
        /// Example: --random-seed 7
        pub random_seed: u64 = value("N", "0").flag("random-seed").of_crawl(),
        /// Exit with code 3 if more than PCT percent of the pages fail
        ///
        /// Off, since some pages fail on nearly every site; the summary counts them.
        /// Example: --fail-over 5
        pub fail_over: Option<Percent> = value("PCT", "").flag("fail-over").note("off"),
        /// Exit with code 9 if more than PCT percent of the pages compared are duplicates
        ///
        /// Off. A gate for those who build a site: run it on the preview, and fail the build.
        /// Example: --max-duplicate-rate 20
        pub max_duplicate_rate: Option<Percent> = value("PCT", "").flag("max-duplicate-rate").note("off"),
    } with {
        pub scope: Scope,
        pub focus: Focus,
        pub politeness: Politeness,
        pub identity: Identity,
        pub http: Http,
        pub security: Security,
        pub browser: Browser,
        pub pdf: Pdf,
        pub normalise: Normalise,
        pub render: Render,
        pub dedup: Dedup,
        pub dust: Dust,
        pub out: Out,
        pub dashboard: Dashboard,
        pub log: Log,
        pub(super) sources: BTreeMap<&'static str, Source>,
    }
}

impl Settings {
    /// Returns the source of a key's value; the default for an unknown key.
    pub fn source(&self, key: &str) -> Source {
        self.sources.get(key).cloned().unwrap_or(Source::Default)
    }

    /// Returns whether the key was set.
    pub fn is_given(&self, key: &str) -> bool {
        self.source(key) != Source::Default
    }

    /// Returns the error of a value that is refused: it names what has set it.
    pub fn refuse(&self, key: &str, why: impl fmt::Display) -> CliError {
        CliError::usage(format!("{}: {why}", self.source(key)))
    }

    /// Returns all settings as one flat object, key to value, secrets masked.
    pub fn to_json(&self) -> Value {
        Value::Object(schema::all().map(|key| (key.name.to_owned(), key.show(self))).collect())
    }

    /// Returns the source of each value, key to source.
    pub fn sources_to_json(&self) -> Value {
        let entry = |key: &schema::Key| (key.name.to_owned(), Value::from(self.source(key.name).to_string()));
        Value::Object(schema::all().map(entry).collect::<Map<_, _>>())
    }

    /// Returns the settings that are fixed once a crawl has started, one `key = value` per line.
    pub fn fingerprint(&self) -> String {
        let fixed = schema::all().filter(|key| key.fixed);
        fixed.map(|key| format!("{} = {}\n", key.name, key.show(self))).collect()
    }

    /// Returns the options of URL normalization.
    pub fn normalise_options(&self) -> NormalizeOptions {
        NormalizeOptions {
            strip_params: self.normalise.strip_params.clone(),
            max_url_length: self.normalise.max_url_length,
        }
    }

    /// Returns how progress is shown: not at all if only errors are logged, unless it was set.
    pub fn progress_mode(&self) -> ProgressMode {
        let quiet = self.log.level == LogLevel::Error && !self.is_given("log.progress");
        if quiet { ProgressMode::None } else { self.log.progress }
    }
}

/// A setting that differs from that of the existing crawl.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingDifference {
    /// The key.
    pub key: String,
    /// The value of the existing crawl.
    pub was: String,
    /// The value of this run.
    pub is: String,
}

/// Returns the first setting in which two [fingerprints](Settings::fingerprint) differ.
///
/// A key in only one of them is ignored: another version of the program has it.
pub fn fingerprint_difference(earlier: &str, now: &str) -> Option<SettingDifference> {
    let pairs = |text: &'_ str| -> BTreeMap<String, String> {
        text.lines().filter_map(|line| line.split_once(" = ")).map(|(k, v)| (k.to_owned(), v.to_owned())).collect()
    };
    let now = pairs(now);
    pairs(earlier).into_iter().find_map(|(key, was)| {
        let is = now.get(&key)?.clone();
        (is != was).then_some(SettingDifference { key, was, is })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::config::merge::tests::settings;

    #[test]
    fn the_fingerprint_names_the_setting_that_differs() {
        let earlier = settings(&[]).fingerprint();
        let now = settings(&[("dedup.threshold", "0.9"), ("politeness.delay", "5s")]).fingerprint();
        let difference = fingerprint_difference(&earlier, &now).unwrap();
        assert_eq!((difference.key.as_str(), &*difference.was, &*difference.is), ("dedup.threshold", "0.3", "0.9"));
    }

    #[test]
    fn limits_and_politeness_may_change_on_resume() {
        let earlier = settings(&[]).fingerprint();
        let now = settings(&[("scope.max_pages", "9"), ("politeness.delay", "5s"), ("scope.depth", "2")]);
        assert_eq!(fingerprint_difference(&earlier, &now.fingerprint()), None);
    }

    #[test]
    fn the_fingerprint_lists_what_is_fixed() {
        insta::assert_snapshot!(settings(&[]).fingerprint(), @r#"
        engine = "frontier"
        scope.kind = "host"
        browser.mode = "static"
        pdf.read = false
        normalise.strip_params = ["utm_*","gclid","fbclid","jsessionid","phpsessid"]
        render.parser = "fast"
        render.stemming = "same"
        dedup.detector = "mwo"
        dedup.threshold = 0.3
        dedup.second_check = "own-words"
        dedup.thresholding = "off"
        dedup.synonyms = ""
        dedup.sentence_slack = 0
        dedup.filter = "exact"
        dedup.within = "all"
        dedup.lose_at_most = ""
        dedup.min_terms = 20
        dedup.field_weights = "url=2,heading=2,title=2,anchor-same-site=1,anchor-other-site=0.5,keywords=3,description=3,body=1"
        dedup.memory = "256M"
        dedup.store_below = ""
        dedup.query = ""
        dedup.fuzzy.sentence_threshold = 0.99
        dedup.fuzzy.candidates = 0.6
        dedup.fuzzy.least_together = 2
        dedup.fuzzy.copies_first = true
        dedup.fuzzy.least_words = 3
        dedup.fuzzy.most_words = 100
        dedup.fuzzy.first_results = 0
        "#);
    }

    #[test]
    fn the_normaliser_has_the_defaults_of_the_record_room() {
        assert_eq!(settings(&[]).normalise_options(), NormalizeOptions::default());
    }

    #[test]
    fn secrets_stay_out_of_the_record_of_a_crawl() {
        let json = settings(&[("http.headers", "Cookie: abc"), ("http.proxy", "http://u:abc@h")]).to_json();
        assert!(!json.to_string().contains("abc"), "{json}");
        assert_eq!(json["http.headers"], serde_json::json!(["Cookie: ***"]));
        assert_eq!(json["politeness.delay"], "1s");
    }

    #[test]
    fn quiet_hides_progress_unless_it_is_asked_for() {
        assert_eq!(settings(&[("log.level", "error")]).progress_mode(), ProgressMode::None);
        let asked = settings(&[("log.level", "error"), ("log.progress", "json")]);
        assert_eq!(asked.progress_mode(), ProgressMode::Json);
    }
}
