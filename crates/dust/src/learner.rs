//! From outcomes to rules, and from rules to predictions.

use hashbrown::{HashMap, HashSet};

use super::alternates::{AlternateLinks, LinkEvidence};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::confidence::{RuleConfidence, RuleState, RuleTest, is_sampled};
use super::cross_host::{CrossHostRules, TrustChange};
use super::cross_rule::GroupTests;
use super::infer_rule::infer_rule;
use super::listing::ListedRule;
use super::parts::UrlParts;
use super::rule::{Change, Rule};
use super::rule_scope::contexts;
use super::table::{RuleId, RuleTable};
use ndcrawl_model::{OutcomeKind, UrlId};

/// The most pages to remember by their URLs without some parameters.
const MAX_KEYS: usize = 1 << 20;
/// The longest chain of redirects and duplicates to follow to the original.
const MAX_HOPS: usize = 12;

/// A URL with its outcome.
#[derive(Clone, Copy, Debug)]
pub struct ObservedOutcome<'a> {
    /// The URL's number.
    pub id: UrlId,
    /// The URL.
    pub url: &'a str,
    /// Its outcome.
    pub kind: OutcomeKind,
    /// The page that it repeats, or the target of its redirect.
    pub repeats: Option<(UrlId, &'a str)>,
}

/// The prediction of a proven rule about a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredictedTarget {
    /// The URL whose page it repeats.
    pub target: UrlId,
    /// The rule that predicts so.
    pub rule: RuleId,
    /// Whether the crawl fetches the URL all the same, to test the rule.
    pub is_sampled: bool,
    /// The sampling period: the crawl fetches 1 in so many predicted URLs.
    pub one_in: u64,
}

/// Learns rules from outcomes.
///
///  - Cost of an outcome: each rule of its origin (at most 256) and each host rewrite (at most 256); for a unique page
///    as much again for each rule that predicts it.
///  - Memory: about 16 bytes a page or redirect, 9 to 18 a link to a counterpart, some hundreds a rule.
#[derive(Default)]
pub struct RuleLearner {
    seed: u64,
    table: RuleTable,
    cross_host: CrossHostRules,
    /// The original of each page (itself if it is unique), and the target of each redirect.
    originals: HashMap<u32, u32>,
    /// Pages by their URLs without some parameters.
    by_key: HashMap<u64, u32>,
    alternate_links: AlternateLinks,
    proven: usize,
    withdrawn: Vec<RuleId>,
    disputed: HashSet<UrlId>,
    /// Whether a host rewrite has lost its trust since the last call of [`take_lost_trust`](Self::take_lost_trust).
    has_lost_trust: bool,
}

