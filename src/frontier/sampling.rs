//! URLs that were foretold to be duplicates and are fetched all the same, and how likely each was to be.
//!
//! The lot is drawn once, when a rule first foretells a URL whose turn has come. One that it fell on is fetched then.
//! One that it did not is left out, and may be brought back: what comes of it is known in the end, too, but stands for
//! no other.

use hashbrown::HashMap;

use super::UrlLog;
use super::engine::Engine;
use super::predicted_duplicates::LeftOut;
use super::url_state::Phase;
use crate::dust::{PredictedTarget, RuleId};
use crate::model::{SampledPrediction, UrlId};

struct Draw {
    rule: RuleId,
    one_in: u64,
    was_left_out: bool,
}

/// What was drawn, until it has an outcome that is not judged anew.
#[derive(Default)]
pub(super) struct Drawn(HashMap<u32, Draw>);

impl Drawn {
    /// The lot has fallen on a URL.
    pub(super) fn draw(&mut self, id: UrlId, foretold: &PredictedTarget) {
        let draw = Draw { rule: foretold.rule, one_in: foretold.one_in, was_left_out: false };
        self.0.entry(id.0).or_insert(draw);
    }

    /// Whether the lot has fallen on a URL, which it does for good.
    pub(super) fn has_won(&self, id: UrlId) -> bool {
        self.0.get(&id.0).is_some_and(|draw| !draw.was_left_out)
    }

    /// A URL that was left out is to be fetched after all.
    pub(super) fn bring_back(&mut self, id: UrlId, left_out: &LeftOut) {
        let draw = Draw { rule: left_out.rule, one_in: left_out.one_in, was_left_out: true };
        self.0.insert(id.0, draw);
    }

    /// A URL is not fetched, or has its outcome.
    pub(super) fn forget(&mut self, id: UrlId) {
        self.0.remove(&id.0);
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.0.allocation_size()
    }
}

impl<L: UrlLog> Engine<L> {
    /// What was foretold of a URL that is fetched all the same.
    pub(super) fn drawn(&self, id: UrlId) -> Option<SampledPrediction> {
        let draw = self.foretelling.drawn.0.get(&id.0)?;
        let (rule, context, _) = self.foretelling.learner.rule(draw.rule)?;
        Some(SampledPrediction {
            rule: rule.to_string(),
            context: context.to_owned(),
            share: 1.0 / draw.one_in as f64,
            was_left_out: draw.was_left_out,
        })
    }

    /// Queues again what was left out.
    pub(super) fn bring_back(&mut self, id: UrlId, left_out: LeftOut) {
        self.foretelling.drawn.bring_back(id, &left_out);
        self.put_back(left_out.place, Phase::Predicted);
    }
}
