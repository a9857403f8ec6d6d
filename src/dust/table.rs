//! All rules, bounded.

use hashbrown::HashMap;
use xxhash_rust::xxh3::xxh3_64;

use super::alternates::{LinkClasses, LinkEvidence};
use super::confidence::{RuleConfidence, RuleState};
use super::cross_rule::RuleGroups;
use super::rule::Rule;
use super::rule_scope::{SAME_NAME, contexts, file};

/// Rules of one origin at most.
const RULES_PER_ORIGIN: usize = 256;
/// Rules at most.
const MAX_RULES: usize = 1 << 14;
/// Contexts of a rule at most.
const MAX_CONTEXTS: usize = 96;
/// File names of a rule that are counted at most.
const MAX_FILE_NAMES: usize = 1 << 12;
/// Hits without a miss after which a file name is one of [`SAME_NAME`].
const SAME_NAME_HITS: u8 = 2;

/// Links tell if of two kinds of URLs, with so many tests each ...
const MIN_CLASS_TESTS: u32 = 8;
/// ... the shares of hits are so far apart.
const MIN_CLASS_GAP: f64 = 0.5;

/// More hits than so many for each miss make a rule promising.
const PROMISING_HITS_PER_MISS: u32 = 3;

/// A rule in one of its contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleId {
    pub(super) rule: u32,
    pub(super) context: u32,
}

/// A rule, and how it does in each context.
pub(super) struct RuleEntry {
    pub(super) rule: Rule,
    pub(super) contexts: Vec<(Box<str>, RuleConfidence)>,
    /// By the hash of a file name: hits, and whether there was a miss.
    names: HashMap<u64, (u8, bool)>,
    /// The group of rules that are measured together with it.
    pub(super) group: Option<u32>,
}

impl RuleEntry {
    fn new(rule: Rule, group: Option<u32>) -> Self {
        Self { rule, contexts: vec![("*".into(), RuleConfidence::default())], names: HashMap::new(), group }
    }

    /// How the rule does in the whole origin.
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

    /// The contexts of a URL, from the whole origin to the narrowest.
    pub(super) fn contexts_of(&self, url: &str) -> Vec<String> {
        let mut contexts = contexts(&self.rule, url);
        if matches!(self.named(url), Some((hits, false)) if hits >= SAME_NAME_HITS) {
            contexts.push(SAME_NAME.to_owned());
        }
        contexts
    }

    /// Whether links tell: whether the rule is right about one of two kinds of URLs, and wrong about the other.
    fn is_decided_by_links(&self, kinds: LinkClasses) -> bool {
        let measured = |kind| {
            let confidence = self.contexts[self.find(kind)?].1;
            (confidence.tests >= MIN_CLASS_TESTS).then(|| confidence.share())
        };
        measured(kinds[0]).zip(measured(kinds[1])).is_some_and(|(one, other)| (one - other).abs() >= MIN_CLASS_GAP)
    }

    /// A context by links that is proven, where they tell.
    fn proven_by_links(&self) -> Option<usize> {
        let telling = LinkEvidence::CLASSES.into_iter().filter(|kinds| self.is_decided_by_links(*kinds)).flatten();
        let mut places = telling.filter_map(|kind| self.find(kind));
        places.find(|&place| self.contexts[place].1.state == RuleState::Proven)
    }

    /// Whether the rule is believed in a context for the sake of its siblings.
    pub(super) fn is_trusted(&self, context: usize, groups: &RuleGroups) -> bool {
        self.trusted_group(context, groups).is_some()
    }

    /// How the siblings do for the sake of which the rule is believed in a context.
    fn trusted_group<'a>(&self, context: usize, groups: &'a RuleGroups) -> Option<&'a RuleConfidence> {
        let (name, confidence) = &self.contexts[context];
        let is_confirmed = confidence.hits > 0 && confidence.misses() == 0 && confidence.state != RuleState::Off;
        self.group.filter(|_| is_confirmed).and_then(|group| groups.proven(group, name))
    }

    /// One in so many of the URLs of which it foretells something in a context is fetched all the same.
    pub(super) fn one_in(&self, context: usize, groups: &RuleGroups) -> u64 {
        let confidence = &self.contexts[context].1;
        let trusted_group = self.trusted_group(context, groups).filter(|_| confidence.state == RuleState::Candidate);
        trusted_group.unwrap_or(confidence).one_in()
    }

    /// How the rule does in a context, also for the sake of its siblings.
    pub(super) fn effective(&self, context: usize, groups: &RuleGroups) -> RuleConfidence {
        let confidence = self.contexts[context].1;
        let is_carried = confidence.state == RuleState::Candidate && self.is_trusted(context, groups);
        if is_carried { RuleConfidence { state: RuleState::Proven, carried: true, ..confidence } } else { confidence }
    }

    fn named(&self, url: &str) -> Option<(u8, bool)> {
        self.names.get(&xxh3_64(file(url).as_bytes())).copied()
    }

    /// Counts a test under the name of the file.
    pub(super) fn count_name(&mut self, url: &str, is_hit: bool) {
        let hash = xxh3_64(file(url).as_bytes());
        if self.names.len() < MAX_FILE_NAMES || self.names.contains_key(&hash) {
            let (hits, has_missed) = self.names.entry(hash).or_default();
            *hits = hits.saturating_add(u8::from(is_hit));
            *has_missed |= !is_hit;
        }
    }

    /// The context that decides about a URL: the narrowest that is proven, unless the rule was wrong in a narrower
    /// one; or else one in which it is [believed](Self::is_trusted). None if it was wrong about a file of that name.
    ///
    /// Where [links tell](Self::tells), the narrowest contexts are those by links. As long as these are not known, the
    /// URL is taken for what speaks for the rule.
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

    /// The narrowest context of a URL that is proven, unless the rule was wrong in a narrower one.
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

    /// Whether more speaks for the rule than against it, as far as it was tested on URLs such as this one.
    pub(super) fn is_promising(&self, url: &str, evidence: LinkEvidence) -> bool {
        let mut contexts = self.contexts_of(url);
        contexts.extend(evidence.classes().map(|(_, own)| own.to_owned()));
        let mut known = contexts.iter().rev().filter_map(|context| Some(&self.contexts[self.find(context)?].1));
        let tested = known.find(|confidence| confidence.tests > 0);
        let is_off = self.whole().state == RuleState::Off;
        !is_off
            && tested
                .is_some_and(|confidence| confidence.hits > PROMISING_HITS_PER_MISS.saturating_mul(confidence.misses()))
    }

    /// Whether nothing speaks for keeping it: it has never foretold anything, not for the sake of its siblings either.
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
    /// The rules that may apply to URLs of an origin.
    pub(super) fn of_origin(&self, origin: &str) -> &[u32] {
        self.by_origin.get(origin).map_or(&[], Vec::as_slice)
    }

    /// The place of a rule; a new one if it was not known, unless there is no room.
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

    /// Bytes that they take, but for their texts.
    pub(super) fn bytes(&self) -> usize {
        let of = |entry: &RuleEntry| {
            entry.contexts.capacity() * size_of::<(Box<str>, RuleConfidence)>() + entry.names.allocation_size()
        };
        let tables = self.by_origin.allocation_size() + self.by_rule.allocation_size() + self.groups.bytes();
        self.entries.iter().map(of).sum::<usize>() + self.entries.capacity() * size_of::<RuleEntry>() + tables
    }

    /// The place of a rule that is known.
    pub(super) fn find(&self, rule: &Rule) -> Option<u32> {
        self.by_rule.get(rule).copied()
    }

    /// Puts a rule in the place of the least useful one of its origin.
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
