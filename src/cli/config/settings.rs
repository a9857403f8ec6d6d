//! The settings of a run: typed and validated.
//!
//! A field has the name of its key: `settings.scope.depth` is `scope.depth` in a file, `NDCRAWL_SCOPE_DEPTH` in the
//! environment and `--depth` on the command line. Defaults and descriptions are in the [schema].

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use regex::Regex;
use serde_json::{Map, Value};

use crate::cli::config::http_values::{HeaderLine, HeaderText, ProductToken, Proxy, Resolve, TypedUrl};
use crate::cli::config::listen_address::ListenAddress;
use crate::cli::config::percent::Percent;
use crate::cli::config::schema;
use crate::cli::config::source::Source;
use crate::cli::config::units::Size;
use crate::cli::config::value_enums::{
    ColorChoice, ComparedPages, EngineKind, FilterKind, LogFormat, LogLevel, MatchKind, Noarchive, Obedience,
    PageSource, Parser, PredictedUrls, ProgressMode, ScopeKind, SecondCheck, Sitemaps, Stemming,
};
use crate::crawl::DuplicateLinks;
use crate::detect::Thresholding;
use crate::model::{Detector, FieldWeights, NormalizeOptions, PartWeights, Threshold};

/// All settings.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Settings {
    pub seeds: Vec<TypedUrl>,
    pub seeds_file: Vec<PathBuf>,
    pub engine: EngineKind,
    pub random_seed: u64,
    pub fail_over: Option<Percent>,
    pub max_duplicate_rate: Option<Percent>,
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

/// Which URLs are fetched, and how many.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct Scope {
    pub depth: u16,
    pub max_pages: Option<u64>,
    pub max_pages_per_host: Option<u64>,
    pub max_time: Option<Duration>,
    pub kind: ScopeKind,
    pub include: Vec<Regex>,
    pub exclude: Vec<Regex>,
    pub sitemaps: Sitemaps,
    pub trap_guard: bool,
    pub soft_404: bool,
}

/// The topic of a focused crawl.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Focus {
    pub terms: Vec<String>,
    pub min_score: Option<Threshold>,
    pub exploration: Threshold,
    pub weights: PartWeights,
}

/// Limits that protect servers.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Politeness {
    pub concurrency: NonZeroUsize,
    pub host_concurrency: NonZeroUsize,
    pub delay: Duration,
    pub ip_delay: Duration,
    /// Zero: `Crawl-delay` is ignored.
    pub max_crawl_delay: Duration,
    pub host_patience: Duration,
    pub ignore_robots: bool,
    pub nofollow: Obedience,
    pub noarchive: Noarchive,
}

/// The identity of the crawler.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct Identity {
    pub user_agent: HeaderText,
    pub contact: HeaderText,
    pub robots_agent: ProductToken,
}

/// HTTP requests and limits of responses.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct Http {
    pub headers: Vec<HeaderLine>,
    pub header_everywhere: bool,
    pub cookie_file: Option<PathBuf>,
    pub proxy: Proxy,
    pub timeout: Duration,
    pub connect_timeout: Duration,
    pub header_timeout: Duration,
    pub idle_timeout: Duration,
    pub retries: u32,
    pub max_retry_after: Duration,
    pub max_redirects: u8,
    pub max_body: Size,
    pub max_header: Size,
    pub accept_types: Vec<String>,
    pub insecure: bool,
    pub ca_file: Option<PathBuf>,
    pub http1_only: bool,
    pub resolve: Vec<Resolve>,
}

/// Addresses that may be connected to.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct Security {
    pub allow_nets: Vec<ipnet::IpNet>,
    pub allow_private: bool,
}

/// Rendering of pages in Chromium.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Browser {
    pub mode: PageSource,
    pub executable: Option<PathBuf>,
    pub tabs: NonZeroUsize,
    pub timeout: Duration,
    pub max_requests: u32,
    pub max_bytes: Size,
}

/// Reading of PDF.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct Pdf {
    pub read: bool,
    pub timeout: Duration,
    pub memory: Size,
}

/// URL normalization.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct Normalise {
    pub strip_params: Vec<String>,
    pub max_url_length: usize,
}

/// Reading of pages.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct Render {
    pub parser: Parser,
    pub stemming: Stemming,
}

/// Prediction of duplicate URLs.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct Dust {
    pub predicted: PredictedUrls,
    pub rules: Vec<PathBuf>,
}

/// Near-duplicate detection.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Dedup {
    pub detector: Detector,
    /// If absent, merging sets the detector's own.
    pub threshold: Option<Threshold>,
    pub second_check: SecondCheck,
    /// If absent, merging sets the detector's own.
    pub thresholding: Option<Thresholding>,
    pub synonyms: Option<PathBuf>,
    pub sentence_slack: Option<u32>,
    pub filter: FilterKind,
    pub matching: MatchKind,
    pub within: ComparedPages,
    pub min_terms: u32,
    pub field_weights: FieldWeights,
    pub memory: Size,
    pub against: Vec<PathBuf>,
    pub store_below: Option<Threshold>,
    pub query: String,
    pub keep: bool,
    pub keep_text: bool,
    pub links: DuplicateLinks,
    pub fuzzy: Fuzzy,
}

/// The detector `fuzzy`.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Fuzzy {
    pub sentence_threshold: Threshold,
    pub candidates: Threshold,
    pub least_together: u32,
    pub copies_first: bool,
    pub least_words: u32,
    pub most_words: u32,
    pub first_results: u32,
}

/// The output folder.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct Out {
    pub dir: PathBuf,
    pub warc: bool,
    pub warc_size: Size,
    pub report: bool,
    pub min_free: Size,
}

/// The dashboard.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct Dashboard {
    pub listen: Option<ListenAddress>,
    pub public: bool,
}

/// The log and progress on stderr.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct Log {
    pub level: LogLevel,
    pub format: LogFormat,
    pub file: Option<PathBuf>,
    pub progress: ProgressMode,
    pub color: ColorChoice,
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
