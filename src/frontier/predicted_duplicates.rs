//! What a rule foretells to be a duplicate leaves the queue, and comes back if the rule proves wrong.
//!
//! As with closed patterns, a URL is looked at when its turn comes: all that is known by then counts, and the log
//! has nothing to say of it but that it was queued. A URL whose counterpart is still queued or on lease *waits*
//! for it, outside the queue, and comes back when that one has ended. Nothing waits for what waits itself, so there
//! is no circle; and if nothing else can be leased, all that waits comes back.
//!
//! *Suspects*, of which a rule that is not proven yet says that they repeat another page of their site, are fetched
//! after all others of the site: most are foretold by then. By lot, so that those by which rules are proven are a fair
//! sample of them. A focused crawl has an order of its own.
//!
//! A prediction names a URL that was fetched, never one that was itself left out: so what is said of a URL is what
//! the rule was tested on.

use hashbrown::{HashMap, HashSet};

use super::discoveries::Discoveries;
use super::engine::{Engine, naming_page};
use super::host_queue::Priority;
use super::host_queues::{Doubt, Next};
use super::sampling::Drawn;
use super::url_state::Phase;
use super::{FrontierError, Options, UrlLog};
use crate::dust::{ListedRule, ObservedOutcome, PredictedTarget, RuleId, RuleLearner, are_counterparts};
use crate::model::{Link, LinkKind, OutcomeKind, UrlId};

/// Lots by which suspects are fetched.
const LOTS: u64 = 16;

/// What a proven rule says of a URL that was not fetched.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The kept page that it repeats.
    pub of: UrlId,
    /// The rule.
    pub rule: String,
    /// The part of the site in which the rule was measured.
    pub context: String,
    /// The share of its tests that were hits.
    pub validity: f64,
    /// Whether it is believed since the same holds for other hosts or directories.
    pub carried: bool,
}

/// A URL that was left out.
pub(super) struct LeftOut {
    target: UrlId,
    pub(super) rule: RuleId,
    pub(super) one_in: u64,
    pub(super) place: Next,
}

/// What is foretold, and what waits to be.
pub(super) struct Foretelling {
    pub(super) learner: RuleLearner,
    /// Whether what is foretold is left out, or measured only.
    leaves_out: bool,
    left_out: HashMap<u32, LeftOut>,
    /// What waits, by what it waits for.
    waiting: HashMap<u32, Vec<Next>>,
    /// What has waited in vain.
    impatient: HashSet<u32>,
    /// What is fetched since rules contradict each other about it.
    contested: HashSet<u32>,
    pub(super) drawn: Drawn,
    /// The page whose links are offered, and its URL.
    naming: Option<(UrlId, String)>,
    /// Where the links of duplicates are followed.
    pub(super) discoveries: Option<Discoveries>,
    /// Links from pages to their counterparts, or to themselves, since the last look.
    pub(super) counterparts: Vec<(UrlId, UrlId)>,
}

impl Foretelling {
    pub(super) fn new(options: &Options) -> Self {
        let mut learner = RuleLearner::new(options.random_seed);
        options.rules.iter().for_each(|rule| learner.import(rule));
        Self {
            learner,
            leaves_out: options.skip_predicted,
            left_out: HashMap::new(),
            waiting: HashMap::new(),
            impatient: HashSet::new(),
            contested: HashSet::new(),
            drawn: Drawn::default(),
            naming: None,
            discoveries: options.follows_duplicates.then(Discoveries::default),
            counterparts: Vec::new(),
        }
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        let waiting = self.waiting.values().map(|waiting| waiting.capacity() * size_of::<Next>()).sum::<usize>();
        let tables = self.left_out.allocation_size() + self.waiting.allocation_size();
        let discoveries = self.discoveries.as_ref().map_or(0, Discoveries::bytes);
        let sets = self.impatient.allocation_size() + self.contested.allocation_size();
        self.learner.bytes() + self.drawn.bytes() + discoveries + tables + waiting + sets
    }
}

impl<L: UrlLog> Engine<L> {
    /// The page that names a URL, if that is its own, or looks like another edition of it.
    pub(super) fn counterpart_of(&mut self, link: &Link) -> Result<Option<UrlId>, FrontierError> {
        let Some(page) = naming_page(link.discovery) else { return Ok(None) };
        if self.foretelling.naming.as_ref().is_none_or(|(id, _)| *id != page) {
            self.foretelling.naming = Some((page, self.rows.get(page)?.url));
        }
        let naming = self.foretelling.naming.as_ref();
        let is_counterpart = |url: &str| url == link.url.as_str() || are_counterparts(url, link.url.as_str());
        Ok(naming.filter(|(_, url)| is_counterpart(url)).map(|(page, _)| *page))
    }

