//! The table of all rules, bounded in size.

use hashbrown::HashMap;
use xxhash_rust::xxh3::xxh3_64;

use super::alternates::{LinkClasses, LinkEvidence};
use super::confidence::{RuleConfidence, RuleState};
use super::cross_rule::RuleGroups;
use super::rule::Rule;
use super::rule_scope::{SAME_NAME, contexts, file};

/// The most rules for one origin.
const RULES_PER_ORIGIN: usize = 256;
/// The most rules.
const MAX_RULES: usize = 1 << 14;
/// The most contexts of one rule.
const MAX_CONTEXTS: usize = 96;
/// The most file names that one rule counts.
const MAX_FILE_NAMES: usize = 1 << 12;
/// Hits without a miss that put a file name into the context [`SAME_NAME`].
const SAME_NAME_HITS: u8 = 2;

/// Tests that each of two classes of URLs needs before links decide.
const MIN_CLASS_TESTS: u32 = 8;
/// The difference of hit shares from which links decide.
const MIN_CLASS_GAP: f64 = 0.5;

/// A rule in one of its contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleId {
    pub(super) rule: u32,
    pub(super) context: u32,
}

/// A rule and its results in each context.
pub(super) struct RuleEntry {
    pub(super) rule: Rule,
    pub(super) contexts: Vec<(Box<str>, RuleConfidence)>,
    /// Hits by the hash of a file name, and whether there was a miss.
    names: HashMap<u64, (u8, bool)>,
    /// The group of rules that are tested together with it.
    pub(super) group: Option<u32>,
}

impl RuleEntry {
    fn new(rule: Rule, group: Option<u32>) -> Self {
        Self { rule, contexts: vec![("*".into(), RuleConfidence::default())], names: HashMap::new(), group }
    }

    /// Returns the results in the whole origin.
    fn whole(&self) -> RuleConfidence {
        self.contexts.first().map(|(_, confidence)| *confidence).unwrap_or_default()
    }

    pub(super) fn find(&self, context: &str) -> Option<usize> {
        self.contexts.iter().position(|(name, _)| **name == *context)
    }

    pub(super) fn find_or_add(&mut self, context: &str) -> Option<usize> {
        self.find(context).or_else(|| {
            let has_room = self.contexts.len() < MAX_CONTEXTS;
            has_room.then(|| {
                self.contexts.push((context.into(), RuleConfidence::default()));
                self.contexts.len() - 1
            })
        })
    }

    /// Returns the contexts of a URL, from the whole origin to the narrowest.
    pub(super) fn contexts_of(&self, url: &str) -> Vec<String> {
        let mut contexts = contexts(&self.rule, url);
        if matches!(self.named(url), Some((hits, false)) if hits >= SAME_NAME_HITS) {
            contexts.push(SAME_NAME.to_owned());
        }
        contexts
    }

    /// Whether links decide: the rule is right about one of two classes of URLs and wrong about the other.
    fn is_decided_by_links(&self, kinds: LinkClasses) -> bool {
        let measured = |kind| {
            let confidence = self.contexts[self.find(kind)?].1;
            (confidence.tests >= MIN_CLASS_TESTS).then(|| confidence.share())
        };
        measured(kinds[0]).zip(measured(kinds[1])).is_some_and(|(one, other)| (one - other).abs() >= MIN_CLASS_GAP)
    }

    /// Returns a proven class context, where links decide.
    fn proven_by_links(&self) -> Option<usize> {
        let telling = LinkEvidence::CLASSES.into_iter().filter(|kinds| self.is_decided_by_links(*kinds)).flatten();
        let mut places = telling.filter_map(|kind| self.find(kind));
        places.find(|&place| self.contexts[place].1.state == RuleState::Proven)
    }

    /// Whether the group makes the rule trusted in a context.
    pub(super) fn is_trusted(&self, context: usize, groups: &RuleGroups) -> bool {
        self.trusted_group(context, groups).is_some()
    }

