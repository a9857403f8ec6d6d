//! Leaves predicted duplicates out, and brings them back when a rule proves wrong.
//!
//! As with closed patterns, the check comes when a URL's turn comes: all that is known by then counts, and the log has
//! nothing but that the URL was queued. A URL whose counterpart is still queued or on lease *waits* for it, outside the
//! queue, until the counterpart has ended. No URL waits for a waiting one, so there is no circle. If nothing else can be
//! leased, all waiting URLs come back.
//!
//! A prediction names a URL that was fetched, never one that was itself left out: rules are tested on such predictions.

use hashbrown::{HashMap, HashSet};

use super::discoveries::Discoveries;
use super::effect::Effect;
use super::host_queues::{MirrorLikelihood, QueuedUrl};
use super::sampling::Samples;
use super::state::FrontierState;
use super::url_state::{HeldBack, UrlPhase, UrlPhases};
use super::{FrontierError, Options, UrlLog};
use ndcrawl_dust::{ListedRule, ObservedOutcome, PredictedTarget, RuleId, RuleLearner, are_counterparts};
use ndcrawl_model::{Discovery, Link, OutcomeKind, SampledPrediction, UrlId};

/// A proven rule's prediction about a URL that the crawl did not fetch.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The kept page that it repeats.
    pub of: UrlId,
    /// The rule.
    pub rule: String,
    /// The part of the site in which the rule was measured.
    pub context: String,
    /// The share of the rule's tests that were hits.
    pub validity: f64,
    /// Whether the rule is trusted because it holds on other hosts or in other directories.
    pub carried: bool,
}

/// A predicted duplicate that was left out.
struct LeftOutUrl {
    target: UrlId,
    rule: RuleId,
    one_in: u64,
    url: QueuedUrl,
}

/// The rules, and the URLs that they keep out of the queues.
#[derive(Default)]
pub(super) struct PredictedDuplicates {
    learner: RuleLearner,
    /// Whether to leave predicted duplicates out, or only to measure the rules.
    leaves_out: bool,
    left_out: HashMap<u32, LeftOutUrl>,
    /// The waiting URLs by the URL that they wait for.
    waiting: HashMap<u32, Vec<QueuedUrl>>,
    /// URLs that do not wait again.
    waited_in_vain: HashSet<u32>,
    /// URLs to fetch because rules contradict each other about them.
    disputed: HashSet<u32>,
    samples: Samples,
    /// The page whose links are on offer, and its URL.
    linking_page: Option<(UrlId, String)>,
    /// If the crawl follows the links of duplicates.
    discoveries: Option<Discoveries>,
    /// Links from pages to their counterparts or to themselves, for the next commit.
    counterparts: Vec<(UrlId, UrlId)>,
}

impl PredictedDuplicates {
    pub(super) fn new(options: &Options) -> Self {
        let mut learner = RuleLearner::new(options.random_seed);
        options.rules.iter().for_each(|rule| learner.import(rule));
        Self {
            learner,
            leaves_out: options.skip_predicted,
            discoveries: options.follows_duplicates.then(Discoveries::default),
            ..Self::default()
        }
    }

    /// Returns the bytes in use.
    pub(super) fn bytes(&self) -> usize {
        let waiting = self.waiting.values().map(|waiting| waiting.capacity() * size_of::<QueuedUrl>()).sum::<usize>();
        let tables = self.left_out.allocation_size() + self.waiting.allocation_size();
        let discoveries = self.discoveries.as_ref().map_or(0, Discoveries::bytes);
        let sets = self.waited_in_vain.allocation_size() + self.disputed.allocation_size();
        self.learner.bytes() + self.samples.bytes() + discoveries + tables + waiting + sets
    }

    /// Records a URL that is seen for the first time.
    pub(super) fn note_discovery(&mut self, id: UrlId, discovery: Discovery) {
        if let (Some(discoveries), Some(page)) = (&mut self.discoveries, discovery.linking_page()) {
            discoveries.note(page, id);
        }
    }

    /// Returns the page that names a URL, if that is its own URL or looks like another edition of it.
    pub(super) fn counterpart_of<L: UrlLog>(
        &mut self,
        state: &mut FrontierState<L>,
        link: &Link,
    ) -> Result<Option<UrlId>, FrontierError> {
        let Some(page) = link.discovery.linking_page() else { return Ok(None) };
        if self.linking_page.as_ref().is_none_or(|(id, _)| *id != page) {
            self.linking_page = Some((page, state.rows.get(page)?.url));
        }
        let is_counterpart = |url: &str| url == link.url.as_str() || are_counterparts(url, link.url.as_str());
        Ok(self.linking_page.as_ref().filter(|(_, url)| is_counterpart(url)).map(|(page, _)| *page))
    }

    /// Records a link from a page to its counterpart or to itself.
    pub(super) fn note_counterpart(&mut self, page: UrlId, counterpart: UrlId) {
        if self.learner.note_counterpart(page, counterpart) {
            self.counterparts.push((page, counterpart));
        }
    }

