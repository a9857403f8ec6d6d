//! The default settings.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Duration;

use crate::cli::config::schema;
use crate::cli::config::settings::{
    Browser, Dashboard, Dedup, Dust, Focus, Fuzzy, Http, Identity, Log, Normalise, Out, Pdf, Politeness, Render, Scope,
    Security, Settings,
};
use crate::cli::config::units::Size;
use crate::model::{Detector, Threshold};

/// A placeholder that the defaults overwrite.
const ONE: Threshold = match Threshold::from_millionths(Threshold::ONE) {
    Some(threshold) => threshold,
    None => panic!("1 is a threshold"),
};

impl Default for Settings {
    /// Returns the defaults of all keys of the [schema].
    fn default() -> Self {
        let mut settings = blank();
        for key in schema::all() {
            let read = key.read(&mut settings, &key.default_texts());
            debug_assert!(read.is_ok(), "the default of {} does not read: {read:?}", key.name);
        }
        settings
    }
}

/// Returns settings with placeholders, which the defaults overwrite.
fn blank() -> Settings {
    let zero = Duration::ZERO;
    Settings {
        seeds: vec![],
        seeds_file: vec![],
        engine: Default::default(),
        random_seed: 0,
        fail_over: None,
        scope: Scope {
            depth: 0,
            max_pages: None,
            max_pages_per_host: None,
            max_time: None,
            kind: Default::default(),
            include: vec![],
            exclude: vec![],
            sitemaps: Default::default(),
            trap_guard: false,
            soft_404: false,
        },
        focus: Focus { terms: vec![], min_score: None, exploration: ONE, weights: Default::default() },
        politeness: Politeness {
            concurrency: NonZeroUsize::MIN,
            host_concurrency: NonZeroUsize::MIN,
            delay: zero,
            ip_delay: zero,
            max_crawl_delay: zero,
            ignore_robots: false,
            nofollow: Default::default(),
            noarchive: Default::default(),
        },
        identity: Identity {
            user_agent: Default::default(),
            contact: Default::default(),
            robots_agent: Default::default(),
        },
        http: Http {
            headers: vec![],
            header_everywhere: false,
            cookie_file: None,
            proxy: Default::default(),
            timeout: zero,
            connect_timeout: zero,
            header_timeout: zero,
            idle_timeout: zero,
            retries: 0,
            max_retry_after: zero,
            max_redirects: 0,
            max_body: Size(0),
            max_header: Size(0),
            accept_types: vec![],
            insecure: false,
            ca_file: None,
            http1_only: false,
            resolve: vec![],
        },
        security: Security { allow_nets: vec![], allow_private: false },
        browser: Browser {
            mode: Default::default(),
            executable: None,
            tabs: NonZeroUsize::MIN,
            timeout: zero,
            max_requests: 0,
            max_bytes: Size(0),
        },
        pdf: Pdf { read: false, timeout: zero, memory: Size(0) },
        normalise: Normalise { strip_params: vec![], max_url_length: 0 },
        render: Render { parser: Default::default(), stemming: Default::default() },
        dedup: Dedup {
            detector: Detector::Mwo,
            threshold: None,
            second_check: Default::default(),
            threshold2: ONE,
            host_memory: Size(0),
            thresholding: None,
            synonyms: None,
            sentence_slack: None,
            filter: Default::default(),
            matching: Default::default(),
            within: Default::default(),
            min_terms: 0,
            field_weights: Default::default(),
            memory: Default::default(),
            against: Vec::new(),
            store_below: None,
            query: String::new(),
            keep: false,
            keep_text: false,
            links: Default::default(),
            fuzzy: Fuzzy {
                sentence_threshold: ONE,
                candidates: ONE,
                least_together: 0,
                copies_first: false,
                least_words: 0,
                most_words: 0,
                first_results: 0,
            },
        },
        dust: Dust { predicted: Default::default(), rules: vec![] },
        out: Out { dir: Default::default(), warc: false, warc_size: Size(0), formats: Vec::new(), min_free: Size(0) },
        dashboard: Dashboard { listen: None, public: false },
        log: Log {
            level: Default::default(),
            format: Default::default(),
            file: None,
            progress: Default::default(),
            color: Default::default(),
        },
        sources: BTreeMap::new(),
    }
}