    /// Returns the group's results, if they make the rule trusted in a context.
    fn trusted_group<'a>(&self, context: usize, groups: &'a RuleGroups) -> Option<&'a RuleConfidence> {
        let (name, confidence) = &self.contexts[context];
        let is_confirmed = confidence.hits > 0 && confidence.misses() == 0 && confidence.state != RuleState::Off;
        self.group.filter(|_| is_confirmed).and_then(|group| groups.proven(group, name))
    }

    /// Returns the sampling period: the crawl fetches 1 in so many of the URLs that the rule predicts in a context.
    pub(super) fn one_in(&self, context: usize, groups: &RuleGroups) -> u64 {
        let confidence = &self.contexts[context].1;
        let trusted_group = self.trusted_group(context, groups).filter(|_| confidence.state == RuleState::Candidate);
        trusted_group.unwrap_or(confidence).one_in()
    }

    /// Returns the results in a context, proven also through the group.
    pub(super) fn effective(&self, context: usize, groups: &RuleGroups) -> RuleConfidence {
        let confidence = self.contexts[context].1;
        let is_carried = confidence.state == RuleState::Candidate && self.is_trusted(context, groups);
        if is_carried { RuleConfidence { state: RuleState::Proven, carried: true, ..confidence } } else { confidence }
    }

    fn named(&self, url: &str) -> Option<(u8, bool)> {
        self.names.get(&xxh3_64(file(url).as_bytes())).copied()
    }

    /// Counts a test under the URL's file name.
    pub(super) fn count_name(&mut self, url: &str, is_hit: bool) {
        let hash = xxh3_64(file(url).as_bytes());
        if self.names.len() < MAX_FILE_NAMES || self.names.contains_key(&hash) {
            let (hits, has_missed) = self.names.entry(hash).or_default();
            *hits = hits.saturating_add(u8::from(is_hit));
            *has_missed |= !is_hit;
        }
    }

    /// Returns the context that decides about a URL. It is the narrowest proven one, unless the rule was wrong in a
    /// narrower one; else one in which the group makes the rule [trusted](Self::is_trusted). `None` if the rule was
    /// wrong about that file name.
    ///
    /// Where [links decide](Self::is_decided_by_links), the class contexts are the narrowest. Until the links are
    /// known, the URL counts as one of the class that confirms the rule.
    pub(super) fn deciding(&self, url: &str, evidence: LinkEvidence, groups: &RuleGroups) -> Option<usize> {
        if self.whole().state == RuleState::Off || matches!(self.named(url), Some((_, true))) {
            return None;
        }
        let pending = || self.proven_by_links().filter(|_| evidence == LinkEvidence::Pending);
        let by_group = || {
            let mut places = evidence.classes().filter_map(|(_, own)| self.find(own));
            places.find(|&place| self.is_trusted(place, groups))
        };
        pending().or_else(|| self.proven(url, evidence)).or_else(by_group)
    }

    /// Returns the narrowest proven context of a URL, unless the rule was wrong in a narrower one.
    fn proven(&self, url: &str, evidence: LinkEvidence) -> Option<usize> {
        let mut contexts = self.contexts_of(url);
        contexts.extend(
            evidence.classes().filter(|(kinds, _)| self.is_decided_by_links(*kinds)).map(|(_, own)| own.to_owned()),
        );
        for context in contexts.iter().rev() {
            let Some(place) = self.find(context) else { continue };
            let confidence = self.contexts[place].1;
            match confidence.state {
                RuleState::Proven => return Some(place),
                RuleState::Off => return None,
                _ if confidence.misses() > 0 => return None,
                _ => {}
            }
        }
        None
    }

    /// Whether the rule may make room: it has never predicted anything, through its group either.
    fn is_idle(&self) -> bool {
        let may_be_trusted = self.group.is_some() && self.whole().hits > 0;
        !may_be_trusted && self.contexts.iter().all(|(_, confidence)| confidence.state == RuleState::Candidate)
    }
}

/// All rules.
#[derive(Default)]
pub(super) struct RuleTable {
    pub(super) entries: Vec<RuleEntry>,
    by_origin: HashMap<Box<str>, Vec<u32>>,
    by_rule: HashMap<Rule, u32>,
    pub(super) groups: RuleGroups,
}

impl RuleTable {
    /// Returns the rules that may apply to URLs of an origin.
    pub(super) fn of_origin(&self, origin: &str) -> &[u32] {
        self.by_origin.get(origin).map_or(&[], Vec::as_slice)
    }

    /// Returns the number of a rule; adds the rule if there is room.
    pub(super) fn place(&mut self, rule: &Rule) -> Option<u32> {
        if let Some(&place) = self.by_rule.get(rule) {
            return Some(place);
        }
        let origin = rule.origin.from.as_str();
        let place = match self.of_origin(origin).len() < RULES_PER_ORIGIN && self.entries.len() < MAX_RULES {
            true => {
                let group = self.groups.group(rule);
                self.entries.push(RuleEntry::new(rule.clone(), group));
                let place = (self.entries.len() - 1) as u32;
                self.by_origin.entry(origin.into()).or_default().push(place);
                place
            }
            false => self.replace_idle(rule)?,
        };
        self.by_rule.insert(rule.clone(), place);
        Some(place)
    }

    /// Returns the bytes in use, without texts.
    pub(super) fn bytes(&self) -> usize {
        let of = |entry: &RuleEntry| {
            entry.contexts.capacity() * size_of::<(Box<str>, RuleConfidence)>() + entry.names.allocation_size()
        };
        let tables = self.by_origin.allocation_size() + self.by_rule.allocation_size() + self.groups.bytes();
        self.entries.iter().map(of).sum::<usize>() + self.entries.capacity() * size_of::<RuleEntry>() + tables
    }

    /// Returns the number of a known rule.
    pub(super) fn find(&self, rule: &Rule) -> Option<u32> {
        self.by_rule.get(rule).copied()
    }

    /// Replaces the least useful rule of the origin.
    fn replace_idle(&mut self, rule: &Rule) -> Option<u32> {
        let worth = |place: u32| {
            let whole = self.entries[place as usize].whole();
            (whole.hits.saturating_sub(8 * whole.misses()), whole.support)
        };
        let idle = self.of_origin(&rule.origin.from).iter().copied();
        let idle = idle.filter(|&place| self.entries[place as usize].is_idle());
        let place = idle.min_by_key(|&place| worth(place))?;
        let new = RuleEntry::new(rule.clone(), self.groups.group(rule));
        let before = std::mem::replace(&mut self.entries[place as usize], new);
        self.by_rule.remove(&before.rule);
        Some(place)
    }

    pub(super) fn get(&self, id: RuleId) -> Option<(&Rule, &str, RuleConfidence)> {
        let entry = self.entries.get(id.rule as usize)?;
        let (context, _) = entry.contexts.get(id.context as usize)?;
        Some((&entry.rule, context, entry.effective(id.context as usize, &self.groups)))
    }
}