    /// Restores a link to a counterpart.
    pub(super) fn restore_counterpart(&mut self, page: UrlId, counterpart: UrlId) {
        self.learner.note_counterpart(page, counterpart);
    }

    /// Takes the links to counterparts for a commit.
    pub(super) fn take_counterparts(&mut self) -> Vec<(UrlId, UrlId)> {
        std::mem::take(&mut self.counterparts)
    }

    /// Learns from an outcome. Returns the URLs to requeue because their original is no longer a page.
    pub(super) fn learn<L: UrlLog>(
        &mut self,
        state: &mut FrontierState<L>,
        id: UrlId,
        kind: OutcomeKind,
        repeats: Option<UrlId>,
    ) -> Result<Vec<Effect>, FrontierError> {
        if !kind.is_page() && kind != OutcomeKind::Redirected {
            return Ok(Vec::new());
        }
        let url = state.rows.get(id)?.url;
        let original = repeats.map(|of| state.rows.get(of).map(|row| (of, row.url))).transpose()?;
        let repeats = original.as_ref().map(|(of, url)| (*of, url.as_str()));
        let was_kept = self.learner.original(id) == Some(id);
        self.learner.observe(ObservedOutcome { id, url: &url, kind, repeats }, |url| state.find(url));
        let is_lost = was_kept && self.learner.original(id).is_none();
        Ok(if is_lost { self.bring_back_orphans() } else { Vec::new() })
    }

    /// Brings back the URLs whose original is no longer a page: a revision found none there. Costs a look at all URLs
    /// that were left out.
    fn bring_back_orphans(&mut self) -> Vec<Effect> {
        let Self { learner, left_out, .. } = self;
        let orphans = left_out.extract_if(|_, left_out| learner.original(left_out.target).is_none());
        let orphans = orphans.map(|(_, left_out)| left_out).collect();
        self.bring_back_all(orphans)
    }

    /// Checks the next URL of a queue. Returns what becomes of a predicted duplicate.
    pub(super) fn check<L: UrlLog>(
        &mut self,
        state: &mut FrontierState<L>,
        next: QueuedUrl,
    ) -> Result<Option<Effect>, FrontierError> {
        if !self.leaves_out || self.learner.is_empty() || self.must_be_fetched(state, next.id) {
            return Ok(None);
        }
        let row = state.rows.get(next.id)?;
        if !state.best_path(next.id, &row).may_be_left_out() {
            return Ok(None);
        }
        let predicted = self.learner.predict(&row.url, |url| state.find_own(url));
        if predicted.is_empty() {
            return Ok(None);
        }
        let original = |target: UrlId| self.learner.original(target).filter(|original| *original != next.id);
        let mut settled = predicted.iter().filter_map(|predicted| Some((*predicted, original(predicted.target)?)));
        match settled.next() {
            Some((predicted, of)) => {
                let is_disputed = settled.any(|(_, other)| other != of);
                if is_disputed { Ok(None) } else { self.leave_out_or_sample(state, next, predicted) }
            }
            None => Ok(self.wait_for_target(state, next, &predicted)),
        }
    }

    fn must_be_fetched<L: UrlLog>(&self, state: &FrontierState<L>, id: UrlId) -> bool {
        self.disputed.contains(&id.0) || self.samples.has(id) || state.phases.is_from_seed(id)
    }

    fn leave_out_or_sample<L: UrlLog>(
        &mut self,
        state: &mut FrontierState<L>,
        next: QueuedUrl,
        predicted: PredictedTarget,
    ) -> Result<Option<Effect>, FrontierError> {
        if let Some(discoveries) = &self.discoveries
            && discoveries.leads_further(state, &self.learner, &predicted)?
        {
            return Ok(None);
        }
        if predicted.is_sampled {
            self.samples.add(next.id, &predicted);
            return Ok(None);
        }
        let PredictedTarget { target, rule, one_in, .. } = predicted;
        self.samples.forget(next.id);
        self.left_out.insert(next.id.0, LeftOutUrl { target, rule, one_in, url: next });
        Ok(Some(Effect::LeaveOut(next, HeldBack::Predicted)))
    }

    /// Holds a URL whose predicted original is still queued or on lease, unless it has waited before.
    fn wait_for_target<L: UrlLog>(
        &mut self,
        state: &FrontierState<L>,
        next: QueuedUrl,
        predicted: &[PredictedTarget],
    ) -> Option<Effect> {
        let is_pending = |id: UrlId| matches!(state.phases.get(id), Some(UrlPhase::Queued | UrlPhase::Leased));
        let mut targets = predicted.iter().map(|predicted| predicted.target);
        let target = targets.find(|&target| target != next.id && is_pending(target))?;
        if self.waited_in_vain.contains(&next.id.0) {
            return None;
        }
        self.waiting.entry(target.0).or_default().push(next);
        Some(Effect::Hold(next))
    }