impl RuleLearner {
    /// An empty learner. `seed` is the seed of all sampling.
    pub fn new(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    /// Imports a rule with its state and results. Call it before all outcomes.
    pub fn import(&mut self, listed: &ListedRule) {
        let Some(rule) = self.table.place(&listed.rule) else { return };
        let entry = &mut self.table.entries[rule as usize];
        let Some(context) = entry.find_or_add(&listed.context) else { return };
        let confidence = &mut entry.contexts[context].1;
        self.proven -= usize::from(confidence.state == RuleState::Proven);
        *confidence = listed.confidence;
        self.proven += usize::from(confidence.state == RuleState::Proven);
        let is_ground =
            listed.context == "*" && listed.confidence.state == RuleState::Proven && !listed.confidence.carried;
        if is_ground && listed.rule.only_changes_origin() {
            self.cross_host.trust(&listed.rule.origin);
        }
    }

    /// Returns the bytes in use, without the texts of rules.
    pub fn bytes(&self) -> usize {
        self.table.bytes()
            + self.originals.allocation_size()
            + self.by_key.allocation_size()
            + self.alternate_links.bytes()
            + self.disputed.allocation_size()
            + self.cross_host.bytes()
    }

    /// Whether any rule is proven. Groups alone do not count: on a small site that would be little evidence.
    pub fn can_predict(&self) -> bool {
        self.proven > 0
    }

    /// Records a link from a page to its [counterpart](super::are_counterparts) or to itself. Call it before the page's
    /// outcome. Returns whether the link is new and remembered.
    pub fn note_counterpart(&mut self, page: UrlId, counterpart: UrlId) -> bool {
        self.alternate_links.note(page, counterpart)
    }

    /// Records an outcome: tests the rules that predicted the URL, then learns from it. `find` returns the number of a
    /// URL that was seen.
    pub fn observe(&mut self, observed: ObservedOutcome<'_>, find: impl Fn(&str) -> Option<UrlId>) {
        use OutcomeKind::{ExactDuplicate, NearDuplicate, NotModified, Redirected, Stored};
        let original = match (observed.kind, observed.repeats) {
            (Stored | NotModified, _) => observed.id,
            (NearDuplicate | ExactDuplicate | Redirected, Some((of, _))) => of,
            _ => return,
        };
        self.test(&observed, &find);
        self.test_cross_host(&observed, find);
        if let Some((_, url)) = observed.repeats {
            self.support(observed.url, url);
            if observed.kind != Redirected {
                self.support(url, observed.url);
            }
        }
        self.originals.insert(observed.id.0, original.0);
        self.remember_keys(&observed);
    }

    /// Returns the original behind a URL with an outcome.
    pub fn original(&self, id: UrlId) -> Option<UrlId> {
        let mut place = id.0;
        for _ in 0..MAX_HOPS {
            let next = *self.originals.get(&place)?;
            if next == place {
                return Some(UrlId(place));
            }
            place = next;
        }
        None
    }

    /// Returns what proven rules predict about a URL, those with the longest run first.
    pub fn predict(&self, url: &str, find: impl Fn(&str) -> Option<UrlId>) -> Vec<PredictedTarget> {
        let Some(parts) = UrlParts::of(url).filter(|_| self.proven > 0) else { return Vec::new() };
        let id = find(url);
        let mut predicted = Vec::new();
        let mut sampled = u64::MIN;
        for &place in self.table.of_origin(parts.origin) {
            let entry = &self.table.entries[place as usize];
            let Some((target, _)) = self.target(&entry.rule, url, &find) else { continue };
            let evidence = id.map_or(LinkEvidence::Unknown, |id| self.link_evidence(target, id));
            let Some(context) = entry.deciding(url, evidence, &self.table.groups) else { continue };
            let confidence = entry.contexts[context].1;
            sampled = sampled.max(entry.one_in(context, &self.table.groups));
            predicted.push((confidence.run, target, RuleId { rule: place, context: context as u32 }));
        }
        predicted.sort_unstable_by_key(|&(run, _, rule)| (std::cmp::Reverse(run), rule));
        let is_sampled = is_sampled(url, self.seed, sampled);
        predicted
            .into_iter()
            .map(|(_, target, rule)| PredictedTarget { target, rule, is_sampled, one_in: sampled })
            .collect()
    }

    /// Whether there is no rule yet.
    pub fn is_empty(&self) -> bool {
        self.table.entries.is_empty()
    }

    /// Takes the rules that were withdrawn since the last call.
    pub fn take_withdrawn(&mut self) -> Vec<RuleId> {
        std::mem::take(&mut self.withdrawn)
    }

    /// Takes the URLs whose predictions contradict each other, since the last call. One rule predicts that the URL
    /// repeats a page, another that it repeats a newer, unique page. Only a fetch tells which of the two rules is
    /// wrong.
    pub fn take_disputed(&mut self) -> HashSet<UrlId> {
        std::mem::take(&mut self.disputed)
    }

    /// Returns the origins of which a URL's origin may be a copy, each with a likelihood in (0, 1]. It is 1 for a
    /// trusted rewrite.
    pub fn mirrored_origins(&self, url: &str) -> Vec<(String, f64)> {
        UrlParts::of(url).map_or_else(Vec::new, |parts| self.cross_host.mirrored_origins(parts.origin))
    }

    /// Whether a host rewrite has lost its trust since the last call.
    pub fn take_lost_trust(&mut self) -> bool {
        std::mem::take(&mut self.has_lost_trust)
    }

    /// Returns a rule, its context, and its results there.
    pub fn rule(&self, id: RuleId) -> Option<(&Rule, &str, RuleConfidence)> {
        self.table.get(id)
    }

    /// Returns the URL from which a rule derives `made`, if the rule can be inverted.
    pub fn undo(&self, rule: RuleId, made: &str) -> Option<String> {
        self.table.get(rule)?.0.reverse()?.apply(made)
    }

    /// Returns the rules that were tested or switched off, those with the most saved requests first. `saved` returns
    /// the requests that a rule saved.
    pub fn listed(&self, saved: impl Fn(RuleId) -> u64) -> Vec<ListedRule> {
        let is_listed = |confidence: &RuleConfidence| confidence.tests > 0 || confidence.state != RuleState::Candidate;
        let listed = self.rules().filter(|(.., confidence)| is_listed(confidence));
        let mut all: Vec<ListedRule> = listed
            .map(|(id, rule, context, confidence)| ListedRule::of(rule, context, confidence, saved(id)))
            .collect();
        let order = |rule: &ListedRule| (std::cmp::Reverse((rule.saved, rule.confidence.run)), rule.text.clone());
        all.sort_by_cached_key(|rule| (order(rule), rule.context.clone()));
        all
    }

    /// Returns all rules in all their contexts.
    pub fn rules(&self) -> impl Iterator<Item = (RuleId, &Rule, &str, RuleConfidence)> {
        let groups = &self.table.groups;
        self.table.entries.iter().enumerate().flat_map(move |(rule, entry)| {
            entry.contexts.iter().enumerate().map(move |(context, (name, _))| {
                let id = RuleId { rule: rule as u32, context: context as u32 };
                (id, &entry.rule, &**name, entry.effective(context, groups))
            })
        })
    }

    fn target(&self, rule: &Rule, url: &str, find: impl Fn(&str) -> Option<UrlId>) -> Option<(UrlId, String)> {
        let made = rule.apply(url)?;
        let by_key = || self.by_key.get(&self.key(rule, &made)).copied().map(UrlId);
        let target = find(&made).or_else(|| if rule.only_drops_parameters() { by_key() } else { None });
        target.map(|target| (target, made))
    }

    /// Returns the links of `page`, of which `url` may be a copy.
    fn link_evidence(&self, page: UrlId, url: UrlId) -> LinkEvidence {
        self.original(page).map_or(LinkEvidence::Pending, |original| self.alternate_links.evidence(page, original, url))
    }

    fn test(&mut self, observed: &ObservedOutcome<'_>, find: impl Fn(&str) -> Option<UrlId>) {
        let Some(parts) = UrlParts::of(observed.url) else { return };
        let (mut tested, mut disputed) = (Vec::new(), Vec::new());
        for &place in self.table.of_origin(parts.origin) {
            let rule = &self.table.entries[place as usize].rule;
            let target = self.target(rule, observed.url, &find).filter(|(target, _)| *target != observed.id);
            let Some((target, made)) = target else { continue };
            match self.result(observed, target) {
                Some(test) => tested.push((place, target, made, test)),
                None if self.decides(place, observed, target) && self.is_disputed(observed, target, &made, &find) => {
                    disputed.push(target)
                }
                None => {}
            }
        }
        self.disputed.extend(disputed);
        let mut group_tests = GroupTests::default();
        for (place, target, made, test) in tested {
            let evidence = self.link_evidence(target, observed.id);
            self.record(place, observed.url, evidence, test);
            if let Some(group) = self.table.entries[place as usize].group {
                evidence.classes().for_each(|(_, own)| group_tests.add(group, own, test));
            }
            // A comparison of two pages tests the inverse rule too; a redirect does not.
            let reverse = self.table.entries[place as usize].rule.reverse();
            let reverse = reverse
                .filter(|_| observed.kind != OutcomeKind::Redirected)
                .filter(|reverse| reverse.apply(&made).as_deref() == Some(observed.url));
            if let Some(reverse) = reverse.and_then(|reverse| self.table.find(&reverse)) {
                // The page's own original is recorded later: its own links are known by now.
                self.record(reverse, &made, self.alternate_links.evidence(observed.id, observed.id, target), test);
            }
        }
        for (group, kind, test) in group_tests.into_tests() {
            self.table.groups.record(group, kind, test);
        }
    }

    /// Tests the host rewrites that apply to a URL, and their inverses unless the URL redirects.
    fn test_cross_host(&mut self, observed: &ObservedOutcome<'_>, find: impl Fn(&str) -> Option<UrlId>) {
        let Some(parts) = UrlParts::of(observed.url) else { return };
        let mut tested = Vec::new();
        for (rewrite, origin) in self.cross_host.applying(parts.origin) {
            let made = format!("{origin}{}", &observed.url[parts.origin.len()..]);
            let target = find(&made).filter(|target| *target != observed.id);
            let Some(target) = target else { continue };
            // A redirect names its target, fetched or not.
            let is_told =
                observed.kind == OutcomeKind::Redirected && observed.repeats.is_some_and(|(of, _)| of == target);
            let page = if is_told { Some(target) } else { self.original(target) };
            let test = if is_told { Some(RuleTest::Hit { is_near: false }) } else { self.result(observed, target) };
            if let (Some(page), Some(test)) = (page, test) {
                tested.push((rewrite, origin, page, test));
            }
        }
        for (rewrite, origin, page, test) in tested {
            let change = self.cross_host.record(rewrite, parts.origin, page, test);
            self.apply_trust(rewrite, change);
            let reverse = self.cross_host.reverse(rewrite).filter(|_| observed.kind != OutcomeKind::Redirected);
            let reverse =
                reverse.filter(|&reverse| self.cross_host.apply(reverse, &origin).as_deref() == Some(parts.origin));
            if let Some(reverse) = reverse {
                let change = self.cross_host.record(reverse, &origin, page, test);
                self.apply_trust(reverse, change);
            }
        }
    }

    /// Trusts the rules of a host rewrite, or withdraws that trust.
    fn apply_trust(&mut self, rewrite: usize, change: TrustChange) {
        let (hosts, is_lost) = match change {
            TrustChange::Nothing => return,
            TrustChange::Carried(hosts) => (hosts, false),
            TrustChange::Lost(hosts) => (hosts, true),
        };
        self.has_lost_trust |= is_lost;
        for from in hosts {
            let Some(to) = self.cross_host.apply(rewrite, &from) else { continue };
            let rule = Rule { origin: Change::new(&from, &to), start: None, end: None, dropped: Vec::new() };
            let place = if is_lost { self.table.find(&rule) } else { self.table.place(&rule) };
            let Some(place) = place else { continue };
            let Some((_, confidence)) = self.table.entries[place as usize].contexts.first_mut() else { continue };
            if is_lost && confidence.revoke_carried() {
                self.withdrawn.push(RuleId { rule: place, context: 0 });
                self.proven -= 1;
            } else if !is_lost && confidence.carry_over() {
                self.proven += 1;
            }
        }
    }

    /// Returns the result of predicting that a URL repeats `target`; `None` if the outcome tells nothing. A URL that
    /// repeats another page is no hit: on two hosts with the same pages, each would confirm what is wrong about both.
    /// It is a miss if it is an exact copy of the other page; a near-duplicate may be near both.
    fn result(&self, observed: &ObservedOutcome<'_>, target: UrlId) -> Option<RuleTest> {
        let predicted = self.original(target).filter(|original| *original != observed.id)?;
        let repeats = observed.repeats.map(|(of, _)| of);
        let is_near = observed.kind == OutcomeKind::NearDuplicate;
        let is_it = match observed.kind {
            OutcomeKind::Stored | OutcomeKind::NotModified => return Some(RuleTest::Miss),
            OutcomeKind::Redirected => {
                repeats == Some(target) || repeats.and_then(|of| self.original(of)) == Some(predicted)
            }
            _ => repeats == Some(predicted),
        };
        match observed.kind {
            _ if is_it => Some(RuleTest::Hit { is_near }),
            OutcomeKind::ExactDuplicate => Some(RuleTest::Miss),
            _ => None,
        }
    }

    /// Whether a rule predicts that a URL repeats `target`.
    fn decides(&self, rule: u32, observed: &ObservedOutcome<'_>, target: UrlId) -> bool {
        let evidence = self.link_evidence(target, observed.id);
        self.table.entries[rule as usize].deciding(observed.url, evidence, &self.table.groups).is_some()
    }

    /// Whether a rule derives `target` from a unique page, and another rule predicts that the unfetched `target`
    /// repeats another page.
    fn is_disputed(
        &self,
        observed: &ObservedOutcome<'_>,
        target: UrlId,
        made: &str,
        find: impl Fn(&str) -> Option<UrlId>,
    ) -> bool {
        let is_unique = matches!(observed.kind, OutcomeKind::Stored | OutcomeKind::NotModified);
        let is_unfetched = !self.originals.contains_key(&target.0);
        is_unique && is_unfetched && {
            let mut originals = self.predict(made, find).into_iter().filter_map(|other| self.original(other.target));
            originals.any(|original| original != observed.id)
        }
    }

    fn record(&mut self, place: u32, url: &str, evidence: LinkEvidence, test: RuleTest) {
        let entry = &mut self.table.entries[place as usize];
        let mut contexts = entry.contexts_of(url);
        contexts.extend(evidence.classes().map(|(_, own)| own.to_owned()));
        entry.count_name(url, test != RuleTest::Miss);
        for name in contexts {
            let Some(context) = entry.find_or_add(&name) else { continue };
            let was_trusted = entry.is_trusted(context, &self.table.groups);
            let confidence = &mut entry.contexts[context].1;
            let was_proven = confidence.state == RuleState::Proven;
            if confidence.test(test) || (was_trusted && test == RuleTest::Miss) {
                self.withdrawn.push(RuleId { rule: place, context: context as u32 });
            }
            match (was_proven, confidence.state == RuleState::Proven) {
                (false, true) => {
                    self.proven += 1;
                    tracing::debug!(rule = %entry.rule, on = %name, "rule is believed");
                }
                (true, false) => {
                    self.proven -= 1;
                    tracing::debug!(rule = %entry.rule, on = %name, "rule is withdrawn");
                }
                _ => {}
            }
        }
    }

    /// Counts a pair of duplicates as support for the rule between their URLs.
    fn support(&mut self, url: &str, original: &str) {
        let Some(rule) = infer_rule(url, original) else { return };
        if rule.only_changes_origin() {
            self.cross_host.learn(&rule.origin);
        }
        let Some(place) = self.table.place(&rule) else { return };
        let entry = &mut self.table.entries[place as usize];
        for name in contexts(&rule, url) {
            if let Some(context) = entry.find_or_add(&name) {
                let support = &mut entry.contexts[context].1.support;
                *support = support.saturating_add(1);
            }
        }
    }

    /// Remembers a page by its URL without the parameters that rules drop, for URLs with other values of these.
    fn remember_keys(&mut self, observed: &ObservedOutcome<'_>) {
        let Some(parts) = UrlParts::of(observed.url).filter(|parts| parts.query.is_some()) else { return };
        for &place in self.table.of_origin(parts.origin) {
            let rule = &self.table.entries[place as usize].rule;
            if rule.only_drops_parameters()
                && self.by_key.len() < MAX_KEYS
                && let Some(made) = rule.apply(observed.url)
            {
                self.by_key.entry(self.key(rule, &made)).or_insert(observed.id.0);
            }
        }
    }

    fn key(&self, rule: &Rule, made: &str) -> u64 {
        let seed = rule.dropped.iter().fold(self.seed, |seed, name| xxh3_64_with_seed(name.as_bytes(), seed));
        xxh3_64_with_seed(made.as_bytes(), seed)
    }
}
