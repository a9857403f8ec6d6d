//! The default settings.

use std::collections::BTreeMap;

use crate::cli::config::schema;
use crate::cli::config::schema::{Dedup, Focus};
use crate::cli::config::settings::Settings;
use crate::cli::config::units::Size;
use crate::model::{Detector, KeepRule, Threshold};

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
    Settings {
        seeds: vec![],
        seeds_file: vec![],
        engine: Default::default(),
        random_seed: 0,
        fail_over: None,
        max_duplicate_rate: None,
        scope: Default::default(),
        focus: Focus { terms: vec![], min_score: None, exploration: ONE, weights: Default::default() },
        politeness: Default::default(),
        identity: Default::default(),
        http: Default::default(),
        security: Default::default(),
        browser: Default::default(),
        pdf: Default::default(),
        normalise: Default::default(),
        render: Default::default(),
        dedup: Dedup {
            detector: Detector::Mwo,
            threshold: None,
            second_check: Default::default(),
            thresholding: None,
            synonyms: None,
            sentence_slack: None,
            filter: Default::default(),
            matching: Default::default(),
            within: Default::default(),
            lose_at_most: None,
            keep_rule: KeepRule::First,
            min_terms: 0,
            field_weights: Default::default(),
            memory: Size(0),
            against: Vec::new(),
            store_below: None,
            query: String::new(),
            keep: false,
            keep_text: false,
            links: Default::default(),
            fuzzy: Default::default(),
        },
        dust: Default::default(),
        out: Default::default(),
        dashboard: Default::default(),
        log: Default::default(),
        sources: BTreeMap::new(),
    }
}