    /// Returns the likelihood that the host of a URL is a mirror of another.
    pub(super) fn mirror_likelihood<L: UrlLog>(
        &self,
        state: &mut FrontierState<L>,
        next: QueuedUrl,
    ) -> Result<MirrorLikelihood, FrontierError> {
        if !self.leaves_out {
            return Ok(MirrorLikelihood::default());
        }
        let mirrored = self.learner.mirrored_origins(&state.rows.get(next.id)?.url);
        Ok(state.queues.mirror_likelihood(next.origin, &mirrored))
    }

    /// Whether a rule about hosts has lost its trust since the last call.
    pub(super) fn take_lost_trust(&mut self) -> bool {
        self.learner.take_lost_trust()
    }

    /// Requeues the URLs that waited for this one.
    pub(super) fn release(&mut self, target: UrlId) -> Vec<Effect> {
        let waiting = self.waiting.remove(&target.0).unwrap_or_default();
        waiting.into_iter().map(|url| Effect::Requeue(url, UrlPhase::Waiting)).collect()
    }

    /// Requeues all waiting URLs, which then do not wait again.
    pub(super) fn release_all(&mut self) -> Vec<Effect> {
        let mut waiting: Vec<QueuedUrl> = std::mem::take(&mut self.waiting).into_values().flatten().collect();
        waiting.sort_unstable_by_key(|url| url.id);
        self.waited_in_vain.extend(waiting.iter().map(|url| url.id.0));
        waiting.into_iter().map(|url| Effect::Requeue(url, UrlPhase::Waiting)).collect()
    }

    /// Brings back the URLs whose prediction is disputed or withdrawn. Costs a look at all URLs that were left out, if
    /// a rule was withdrawn.
    pub(super) fn reconsider(&mut self, phases: &UrlPhases) -> Vec<Effect> {
        const PREDICTED: UrlPhase = UrlPhase::HeldBack(HeldBack::Predicted);
        let mut disputed: Vec<UrlId> = self.learner.take_disputed().into_iter().collect();
        disputed.sort_unstable();
        for &id in &disputed {
            if matches!(phases.get(id), Some(UrlPhase::Queued | UrlPhase::Waiting | PREDICTED)) {
                self.disputed.insert(id.0);
            }
        }
        let disputed = disputed.into_iter().filter_map(|id| self.left_out.remove(&id.0)).collect();
        let mut effects = self.bring_back_all(disputed);
        let withdrawn = self.learner.take_withdrawn();
        if !withdrawn.is_empty() {
            let unfounded = self.left_out.extract_if(|_, left_out| withdrawn.contains(&left_out.rule));
            let unfounded = unfounded.map(|(_, left_out)| left_out).collect();
            effects.extend(self.bring_back_all(unfounded));
        }
        effects
    }

    fn bring_back_all(&mut self, mut urls: Vec<LeftOutUrl>) -> Vec<Effect> {
        urls.sort_unstable_by_key(|left_out| left_out.url.id);
        let bring_back = |LeftOutUrl { rule, one_in, url, .. }| {
            self.samples.bring_back(url.id, rule, one_in);
            Effect::Requeue(url, UrlPhase::HeldBack(HeldBack::Predicted))
        };
        urls.into_iter().map(bring_back).collect()
    }

    /// Forgets the prediction about a URL that is queued by a better path.
    pub(super) fn forget(&mut self, id: UrlId) {
        if let Some(left_out) = self.left_out.remove(&id.0) {
            self.samples.bring_back(id, left_out.rule, left_out.one_in);
        }
    }

    /// Forgets a sampled URL that has its outcome.
    pub(super) fn forget_sample(&mut self, id: UrlId) {
        self.samples.forget(id);
    }

    /// Returns the prediction that a fetched URL tests.
    pub(super) fn sampled(&self, id: UrlId) -> Option<SampledPrediction> {
        self.samples.prediction(id, &self.learner)
    }

    /// Returns the prediction about a URL that was left out.
    pub(super) fn prediction(&self, id: UrlId) -> Option<Prediction> {
        let left_out = self.left_out.get(&id.0)?;
        let (rule, context, confidence) = self.learner.rule(left_out.rule)?;
        Some(Prediction {
            of: self.learner.original(left_out.target)?,
            rule: rule.to_string(),
            context: context.to_owned(),
            validity: confidence.share(),
            carried: confidence.carried,
        })
    }

    /// Returns all tested rules.
    pub(super) fn rules(&self) -> Vec<ListedRule> {
        let mut saved: HashMap<RuleId, u64> = HashMap::new();
        self.left_out.values().for_each(|left_out| *saved.entry(left_out.rule).or_default() += 1);
        self.learner.listed(|rule| saved.get(&rule).copied().unwrap_or_default())
    }
}
