//! The decision on a page of an input, after the second look if there was one.

use std::collections::HashMap;

use ndcrawl_cluster::LookDecisions;
use ndcrawl_dedup::{enter_earlier_verdict, enter_verdict};
use ndcrawl_model::{PageLine, Revision, Sequence, Verdict};
use neardup::detect::TurnAnswer;

/// What is written of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct FinalDecision {
    /// The decision that counts.
    answer: TurnAnswer,
    /// The decision before, if the page was decided again.
    before: Option<Verdict>,
}

impl FinalDecision {
    /// Creates the decision on a page from the first one and those of a second look.
    pub fn new(first: TurnAnswer, look: &LookDecisions) -> Self {
        match look.of(first.sequence).filter(|_| !first.redelivered) {
            Some(answer) => Self { answer, before: Some(first.verdict) },
            None => Self { answer: first, before: None },
        }
    }

    /// Returns the pages that it names.
    pub fn named(&self) -> impl Iterator<Item = Sequence> + use<> {
        let verdicts = [Some(self.answer.verdict), self.before];
        verdicts.into_iter().flatten().filter_map(|verdict| verdict.duplicate_of())
    }

    /// Whether the page came before, in this input or another one.
    pub fn is_repeated(&self) -> bool {
        self.answer.redelivered
    }

    /// Whether the page is kept.
    pub fn is_kept(&self) -> bool {
        self.answer.verdict.is_unique()
    }

    /// Whether the page was decided again.
    pub fn is_revised(&self) -> bool {
        self.before.is_some()
    }

    /// Enters the decision in the line of its page. `originals` has the URLs of the pages that it names.
    pub fn enter(&self, line: &mut PageLine, originals: &HashMap<Sequence, String>) {
        let original = |verdict: Verdict| verdict.duplicate_of().and_then(|of| originals.get(&of)).map(String::as_str);
        enter_verdict(line, self.answer.verdict, original(self.answer.verdict));
        if let Some(before) = self.before {
            let reason = match self.answer.displaced {
                Some(_) => Some(Revision::BetterPlace),
                // A page that was stored is decided again for no other reason.
                None => before.is_unique().then_some(Revision::Displaced),
            };
            enter_earlier_verdict(line, before, original(before), reason);
        }
    }
}
