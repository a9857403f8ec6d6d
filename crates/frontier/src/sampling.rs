//! Predicted duplicates that the crawl fetches, and how likely each was to be fetched.
//!
//! The sampler decides once, when a rule first predicts a URL whose turn has come. The crawl fetches a sampled URL for
//! good. It leaves the others out, and may bring them back. The outcomes of those are known in the end, too, but
//! represent no other URLs.

use hashbrown::HashMap;

use ndcrawl_dust::{PredictedTarget, RuleId, RuleLearner};
use ndcrawl_model::{SampledPrediction, UrlId};

struct Sample {
    rule: RuleId,
    one_in: u64,
    was_left_out: bool,
}

/// The fetched predictions, until they have an outcome that is not revised.
#[derive(Default)]
pub(super) struct Samples(HashMap<u32, Sample>);

impl Samples {
    /// Adds a sampled URL.
    pub(super) fn add(&mut self, id: UrlId, predicted: &PredictedTarget) {
        let sample = Sample { rule: predicted.rule, one_in: predicted.one_in, was_left_out: false };
        self.0.entry(id.0).or_insert(sample);
    }

    /// Adds a URL that was left out and is fetched after all.
    pub(super) fn bring_back(&mut self, id: UrlId, rule: RuleId, one_in: u64) {
        self.0.insert(id.0, Sample { rule, one_in, was_left_out: true });
    }

    /// Whether a URL was sampled.
    pub(super) fn has(&self, id: UrlId) -> bool {
        self.0.get(&id.0).is_some_and(|sample| !sample.was_left_out)
    }

    /// Removes a URL that is left out or has its outcome.
    pub(super) fn forget(&mut self, id: UrlId) {
        self.0.remove(&id.0);
    }

    /// Returns the prediction that a fetched URL tests.
    pub(super) fn prediction(&self, id: UrlId, learner: &RuleLearner) -> Option<SampledPrediction> {
        let sample = self.0.get(&id.0)?;
        let (rule, context, _) = learner.rule(sample.rule)?;
        Some(SampledPrediction {
            rule: rule.to_string(),
            context: context.to_owned(),
            share: 1.0 / sample.one_in as f64,
            was_left_out: sample.was_left_out,
        })
    }

    /// Returns the bytes in use.
    pub(super) fn bytes(&self) -> usize {
        self.0.allocation_size()
    }
}