    pub(super) fn note_counterpart(&mut self, page: UrlId, counterpart: UrlId) {
        if self.foretelling.learner.note_counterpart(page, counterpart) {
            self.foretelling.counterparts.push((page, counterpart));
        }
    }

    /// Takes note of an outcome.
    pub(super) fn learn_rules(
        &mut self,
        id: UrlId,
        kind: OutcomeKind,
        repeats: Option<UrlId>,
    ) -> Result<(), FrontierError> {
        if !kind.is_page() && kind != OutcomeKind::Redirected {
            return Ok(());
        }
        let url = self.rows.get(id)?.url;
        let original = repeats.map(|of| self.rows.get(of).map(|row| (of, row.url))).transpose()?;
        let repeats = original.as_ref().map(|(of, url)| (*of, url.as_str()));
        let seen = &self.seen;
        let learner = &mut self.foretelling.learner;
        let was_kept = learner.original(id) == Some(id);
        learner.observe(ObservedOutcome { id, url: &url, kind, repeats }, |url| seen.find(seen.hash(url)));
        if was_kept && learner.original(id).is_none() {
            self.bring_back_orphans();
        }
        Ok(())
    }

    /// Queues what was left out for a page that is kept no longer: another look at it led to a URL without a page.
    /// Costs a look at all that is left out.
    fn bring_back_orphans(&mut self) {
        let Foretelling { learner, left_out, .. } = &mut self.foretelling;
        let orphans = left_out.extract_if(|_, left_out| learner.original(left_out.target).is_none());
        let mut orphans: Vec<LeftOut> = orphans.map(|(_, left_out)| left_out).collect();
        orphans.sort_unstable_by_key(|left_out| left_out.place.id);
        orphans.into_iter().for_each(|left_out| self.bring_back(left_out.place.id, left_out));
    }

    /// Takes what would be leased next out of its queue, or puts it back for later, if it is foretold to be a
    /// duplicate, or may soon be. Whether it does.
    pub(super) fn leave_foretold(&mut self, next: Next) -> Result<bool, FrontierError> {
        let id = next.id;
        let foretelling = &self.foretelling;
        let is_asked =
            foretelling.contested.contains(&id.0) || foretelling.drawn.has_won(id) || self.phases.is_from_seed(id);
        if !foretelling.leaves_out || foretelling.learner.is_empty() || is_asked {
            return Ok(false);
        }
        let row = self.rows.get(id)?;
        let kind = self.better_paths.get(&id.0).unwrap_or(&row.discovery).kind;
        if matches!(kind, LinkKind::Seed | LinkKind::SitemapFile | LinkKind::Revision) {
            return Ok(false);
        }
        let seen = &self.seen;
        let find = |url: &str| seen.find(seen.hash(url));
        let foretold = self.foretelling.learner.predict(&row.url, find);
        let may_be_suspect = foretold.is_empty() && self.prospects.is_none() && next.priority.suspicion == 0;
        if may_be_suspect && self.foretelling.learner.may_be_duplicate(&row.url, find) {
            let path = row.url.splitn(4, '/').nth(3).unwrap_or_default();
            let lot = (seen.hash(path) % LOTS) as u8;
            self.origins.discard(next.origin);
            self.origins.push(next.origin, Priority { suspicion: 1 + lot, ..next.priority }, id);
            return Ok(true);
        }
        let original = |target: UrlId| self.foretelling.learner.original(target).filter(|original| *original != id);
        let mut settled = foretold.iter().filter_map(|foretold| Some((foretold, original(foretold.target)?)));
        if let Some((foretold, of)) = settled.next() {
            let (foretold, is_contested) = (*foretold, settled.any(|(_, other)| other != of));
            if is_contested || self.leads_further(&foretold)? {
                return Ok(false);
            }
            if foretold.is_sampled {
                self.foretelling.drawn.draw(id, &foretold);
            } else {
                self.leave_out(next, foretold);
            }
            return Ok(!foretold.is_sampled);
        }
        let pending = |target: UrlId| matches!(self.phases.get(target), Some(Phase::Queued | Phase::Leased));
        let awaited = foretold.iter().map(|foretold| foretold.target).find(|&target| target != id && pending(target));
        let awaited = awaited.filter(|_| !self.foretelling.impatient.contains(&id.0));
        if let Some(target) = awaited {
            self.origins.discard(next.origin);
            self.phases.set(id, Phase::Waiting);
            self.foretelling.waiting.entry(target.0).or_default().push(next);
        }
        Ok(awaited.is_some())
    }

    /// How likely it is that what would be leased next is of a host that is a copy of another one.
    pub(super) fn doubt(&mut self, next: Next) -> Result<Doubt, FrontierError> {
        if !self.foretelling.leaves_out {
            return Ok(Doubt::default());
        }
        let copied = self.foretelling.learner.mirrored_origins(&self.rows.get(next.id)?.url);
        Ok(self.origins.doubt(next.origin, &copied))
    }

    fn leave_out(&mut self, place: Next, foretold: PredictedTarget) {
        let PredictedTarget { target, rule, one_in, .. } = foretold;
        self.foretelling.drawn.forget(place.id);
        self.origins.discard(place.origin);
        self.leases.forget(place.id);
        self.phases.set(place.id, Phase::Predicted);
        self.foretelling.left_out.insert(place.id.0, LeftOut { target, rule, one_in, place });
        self.release(place.id);
    }

    /// Queues what has waited for a URL that has ended.
    pub(super) fn release(&mut self, target: UrlId) {
        for waiting in self.foretelling.waiting.remove(&target.0).unwrap_or_default() {
            self.put_back(waiting, Phase::Waiting);
        }
    }

    /// Queues a URL again, unless something else has become of it.
    pub(super) fn put_back(&mut self, place: Next, from: Phase) {
        if self.phases.get(place.id) == Some(from) {
            self.phases.set(place.id, Phase::Queued);
            self.origins.push(place.origin, place.priority, place.id);
        }
    }

    /// Queues all that waits, if nothing else can bring the crawl on. Whether there is any.
    pub(super) fn release_stuck(&mut self) -> bool {
        let is_stuck = self.phases.count(Phase::Waiting) > 0
            && self.phases.count(Phase::Leased) == 0
            && self.origins.next_due().is_none()
            && !self.has_its_pages();
        if is_stuck {
            let mut waiting: Vec<Next> =
                std::mem::take(&mut self.foretelling.waiting).into_values().flatten().collect();
            waiting.sort_unstable_by_key(|waiting| waiting.id);
            for waiting in waiting {
                self.foretelling.impatient.insert(waiting.id.0);
                self.put_back(waiting, Phase::Waiting);
            }
        }
        is_stuck
    }

    /// Queues what was left out, and is contested or was foretold by rules that have proved wrong since. Costs a look
    /// at all that is left out, if there is such a rule.
    pub(super) fn reconsider(&mut self) {
        let mut contested: Vec<UrlId> = self.foretelling.learner.take_disputed().into_iter().collect();
        contested.sort_unstable();
        for id in contested {
            if matches!(self.phases.get(id), Some(Phase::Queued | Phase::Waiting | Phase::Predicted)) {
                self.foretelling.contested.insert(id.0);
            }
            if let Some(left_out) = self.foretelling.left_out.remove(&id.0) {
                self.bring_back(id, left_out);
            }
        }
        if self.foretelling.learner.take_lost_trust() {
            self.origins.end_doubts();
        }
        let withdrawn = self.foretelling.learner.take_withdrawn();
        if withdrawn.is_empty() {
            return;
        }
        let shaken = self.foretelling.left_out.extract_if(|_, left_out| withdrawn.contains(&left_out.rule));
        let mut shaken: Vec<LeftOut> = shaken.map(|(_, left_out)| left_out).collect();
        shaken.sort_unstable_by_key(|left_out| left_out.place.id);
        shaken.into_iter().for_each(|left_out| self.bring_back(left_out.place.id, left_out));
    }

    /// A URL that was left out is queued in another way.
    pub(super) fn forget_foretold(&mut self, id: UrlId) {
        if let Some(left_out) = self.foretelling.left_out.remove(&id.0) {
            self.foretelling.drawn.bring_back(id, &left_out);
        }
    }

    /// What was foretold of a URL that was left out.
    pub(super) fn prediction(&self, id: UrlId) -> Option<Prediction> {
        let left_out = self.foretelling.left_out.get(&id.0)?;
        let (rule, context, confidence) = self.foretelling.learner.rule(left_out.rule)?;
        Some(Prediction {
            of: self.foretelling.learner.original(left_out.target)?,
            rule: rule.to_string(),
            context: context.to_owned(),
            validity: confidence.share(),
            carried: confidence.carried,
        })
    }

    /// All rules that were tested.
    pub(super) fn rules(&self) -> Vec<ListedRule> {
        let mut saved: HashMap<RuleId, u64> = HashMap::new();
        self.foretelling.left_out.values().for_each(|left| *saved.entry(left.rule).or_default() += 1);
        ListedRule::all(&self.foretelling.learner, |rule| saved.get(&rule).copied().unwrap_or_default())
    }
}
